//! Tests whether two expressions are equal, by their values at random points modulo primes.
//!
//! Sines and cosines are elements of a group of rotations, so that the addition theorems hold. Values of other functions depend only on the
//! values of their arguments. Expressions that differ agree at all points with a chance of about one in 2^66.

use crate::PrimeField;
use crate::expr::{ExprId, Exprs, Function, Node, SymbolId};
use crate::field::{hashed, raised};
use crate::rotations::{ANGLES, turned};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{Signed, ToPrimitive};
use rustc_hash::FxHashSet;
use std::convert::Infallible;
use std::hash::Hash;

/// The moduli of a value, and of an angle inside sines and cosines. Both are 3 modulo 4, so that -1 has no square root, and each value has
/// a sign.
const MODULI: [u64; 2] = [PrimeField::MODULUS, ANGLES];

/// The number of points at which two expressions are compared, without and with roots: the signs of symbols distinguish roots.
const POINTS: (usize, usize) = (2, 10);

/// The maximum number of points tried: at some points, roots have no value.
const TRIED: u64 = 64;

/// The maximum number of symbols in denominators that are set to 0.
const ZEROS: usize = 32;

/// Returns true if two expressions have the same values wherever the first one has a value.
pub fn are_equal(exprs: &Exprs, a: ExprId, b: ExprId) -> bool {
    if a == b {
        return true;
    }
    let parts = exprs.reachable(&[a, b]);
    let wanted = match parts.iter().any(|id| is_root(exprs, *id)) {
        true => POINTS.1,
        false => POINTS.0,
    };
    let mut compared = 0;
    for seed in 0..TRIED {
        match (Point { seed, zero: None }).values(exprs, a, b) {
            (Some(one), Some(other)) if one == other => compared += 1,
            (Some(_), _) => return false,
            (None, _) => {}
        }
        if compared == wanted {
            return new_denominators(exprs, a, b).into_iter().all(|symbol| {
                let zero = Some(symbol);
                let (one, other) = Point { seed, zero }.values(exprs, a, b);
                one.is_none() || one == other
            });
        }
    }
    false
}

/// Returns the symbols in those denominators of the second expression that the first one does not contain.
fn new_denominators(exprs: &Exprs, a: ExprId, b: ExprId) -> Vec<SymbolId> {
    let of = |root: ExprId| -> FxHashSet<ExprId> {
        let below = exprs
            .reachable(&[root])
            .into_iter()
            .filter_map(|id| match exprs.node(id) {
                Node::Power(base, exponent) if exprs.as_number(*exponent).is_none_or(Signed::is_negative) => {
                    Some(*base)
                }
                _ => None,
            });
        below.collect()
    };
    let (old, new) = (of(a), of(b));
    let roots: Vec<ExprId> = new.difference(&old).copied().collect();
    let mut symbols: Vec<SymbolId> = exprs.symbols_of(&roots).into_iter().collect();
    symbols.sort_unstable();
    symbols.truncate(ZEROS);
    symbols
}

fn is_root(exprs: &Exprs, id: ExprId) -> bool {
    match exprs.node(id) {
        Node::Call(function, _) => matches!(function, Function::Sqrt | Function::Abs),
        Node::Power(_, exponent) => doubled(exprs, *exponent).is_some_and(|doubled| doubled % 2 != 0),
        _ => false,
    }
}

/// Returns twice an exponent that is an integer or half of an integer.
fn doubled(exprs: &Exprs, exponent: ExprId) -> Option<i64> {
    let doubled = exprs.as_number(exponent)? * BigRational::from_integer(BigInt::from(2));
    match doubled.is_integer() {
        true => doubled.to_integer().to_i32().map(i64::from),
        false => None,
    }
}

/// A value modulo the first prime, and its residue inside sines and cosines modulo the second prime.
type Residues = [u64; 2];

fn times(a: u64, b: u64, modulus: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(modulus)) as u64
}

