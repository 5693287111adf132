//! The variables of the flat graph at a point of the emitted equations of a linear model.

use crate::assembly::assemble::{Columns, Obstacle};
use crate::assembly::outputs::Plan;
use crate::assembly::problem::Problem;
use crate::assembly::refusal::Failure;
use crate::assembly::run::{Run, run};
use crate::causality::elimination::Row;
use crate::index_reduction::Refusal;
use crate::verification::bounds::{Ball, BallValues, Places, Rated, rated};
use crate::verification::checker;
use crate::verification::points::{Known, Numbers, Symbols, ball, places};
use lgm_algebra::expr::{Evaluated, ExprId, Exprs, SymbolId};
use lgm_model::system::StateSystem;
use rustc_hash::FxHashMap;

pub(crate) fn value_failure(fault: Evaluated) -> Failure {
    Failure::Assembly(Obstacle::Value(fault))
}

/// The variables of the flat graph at a point, the symbols of the model, and the emitted outputs.
pub(crate) struct RoundedPoint {
    pub(crate) at: FxHashMap<u32, Rated>,
    pub(crate) places: Places,
    pub(crate) outputs: Vec<Option<Rated>>,
    pub(crate) rates: Vec<Ball>,
}

/// Evaluates the flat graph at a point of the emitted equations of a linear model.
pub(crate) fn rounded_at(
    problem: Problem<'_>,
    system: &StateSystem,
    flat: &FlatRun<Ball>,
    field: &mut BallValues,
    symbols: &Symbols,
) -> Result<RoundedPoint, Failure> {
    let Problem { model, causality, .. } = problem;
    let mut derivatives = emitted::<BallValues>(system, symbols)?;
    derivatives.truncate(system.equations.derivatives.len());
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
        // The time of an instant is an exact double.
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

/// Returns the emitted outputs with their rates, at a point with the rates of the states.
pub(crate) fn rated_outputs(system: &StateSystem, mut places: Places) -> Vec<Option<Rated>> {
    for assignment in &system.equations.assignments {
        if let Some(found) = rated(&system.exprs, &[assignment.value], &places) {
            places.insert(assignment.symbol, found[0]);
        }
    }
    checker::emitted_outputs(&system.exprs, &system.equations.output_values, &places)
}

/// Evaluates the emitted derivatives, then the emitted outputs, as their reader would.
pub(crate) fn emitted<F: Numbers>(system: &StateSystem, symbols: &Symbols) -> Result<Vec<F::Element>, Failure> {
    let mut exprs = system.exprs.clone();
    let mut roots: Vec<ExprId> = system.right_sides().collect();
    // An assignment contains only earlier ones, so that replacing them in order leaves none.
    let mut assigned: FxHashMap<SymbolId, ExprId> = FxHashMap::default();
    for assignment in &system.equations.assignments {
        let value = exprs.substitute(&[assignment.value], |symbol| assigned.get(&symbol).copied())[0];
        assigned.insert(assignment.symbol, value);
    }
    if !assigned.is_empty() {
        roots = exprs.substitute(&roots, |symbol| assigned.get(&symbol).copied());
    }
    F::evaluate(&exprs, &roots, system.time, symbols).map_err(value_failure)
}

/// The flat graph's variables over the assembled columns.
pub(crate) struct FlatRun<E> {
    /// The determined columns of the structure; their rows follow those of the model's own measures.
    pub(crate) wanted: Vec<u32>,
    pub(crate) run: Run<E>,
    /// The arena of the run's constants.
    pub(crate) exprs: Exprs,
}

pub(crate) fn flat_run<F: Numbers>(problem: Problem<'_>, field: &mut F) -> Result<FlatRun<F::Element>, Failure> {
    let Problem { model, causality, .. } = problem;
    let mut wanted: Vec<u32> = (0..causality.structure.columns as u32)
        .filter(|column| !causality.free.contains(column))
        .collect();
    loop {
        let mut exprs = model.exprs.clone();
        let found = run(problem, &mut exprs, field, &mut Plan::default(), &wanted);
        match found {
            // A circulating flow of an ideal loop reaches this column, so it is undetermined.
            Err(Failure::Reduction(Refusal::Undetermined(index))) if index >= model.measures.len() => {
                wanted.remove(index - model.measures.len());
            }
            found => return found.map(|run| FlatRun { wanted, run, exprs }),
        }
    }
}

/// The values and rates of the columns of an assembled run.
pub(crate) struct Full<F: Numbers> {
    pub(crate) values: Vec<Known<F::Element>>,
    pub(crate) rates: Vec<Known<F::Element>>,
}

impl<F: Numbers> Full<F> {
    pub(crate) fn new(
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
            // The second rate of a constant is zero if its rate is, and unknown otherwise.
            let is_zero = F::is_nothing(&rate);
            rates.push(is_zero.then(|| rate.clone()));
            values.push(Some(rate));
        }
        Ok(Full { values, rates })
    }

    /// Returns the values and rates of the columns of the junction structure.
    #[allow(clippy::type_complexity)] // Two lists of one kind.
    pub(crate) fn columns(
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

    /// Returns a row's value from the values of the columns; `None` if it needs an unknown one.
    pub(crate) fn combine(
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
