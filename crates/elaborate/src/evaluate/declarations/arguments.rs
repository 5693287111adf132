//! Formal parameters: the arguments of an instance, in the units of the parameters.

use crate::context::values::{Agreement, DimId, Scalar, Value};
use crate::context::{AtPlace, EnvId, FrameId, Place};
use crate::evaluate::declarations::settings::OfInstance;
use crate::evaluate::law_scope::LawScope;
use crate::evaluate::{Claim, Evaluator, Side};
use crate::syntax_queries::argument_for;
use crate::units::mass_for_force;
use lgm_algebra::expr::ExprId;
use lgm_algebra::units::Dimension;
use lgm_model::PathId;
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_syntax::ast::{self, Expr, ExprKind, Formal};

impl<'a> Evaluator<'a> {
    /// Returns the value of a formal parameter of a component.
    pub(in crate::evaluate) fn formal_value(&mut self, at: usize, frame: FrameId) -> Value {
        let about = self.scopes.frames[frame.0 as usize];
        let formal = &self.scopes.bodies[about.body as usize].formals[at];
        let argument = about.instance.and_then(|instance| argument_for(instance, formal, at));
        let (value, given) = match (argument, &formal.default) {
            (Some(expr), _) => {
                let value = self.at(about.outer, |this| {
                    let value = this.eval(expr, about.outer);
                    this.as_formal(&value, formal, expr.span, Some(expr))
                });
                (value, expr)
            }
            (None, Some(default)) => {
                let place = Place { frame, env: EnvId(0) };
                let value = self.eval(default, place);
                (self.as_formal(&value, formal, default.span, Some(default)), default)
            }
            // `check_arguments` has reported it.
            (None, None) => return Value::Error,
        };
        let of_instance = OfInstance {
            formal,
            path: about.path,
            given,
            span: argument_span(about.instance, argument, given),
        };
        let value = self.set_by_option(value, of_instance);
        if !formal.structural || value.is_error() {
            return value;
        }
        let exprs: Vec<ExprId> = value.entries().iter().map(|entry| entry.expr).collect();
        let symbols = self.arena.exprs.symbols_of(&exprs);
        let Some(symbol) = symbols.first() else {
            return value;
        };
        let other = self.arena.exprs.symbol_info(*symbol).name.clone();
        let span = argument.map_or(formal.name.span, |expr| expr.span);
        let diagnostic = Diagnostic::error(
            Code::LGM0402,
            format!("`{}` must be known at compile time", formal.name.text),
        )
        .label(span, format!("this depends on `{other}`"))
        .label(formal.name.span, "declared `const` here")
        .help(format!("declare `{other}` as `const`"));
        let diagnostic = self.label_symbol(diagnostic, *symbol);
        self.report(diagnostic);
        Value::Error
    }

    /// Returns an argument in the unit of its formal parameter.
    pub(crate) fn as_formal(&mut self, value: &Value, formal: &'a Formal, span: Span, expr: Option<&'a Expr>) -> Value {
        let Some(written) = &formal.unit else {
            return value.clone();
        };
        let Some(unit) = self.unit(written) else {
            return Value::Error;
        };
        let dim = self.dims.id(unit.dimension);
        for (at, entry) in value.entries().iter().enumerate() {
            // A pure number instead of a quantity is an error here: it is computed and not a literal.
            if entry.dim.agreement(dim) != Agreement::Yes {
                // For a literal list, the faulty entry is shown.
                let item = match expr.map(|expr| &expr.kind) {
                    Some(ExprKind::List(items, None)) if items.len() == value.entries().len() => items.get(at),
                    _ => None,
                };
                let (span, expr) = match item {
                    Some(item) => (item.span, Some(item)),
                    None => (span, expr),
                };
                // In the notation of the declaration: a torque is in `[N.m]`, although `[J]` is equal.
                let wanted = self.sources.slice(written.span).to_string();
                let given = self.unit_words(expr, entry.dim);
                let diagnostic = Diagnostic::error(
                    Code::LGM0201,
                    format!(
                        "`{}` is given in {given}, but is declared in {wanted}",
                        formal.name.text
                    ),
                )
                .label(span, format!("this is in {given}"))
                .label(written.span, format!("declared in {wanted}"))
                .help(match self.other_unit(expr, entry.dim, dim) {
                    Some(better) => better,
                    None => format!("give a value in {wanted}"),
                });
                let diagnostic = match expr.map(|expr| &expr.kind) {
                    // A wrong unit after a number is a slip; a computed value of another dimension is a conceptual error.
                    Some(ExprKind::Number(_, Some(unit))) => {
                        diagnostic.fix(format!("write `{wanted}`"), unit.span, wanted.clone())
                    }
                    _ => diagnostic,
                };
                let diagnostic = self.explain_dimension(diagnostic, expr);
                // In a non-SI unit its meaning would be ambiguous.
                let is_si = unit.is_si();
                let given = if is_si { entry.dim } else { entry.dim.firm() };
                let claim = Claim::of(Side { dim: given, span, expr }, dim);
                if !self.disagree(diagnostic, &[claim]) {
                    return Value::Error;
                }
            }
        }
        if let Some(expr) = expr {
            self.warn_of_hertz(formal, expr);
        }
        if unit.is_si() {
            return value.map(|entry| Scalar { expr: entry.expr, dim });
        }
        self.in_unit(value, &unit, written.span, span, expr)
    }

