//! Parts of margins that say where a margin may change its sign twice between two looks at it.

use lgm_algebra::expr::{ExprId, Exprs, Function, Node};
use num_traits::ToPrimitive;
use std::collections::BTreeSet;

/// A margin with `floor` is examined this part of its period before and after each jump: 1/1000.
const BESIDE_A_JUMP: i64 = 1000;

/// Parts of margins.
///
/// The solution is smooth within a step, but a margin may vary much faster than the states: a proximity sensor sees a narrow window, an
/// encoder many marks. These parts depend on the states, and show where a run must evaluate the condition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inside {
    /// Numbers at or beside whose zeros a margin may have a peak, a bend or a jump: arguments of even functions, derivatives of periodic ones,
    /// differences of the arguments of `min` and `max` and of the sides of conditions, and factors.
    pub turns: Vec<ExprId>,
    /// Arguments of sine, cosine and tangent, and those of `floor` times 2 pi.
    pub phases: Vec<ExprId>,
}

impl Inside {
    /// Finds the parts of margins.
    pub fn of(exprs: &mut Exprs, margins: &[ExprId]) -> Inside {
        let (mut turns, mut phases) = (BTreeSet::new(), BTreeSet::new());
        for id in exprs.reachable(margins) {
            match exprs.node(id).clone() {
                Node::Call(function @ (Function::Sin | Function::Cos | Function::Tan), list) => {
                    phases.insert(list[0]);
                    let slope = if function == Function::Sin {
                        Function::Cos
                    } else {
                        Function::Sin
                    };
                    turns.insert(exprs.call(slope, [list[0]]));
                }
                Node::Call(Function::Floor, list) => {
                    let (two, pi) = (exprs.integer(2), exprs.pi());
                    phases.insert(exprs.product([two, pi, list[0]]));
                    // At the jump itself, rounding decides between the sides of several such functions.
                    for beside in [-1, 1] {
                        let (part, whole) = (exprs.integer(beside), exprs.integer(BESIDE_A_JUMP));
                        let part = exprs.div(part, whole);
                        let moved = exprs.sum([list[0], part]);
                        let half = exprs.product([pi, moved]);
                        turns.insert(exprs.call(Function::Sin, [half]));
                    }
                }
                Node::Call(Function::Abs | Function::Cosh | Function::Sign, list) => _ = turns.insert(list[0]),
                Node::Call(Function::Min | Function::Max, list) => {
                    turns.extend(list.windows(2).map(|pair| exprs.sub(pair[0], pair[1])));
                }
                Node::Power(base, exponent) if is_even(exprs, exponent) => _ = turns.insert(base),
                Node::Product(list) => {
                    let is_sum = |factor: &&ExprId| matches!(exprs.node(**factor), Node::Sum(_));
                    turns.extend(list.iter().filter(is_sum));
                }
                Node::Relation(_, a, b) => _ = turns.insert(exprs.sub(a, b)),
                _ => {}
            }
        }
        let varies = |id: &ExprId| !exprs.symbols_of(&[*id]).is_empty();
        Inside {
            turns: turns.into_iter().filter(varies).collect(),
            phases: phases.into_iter().filter(varies).collect(),
        }
    }
}

/// Returns true for an even whole number.
fn is_even(exprs: &Exprs, exponent: ExprId) -> bool {
    let number = exprs.as_number(exponent).filter(|number| number.is_integer());
    number.is_some_and(|number| number.to_integer().to_i64().is_some_and(|whole| whole % 2 == 0))
}
