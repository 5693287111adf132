//! From expressions to field elements: what the variables of rational functions stand for, and one way to read an
//! expression that all exact fields share.

use super::polynomials::integer::modulo_prime;
use super::rational::rational_function::RationalFunction;
use super::{Field, PrimeField};
use crate::expr::{Evaluated, ExprId, Exprs, Function, Node, SymbolId};
use crate::kernels::{Kernels, Meaning};
use crate::rational::rational_functions::RationalFunctions;
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{Signed, ToPrimitive};
use rustc_hash::FxHashMap;

/// A field whose elements expressions can be read as.
///
/// Results are memoised by [`ExprId`], so that one context serves one arena of expressions (or that arena grown).
pub trait FromExpression: Field {
    /// The element that an expression is.
    #[allow(clippy::wrong_self_convention)] // The context is what reads; no element is converted from it.
    fn from_expression(&mut self, exprs: &Exprs, id: ExprId) -> Result<Self::Element, Evaluated>;
}

/// What reading an expression takes besides the field's own operations.
trait Interpret: Field {
    fn memo(&mut self) -> &mut FxHashMap<ExprId, Self::Element>;
    fn number(&mut self, value: &BigRational) -> Result<Self::Element, Evaluated>;
    fn opaque(&mut self, exprs: &Exprs, id: ExprId) -> Self::Element;
    fn square_root(&mut self, argument: ExprId, value: &Self::Element) -> Self::Element;
    fn integer_power(&mut self, base: &Self::Element, exponent: i32) -> Self::Element;
}

/// Twice the exponent of a power that is a power of the base or of its square root.
fn half_power(exprs: &Exprs, exponent: ExprId) -> Option<i32> {
    let doubled = exprs.as_number(exponent)? * BigRational::from_integer(BigInt::from(2));
    if !doubled.is_integer() {
        return None;
    }
    doubled.to_integer().to_i32().filter(|doubled| doubled.abs() <= 1 << 12)
}

/// The parts of an expression that its element is computed from.
fn parts(exprs: &Exprs, id: ExprId) -> &[ExprId] {
    match exprs.node(id) {
        Node::Sum(list) | Node::Product(list) | Node::Call(Function::Sqrt, list) => list,
        Node::Power(base, exponent) if half_power(exprs, *exponent).is_some() => std::slice::from_ref(base),
        _ => &[],
    }
}

fn interpret<C: Interpret>(context: &mut C, exprs: &Exprs, root: ExprId) -> Result<C::Element, Evaluated> {
    if let Some(known) = context.memo().get(&root) {
        return Ok(known.clone());
    }
    let mut stack = vec![root];
    while let Some(&id) = stack.last() {
        if context.memo().contains_key(&id) {
            stack.pop();
            continue;
        }
        let before = stack.len();
        for part in parts(exprs, id) {
            if !context.memo().contains_key(part) {
                stack.push(*part);
            }
        }
        if stack.len() > before {
            continue;
        }
        stack.pop();
        let value = combine(context, exprs, id)?;
        context.memo().insert(id, value);
    }
    Ok(context.memo()[&root].clone())
}

/// The element of one node, those of its parts being known.
fn combine<C: Interpret>(context: &mut C, exprs: &Exprs, id: ExprId) -> Result<C::Element, Evaluated> {
    match exprs.node(id) {
        Node::Number(value) => context.number(value),
        Node::Sum(list) => {
            let mut values: Vec<C::Element> = list.iter().map(|part| context.memo()[part].clone()).collect();
            // By halves, so that a long sum of fractions grows evenly.
            while values.len() > 1 {
                values = values
                    .chunks(2)
                    .map(|pair| match pair {
                        [a, b] => context.add(a, b),
                        _ => pair[0].clone(),
                    })
                    .collect();
            }
            Ok(values.swap_remove(0))
        }
        Node::Product(list) => {
            let mut product = context.one();
            for part in list {
                let factor = context.memo()[part].clone();
                product = context.mul(&product, &factor);
            }
            Ok(product)
        }
        Node::Power(base, exponent) => {
            let Some(doubled) = half_power(exprs, *exponent) else {
                return Ok(context.opaque(exprs, id));
            };
            let mut value = context.memo()[base].clone();
            if doubled < 0 && context.is_zero(&value) && !context.exhausted() {
                return Err(Evaluated::DivisionByZero);
            }
            let mut power = doubled / 2;
            if doubled % 2 != 0 {
                value = context.square_root(*base, &value);
                power = doubled;
            }
            Ok(context.integer_power(&value, power))
        }
        Node::Call(Function::Sqrt, list) => {
            let value = context.memo()[&list[0]].clone();
            Ok(context.square_root(list[0], &value))
        }
        _ => Ok(context.opaque(exprs, id)),
    }
}

