//! Values on only one side of a boundary: for example, the inverse of a root is the square of a nonnegative value.
//!
//! Guarded values are written in the language: `if m >= 0 then value else sqrt(m)`, which is NaN for a negative margin m in every evaluator
//! and target. If no value exists at the boundary either, the form is `if m > 0 then value else log(m)`. No other code treats guarded
//! values specially, except that the rate of such a value is the rate of the value within its range.

use super::Exprs;
use crate::expr::{ExprId, Function, Node, Relation};
use num_bigint::BigInt;
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::Signed;
use std::convert::Infallible;

/// The status of a range's boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The value exists at the boundary, such as a root at 0.
    Within,
    /// No value exists at the boundary, such as `atan` at pi/2.
    Beyond,
}

/// A value that exists if a margin is nonnegative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guarded {
    /// The margin, which must be nonnegative.
    pub margin: ExprId,
    /// The status of the boundary, at margin 0.
    pub end: End,
    /// The value within the range.
    pub value: ExprId,
    /// True if the value continues beyond the boundary ([`Exprs::widened`]).
    pub is_widened: bool,
}

impl Exprs {
    /// Builds a value that exists only if a margin is nonnegative.
    pub fn guarded(&mut self, margin: ExprId, end: End, value: ExprId) -> ExprId {
        let zero = self.zero();
        let (relation, function) = match end {
            End::Within => (Relation::GreaterEqual, Function::Sqrt),
            End::Beyond => (Relation::Greater, Function::Log),
        };
        let condition = self.relation(relation, margin, zero);
        let none = self.call(function, [margin]);
        self.if_else(condition, value, none)
    }

    /// Recognises a value built by [`Exprs::guarded`], even if its range was widened ([`Exprs::widened`]).
    pub fn as_guarded(&self, id: ExprId) -> Option<Guarded> {
        let Node::If(condition, value, none) = self.node(id) else {
            return None;
        };
        let (Node::Relation(relation, margin, bound), Node::Call(function, list)) =
            (self.node(*condition), self.node(*none))
        else {
            return None;
        };
        let end = match (relation, function) {
            (Relation::GreaterEqual, Function::Sqrt) => End::Within,
            (Relation::Greater, Function::Log) => End::Beyond,
            _ => return None,
        };
        let bound = self.as_number(*bound)?;
        let is_none = list[0] == *margin && !bound.is_positive();
        is_none.then_some(Guarded {
            margin: *margin,
            end,
            value: *value,
            is_widened: bound.is_negative(),
        })
    }

    /// Returns a guarded value with another margin and another value within its range.
    pub fn guarded_with(&mut self, id: ExprId, margin: ExprId, value: ExprId) -> ExprId {
        let Node::If(condition, ..) = *self.node(id) else {
            unreachable!("invariant: a guarded value is a choice")
        };
        let Node::Relation(relation, _, bound) = *self.node(condition) else {
            unreachable!("invariant: a guarded value compares its margin")
        };
        let function = match relation {
            Relation::GreaterEqual => Function::Sqrt,
            _ => Function::Log,
        };
        let condition = self.relation(relation, margin, bound);
        let none = self.call(function, [margin]);
        self.if_else(condition, value, none)
    }

    /// Returns a guarded value that continues beyond its boundary, until the margin is below minus this power of ten.
    pub fn widened(&mut self, guarded: Guarded, exponent: i32) -> ExprId {
        let power = BigRational::from(BigInt::from(10).pow(exponent.unsigned_abs()));
        let bound = self.number(if exponent < 0 { -power.recip() } else { -power });
        let condition = self.relation(Relation::GreaterEqual, guarded.margin, bound);
        let none = self.call(Function::Sqrt, [guarded.margin]);
        self.if_else(condition, guarded.value, none)
    }

    /// Returns the rate of a guarded value: the rate within its range, times a factor that is 1 within the range and NaN beyond.
    pub(super) fn guarded_rate(&mut self, id: ExprId, rate: ExprId) -> ExprId {
        let Node::If(condition, _, none) = *self.node(id) else {
            unreachable!("invariant: a guarded value is a choice")
        };
        if self.is_zero(rate) {
            return rate;
        }
        let one = self.one();
        let gate = self.if_else(condition, one, none);
        self.mul(rate, gate)
    }

    /// Returns true if a choice is a guarded value whose margin is nonnegative by its form, for example after a substitution.
    pub(super) fn is_always_within(&self, condition: ExprId, none: ExprId) -> bool {
        let (Node::Relation(Relation::GreaterEqual, margin, bound), Node::Call(Function::Sqrt, list)) =
            (self.node(condition), self.node(none))
        else {
            return false;
        };
        let is_guard = list[0] == *margin && self.as_number(*bound).is_some_and(|bound| !bound.is_positive());
        is_guard && self.is_never_negative(*margin)
    }

    /// Returns true if an expression is nonnegative by its form.
    fn is_never_negative(&self, id: ExprId) -> bool {
        let found = self.fold(&[id], |_, node, of: &dyn Fn(ExprId) -> bool| {
            Ok::<_, Infallible>(match node {
                Node::Number(number) => !number.is_negative(),
                Node::Pi | Node::Relation(..) | Node::Not(_) => true,
                Node::Symbol(_) => false,
                Node::Sum(list) | Node::Product(list) => list.iter().all(|part| of(*part)),
                Node::Power(base, exponent) => {
                    let power = self.as_number(*exponent);
                    power.is_some_and(|power| power.is_integer() && power.numer().is_even()) || of(*base)
                }
                Node::Call(function, list) => match function {
                    Function::Exp | Function::Cosh | Function::Abs | Function::Sqrt | Function::Acos => true,
                    Function::Step | Function::Pulse | Function::Ramp => true,
                    Function::Max => list.iter().any(|part| of(*part)),
                    Function::Min => list.iter().all(|part| of(*part)),
                    _ => false,
                },
                Node::If(_, a, b) => of(*a) && of(*b),
            })
        });
        let Ok(found) = found;
        found[0]
    }
}
