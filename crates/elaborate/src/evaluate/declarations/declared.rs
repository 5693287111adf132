//! The values of declarations: parameters, constants, inputs, formal parameters and states.

use crate::context::values::{DimId, Scalar, Value, entry_names};
use crate::context::{FrameId, Indices, Place, index_text, is_measure};
use crate::evaluate::Evaluator;
use crate::evaluate::declarations::input_signals::InputSignals;
use lgm_algebra::expr::{ExprId, Node, SymbolKind, in_double_precision};
use lgm_model::blame::label_parameters;
use lgm_model::{Constant, Input, Parameter, ParameterEntry};
use lgm_model::{Scale, SiUnit};
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_syntax::ast::{self, Assigned, Expr, ExprKind};
use num_rational::BigRational;
use std::sync::Arc;

/// A value that becomes a parameter of the model.
pub(super) struct Declared<'a> {
    pub name: String,
    /// The location of its name.
    pub span: Span,
    /// The location of its value.
    pub value_span: Span,
    /// The unit after the name.
    pub unit: Option<&'a ast::UnitExpr>,
    /// The value in the source.
    pub value: Option<&'a Expr>,
}

impl<'a> Evaluator<'a> {
    /// Returns the declared value, or its replacement from `--set`, in the unit after the name.
    pub(crate) fn assigned(&mut self, assigned: &'a Assigned, place: Place) -> Value {
        let unit = match &assigned.unit {
            Some(written) => match self.unit(written) {
                Some(unit) => Some((unit, written.span)),
                None => return Value::Error,
            },
            None => None,
        };
        let setting = self.setting(&assigned.name.text, place.frame);
        let declared = match &assigned.value {
            Some(expr) => {
                let value = self.eval(expr, place);
                match &unit {
                    Some((unit, span)) => self.in_unit(&value, unit, *span, expr.span, Some(expr)),
                    None => value,
                }
            }
            None => Value::Error,
        };
        let Some(setting) = setting else {
            if assigned.value.is_none() {
                let diagnostic = Diagnostic::error(Code::LGM0405, format!("`{}` has no value", assigned.name.text))
                    .label(assigned.name.span, "declared without a value")
                    .help(format!(
                        "write `{0} = ..`, or set it on the command line: `--set {0}=1`",
                        assigned.name.text
                    ));
                self.report(diagnostic);
            }
            return declared;
        };
        let value = self.eval(&setting.value, place);
        if let Some((unit, span)) = &unit {
            return self.in_unit(&value, unit, *span, setting.value.span, None);
        }
        let wanted_span = assigned.value.as_ref().map_or(assigned.name.span, |expr| expr.span);
        self.note_bare_number(setting, &value, assigned.value.as_ref());
        self.like_declared(&value, &declared, (&setting.name, setting.value.span), wanted_span)
    }

    /// Returns the unit of a value in the notation of its declaration if that is SI, otherwise in the notation of its dimension.
    fn shown_unit(&mut self, (unit, value): (Option<&ast::UnitExpr>, Option<&Expr>), dim: DimId) -> Option<SiUnit> {
        let dimension = self.dims.get(dim)?;
        let mut value = value.map(|value| &value.kind);
        while let Some(ExprKind::Negate(inner)) = value {
            value = Some(&inner.kind);
        }
        let written = unit.or(match value {
            Some(ExprKind::Number(_, unit) | ExprKind::List(_, unit)) => unit.as_ref(),
            _ => None,
        });
        if let Some(written) = written
            && let Some(unit) = self.unit(written)
            && unit.is_si()
            && unit.dimension == dimension
        {
            let words = self.sources.slice(written.span);
            let words = words.trim().trim_start_matches('[').trim_end_matches(']').trim();
            if !words.is_empty() {
                return Some(SiUnit::new(words, dimension));
            }
        }
        Some(SiUnit::of(dimension))
    }

