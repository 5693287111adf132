//! Calls: functions of numbers, of matrices and of time, and the measures.

use crate::context::Place;
use crate::context::values::{Agreement, DimId, Scalar, Value};
use crate::evaluate::expanded::Expanded;
use crate::evaluate::{Claim, Evaluator, Side};
use crate::function_table::{BEFORE, CSV, DELAY, MEASURES, RANGED, TABLE, call_example};
use lgm_algebra::expr::{ExprId, Function};
use lgm_algebra::units::Dimension;
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_syntax::ast::{Argument, Expr, Name};

impl<'a> Evaluator<'a> {
    pub(crate) fn call(&mut self, name: &'a Name, arguments: &'a [Argument], place: Place, span: Span) -> Value {
        if MEASURES.contains(&&*name.text) {
            if self.law.is_some() {
                let diagnostic =
                    Diagnostic::error(Code::LGM0126, format!("`{}(..)` is not allowed in a law", name.text))
                        .label(span, "a law can only use its own ports")
                        .help("write `across`, `through`, or `a.across` for the port `a`");
                self.report(diagnostic);
                return Value::Error;
            }
            return self.measure_call(name, arguments, place, span);
        }
        if let Some(argument) = arguments.iter().find(|argument| argument.name.is_some()) {
            let values: Vec<&str> = arguments
                .iter()
                .map(|argument| self.sources.slice(argument.value.span))
                .collect();
            let diagnostic = Diagnostic::error(Code::LGM0127, format!("`{}` has no named arguments", name.text))
                .label(argument.value.span, "write only the value")
                .help(format!("write `{}({})`", name.text, values.join(", ")));
            self.report(diagnostic);
            return Value::Error;
        }
        match &*name.text {
            "transpose" => self.matrix_call(name, arguments, place, span, |this, value, _| this.transpose(value)),
            "diag" => self.matrix_call(name, arguments, place, span, |this, value, span| {
                this.diagonal(value, span)
            }),
            "identity" => self.identity(name, arguments, place, span),
            TABLE => self.tabulated(name, arguments, place, span),
            CSV => self.signal_of_file(arguments, span),
            BEFORE => self.before(name, arguments, place, span),
            ranged if RANGED.contains(&ranged) => {
                self.wrong_count(name, "a range and an expression", arguments.len(), span)
            }
            _ => self.function_call(name, arguments, place, span),
        }
    }

    /// Evaluates a call of a table, a user's function, or a function of numbers, in this order: a user's name shadows the language's.
    fn function_call(&mut self, name: &'a Name, arguments: &'a [Argument], place: Place, span: Span) -> Value {
        let table = match self.is_apart {
            true => None,
            false => self.table_named(&name.text, place),
        };
        if let Some(table) = table {
            return self.table_call(table, name, arguments, place, span);
        }
        if let Some(value) = self.user_call(name, arguments, place, span) {
            return value;
        }
        if &*name.text == DELAY {
            return self.delay(name, arguments, place, span);
        }
        if let Some(expanded) = Expanded::named(&name.text, arguments.len()) {
            return self.expanded_call(expanded, name, arguments, place, span);
        }
        match Function::named(&name.text) {
            Some(facts) => self.function(facts.function, facts.arguments, name, arguments, place, span),
            // `names` has reported it.
            None => Value::Error,
        }
    }

    /// Evaluates `before(x)`, the value just before an event, like all values of changes and blocks.
    fn before(&mut self, name: &'a Name, arguments: &'a [Argument], place: Place, span: Span) -> Value {
        let [argument] = arguments else {
            return self.wrong_count(name, "one argument", arguments.len(), span);
        };
        if !self.at_event {
            let diagnostic = Diagnostic::error(Code::LGM0163, "`before` is only defined at an event")
                .label(span, "no event happens here")
                .help(
                    "use it in mode changes, `-> touch, across = -e*before(across)`, and in `when` and `every` \
                    blocks",
                );
            self.report(diagnostic);
            return Value::Error;
        }
        self.eval(&argument.value, place)
    }

    pub(crate) fn wrong_count(&mut self, name: &Name, wanted: &str, given: usize, span: Span) -> Value {
        let diagnostic = Diagnostic::error(Code::LGM0128, format!("`{}` takes {wanted}", name.text))
            .label(span, format!("{given} {} given", if given == 1 { "is" } else { "are" }))
            .help(match (&*name.text, given) {
                ("int", 2) => {
                    "pass one argument; the initial value belongs to a state: `state z = int(x), start = 0.5;`"
                        .to_string()
                }
                _ => format!("pass {wanted}: `{}`", call_example(&name.text)),
            });
        self.report(diagnostic);
        Value::Error
    }

