//! Values with their rates: forward differentiation of expressions, independent of their symbolic derivatives.

use lgm_algebra::expr::{ExprId, Exprs, Function, Node, SymbolId, doubles, to_f64};
use rustc_hash::FxHashMap;

/// A value with its rate.
pub(crate) type Dual = (f64, f64);

/// Values and rates of symbols.
pub(crate) type Point = FxHashMap<SymbolId, Dual>;

/// Computes values and rates of expressions, by forward differentiation.
///
/// Returns `None` if a symbol has no value at the point.
pub(crate) fn duals(exprs: &Exprs, roots: &[ExprId], point: &Point) -> Option<Vec<Dual>> {
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
                call(*function, &arguments).ok_or(())?
            }
            Node::Relation(relation, a, b) => (f64::from(doubles::holds(*relation, get(*a).0, get(*b).0)), 0.0),
            Node::Not(a) => (f64::from(get(*a).0 == 0.0), 0.0),
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

fn power(base: Dual, exponent: Dual) -> Dual {
    let value = doubles::power(base.0, exponent.0);
    let mut rate = 0.0;
    if base.1 != 0.0 {
        rate = exponent.0 * doubles::power(base.0, exponent.0 - 1.0) * base.1;
    }
    if exponent.1 != 0.0 {
        rate += value * base.0.ln() * exponent.1;
    }
    (value, rate)
}

fn call(function: Function, arguments: &[Dual]) -> Option<Dual> {
    let (x, rate) = *arguments.first()?;
    let values: Vec<f64> = arguments.iter().map(|argument| argument.0).collect();
    let value = doubles::call(function, &values);
    let along = |slope: f64| if rate == 0.0 { 0.0 } else { slope * rate };
    let rate = match function {
        Function::Sin => along(x.cos()),
        Function::Cos => along(-x.sin()),
        Function::Tan => along(1.0 / x.cos().powi(2)),
        Function::Asin => along(1.0 / (1.0 - x * x).sqrt()),
        Function::Acos => along(-1.0 / (1.0 - x * x).sqrt()),
        Function::Atan => along(1.0 / (1.0 + x * x)),
        Function::Sinh => along(x.cosh()),
        Function::Cosh => along(x.sinh()),
        Function::Tanh => along(1.0 - value * value),
        Function::Asinh => along(1.0 / 1.0f64.hypot(x)),
        Function::Exp => along(value),
        Function::Log => along(1.0 / x),
        Function::Sqrt => along(0.5 / value),
        Function::Abs => along(doubles::sign(x)),
        Function::Atan2 => {
            let (y, other) = *arguments.get(1)?;
            (y * rate - x * other) / (x * x + y * y)
        }
        // The rate of the argument in force; ties go to the first. NaN has none.
        Function::Min | Function::Max => arguments
            .iter()
            .find(|argument| argument.0 == value)
            .map_or(f64::NAN, |argument| argument.1),
        Function::Ramp => {
            let now = arguments.get(1)?;
            if now.0 >= x { now.1 - rate } else { 0.0 }
        }
        Function::Sign | Function::Floor | Function::Step | Function::Pulse => 0.0,
        Function::Int | Function::Der => return None,
    };
    Some((value, rate))
}
