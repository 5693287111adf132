//! Translation validation (design 2.9): at random points the emitted equations must satisfy every equation of the flat
//! graph, and the power over all ports must add up to zero.
//!
//! The emitted expressions are evaluated as any user of the equations would evaluate them. Every variable of the flat
//! graph is then computed from the same states and inputs, the rates of storage from the *emitted* derivatives, and put
//! into each junction, coupler, storage, dissipator and source equation. Small systems are verified in exact
//! rationals, so that a residual is a fault and never rounding; large ones, and those with functions of time, in doubles.

use super::assemble::{Columns, Obstacle};
use super::formulate::{Problem, decide, is_small};
use super::outputs::Plan;
use super::refusal::Failure;
use super::residuals::Checker;
use super::run::{Run, run};
use super::states::StateRequest;
use super::system::StateSystem;
use crate::algebra::{DoubleValues, ExactValues, Field, FromExpression, PrimeField};
use crate::bond::BondGraph;
use crate::causality::Request;
use crate::causality::elimination::Row;
use crate::diagnostic::Diagnostic;
use crate::elaborate::model::{ElementId, Model};
use crate::expr::{Evaluated, ExprId, Exprs, SymbolId, to_f64};
use crate::reduce::Refusal;
use num_bigint::BigInt;
use num_rational::BigRational;
use rustc_hash::FxHashMap;

/// What verification found.
#[derive(Clone, Debug, Default)]
pub struct Verification {
    /// Random points that were tried.
    pub points: usize,
    /// Equations of the flat graph that were checked at each point.
    pub equations: usize,
    /// The largest relative residual of an equation.
    pub residual: f64,
    /// The largest relative sum of the power over all ports.
    pub power: f64,
    /// One error for each kind of failure.
    pub diagnostics: Vec<Diagnostic>,
}

impl Verification {
    /// What to tell the user: the failures, or what was checked.
    pub fn into_diagnostics(self, model: &Model) -> Vec<Diagnostic> {
        if !self.diagnostics.is_empty() {
            return self.diagnostics;
        }
        if self.points == 0 {
            return vec![
                Diagnostic::warning(
                    "LGM0713",
                    format!("the equations of `{}` were not verified", model.name),
                )
                .label(model.span, "at none of the points that were tried do they have values")
                .note("a law has no value there, or an algebraic loop no solution that is found")
                .help("give states a `start` at which all laws have values; other points lie around it"),
            ];
        }
        vec![
            Diagnostic::information("LGM0712", format!("verified: the equations of `{}` hold", model.name))
                .label(
                    model.span,
                    format!(
                        "all {} equations of its flat graph are satisfied at {} random point{}",
                        self.equations,
                        self.points,
                        if self.points == 1 { "" } else { "s" }
                    ),
                )
                .note(format!(
                    "largest residual {} of the largest term; power over all ports adds up to {} of its size",
                    brief(self.residual),
                    brief(self.power)
                )),
        ]
    }
}

/// Verifies a state system against the flat graph that it came from.
///
/// `retain`, `states` and `symbolic` must be those that the system was made with. Symbolic equations are checked at the given
/// parameter values and at two random sets around them; numeric ones at the given values.
pub fn verify(
    model: &Model,
    graph: &BondGraph,
    system: &StateSystem,
    retain: &[ElementId],
    states: StateRequest,
    symbolic: bool,
) -> Verification {
    if super::nonlinear::applies(model) {
        return super::nonlinear::verify(model, system, retain, states);
    }
    let mut result = Verification::default();
    let request = Request {
        retain: retain.to_vec(),
        ..Request::default()
    };
    let (causality, general, _) = decide(model, graph, &request);
    let problem = Problem {
        model,
        graph,
        causality: &causality,
        states,
    };
    // Numeric equations are rounded to doubles, so only symbolic ones can hold exactly.
    let exact = system.symbolic.is_some() && is_small(model, &causality);
    let sets: u64 = if symbolic && general { 3 } else { 1 };
    for set in 0..sets {
        let values = parameter_set(model, set);
        let done = if exact {
            check_point::<ExactValues>(problem, system, &values, set, &mut result)
        } else {
            Err(Failure::Reduction(Refusal::TooLarge))
        };
        // Functions of time have no exact values; doubles have them.
        let done = done.or_else(|_| check_point::<DoubleValues>(problem, system, &values, set, &mut result));
        match done {
            Ok(()) => result.points += 1,
            Err(failure) if set == 0 => result.diagnostics.push(failure.diagnostic(model)),
            Err(_) => {}
        }
        if !result.diagnostics.is_empty() {
            break;
        }
    }
    result
}

/// A well-spread rational between 0 and 1, of few digits so that exact arithmetic stays small.
fn uniform(key: u64, seed: u64) -> BigRational {
    BigRational::new(BigInt::from(PrimeField.sample(key, seed) % 997 + 1), BigInt::from(998))
}

fn ratio(numerator: i64, denominator: i64) -> BigRational {
    BigRational::new(BigInt::from(numerator), BigInt::from(denominator))
}

