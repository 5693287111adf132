//! Translation validation: at random points the emitted equations must satisfy every equation of the flat
//! graph, and the power over all ports must add up to zero.
//!
//! The emitted expressions are evaluated as any user of the equations would evaluate them. Every variable of the flat
//! graph is then computed from the same states and inputs; the rates of storage come from the *emitted* derivatives.
//! The variables are substituted into each junction, coupler, storage, dissipator and source equation. Small systems
//! are verified in exact rationals, so that a residual is an error and never round-off. Large systems, and those with
//! functions of time, are verified in doubles with bounds on their round-off ([`crate::verification::bounds`]).

use crate::assembly::problem::{Problem, is_small};
use crate::assembly::refusal::Failure;
use crate::assembly::states::StateRequest;
use crate::bond::BondGraph;
use crate::causality::Request;
use crate::index_reduction::Refusal;
use crate::instants::between_corners;
use crate::state_selection::decision::decide;
use crate::verification::bounds::BallValues;
use crate::verification::checker;
use crate::verification::equation::Flat;
use crate::verification::flat_run::{Full, emitted, flat_run, rounded_at};
use crate::verification::points::{Numbers, Symbols, holds_call, parameter_set, random_point};
use crate::verification::report::Verification;
use crate::verification::residuals::Checker;
use lgm_algebra::expr::{SymbolId, to_f64};
use lgm_algebra::{ExactValues, Field};
use lgm_model::system::StateSystem;
use lgm_model::{ElementId, Model};
use num_rational::BigRational;

/// Verifies a state system against the flat graph from which it was derived.
///
/// `retain`, `states` and `symbolic` must be the same as for the derivation of the system. Symbolic equations are
/// checked at the given parameter values and at two random sets around them; numeric ones at the given values.
pub fn verify(
    model: &Model,
    graph: &BondGraph,
    system: &StateSystem,
    retain: &[ElementId],
    states: StateRequest,
    symbolic: bool,
) -> Verification {
    if crate::assembly::linearity::applies(model) {
        return crate::verification::nonlinear::verify(model, system, retain, states);
    }
    let mut result = Verification::default();
    let request = Request::retaining(retain);
    let (causality, general, _) = decide(model, graph, &request);
    let problem = Problem {
        model,
        graph,
        causality: &causality,
        states,
    };
    // Numeric equations are rounded to doubles, so only symbolic ones can hold exactly.
    let exact = system.matrices.symbolic.is_some() && is_small(model, &causality);
    let sets: u64 = if symbolic && general { 3 } else { 1 };
    let is_held = model.outputs.iter().any(|output| holds_call(model, output.value));
    for set in 0..sets {
        let values = parameter_set(model, set);
        let point = random_point(system, &values, set);
        let done = if exact {
            check_exactly(problem, system, (&values, &point), &mut result)
        } else {
            Err(Failure::Reduction(Refusal::TooLarge))
        };
        // Exact numbers are only used for values, and an integral has none at one instant; functions of time have no
        // exact values, but doubles have them.
        let done = match done {
            Ok(()) if !is_held || !result.diagnostics.is_empty() => Ok(()),
            _ => check_rounded(problem, system, (&values, &point), &mut result),
        };
        match done {
            Ok(()) => result.points += 1,
            Err(failure) if set == 0 => result.diagnostics.push(failure.diagnostic(model)),
            Err(_) => result.without_values += 1,
        }
        if set == 0 && result.diagnostics.is_empty() {
            check_between_corners(problem, system, &values, &mut result);
        }
        if !result.diagnostics.is_empty() {
            break;
        }
    }
    result.say_what_is_open(&Flat::of(&problem));
    result
}

/// Checks the equations on every side of time events.
fn check_between_corners(problem: Problem<'_>, system: &StateSystem, values: &Symbols, result: &mut Verification) {
    let model = problem.model;
    let value_of = |symbol: SymbolId| values.get(&symbol).map(to_f64);
    let instants = between_corners(&model.exprs, model.time, &value_of);
    for (draw, time) in instants.into_iter().enumerate() {
        let mut point = random_point(system, values, 100 + draw as u64);
        let time = BigRational::from_float(time).expect("invariant: instants are finite");
        point.insert(system.time, time);
        match check_rounded(problem, system, (values, &point), result) {
            Ok(()) => result.points += 1,
            Err(_) => result.without_values += 1,
        }
        if !result.diagnostics.is_empty() {
            return;
        }
    }
}

/// Checks every equation of the flat graph at one point in exact numbers.
fn check_exactly(
    problem: Problem<'_>,
    system: &StateSystem,
    (parameters, symbols): (&Symbols, &Symbols),
    result: &mut Verification,
) -> Result<(), Failure> {
    let mut derivatives = emitted::<ExactValues>(system, symbols)?;
    let outputs = derivatives.split_off(system.equations.derivatives.len());
    let mut field = ExactValues::with_values(parameters);
    let flat = flat_run(problem, &mut field)?;
    let full = Full::new(system, &flat, symbols, derivatives.clone())?;
    let (values, rates) = full.columns(&mut field, problem, &flat);
    let (measures, _) = flat.run.measures.split_at(problem.model.measures.len());
    let measured = measures
        .iter()
        .map(|row| full.combine(&mut field, row, &full.values))
        .collect();
    let mut checker = Checker {
        problem,
        field,
        values,
        rates,
        measured,
        found: Vec::new(),
    };
    checker.structure();
    checker.laws(symbols);
    checker.integrals(symbols, &derivatives);
    checker.outputs(symbols, &outputs);
    checker.power();
    if checker.field.exhausted() {
        return Err(Failure::Reduction(Refusal::TooLarge));
    }
    result.take(&Flat::of(&problem), &checker.found);
    Ok(())
}

/// Does the same in doubles, with bounds on their round-off.
fn check_rounded(
    problem: Problem<'_>,
    system: &StateSystem,
    (parameters, symbols): (&Symbols, &Symbols),
    result: &mut Verification,
) -> Result<(), Failure> {
    let mut field = BallValues::with_values(parameters);
    let flat = flat_run(problem, &mut field)?;
    let found = rounded_at(problem, system, &flat, &mut field, symbols)?;
    let checker = checker::Checker::new(Flat::of(&problem), found.at, found.places);
    result.take(&Flat::of(&problem), &checker.judge(&found.outputs));
    Ok(())
}
