//! Rational functions of the parameters: their arithmetic, in lowest terms and within a budget.

use crate::expr::ExprId;
use crate::kernels::Kernels;
use crate::polynomials::gcd::{Budget, gcd};
use crate::polynomials::polynomial::{Polynomial, Variable};
use crate::{Field, RationalFunction};
use lgm_source::cancellation::Cancellation;
use rustc_hash::FxHashMap;

/// The field of rational functions, with the meaning of their variables and a limit on their size.
///
/// Where the limit is passed ([`Field::exhausted`]) operations return quickly and their results are worthless.
/// Square roots, sines and hyperbolic sines are variables too, whose squares are replaced by what they are equal to
/// (`sqrt(x)^2 = x`, `sin(x)^2 = 1 - cos(x)^2`), so that a sum that vanishes by these rules is 0.
#[derive(Clone, Debug)]
pub struct RationalFunctions {
    /// What is left of the limit.
    pub budget: Budget,
    /// What the variables stand for.
    pub kernels: Kernels,
    pub(crate) memo: FxHashMap<ExprId, RationalFunction>,
}

impl Default for RationalFunctions {
    /// A limit that keeps any computation within a second or two.
    fn default() -> RationalFunctions {
        RationalFunctions::new(RationalFunctions::DEFAULT_OPERATIONS, RationalFunctions::DEFAULT_TERMS)
    }
}

impl RationalFunctions {
    /// Term operations that take about a second.
    pub const DEFAULT_OPERATIONS: u64 = 10_000_000;
    /// More terms than this in one entry nobody reads.
    pub const DEFAULT_TERMS: usize = 2_000;

    /// A field with an allowance of term operations, for polynomials of at most so many terms.
    pub fn new(operations: u64, maximum_terms: usize) -> RationalFunctions {
        RationalFunctions {
            budget: Budget::new(operations, maximum_terms),
            kernels: Kernels::default(),
            memo: FxHashMap::default(),
        }
    }

    /// The same field, whose allowance is also exhausted once the work is asked to end.
    pub fn until(self, cancellation: &Cancellation) -> RationalFunctions {
        RationalFunctions {
            budget: self.budget.until(cancellation.clone()),
            ..self
        }
    }

    /// The quotient of two polynomials in lowest terms; the denominator is not zero.
    pub fn quotient(&mut self, numerator: &Polynomial, denominator: &Polynomial) -> RationalFunction {
        if self.budget.exhausted() || numerator.is_zero() {
            return RationalFunction::zero();
        }
        let common = gcd(numerator, denominator, &mut self.budget);
        let reduced = RationalFunction::reduced(
            self.budget.quotient(numerator, &common),
            self.budget.quotient(denominator, &common),
        );
        self.apply_relations(reduced)
    }

    /// The sum of products of coefficients with symbols, where its lowest terms show at once and are no longer than the products apart:
    /// each coefficient is a product of other symbols, or 1, over the same denominator, whose coefficients have no common number.
    pub fn at_once(&self, terms: &[(Variable, &RationalFunction)]) -> Option<RationalFunction> {
        let denominator = &terms.first()?.1.denominator;
        let is_plain = |f: &RationalFunction| {
            f.numerator.term_count() == 1
                && f.numerator.integer_content().is_one()
                && f.denominator == *denominator
                && terms.iter().all(|(variable, _)| !f.numerator.contains(*variable))
        };
        let mut symbols: Vec<Variable> = terms.iter().map(|term| term.0).collect();
        symbols.sort_unstable();
        let is_apart = symbols.windows(2).all(|pair| pair[0] != pair[1])
            && symbols.iter().all(|variable| !denominator.contains(*variable));
        if self.kernels.has_relations()
            || !is_apart
            || !denominator.integer_content().is_one()
            || !terms.iter().all(|term| is_plain(term.1))
        {
            return None;
        }
        // No factor of the denominator divides the coefficient of any of the symbols, which it has none of.
        let products = terms
            .iter()
            .map(|(variable, f)| f.numerator.mul(&Polynomial::variable(*variable)));
        Some(RationalFunction {
            numerator: Polynomial::sum(&products.collect::<Vec<_>>()),
            denominator: denominator.clone(),
        })
    }

    /// a^n; a is not zero where n is negative.
    pub fn power(&mut self, a: &RationalFunction, exponent: i32) -> RationalFunction {
        let base = if exponent < 0 { self.invert(a) } else { a.clone() };
        let mut result = RationalFunction::one();
        for bit in (0..32 - exponent.unsigned_abs().leading_zeros()).rev() {
            result = self.mul(&result, &result.clone());
            if exponent.unsigned_abs() >> bit & 1 == 1 {
                result = self.mul(&result, &base);
            }
        }
        result
    }

    /// The derivative with respect to one variable (kernels are taken as independent of it).
    pub fn derivative(&mut self, f: &RationalFunction, variable: Variable) -> RationalFunction {
        let by_numerator = RationalFunction::from(f.numerator.derivative(variable));
        let by_denominator = RationalFunction::from(f.denominator.derivative(variable));
        let second = self.mul(f, &by_denominator);
        let top = self.sub(&by_numerator, &second);
        let bottom = RationalFunction::from(f.denominator.clone());
        self.div(&top, &bottom)
    }

