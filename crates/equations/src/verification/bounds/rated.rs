//! Values and rates of expressions with bounds: forward differentiation, independent of symbolic derivatives.

use super::ball::Ball;
use lgm_algebra::expr::{ExprId, Exprs, Function, Node, SymbolId, to_f64};
use rustc_hash::FxHashMap;

/// A value with its rate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Rated {
    pub(crate) value: Ball,
    pub(crate) rate: Ball,
}

impl Rated {
    /// Returns a value with rate zero.
    pub(crate) fn still(value: Ball) -> Rated {
        Rated {
            value,
            rate: Ball::exact(0.0),
        }
    }

    fn plus(self, other: Rated) -> Rated {
        Rated {
            value: self.value + other.value,
            rate: self.rate + other.rate,
        }
    }

    fn times(self, other: Rated) -> Rated {
        Rated {
            value: self.value * other.value,
            rate: self.rate * other.value + self.value * other.rate,
        }
    }

    fn or(self, other: Rated) -> Rated {
        Rated {
            value: self.value.or(other.value),
            rate: self.rate.or(other.rate),
        }
    }
}

/// Values and rates of symbols.
pub(crate) type Places = FxHashMap<SymbolId, Rated>;

/// Returns the value of an expression; `None` if a symbol has none.
pub(crate) fn value_of(exprs: &Exprs, id: ExprId, places: &Places) -> Option<Ball> {
    Some(rated(exprs, &[id], places)?[0].value)
}

/// Returns the magnitude of the terms of an expression: its value with all terms of its sums, and of the sums in its
/// factors, counted as positive.
pub(crate) fn size_of(exprs: &Exprs, id: ExprId, places: &Places) -> Option<f64> {
    let all = exprs.reachable(&[id]);
    let values = rated(exprs, &all, places)?;
    let values: FxHashMap<ExprId, f64> = all
        .into_iter()
        .zip(values)
        .map(|(id, found)| (id, found.value.value))
        .collect();
    let found: Result<Vec<f64>, ()> = exprs.fold(&[id], |id, node, get: &dyn Fn(ExprId) -> f64| {
        Ok(match node {
            Node::Sum(list) => list.iter().map(|id| get(*id)).sum(),
            Node::Product(list) => list.iter().map(|id| get(*id)).product(),
            Node::If(condition, a, b) if values[condition] != 0.0 => get(*a),
            Node::If(_, _, b) => get(*b),
            _ => values[&id].abs(),
        })
    });
    found.ok().map(|list| list[0])
}

/// Returns values and rates of expressions; `None` if a symbol has none. `der(e)` is the rate of e, and has no rate
/// here; `int(e)` has e as its rate, and an arbitrary value.
pub(crate) fn rated(exprs: &Exprs, roots: &[ExprId], places: &Places) -> Option<Vec<Rated>> {
    let found: Result<Vec<Rated>, ()> = exprs.fold(roots, |_, node, get: &dyn Fn(ExprId) -> Rated| {
        Ok(match node {
            Node::Number(number) => Rated::still(match number.is_integer() {
                true => Ball::exact(to_f64(number)),
                false => Ball::rounded(to_f64(number)),
            }),
            Node::Pi => Rated::still(Ball::rounded(std::f64::consts::PI)),
            Node::Symbol(symbol) => *places.get(symbol).ok_or(())?,
            Node::Sum(list) => list.iter().map(|id| get(*id)).fold(Rated::default(), Rated::plus),
            Node::Product(list) => {
                let one = Rated::still(Ball::exact(1.0));
                list.iter().map(|id| get(*id)).fold(one, Rated::times)
            }
            Node::Power(base, exponent) => power(get(*base), get(*exponent)),
            Node::Call(function, list) => {
                let arguments: Vec<Rated> = list.iter().map(|id| get(*id)).collect();
                match function {
                    Function::Der => Rated {
                        value: arguments[0].rate,
                        rate: Ball::unknown(),
                    },
                    Function::Int => Rated {
                        value: Ball::unknown(),
                        rate: arguments[0].value,
                    },
                    _ => call(*function, &arguments).ok_or(())?,
                }
            }
            Node::Relation(relation, a, b) => Rated::still(Ball::holds(*relation, get(*a).value, get(*b).value)),
            Node::Not(a) => Rated::still(get(*a).value.negation()),
            Node::If(condition, a, b) => {
                let condition = get(*condition).value;
                let (taken, other) = if condition.value != 0.0 {
                    (get(*a), get(*b))
                } else {
                    (get(*b), get(*a))
                };
                if condition.error == 0.0 { taken } else { taken.or(other) }
            }
        })
    });
    found.ok()
}

