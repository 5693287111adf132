//! Random expressions with shared parts, and their values with bounds on the round-off of any order of evaluation.
#![allow(dead_code)] // Each test binary uses its own part of this.

use lgm::expr::{ExprId, Exprs, Function, Node, Relation, SymbolId};
use num_rational::BigRational;
use num_traits::ToPrimitive;
use proptest::prelude::*;

/// One step: an operation, and the earlier expressions it uses.
pub type Step = (u8, u16, u16, u16);

/// A sequence of steps.
pub fn steps(most: usize) -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(any::<Step>(), 1..most)
}

/// Runs the steps over given leaves; the last expressions contain most of the others. With `rational`, only operations
/// on exact numbers are used. `time` is the symbol of time.
pub fn build(exprs: &mut Exprs, leaves: &[ExprId], time: SymbolId, steps: &[Step], rational: bool) -> Vec<ExprId> {
    let time = exprs.symbol(time);
    let mut made = leaves.to_vec();
    for (operation, a, b, c) in steps {
        let pick = |index: u16| made[made.len() - 1 - index as usize % made.len().min(12)];
        let (a, b, c) = (pick(*a), pick(*b), pick(*c));
        // The number of arms below, for rational expressions and for all.
        let kinds = if rational { 14 } else { 34 };
        let expression = match operation % kinds {
            0 | 1 => exprs.sum([a, b, c]),
            2 => exprs.sub(a, b),
            3 | 4 => exprs.product([a, b]),
            5 => exprs.product([a, b, c]),
            6 => exprs.div(a, b),
            7 => {
                let exponent = exprs.integer(i64::from(*operation) % 9 - 3);
                exprs.power(a, exponent)
            }
            8 => {
                let number = exprs.number(BigRational::new((i64::from(*operation) - 100).into(), 8.into()));
                exprs.mul(number, a)
            }
            9 => exprs.call(Function::Abs, [a]),
            10 => exprs.call(Function::Min, [a, b, c]),
            11 => exprs.call(Function::Max, [a, b]),
            12 => {
                let relation = [
                    Relation::Less,
                    Relation::GreaterEqual,
                    Relation::Greater,
                    Relation::LessEqual,
                ];
                let condition = exprs.relation(relation[*operation as usize % 4], a, b);
                exprs.if_else(condition, b, c)
            }
            13 => {
                let (first, second) = (
                    exprs.relation(Relation::Less, a, b),
                    exprs.relation(Relation::Less, b, c),
                );
                let kind = [Relation::And, Relation::Or, Relation::Equal, Relation::NotEqual][*operation as usize % 4];
                let both = exprs.relation(kind, first, second);
                let not = exprs.not(both);
                exprs.if_else(not, a, c)
            }
            14 => exprs.call(Function::Sin, [a]),
            15 => exprs.call(Function::Cos, [a]),
            16 => exprs.call(Function::Tan, [a]),
            17 => exprs.call(Function::Asin, [a]),
            18 => exprs.call(Function::Acos, [a]),
            19 => exprs.call(Function::Atan, [a]),
            20 => exprs.call(Function::Atan2, [a, b]),
            21 => exprs.call(Function::Sinh, [a]),
            22 => exprs.call(Function::Cosh, [a]),
            23 => exprs.call(Function::Tanh, [a]),
            24 => exprs.call(Function::Exp, [a]),
            25 => exprs.call(Function::Log, [a]),
            26 => exprs.call(Function::Sqrt, [a]),
            27 => exprs.call(Function::Sign, [a]),
            28 => exprs.call(Function::Floor, [a]),
            29 => exprs.call(Function::Step, [a, time]),
            30 => exprs.call(Function::Pulse, [a, b, time]),
            31 => exprs.call(Function::Ramp, [a, time]),
            32 => exprs.call(Function::Asinh, [a]),
            _ => {
                let exponent = exprs.number(BigRational::new((i64::from(*operation) - 90).into(), 4.into()));
                exprs.power(a, exponent)
            }
        };
        made.push(expression);
    }
    made.split_off(leaves.len())
}