    /// Returns the unit of an expression as written, if it is a number or the name of a number: a torque is in `[N.m]` and not in `[J]`.
    /// Otherwise it returns the unit of its dimension.
    fn unit_words(&mut self, expr: Option<&'a Expr>, dim: crate::context::values::DimId) -> String {
        let number = match expr.map(|expr| &expr.kind) {
            Some(ExprKind::Name(name)) => self.defining_expression(&name.text).map(|defined| defined.0),
            _ => expr,
        };
        match number.map(|number| &number.kind) {
            Some(ExprKind::Number(_, Some(unit))) => self.sources.slice(unit.span).to_string(),
            _ => self.dims.text(dim),
        }
    }

    /// Returns the help for two common confusions of units: a period that is given as a frequency, and a mass in place of a force.
    fn other_unit(&mut self, expr: Option<&'a Expr>, given: DimId, wanted: DimId) -> Option<String> {
        if !matches!(expr?.kind, ExprKind::Number(_, Some(_))) {
            return None;
        }
        let (dim, words) = (self.dims.get(wanted)?, self.sources.slice(expr?.span));
        let is_rate = self.dims.get(given)? == Dimension::TIME.power(-1, 1)?;
        if dim == Dimension::TIME && is_rate {
            return Some(format!("a period is given in a unit of time: write `1/({words})`"));
        }
        mass_for_force(expr?)
    }

    /// Returns the values of the formal parameters.
    pub(crate) fn argument_values(
        &mut self,
        instance: &'a ast::Instance,
        formals: &'a [ast::Formal],
        (path, place): (PathId, Place),
        has_value: &dyn Fn(&str) -> bool,
    ) -> Option<Vec<Value>> {
        self.list_formals(path, formals);
        let mut values: Vec<Value> = Vec::with_capacity(formals.len());
        for (at, formal) in formals.iter().enumerate() {
            let argument = argument_for(instance, formal, at);
            if argument.is_none() && has_value(&formal.name.text) {
                values.push(Value::Error);
                continue;
            }
            let (value, given) = match (argument, &formal.default) {
                (Some(expr), _) => (self.eval(expr, place), expr),
                (None, Some(default)) => {
                    // A default may use the preceding parameters.
                    let names = formals.iter().map(|formal| &*formal.name.text);
                    let time = self.time();
                    self.law = Some(LawScope {
                        formals: names.zip(values.iter().cloned()).collect(),
                        ports: Vec::new(),
                        time: Some(time),
                        tables: &[],
                        table: None,
                    });
                    let value = self.eval(default, Place::MODEL);
                    self.law = None;
                    (value, default)
                }
                (None, None) => return None,
            };
            let value = self.as_formal(&value, formal, given.span, argument);
            let of_instance = OfInstance {
                formal,
                path: Some(path),
                given,
                span: argument_span(Some(instance), argument, given),
            };
            let value = self.set_by_option(value, of_instance).named();
            if value.is_error() {
                return None;
            }
            values.push(value);
        }
        Some(values)
    }
}

/// Returns the location of an argument; for a default, that of the instance.
fn argument_span(instance: Option<&ast::Instance>, argument: Option<&Expr>, given: &Expr) -> Span {
    match (argument, instance) {
        (None, Some(instance)) => instance.declared.span,
        _ => given.span,
    }
}
