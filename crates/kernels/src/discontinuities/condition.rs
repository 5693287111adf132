//! Conditions that change while a run goes on.

use lgm_algebra::expr::ExprId;

/// A condition that depends on states, inputs or loop unknowns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The relation or the call that changes.
    pub expression: ExprId,
    /// Whether a value may jump there; otherwise it bends only, as where the two sides of a law in pieces meet.
    pub jumps: bool,
    /// Whether it is a relation or a sign, between whose sides anything may lie: what bends there may bend sharply.
    pub is_sharp: bool,
}
