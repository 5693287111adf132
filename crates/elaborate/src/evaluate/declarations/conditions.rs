//! Conditions of changes of modes and of `when` blocks.

use crate::evaluate::Evaluator;
use lgm_algebra::expr::{ExprId, Node, Relation};
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use num_traits::{One, Zero};

impl Evaluator<'_> {
    /// Returns true for a comparison, or for `and`, `or`, `not` and choices of comparisons; the numbers 0 and 1 are
    /// constant conditions.
    pub(crate) fn is_condition(&self, root: ExprId) -> bool {
        let mut open = vec![root];
        while let Some(id) = open.pop() {
            match self.arena.exprs.node(id) {
                Node::Relation(Relation::And | Relation::Or, a, b) => open.extend([*a, *b]),
                Node::Relation(..) => {}
                Node::Not(inner) => open.push(*inner),
                Node::If(_, a, b) => open.extend([*a, *b]),
                Node::Number(number) if number.is_zero() || number.is_one() => {}
                _ => return false,
            }
        }
        true
    }

    /// Reports a number instead of a condition.
    pub(crate) fn check_condition(&mut self, condition: ExprId, span: Span) -> bool {
        if self.is_condition(condition) {
            return true;
        }
        let words = self.sources.slice(span);
        let diagnostic = Diagnostic::error(Code::LGM0164, "a condition is required here, but this is a number")
            .label(span, "this is a number, not a condition")
            .help(format!("compare it with a number, as in `{words} > 0.5`"));
        self.report(diagnostic);
        false
    }
}
