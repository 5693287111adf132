//! The effects of events in all modes: values in terms of the symbols held at the instant.

use super::combination::InModes;
use crate::assembly::states::StateRequest;
use crate::bond;
use crate::formulation::frame::storage_state_name;
use crate::options::Options;
use crate::pipeline::time_inputs::formulate_with_time;
use lgm_algebra::expr::{ExprId, Exprs, Function, Node, SymbolId, SymbolKind};
use lgm_model::switching::EventBlock;
use lgm_model::{Dissipator, Element, Law, Matrix, Measure, Model, PortId, Variable};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, OnceLock};

/// The equations of a combination of modes; or the diagnostics that explain why it has none.
pub type Formulated = Result<Arc<InModes>, Arc<Vec<Diagnostic>>>;

/// The combinations of modes that were formulated so far with each options. Each is formulated once.
type Table = FxHashMap<(Options, Vec<usize>), Arc<OnceLock<Formulated>>>;

/// A prepared model with events: every variable that events use has a symbol, and values of blocks are over symbols that hold them.
#[derive(Clone, Debug)]
pub struct Events {
    /// The model, with measures of all variables used.
    pub(super) model: Model,
    /// Blocks, whose assignments are over held symbols, inputs, parameters and time.
    blocks: Vec<EventBlock>,
    /// Expressions of the model that blocks read, each with the symbol that holds its value.
    held: Vec<(SymbolId, ExprId)>,
    /// True if the powers of sources and dissipators are watched.
    watches_powers: bool,
    /// The initial values of states that no element with modes ties to others, by name.
    apart: FxHashMap<Arc<str>, ExprId>,
    /// Clones share the combinations.
    pub(super) formulated: Arc<Mutex<Table>>,
}

impl Events {
    /// Prepares a model.
    pub fn new(model: &Model) -> Events {
        let mut events = Events {
            model: model.clone(),
            blocks: model.switching.blocks.clone(),
            held: Vec::new(),
            watches_powers: false,
            apart: FxHashMap::default(),
            formulated: Arc::default(),
        };
        events.apart = starts_apart(&mut events.model);
        let mut known = FxHashMap::default();
        for block in &mut events.blocks {
            for assignment in &mut block.assignments {
                assignment.value = hold(&mut events.model.exprs, assignment.value, &mut known, &mut events.held);
            }
        }
        events
    }

    /// Returns the same model, but with the powers of sources and dissipators watched in all combinations.
    pub fn watching_powers(self) -> Events {
        Events {
            watches_powers: true,
            formulated: Arc::default(),
            ..self
        }
    }

    /// Returns true if the powers of sources and dissipators are watched.
    pub fn watches_powers(&self) -> bool {
        self.watches_powers
    }

    /// Returns the expressions, including those of blocks.
    pub fn exprs(&self) -> &Exprs {
        &self.model.exprs
    }

    /// Returns the model in the modes in which the search at the start begins.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Returns the blocks. Their assignments are over held symbols ([`Events::held`]), inputs, parameters, time and temporaries.
    pub fn blocks(&self) -> &[EventBlock] {
        &self.blocks
    }

    /// Returns the symbols that hold the values used by blocks; a [`Combination`](super::Combination) has their values, in this order.
    pub fn held(&self) -> impl Iterator<Item = SymbolId> + '_ {
        self.held.iter().map(|entry| entry.0)
    }

    /// Returns the name of the state that a storage port has if it is independent.
    pub fn storage_name(&self, port: PortId, options: &Options) -> Arc<str> {
        let found = storage_state_name(&self.model, port, options.states);
        found.map_or_else(|| "".into(), |found| found.0.into())
    }

    /// Returns the initial values of all states by name, in terms of the parameters. A state that begins at 0, or
    /// follows from others, has no entry. The states are those of storage, even if it is dependent in some modes, and
    /// those of integrals. Modes tie no initial values: storage without one begins at rest, even if an element with
    /// modes joins it to a moving part.
    pub fn starts(&self, options: &Options) -> Vec<(Arc<str>, Option<ExprId>)> {
        let model = &self.model;
        let mut starts = Vec::new();
        for port in (0..model.graph.ports.len() as u32).map(PortId) {
            let element = &model.graph.elements[model.graph.ports[port.index()].element.index()];
            if let Some((name, _)) = storage_state_name(model, port, options.states) {
                let at = (port.0 - element.ports.start) as usize;
                let given = element.start.get(at).copied().flatten();
                let given = given.or_else(|| self.apart.get(name.as_str()).copied());
                starts.push((name.into(), given));
            }
        }
        for integral in &model.integrals {
            starts.push((model.path_name(integral.path).into(), integral.start));
        }
        starts
    }

    /// Returns an error if the requested states are not the natural ones of storage: initial values and assignments are
    /// given for the natural states.
    pub fn other_states(&self, options: &Options) -> Option<Diagnostic> {
        let model = &self.model;
        let name = |port: PortId, states| storage_state_name(model, port, states).map(|found| found.0);
        let mut ports = (0..model.graph.ports.len() as u32).map(PortId);
        let other = ports.find(|port| name(*port, options.states) != name(*port, StateRequest::Natural))?;
        let element = model.graph.ports[other.index()].element;
        let message = "runs with events support only states of single storage elements";
        Some(
            Diagnostic::error(Code::LGM0606, message)
                .label(
                    model.element_span(element),
                    format!("`{}` is such a state", name(other, StateRequest::Natural)?),
                )
                .help("remove `--states`"),
        )
    }

    /// Returns the expressions whose values blocks read, in the order of [`Events::held`].
    pub fn read(&self) -> impl Iterator<Item = ExprId> + '_ {
        self.held.iter().map(|entry| entry.1)
    }
}

/// Returns the initial values of states with the elements with modes replaced by resistances, which tie nothing. Empty
/// if all storage has its own initial value or none has, and if initial values are found by an iteration.
fn starts_apart(model: &mut Model) -> FxHashMap<Arc<str>, ExprId> {
    let is_storage = |element: &&Element| matches!(element.law, Law::Storage { .. });
    let storage = || model.graph.elements.iter().filter(is_storage);
    let has_start = |element: &Element| element.start.iter().any(Option::is_some);
    if model.switching.elements.is_empty() || !storage().any(has_start) || storage().all(has_start) {
        return FxHashMap::default();
    }
    let mut apart = model.clone();
    let (zero, one) = (apart.exprs.zero(), apart.exprs.one());
    for switched in &model.switching.elements {
        let element = &mut apart.graph.elements[switched.element.index()];
        let ports = element.ports.len();
        let entries = (0..ports * ports).map(|at| if at % (ports + 1) == 0 { one } else { zero });
        element.law = Law::Dissipator(Dissipator::Resistance(Matrix {
            rows: ports,
            columns: ports,
            entries: entries.collect(),
        }));
    }
    let (made, _) = formulate_with_time(&apart, &bond::lower(&apart), &Options::default());
    let Some((system, _)) = made.filter(|(system, _)| system.starts.search.is_none()) else {
        return FxHashMap::default();
    };
    let mut copied = FxHashMap::default();
    let states = system.states.iter();
    states
        .map(|state| {
            (
                state.name.clone(),
                model.exprs.import(&system.exprs, state.start, &mut copied),
            )
        })
        .collect()
}

/// Returns an expression over symbols that hold measures, states, rates and integrals.
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

/// Returns the symbol of a port's variable, which is measured from now on.
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
