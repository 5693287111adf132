//! Values with their rates: forward differentiation of expressions, independent of their symbolic derivatives.

use crate::expr::{ExprId, Exprs, Function, Node, Relation, SymbolId, SymbolKind, to_f64};
use rustc_hash::FxHashMap;

/// A value with its rate.
pub(super) type Dual = (f64, f64);

/// Values and rates of symbols.
pub(super) type Point = FxHashMap<SymbolId, Dual>;

/// Values and rates of expressions, by forward differentiation.
///
/// None where a symbol has no value at the point.
pub(super) fn duals(exprs: &Exprs, roots: &[ExprId], point: &Point) -> Option<Vec<Dual>> {
    let clock = clock(exprs, point);
    let found: Result<Vec<Dual>, ()> = exprs.fold(roots, |_, node, get: &dyn Fn(ExprId) -> Dual| {
        Ok(match node {
            Node::Number(number) => (to_f64(number), 0.0),
            Node::Pi => (std::f64::consts::PI, 0.0),
            Node::Symbol(symbol) => *point.get(symbol).ok_or(())?,
            Node::Sum(list) => list
                .iter()
                .map(|id| get(*id))
                .fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1)),
            Node::Product(list) => list
                .iter()
                .map(|id| get(*id))
                .fold((1.0, 0.0), |a, b| (a.0 * b.0, a.1 * b.0 + a.0 * b.1)),
            Node::Power(base, exponent) => power(get(*base), get(*exponent)),
            Node::Call(function, list) => {
                let arguments: Vec<Dual> = list.iter().map(|id| get(*id)).collect();
                call(*function, &arguments, clock).ok_or(())?
            }
            Node::Relation(relation, a, b) => (f64::from(u8::from(holds(*relation, get(*a).0, get(*b).0))), 0.0),
            Node::Not(a) => (f64::from(u8::from(get(*a).0 == 0.0)), 0.0),
            Node::If(condition, a, b) => {
                if get(*condition).0 != 0.0 {
                    get(*a)
                } else {
                    get(*b)
                }
            }
        })
    });
    found.ok()
}

/// The time at a point, for the functions of time.
fn clock(exprs: &Exprs, point: &Point) -> f64 {
    point
        .iter()
        .find(|(symbol, _)| exprs.symbol_info(**symbol).kind == SymbolKind::Time)
        .map_or(0.0, |(_, value)| value.0)
}

fn power(base: Dual, exponent: Dual) -> Dual {
    let value = if exponent.0 == exponent.0.trunc() && exponent.0.abs() < 1024.0 {
        base.0.powi(exponent.0 as i32)
    } else {
        base.0.powf(exponent.0)
    };
    let mut rate = exponent.0 * base.0.powf(exponent.0 - 1.0) * base.1;
    if exponent.0 == exponent.0.trunc() && exponent.0.abs() < 1024.0 {
        rate = exponent.0 * base.0.powi(exponent.0 as i32 - 1) * base.1;
    }
    if base.1 == 0.0 {
        rate = 0.0;
    }
    if exponent.1 != 0.0 {
        rate += value * base.0.ln() * exponent.1;
    }
    (value, rate)
}

fn holds(relation: Relation, a: f64, b: f64) -> bool {
    match relation {
        Relation::Less => a < b,
        Relation::LessEqual => a <= b,
        Relation::Greater => a > b,
        Relation::GreaterEqual => a >= b,
        Relation::Equal => a == b,
        Relation::NotEqual => a != b,
        Relation::And => a != 0.0 && b != 0.0,
        Relation::Or => a != 0.0 || b != 0.0,
    }
}

fn call(function: Function, arguments: &[Dual], time: f64) -> Option<Dual> {
    let (x, rate) = *arguments.first()?;
    let chain = |value: f64, slope: f64| (value, if rate == 0.0 { 0.0 } else { slope * rate });
    Some(match function {
        Function::Sin => chain(x.sin(), x.cos()),
        Function::Cos => chain(x.cos(), -x.sin()),
        Function::Tan => chain(x.tan(), 1.0 / x.cos().powi(2)),
        Function::Asin => chain(x.asin(), 1.0 / (1.0 - x * x).sqrt()),
        Function::Acos => chain(x.acos(), -1.0 / (1.0 - x * x).sqrt()),
        Function::Atan => chain(x.atan(), 1.0 / (1.0 + x * x)),
        Function::Sinh => chain(x.sinh(), x.cosh()),
        Function::Cosh => chain(x.cosh(), x.sinh()),
        Function::Tanh => chain(x.tanh(), 1.0 - x.tanh().powi(2)),
        Function::Exp => chain(x.exp(), x.exp()),
        Function::Log => chain(x.ln(), 1.0 / x),
        Function::Sqrt => chain(x.sqrt(), 0.5 / x.sqrt()),
        Function::Abs => chain(x.abs(), if x < 0.0 { -1.0 } else { 1.0 }),
        Function::Sign => (if x == 0.0 { 0.0 } else { x.signum() }, 0.0),
        Function::Floor => (x.floor(), 0.0),
        Function::Atan2 => {
            let (y, other) = *arguments.get(1)?;
            (x.atan2(y), (y * rate - x * other) / (x * x + y * y))
        }
        Function::Min | Function::Max => {
            let less = |a: &Dual, b: &Dual| (a.0 < b.0) == (function == Function::Min);
            let mut best = arguments[0];
            for next in &arguments[1..] {
                if less(next, &best) {
                    best = *next;
                }
            }
            best
        }
        Function::Step => (f64::from(u8::from(time >= x)), 0.0),
        Function::Pulse => {
            let width = arguments.get(1)?.0;
            (f64::from(u8::from(time >= x && time < x + width)), 0.0)
        }
        Function::Ramp => {
            let running = time >= x;
            (
                if running { time - x } else { 0.0 },
                if running { 1.0 - rate } else { 0.0 },
            )
        }
        Function::Int | Function::Der => return None,
    })
}
