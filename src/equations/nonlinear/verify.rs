//! Translation validation of nonlinear models: the emitted equations against every equation of the flat graph.
//!
//! At random points the emitted assignments, loops and derivatives are evaluated as a reader would evaluate them. The variables of
//! all ports follow from the same states; their rates by dual numbers along the emitted derivatives, so that no symbolic
//! derivative is trusted. All of them are put into every junction, coupler, storage, dissipator, nonlinear law and source
//! equation, and the power over all ports is added up.

use super::checker;
use super::dual::{Dual, Point, duals};
use super::prepare::Prepared;
use crate::algebra::PrimeField;
use crate::algebra::newton::{Linearised, find_zero};
use crate::diagnostic::Diagnostic;
use crate::elaborate::model::{ElementId, Model};
use crate::equations::balance::Instant;
use crate::equations::refusal::Failure;
use crate::equations::states::StateRequest;
use crate::equations::system::StateSystem;
use crate::equations::verify::Verification;
use crate::expr::{ExprId, SymbolId, to_f64};
use crate::reduce::Refusal;
use nalgebra::{DMatrix, DVector};
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// Points that are tried.
const POINTS: u64 = 5;

/// A model formulated once more, with the variables of its ports as further columns.
struct Formulation {
    built: super::Built,
    prepared: Prepared,
    /// Which columns of the junction structure the variables are.
    columns: Vec<u32>,
}

/// None where the model has faults of its own, which were told when it was compiled.
fn formulation(
    model: &Model,
    retain: &[ElementId],
    states: StateRequest,
) -> Result<Option<Formulation>, Box<Diagnostic>> {
    let mut columns_of = RefCell::new(Vec::new());
    let mut undetermined: Vec<u32> = Vec::new();
    let limit = crate::algebra::RationalFunctions::DEFAULT_OPERATIONS;
    let (built, columns) = loop {
        let extra = |prepared: &Prepared| -> Vec<u32> {
            let columns: Vec<u32> = (0..2 * prepared.model.ports.len() as u32)
                .filter(|column| !prepared.causality.free.contains(column) && !undetermined.contains(column))
                .collect();
            columns_of.borrow_mut().clone_from(&columns);
            columns
        };
        match super::build(model, states, limit, retain, Some(&extra), &mut Vec::new()) {
            Ok(Some(built)) => break (built, std::mem::take(columns_of.get_mut())),
            Ok(None) => return Ok(None),
            // How two ideal paths share a force, or a ring of them a flow, cannot be had, nor is it needed.
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
        prepared: super::prepare::prepare(model, retain, &mut Vec::new()),
        columns,
    }))
}

impl Formulation {
    /// The variables of the ports at a point of the emitted system, and the symbols of the model.
    fn at(&self, system: &StateSystem, point: &Point, derivatives: &[f64]) -> Option<(FxHashMap<u32, Dual>, Point)> {
        // The second formulation has symbols of its own for what the first one has too: by name and place.
        let values = port_values(&self.built.system, &self.built.columns, system, point, derivatives)?;
        let at = self.columns.iter().copied().zip(values).collect();
        Some((at, with_symbols(&self.prepared, system, point)))
    }
}

/// Verifies a nonlinear system.
pub(in crate::equations) fn verify(
    model: &Model,
    system: &StateSystem,
    retain: &[ElementId],
    states: StateRequest,
) -> Verification {
    let mut result = Verification::default();
    let formulation = match formulation(model, retain, states) {
        Ok(Some(formulation)) => formulation,
        Ok(None) => return result,
        Err(diagnostic) => {
            result.diagnostics.push(*diagnostic);
            return result;
        }
    };
    for set in 0..POINTS {
        let Some((point, derivatives)) = point_of(system, &random_instant(system, set)) else {
            continue;
        };
        let Some((at, symbols)) = formulation.at(system, &point, &derivatives) else {
            continue;
        };
        result.points += 1;
        checker::check(&formulation.prepared, at, symbols, (system, &point), &mut result);
        if !result.diagnostics.is_empty() {
            break;
        }
    }
    result
}

