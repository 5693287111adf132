//! Functions and constants outside of models: `function f(x [m]) = x^2;`, `const g = 9.80665 [m/s^2];`.
//!
//! A call is replaced by the function's value with its arguments, so that it is differentiated and printed like any other expression.

use crate::context::values::Value;
use crate::context::{AtPlace, Place};
use crate::evaluate::Evaluator;
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_syntax::ast::{self, Argument, Expr, Item, Name};

impl<'a> Evaluator<'a> {
    /// Evaluates the call of a user's function; none if the program has no function of this name.
    pub(super) fn user_call(
        &mut self,
        name: &'a Name,
        arguments: &'a [Argument],
        place: Place,
        span: Span,
    ) -> Option<Value> {
        let program = self.program;
        let Item::Function(function) = program.item(program.function(&name.text, name.span.source)?) else {
            return None;
        };
        Some(self.value_of_function(function, name, arguments, place, span))
    }

    fn value_of_function(
        &mut self,
        function: &'a ast::Function,
        name: &'a Name,
        arguments: &'a [Argument],
        place: Place,
        span: Span,
    ) -> Value {
        let formals = &function.formals;
        let most = formals.len();
        let least = formals.iter().filter(|formal| formal.default.is_none()).count();
        if arguments.len() > most || arguments.len() < least {
            let wanted = match most {
                1 => "one argument".to_string(),
                _ => format!("{most} arguments"),
            };
            return self.wrong_count(name, &wanted, arguments.len(), span);
        }
        if self.functions.contains(&&*function.name.text) {
            let diagnostic = Diagnostic::error(
                Code::LGM0117,
                format!("the function `{}` is defined through itself", name.text),
            )
            .label(name.span, "this call closes the cycle")
            .label(function.name.span, "declared here")
            .help("write a closed form, or `sum(i in 1:N, ..)`: a function cannot be recursive");
            self.report(diagnostic);
            return Value::Error;
        }
        if !self.enter(span) {
            return Value::Error;
        }
        // Arguments are evaluated at the call, and the value sees only the function's own names.
        let mut values = Vec::with_capacity(most);
        for (at, formal) in formals.iter().enumerate() {
            let value = match (arguments.get(at), &formal.default) {
                (Some(argument), _) => {
                    let value = self.eval(&argument.value, place);
                    self.as_formal(&value, formal, argument.value.span, Some(&argument.value))
                }
                (None, Some(default)) => {
                    let value = self.eval_apart(default, values.clone(), place);
                    self.as_formal(&value, formal, default.span, Some(default))
                }
                (None, None) => Value::Error,
            };
            if value.is_error() {
                self.depth -= 1;
                return Value::Error;
            }
            values.push((&*formal.name.text, value.named()));
        }
        self.functions.push(&function.name.text);
        let value = self.eval_apart(&function.value, values, place);
        self.functions.pop();
        self.depth -= 1;
        value
    }

    /// Evaluates an expression outside of models, which sees only the given names and constants of the program.
    fn eval_apart(&mut self, expr: &'a Expr, names: Vec<(&'a str, Value)>, place: Place) -> Value {
        let outer = std::mem::replace(&mut self.bound, names);
        let was_apart = std::mem::replace(&mut self.is_apart, true);
        let here = Place::of(place.frame);
        let value = self.at(here, |this| this.eval(expr, here));
        self.is_apart = was_apart;
        self.bound = outer;
        value
    }

    /// Returns the value of a constant outside of models; none if the program has no constant of this name.
    pub(super) fn global_constant(&mut self, name: &'a Name) -> Option<Value> {
        let program = self.program;
        let Item::Const(constant) = program.item(program.constant(&name.text, name.span.source)?) else {
            return None;
        };
        let assigned = &constant.assigned;
        let Some(expr) = &assigned.value else {
            let diagnostic = Diagnostic::error(Code::LGM0405, format!("`{}` has no value", assigned.name.text))
                .label(assigned.name.span, "declared without a value")
                .help(format!("write `const {} = ..;`", assigned.name.text));
            self.report(diagnostic);
            return Some(Value::Error);
        };
        if !self.enter(name.span) {
            return Some(Value::Error);
        }
        let place = self.reports.here;
        let value = self.eval_apart(expr, Vec::new(), place);
        self.depth -= 1;
        let value = match &assigned.unit {
            Some(written) => match self.unit(written) {
                Some(unit) => self.in_unit(&value, &unit, written.span, expr.span, Some(expr)),
                None => Value::Error,
            },
            None => value,
        };
        Some(value.named())
    }
}
