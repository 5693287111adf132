//! Outputs and unused signals.

mod events;
mod signals;
mod states;

pub(crate) mod experiment;
pub(crate) mod point;

use crate::context::values::{Scalar, entry_names};
use crate::context::{index_text, layer};
use crate::evaluate::Evaluator;
use crate::expand::Expanded;
use lgm_algebra::expr::{Node, SymbolId};
use lgm_model::SiUnit;
use lgm_model::{Measure, Output, Variable};
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use rustc_hash::FxHashMap;

/// The values of the model's signals, states, outputs and experiments.
pub(crate) struct Results<'e, 'a> {
    evaluator: &'e mut Evaluator<'a>,
    expanded: &'e Expanded<'a>,
}

layer!(Results<'e, 'a>, evaluator: Evaluator<'a>);

/// Evaluates the model's declarations outside its graph, which is complete, including its laws.
pub(crate) fn evaluate<'a>(evaluator: &mut Evaluator<'a>, expanded: &Expanded<'a>) {
    let mut results = Results { evaluator, expanded };
    results.evaluate_signals();
    results.evaluate_states();
    results.evaluate_discretes();
    results.evaluate_outputs();
    results.evaluate_blocks();
    results.evaluate_junctions();
    results.evaluate_experiments();
}

impl<'a> Results<'_, 'a> {
    /// Evaluates the outputs in order, vectors entry by entry.
    pub fn evaluate_outputs(&mut self) {
        let mut names: FxHashMap<String, Span> = FxHashMap::default();
        let mut values = Vec::new();
        for at in 0..self.expanded.outputs.len() {
            if self.reports.is_stopped() {
                return;
            }
            let later = self.expanded.outputs[at];
            let declared = &later.statement.declared;
            self.reports.here = later.place;
            let Ok(indices) = self.declared_indices(declared, later.place) else {
                continue;
            };
            let (value, shown) = self.shown_output(later.statement, later.place);
            let mut name = declared.name.text.to_string();
            if let Some(at) = indices {
                name.push_str(&format!("[{}]", index_text(at)));
            }
            if let Some(first) = names.insert(name.clone(), declared.span) {
                let diagnostic = Diagnostic::error(Code::LGM0107, format!("the output `{name}` is declared twice"))
                    .label(declared.span, "declared again here")
                    .label(first, "first declared here")
                    .help("rename one of the two");
                self.report(diagnostic);
                continue;
            }
            if indices.is_some() && value.entries().len() > 1 {
                let diagnostic = Diagnostic::error(Code::LGM0206, "an output with an index must be a scalar")
                    .label(later.statement.value.span, format!("this is {}", value.shape_text()))
                    .help("write one entry of it, with an index such as `[1]`, or remove the index of the output");
                self.report(diagnostic);
                continue;
            }
            let list = entry_names(&name, &value);
            let written = self.written(later.statement.value.span);
            for (entry, name) in value.entries().to_vec().into_iter().zip(list) {
                values.push(entry);
                let (value, unit) = match &shown {
                    None => (entry.expr, None),
                    Some((unit, span)) => {
                        let words = self.sources.slice(*span);
                        let words = words.trim_matches(['[', ']']).trim();
                        let shown = SiUnit::scaled(words, unit);
                        (self.shown_in(entry.expr, unit), Some(shown))
                    }
                };
                self.graph.model.outputs.push(Output {
                    name: name.into(),
                    value,
                    written: written.clone(),
                    unit,
                    span: declared.name.span,
                });
            }
        }
        // Measured variables and integrals all exist now, and are found by their symbols directly.
        let measures: FxHashMap<SymbolId, Measure> = self.graph.model.measures.iter().copied().collect();
        let integrals = self.graph.model.integrals.iter().enumerate();
        let integrals: FxHashMap<SymbolId, usize> = integrals.map(|(at, integral)| (integral.symbol, at)).collect();
        for (at, value) in values.into_iter().enumerate() {
            if self.graph.model.outputs[at].unit.is_some() {
                continue;
            }
            let symbol = match *self.arena.exprs.node(value.expr) {
                Node::Symbol(symbol) => Some(symbol),
                _ => None,
            };
            let unit = match symbol.and_then(|symbol| integrals.get(&symbol)) {
                // A state without a declared unit has the unit of its rate times a second.
                Some(integral) => self.graph.model.integrals[*integral].unit.clone(),
                None => self.output_unit(value, &measures),
            };
            self.graph.model.outputs[at].unit = unit;
        }
    }

    /// Returns the unit of an output. A measured variable, or a multiple of one, has the unit as written in its domain; other computed
    /// values have the text of their dimension.
    fn output_unit(&self, entry: Scalar, measures: &FxHashMap<SymbolId, Measure>) -> Option<SiUnit> {
        let dimension = self.dims.get(entry.dim)?;
        let symbols = self.arena.exprs.symbols_of(&[entry.expr]);
        for measure in symbols.iter().filter_map(|symbol| measures.get(symbol)) {
            let of = |domain: Option<lgm_model::DomainId>, variable: Variable| {
                let domain = &self.graph.model.graph.domains[domain?.index()];
                let across = domain.effort_is_across == (variable == Variable::Effort);
                domain.unit(across).cloned()
            };
            let words = match *measure {
                Measure::PortEffort(port) => of(self.graph.model.graph.ports[port.index()].domain, Variable::Effort),
                Measure::PortFlow(port) => of(self.graph.model.graph.ports[port.index()].domain, Variable::Flow),
                Measure::Common(node) => {
                    let node = &self.graph.model.graph.nodes[node.index()];
                    let variable = match node.kind {
                        lgm_model::JunctionKind::Zero => Variable::Effort,
                        lgm_model::JunctionKind::One => Variable::Flow,
                    };
                    of(node.domain, variable)
                }
                Measure::BondEffort(_) | Measure::BondFlow(_) => None,
            };
            if words.as_ref().is_some_and(|words| words.dimension == dimension) {
                return words;
            }
        }
        Some(SiUnit::of(dimension))
    }
}
