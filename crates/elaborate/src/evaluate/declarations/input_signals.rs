//! The signals of inputs: the declared ones, and those from options.

use crate::context::values::{DimId, Scalar, Value, entry_names};
use crate::context::{AtPlace, Place};
use crate::evaluate::Evaluator;
use crate::options::inputs::{InputSetting, no_such_input};
use crate::syntax_queries::bindings;
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_syntax::ast::Assigned;

/// The signals of one input: its entries, the entries with a given signal, and the locations of the signals.
pub(crate) struct InputSignals {
    pub value: Value,
    pub given: Vec<bool>,
    pub spans: Vec<Span>,
}

impl<'a> Evaluator<'a> {
    /// Returns the value of a component's input: that to which the instance binds it, or its default.
    pub(super) fn bound_input(&mut self, assigned: &'a Assigned, place: Place) -> Value {
        let about = self.scopes.frames[place.frame.0 as usize];
        let Some(instance) = about.instance else {
            return Value::Error;
        };
        let name = &assigned.name;
        let mut matching = bindings(instance).filter(|binding| binding.0.text == name.text);
        let (first, second) = (matching.next(), matching.next());
        if let (Some(first), Some(again)) = (first, second) {
            let diagnostic = Diagnostic::error(Code::LGM0133, format!("the input `{}` is bound twice", name.text))
                .label(again.0.span, "bound again here")
                .label(first.0.span, "first bound here")
                .help("remove one of the two");
            self.report(diagnostic);
        }
        let (value, expr) = match (first, &assigned.value) {
            (Some((_, expr)), _) => (self.at(about.outer, |this| this.eval(expr, about.outer)), expr),
            (None, Some(default)) => (self.eval(default, place), default),
            (None, None) => {
                let diagnostic = Diagnostic::error(
                    Code::LGM0302,
                    format!(
                        "the input `{}` of `{}` is not connected",
                        name.text, instance.declared.name.text
                    ),
                )
                .label(instance.declared.span, format!("nothing is bound to `{}`", name.text))
                .label(name.span, "the input is declared here, without a default")
                .help(format!(
                    "write `({} = ..)` after the parameters, with a value",
                    name.text
                ));
                self.report(diagnostic);
                return Value::Error;
            }
        };
        match assigned.unit.as_ref().map(|written| (written, self.unit(written))) {
            None => value,
            Some((_, None)) => Value::Error,
            Some((written, Some(unit))) => self.in_unit(&value, &unit, written.span, expr.span, Some(expr)),
        }
    }

    /// Returns the signals of an input: those of the options, and the default if there is none.
    pub(in crate::evaluate) fn input_signals(
        &mut self,
        assigned: &'a Assigned,
        place: Place,
        default: Value,
    ) -> InputSignals {
        let has_default = assigned.value.is_some();
        let span = assigned.value.as_ref().map_or(assigned.name.span, |expr| expr.span);
        let mut signals = InputSignals {
            given: vec![has_default; default.entries().len()],
            spans: vec![span; default.entries().len()],
            value: default,
        };
        let options: Vec<&'a InputSetting> = self
            .inputs
            .iter()
            .copied()
            .filter(|setting| *setting.target.name == *assigned.name.text)
            .collect();
        for setting in options {
            if signals.value.is_error() {
                break;
            }
            signals = self.with_setting(assigned, place, setting, signals);
        }
        signals
    }

    fn with_setting(
        &mut self,
        assigned: &'a Assigned,
        place: Place,
        setting: &'a InputSetting,
        mut signals: InputSignals,
    ) -> InputSignals {
        let failed = |mut signals: InputSignals| {
            signals.value = Value::Error;
            signals
        };
        let span = setting.value.span;
        let mut value = self.eval(&setting.value, place);
        if let Some(written) = &assigned.unit
            && let Some(unit) = self.unit(written)
        {
            value = self.in_unit(&value, &unit, written.span, span, Some(&setting.value));
        }
        if value.is_error() {
            return failed(signals);
        }
        let wanted = signals.value.common_dim();
        if let Some(entry) = value.entries().iter().find(|entry| self.clashes(entry.dim, wanted)) {
            let (given, wanted) = (self.dims.text(entry.dim), self.dims.text(wanted));
            let name = setting.target.text();
            let declared = assigned.value.as_ref().map_or(assigned.name.span, |expr| expr.span);
            let diagnostic = Diagnostic::error(
                Code::LGM0201,
                format!("`{name}` is given in {given}, but is declared in {wanted}"),
            )
            .label(span, format!("this is in {given}"))
            .label(declared, format!("declared in {wanted}"))
            .help("omit the unit for SI, or write a unit of the same dimension");
            self.report(diagnostic);
            return failed(signals);
        }
        let typed = |entry: Scalar| Scalar {
            expr: entry.expr,
            dim: if entry.dim.is_known() { entry.dim } else { wanted },
        };
        let (places, shape) = match setting.target.entry {
            None => ((0..signals.given.len()).collect(), signals.value.shape_text()),
            Some(entry) if entry <= signals.given.len() && matches!(signals.value, Value::Array(_)) => {
                (vec![entry - 1], "a scalar".to_string())
            }
            Some(_) => {
                let names = entry_names(&assigned.name.text, &signals.value);
                let diagnostic = no_such_input(
                    &self.chosen.name.text,
                    &setting.target,
                    names.iter().map(String::as_str),
                );
                self.report(diagnostic);
                return failed(signals);
            }
        };
        if value.entries().len() != places.len() || value.shape().1 != 1 {
            let diagnostic = Diagnostic::error(
                Code::LGM0202,
                format!("the signal of `{}` has the wrong width", setting.target.text()),
            )
            .label(span, format!("this is {}", value.shape_text()))
            .label(assigned.name.span, format!("{shape} is required"));
            self.report(diagnostic);
            return failed(signals);
        }
        let mut entries = signals.value.entries().to_vec();
        for (at, entry) in places.into_iter().zip(value.entries()) {
            entries[at] = typed(*entry);
            signals.given[at] = true;
            signals.spans[at] = span;
        }
        signals.value = self.like(&signals.value, entries);
        signals
    }

    fn clashes(&self, given: DimId, wanted: DimId) -> bool {
        given.is_known() && wanted.is_known() && given != wanted
    }
}
