//! The initial values of a run with events: given ones, and equilibria.

use crate::failure::{Failure, FailureKind};
use crate::inputs::expressions::Inputs;
use crate::inputs::signals::Corner;
use crate::motion::Motion;
use crate::plan::Plan;
use crate::reinitialisation::initial_states;
use crate::reinitialisation::jump::move_states;
use crate::switching::instant::standing::Standing;
use crate::switching::library::Combinations;
use crate::switching::prepared::Prepared;
use crate::switching::setup::Switched;
use lgm_algebra::expr::{ExprId, Function, Node, SymbolId, SymbolKind};
use lgm_model::PortId;
use lgm_runtime::events::enter::COUNTS;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Returns the initial values of all states by name: those of the initial modes, and those given for states in other modes.
pub(super) fn starts(setup: &Switched<'_>, plan: &Plan) -> Result<FxHashMap<Arc<str>, f64>, Failure> {
    let (system, kernels) = setup.first;
    let (parameters, start) = (&setup.parameters[..], plan.start);
    let mut tables = setup.tables.to_vec();
    tables.resize(system.inputs.len(), None);
    let inputs = Inputs::new(system, kernels, parameters, tables, start);
    let motion = Motion::new(system, kernels, parameters, &inputs, plan)?;
    let first = initial_states::given(&motion, start)?;
    let names = system.states.iter().map(|state| state.name.clone());
    let mut found: FxHashMap<Arc<str>, f64> = names.zip(first).collect();
    let events = setup.events;
    let values = parameter_values(setup);
    for (name, start) in events.starts(setup.options) {
        match start {
            Some(start) => {
                let start = events
                    .exprs()
                    .evaluate_unchecked(&[start], &|symbol| values.get(&symbol).copied());
                found.insert(name, start[0]);
            }
            None => _ = found.entry(name).or_insert(0.0),
        }
    }
    Ok(found)
}

/// Returns the values of the parameters by their symbols.
pub(super) fn parameter_values(setup: &Switched<'_>) -> FxHashMap<SymbolId, f64> {
    let parameters = setup.events.model().parameters.iter();
    let symbols = parameters.flat_map(|parameter| parameter.entries.iter().map(|entry| entry.symbol));
    symbols.zip(setup.parameters.iter().copied()).collect()
}

/// Returns the initial values of discrete variables.
pub(super) fn discrete_starts(setup: &Switched<'_>) -> Vec<f64> {
    let model = setup.events.model();
    let values = parameter_values(setup);
    let value = |discrete: &lgm_model::switching::Discrete| {
        let start = model.inputs[discrete.input].signal;
        let start = start.expect("invariant: a discrete variable has a start");
        let found = model
            .exprs
            .evaluate_unchecked(&[start], &|symbol| values.get(&symbol).copied());
        found[0]
    };
    model.switching.discretes.iter().map(value).collect()
}

/// Returns all states by name in a combination of modes at rest; variables that are neither states nor dependent
/// storage there have their initial values.
pub(super) fn equilibrium(
    setup: &Switched<'_>,
    plan: &Plan,
    prepared: &Prepared,
    (starts, discretes): (&FxHashMap<Arc<str>, f64>, &[f64]),
    notes: &mut Vec<Diagnostic>,
) -> Result<FxHashMap<Arc<str>, f64>, Failure> {
    let signals = prepared.held(plan.start, discretes);
    let motion = prepared.motion(&setup.parameters, &signals, plan)?;
    motion.set_piece(plan.start, f64::INFINITY);
    let mut given = initial_states::given(&motion, plan.start)?;
    motion.find_loops(plan.start, &given);
    let corner = Corner {
        time: plan.start,
        steps: prepared.inputs.steps(plan.start),
    };
    let read = (&prepared.traits.rates_read, plan.rtol);
    move_states(&motion, &signals, read, &corner, &mut given, true)?;
    let states = initial_states::steady(&motion, plan.start, &given, notes)?;
    let watched = prepared.call(&motion, &prepared.watched, (plan.start, &states), None);
    let known = |(name, start): (&Arc<str>, &f64)| {
        let value = prepared.named(name, &states, &watched).unwrap_or(*start);
        (name.clone(), value)
    };
    Ok(starts.iter().map(known).collect())
}