    /// Whether a variable with a relation occurs.
    pub(crate) fn mentions_relations(&self, f: &RationalFunction) -> bool {
        self.kernels.has_relations()
            && [&f.numerator, &f.denominator]
                .into_iter()
                .flat_map(Polynomial::variables)
                .any(|variable| self.kernels.square(variable).is_some())
    }

    /// Replaces squares of kernels by what they are equal to.
    fn apply_relations(&mut self, f: RationalFunction) -> RationalFunction {
        if !self.kernels.has_relations() {
            return f;
        }
        let mut f = f;
        while !self.budget.exhausted() {
            let found = self
                .kernels
                .reducible(&f.numerator)
                .max(self.kernels.reducible(&f.denominator));
            let Some(variable) = found else {
                return f;
            };
            let square = self
                .kernels
                .square(variable)
                .expect("invariant: a reducible variable has a relation")
                .clone();
            let (top, top_scale) = self.replace_squares(&f.numerator, variable, &square);
            let (bottom, bottom_scale) = self.replace_squares(&f.denominator, variable, &square);
            // Each came out multiplied by a power of the relation's denominator.
            let top = self.budget.mul(&top, &bottom_scale);
            let bottom = self.budget.mul(&bottom, &top_scale);
            if bottom.is_zero() {
                // Roots that depend on each other, as sqrt(a), sqrt(b) and sqrt(a*b): not for this field.
                self.budget.give_up();
            }
            if top.is_zero() || self.budget.exhausted() {
                return RationalFunction::zero();
            }
            let common = gcd(&top, &bottom, &mut self.budget);
            f = RationalFunction::reduced(
                self.budget.quotient(&top, &common),
                self.budget.quotient(&bottom, &common),
            );
        }
        f
    }

    /// A polynomial with k^2 replaced by P/Q, times the power of Q that is also returned.
    fn replace_squares(
        &mut self,
        polynomial: &Polynomial,
        variable: Variable,
        square: &RationalFunction,
    ) -> (Polynomial, Polynomial) {
        let coefficients = polynomial.coefficients_in(variable);
        let highest = (coefficients.len() - 1) / 2;
        let powers = |base: &Polynomial, budget: &mut Budget| {
            let mut list = vec![Polynomial::one()];
            for power in 0..highest {
                list.push(budget.mul(&list[power], base));
            }
            list
        };
        let tops = powers(&square.numerator, &mut self.budget);
        let bottoms = powers(&square.denominator, &mut self.budget);
        let mut parts = [Polynomial::zero(), Polynomial::zero()];
        for (exponent, coefficient) in coefficients.iter().enumerate() {
            let half = exponent / 2;
            let product = self.budget.mul(coefficient, &tops[half]);
            let product = self.budget.mul(&product, &bottoms[highest - half]);
            parts[exponent % 2] = parts[exponent % 2].add(&product);
        }
        let result = Polynomial::from_coefficients_in(variable, &parts);
        (result, bottoms[highest].clone())
    }

    pub(crate) fn add_or_sub(&mut self, a: &RationalFunction, b: &RationalFunction, minus: bool) -> RationalFunction {
        if self.budget.exhausted() {
            return RationalFunction::zero();
        }
        if b.is_zero() {
            return a.clone();
        }
        if a.is_zero() {
            return if minus { self.neg(b) } else { b.clone() };
        }
        let combine = |x: &Polynomial, y: &Polynomial| if minus { x.sub(y) } else { x.add(y) };
        let budget = &mut self.budget;
        if a.denominator == b.denominator {
            budget.charge((a.numerator.term_count() + b.numerator.term_count()) as u64);
            let top = combine(&a.numerator, &b.numerator);
            if a.denominator.is_one() {
                return self.finish(RationalFunction::from(top));
            }
            return self.quotient(&top, &a.denominator);
        }
        // Henrici: only the common divisor of the denominators can cancel from the sum.
        let common = gcd(&a.denominator, &b.denominator, budget);
        let only_a = budget.quotient(&a.denominator, &common);
        let only_b = budget.quotient(&b.denominator, &common);
        let top = combine(&budget.mul(&a.numerator, &only_b), &budget.mul(&b.numerator, &only_a));
        if top.is_zero() {
            return RationalFunction::zero();
        }
        let again = gcd(&top, &common, budget);
        let top = budget.quotient(&top, &again);
        let rest = budget.quotient(&b.denominator, &again);
        let bottom = budget.mul(&only_a, &rest);
        self.finish(RationalFunction::reduced(top, bottom))
    }

    /// Checks the size and applies the relations of kernels.
    pub(crate) fn finish(&mut self, f: RationalFunction) -> RationalFunction {
        if f.denominator.is_zero() || self.budget.exhausted() {
            return RationalFunction::one();
        }
        self.apply_relations(f)
    }
}