    fn matrix_call(
        &mut self,
        name: &'a Name,
        arguments: &'a [Argument],
        place: Place,
        span: Span,
        apply: impl FnOnce(&mut Self, &Value, Span) -> Value,
    ) -> Value {
        let [argument] = arguments else {
            return self.wrong_count(name, "one argument", arguments.len(), span);
        };
        match self.eval(&argument.value, place) {
            Value::Error => Value::Error,
            value => apply(self, &value, argument.value.span),
        }
    }

    fn transpose(&mut self, value: &Value) -> Value {
        let Value::Array(array) = value else {
            return value.clone();
        };
        let mut entries = Vec::with_capacity(array.entries.len());
        for column in 0..array.columns {
            for row in 0..array.rows {
                entries.push(array.entries[row * array.columns + column]);
            }
        }
        Value::array(array.columns, array.rows, array.rows > 1 || array.matrix, entries)
    }

    fn diagonal(&mut self, value: &Value, span: Span) -> Value {
        let (rows, columns) = value.shape();
        if columns != 1 || rows > 500 {
            let diagnostic = Diagnostic::error(
                Code::LGM0202,
                "`diag` makes a matrix from a vector of at most 500 entries",
            )
            .label(span, format!("this is {}", value.shape_text()))
            .help("write `diag([a, b])`");
            self.report(diagnostic);
            return Value::Error;
        }
        let zero = Scalar {
            expr: self.arena.exprs.zero(),
            dim: DimId::UNKNOWN,
        };
        let mut entries = vec![zero; rows * rows];
        for (at, entry) in value.entries().iter().enumerate() {
            entries[at * rows + at] = *entry;
        }
        Value::array(rows, rows, true, entries)
    }

    fn identity(&mut self, name: &'a Name, arguments: &'a [Argument], place: Place, span: Span) -> Value {
        let [argument] = arguments else {
            return self.wrong_count(name, "one argument", arguments.len(), span);
        };
        let Some(size) = self.integer(&argument.value, place) else {
            return Value::Error;
        };
        let Ok(size @ 1..=500) = usize::try_from(size) else {
            let diagnostic = Diagnostic::error(
                Code::LGM0401,
                "the size of an identity matrix must be between 1 and 500",
            )
            .label(argument.value.span, format!("this is {size}"))
            .help("write a size from 1 to 500");
            self.report(diagnostic);
            return Value::Error;
        };
        let (zero, one) = (self.arena.exprs.zero(), self.arena.exprs.one());
        let entries = (0..size * size)
            .map(|at| {
                let on = at / size == at % size;
                Scalar {
                    expr: if on { one } else { zero },
                    // A 0 matches every unit; the ones are pure numbers.
                    dim: if on { DimId::NONE } else { DimId::UNKNOWN },
                }
            })
            .collect();
        match size {
            1 => Value::scalar(one, DimId::NONE),
            _ => Value::array(size, size, true, entries),
        }
    }

    pub(super) fn function(
        &mut self,
        function: Function,
        count: Option<usize>,
        name: &'a Name,
        arguments: &'a [Argument],
        place: Place,
        span: Span,
    ) -> Value {
        match count {
            Some(count) if count != arguments.len() => {
                let wanted = if count == 1 {
                    "one argument".to_string()
                } else {
                    format!("{count} arguments")
                };
                return self.wrong_count(name, &wanted, arguments.len(), span);
            }
            None if arguments.is_empty() => return self.wrong_count(name, "at least one argument", 0, span),
            _ => {}
        }
        if matches!(function, Function::Int | Function::Der) {
            let value = self.eval(&arguments[0].value, place);
            return self.rate(function, &value);
        }
        let mut scalars = Vec::with_capacity(arguments.len());
        for argument in arguments {
            scalars.push(
                self.eval_scalar(&argument.value, place)
                    .map(|scalar| (scalar, &argument.value)),
            );
        }
        let Some(scalars) = scalars.into_iter().collect::<Option<Vec<_>>>() else {
            return Value::Error;
        };
        let Some(dim) = self.function_dimension(function, name, &scalars) else {
            return Value::Error;
        };
        let mut list: Vec<ExprId> = scalars.iter().map(|entry| entry.0.expr).collect();
        if function.is_of_time() {
            let Some(time) = self.time_here() else {
                return Value::Error;
            };
            list.push(time);
        }
        let expr = self.arena.exprs.call(function, list);
        Value::scalar(expr, dim)
    }

