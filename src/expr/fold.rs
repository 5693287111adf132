//! Bottom-up traversals of shared expressions, without recursion.

use super::{EXACT_BITS, ExprId, Exprs, Folding, Function, Node, Relation, SymbolId, bits};
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};
use rustc_hash::{FxHashMap, FxHashSet};
use std::convert::Infallible;

/// What an exact evaluation can run into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Evaluated {
    /// A symbol has no value.
    NoValue(SymbolId),
    /// A division by zero.
    DivisionByZero,
    /// A function outside its domain, or a result that is not finite.
    NotFinite(Option<Function>),
}

impl Exprs {
    /// Every expression that the roots are built from, roots included, children before parents.
    pub fn reachable(&self, roots: &[ExprId]) -> Vec<ExprId> {
        let mut seen: FxHashSet<ExprId> = FxHashSet::default();
        let mut stack: Vec<ExprId> = roots.to_vec();
        while let Some(id) = stack.pop() {
            if seen.insert(id) {
                stack.extend(self.node(id).children());
            }
        }
        let mut list: Vec<ExprId> = seen.into_iter().collect();
        list.sort_unstable();
        list
    }

    /// All symbols that the roots depend on, in order of their ids.
    pub fn symbols_of(&self, roots: &[ExprId]) -> Vec<SymbolId> {
        let mut list: Vec<SymbolId> = self
            .reachable(roots)
            .into_iter()
            .filter_map(|id| match self.node(id) {
                Node::Symbol(symbol) => Some(*symbol),
                _ => None,
            })
            .collect();
        list.sort_unstable();
        list
    }

    /// Computes a value for each root bottom-up; `visit` gets a node and a look-up of its children's values.
    pub fn fold<V: Clone, E>(
        &self,
        roots: &[ExprId],
        mut visit: impl FnMut(ExprId, &Node, &dyn Fn(ExprId) -> V) -> Result<V, E>,
    ) -> Result<Vec<V>, E> {
        let mut values: FxHashMap<ExprId, V> = FxHashMap::default();
        for id in self.reachable(roots) {
            let lookup = |child: ExprId| values[&child].clone();
            let value = visit(id, self.node(id), &lookup)?;
            values.insert(id, value);
        }
        Ok(roots.iter().map(|id| values[id].clone()).collect())
    }

    /// How many nodes the longest of the roots has when it is written out, those that are shared counted at each
    /// place. That may be a great deal more than there is room for.
    pub fn written_size(&self, roots: &[ExprId]) -> u64 {
        let sizes = self.fold(roots, |_, node, get: &dyn Fn(ExprId) -> u64| {
            Ok::<u64, Infallible>(node.children().map(get).fold(1, u64::saturating_add))
        });
        let Ok(sizes) = sizes;
        sizes.into_iter().max().unwrap_or(0)
    }

    /// Replaces symbols by expressions; `None` keeps the symbol.
    pub fn substitute(
        &mut self,
        roots: &[ExprId],
        mut replacement: impl FnMut(SymbolId) -> Option<ExprId>,
    ) -> Vec<ExprId> {
        let mut values: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        for id in self.reachable(roots) {
            let node = self.node(id).clone();
            let value = match node {
                Node::Number(_) | Node::Pi => id,
                Node::Symbol(symbol) => replacement(symbol).unwrap_or(id),
                Node::Sum(list) => {
                    let list: Vec<ExprId> = list.iter().map(|child| values[child]).collect();
                    self.sum(list)
                }
                Node::Product(list) => {
                    let list: Vec<ExprId> = list.iter().map(|child| values[child]).collect();
                    self.product(list)
                }
                Node::Power(a, b) => self.power(values[&a], values[&b]),
                Node::Call(function, list) => {
                    let list: Vec<ExprId> = list.iter().map(|child| values[child]).collect();
                    self.call(function, list)
                }
                Node::Relation(relation, a, b) => self.relation(relation, values[&a], values[&b]),
                Node::Not(a) => self.not(values[&a]),
                Node::If(c, a, b) => self.if_else(values[&c], values[&a], values[&b]),
            };
            values.insert(id, value);
        }
        roots.iter().map(|id| values[id]).collect()
    }

