//! The power over all ports at points of a run.

use crate::assembly::problem::Problem;
use crate::assembly::refusal::Failure;
use crate::assembly::states::StateRequest;
use crate::bond::BondGraph;
use crate::causality::Request;
use crate::instants::Instant;
use crate::state_selection::decision::decide;
use crate::verification::bounds::BallValues;
use crate::verification::checker::Checker;
use crate::verification::equation::Flat;
use crate::verification::flat_run::{flat_run, rounded_at};
use crate::verification::points::{Numbers, Symbols};
use lgm_model::system::StateSystem;
use lgm_model::{ElementId, Model};
use lgm_source::diagnostic::Diagnostic;
use num_rational::BigRational;

/// Returns the sum of the power over all ports of storage, dissipators and sources, relative to the sum of their sizes,
/// at each instant. Efforts and flows come from states and inputs through the flat graph, and storage rates from the
/// emitted derivatives. Returns `None` if a port's power is undetermined there, as in a circulating flow of ideal
/// elements.
///
/// `retain` and `states` must be the same as for the derivation of the system.
pub fn power_balance(
    model: &Model,
    graph: &BondGraph,
    system: &StateSystem,
    retain: &[ElementId],
    states: StateRequest,
    instants: &[Instant],
) -> Result<Vec<Option<f64>>, Diagnostic> {
    if crate::assembly::linearity::applies(model) {
        let found = crate::verification::nonlinear::power(model, system, retain, states, instants);
        return found.map_err(|diagnostic| *diagnostic);
    }
    let request = Request::retaining(retain);
    let (causality, _, _) = decide(model, graph, &request);
    let problem = Problem {
        model,
        graph,
        causality: &causality,
        states,
    };
    let mut parameters = Symbols::default();
    for entry in model.parameters.iter().flat_map(|parameter| &parameter.entries) {
        parameters.insert(entry.symbol, entry.value.clone());
    }
    let mut field = BallValues::with_values(&parameters);
    let flat = flat_run(problem, &mut field).map_err(|failure| failure.diagnostic(model))?;
    let one = |instant: &Instant| {
        let symbols = symbols_at(system, &parameters, instant);
        let found = rounded_at(problem, system, &flat, &mut field, &symbols)?;
        Ok(Checker::new(Flat::of(&problem), found.at, found.places).power_alone())
    };
    let found: Result<Vec<Option<f64>>, Failure> = instants.iter().map(one).collect();
    found.map_err(|failure| failure.diagnostic(model))
}

/// Returns the symbols of a linear system at an instant.
pub(crate) fn symbols_at(system: &StateSystem, parameters: &Symbols, instant: &Instant) -> Symbols {
    let exact = |value: f64| BigRational::from_float(value).unwrap_or_default();
    let mut symbols = parameters.clone();
    symbols.insert(system.time, exact(instant.time));
    let states = system.states.iter().map(|state| state.symbol).zip(&instant.states);
    let inputs = system.inputs.iter().map(|input| input.symbol).zip(&instant.inputs);
    let rates = system.input_rates.iter().copied().zip(&instant.rates);
    for (symbol, value) in states.chain(inputs).chain(rates) {
        symbols.insert(symbol, exact(*value));
    }
    symbols
}