/// The power over all ports at instants of a run, relative to the sum of its sizes; none where a port's power, or a loop, has
/// no value.
pub(in crate::equations) fn power(
    model: &Model,
    system: &StateSystem,
    retain: &[ElementId],
    states: StateRequest,
    instants: &[Instant],
) -> Result<Vec<Option<f64>>, Box<Diagnostic>> {
    let Some(formulation) = formulation(model, retain, states)? else {
        return Ok(vec![None; instants.len()]);
    };
    let one = |instant: &Instant| {
        let (point, derivatives) = point_of(system, instant)?;
        let (at, symbols) = formulation.at(system, &point, &derivatives)?;
        checker::power(&formulation.prepared, at, symbols)
    };
    Ok(instants.iter().map(one).collect())
}

fn spread(key: u64, set: u64) -> f64 {
    let uniform = (PrimeField.sample(key, set + 30) % 9_973) as f64 / 9_973.0;
    2.0 * uniform - 1.0
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

/// An instant with the emitted assignments, loops and derivatives evaluated at it; none where these have no values.
fn point_of(system: &StateSystem, instant: &Instant) -> Option<(Point, Vec<f64>)> {
    let mut point: Point = FxHashMap::default();
    for parameter in &system.parameters {
        for entry in &parameter.entries {
            point.insert(entry.symbol, (to_f64(&entry.value), 0.0));
        }
    }
    point.insert(system.time, (instant.time, 1.0));
    for (state, value) in system.states.iter().zip(&instant.states) {
        point.insert(state.symbol, (*value, 0.0));
    }
    for (k, input) in system.inputs.iter().enumerate() {
        let rate = instant.rates[k];
        point.insert(input.symbol, (instant.inputs[k], rate));
        // The second rate of an input is nowhere needed.
        point.insert(system.input_rates[k], (rate, f64::NAN));
    }
    evaluate_all(system, &mut point)?;
    let derivatives = duals(&system.exprs, &system.derivatives, &point)?;
    let derivatives: Vec<f64> = derivatives.iter().map(|value| value.0).collect();
    for (state, rate) in system.states.iter().zip(&derivatives) {
        point.insert(state.symbol, (point[&state.symbol].0, *rate));
    }
    // Again, now with rates.
    evaluate_all(system, &mut point)?;
    derivatives
        .iter()
        .all(|value| value.is_finite())
        .then_some((point, derivatives))
}

/// Enters the unknowns of loops and the assignments.
fn evaluate_all(system: &StateSystem, point: &mut Point) -> Option<()> {
    let unknowns: Vec<SymbolId> = system
        .loops
        .iter()
        .flat_map(|each| each.unknowns.iter().copied())
        .collect();
    let residuals: Vec<ExprId> = system
        .loops
        .iter()
        .flat_map(|each| each.residuals.iter().copied())
        .collect();
    let guesses = system.first_unknowns(f64::NAN);
    for (k, unknown) in unknowns.iter().enumerate() {
        let guess = Some(guesses[k])
            .filter(|guess| guess.is_finite())
            .unwrap_or(0.01 * spread(k as u64, 77));
        let known = point.get(unknown).map_or(guess, |value| value.0);
        point.insert(*unknown, (known, 0.0));
    }
    if unknowns.is_empty() {
        return assign(system, point);
    }
    let n = unknowns.len();
    // The residuals and their derivatives by one unknown at a time, everything else held.
    let columns = |point: &Point, at: &[f64]| -> Linearised {
        let mut values = Vec::new();
        let mut jacobian = DMatrix::zeros(n, n);
        let held: Point = point.iter().map(|(symbol, value)| (*symbol, (value.0, 0.0))).collect();
        for column in 0..n {
            let mut there = held.clone();
            for (k, unknown) in unknowns.iter().enumerate() {
                there.insert(*unknown, (at[k], if k == column { 1.0 } else { 0.0 }));
            }
            assign(system, &mut there)?;
            let found = duals(&system.exprs, &residuals, &there)?;
            values = found.iter().map(|value| value.0).collect();
            for (row, value) in found.iter().enumerate() {
                jacobian[(row, column)] = value.1;
            }
        }
        let is_finite = values.iter().chain(jacobian.iter()).all(|value| value.is_finite());
        is_finite.then_some((values, jacobian))
    };
    let guess: Vec<f64> = unknowns.iter().map(|unknown| point[unknown].0).collect();
    // A loop without a solution, as of a chain that cannot be closed with random displacements, is no point.
    let solution = find_zero(guess, |at| columns(point, at)).ok()?.at;
    let (_, jacobian) = columns(point, &solution)?;
    for (unknown, value) in unknowns.iter().zip(&solution) {
        point.insert(*unknown, (*value, 0.0));
    }
    // The unknowns' rates keep the residuals zero along the point's rates.
    assign(system, point)?;
    let along: Vec<f64> = duals(&system.exprs, &residuals, point)?
        .iter()
        .map(|value| value.1)
        .collect();
    if along.iter().all(|value| value.is_finite()) {
        let rates = jacobian.lu().solve(&DVector::from_vec(along))?;
        for (unknown, rate) in unknowns.iter().zip(rates.iter()) {
            point.insert(*unknown, (point[unknown].0, -rate));
        }
    }
    assign(system, point)
}

fn assign(system: &StateSystem, point: &mut Point) -> Option<()> {
    for assignment in &system.assignments {
        let value = duals(&system.exprs, &[assignment.value], point)?[0];
        point.insert(assignment.symbol, value);
    }
    Some(())
}

/// The variables of all ports at a point of the emitted system.
fn port_values(
    second: &StateSystem,
    columns: &[ExprId],
    first: &StateSystem,
    point: &Point,
    derivatives: &[f64],
) -> Option<Vec<Dual>> {
    let mut there: Point = FxHashMap::default();
    for ((a, b), rate) in second.states.iter().zip(&first.states).zip(derivatives) {
        there.insert(a.symbol, (point[&b.symbol].0, *rate));
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
    // The same branch of every loop.
    for (a, b) in second.loops.iter().zip(&first.loops) {
        for (a, b) in a.unknowns.iter().zip(&b.unknowns) {
            there.insert(*a, point[b]);
        }
    }
    evaluate_all(second, &mut there)?;
    duals(&second.exprs, columns, &there)
}

/// The symbols of the model: states, inputs and parameters are those of the system; measured variables come from the ports.
fn with_symbols(prepared: &Prepared, first: &StateSystem, point: &Point) -> Point {
    let mut known: Point = FxHashMap::default();
    for parameter in &prepared.model.parameters {
        for entry in &parameter.entries {
            known.insert(entry.symbol, (to_f64(&entry.value), 0.0));
        }
    }
    known.insert(prepared.model.time, point[&first.time]);
    for (input, other) in prepared.model.inputs.iter().zip(&first.inputs) {
        known.insert(input.symbol, point[&other.symbol]);
    }
    let mut states = first.states[prepared.causality.independent.len()..].iter();
    for integral in &prepared.model.integrals {
        let symbol = match integral.is_state() {
            true => states.next().map(|state| state.symbol),
            false => {
                let name = prepared.model.path_name(integral.path);
                let mut unknowns = first.loops.iter().flat_map(|each| &each.unknowns);
                unknowns
                    .find(|symbol| *first.exprs.symbol_info(**symbol).name == *name)
                    .copied()
            }
        };
        if let Some(symbol) = symbol {
            known.insert(integral.symbol, point[&symbol]);
        }
    }
    known
}