    /// Values in double precision. `time` and the time functions need a value for the time symbol, which
    /// `value` must give for kind `Time`; `step` and its kin are evaluated at that time.
    pub fn evaluate_f64(
        &self,
        roots: &[ExprId],
        time: f64,
        value: &dyn Fn(SymbolId) -> Option<f64>,
    ) -> Result<Vec<f64>, Evaluated> {
        self.fold(roots, |_, node, get: &dyn Fn(ExprId) -> f64| {
            Ok(match node {
                Node::Number(number) => number.to_f64().unwrap_or(f64::NAN),
                Node::Pi => std::f64::consts::PI,
                Node::Symbol(symbol) => value(*symbol).ok_or(Evaluated::NoValue(*symbol))?,
                Node::Sum(list) => list.iter().map(|id| get(*id)).sum(),
                Node::Product(list) => list.iter().map(|id| get(*id)).product(),
                Node::Power(base, exponent) => {
                    let (base, exponent) = (get(*base), get(*exponent));
                    if base == 0.0 && exponent < 0.0 {
                        return Err(Evaluated::DivisionByZero);
                    }
                    if exponent == exponent.trunc() && exponent.abs() < 1024.0 {
                        base.powi(exponent as i32)
                    } else {
                        base.powf(exponent)
                    }
                }
                Node::Call(function, list) => {
                    let arguments: Vec<f64> = list.iter().map(|id| get(*id)).collect();
                    call_f64(*function, &arguments, time)
                }
                Node::Relation(relation, a, b) => relate(*relation, get(*a), get(*b)),
                Node::Not(a) => f64::from(get(*a) == 0.0),
                Node::If(c, a, b) => {
                    if get(*c) != 0.0 {
                        get(*a)
                    } else {
                        get(*b)
                    }
                }
            })
        })
    }

    /// Exact values: decimals stay exact; the value of a transcendental function is rounded to double once
    /// and is exact from there on (design: "The linear core, in formulas"). So is a value of thousands of digits.
    pub fn evaluate_exact(
        &self,
        roots: &[ExprId],
        value: &dyn Fn(SymbolId) -> Option<BigRational>,
    ) -> Result<Vec<BigRational>, Evaluated> {
        let exact = |number: f64, function: Option<Function>| {
            BigRational::from_float(number).ok_or(Evaluated::NotFinite(function))
        };
        self.fold(roots, |_, node, get: &dyn Fn(ExprId) -> BigRational| {
            Ok(match node {
                Node::Number(number) => (**number).clone(),
                Node::Pi => exact(std::f64::consts::PI, None)?,
                Node::Symbol(symbol) => value(*symbol).ok_or(Evaluated::NoValue(*symbol))?,
                Node::Sum(list) => combined(Folding::sum(EXACT_BITS), list.iter().map(|id| get(*id)))?,
                Node::Product(list) => combined(Folding::product(EXACT_BITS), list.iter().map(|id| get(*id)))?,
                Node::Power(base, exponent) => {
                    let (base, exponent) = (get(*base), get(*exponent));
                    if base.is_zero() && exponent.is_negative() {
                        return Err(Evaluated::DivisionByZero);
                    }
                    match exponent.to_integer().to_i32() {
                        Some(small)
                            if exponent.is_integer() && bits(&base) * u64::from(small.unsigned_abs()) <= EXACT_BITS =>
                        {
                            base.pow(small)
                        }
                        _ => {
                            let (base, exponent) = (to_f64(&base), to_f64(&exponent));
                            exact(base.powf(exponent), None)?
                        }
                    }
                }
                Node::Call(function, list) => {
                    let arguments: Vec<BigRational> = list.iter().map(|id| get(*id)).collect();
                    match (function, &arguments[..]) {
                        (Function::Abs, [only]) => only.abs(),
                        (Function::Sign, [only]) => only.signum(),
                        (Function::Floor, [only]) => only.floor(),
                        (Function::Min, [first, rest @ ..]) => rest.iter().fold(first.clone(), |a, b| a.min(b.clone())),
                        (Function::Max, [first, rest @ ..]) => rest.iter().fold(first.clone(), |a, b| a.max(b.clone())),
                        (Function::Step | Function::Pulse | Function::Ramp | Function::Int | Function::Der, _) => {
                            return Err(Evaluated::NotFinite(Some(*function)));
                        }
                        _ => {
                            let arguments: Vec<f64> = arguments.iter().map(to_f64).collect();
                            exact(call_f64(*function, &arguments, f64::NAN), Some(*function))?
                        }
                    }
                }
                Node::Relation(relation, a, b) => {
                    let (a, b) = (get(*a), get(*b));
                    let truth = match relation {
                        Relation::Less => a < b,
                        Relation::LessEqual => a <= b,
                        Relation::Greater => a > b,
                        Relation::GreaterEqual => a >= b,
                        Relation::Equal => a == b,
                        Relation::NotEqual => a != b,
                        Relation::And => !a.is_zero() && !b.is_zero(),
                        Relation::Or => !a.is_zero() || !b.is_zero(),
                    };
                    if truth { BigRational::one() } else { BigRational::zero() }
                }
                Node::Not(a) => {
                    if get(*a).is_zero() {
                        BigRational::one()
                    } else {
                        BigRational::zero()
                    }
                }
                Node::If(c, a, b) => {
                    if get(*c).is_zero() {
                        get(*b)
                    } else {
                        get(*a)
                    }
                }
            })
        })
    }
}