    /// Returns the exact values of expressions of parameters.
    pub(crate) fn exact(&mut self, exprs: &[ExprId], span: Span) -> Option<Vec<BigRational>> {
        let values = &self.parameter_values;
        match self
            .arena
            .exprs
            .evaluate_exact(exprs, &|symbol| values.get(&symbol).cloned())
        {
            Ok(list) => Some(list),
            Err(fault) => {
                use lgm_algebra::expr::Evaluated;
                let (words, name) = match &fault {
                    Evaluated::DivisionByZero => ("this divides by zero at the parameter values".to_string(), None),
                    Evaluated::NotFinite(Some(function)) => {
                        (format!("`{}` has no finite value here", function.name()), None)
                    }
                    Evaluated::NotFinite(None) => ("this has no finite value".to_string(), None),
                    Evaluated::NoValue(symbol) => {
                        let name = self.arena.exprs.symbol_info(*symbol).name.clone();
                        (format!("this depends on `{name}`"), Some(name))
                    }
                };
                let message = match &name {
                    Some(name) => format!("this value must be constant, but it changes with `{name}`"),
                    None => "the value of this expression cannot be computed".to_string(),
                };
                let help = match name {
                    Some(name) => format!(
                        "use only numbers and parameters; declare a value that depends on `{name}` \
                        with `signal` instead of `param`"
                    ),
                    None => "check the parameter values and `--set` for a division by zero, a root of a negative \
                        number, or a number beyond 1.8e308"
                        .to_string(),
                };
                let mut diagnostic = Diagnostic::error(Code::LGM0406, message).label(span, words).help(help);
                if let Evaluated::NoValue(symbol) = fault {
                    diagnostic = self.label_symbol(diagnostic, symbol);
                }
                let diagnostic = label_parameters(&self.graph.model.parameters, &self.arena.exprs, diagnostic, exprs);
                self.report(diagnostic);
                None
            }
        }
    }

    pub(in crate::evaluate) fn param_value(&mut self, assigned: &'a Assigned, place: Place) -> Value {
        let value = self.assigned(assigned, place);
        if value.is_error() {
            // The error is already reported: at the value, or because there is none.
            return Value::Error;
        }
        let span = match self.setting(&assigned.name.text, place.frame) {
            Some(setting) => setting.value.span,
            None => assigned.value.as_ref().map_or(assigned.name.span, |expr| expr.span),
        };
        let declared = Declared {
            name: self.qualified(&assigned.name.text, place.frame),
            span: assigned.name.span,
            value_span: span,
            unit: assigned.unit.as_ref(),
            value: assigned.value.as_ref(),
        };
        self.parameter(&value, declared)
    }

    /// Makes a value a parameter of the model: its uses refer to a symbol.
    pub(super) fn parameter(&mut self, value: &Value, declared: Declared<'a>) -> Value {
        let span = declared.value_span;
        let exprs: Vec<ExprId> = value.entries().iter().map(|entry| entry.expr).collect();
        let Some(numbers) = self.exact(&exprs, span) else {
            return Value::Error;
        };
        let mut entries = Vec::with_capacity(exprs.len());
        let mut parameter_entries = Vec::with_capacity(exprs.len());
        let names = entry_names(&declared.name, value);
        for ((entry, number), entry_name) in value.entries().iter().zip(numbers).zip(names) {
            let symbol = self.arena.exprs.new_symbol(entry_name, SymbolKind::Parameter);
            self.parameter_values.insert(symbol, number.clone());
            let follows = !self.arena.exprs.symbols_of(&[entry.expr]).is_empty();
            let exact = (!follows && self.arena.exprs.as_number(entry.expr).is_none()).then_some(entry.expr);
            let number = in_double_precision(number);
            parameter_entries.push(ParameterEntry {
                symbol,
                derived: follows.then_some(entry.expr),
                exact,
                value: number,
            });
            entries.push(Scalar {
                expr: self.arena.exprs.symbol(symbol),
                dim: entry.dim,
            });
        }
        let common = value.common_dim();
        let unit = self.shown_unit((declared.unit, declared.value), common);
        let scale = self.scale(declared.unit);
        let literal_unit = match declared.unit {
            Some(_) => None,
            None => self.literal_unit(declared.value),
        };
        self.graph.model.parameters.push(Parameter {
            name: declared.name.into(),
            shape: match value {
                Value::Array(array) if array.matrix => vec![array.rows, array.columns],
                Value::Array(array) => vec![array.rows],
                _ => Vec::new(),
            },
            entries: parameter_entries,
            unit,
            scale,
            literal_unit,
            span: declared.span,
            value_span: span,
            is_constant: false,
        });
        self.like(value, entries)
    }