    /// Returns the time symbol of the current law or of the model; the body of a modal block has none.
    pub(super) fn time_here(&mut self) -> Option<ExprId> {
        match &self.law {
            Some(scope) => scope.time,
            None => Some(self.time()),
        }
    }

    /// Evaluates `der` and `int`, entry by entry: per second, times second.
    fn rate(&mut self, function: Function, value: &Value) -> Value {
        let power = if function == Function::Der { -1 } else { 1 };
        let mut entries = Vec::with_capacity(value.entries().len());
        for entry in value.entries().to_vec() {
            entries.push(Scalar {
                expr: self.arena.exprs.call(function, [entry.expr]),
                dim: self.dims.times_seconds(entry.dim, power),
            });
        }
        match value {
            Value::Error => Value::Error,
            _ => self.like(value, entries),
        }
    }

    /// Returns the dimension of a function's value; `None` if an argument has the wrong dimension.
    pub(super) fn function_dimension(
        &mut self,
        function: Function,
        name: &Name,
        arguments: &[(Scalar, &'a Expr)],
    ) -> Option<DimId> {
        let first = arguments[0].0.dim;
        match function {
            Function::Abs | Function::Floor => Some(first),
            Function::Sqrt => Some(self.dims.times_power(DimId::NONE, first, 1, 2)),
            Function::Sign => Some(DimId::NONE),
            Function::Min | Function::Max | Function::Atan2 => {
                let mut dim = DimId::PLAIN;
                let mut known = arguments[0].1;
                for (scalar, argument) in arguments {
                    if !self.same_dimension(Side::of(known, dim), Side::of(argument, scalar.dim), "compared") {
                        return None;
                    }
                    let joined = dim.joined(scalar.dim);
                    if joined != dim {
                        dim = joined;
                        known = argument;
                    }
                }
                // The dimension of an angle from two quantities of unknown dimension is also unknown.
                Some(if function == Function::Atan2 && dim.says_something() {
                    DimId::NONE
                } else {
                    dim
                })
            }
            Function::Step | Function::Pulse | Function::Ramp => {
                let time = self.dims.id(Dimension::TIME);
                let known = arguments.iter().any(|entry| entry.0.dim.says_something());
                let plain = arguments.iter().all(|entry| entry.0.dim == DimId::PLAIN);
                for (scalar, argument) in arguments {
                    if scalar.dim.agreement(time) != Agreement::Yes {
                        let shown = self.dims.text(scalar.dim);
                        let diagnostic = Diagnostic::error(Code::LGM0203, format!("`{}` requires a time", name.text))
                            .label(argument.span, format!("this is in {shown}"))
                            .help("write a number, or a quantity in [s]");
                        let diagnostic = self.explain_dimension(diagnostic, Some(argument));
                        let claim = Claim::of(Side::of(argument, scalar.dim), time);
                        if !self.disagree(diagnostic, &[claim]) {
                            return None;
                        }
                    }
                }
                // A ramp is in seconds, and a factor of the ramp may be intended per second.
                Some(match (known, function) {
                    (false, Function::Step | Function::Pulse) if plain => DimId::PLAIN,
                    (false, _) => DimId::UNKNOWN,
                    (true, Function::Ramp) => time,
                    (true, _) => DimId::NONE,
                })
            }
            _ => {
                let (scalar, argument) = arguments[0];
                if scalar.dim.agreement(DimId::NONE) != Agreement::Yes {
                    let shown = self.dims.text(scalar.dim);
                    let diagnostic = Diagnostic::error(
                        Code::LGM0203,
                        format!("the argument of `{}` must be a pure number", name.text),
                    )
                    .label(argument.span, format!("this is in {shown}"))
                    .help(format!("divide it by a quantity in {shown}"));
                    let diagnostic = self.explain_dimension(diagnostic, Some(argument));
                    if !self.disagree(diagnostic, &[Claim::pure(scalar.dim, Some(argument))]) {
                        return None;
                    }
                    return Some(DimId::NONE);
                }
                Some(scalar.dim)
            }
        }
    }

    /// Returns the only argument of a measure.
    pub(super) fn only_argument(&mut self, name: &'a Name, arguments: &'a [Argument], span: Span) -> Option<&'a Expr> {
        match arguments {
            [only] if only.name.is_none() => Some(&only.value),
            _ => {
                self.wrong_count(name, "one argument, an instance or a node", arguments.len(), span);
                None
            }
        }
    }
}