/// The numbers in one; an error where they leave the range of doubles.
fn combined(mut folding: Folding, mut numbers: impl Iterator<Item = BigRational>) -> Result<BigRational, Evaluated> {
    match numbers.all(|number| folding.takes(&number)) {
        true => Ok(folding.number),
        false => Err(Evaluated::NotFinite(None)),
    }
}

/// The nearest double of an exact number; infinite only beyond the range of doubles.
pub fn to_f64(value: &BigRational) -> f64 {
    value.to_f64().unwrap_or(f64::NAN)
}

fn relate(relation: Relation, a: f64, b: f64) -> f64 {
    f64::from(match relation {
        Relation::Less => a < b,
        Relation::LessEqual => a <= b,
        Relation::Greater => a > b,
        Relation::GreaterEqual => a >= b,
        Relation::Equal => a == b,
        Relation::NotEqual => a != b,
        Relation::And => a != 0.0 && b != 0.0,
        Relation::Or => a != 0.0 || b != 0.0,
    })
}

fn call_f64(function: Function, arguments: &[f64], time: f64) -> f64 {
    let first = arguments.first().copied().unwrap_or(f64::NAN);
    let second = arguments.get(1).copied().unwrap_or(f64::NAN);
    match function {
        Function::Sin => first.sin(),
        Function::Cos => first.cos(),
        Function::Tan => first.tan(),
        Function::Asin => first.asin(),
        Function::Acos => first.acos(),
        Function::Atan => first.atan(),
        Function::Atan2 => first.atan2(second),
        Function::Sinh => first.sinh(),
        Function::Cosh => first.cosh(),
        Function::Tanh => first.tanh(),
        Function::Exp => first.exp(),
        Function::Log => first.ln(),
        Function::Sqrt => first.sqrt(),
        Function::Abs => first.abs(),
        Function::Sign => {
            if first == 0.0 {
                0.0
            } else {
                first.signum()
            }
        }
        Function::Min => arguments.iter().copied().fold(f64::INFINITY, f64::min),
        Function::Max => arguments.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        Function::Floor => first.floor(),
        Function::Step => f64::from(time >= first),
        Function::Pulse => f64::from(time >= first && time < first + second),
        Function::Ramp => (time - first).max(0.0),
        Function::Int | Function::Der => f64::NAN,
    }
}