    /// Records the value of a `const` of the model or of one of its components.
    fn keep_constant(&mut self, assigned: &'a Assigned, scalar: Scalar) {
        // A value that is not a number is already reported at its declaration.
        let Ok(numbers) = self.arena.exprs.evaluate_exact(&[scalar.expr], &|_| None) else {
            return;
        };
        let unit = self.shown_unit((assigned.unit.as_ref(), assigned.value.as_ref()), scalar.dim);
        let found = numbers.into_iter().map(|value| Constant {
            value,
            unit: unit.clone(),
            span: assigned.name.span,
        });
        self.graph.model.constants.extend(found);
    }

    /// Returns the scale of the unit after the name.
    fn scale(&mut self, unit: Option<&ast::UnitExpr>) -> Scale {
        match unit.map(|written| self.unit(written)) {
            Some(Some(unit)) => Scale::of(&unit),
            _ => Scale::SI,
        }
    }

    /// Returns the unit of a literal, as written, if its numbers are not those in SI.
    pub(super) fn literal_unit(&mut self, value: Option<&Expr>) -> Option<Arc<str>> {
        let mut value = value?;
        while let ExprKind::Negate(inner) = &value.kind {
            value = inner;
        }
        let (ExprKind::Number(_, Some(written)) | ExprKind::List(_, Some(written))) = &value.kind else {
            return None;
        };
        let unit = self.unit(written)?;
        let words = self.sources.slice(written.span);
        (!unit.is_si()).then(|| words.trim_matches(['[', ']']).trim().into())
    }

    /// Returns a name with the path of its instance.
    pub(crate) fn qualified(&self, name: &str, frame: FrameId) -> String {
        match self.scopes.frames[frame.0 as usize].path {
            Some(path) => format!("{}.{name}", self.graph.model.path_name(path)),
            None => name.to_string(),
        }
    }

    pub(in crate::evaluate) fn const_value(&mut self, assigned: &'a Assigned, place: Place) -> Value {
        let value = self.assigned(assigned, place);
        let exprs: Vec<ExprId> = value.entries().iter().map(|entry| entry.expr).collect();
        let symbols = self.arena.exprs.symbols_of(&exprs);
        let span = assigned.value.as_ref().map_or(assigned.name.span, |expr| expr.span);
        let Some(symbol) = symbols.first() else {
            // A number already has a value; other expressions may divide by zero or overflow.
            let is_number = exprs.iter().all(|id| self.arena.exprs.as_number(*id).is_some());
            if !is_number && self.exact(&exprs, span).is_none() {
                return Value::Error;
            }
            if let Value::Scalar(scalar) = value {
                self.keep_constant(assigned, scalar);
            }
            return value;
        };
        let other = self.arena.exprs.symbol_info(*symbol).name.clone();
        let diagnostic = Diagnostic::error(
            Code::LGM0402,
            format!("the `const` `{}` must be known at compile time", assigned.name.text),
        )
        .label(span, format!("this depends on `{other}`"))
        .help(format!(
            "declare `{0}` as `param`, or `{other}` as `const`",
            assigned.name.text
        ));
        let diagnostic = self.label_symbol(diagnostic, *symbol);
        self.report(diagnostic);
        Value::Error
    }