fn value_of(node: &Node, x: &[f64], symbol: &dyn Fn(SymbolId) -> f64) -> f64 {
    let truth = |holds: bool| if holds { 1.0 } else { 0.0 };
    match node {
        Node::Number(value) => value.to_f64().unwrap(),
        Node::Pi => std::f64::consts::PI,
        Node::Symbol(id) => symbol(*id),
        Node::Sum(_) => x.iter().sum(),
        Node::Product(_) => x.iter().product(),
        Node::Power(..) => {
            if x[1].fract() == 0.0 {
                x[0].powi(x[1] as i32)
            } else {
                x[0].powf(x[1])
            }
        }
        Node::Relation(relation, ..) => truth(match relation {
            Relation::Less => x[0] < x[1],
            Relation::LessEqual => x[0] <= x[1],
            Relation::Greater => x[0] > x[1],
            Relation::GreaterEqual => x[0] >= x[1],
            Relation::Equal => x[0] == x[1],
            Relation::NotEqual => x[0] != x[1],
            Relation::And => x[0] != 0.0 && x[1] != 0.0,
            Relation::Or => x[0] != 0.0 || x[1] != 0.0,
        }),
        Node::Not(_) => truth(x[0] == 0.0),
        Node::If(..) => {
            if x[0] != 0.0 {
                x[1]
            } else {
                x[2]
            }
        }
        Node::Call(function, _) => match function {
            Function::Sin => x[0].sin(),
            Function::Cos => x[0].cos(),
            Function::Tan => x[0].tan(),
            Function::Asin => x[0].asin(),
            Function::Acos => x[0].acos(),
            Function::Atan => x[0].atan(),
            Function::Atan2 => x[0].atan2(x[1]),
            Function::Sinh => x[0].sinh(),
            Function::Cosh => x[0].cosh(),
            Function::Tanh => x[0].tanh(),
            Function::Asinh => x[0].asinh(),
            Function::Exp => x[0].exp(),
            Function::Log => x[0].ln(),
            Function::Sqrt => x[0].sqrt(),
            Function::Abs => x[0].abs(),
            Function::Sign if x[0] == 0.0 => 0.0,
            Function::Sign => x[0].signum(),
            // The total order of IEEE 754: -0 below 0. NaN is distinguished before.
            Function::Min => x.iter().copied().min_by(f64::total_cmp).unwrap(),
            Function::Max => x.iter().copied().max_by(f64::total_cmp).unwrap(),
            Function::Floor => x[0].floor(),
            Function::Step => truth(x[1] >= x[0]),
            Function::Pulse => truth(x[2] >= x[0] && x[2] < x[0] + x[1]),
            Function::Ramp => (x[1] - x[0]).max(0.0),
            Function::Int | Function::Der => f64::NAN,
        },
    }
}

/// Returns true if a node may jump or turn between the few sample points around its children: a truth value that depends on a
/// zero, nearly equal numbers, or more than a fraction of a turn.
fn jumps_within_reach(node: &Node, children: &[(f64, f64)]) -> bool {
    let moves = |child: &(f64, f64), most: f64| child.1 > most;
    match node {
        Node::Not(_) | Node::Relation(Relation::And | Relation::Or, ..) => {
            children.iter().any(|child| moves(child, 0.0))
        }
        Node::If(..) => moves(&children[0], 0.0),
        Node::Relation(Relation::Equal | Relation::NotEqual, ..) => {
            let reach = children[0].1 + children[1].1;
            reach > 0.0 && (children[0].0 - children[1].0).abs() <= 2.0 * reach
        }
        Node::Call(Function::Sin | Function::Cos | Function::Tan, _) => moves(&children[0], 0.1),
        _ => false,
    }
}

/// The value of each root with a bound on its round-off for any order of operations. The bound is not finite if a jump
/// or a pole is within reach.
pub fn bounded(exprs: &Exprs, roots: &[ExprId], time: f64, symbol: &dyn Fn(SymbolId) -> f64) -> Vec<(f64, f64)> {
    let evaluated: Result<Vec<(f64, f64)>, ()> = exprs.fold(roots, |_, node, get: &dyn Fn(ExprId) -> (f64, f64)| {
        let children: Vec<(f64, f64)> = node.children().map(get).collect();
        let middle: Vec<f64> = children.iter().map(|child| child.0).collect();
        if children.iter().any(|child| child.1.is_infinite()) {
            return Ok((value_of(node, &middle, symbol), f64::INFINITY));
        }
        if middle.iter().any(|value| value.is_nan()) {
            return Ok((f64::NAN, f64::INFINITY));
        }
        let value = value_of(node, &middle, symbol);
        if jumps_within_reach(node, &children) {
            return Ok((value, f64::INFINITY));
        }
        let size = match node {
            Node::Sum(_) => middle.iter().map(|term| term.abs()).sum(),
            _ => value.abs(),
        };
        let mut error = 4.0 * f64::EPSILON * size * (1.0 + children.len() as f64);
        if let Node::Relation(..) | Node::Not(_) = node {
            // Truth values have no round-off.
            error = 0.0;
        }
        if let Node::Power(..) = node {
            error *= 1.0 + middle[1].abs();
        }
        if let Node::Call(Function::Ramp | Function::Sin | Function::Cos | Function::Tan, _) = node {
            error += 4.0 * f64::EPSILON * (time.abs() + middle[0].abs());
        }
        for (position, child) in children.iter().enumerate() {
            if child.1 == 0.0 {
                continue;
            }
            let mut moved = middle.clone();
            for side in [-2.0, -1.0, 1.0, 2.0] {
                moved[position] = child.0 + side * child.1;
                error += (value_of(node, &moved, symbol) - value).abs();
            }
        }
        let error = if error.is_nan() || value.abs() > 1e150 || (value != 0.0 && value.abs() < 1e-150) {
            f64::INFINITY
        } else {
            error
        };
        Ok((value, error))
    });
    evaluated.unwrap()
}
