//! Translation validation of nonlinear models: the emitted equations against every equation of the flat graph.
//!
//! At random points the emitted assignments, loops and derivatives are evaluated as a reader would evaluate them. The
//! variables of all ports follow from the same states, and their rates from dual numbers along the emitted derivatives,
//! so that no symbolic derivative is trusted. All values are substituted into every junction, coupler, storage,
//! dissipator, nonlinear law and source equation, and the power over all ports is added up.

use crate::assembly::refusal::Failure;
use crate::assembly::states::StateRequest;
use crate::index_reduction::Refusal;
use crate::instants::{Instant, between_corners};
use crate::nonlinear::dual::Point;
use crate::nonlinear::evaluate::{evaluate_all, point_of, spread};
use crate::nonlinear::prepare::Prepared;
use crate::options::Options;
use crate::parameter_values::parameter_numbers;
use crate::verification::bounds::{Ball, Places, Rated, rated};
use crate::verification::checker::{Checker, emitted_outputs};
use crate::verification::equation::Flat;
use crate::verification::report::Verification;
use crate::verification::rounding::bounded;
use lgm_algebra::expr::{ExprId, SymbolId};
use lgm_model::system::StateSystem;
use lgm_model::{ElementId, Integral, Model};
use lgm_source::diagnostic::Diagnostic;
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// The number of tried points.
const POINTS: u64 = 5;

/// A second formulation of a model, with the variables of its ports as additional columns.
pub(crate) struct Formulation {
    built: crate::nonlinear::Built,
    prepared: Prepared,
    /// The columns of the variables in the junction structure.
    columns: Vec<u32>,
}

/// Returns `None` if the model itself has errors, which were reported at compile time.
pub(crate) fn formulation(
    model: &Model,
    retain: &[ElementId],
    states: StateRequest,
) -> Result<Option<Formulation>, Box<Diagnostic>> {
    let mut columns_of = RefCell::new(Vec::new());
    let mut undetermined: Vec<u32> = Vec::new();
    let options = Options {
        states,
        ..Options::default()
    };
    let (prepared, built, columns) = loop {
        let extra = |prepared: &Prepared| -> Vec<u32> {
            let columns: Vec<u32> = (0..2 * prepared.model.graph.ports.len() as u32)
                .filter(|column| !prepared.causality.free.contains(column) && !undetermined.contains(column))
                .collect();
            columns_of.borrow_mut().clone_from(&columns);
            columns
        };
        match crate::nonlinear::build(model, &options, retain, Some(&extra), &mut Vec::new()) {
            Ok(Some((prepared, built))) => break (prepared, built, std::mem::take(columns_of.get_mut())),
            Ok(None) => return Ok(None),
            // The division of a force among ideal paths, or of a flow in an ideal ring, is undetermined and not
            // required.
            Err(unbuilt) => match unbuilt.failure {
                Failure::Reduction(Refusal::UndeterminedColumn(column)) if !undetermined.contains(&column) => {
                    undetermined.push(column);
                }
                failure => return Err(Box::new(failure.diagnostic(&unbuilt.model))),
            },
        }
    };
    Ok(Some(Formulation {
        built,
        prepared,
        columns,
    }))
}

impl Formulation {
    pub(crate) fn flat(&self) -> Flat<'_> {
        Flat {
            model: &self.prepared.model,
            graph: &self.prepared.graph,
            structure: &self.prepared.causality.structure,
        }
    }

    /// Returns the variables of the ports at a point of the emitted system, and the symbols of the model.
    pub(crate) fn at(&self, system: &StateSystem, point: &Emitted) -> Option<(FxHashMap<u32, Rated>, Places)> {
        // The second formulation has separate symbols, which are matched with those of the first by name and location.
        let values = port_values(&self.built.system, &self.built.columns, system, point)?;
        let at = self.columns.iter().copied().zip(values).collect();
        Some((at, with_symbols(&self.prepared, system, &point.places)))
    }
}

/// A point of the emitted system.
pub(crate) struct Emitted {
    point: Point,
    pub(crate) places: Places,
    pub(crate) rates: Vec<Ball>,
}

impl Emitted {
    /// Returns the unknowns of its loops.
    pub(crate) fn unknowns(&self, system: &StateSystem) -> Vec<f64> {
        let unknowns = system.equations.loops.iter().flat_map(|each| &each.unknowns);
        unknowns.map(|symbol| self.point[symbol].0).collect()
    }
}

/// Evaluates the emitted equations at an instant; loops are solved starting from the given unknowns, if any.
pub(crate) fn emitted(system: &StateSystem, instant: &Instant, unknowns: &[f64]) -> Option<Emitted> {
    let (point, _) = point_of(system, instant, unknowns)?;
    let (places, rates) = bounded(system, &point, None)?;
    Some(Emitted { point, places, rates })
}