fn plus(a: u64, b: u64, modulus: u64) -> u64 {
    (a + b) % modulus
}

fn minus(a: u64, modulus: u64) -> u64 {
    (modulus - a) % modulus
}

fn power(base: u64, exponent: u64, modulus: u64) -> u64 {
    raised(base, exponent, 1, |a, b| times(a, b, modulus))
}

/// Returns the inverse; `None` for 0.
fn inverse(a: u64, modulus: u64) -> Option<u64> {
    (a != 0).then(|| power(a, modulus - 2, modulus))
}

/// Returns the square root that is itself a square; `None` if no root exists.
fn root(a: u64, modulus: u64) -> Option<u64> {
    let root = power(a, modulus.div_ceil(4), modulus);
    (times(root, root, modulus) == a).then_some(root)
}

fn residue(value: &BigInt, modulus: u64) -> u64 {
    let rest = (value % BigInt::from(modulus)).to_i64();
    let rest = rest.expect("invariant: a rest is smaller than its modulus, which has 61 bits");
    match rest < 0 {
        true => (rest + modulus as i64) as u64,
        false => rest as u64,
    }
}

/// A random point.
#[derive(Clone, Copy)]
struct Point {
    /// At the first point all symbols are squares and therefore positive; at the second point none is.
    seed: u64,
    zero: Option<SymbolId>,
}

impl Point {
    /// Returns the values of both expressions; `None` for an expression that divides by 0 or requires a nonexistent root.
    fn values(self, exprs: &Exprs, a: ExprId, b: ExprId) -> (Option<u64>, Option<u64>) {
        let values = exprs.fold(&[a, b], |_, node, of: &dyn Fn(ExprId) -> Option<Residues>| {
            Ok::<_, Infallible>(self.value(exprs, node, of))
        });
        let Ok(values) = values;
        let value = |k: usize| values[k].map(|residues| residues[0]);
        (value(0), value(1))
    }

    /// Returns a pseudo-random value for a key, independent in each field.
    fn opaque(self, key: impl Hash + Copy) -> Residues {
        [0, 1].map(|k: usize| hashed((self.seed, k, key)) % MODULI[k])
    }

    fn symbol(self, symbol: SymbolId) -> Residues {
        if self.zero == Some(symbol) {
            return [0, 0];
        }
        let random = self.opaque((0, symbol));
        let is_negative = match self.seed {
            0 => false,
            1 => true,
            _ => random[0] % 2 == 1,
        };
        [0, 1].map(|k| {
            let square = times(random[k], random[k], MODULI[k]);
            if is_negative { minus(square, MODULI[k]) } else { square }
        })
    }

    fn value(self, exprs: &Exprs, node: &Node, of: &dyn Fn(ExprId) -> Option<Residues>) -> Option<Residues> {
        // Only the first residue is the value of the expression.
        let value = |part: ExprId| of(part).map(|residues| residues[0]);
        let each = |list: &[ExprId], start: u64, join: fn(u64, u64, u64) -> u64| {
            list.iter().try_fold([start; 2], |all, part| {
                let part = of(*part)?;
                Some([0, 1].map(|k| join(all[k], part[k], MODULI[k])))
            })
        };
        match node {
            Node::Number(value) => {
                let mut found = [0; 2];
                for (k, modulus) in MODULI.into_iter().enumerate() {
                    let below = inverse(residue(value.denom(), modulus), modulus)?;
                    found[k] = times(residue(value.numer(), modulus), below, modulus);
                }
                Some(found)
            }
            Node::Pi => Some(self.opaque(1)),
            Node::Symbol(symbol) => Some(self.symbol(*symbol)),
            Node::Sum(list) => each(list, 0, plus),
            Node::Product(list) => each(list, 1, times),
            Node::Power(base, exponent) => match doubled(exprs, *exponent) {
                Some(doubled) => self.raised(of(*base)?, doubled),
                None => Some(self.opaque((2, value(*base)?, value(*exponent)?))),
            },
            Node::Call(function, list) => {
                let arguments: Option<Vec<Residues>> = list.iter().map(|argument| of(*argument)).collect();
                self.call(*function, &arguments?)
            }
            Node::Relation(relation, a, b) => Some(self.opaque((3, *relation, value(*a)?, value(*b)?))),
            Node::Not(a) => Some(self.opaque((4, value(*a)?))),
            Node::If(condition, a, b) => Some(self.opaque((5, value(*condition)?, value(*a)?, value(*b)?))),
        }
    }

