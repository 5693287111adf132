//! Parameters, constants, inputs, formal parameters and states: what their declarations are worth.

use super::input_settings::InputSignals;
use super::lookup::{Indices, index_text};
use super::origins::Side;
use super::plain_numbers::Claim;
use super::state::{Elaborator, FrameId, Place};
use super::values::{Agreement, DimId, Scalar, Value};
use lgm_algebra::expr::{ExprId, SymbolKind, to_f64};
use lgm_model::blame::label_parameters;
use lgm_model::{Input, Integral, Parameter, ParameterEntry, PathId};
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_syntax::ast::{self, Assigned, Expr, ExprKind, Formal};
use num_rational::BigRational;
use num_traits::One;

impl<'a> Elaborator<'a> {
    /// The declared value, or the one that `--set` puts in its place, in the unit after the name.
    fn assigned(&mut self, assigned: &'a Assigned, place: Place) -> Value {
        let unit = match &assigned.unit {
            Some(written) => match self.unit(written) {
                Some(unit) => Some((unit, written.span)),
                None => return Value::Error,
            },
            None => None,
        };
        let setting = match place.frame {
            FrameId(0) => self.settings.get(&*assigned.name.text).copied(),
            _ => None,
        };
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
                        "write `{0} = ..`, or give one when calling: `--set {0}=1`",
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
        // The option may leave the unit out, or write another unit of the same dimension.
        let wanted = declared.common_dim();
        let wanted_span = assigned.value.as_ref().map_or(assigned.name.span, |expr| expr.span);
        if !value.is_error() && !declared.is_error() && value.shape() != declared.shape() {
            let (now, before) = (value.shape_text(), declared.shape_text());
            self.reshaped
                .push((format!("this is {now}, in place of {before}"), setting.value.span));
        }
        for entry in value.entries() {
            if wanted.is_known() && entry.dim.is_known() && entry.dim != wanted {
                let (given, wanted) = (self.dims.text(entry.dim), self.dims.text(wanted));
                let name = &assigned.name.text;
                let diagnostic = Diagnostic::error(
                    Code::LGM0201,
                    format!("`{name}` is set in {given}, but is declared in {wanted}"),
                )
                .label(setting.value.span, format!("this is in {given}"))
                .label(wanted_span, format!("declared in {wanted}"))
                .help(format!(
                    "write `--set {name}=..` without a unit for SI, or with a unit of the same dimension"
                ));
                self.report(diagnostic);
                return Value::Error;
            }
        }
        value.map(|entry| Scalar {
            expr: entry.expr,
            dim: if entry.dim.is_known() { entry.dim } else { wanted },
        })
    }

    /// The words of a unit where they are SI, otherwise the dimension's own text.
    fn unit_text(&mut self, assigned: &Assigned, dim: DimId) -> Option<String> {
        let dimension = self.dims.get(dim)?;
        let mut value = assigned.value.as_ref().map(|value| &value.kind);
        while let Some(ExprKind::Negate(inner)) = value {
            value = Some(&inner.kind);
        }
        let written = assigned.unit.as_ref().or(match value {
            Some(ExprKind::Number(_, unit) | ExprKind::List(_, unit)) => unit.as_ref(),
            _ => None,
        });
        if let Some(written) = written
            && let Some(unit) = self.unit(written)
            && unit.factor.is_one()
            && unit.pi_power == 0
            && unit.dimension == dimension
        {
            let words = self.sources.slice(written.span);
            let words = words.trim().trim_start_matches('[').trim_end_matches(']').trim();
            if !words.is_empty() {
                return Some(words.to_string());
            }
        }
        Some(dimension.text())
    }