/// Verifies a nonlinear system.
pub(crate) fn verify(model: &Model, system: &StateSystem, retain: &[ElementId], states: StateRequest) -> Verification {
    let mut result = Verification::default();
    let formulation = match formulation(model, retain, states) {
        Ok(Some(formulation)) => formulation,
        Ok(None) => return result,
        Err(diagnostic) => {
            result.diagnostics.push(*diagnostic);
            return result;
        }
    };
    let random = (0..POINTS).map(|set| random_instant(system, set));
    let between = instants_between_corners(model, system);
    for instant in random.chain(between) {
        let instant = on_the_clock(model, system, instant);
        let point = emitted(system, &instant, &[]);
        let values = |point: Emitted| Some((formulation.at(system, &point)?, point));
        let Some(((at, places), point)) = point.and_then(values) else {
            result.without_values += 1;
            continue;
        };
        result.points += 1;
        let outputs = emitted_outputs(&system.exprs, &system.equations.output_values, &point.places);
        let found = Checker::new(formulation.flat(), at, places).judge(&outputs);
        result.take(&formulation.flat(), &found);
        if !result.diagnostics.is_empty() {
            break;
        }
    }
    result.say_what_is_open(&formulation.flat());
    result
}

/// Returns instants on every side of time events.
fn instants_between_corners(model: &Model, system: &StateSystem) -> Vec<Instant> {
    let values = parameter_numbers(model);
    let times = between_corners(&model.exprs, model.time, &|symbol| values.get(&symbol).copied());
    let at = |(draw, time): (usize, f64)| Instant {
        time,
        ..random_instant(system, 100 + draw as u64)
    };
    times.into_iter().enumerate().map(at).collect()
}

fn random_instant(system: &StateSystem, set: u64) -> Instant {
    let states = system.states.iter().enumerate();
    let inputs = 0..system.inputs.len() as u64;
    Instant {
        time: 0.5 + 0.5 * spread(1, set + 20),
        states: states
            .map(|(k, state)| state.start_value + spread(3 * k as u64, set))
            .collect(),
        inputs: inputs.clone().map(|k| spread(3 * k + 1, set)).collect(),
        rates: inputs.map(|k| spread(3 * k + 2, set)).collect(),
    }
}

/// Returns the instant with inputs that are functions of time set to their values, in a model with closed chains. A
/// position equation may contain the time itself, so positions and velocities agree only if both use the same time.
fn on_the_clock(model: &Model, system: &StateSystem, mut instant: Instant) -> Instant {
    if model.integrals.iter().all(Integral::is_state) {
        return instant;
    }
    let parameters = parameter_numbers(model);
    let mut exprs = system.exprs.clone();
    for (at, input) in system.inputs.iter().enumerate().filter(|entry| entry.1.is_internal) {
        let Some(signal) = input.signal else { continue };
        let rate = exprs.differentiate(signal, system.time);
        let known = |symbol: SymbolId| match symbol == system.time {
            true => Some(instant.time),
            false => parameters.get(&symbol).copied(),
        };
        let list: Vec<ExprId> = [signal].into_iter().chain(rate).collect();
        if let Ok([value, rate]) = exprs.evaluate_f64(&list, &known).as_deref() {
            (instant.inputs[at], instant.rates[at]) = (*value, *rate);
        }
    }
    instant
}

/// Returns the variables of all ports at a point of the emitted system.
fn port_values(second: &StateSystem, columns: &[ExprId], first: &StateSystem, emitted: &Emitted) -> Option<Vec<Rated>> {
    let point = &emitted.point;
    let mut there: Point = FxHashMap::default();
    for (a, b) in second.states.iter().zip(&first.states) {
        there.insert(a.symbol, point[&b.symbol]);
    }
    for (a, b) in second.input_rates.iter().zip(&first.input_rates) {
        there.insert(*a, point[b]);
    }
    for (a, b) in second.inputs.iter().zip(&first.inputs) {
        there.insert(a.symbol, point[&b.symbol]);
    }
    for (parameter, other) in second.parameters.iter().zip(&first.parameters) {
        for (a, b) in parameter.entries.iter().zip(&other.entries) {
            there.insert(a.symbol, point[&b.symbol]);
        }
    }
    there.insert(second.time, point[&first.time]);
    // Use the same branch of every loop.
    for (a, b) in second.equations.loops.iter().zip(&first.equations.loops) {
        for (a, b) in a.unknowns.iter().zip(&b.unknowns) {
            there.insert(*a, point[b]);
        }
    }
    evaluate_all(second, &mut there)?;
    let (places, _) = bounded(second, &there, Some(&emitted.rates))?;
    rated(&second.exprs, columns, &places)
}

/// Returns the symbols of the model: states, inputs and parameters are those of the system; measured variables come from the ports.
fn with_symbols(prepared: &Prepared, first: &StateSystem, places: &Places) -> Places {
    let mut known = Places::default();
    for (parameter, other) in prepared.model.parameters.iter().zip(&first.parameters) {
        for (entry, other) in parameter.entries.iter().zip(&other.entries) {
            known.insert(entry.symbol, places[&other.symbol]);
        }
    }
    known.insert(prepared.model.time, places[&first.time]);
    for (input, other) in prepared.model.inputs.iter().zip(&first.inputs) {
        known.insert(input.symbol, places[&other.symbol]);
    }
    let mut states = first.states[prepared.causality.independent.len()..].iter();
    for integral in &prepared.model.integrals {
        let symbol = match integral.is_state() {
            true => states.next().map(|state| state.symbol),
            false => {
                let name = prepared.model.path_name(integral.path);
                let mut unknowns = first.equations.loops.iter().flat_map(|each| &each.unknowns);
                unknowns
                    .find(|symbol| *first.exprs.symbol_info(**symbol).name == *name)
                    .copied()
            }
        };
        if let Some(symbol) = symbol {
            known.insert(integral.symbol, places[&symbol]);
        }
    }
    known
}