/// Returns a warning about given initial values that the modes at the start do not keep: an open switch in series with a coil
/// sets its current to 0. Storage that shares its charge or momentum with other storage depends on states, and is not reported.
pub(super) fn lost_starts(
    setup: &Switched<'_>,
    starts: &FxHashMap<Arc<str>, f64>,
    (library, standing): (&Combinations<'_>, &Standing),
) -> Option<Diagnostic> {
    let (model, prepared) = (setup.events.model(), &standing.prepared);
    let is_lost = |(name, output): &(&Arc<str>, usize)| {
        let kept = prepared.of_output(*output, &standing.watched);
        let is_other = |start: &f64| (kept - start).abs() > COUNTS.sqrt() * start.abs();
        starts.get(*name).is_some_and(is_other) && !prepared.follows_states(*output)
    };
    let lost: FxHashSet<&Arc<str>> = prepared.dependent().filter(is_lost).map(|found| found.0).collect();
    let mut found: Option<Diagnostic> = None;
    for element in &model.graph.elements {
        let given = element
            .ports
            .clone()
            .zip(&element.start)
            .filter(|(_, start)| start.is_some());
        let name = |port: u32| setup.events.storage_name(PortId(port), setup.options);
        let Some((port, _)) = given.into_iter().find(|(port, _)| lost.contains(&name(*port))) else {
            continue;
        };
        let warning = found.take().unwrap_or_else(|| {
            let message = format!("the initial value of `{}` is lost at the start", name(port));
            Diagnostic::warning(Code::LGM1027, message)
                .note(format!(
                    "the modes there determine its value: {}",
                    library.words(&prepared.modes)
                ))
                .help("remove the initial value, or choose modes at the start that keep it")
        });
        found = Some(warning.label(element.start_span.unwrap_or(element.law_span), "this value is not kept"));
    }
    found
}

/// Returns the failure of a search for modes that agree with an equilibrium.
pub(super) fn no_equilibrium(start: f64, modes: &str) -> Failure {
    let message = "no equilibrium is consistent with its modes";
    let diagnostic = Diagnostic::error(Code::LGM1014, message)
        .note(format!("the last modes tried: {modes}"))
        .help("start from initial values instead, and let the run settle");
    Failure::new(start, FailureKind::Events(Box::new(diagnostic)))
}

/// Returns an element whose change a run at rest has missed. The change requires a position, which has been passed, and a
/// motion, which does not exist. A wall acts at its own location, not at the equilibrium position without it.
pub(super) fn beyond_contact(library: &Combinations<'_>, standing: &Standing) -> Option<String> {
    let model = library.events.model();
    let asks_for_place = |condition: ExprId| {
        let parts = model.exprs.reachable(&[condition]).into_iter();
        parts.into_iter().any(|part| match model.exprs.node(part) {
            Node::Symbol(symbol) => model.exprs.symbol_info(*symbol).kind == SymbolKind::State,
            Node::Call(Function::Int, _) => true,
            _ => false,
        })
    };
    let side = |at: usize, still: f64, by: f64| match standing.margins[at].abs() <= standing.least[at] {
        true => still,
        false => by * standing.margins[at],
    };
    let elements = model.switching.elements.iter().zip(&standing.prepared.modes);
    let changes = elements.zip(&standing.prepared.changes).enumerate();
    changes
        .flat_map(|(element, ((switched, mode), watched))| {
            let written = switched.modes[*mode].changes.iter().zip(watched);
            written.map(move |(written, watched)| (element, written, watched))
        })
        .find(|(_, written, watched)| {
            let holds = |still: f64, by: f64| watched.condition.holds(&|at| side(at, still, by));
            // Passed according to its position, and not only according to zero margins.
            let is_passed = |still: f64| holds(still, 1.0) && !holds(still, -1.0);
            asks_for_place(written.condition) && !holds(0.0, 1.0) && (is_passed(1.0) || is_passed(-1.0))
        })
        .map(|(element, ..)| library.name(element))
}

/// Returns the failure for an equilibrium beyond a contact.
pub(super) fn rests_beyond(start: f64, element: &str) -> Failure {
    let message = format!(
        "the equilibrium lies beyond the position of `{element}`, which would stop the motion \
        before it"
    );
    let diagnostic = Diagnostic::error(Code::LGM1014, message)
        .help("start from initial values instead, and let the run settle at the contact");
    Failure::new(start, FailureKind::Events(Box::new(diagnostic)))
}