    /// Raises a value to half of `doubled`.
    fn raised(self, value: Residues, doubled: i64) -> Option<Residues> {
        let value = match doubled % 2 {
            0 => value,
            _ => self.rooted(value)?,
        };
        let exponent = if doubled % 2 == 0 { doubled / 2 } else { doubled };
        let mut found = [0; 2];
        for (k, modulus) in MODULI.into_iter().enumerate() {
            let base = match exponent < 0 {
                true => inverse(value[k], modulus)?,
                false => value[k],
            };
            found[k] = power(base, exponent.unsigned_abs(), modulus);
        }
        Some(found)
    }

    /// Returns the root. Inside sines and cosines, a nonexistent root gets a value too.
    fn rooted(self, value: Residues) -> Option<Residues> {
        let inside = root(value[1], MODULI[1]).unwrap_or_else(|| self.opaque((6, value[0]))[1]);
        Some([root(value[0], MODULI[0])?, inside])
    }

    fn call(self, function: Function, arguments: &[Residues]) -> Option<Residues> {
        // The residue inside a sine follows from the value.
        let inside = |value: u64| [value, self.opaque((7, value))[1]];
        let modulus = MODULI[0];
        match (function, arguments) {
            (Function::Sqrt, [value]) => self.rooted(*value),
            (Function::Abs, [value]) => Some([0, 1].map(|k| match root(value[k], MODULI[k]) {
                Some(_) => value[k],
                None => minus(value[k], MODULI[k]),
            })),
            (Function::Sin, [angle]) => Some(inside(turned(angle[1]).1)),
            (Function::Cos, [angle]) => Some(inside(turned(angle[1]).0)),
            (Function::Tan, [angle]) => {
                let (cosine, sine) = turned(angle[1]);
                Some(inside(times(sine, inverse(cosine, modulus)?, modulus)))
            }
            (Function::Sinh | Function::Cosh, [argument]) => {
                // From the tangent of half of it, so that the squares differ by 1.
                let half = self.opaque((8, argument[0]))[0];
                let square = times(half, half, modulus);
                let below = inverse(plus(1, minus(square, modulus), modulus), modulus)?;
                let above = match function {
                    Function::Sinh => plus(half, half, modulus),
                    _ => plus(1, square, modulus),
                };
                Some(inside(times(above, below, modulus)))
            }
            (function, arguments) => {
                let key = arguments
                    .iter()
                    .fold(hashed(function), |key, argument| hashed((key, argument[0])));
                Some(self.opaque((9, key)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Relation, SymbolKind};

    struct Symbols {
        exprs: Exprs,
        a: ExprId,
        b: ExprId,
        two: ExprId,
    }

    fn symbols() -> Symbols {
        let mut exprs = Exprs::default();
        let [a, b] = ["a", "b"].map(|name| {
            let symbol = exprs.new_symbol(name, SymbolKind::Parameter);
            exprs.symbol(symbol)
        });
        let two = exprs.integer(2);
        Symbols { exprs, a, b, two }
    }

    #[test]
    fn products_and_denominators() {
        let Symbols { mut exprs, a, b, two } = symbols();
        let (sum, difference) = (exprs.add(a, b), exprs.sub(a, b));
        let product = exprs.mul(sum, difference);
        let squares = [exprs.power(a, two), exprs.power(b, two)];
        let of_squares = exprs.sub(squares[0], squares[1]);
        assert!(are_equal(&exprs, product, of_squares));
        assert!(!are_equal(&exprs, product, sum));
        // A term of 1e-30 is detected.
        let small = exprs.number(BigRational::new(1.into(), BigInt::from(10).pow(30)));
        let small = exprs.mul(small, b);
        let other = exprs.add(product, small);
        assert!(!are_equal(&exprs, other, of_squares));
        // A ratio without a value at 0 does not equal a sum with one.
        let ratio = exprs.div(b, a);
        let one = exprs.one();
        let inner = exprs.add(one, ratio);
        let taken_out = exprs.mul(a, inner);
        assert!(!are_equal(&exprs, sum, taken_out));
        assert!(are_equal(&exprs, taken_out, sum));
    }

    #[test]
    fn sums_and_doubles_of_angles() {
        let Symbols { mut exprs, a, b, two } = symbols();
        let call = |exprs: &mut Exprs, function, id| exprs.call(function, [id]);
        let twice = exprs.mul(two, a);
        let (sine, cosine) = (call(&mut exprs, Function::Sin, a), call(&mut exprs, Function::Cos, a));
        let of_twice = call(&mut exprs, Function::Sin, twice);
        let product = exprs.product([two, sine, cosine]);
        assert!(are_equal(&exprs, of_twice, product));
        let wrong = exprs.mul(sine, cosine);
        assert!(!are_equal(&exprs, of_twice, wrong));
        let tangent = call(&mut exprs, Function::Tan, a);
        let ratio = exprs.div(sine, cosine);
        assert!(are_equal(&exprs, tangent, ratio));
        let sum = exprs.add(a, b);
        let of_sum = call(&mut exprs, Function::Cos, sum);
        let others = (call(&mut exprs, Function::Sin, b), call(&mut exprs, Function::Cos, b));
        let (cosines, sines) = (exprs.mul(cosine, others.1), exprs.mul(sine, others.0));
        let (difference, wrong) = (exprs.sub(cosines, sines), exprs.add(cosines, sines));
        assert!(are_equal(&exprs, of_sum, difference));
        assert!(!are_equal(&exprs, of_sum, wrong));
    }

    #[test]
    fn roots_have_signs() {
        let Symbols { mut exprs, a, b, two } = symbols();
        let square = exprs.power(a, two);
        let root = exprs.call(Function::Sqrt, [square]);
        let absolute = exprs.call(Function::Abs, [a]);
        assert!(!are_equal(&exprs, root, a));
        assert!(are_equal(&exprs, root, absolute));
        let product = exprs.mul(a, b);
        let of_product = exprs.call(Function::Sqrt, [product]);
        let roots = [exprs.call(Function::Sqrt, [a]), exprs.call(Function::Sqrt, [b])];
        let of_each = exprs.product(roots);
        assert!(!are_equal(&exprs, of_product, of_each));
        assert!(are_equal(&exprs, of_each, of_product));
        let squared = exprs.power(roots[0], two);
        assert!(are_equal(&exprs, squared, a));
    }

    #[test]
    fn other_functions_have_the_values_of_their_arguments() {
        let Symbols { mut exprs, a, b, .. } = symbols();
        let product = exprs.mul(a, b);
        let ratio = exprs.div(product, b);
        for function in [Function::Exp, Function::Log, Function::Cosh] {
            let [one, other, third] = [ratio, a, b].map(|id| exprs.call(function, [id]));
            assert!(are_equal(&exprs, one, other));
            assert!(!are_equal(&exprs, one, third));
        }
        let condition = exprs.relation(Relation::Less, a, b);
        let (one, other) = (exprs.if_else(condition, ratio, b), exprs.if_else(condition, a, b));
        assert!(are_equal(&exprs, one, other));
        let other = exprs.if_else(condition, b, a);
        assert!(!are_equal(&exprs, one, other));
    }
}