/// Parameter values: those given, or those given times one random factor a parameter, derived ones recomputed.
fn parameter_set(model: &Model, set: u64) -> FxHashMap<SymbolId, BigRational> {
    let mut values: FxHashMap<SymbolId, BigRational> = FxHashMap::default();
    let mut derived = Vec::new();
    for (index, parameter) in model.parameters.iter().enumerate() {
        let factor = if set == 0 {
            ratio(1, 1)
        } else {
            ratio(3, 5) + ratio(4, 5) * uniform(index as u64, set + 10)
        };
        for entry in &parameter.entries {
            values.insert(entry.symbol, &entry.value * &factor);
            if let Some(id) = entry.derived {
                derived.push((entry.symbol, id));
            }
        }
    }
    // Derived parameters may depend on each other in any order of declaration; each pass settles at least one more.
    for _ in 0..derived.len() {
        let mut changed = false;
        for (symbol, id) in &derived {
            if let Ok(list) = model
                .exprs
                .evaluate_exact(&[*id], &|symbol| values.get(&symbol).cloned())
                && values.get(symbol) != Some(&list[0])
            {
                values.insert(*symbol, list[0].clone());
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    values
}

/// Values of symbols at a point.
pub(super) type Symbols = FxHashMap<SymbolId, BigRational>;

/// A field of numbers that expressions can be evaluated in.
pub(super) trait Numbers: Field + FromExpression {
    /// The field that knows the values of parameters.
    fn with_values(values: &Symbols) -> Self;

    /// A number as an element.
    fn number(value: &BigRational) -> Self::Element;

    /// The nearest double.
    fn double(value: &Self::Element) -> f64;

    /// The element as a rational; none where it is not finite.
    fn rational(value: &Self::Element) -> Option<BigRational>;

    /// Values of expressions at a time and a point.
    fn evaluate(
        exprs: &Exprs,
        roots: &[ExprId],
        time: &BigRational,
        symbols: &Symbols,
    ) -> Result<Vec<Self::Element>, Evaluated>;
}

impl Numbers for ExactValues {
    fn with_values(values: &Symbols) -> ExactValues {
        ExactValues::new(values.clone())
    }

    fn number(value: &BigRational) -> BigRational {
        value.clone()
    }

    fn double(value: &BigRational) -> f64 {
        to_f64(value)
    }

    fn rational(value: &BigRational) -> Option<BigRational> {
        Some(value.clone())
    }

    fn evaluate(
        exprs: &Exprs,
        roots: &[ExprId],
        _: &BigRational,
        symbols: &Symbols,
    ) -> Result<Vec<BigRational>, Evaluated> {
        exprs.evaluate_exact(roots, &|symbol| symbols.get(&symbol).cloned())
    }
}

impl Numbers for DoubleValues {
    fn with_values(values: &Symbols) -> DoubleValues {
        DoubleValues::new(values.iter().map(|(symbol, value)| (*symbol, to_f64(value))).collect())
    }

    fn number(value: &BigRational) -> f64 {
        to_f64(value)
    }

    fn double(value: &f64) -> f64 {
        *value
    }

    fn rational(value: &f64) -> Option<BigRational> {
        BigRational::from_float(*value)
    }

    fn evaluate(exprs: &Exprs, roots: &[ExprId], _: &BigRational, symbols: &Symbols) -> Result<Vec<f64>, Evaluated> {
        exprs.evaluate_f64(roots, &|symbol| symbols.get(&symbol).map(to_f64))
    }
}

fn value_failure(fault: Evaluated) -> Failure {
    Failure::Assembly(Obstacle::Value(fault))
}

/// A value, or nothing where it is not determined at this point.
pub(super) type Known<E> = Option<E>;

/// Checks every equation of the flat graph at one point.
fn check_point<F: Numbers>(
    problem: Problem<'_>,
    system: &StateSystem,
    parameters: &Symbols,
    set: u64,
    result: &mut Verification,
) -> Result<(), Failure> {
    let time = uniform(1, set + 20);
    let mut symbols = parameters.clone();
    symbols.insert(system.time, time.clone());
    let spread = |key: u64| ratio(2, 1) * uniform(key, set + 30) - ratio(1, 1);
    for (k, state) in system.states.iter().enumerate() {
        symbols.insert(state.symbol, spread(3 * k as u64));
    }
    for (k, input) in system.inputs.iter().enumerate() {
        symbols.insert(input.symbol, spread(3 * k as u64 + 1));
        symbols.insert(system.input_rates[k], spread(3 * k as u64 + 2));
    }
    let mut derivatives = emitted::<F>(system, &time, &symbols)?;
    let outputs = derivatives.split_off(system.derivatives.len());
    let mut field = F::with_values(parameters);
    let flat = flat_run(problem, &mut field)?;
    let full = Full::<F>::new(system, &flat, &time, &symbols, derivatives)?;
    let count = problem.causality.structure.columns;
    let (mut values, mut rates) = (vec![None; count], vec![None; count]);
    let (measures, wanted) = flat.run.measures.split_at(problem.model.measures.len());
    for (column, row) in flat.wanted.iter().zip(wanted) {
        values[*column as usize] = full.combine(&mut field, row, &full.values);
        rates[*column as usize] = full.combine(&mut field, row, &full.rates);
    }
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
        worst: Vec::new(),
        equations: 0,
    };
    checker.structure();
    checker.laws(&time, &symbols);
    checker.outputs(&time, &symbols, &outputs);
    checker.power();
    if checker.field.exhausted() {
        return Err(Failure::Reduction(Refusal::TooLarge));
    }
    checker.finish(result);
    Ok(())
}

/// The emitted derivatives, then the emitted outputs, evaluated as their reader would.
pub(super) fn emitted<F: Numbers>(
    system: &StateSystem,
    time: &BigRational,
    symbols: &Symbols,
) -> Result<Vec<F::Element>, Failure> {
    let mut exprs = system.exprs.clone();
    let mut roots: Vec<ExprId> = system.right_sides().collect();
    // An assignment holds earlier ones only, so that replacing them in order leaves none.
    let mut assigned: FxHashMap<SymbolId, ExprId> = FxHashMap::default();
    for assignment in &system.assignments {
        let value = exprs.substitute(&[assignment.value], |symbol| assigned.get(&symbol).copied())[0];
        assigned.insert(assignment.symbol, value);
    }
    if !assigned.is_empty() {
        roots = exprs.substitute(&roots, |symbol| assigned.get(&symbol).copied());
    }
    F::evaluate(&exprs, &roots, time, symbols).map_err(value_failure)
}

/// The flat graph's variables over the assembled columns.
pub(super) struct FlatRun<E> {
    /// Columns of the structure that are determined; their rows stand behind those of the model's own measures.
    pub(super) wanted: Vec<u32>,
    pub(super) run: Run<E>,
    /// The arena that the run's constants live in.
    exprs: Exprs,
}

pub(super) fn flat_run<F: Numbers>(problem: Problem<'_>, field: &mut F) -> Result<FlatRun<F::Element>, Failure> {
    let Problem { model, causality, .. } = problem;
    let mut wanted: Vec<u32> = (0..causality.structure.columns as u32)
        .filter(|column| !causality.free.contains(column))
        .collect();
    loop {
        let mut exprs = model.exprs.clone();
        let found = run(problem, &mut exprs, field, &mut Plan::default(), &wanted);
        match found {
            // A circulating flow of an ideal loop reaches this column: nothing can be said of it.
            Err(Failure::Reduction(Refusal::Undetermined(index))) if index >= model.measures.len() => {
                wanted.remove(index - model.measures.len());
            }
            found => return found.map(|run| FlatRun { wanted, run, exprs }),
        }
    }
}

/// The values and rates of the columns of an assembled run.
pub(super) struct Full<F: Numbers> {
    pub(super) values: Vec<Known<F::Element>>,
    rates: Vec<Known<F::Element>>,
}

impl<F: Numbers> Full<F> {
    pub(super) fn new(
        system: &StateSystem,
        flat: &FlatRun<F::Element>,
        time: &BigRational,
        symbols: &Symbols,
        derivatives: Vec<F::Element>,
    ) -> Result<Full<F>, Failure> {
        let columns: Columns = flat.run.columns;
        let number = |symbol: &SymbolId| Some(F::number(&symbols[symbol]));
        let mut values: Vec<Known<F::Element>> = system.states.iter().map(|state| number(&state.symbol)).collect();
        let mut rates: Vec<Known<F::Element>> = derivatives.into_iter().map(Some).collect();
        values.resize(columns.states(), None);
        rates.resize(columns.states(), None);
        values.extend(system.inputs.iter().map(|input| number(&input.symbol)));
        rates.extend(system.input_rates.iter().map(number));
        values.extend(system.input_rates.iter().map(number));
        rates.resize(values.len(), None);
        let evaluate = |list: &[ExprId]| F::evaluate(&flat.exprs, list, time, symbols).map_err(value_failure);
        let constant_rates = evaluate(&flat.run.constant_rates)?;
        values.extend(evaluate(&flat.run.constants)?.into_iter().map(Some));
        rates.extend(constant_rates.iter().cloned().map(Some));
        for rate in constant_rates {
            // The second rate of a constant is zero where its rate is, and not known elsewhere.
            let is_zero = F::double(&rate) == 0.0;
            rates.push(is_zero.then(|| rate.clone()));
            values.push(Some(rate));
        }
        Ok(Full { values, rates })
    }

    /// A row's value from the values of the columns; none where it needs one that is not known.
    pub(super) fn combine(
        &self,
        field: &mut F,
        row: &Row<F::Element>,
        values: &[Known<F::Element>],
    ) -> Known<F::Element> {
        let mut sum = field.zero();
        for (column, factor) in row {
            let product = field.mul(factor, values[*column as usize].as_ref()?);
            sum = field.add(&sum, &product);
        }
        Some(sum)
    }
}

/// A size with two digits, and a plain 0.
fn brief(size: f64) -> String {
    match size == 0.0 {
        true => "0".to_string(),
        false => format!("{size:.1e}"),
    }
}
