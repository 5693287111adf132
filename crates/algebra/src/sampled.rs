//! The prime field with sampled values, in which rank is decided.

use crate::expr::{Evaluated, ExprId, Exprs, Function, Node, SymbolId};
use crate::field::{Field, PrimeField, hashed};
use crate::from_expression::{FromExpression, half_power};
use crate::rotations::Angle;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};
use rustc_hash::FxHashMap;
use std::hash::Hash;

/// The prime field with a sampled value for each symbol and each transcendental subexpression, in which generic rank is decided:
/// expressions that are equal as functions have equal elements.
///
/// Cosines, sines and tangents come from a group of rotations, and roots of integers agree with them: `cos(2*pi/3)` is -1/2, `2*cos(pi/6)`
/// is `sqrt(3)`, and three phases add up to 0 at any angle.
#[derive(Clone, Debug)]
pub struct Sampled {
    seed: u64,
    memo: FxHashMap<ExprId, Result<u64, Evaluated>>,
    angles: FxHashMap<ExprId, Angle>,
    given: FxHashMap<SymbolId, (u64, Angle)>,
    /// The numeric values of symbols, used to decide conditions.
    numbers: FxHashMap<SymbolId, BigRational>,
}

/// The value of an expression for the given numbers.
enum Decided {
    Same(ExprId),
    Opposite(ExprId),
    Number(BigRational),
}

impl Sampled {
    /// Creates a sampled point; each seed gives a different point.
    pub fn new(seed: u64) -> Sampled {
        Sampled {
            seed,
            memo: FxHashMap::default(),
            angles: FxHashMap::default(),
            given: FxHashMap::default(),
            numbers: FxHashMap::default(),
        }
    }

    /// Creates a sampled point at which some symbols have given values.
    pub fn with_given(seed: u64, given: FxHashMap<SymbolId, u64>) -> Sampled {
        let mut sampled = Sampled::new(seed);
        let with_angles = |(symbol, value): (SymbolId, u64)| (symbol, (value, Angle::other(hashed((seed, value)))));
        sampled.given = given.into_iter().map(with_angles).collect();
        sampled
    }

    /// Creates a sampled point at which symbols have given numbers; symbols defined by an expression, such as `2*pi/3`, have its value.
    pub fn at_numbers<'n>(
        seed: u64,
        exprs: &Exprs,
        entries: impl Iterator<Item = (SymbolId, &'n BigRational, Option<ExprId>)>,
    ) -> Sampled {
        let mut sampled = Sampled::new(seed);
        let mut pending = Vec::new();
        for (symbol, number, expression) in entries {
            sampled.numbers.insert(symbol, number.clone());
            match expression {
                Some(expression) => pending.push((symbol, expression)),
                None => sampled.give(symbol, number),
            }
        }
        // Each pass resolves the symbols that depend on known ones.
        while !pending.is_empty() {
            let before = pending.len();
            pending.retain(|(symbol, expression)| {
                let symbols = exprs.symbols_of(&[*expression]);
                if !symbols.iter().all(|symbol| sampled.given.contains_key(symbol)) {
                    return true;
                }
                if let Ok(value) = sampled.value(exprs, *expression) {
                    let angle = sampled.angle(exprs, *expression);
                    sampled.given.insert(*symbol, (value, angle));
                }
                !sampled.given.contains_key(symbol)
            });
            if pending.len() == before {
                for (symbol, _) in std::mem::take(&mut pending) {
                    let number = sampled.numbers[&symbol].clone();
                    sampled.give(symbol, &number);
                }
            }
        }
        sampled
    }

    fn give(&mut self, symbol: SymbolId, number: &BigRational) {
        let value = (PrimeField.reduce(number), Angle::number(number));
        self.given.insert(symbol, value);
    }

    /// Returns the sampled value of a symbol that was not given. It is a square, so that the roots of products of symbols have values as
    /// well.
    pub fn symbol(&self, symbol: SymbolId) -> u64 {
        let given = self.given.get(&symbol).map(|given| given.0);
        given.unwrap_or_else(|| self.opaque((0, symbol.0)))
    }

    /// Returns a pseudo-random value for a key.
    fn opaque(&self, key: impl Hash) -> u64 {
        let value = PrimeField.sample(hashed(key), self.seed);
        PrimeField.mul(&value, &value)
    }

