//! The effects of events in all modes: values over what is held at the instant.

use crate::formulation::frame::storage_state_name;
use crate::options::Options;
use crate::state_selection::states::StateRequest;
use lgm_algebra::expr::{ExprId, Exprs, Function, Node, SymbolId, SymbolKind};
use lgm_model::switching::Block;
use lgm_model::{Measure, Model, PortId, Variable};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A model with events, prepared: every variable that events read has a symbol, and values of blocks are over symbols that hold them.
#[derive(Clone, Debug)]
pub struct Events {
    /// The model, with measures of all that is read.
    pub(super) model: Model,
    /// Blocks, whose assignments are over held symbols, inputs, parameters and time.
    blocks: Vec<Block>,
    /// Expressions of the model that blocks read, each with the symbol that holds its value.
    held: Vec<(SymbolId, ExprId)>,
    /// True if the powers of sources and dissipators are watched.
    watches_powers: bool,
}

impl Events {
    /// Prepares a model.
    pub fn new(model: &Model) -> Events {
        let mut events = Events {
            model: model.clone(),
            blocks: model.switching.blocks.clone(),
            held: Vec::new(),
            watches_powers: false,
        };
        let mut known = FxHashMap::default();
        for block in &mut events.blocks {
            for assignment in &mut block.assignments {
                assignment.value = hold(&mut events.model.exprs, assignment.value, &mut known, &mut events.held);
            }
        }
        events
    }

    /// The same model, in whose combinations the powers of sources and dissipators are watched.
    pub fn watching_powers(self) -> Events {
        Events {
            watches_powers: true,
            ..self
        }
    }

    /// Returns true if the powers of sources and dissipators are watched.
    pub fn watches_powers(&self) -> bool {
        self.watches_powers
    }

    /// The expressions, those of blocks included.
    pub fn exprs(&self) -> &Exprs {
        &self.model.exprs
    }

    /// The model, in the modes in which the search at the start begins.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The blocks. Their assignments are over held symbols ([`Events::held`]), inputs, parameters, time and temporaries.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The symbols that hold what blocks read; a [`Combination`](super::Combination) has their values, in this order.
    pub fn held(&self) -> impl Iterator<Item = SymbolId> + '_ {
        self.held.iter().map(|entry| entry.0)
    }

    /// The name of the state that a storage port carries where it is independent.
    pub fn storage_name(&self, port: PortId, options: &Options) -> Arc<str> {
        let found = storage_state_name(&self.model, port, options.states);
        found.map_or_else(|| "".into(), |found| found.0.into())
    }

    /// The starts of all states by their names, over the parameters, none where they begin at 0: those of storage, whether it is independent in some modes or
    /// not, and those of integrals.
    pub fn starts(&self, options: &Options) -> Vec<(Arc<str>, Option<ExprId>)> {
        let model = &self.model;
        let mut starts = Vec::new();
        for port in (0..model.graph.ports.len() as u32).map(PortId) {
            let element = &model.graph.elements[model.graph.ports[port.index()].element.index()];
            if let Some((name, _)) = storage_state_name(model, port, options.states) {
                let at = (port.0 - element.ports.start) as usize;
                let given = element.start.get(at).copied().flatten();
                starts.push((name.into(), given));
            }
        }
        for integral in &model.integrals {
            starts.push((model.path_name(integral.path).into(), integral.start));
        }
        starts
    }

    /// The error of states that are asked for where storage carries others: starts and assignments are given for its own.
    pub fn other_states(&self, options: &Options) -> Option<Diagnostic> {
        let model = &self.model;
        let name = |port: PortId, states| storage_state_name(model, port, states).map(|found| found.0);
        let mut ports = (0..model.graph.ports.len() as u32).map(PortId);
        let other = ports.find(|port| name(*port, options.states) != name(*port, StateRequest::Natural))?;
        let element = model.graph.ports[other.index()].element;
        let message = "a run with events has the states that storage carries by itself: others are not built yet";
        Some(
            Diagnostic::error(Code::LGM0606, message)
                .label(
                    model.element_span(element),
                    format!("`{}` is such a state", name(other, StateRequest::Natural)?),
                )
                .help("leave out `--states`"),
        )
    }

    pub(super) fn read(&self) -> impl Iterator<Item = ExprId> + '_ {
        self.held.iter().map(|entry| entry.1)
    }
}

/// An expression over symbols that hold measures, states, rates and integrals.
fn hold(
    exprs: &mut Exprs,
    root: ExprId,
    known: &mut FxHashMap<ExprId, ExprId>,
    held: &mut Vec<(SymbolId, ExprId)>,
) -> ExprId {
    let mut replaced: FxHashMap<ExprId, ExprId> = FxHashMap::default();
    for id in exprs.reachable(&[root]) {
        let node = exprs.node(id).clone();
        let is_read = match &node {
            Node::Symbol(symbol) => matches!(exprs.symbol_info(*symbol).kind, SymbolKind::Measure | SymbolKind::State),
            Node::Call(Function::Int | Function::Der, _) => true,
            _ => false,
        };
        let now = match (is_read, known.get(&id)) {
            (true, Some(known)) => *known,
            (true, None) => {
                let symbol = exprs.new_symbol(format!("held {}", held.len()), SymbolKind::Assignment);
                let expr = exprs.symbol(symbol);
                held.push((symbol, id));
                known.insert(id, expr);
                expr
            }
            (false, _) => exprs.rebuild(&node, &replaced),
        };
        replaced.insert(id, now);
    }
    replaced[&root]
}

/// The symbol of a port's variable, which is measured from now on.
pub(super) fn measured(
    model: &mut Model,
    known: &mut FxHashMap<Measure, SymbolId>,
    port: PortId,
    variable: Variable,
) -> ExprId {
    let measure = match variable {
        Variable::Effort => Measure::PortEffort(port),
        Variable::Flow => Measure::PortFlow(port),
    };
    let symbol = *known.entry(measure).or_insert_with(|| {
        let symbol = model
            .exprs
            .new_symbol(format!("{variable:?} of port {}", port.0), SymbolKind::Measure);
        model.measures.push((symbol, measure));
        symbol
    });
    model.exprs.symbol(symbol)
}
