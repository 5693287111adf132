//! Translation validation: at random points the emitted equations must satisfy every equation of the flat
//! graph, and the power over all ports must add up to zero.
//!
//! The emitted expressions are evaluated as any user of the equations would evaluate them. Every variable of the flat
//! graph is then computed from the same states and inputs, the rates of storage from the *emitted* derivatives, and put
//! into each junction, coupler, storage, dissipator and source equation. Small systems are verified in exact
//! rationals, so that a residual is a fault and never rounding; large ones, and those with functions of time, in doubles with bounds
//! of what rounding may have made of them ([`super::bounds`]).

use super::assemble::{Columns, Obstacle};
use super::bounds::{Ball, BallValues, Places, Rated, rated};
use super::checker;
use super::formulate::{Problem, decide, is_small};
use super::instants::between_corners;
use super::outputs::Plan;
use super::refusal::Failure;
use super::residuals::Checker;
use super::run::{Run, run};
use super::states::StateRequest;
use super::verification::Verification;
use crate::bond::BondGraph;
use crate::causality::Request;
use crate::causality::elimination::Row;
use crate::reduce::Refusal;
use lgm_algebra::expr::{Evaluated, ExprId, Exprs, Function, Node, SymbolId, to_f64};
use lgm_algebra::{ExactValues, Field, FromExpression, PrimeField};
use lgm_model::system::StateSystem;
use lgm_model::{ElementId, Model};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::Zero;
use rustc_hash::FxHashMap;

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
    let is_held = model.outputs.iter().any(|output| holds_call(model, output.value));
    for set in 0..sets {
        let values = parameter_set(model, set);
        let point = random_point(system, &values, set);
        let done = if exact {
            check_exactly(problem, system, (&values, &point), &mut result)
        } else {
            Err(Failure::Reduction(Refusal::TooLarge))
        };
        // Exact numbers are looked at for values alone, and an integral has none at one instant; functions of time have no exact
        // values, and doubles have them.
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
    result.say_what_is_open(&problem.flat());
    result
}

/// Checks the equations on every side of what happens at set times.
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

