//! The power over all ports at points of a run.

use super::formulate::{Problem, decide};
use super::refusal::Failure;
use super::residuals::Checker;
use super::states::StateRequest;
use super::system::StateSystem;
use super::verify::{FlatRun, Full, Symbols, emitted, flat_run};
use crate::algebra::DoubleValues;
use crate::bond::BondGraph;
use crate::causality::Request;
use crate::diagnostic::Diagnostic;
use crate::elaborate::model::{ElementId, Model};
use num_rational::BigRational;

/// One instant of a run.
#[derive(Clone, Debug, Default)]
pub struct Instant {
    /// The time in seconds.
    pub time: f64,
    /// States in order.
    pub states: Vec<f64>,
    /// Inputs in order.
    pub inputs: Vec<f64>,
    /// Time derivatives of the inputs.
    pub rates: Vec<f64>,
}

/// The sum of the power over all ports of storage, dissipators and sources, relative to the sum of their sizes, at each
/// instant; efforts and flows come from states and inputs through the flat graph, and storage rates from the emitted
/// derivatives. None where a port's power is not determined there, as in a circulating flow of ideal elements.
///
/// `retain` and `states` must be those that the system was made with.
pub fn power_balance(
    model: &Model,
    graph: &BondGraph,
    system: &StateSystem,
    retain: &[ElementId],
    states: StateRequest,
    instants: &[Instant],
) -> Result<Vec<Option<f64>>, Diagnostic> {
    if super::nonlinear::applies(model) {
        let found = super::nonlinear::power(model, system, retain, states, instants);
        return found.map_err(|diagnostic| *diagnostic);
    }
    let request = Request {
        retain: retain.to_vec(),
        ..Request::default()
    };
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
    let mut field = field_of(&parameters);
    let flat = flat_run(problem, &mut field).map_err(|failure| failure.diagnostic(model))?;
    let one = |instant| balance_at(problem, system, &flat, &parameters, instant);
    let found: Result<Vec<Option<f64>>, Failure> = instants.iter().map(one).collect();
    found.map_err(|failure| failure.diagnostic(model))
}

fn field_of(parameters: &Symbols) -> DoubleValues {
    super::verify::Numbers::with_values(parameters)
}

fn balance_at(
    problem: Problem<'_>,
    system: &StateSystem,
    flat: &FlatRun<f64>,
    parameters: &Symbols,
    instant: &Instant,
) -> Result<Option<f64>, Failure> {
    let exact = |value: f64| BigRational::from_float(value).unwrap_or_default();
    let time = exact(instant.time);
    let mut symbols = parameters.clone();
    symbols.insert(system.time, time.clone());
    let states = system.states.iter().map(|state| state.symbol).zip(&instant.states);
    let inputs = system.inputs.iter().map(|input| input.symbol).zip(&instant.inputs);
    let rates = system.input_rates.iter().copied().zip(&instant.rates);
    for (symbol, value) in states.chain(inputs).chain(rates) {
        symbols.insert(symbol, exact(*value));
    }
    let mut derivatives = emitted::<DoubleValues>(system, &time, &symbols)?;
    derivatives.truncate(system.derivatives.len());
    let mut field = field_of(parameters);
    let full = Full::<DoubleValues>::new(system, flat, &time, &symbols, derivatives)?;
    let count = problem.causality.structure.columns;
    let mut values = vec![None; count];
    let (_, wanted) = flat.run.measures.split_at(problem.model.measures.len());
    for (column, row) in flat.wanted.iter().zip(wanted) {
        values[*column as usize] = full.combine(&mut field, row, &full.values);
    }
    let mut checker = Checker {
        problem,
        field,
        rates: vec![None; count],
        values,
        measured: Vec::new(),
        worst: Vec::new(),
        equations: 0,
    };
    checker.power();
    Ok(checker.worst.last().map(|entry| entry.0))
}
