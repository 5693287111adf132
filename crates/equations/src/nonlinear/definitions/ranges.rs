//! Ranges in which an expression has a value, and in which its slope is finite.

use crate::assembly::linearity::varies;
use lgm_algebra::expr::{ExprId, Exprs, Function, Node};
use num_rational::BigRational;
use num_traits::{One, Signed};

/// Returns true if an expression has a value wherever its symbols have: without a logarithm, root or quotient of an
/// expression of either sign.
pub(in crate::nonlinear) fn is_defined_everywhere(exprs: &Exprs, id: ExprId) -> bool {
    exprs.reachable(&[id]).into_iter().all(|id| match exprs.node(id) {
        Node::Call(function, list) => match is_defined_for_all(*function) {
            true => true,
            false => !varies(exprs, list[0]) || *function == Function::Sqrt && is_size(exprs, list[0]),
        },
        Node::Power(base, exponent) => {
            let power = exprs.as_number(*exponent);
            let is_whole = power.is_some_and(|power| power.is_integer() && power.is_positive());
            let is_root = power.is_some_and(|power| power.is_positive()) && is_size(exprs, *base);
            is_whole || is_root || !varies(exprs, *base)
        }
        _ => true,
    })
}

/// Returns true if a function has a value for all arguments.
fn is_defined_for_all(function: Function) -> bool {
    match function {
        Function::Log | Function::Asin | Function::Acos | Function::Tan | Function::Sqrt => false,
        Function::Sin | Function::Cos | Function::Atan | Function::Atan2 => true,
        Function::Sinh | Function::Cosh | Function::Tanh | Function::Asinh | Function::Exp => true,
        Function::Abs | Function::Sign | Function::Min | Function::Max | Function::Floor => true,
        Function::Step | Function::Pulse | Function::Ramp | Function::Int | Function::Der => true,
    }
}

/// Returns true if an expression contains the root of an absolute value, with an infinite slope at zero.
pub(super) fn has_roots(exprs: &Exprs, id: ExprId) -> bool {
    exprs.reachable(&[id]).into_iter().any(|id| match exprs.node(id) {
        Node::Call(Function::Sqrt, list) => varies(exprs, list[0]) && is_size(exprs, list[0]),
        Node::Power(base, exponent) => {
            let power = exprs.as_number(*exponent);
            power.is_some_and(|power| power.is_positive() && *power < BigRational::one())
                && varies(exprs, *base)
                && is_size(exprs, *base)
        }
        _ => false,
    })
}

/// Returns true if an expression is an absolute value, or a multiple of one.
fn is_size(exprs: &Exprs, id: ExprId) -> bool {
    match exprs.node(id) {
        Node::Call(Function::Abs, _) => true,
        Node::Product(list) => {
            let mut varying = list.iter().filter(|factor| varies(exprs, **factor));
            varying.all(|factor| is_size(exprs, *factor))
        }
        _ => false,
    }
}
