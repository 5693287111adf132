//! Rational functions as a field.

use super::rational_function::RationalFunction;
use crate::Field;
use crate::field::BlockSolution;
use crate::polynomials::gcd::gcd;
use crate::rational::fraction_free::solve_rational_functions;
use crate::rational::rational_functions::RationalFunctions;
use crate::row::Row;
use num_bigint::BigInt;

impl Field for RationalFunctions {
    type Element = RationalFunction;

    fn zero(&self) -> RationalFunction {
        RationalFunction::zero()
    }
    fn one(&self) -> RationalFunction {
        RationalFunction::one()
    }
    fn is_zero(&self, a: &RationalFunction) -> bool {
        a.is_zero()
    }
    fn add(&mut self, a: &RationalFunction, b: &RationalFunction) -> RationalFunction {
        self.add_or_sub(a, b, false)
    }
    fn sub(&mut self, a: &RationalFunction, b: &RationalFunction) -> RationalFunction {
        self.add_or_sub(a, b, true)
    }
    fn mul(&mut self, a: &RationalFunction, b: &RationalFunction) -> RationalFunction {
        if self.budget.exhausted() || a.is_zero() || b.is_zero() {
            return RationalFunction::zero();
        }
        let budget = &mut self.budget;
        let first = gcd(&a.numerator, &b.denominator, budget);
        let second = gcd(&b.numerator, &a.denominator, budget);
        let left = budget.quotient(&a.numerator, &first);
        let right = budget.quotient(&b.numerator, &second);
        let top = budget.mul(&left, &right);
        let left = budget.quotient(&a.denominator, &second);
        let right = budget.quotient(&b.denominator, &first);
        let bottom = budget.mul(&left, &right);
        self.finish(RationalFunction::reduced(top, bottom))
    }
    fn neg(&mut self, a: &RationalFunction) -> RationalFunction {
        RationalFunction {
            numerator: a.numerator.neg(),
            denominator: a.denominator.clone(),
        }
    }
    fn invert(&mut self, a: &RationalFunction) -> RationalFunction {
        if self.budget.exhausted() {
            return RationalFunction::one();
        }
        assert!(!a.is_zero(), "a nonzero element was promised");
        self.finish(RationalFunction::reduced(a.denominator.clone(), a.numerator.clone()))
    }
    fn pivot_cost(&self, a: &RationalFunction) -> f64 {
        let constant = a.numerator.is_constant() && a.denominator.is_constant();
        if constant {
            return if a.denominator.is_one() && a.numerator.content() == BigInt::from(1) {
                0.0
            } else {
                0.5
            };
        }
        (a.numerator.term_count() + a.denominator.term_count()) as f64 - 1.0
    }
    fn solve_block(
        &mut self,
        matrix: Vec<Row<RationalFunction>>,
        right: Vec<Row<RationalFunction>>,
    ) -> BlockSolution<RationalFunction> {
        BlockSolution::Solved(solve_rational_functions(self, matrix, right))
    }
    fn exhausted(&self) -> bool {
        self.budget.exhausted()
    }
}