impl Interpret for RationalFunctions {
    fn memo(&mut self) -> &mut FxHashMap<ExprId, RationalFunction> {
        &mut self.memo
    }
    fn number(&mut self, value: &BigRational) -> Result<RationalFunction, Evaluated> {
        Ok(RationalFunction::number(value))
    }
    fn opaque(&mut self, exprs: &Exprs, id: ExprId) -> RationalFunction {
        let variable = match exprs.node(id) {
            Node::Symbol(symbol) => Kernels::symbol(*symbol),
            Node::Call(function, list) if Kernels::partner(*function).is_some() => {
                self.kernels.paired(*function, list[0])
            }
            _ => self.kernels.variable(Meaning::Opaque(id)),
        };
        RationalFunction::variable(variable)
    }
    fn square_root(&mut self, argument: ExprId, value: &RationalFunction) -> RationalFunction {
        let variable = self.kernels.variable(Meaning::Call(Function::Sqrt, argument));
        let number = value.as_number();
        if let Some(number) = number.as_ref().filter(|number| !number.is_negative()) {
            let root = BigRational::new(number.numer().sqrt(), number.denom().sqrt());
            if &root * &root == *number {
                return RationalFunction::number(&root);
            }
        }
        // A number that is no square has a square root all the same; its square is that number.
        if (number.is_some() || !looks_like_a_square(value)) && !self.budget.exhausted() {
            self.kernels.squares.entry(variable).or_insert_with(|| value.clone());
        }
        RationalFunction::variable(variable)
    }
    fn integer_power(&mut self, base: &RationalFunction, exponent: i32) -> RationalFunction {
        self.power(base, exponent)
    }
}

/// The root of a square, `sqrt(a^2)`, is `abs(a)`: no new quantity, and no rule for its square is safe. A function
/// whose value is a square at twenty sampled points is taken to be one.
fn looks_like_a_square(f: &RationalFunction) -> bool {
    (1..=20).all(|seed| {
        f.evaluate_prime(|variable| PrimeField.sample(u64::from(variable.0), seed))
            .is_some_and(|value| PrimeField.power(value, (PrimeField::MODULUS - 1) / 2) == 1)
    })
}

impl FromExpression for RationalFunctions {
    fn from_expression(&mut self, exprs: &Exprs, id: ExprId) -> Result<RationalFunction, Evaluated> {
        interpret(self, exprs, id)
    }
}

/// The prime field with a sampled value for each symbol and each transcendental subexpression, where generic rank is
/// decided: expressions that are equal as functions have equal elements.
#[derive(Clone, Debug)]
pub struct Sampled {
    seed: u64,
    memo: FxHashMap<ExprId, u64>,
    given: FxHashMap<SymbolId, u64>,
}

impl Sampled {
    /// A sampled point; another seed is another point.
    pub fn new(seed: u64) -> Sampled {
        Sampled {
            seed,
            memo: FxHashMap::default(),
            given: FxHashMap::default(),
        }
    }

    /// A sampled point at which some symbols have the values given.
    pub fn with_given(seed: u64, given: FxHashMap<SymbolId, u64>) -> Sampled {
        Sampled {
            given,
            ..Sampled::new(seed)
        }
    }

    /// The value of a symbol, if none was given. It is a square, so that the roots of products of symbols have values as well.
    pub fn symbol(&self, symbol: SymbolId) -> u64 {
        let given = self.given.get(&symbol).copied();
        given.unwrap_or_else(|| self.value(0, u64::from(symbol.0)))
    }

    fn value(&self, kind: u64, index: u64) -> u64 {
        let value = PrimeField.sample(index + (kind << 40), self.seed);
        PrimeField.mul(&value, &value)
    }

    /// sin or cos from the half angle's tangent, so that their squares add up to 1; likewise sinh and cosh.
    fn paired(&self, function: Function, argument: ExprId) -> u64 {
        let mut field = PrimeField;
        let kind = if matches!(function, Function::Sin | Function::Cos) {
            2
        } else {
            3
        };
        let tangent = self.value(kind, u64::from(argument.0));
        let square = field.mul(&tangent, &tangent);
        let (plus, minus) = (field.add(&1, &square), field.sub(&1, &square));
        let twice = field.add(&tangent, &tangent);
        match function {
            Function::Sin => field.div(&twice, &plus),
            Function::Cos => field.div(&minus, &plus),
            Function::Sinh => field.div(&twice, &minus),
            _ => field.div(&plus, &minus),
        }
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

impl Interpret for Sampled {
    fn memo(&mut self) -> &mut FxHashMap<ExprId, u64> {
        &mut self.memo
    }
    fn number(&mut self, value: &BigRational) -> Result<u64, Evaluated> {
        let denominator = modulo_prime(value.denom());
        if denominator == 0 {
            // Only a number made to have this prime in its denominator comes here; any value but 0 will do.
            return Ok(self.value(4, modulo_prime(value.numer())));
        }
        Ok(PrimeField.div(&modulo_prime(value.numer()), &denominator))
    }
    fn opaque(&mut self, exprs: &Exprs, id: ExprId) -> u64 {
        match exprs.node(id) {
            Node::Symbol(symbol) => self.symbol(*symbol),
            Node::Call(function, list) if Kernels::partner(*function).is_some() => self.paired(*function, list[0]),
            _ => self.value(1, u64::from(id.0)),
        }
    }
    fn square_root(&mut self, argument: ExprId, value: &u64) -> u64 {
        // The modulus is 3 modulo 4, so a square has the root below, and these roots are multiplicative.
        let root = PrimeField.power(*value, PrimeField::MODULUS.div_ceil(4));
        if PrimeField.mul(&root, &root) == *value {
            root
        } else {
            self.value(5, u64::from(argument.0))
        }
    }
    fn integer_power(&mut self, base: &u64, exponent: i32) -> u64 {
        let power = PrimeField.power(*base, u64::from(exponent.unsigned_abs()));
        if exponent < 0 { PrimeField.invert(&power) } else { power }
    }
}

impl FromExpression for Sampled {
    fn from_expression(&mut self, exprs: &Exprs, id: ExprId) -> Result<u64, Evaluated> {
        interpret(self, exprs, id)
    }
}