    /// Decides an expression that is not defined over fields, if all numbers in it are given.
    fn decided(&self, exprs: &Exprs, id: ExprId) -> Option<Decided> {
        let numbers = |list: &[ExprId]| {
            let value = |symbol: SymbolId| self.numbers.get(&symbol).cloned();
            exprs.evaluate_exact(list, &value).ok()
        };
        Some(match exprs.node(id) {
            Node::If(condition, a, b) => Decided::Same(if numbers(&[*condition])?[0].is_zero() { *b } else { *a }),
            Node::Call(Function::Abs, list) if numbers(list)?[0].is_negative() => Decided::Opposite(list[0]),
            Node::Call(Function::Abs, list) => Decided::Same(list[0]),
            Node::Call(Function::Min | Function::Max, list) => {
                let (all, wanted) = (numbers(list)?, numbers(&[id])?);
                let at = all.iter().position(|value| *value == wanted[0])?;
                Decided::Same(list[at])
            }
            Node::Relation(..)
            | Node::Not(_)
            | Node::Call(Function::Sign | Function::Floor | Function::Step | Function::Pulse | Function::Ramp, _) => {
                Decided::Number(numbers(&[id])?.swap_remove(0))
            }
            _ => return None,
        })
    }

    /// Returns the element of an expression.
    fn value(&mut self, exprs: &Exprs, root: ExprId) -> Result<u64, Evaluated> {
        if let Some(known) = self.memo.get(&root) {
            return known.clone();
        }
        for id in exprs.reachable_beyond(&[root], |id| self.memo.contains_key(&id)) {
            let value = self.combine(exprs, id);
            self.memo.insert(id, value);
        }
        self.memo[&root].clone()
    }

    /// Returns the element of one node from the elements of its parts.
    fn combine(&mut self, exprs: &Exprs, id: ExprId) -> Result<u64, Evaluated> {
        let field = &mut PrimeField;
        let of = |part: &ExprId| self.memo[part].clone();
        match exprs.node(id) {
            Node::Number(value) => Ok(field.reduce(value)),
            Node::Symbol(symbol) => Ok(self.symbol(*symbol)),
            Node::Pi => Ok(self.opaque(1)),
            Node::Sum(list) => list.iter().try_fold(0, |sum, part| Ok(field.add(&sum, &of(part)?))),
            Node::Product(list) => list
                .iter()
                .try_fold(1, |product, part| Ok(field.mul(&product, &of(part)?))),
            Node::Power(base, exponent) if half_power(exprs, *exponent).is_some() => {
                let doubled = half_power(exprs, *exponent).unwrap_or_default();
                let mut value = of(base)?;
                if doubled < 0 && value == 0 {
                    return Err(Evaluated::DivisionByZero);
                }
                let mut power = doubled / 2;
                if doubled % 2 != 0 {
                    (value, power) = (self.root(value), doubled);
                }
                let found = field.power(value, u64::from(power.unsigned_abs()));
                Ok(if power < 0 { field.invert(&found) } else { found })
            }
            Node::Call(Function::Sqrt, list) => Ok(self.root(of(&list[0])?)),
            Node::Call(function @ (Function::Sin | Function::Cos | Function::Tan), list) => {
                of(&list[0])?;
                let (cosine, sine) = self.angle(exprs, list[0]).rotation(&self.pi());
                match function {
                    Function::Sin => Ok(sine),
                    Function::Cos => Ok(cosine),
                    _ if cosine == 0 => Err(Evaluated::DivisionByZero),
                    _ => Ok(field.div(&sine, &cosine)),
                }
            }
            Node::Call(Function::Cosh, list) => Ok(self.hyperbolic(of(&list[0])?).0),
            Node::Call(Function::Sinh, list) => Ok(self.hyperbolic(of(&list[0])?).1),
            node => match self.decided(exprs, id) {
                Some(Decided::Same(part)) => of(&part),
                Some(Decided::Opposite(part)) => Ok(field.neg(&of(&part)?)),
                Some(Decided::Number(value)) => Ok(field.reduce(&value)),
                None => {
                    // Functions of the same values have the same value; if a part has none, the key is the expression itself.
                    let parts: Result<Vec<u64>, Evaluated> = node.children().map(|part| of(&part)).collect();
                    Ok(match (parts, node) {
                        (Err(_), _) => self.opaque((3, id.0)),
                        (Ok(parts), Node::Call(function, _)) => self.opaque((4, *function, parts)),
                        (Ok(parts), Node::Relation(relation, ..)) => self.opaque((5, *relation, parts)),
                        (Ok(parts), node) => self.opaque((6, std::mem::discriminant(node), parts)),
                    })
                }
            },
        }
    }

