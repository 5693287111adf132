//! Conditions that change during a run.

use lgm_algebra::expr::ExprId;

/// A condition that depends on states, inputs or loop unknowns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The relation or the call that changes.
    pub expression: ExprId,
    /// True if a value may jump at the condition; false for a mere kink, such as the boundary of two pieces of a law.
    pub jumps: bool,
    /// True for a relation or a sign, whose two sides may differ arbitrarily: a kink there may be sharp.
    pub is_sharp: bool,
}
