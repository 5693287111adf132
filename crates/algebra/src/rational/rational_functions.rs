//! Arithmetic of rational functions of the parameters, in lowest terms and within a budget.

use crate::expr::ExprId;
use crate::polynomials::gcd::{Budget, gcd};
use crate::polynomials::polynomial::{Polynomial, Variable};
use crate::rational::kernels::{Kernels, Meaning};
use crate::{Field, RationalFunction, Sampled};
use lgm_source::cancellation::Cancellation;
use rustc_hash::FxHashMap;

/// The field of rational functions, with the meaning of their variables and a limit on their size.
///
/// If the limit is exceeded ([`Field::exhausted`]), operations return quickly and their results are invalid. Square roots, sines and
/// hyperbolic sines are variables too. Their squares are replaced by equal expressions (`sqrt(x)^2 = x`, `sin(x)^2 = 1 - cos(x)^2`), so
/// that a sum that vanishes by these rules is 0.
#[derive(Clone, Debug)]
pub struct RationalFunctions {
    /// The remaining budget.
    pub budget: Budget,
    /// The meaning of the variables.
    pub kernels: Kernels,
    /// The point of the prime field at which vanishing elements are recognised, even without a relation between kernels.
    pub(crate) images: Sampled,
    pub(crate) memo: FxHashMap<ExprId, RationalFunction>,
}

impl Default for RationalFunctions {
    /// Returns a field with a limit that keeps any computation within a second or two.
    fn default() -> RationalFunctions {
        RationalFunctions::new(RationalFunctions::DEFAULT_OPERATIONS, RationalFunctions::DEFAULT_TERMS)
    }
}

impl RationalFunctions {
    /// The number of term operations that take about a second.
    pub const DEFAULT_OPERATIONS: u64 = 10_000_000;
    /// Entries with more terms than this are unreadable.
    pub const DEFAULT_TERMS: usize = 2_000;

    /// Creates a field with an allowance of term operations, for polynomials of at most `maximum_terms` terms.
    pub fn new(operations: u64, maximum_terms: usize) -> RationalFunctions {
        RationalFunctions {
            budget: Budget::new(operations, maximum_terms),
            kernels: Kernels::default(),
            images: Sampled::new(7),
            memo: FxHashMap::default(),
        }
    }

    /// Returns the field with an allowance that is also exhausted when the work is cancelled.
    pub fn until(self, cancellation: &Cancellation) -> RationalFunctions {
        RationalFunctions {
            budget: self.budget.until(cancellation.clone()),
            ..self
        }
    }

    /// Returns the quotient of two polynomials in lowest terms; the denominator is nonzero.
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

    /// Returns the sum of products of coefficients with symbols, if its lowest terms are obvious and no longer than the separate products.
    /// Each coefficient must be a product of other symbols, or 1, over the same denominator, whose coefficients have no common number.
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
        // No factor of the denominator divides the coefficient of a symbol, because the denominator contains none of the symbols.
        let products = terms
            .iter()
            .map(|(variable, f)| f.numerator.mul(&Polynomial::variable(*variable)));
        Some(RationalFunction {
            numerator: Polynomial::sum(&products.collect::<Vec<_>>()),
            denominator: denominator.clone(),
        })
    }

    /// Computes a^n; a is nonzero if n is negative.
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

    /// Returns true if a variable with a relation occurs.
    pub(crate) fn mentions_relations(&self, f: &RationalFunction) -> bool {
        self.kernels.has_relations()
            && [&f.numerator, &f.denominator]
                .into_iter()
                .flat_map(Polynomial::variables)
                .any(|variable| self.kernels.square(variable).is_some())
    }

    /// Replaces squares of kernels by equal expressions, and removes roots of numbers from numeric denominators.
    fn apply_relations(&mut self, f: RationalFunction) -> RationalFunction {
        let mut f = self.apply_squares(f);
        while let Some(conjugate) = self.conjugate(&f.denominator) {
            let top = self.budget.mul(&f.numerator, &conjugate);
            let bottom = self.budget.mul(&f.denominator, &conjugate);
            if self.budget.exhausted() {
                return RationalFunction::zero();
            }
            let common = gcd(&top, &bottom, &mut self.budget);
            let (top, bottom) = (
                self.budget.quotient(&top, &common),
                self.budget.quotient(&bottom, &common),
            );
            f = self.apply_squares(RationalFunction::reduced(top, bottom));
        }
        if self.kernels.may_depend {
            if self.vanishes(&f.denominator) {
                self.budget.give_up();
            }
            if self.vanishes(&f.numerator) {
                return RationalFunction::zero();
            }
        }
        f
    }

    /// Returns true if a polynomial is 0 at the point of the prime field, and therefore everywhere.
    fn vanishes(&self, polynomial: &Polynomial) -> bool {
        let value = |variable: Variable| match self.kernels.meaning(variable) {
            Meaning::Symbol(symbol) => Some(self.images.symbol(symbol)),
            _ => self.kernels.image(variable),
        };
        polynomial.variables().all(|variable| value(variable).is_some())
            && polynomial.evaluate_prime(|variable| value(variable).unwrap_or(0)) == 0
    }

    /// Returns the factor that removes the root of a number from a denominator: the root itself if it is a factor, and `a - b*k` for the
    /// number `a + b*k`.
    fn conjugate(&self, denominator: &Polynomial) -> Option<Polynomial> {
        if !self.kernels.has_relations() || self.budget.exhausted() {
            return None;
        }
        let roots = denominator
            .variables()
            .filter(|variable| self.kernels.is_root(*variable));
        let root = roots.last()?;
        if denominator.term_count() == 1 {
            return Some(Polynomial::variable(root));
        }
        if !denominator.variables().all(|variable| self.kernels.is_root(variable)) {
            return None;
        }
        let mut parts = denominator.coefficients_in(root);
        let last = parts.get_mut(1)?;
        *last = last.neg();
        Some(Polynomial::from_coefficients_in(root, &parts))
    }

    /// Replaces squares of kernels by equal expressions.
    fn apply_squares(&mut self, f: RationalFunction) -> RationalFunction {
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
            // Each polynomial was multiplied by a power of the relation's denominator.
            let top = self.budget.mul(&top, &bottom_scale);
            let bottom = self.budget.mul(&bottom, &top_scale);
            if bottom.is_zero() {
                // Roots that depend on each other, such as sqrt(a), sqrt(b) and sqrt(a*b), are not supported by this field.
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

    /// Returns a polynomial with k^2 replaced by P/Q, times a power of Q, and that power.
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
