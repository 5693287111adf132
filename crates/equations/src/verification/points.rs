//! Points at which equations are verified, and the number systems for evaluation.

use crate::instants::Instant;
use crate::parameter_values::{parameter_values, settle};
use crate::verification::bounds::{Ball, BallValues, Places, Rated, rated};
use lgm_algebra::expr::{Evaluated, ExprId, Exprs, Function, Node, SymbolId, to_f64};
use lgm_algebra::{ExactValues, Field, FromExpression, PrimeField};
use lgm_model::Model;
use lgm_model::system::StateSystem;
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::Zero;
use rustc_hash::FxHashMap;

/// Returns true if an expression contains `int(..)` or `der(..)`.
pub(crate) fn holds_call(model: &Model, id: ExprId) -> bool {
    let mut all = model.exprs.reachable(&[id]).into_iter();
    all.any(|id| matches!(model.exprs.node(id), Node::Call(Function::Int | Function::Der, _)))
}

/// Returns a well-distributed rational between 0 and 1, with few digits so that exact arithmetic stays fast.
pub(crate) fn uniform(key: u64, seed: u64) -> BigRational {
    BigRational::new(BigInt::from(PrimeField.sample(key, seed) % 997 + 1), BigInt::from(998))
}

pub(crate) fn ratio(numerator: i64, denominator: i64) -> BigRational {
    BigRational::new(BigInt::from(numerator), BigInt::from(denominator))
}

/// Returns parameter values: the given ones, or these times one random factor per parameter, with derived ones recomputed.
pub(crate) fn parameter_set(model: &Model, set: u64) -> FxHashMap<SymbolId, BigRational> {
    let mut values = parameter_values(model);
    let mut derived = Vec::new();
    for (index, parameter) in model.parameters.iter().enumerate() {
        let factor = if set == 0 {
            ratio(1, 1)
        } else {
            ratio(3, 5) + ratio(4, 5) * uniform(index as u64, set + 10)
        };
        for entry in &parameter.entries {
            if let Some(value) = values.get_mut(&entry.symbol) {
                *value *= &factor;
            }
            if let Some(id) = entry.derived {
                derived.push((entry.symbol, id));
            }
        }
    }
    settle(&model.exprs, &derived, &mut values);
    values
}

/// Values of symbols at a point.
pub(crate) type Symbols = FxHashMap<SymbolId, BigRational>;

/// A field of numbers in which expressions can be evaluated.
pub(crate) trait Numbers: Field + FromExpression {
    /// Returns the field with these values of parameters.
    fn with_values(values: &Symbols) -> Self;

    /// Converts a number to an element.
    fn number(value: &BigRational) -> Self::Element;

    /// Returns true if an element is certainly zero.
    fn is_nothing(value: &Self::Element) -> bool;

    /// Evaluates expressions at a time and a point.
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

/// Converts a rational to a double, with a bound on its round-off.
pub(crate) fn ball(value: &BigRational) -> Ball {
    let double = to_f64(value);
    match value.is_integer() {
        true => Ball::exact(double),
        false => Ball::rounded(double),
    }
}

pub(crate) fn places(symbols: &Symbols) -> Places {
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
            // The time of an instant is an exact double.
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

/// A value, or none if it is undetermined at this point.
pub(crate) type Known<E> = Option<E>;

/// Returns a random point.
pub(crate) fn random_point(system: &StateSystem, parameters: &Symbols, set: u64) -> Symbols {
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
