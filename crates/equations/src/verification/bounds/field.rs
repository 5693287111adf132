//! Reduction over numbers with bounds.

use super::ball::Ball;
use super::rated::{Places, value_of};
use lgm_algebra::expr::{Evaluated, ExprId, Exprs};
use lgm_algebra::{Field, FromExpression};
use rustc_hash::FxHashMap;

/// Doubles with error bounds, with a value for each symbol.
#[derive(Clone, Debug, Default)]
pub(crate) struct BallValues {
    places: Places,
    memo: FxHashMap<ExprId, Ball>,
}

impl BallValues {
    /// Creates the field with these values.
    pub(crate) fn new(places: Places) -> BallValues {
        BallValues {
            places,
            memo: FxHashMap::default(),
        }
    }
}

impl Field for BallValues {
    type Element = Ball;

    fn zero(&self) -> Ball {
        Ball::exact(0.0)
    }
    fn one(&self) -> Ball {
        Ball::exact(1.0)
    }
    /// As for doubles, a value that may be zero keeps its bound.
    fn is_zero(&self, a: &Ball) -> bool {
        a.value == 0.0
    }
    fn add(&mut self, a: &Ball, b: &Ball) -> Ball {
        *a + *b
    }
    fn mul(&mut self, a: &Ball, b: &Ball) -> Ball {
        *a * *b
    }
    fn neg(&mut self, a: &Ball) -> Ball {
        -*a
    }
    fn invert(&mut self, a: &Ball) -> Ball {
        a.invert()
    }
    fn pivot_cost(&self, a: &Ball) -> f64 {
        1.0 / a.value.abs()
    }
    fn magnitude(&self, a: &Ball) -> Option<f64> {
        Some(a.value.abs())
    }
}

impl FromExpression for BallValues {
    fn from_expression(&mut self, exprs: &Exprs, id: ExprId) -> Result<Ball, Evaluated> {
        if let Some(known) = self.memo.get(&id) {
            return Ok(*known);
        }
        let value = value_of(exprs, id, &self.places).ok_or(Evaluated::NotFinite(None))?;
        if !value.value.is_finite() {
            return Err(Evaluated::NotFinite(None));
        }
        self.memo.insert(id, value);
        Ok(value)
    }
}
