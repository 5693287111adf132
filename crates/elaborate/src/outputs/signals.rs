//! Signals: each is evaluated, named and given its initial value, even if unused.

use crate::context::values::{DimId, Value, entry_names};
use crate::context::{AtPlace, Place, index_text};
use crate::outputs::Results;
use lgm_algebra::expr::{ExprId, Function, Node};
use lgm_model::SiUnit;
use lgm_model::{Constant, Signal, StartCondition};
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_syntax::ast::Indexed;

impl<'a> Results<'_, 'a> {
    /// Evaluates every signal, so that errors in unused signals are found too.
    pub fn evaluate_signals(&mut self) {
        for at in 0..self.expanded.signals.len() {
            if self.reports.is_stopped() {
                return;
            }
            let later = self.expanded.signals[at];
            self.at(later.place, |this| this.evaluate_signal(later.statement, later.place));
        }
    }

    fn evaluate_signal(&mut self, signal: &'a Indexed, place: Place) {
        let declared = &signal.declared;
        let Ok(indices) = self.declared_indices(declared, place) else {
            return;
        };
        let name = &declared.name;
        if let Some(slot) = self.scopes.value_slot(&name.text, place.frame) {
            let value = self.slot_value(slot, indices, &name.text, name.span, place.frame);
            let mut whole = self.qualified(&name.text, place.frame);
            if let Some(at) = indices {
                whole.push_str(&format!("[{}]", index_text(at)));
            }
            self.name_signal(&whole, &value, name.span);
            if !signal.attributes.is_empty() {
                self.signal_start(signal, &whole, &value, place);
            }
        }
    }

    /// Records the names of the values of a signal.
    fn name_signal(&mut self, name: &str, value: &Value, span: Span) {
        for (entry, name) in value.entries().iter().zip(entry_names(name, value)) {
            let unit = self.dims.get(entry.dim).map(SiUnit::of);
            // The equations contain a number itself, and another variable already has a name.
            match self.arena.exprs.node(entry.expr) {
                Node::Number(value) => {
                    let value = (**value).clone();
                    self.graph.model.constants.push(Constant { value, unit, span });
                    continue;
                }
                Node::Symbol(_) => continue,
                _ => {}
            }
            self.graph.model.signals.push(Signal {
                name: name.into(),
                value: entry.expr,
                unit,
                span,
            });
        }
    }

    /// Reads the initial value of a signal.
    pub(crate) fn signal_start(&mut self, signal: &'a Indexed, name: &str, value: &Value, place: Place) {
        let mut given = None;
        for attribute in &signal.attributes {
            if &*attribute.name.text == "start" {
                given = Some(attribute);
                continue;
            }
            let word = &attribute.name.text;
            let diagnostic = Diagnostic::error(Code::LGM0136, format!("a signal has no `{word}`"))
                .label(attribute.name.span, "only `start` is allowed here")
                .help(
                    "write `start = ..` for the initial value of the signal, from which those of the states \
                    follow",
                );
            self.report(diagnostic);
        }
        let Some(attribute) = given else { return };
        if value.is_error() {
            return;
        }
        let dimensions: Vec<DimId> = value.entries().iter().map(|entry| entry.dim).collect();
        let Some(starts) = self.start_of(attribute, dimensions.len(), &dimensions, place) else {
            return;
        };
        let roots: Vec<ExprId> = value.entries().iter().map(|entry| entry.expr).collect();
        let reachable = self.arena.exprs.reachable(&roots);
        let holds_integral = reachable
            .iter()
            .any(|id| matches!(self.arena.exprs.node(*id), Node::Call(Function::Int, _)));
        if holds_integral {
            let diagnostic = Diagnostic::error(
                Code::LGM0409,
                "an integral in a signal cannot have its own initial value",
            )
            .label(
                attribute.value.span,
                "this initial value is for a signal that contains `int(..)`",
            )
            .label(signal.value.span, "the integral is in this")
            .help("declare the integral as a state, `state q = int(..), start = ..;`, and use `q` in the signal");
            self.report(diagnostic);
            return;
        }
        let names = entry_names(name, value);
        for ((entry, start), name) in value.entries().to_vec().into_iter().zip(starts).zip(names) {
            let Some(start) = start else { continue };
            self.graph.model.start_conditions.push(StartCondition {
                name: name.into(),
                value: entry.expr,
                start,
                span: attribute.value.span,
            });
        }
    }
}
