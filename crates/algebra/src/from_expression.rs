//! Fields into which expressions can be converted.

use crate::Field;
use crate::expr::{Evaluated, ExprId, Exprs};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::ToPrimitive;

/// A field into which expressions can be converted.
///
/// Results are cached by [`ExprId`], so one context serves one arena of expressions, which may grow.
pub trait FromExpression: Field {
    /// Converts an expression to an element.
    #[allow(clippy::wrong_self_convention)] // The context is what reads; no element is converted from it.
    fn from_expression(&mut self, exprs: &Exprs, id: ExprId) -> Result<Self::Element, Evaluated>;
}

/// Returns twice the exponent if it is a multiple of one half.
pub(crate) fn half_power(exprs: &Exprs, exponent: ExprId) -> Option<i32> {
    let doubled = exprs.as_number(exponent)? * BigRational::from_integer(BigInt::from(2));
    if !doubled.is_integer() {
        return None;
    }
    doubled.to_integer().to_i32().filter(|doubled| doubled.abs() <= 1 << 12)
}