    pub(in crate::evaluate) fn input_value(&mut self, assigned: &'a Assigned, place: Place) -> Value {
        if place.frame != FrameId(0) {
            return self.bound_input(assigned, place);
        }
        let value = match &assigned.value {
            Some(_) => self.assigned(assigned, place),
            None => {
                // An input without a default signal is a scalar, set when simulating.
                let dim = match assigned.unit.as_ref().map(|written| self.unit(written)) {
                    Some(Some(unit)) => self.dims.id(unit.dimension),
                    Some(None) => return Value::Error,
                    None => DimId::UNKNOWN,
                };
                Value::scalar(self.arena.exprs.zero(), dim)
            }
        };
        let scale = self.scale(assigned.unit.as_ref());
        let InputSignals { value, given, spans } = self.input_signals(assigned, place, value);
        if value.is_error() {
            return Value::Error;
        }
        for (entry, span) in value.entries().iter().zip(&spans) {
            for symbol in self.arena.exprs.symbols_of(&[entry.expr]) {
                let info = self.arena.exprs.symbol_info(symbol);
                if !matches!(info.kind, SymbolKind::Parameter | SymbolKind::Time) {
                    let other = info.name.clone();
                    let diagnostic = Diagnostic::error(
                        Code::LGM0407,
                        format!(
                            "the signal of `{}` may depend on time and parameters only",
                            assigned.name.text
                        ),
                    )
                    .label(*span, format!("this depends on `{other}`"))
                    .help("declare the expression as a `signal`, and use it as the value of the source");
                    let diagnostic = self.label_symbol(diagnostic, symbol);
                    self.report(diagnostic);
                    return Value::Error;
                }
            }
        }
        let is_measured =
            |id: &ExprId| matches!(self.arena.exprs.node(*id), Node::Call(function, _) if is_measure(*function));
        let places = value.entries().iter().zip(&spans);
        let mut measured =
            places.filter(|(entry, _)| self.arena.exprs.reachable(&[entry.expr]).iter().any(is_measured));
        if let Some((_, span)) = measured.next() {
            let message = format!(
                "the signal of `{}` must be a closed-form function of time",
                assigned.name.text
            );
            let diagnostic = Diagnostic::error(Code::LGM0407, message)
                .label(*span, "`int(..)` and `der(..)` change during a run")
                .help(
                    "write the resulting function, or declare a `signal` or `state z = int(..)` instead of an \
                    input",
                );
            self.report(diagnostic);
            return Value::Error;
        }
        let names = entry_names(&assigned.name.text, &value);
        let mut entries = Vec::with_capacity(names.len());
        for ((entry, name), given) in value.entries().iter().zip(names).zip(given) {
            let name: std::sync::Arc<str> = name.into();
            let symbol = self.arena.exprs.new_symbol(name.clone(), SymbolKind::Input);
            let unit = self.shown_unit((assigned.unit.as_ref(), assigned.value.as_ref()), entry.dim);
            self.graph.model.inputs.push(Input {
                name,
                symbol,
                signal: given.then_some(entry.expr),
                unit,
                scale,
                span: assigned.name.span,
                is_internal: false,
            });
            entries.push(Scalar {
                expr: self.arena.exprs.symbol(symbol),
                dim: entry.dim,
            });
        }
        self.like(&value, entries)
    }

    /// Returns the symbols of a state; its rate is evaluated after the graph is complete.
    pub(in crate::evaluate) fn state_value(
        &mut self,
        indexed: &'a ast::Indexed,
        place: Place,
        indices: Option<Indices>,
    ) -> Value {
        let argument = match &indexed.value.kind {
            ExprKind::Call(_, arguments) if arguments.len() == 1 => Some(&arguments[0].value),
            _ => None,
        };
        let width = argument.map_or(1, |argument| self.width_of(argument, place, 0));
        let common = argument.map_or(DimId::UNKNOWN, |argument| self.dimension_of(argument, place, 0));
        let mut name = self.qualified(&indexed.declared.name.text, place.frame);
        if let Some(at) = indices {
            name.push_str(&format!("[{}]", index_text(at)));
        }
        let mut entries = Vec::with_capacity(width);
        for k in 1..=width {
            let name = if width == 1 {
                name.clone()
            } else {
                format!("{name}[{k}]")
            };
            let symbol = self.arena.exprs.new_symbol(name, SymbolKind::State);
            let dim = match &argument.map(|argument| &argument.kind) {
                Some(ExprKind::List(items, None)) => self.dimension_of(&items[k - 1], place, 0),
                _ => common,
            };
            entries.push(Scalar {
                expr: self.arena.exprs.symbol(symbol),
                dim: self.dims.times_seconds(dim, 1),
            });
        }
        Value::column(entries)
    }
}