/// Whether an `int(..)` or a `der(..)` is in an expression.
pub(super) fn holds_call(model: &Model, id: ExprId) -> bool {
    let mut all = model.exprs.reachable(&[id]).into_iter();
    all.any(|id| matches!(model.exprs.node(id), Node::Call(Function::Int | Function::Der, _)))
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

    /// Whether an element is zero without doubt.
    fn is_nothing(value: &Self::Element) -> bool;

    /// Values of expressions at a time and a point.
    fn evaluate(
        exprs: &Exprs,
        roots: &[ExprId],
        time: SymbolId,
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

    fn is_nothing(value: &BigRational) -> bool {
        value.is_zero()
    }

    fn evaluate(
        exprs: &Exprs,
        roots: &[ExprId],
        _: SymbolId,
        symbols: &Symbols,
    ) -> Result<Vec<BigRational>, Evaluated> {
        exprs.evaluate_exact(roots, &|symbol| symbols.get(&symbol).cloned())
    }
}

/// A rational as a double, with the bound of its rounding.
pub(super) fn ball(value: &BigRational) -> Ball {
    let double = to_f64(value);
    match value.is_integer() {
        true => Ball::exact(double),
        false => Ball::rounded(double),
    }
}

fn places(symbols: &Symbols) -> Places {
    let still = symbols
        .iter()
        .map(|(symbol, value)| (*symbol, Rated::still(ball(value))));
    still.collect()
}

impl Numbers for BallValues {
    fn with_values(values: &Symbols) -> BallValues {
        BallValues::new(places(values))
    }

    fn number(value: &BigRational) -> Ball {
        ball(value)
    }

    fn is_nothing(value: &Ball) -> bool {
        value.is_zero()
    }

    fn evaluate(exprs: &Exprs, roots: &[ExprId], time: SymbolId, symbols: &Symbols) -> Result<Vec<Ball>, Evaluated> {
        let mut places = places(symbols);
        if let Some(time) = places.get_mut(&time) {
            // What an instant gives is a double.
            time.value.error = 0.0;
        }
        let found = rated(exprs, roots, &places).ok_or(Evaluated::NotFinite(None))?;
        let values: Vec<Ball> = found.iter().map(|found| found.value).collect();
        match values.iter().all(|value| value.value.is_finite()) {
            true => Ok(values),
            false => Err(Evaluated::NotFinite(None)),
        }
    }
}

fn value_failure(fault: Evaluated) -> Failure {
    Failure::Assembly(Obstacle::Value(fault))
}

/// A value, or nothing where it is not determined at this point.
pub(super) type Known<E> = Option<E>;

/// A random point.
fn random_point(system: &StateSystem, parameters: &Symbols, set: u64) -> Symbols {
    let mut symbols = parameters.clone();
    symbols.insert(system.time, uniform(1, set + 20));
    let spread = |key: u64| ratio(2, 1) * uniform(key, set + 30) - ratio(1, 1);
    for (k, state) in system.states.iter().enumerate() {
        symbols.insert(state.symbol, spread(3 * k as u64));
    }
    for (k, input) in system.inputs.iter().enumerate() {
        symbols.insert(input.symbol, spread(3 * k as u64 + 1));
        symbols.insert(system.input_rates[k], spread(3 * k as u64 + 2));
    }
    symbols
}

/// Checks every equation of the flat graph at one point in exact numbers.
fn check_exactly(
    problem: Problem<'_>,
    system: &StateSystem,
    (parameters, symbols): (&Symbols, &Symbols),
    result: &mut Verification,
) -> Result<(), Failure> {
    let mut derivatives = emitted::<ExactValues>(system, symbols)?;
    let outputs = derivatives.split_off(system.derivatives.len());
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
    result.take(&problem.flat(), &checker.found);
    Ok(())
}

/// The same in doubles, with bounds of their rounding.
fn check_rounded(
    problem: Problem<'_>,
    system: &StateSystem,
    (parameters, symbols): (&Symbols, &Symbols),
    result: &mut Verification,
) -> Result<(), Failure> {
    let mut field = BallValues::with_values(parameters);
    let flat = flat_run(problem, &mut field)?;
    let found = rounded_at(problem, system, &flat, &mut field, symbols)?;
    let checker = checker::Checker::new(problem.flat(), found.at, found.places);
    result.take(&problem.flat(), &checker.judge(&found.outputs));
    Ok(())
}

/// The variables of the flat graph at a point, the symbols of the model, and the emitted outputs.
pub(super) struct RoundedPoint {
    pub(super) at: FxHashMap<u32, Rated>,
    pub(super) places: Places,
    pub(super) outputs: Vec<Option<Rated>>,
    pub(super) rates: Vec<Ball>,
}

/// The flat graph at a point of the emitted equations of a linear model.
pub(super) fn rounded_at(
    problem: Problem<'_>,
    system: &StateSystem,
    flat: &FlatRun<Ball>,
    field: &mut BallValues,
    symbols: &Symbols,
) -> Result<RoundedPoint, Failure> {
    let Problem { model, causality, .. } = problem;
    let mut derivatives = emitted::<BallValues>(system, symbols)?;
    derivatives.truncate(system.derivatives.len());
    let full = Full::new(system, flat, symbols, derivatives.clone())?;
    let (values, rates) = full.columns(field, problem, flat);
    let mut at: FxHashMap<u32, Rated> = FxHashMap::default();
    for (column, (value, rate)) in values.into_iter().zip(rates).enumerate() {
        if let Some(value) = value {
            let rate = rate.unwrap_or(Ball::new(f64::NAN, f64::INFINITY));
            at.insert(column as u32, Rated { value, rate });
        }
    }
    let mut places = places(symbols);
    if let Some(time) = places.get_mut(&system.time) {
        // What an instant gives is a double.
        time.value.error = 0.0;
    }
    let mut set_rate = |symbol: &SymbolId, rate: Ball| {
        if let Some(place) = places.get_mut(symbol) {
            place.rate = rate;
        }
    };
    set_rate(&system.time, Ball::exact(1.0));
    for (input, rate) in system.inputs.iter().zip(&system.input_rates) {
        set_rate(&input.symbol, ball(&symbols[rate]));
        set_rate(rate, Ball::new(f64::NAN, f64::INFINITY));
    }
    for (state, rate) in system.states.iter().zip(&derivatives) {
        set_rate(&state.symbol, *rate);
    }
    let outputs = rated_outputs(system, places.clone());
    let own = system.states.iter().zip(&derivatives).skip(causality.independent.len());
    for (integral, (state, rate)) in model.integrals.iter().zip(own) {
        let value = ball(&symbols[&state.symbol]);
        places.insert(integral.symbol, Rated { value, rate: *rate });
    }
    places.insert(model.time, places[&system.time]);
    Ok(RoundedPoint {
        at,
        places,
        outputs,
        rates: derivatives,
    })
}

/// The emitted outputs with their rates, at a point with those of the states.
fn rated_outputs(system: &StateSystem, mut places: Places) -> Vec<Option<Rated>> {
    for assignment in &system.assignments {
        if let Some(found) = rated(&system.exprs, &[assignment.value], &places) {
            places.insert(assignment.symbol, found[0]);
        }
    }
    checker::emitted_outputs(&system.exprs, &system.output_values, &places)
}

/// The emitted derivatives, then the emitted outputs, evaluated as their reader would.
pub(super) fn emitted<F: Numbers>(system: &StateSystem, symbols: &Symbols) -> Result<Vec<F::Element>, Failure> {
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
    F::evaluate(&exprs, &roots, system.time, symbols).map_err(value_failure)
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
        let evaluate = |list: &[ExprId]| F::evaluate(&flat.exprs, list, system.time, symbols).map_err(value_failure);
        let constant_rates = evaluate(&flat.run.constant_rates)?;
        values.extend(evaluate(&flat.run.constants)?.into_iter().map(Some));
        rates.extend(constant_rates.iter().cloned().map(Some));
        for rate in constant_rates {
            // The second rate of a constant is zero where its rate is, and not known elsewhere.
            let is_zero = F::is_nothing(&rate);
            rates.push(is_zero.then(|| rate.clone()));
            values.push(Some(rate));
        }
        Ok(Full { values, rates })
    }

    /// The values and rates of the columns of the junction structure.
    #[allow(clippy::type_complexity)] // Two lists of one kind.
    pub(super) fn columns(
        &self,
        field: &mut F,
        problem: Problem<'_>,
        flat: &FlatRun<F::Element>,
    ) -> (Vec<Known<F::Element>>, Vec<Known<F::Element>>) {
        let count = problem.causality.structure.columns;
        let (mut values, mut rates) = (vec![None; count], vec![None; count]);
        let (_, wanted) = flat.run.measures.split_at(problem.model.measures.len());
        for (column, row) in flat.wanted.iter().zip(wanted) {
            values[*column as usize] = self.combine(field, row, &self.values);
            rates[*column as usize] = self.combine(field, row, &self.rates);
        }
        (values, rates)
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