fn power(base: Rated, exponent: Rated) -> Rated {
    let value = base.value.power(exponent.value);
    let mut rate = Ball::exact(0.0);
    if !base.rate.is_zero() {
        let less = exponent.value - Ball::exact(1.0);
        rate = exponent.value * base.value.power(less) * base.rate;
    }
    if !exponent.rate.is_zero() {
        let log = Ball::call(Function::Log, &[base.value]);
        rate = rate + value * log * exponent.rate;
    }
    Rated { value, rate }
}

fn call(function: Function, arguments: &[Rated]) -> Option<Rated> {
    let first = *arguments.first()?;
    let x = first.value;
    let values: Vec<Ball> = arguments.iter().map(|argument| argument.value).collect();
    let value = Ball::call(function, &values);
    let of = |function| Ball::call(function, &[x]);
    let one = Ball::exact(1.0);
    let half = Ball::exact(0.5);
    let slope = match function {
        Function::Sin => of(Function::Cos),
        Function::Cos => -of(Function::Sin),
        Function::Tan => one + value * value,
        Function::Asin => (one - x * x).power(-half),
        Function::Acos => -(one - x * x).power(-half),
        Function::Atan => (one + x * x).invert(),
        Function::Sinh => of(Function::Cosh),
        Function::Cosh => of(Function::Sinh),
        Function::Tanh => one - value * value,
        Function::Asinh => (one + x * x).power(-half),
        Function::Exp => value,
        Function::Log => x.invert(),
        Function::Sqrt => half * value.invert(),
        Function::Abs => x.sign(),
        Function::Sign | Function::Floor | Function::Step | Function::Pulse => {
            return Some(Rated::still(value));
        }
        Function::Ramp => {
            let now = *arguments.get(1)?;
            let rate = match now.value.value >= x.value {
                true => now.rate - first.rate,
                false => Ball::exact(0.0),
            };
            let rate = Ball::new(rate.value, rate.error + x.is_at(now.value.value));
            return Some(Rated { value, rate });
        }
        Function::Atan2 => {
            let beside = *arguments.get(1)?;
            let over = (x * x + beside.value * beside.value).invert();
            let rate = (beside.value * first.rate - x * beside.rate) * over;
            return Some(Rated { value, rate });
        }
        Function::Min | Function::Max => return Some(extreme(value, arguments, &values)),
        Function::Int | Function::Der => return None,
    };
    let rate = if first.rate.is_zero() {
        Ball::exact(0.0)
    } else {
        slope * first.rate
    };
    Some(Rated { value, rate })
}

/// Returns the rate of the argument in force; if that is in doubt, any rate that may be in force.
fn extreme(value: Ball, arguments: &[Rated], values: &[Ball]) -> Rated {
    let in_force = arguments.iter().find(|argument| argument.value.value == value.value);
    let Some(first) = in_force else {
        let rate = Ball::new(f64::NAN, f64::INFINITY);
        return Rated { value, rate };
    };
    let others = arguments
        .iter()
        .filter(|argument| argument.value.may_be(value.value, values));
    let rate = others.fold(first.rate, |rate, other| rate.or(other.rate));
    Rated { value, rate }
}