    /// Returns the root of a value, or a pseudo-random value if no root exists here.
    pub(crate) fn root(&self, value: u64) -> u64 {
        PrimeField.root(value).unwrap_or_else(|| self.opaque((7, value)))
    }

    /// Returns the even and the odd function of a pair: cosine and sine, or the hyperbolic ones.
    pub(crate) fn pair(&mut self, exprs: &Exprs, function: Function, argument: ExprId) -> Option<(u64, u64)> {
        let value = self.value(exprs, argument).ok()?;
        Some(match function {
            Function::Sin | Function::Cos => self.angle(exprs, argument).rotation(&self.pi()),
            _ => self.hyperbolic(value),
        })
    }

    /// Returns cosh and sinh, from the tangent of half the argument, so that their squares differ by 1.
    fn hyperbolic(&self, value: u64) -> (u64, u64) {
        let field = &mut PrimeField;
        let half = self.opaque((2, value));
        let square = field.mul(&half, &half);
        let below = field.sub(&1, &square);
        let [even, odd] = [field.add(&1, &square), field.add(&half, &half)].map(|above| field.div(&above, &below));
        (even, odd)
    }

    fn pi(&self) -> Angle {
        Angle::pi(hashed((self.seed, 8)))
    }

    /// Converts an expression to an angle.
    fn angle(&mut self, exprs: &Exprs, root: ExprId) -> Angle {
        if let Some(known) = self.angles.get(&root) {
            return known.clone();
        }
        for id in exprs.reachable_beyond(&[root], |id| self.angles.contains_key(&id)) {
            let angle = self.angle_of(exprs, id);
            self.angles.insert(id, angle);
        }
        self.angles[&root].clone()
    }

    /// Converts one node to an angle from the angles of its parts.
    fn angle_of(&mut self, exprs: &Exprs, id: ExprId) -> Angle {
        let of = |part: &ExprId| &self.angles[part];
        let found = match exprs.node(id) {
            Node::Number(value) => Some(Angle::number(value)),
            Node::Pi => Some(self.pi()),
            Node::Symbol(symbol) => self.given.get(symbol).map(|given| given.1.clone()),
            Node::Sum(list) => {
                let zero = Angle::number(&BigRational::zero());
                Some(list.iter().fold(zero, |sum, part| sum.add(of(part))))
            }
            Node::Product(list) => {
                let one = Angle::number(&BigRational::one());
                Some(list.iter().fold(one, |product, part| product.mul(of(part))))
            }
            Node::Power(base, exponent) => half_power(exprs, *exponent)
                .filter(|doubled| doubled % 2 == 0)
                .and_then(|doubled| of(base).power(doubled / 2)),
            _ => match self.decided(exprs, id) {
                Some(Decided::Same(part)) => Some(of(&part).clone()),
                Some(Decided::Number(value)) => Some(Angle::number(&value)),
                Some(Decided::Opposite(part)) => Some(of(&part).mul(&Angle::number(&-BigRational::one()))),
                None => None,
            },
        };
        // An expression that is not defined over fields is an angle identified by its value.
        found.unwrap_or_else(|| {
            let key = self.value(exprs, id).unwrap_or(u64::from(id.0));
            Angle::other(hashed((self.seed, 9, key)))
        })
    }
}

impl Field for Sampled {
    type Element = u64;

    fn zero(&self) -> u64 {
        0
    }
    fn one(&self) -> u64 {
        1
    }
    fn is_zero(&self, a: &u64) -> bool {
        *a == 0
    }
    fn add(&mut self, a: &u64, b: &u64) -> u64 {
        PrimeField.add(a, b)
    }
    fn mul(&mut self, a: &u64, b: &u64) -> u64 {
        PrimeField.mul(a, b)
    }
    fn neg(&mut self, a: &u64) -> u64 {
        PrimeField.neg(a)
    }
    fn invert(&mut self, a: &u64) -> u64 {
        PrimeField.invert(a)
    }
    fn pivot_cost(&self, a: &u64) -> f64 {
        PrimeField.pivot_cost(a)
    }
}

impl FromExpression for Sampled {
    fn from_expression(&mut self, exprs: &Exprs, id: ExprId) -> Result<u64, Evaluated> {
        self.value(exprs, id)
    }
}