    /// Exact values of expressions over parameters.
    pub fn exact(&mut self, exprs: &[ExprId], span: Span) -> Option<Vec<BigRational>> {
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
                    Some(name) => format!("write numbers and parameters only; a value that follows `{name}` is declared with `signal` instead of `param`"),
                    None => "check the parameter values and `--set`: look for a division by zero, a root of a negative number, or a number beyond 1.8e308".to_string(),
                };
                let mut diagnostic = Diagnostic::error(Code::LGM0406, message).label(span, words).help(help);
                if let Evaluated::NoValue(symbol) = fault {
                    diagnostic = self.label_symbol(diagnostic, symbol);
                }
                let diagnostic = label_parameters(&self.model.parameters, &self.arena.exprs, diagnostic, exprs);
                self.report(diagnostic);
                None
            }
        }
    }

    pub(super) fn param_value(&mut self, assigned: &'a Assigned, place: Place) -> Value {
        let value = self.assigned(assigned, place);
        if value.is_error() {
            // What went wrong was said: at a value that is there, or because there is none.
            return Value::Error;
        }
        let span = match self.settings.get(&*assigned.name.text) {
            Some(setting) if place.frame.0 == 0 => setting.value.span,
            _ => assigned.value.as_ref().map_or(assigned.name.span, |expr| expr.span),
        };
        let exprs: Vec<ExprId> = value.entries().iter().map(|entry| entry.expr).collect();
        let Some(numbers) = self.exact(&exprs, span) else {
            return Value::Error;
        };
        let name = self.qualified(&assigned.name.text, place.frame);
        let mut entries = Vec::with_capacity(exprs.len());
        let mut parameter_entries = Vec::with_capacity(exprs.len());
        let names = entry_names(&name, &value);
        for ((entry, number), entry_name) in value.entries().iter().zip(numbers).zip(names) {
            let symbol = self.arena.exprs.new_symbol(entry_name, SymbolKind::Parameter);
            self.parameter_values.insert(symbol, number.clone());
            let follows = !self.arena.exprs.symbols_of(&[entry.expr]).is_empty();
            parameter_entries.push(ParameterEntry {
                symbol,
                derived: follows.then_some(entry.expr),
                value: number,
            });
            entries.push(Scalar {
                expr: self.arena.exprs.symbol(symbol),
                dim: entry.dim,
            });
        }
        let common = value.common_dim();
        let unit = self.unit_text(assigned, common);
        let scale = self.scale(assigned);
        self.model.parameters.push(Parameter {
            name: name.into(),
            shape: match &value {
                Value::Array(array) if array.matrix => vec![array.rows, array.columns],
                Value::Array(array) => vec![array.rows],
                _ => Vec::new(),
            },
            entries: parameter_entries,
            dimension: self.dims.get(common),
            unit,
            scale,
            span: assigned.name.span,
            value_span: span,
        });
        self.like(&value, entries)
    }

    /// The SI value of 1 in the unit after the name.
    fn scale(&mut self, assigned: &'a Assigned) -> f64 {
        match assigned.unit.as_ref().map(|written| self.unit(written)) {
            Some(Some(unit)) => to_f64(&unit.to_si(&BigRational::one())),
            _ => 1.0,
        }
    }

    /// A name with the instance that holds it.
    pub(super) fn qualified(&self, name: &str, frame: FrameId) -> String {
        match self.frames[frame.0 as usize].path {
            Some(path) => format!("{}.{name}", self.model.path_name(path)),
            None => name.to_string(),
        }
    }

    pub(super) fn const_value(&mut self, assigned: &'a Assigned, place: Place) -> Value {
        let value = self.assigned(assigned, place);
        let exprs: Vec<ExprId> = value.entries().iter().map(|entry| entry.expr).collect();
        let symbols = self.arena.exprs.symbols_of(&exprs);
        let span = assigned.value.as_ref().map_or(assigned.name.span, |expr| expr.span);
        let Some(symbol) = symbols.first() else {
            // What is a number already has a value; the rest may divide by zero, or be beyond all bounds.
            let is_number = exprs.iter().all(|id| self.arena.exprs.as_number(*id).is_some());
            return match is_number || self.exact(&exprs, span).is_some() {
                true => value,
                false => Value::Error,
            };
        };
        let other = self.arena.exprs.symbol_info(*symbol).name.clone();
        let diagnostic = Diagnostic::error(
            Code::LGM0402,
            format!("the `const` `{}` must be known when compiling", assigned.name.text),
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

    pub(super) fn input_value(&mut self, assigned: &'a Assigned, place: Place) -> Value {
        let value = match &assigned.value {
            Some(_) => self.assigned(assigned, place),
            None => {
                // An input without a default signal is a scalar, given when simulating.
                let dim = match assigned.unit.as_ref().map(|written| self.unit(written)) {
                    Some(Some(unit)) => self.dims.id(unit.dimension),
                    Some(None) => return Value::Error,
                    None => DimId::UNKNOWN,
                };
                Value::scalar(self.arena.exprs.zero(), dim)
            }
        };
        let scale = self.scale(assigned);
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
                    .help("name what follows from the model with `signal`, and use that as the source's value");
                    let diagnostic = self.label_symbol(diagnostic, symbol);
                    self.report(diagnostic);
                    return Value::Error;
                }
            }
        }
        let names = entry_names(&assigned.name.text, &value);
        let mut entries = Vec::with_capacity(names.len());
        for ((entry, name), given) in value.entries().iter().zip(names).zip(given) {
            let name: std::sync::Arc<str> = name.into();
            let symbol = self.arena.exprs.new_symbol(name.clone(), SymbolKind::Input);
            let unit = self.unit_text(assigned, entry.dim);
            self.model.inputs.push(Input {
                name,
                symbol,
                signal: given.then_some(entry.expr),
                dimension: self.dims.get(entry.dim),
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

    /// The value of a formal parameter of a component.
    pub(super) fn formal_value(&mut self, at: usize, frame: FrameId) -> Value {
        let about = self.frames[frame.0 as usize];
        let formal = &self.bodies[about.body as usize].formals[at];
        let argument = about.instance.and_then(|instance| argument_for(instance, formal, at));
        let value = match (argument, &formal.default) {
            (Some(expr), _) => self.at(about.outer, |work| {
                let value = work.eval(expr, about.outer);
                work.as_formal(&value, formal, expr.span, Some(expr))
            }),
            (None, Some(default)) => {
                let place = Place {
                    frame,
                    env: super::state::EnvId(0),
                };
                let value = self.eval(default, place);
                self.as_formal(&value, formal, default.span, Some(default))
            }
            // `check_arguments` has reported it.
            (None, None) => Value::Error,
        };
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
            format!("`{}` must be known when compiling", formal.name.text),
        )
        .label(span, format!("this depends on `{other}`"))
        .label(formal.name.span, "declared `const` here")
        .help(format!("declare `{other}` as `const`"));
        let diagnostic = self.label_symbol(diagnostic, *symbol);
        self.report(diagnostic);
        Value::Error
    }

    /// An argument in the unit of its formal parameter.
    pub fn as_formal(&mut self, value: &Value, formal: &'a Formal, span: Span, expr: Option<&'a Expr>) -> Value {
        let Some(written) = &formal.unit else {
            return value.clone();
        };
        let Some(unit) = self.unit(written) else {
            return Value::Error;
        };
        let dim = self.dims.id(unit.dimension);
        for (at, entry) in value.entries().iter().enumerate() {
            // A pure number where a quantity is wanted is a fault here: it was computed, not just written.
            if entry.dim.agreement(dim) != Agreement::Yes {
                // Of a list that is written out, the entry at fault is shown.
                let item = match expr.map(|expr| &expr.kind) {
                    Some(ExprKind::List(items, None)) if items.len() == value.entries().len() => items.get(at),
                    _ => None,
                };
                let (span, expr) = match item {
                    Some(item) => (item.span, Some(item)),
                    None => (span, expr),
                };
                let (given, wanted) = (self.dims.text(entry.dim), self.dims.text(dim));
                let diagnostic = Diagnostic::error(
                    Code::LGM0201,
                    format!(
                        "`{}` is given in {given}, but is declared in {wanted}",
                        formal.name.text
                    ),
                )
                .label(span, format!("this is in {given}"))
                .label(written.span, format!("declared in {wanted}"))
                .help(format!(
                    "give a value in {wanted}, or use the element that takes one in {given}"
                ));
                let diagnostic = self.explain_dimension(diagnostic, expr);
                // In a unit that is not of SI it would be anybody's guess what is meant.
                let is_si = unit.factor.is_one() && unit.pi_power == 0;
                let given = if is_si { entry.dim } else { entry.dim.firm() };
                let claim = Claim::of(Side { dim: given, span, expr }, dim);
                if !self.disagree(diagnostic, &[claim]) {
                    return Value::Error;
                }
            }
        }
        if unit.factor.is_one() && unit.pi_power == 0 {
            return value.map(|entry| Scalar { expr: entry.expr, dim });
        }
        self.in_unit(value, &unit, written.span, span, expr)
    }

    /// The symbols of a state; its rate is evaluated once the whole graph is there.
    pub(super) fn state_value(&mut self, indexed: &'a ast::Indexed, place: Place, indices: Option<Indices>) -> Value {
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

    /// Integrals with their rates and starts, in the order of their declarations.
    pub(super) fn finish_states(&mut self) {
        for at in 0..self.states.len() {
            let later = self.states[at];
            let (indexed, place) = (later.what, later.place);
            self.here = place;
            let Ok(indices) = self.declared_indices(&indexed.declared, place) else {
                continue;
            };
            let name = &indexed.declared.name;
            let Some(slot) = self.value_slot(&name.text, place.frame) else {
                continue;
            };
            let symbols = self.slot_value(slot, indices, &name.text, name.span, place.frame);
            let ExprKind::Call(function, arguments) = &indexed.value.kind else {
                self.state_without_integral(indexed);
                continue;
            };
            if &*function.text != "int" {
                self.state_without_integral(indexed);
                continue;
            }
            let [argument] = &arguments[..] else {
                self.wrong_count(function, "one argument", arguments.len(), indexed.value.span);
                continue;
            };
            let rate = self.eval(&argument.value, place);
            if rate.is_error() || symbols.is_error() {
                continue;
            }
            if rate.shape() != symbols.shape() {
                self.width_mismatch(&rate, argument.value.span, &symbols, indexed.declared.span);
                continue;
            }
            let dims: Vec<DimId> = rate.entries().iter().map(|entry| entry.dim).collect();
            let dims: Vec<DimId> = dims.into_iter().map(|dim| self.dims.times_seconds(dim, 1)).collect();
            let named = |word: &str| indexed.attributes.iter().find(|found| &*found.name.text == word);
            let given = named("start").or(named("guess"));
            let start = given.and_then(|given| self.start_of(given, dims.len(), &dims, place));
            let sized = named("nominal");
            let nominal = sized.and_then(|sized| self.start_of(sized, dims.len(), &dims, place));
            let closure = self.closure_of(&indexed.attributes, rate.shape().0, place);
            let written = self.written(indexed.value.span);
            let list = indices.map_or(Vec::new(), |(i, j)| if j == 0 { vec![i] } else { vec![i, j] });
            let parent: Option<PathId> = self.frames[place.frame.0 as usize].path;
            let is_guess = given.is_some_and(|given| &*given.name.text == "guess");
            for (k, (entry, symbol)) in rate
                .entries()
                .to_vec()
                .into_iter()
                .zip(symbols.entries().to_vec())
                .enumerate()
            {
                let mut indices = list.clone();
                if rate.entries().len() > 1 {
                    indices.push(k as i64 + 1);
                }
                let path = self.path(parent, name, &indices);
                let lgm_algebra::expr::Node::Symbol(symbol) = *self.arena.exprs.node(symbol.expr) else {
                    continue;
                };
                let dim = dims[k];
                let of_entry =
                    |list: &Option<Vec<Option<ExprId>>>| list.as_ref().and_then(|list| list.get(k).copied().flatten());
                let (start, nominal) = (of_entry(&start), of_entry(&nominal));
                self.model.integrals.push(Integral {
                    path,
                    symbol,
                    owner: None,
                    rate: entry.expr,
                    start,
                    start_span: given.map(|given| given.value.span),
                    is_guess,
                    nominal,
                    closure: closure.as_ref().map(|(list, span)| (list[k], *span)),
                    unit: self.dims.get(dim).map(|dimension| dimension.text()),
                    written: written.clone(),
                });
            }
        }
    }

    fn state_without_integral(&mut self, indexed: &ast::Indexed) {
        let name = &indexed.declared.name.text;
        let (label, help) = match integral_inside(&indexed.value) {
            Some(integral) => {
                let integral = self.sources.slice(integral);
                (
                    "`int(..)` must stand alone here",
                    format!(
                        "write `state {name} = {integral};`, with `, start = ..` for a value that it starts at, and a \
                         `signal` for what is computed from it"
                    ),
                )
            }
            None => (
                "this is not `int(..)`",
                format!("write `state {name} = int(..);`, or `signal {name} = ..;` for a value without memory"),
            ),
        };
        let diagnostic = Diagnostic::error(Code::LGM0408, format!("the state `{name}` must be an integral"))
            .label(indexed.value.span, label)
            .help(help);
        self.report(diagnostic);
    }
}

/// The first `int(..)` in a sum, a product or under a sign.
fn integral_inside(expr: &Expr) -> Option<Span> {
    match &expr.kind {
        ExprKind::Call(name, _) if &*name.text == "int" => Some(expr.span),
        ExprKind::Sum(list) | ExprKind::Product(list) => list.iter().find_map(|term| integral_inside(&term.1)),
        ExprKind::Negate(inner) => integral_inside(inner),
        _ => None,
    }
}

/// The argument that an instance gives for a formal parameter.
pub(super) fn argument_for<'a>(instance: &'a ast::Instance, formal: &Formal, at: usize) -> Option<&'a Expr> {
    let named = instance.arguments.iter().find(|argument| match &argument.name {
        Some(name) => name.text == formal.name.text,
        None => false,
    });
    let argument = named.or_else(|| instance.arguments.get(at).filter(|argument| argument.name.is_none()));
    argument.map(|argument| &argument.value)
}

/// The names of a value's entries: `K`, `u[2]`, `K[1, 2]`.
pub(super) fn entry_names(name: &str, value: &Value) -> Vec<String> {
    match value {
        Value::Error => Vec::new(),
        Value::Scalar(_) => vec![name.to_string()],
        Value::Array(array) => (0..array.entries.len())
            .map(|at| {
                if array.matrix {
                    format!("{name}[{}, {}]", at / array.columns + 1, at % array.columns + 1)
                } else {
                    format!("{name}[{}]", at + 1)
                }
            })
            .collect(),
    }
}
