//! Outputs, and signals that nothing uses.

use super::lookup::index_text;
use super::model::{Measure, Output, Variable};
use super::quantities::entry_names;
use super::state::{Elaborator, Place};
use super::values::Scalar;
use crate::diagnostic::Diagnostic;
use crate::expr::Node;
use crate::source::Span;
use crate::syntax::ast::Indexed;
use rustc_hash::FxHashMap;

impl<'a> Elaborator<'a> {
    /// Evaluates every signal, so that a fault in one that nothing uses is found too.
    pub fn finish_signals(&mut self) {
        for at in 0..self.signals.len() {
            let later = self.signals[at];
            self.at(later.place, |work| work.finish_signal(later.what, later.place));
        }
    }

    fn finish_signal(&mut self, signal: &'a Indexed, place: Place) {
        let declared = &signal.declared;
        let Ok(indices) = self.declared_indices(declared, place) else {
            return;
        };
        let name = &declared.name;
        if let Some(slot) = self.value_slot(&name.text, place.frame) {
            self.slot_value(slot, indices, &name.text, name.span, place.frame);
        }
    }

    /// The outputs in order, vectors entry by entry.
    pub fn finish_outputs(&mut self) {
        let mut names: FxHashMap<String, Span> = FxHashMap::default();
        for at in 0..self.outputs.len() {
            let later = self.outputs[at];
            let declared = &later.what.declared;
            self.here = later.place;
            let Ok(indices) = self.declared_indices(declared, later.place) else {
                continue;
            };
            let value = self.eval(&later.what.value, later.place);
            let mut name = declared.name.text.to_string();
            if let Some(at) = indices {
                name.push_str(&format!("[{}]", index_text(at)));
            }
            if let Some(first) = names.insert(name.clone(), declared.span) {
                let diagnostic = Diagnostic::error("LGM0107", format!("the output `{name}` is declared twice"))
                    .label(declared.span, "declared again here")
                    .label(first, "first declared here")
                    .help("rename one of the two");
                self.report(diagnostic);
                continue;
            }
            if indices.is_some() && value.entries().len() > 1 {
                let diagnostic = Diagnostic::error("LGM0206", "an output with an index must be a scalar")
                    .label(later.what.value.span, format!("this is {}", value.shape_text()))
                    .help("write one entry of it, such as `[1]` behind it, or leave the index of the output out");
                self.report(diagnostic);
                continue;
            }
            let list = entry_names(&name, &value);
            let written = self.written(later.what.value.span);
            for (entry, name) in value.entries().to_vec().into_iter().zip(list) {
                let unit = self.output_unit(entry);
                self.model.outputs.push(Output {
                    name: name.into(),
                    value: entry.expr,
                    written: written.clone(),
                    unit,
                    span: declared.name.span,
                });
            }
        }
    }

    /// A measured variable has the unit of its domain, in the domain's own words; what is computed has the text
    /// of its dimension.
    fn output_unit(&self, entry: Scalar) -> Option<String> {
        // A state without a declared unit has the unit of its rate times a second.
        if let Node::Symbol(symbol) = *self.arena.exprs.node(entry.expr)
            && let Some(integral) = self.model.integrals.iter().find(|integral| integral.symbol == symbol)
        {
            return integral.unit.clone();
        }
        let dimension = self.dims.get(entry.dim)?;
        if let Node::Symbol(symbol) = *self.arena.exprs.node(entry.expr)
            && let Some((_, measure)) = self.model.measures.iter().find(|known| known.0 == symbol)
        {
            let of = |domain: Option<super::model::DomainId>, variable: Variable| {
                let domain = &self.model.domains[domain?.index()];
                let across = domain.effort_is_across == (variable == Variable::Effort);
                if across {
                    domain.across_unit.clone()
                } else {
                    domain.through_unit.clone()
                }
            };
            let words = match *measure {
                Measure::PortEffort(port) => of(self.model.ports[port.index()].domain, Variable::Effort),
                Measure::PortFlow(port) => of(self.model.ports[port.index()].domain, Variable::Flow),
                Measure::Common(node) => {
                    let node = &self.model.nodes[node.index()];
                    let variable = match node.kind {
                        super::model::JunctionKind::Zero => Variable::Effort,
                        super::model::JunctionKind::One => Variable::Flow,
                    };
                    of(node.domain, variable)
                }
                Measure::BondEffort(_) | Measure::BondFlow(_) => None,
            };
            if words.is_some() {
                return words;
            }
        }
        Some(dimension.text())
    }
}
