//! Conversion of expressions to field elements: the meaning of the variables of rational functions.

use super::rational::rational_function::RationalFunction;
use super::{Field, PrimeField};
use crate::expr::{Evaluated, ExprId, Exprs, Function, Node, square_free};
use crate::from_expression::{FromExpression, half_power};
use crate::rational::kernels::{Kernels, Meaning};
use crate::rational::rational_functions::RationalFunctions;
use num_rational::BigRational;
use num_traits::Signed;

/// Returns the parts of an expression from which its element is computed.
fn parts(exprs: &Exprs, id: ExprId) -> &[ExprId] {
    match exprs.node(id) {
        Node::Sum(list) | Node::Product(list) | Node::Call(Function::Sqrt, list) => list,
        Node::Power(base, exponent) if half_power(exprs, *exponent).is_some() => std::slice::from_ref(base),
        _ => &[],
    }
}

impl FromExpression for RationalFunctions {
    fn from_expression(&mut self, exprs: &Exprs, root: ExprId) -> Result<RationalFunction, Evaluated> {
        if let Some(known) = self.memo.get(&root) {
            return Ok(known.clone());
        }
        let mut stack = vec![root];
        while let Some(&id) = stack.last() {
            if self.memo.contains_key(&id) {
                stack.pop();
                continue;
            }
            let before = stack.len();
            for part in parts(exprs, id) {
                if !self.memo.contains_key(part) {
                    stack.push(*part);
                }
            }
            if stack.len() > before {
                continue;
            }
            stack.pop();
            let value = self.combine(exprs, id)?;
            self.memo.insert(id, value);
        }
        Ok(self.memo[&root].clone())
    }
}

impl RationalFunctions {
    /// Returns the element of one node from the elements of its parts.
    fn combine(&mut self, exprs: &Exprs, id: ExprId) -> Result<RationalFunction, Evaluated> {
        match exprs.node(id) {
            Node::Number(value) => Ok(RationalFunction::number(value)),
            Node::Sum(list) => {
                let mut values: Vec<RationalFunction> = list.iter().map(|part| self.memo[part].clone()).collect();
                // By halves, so that a long sum of fractions grows evenly.
                while values.len() > 1 {
                    values = values
                        .chunks(2)
                        .map(|pair| match pair {
                            [a, b] => self.add(a, b),
                            _ => pair[0].clone(),
                        })
                        .collect();
                }
                Ok(values.swap_remove(0))
            }
            Node::Product(list) => {
                let mut product = self.one();
                for part in list {
                    let factor = self.memo[part].clone();
                    product = self.mul(&product, &factor);
                }
                Ok(product)
            }
            Node::Power(base, exponent) => {
                let Some(doubled) = half_power(exprs, *exponent) else {
                    return Ok(self.opaque(exprs, id));
                };
                let mut value = self.memo[base].clone();
                if doubled < 0 && self.is_zero(&value) && !self.exhausted() {
                    return Err(Evaluated::DivisionByZero);
                }
                let mut power = doubled / 2;
                if doubled % 2 != 0 {
                    value = self.square_root(exprs, *base, &value);
                    power = doubled;
                }
                Ok(self.power(&value, power))
            }
            Node::Call(Function::Sqrt, list) => {
                let value = self.memo[&list[0]].clone();
                Ok(self.square_root(exprs, list[0], &value))
            }
            _ => Ok(self.opaque(exprs, id)),
        }
    }

    /// Returns the variable for an expression that is not a rational function of symbols.
    fn opaque(&mut self, exprs: &Exprs, id: ExprId) -> RationalFunction {
        let variable = match exprs.node(id) {
            Node::Symbol(symbol) => Kernels::symbol(*symbol),
            Node::Call(function, list) if Kernels::partner(*function).is_some() => {
                let images = self.images.pair(exprs, *function, list[0]);
                self.kernels.paired(*function, list[0], images)
            }
            _ => {
                let image = self.images.from_expression(exprs, id).ok();
                self.kernels.variable(Meaning::Opaque(id), image)
            }
        };
        RationalFunction::variable(variable)
    }

    fn square_root(&mut self, exprs: &Exprs, argument: ExprId, value: &RationalFunction) -> RationalFunction {
        if let Some(number) = value.as_number().filter(|number| !number.is_negative())
            && let Some((outside, primes)) = square_free(&number)
        {
            let mut root = RationalFunction::number(&outside);
            for prime in primes {
                let root_of_prime = self.images.root(prime);
                let variable = self.kernels.variable(Meaning::Root(prime), Some(root_of_prime));
                let square = RationalFunction::number(&BigRational::from_integer(prime.into()));
                self.kernels.squares.entry(variable).or_insert(square);
                root = self.mul(&root, &RationalFunction::variable(variable));
            }
            return root;
        }
        // The square root of a nonsquare number also gets a variable; its square is that number.
        let has_square = value.as_number().is_some() || !looks_like_a_square(value);
        let image = self.images.from_expression(exprs, argument).ok().filter(|_| has_square);
        let image = image.map(|image| self.images.root(image));
        let variable = self.kernels.variable(Meaning::Call(Function::Sqrt, argument), image);
        if has_square && !self.budget.exhausted() {
            self.kernels.squares.entry(variable).or_insert_with(|| value.clone());
        }
        RationalFunction::variable(variable)
    }
}

/// Returns true if a function seems to be a square, because its values at twenty sampled points are squares. The root of a square,
/// `sqrt(a^2)`, is `abs(a)`: it is not a new quantity, and no rule for its square is safe.
fn looks_like_a_square(f: &RationalFunction) -> bool {
    (1..=20).all(|seed| {
        f.evaluate_prime(|variable| PrimeField.sample(u64::from(variable.0), seed))
            .is_some_and(|value| PrimeField.root(value).is_some())
    })
}
