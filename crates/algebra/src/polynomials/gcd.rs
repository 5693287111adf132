//! Greatest common divisors of polynomials over the integers.
//!
//! Polynomials of physical networks have a low degree, usually 1, in most of their variables. The degrees of the common divisor in each
//! variable are therefore computed first, from images over a prime field. An image degree of 0 proves that the divisor does not contain the
//! variable; the divisor then divides all coefficients, which have fewer variables. If the degree equals that of one operand, the divisor
//! is that operand's primitive part, up to contents in fewer variables, and one exact division proves it. The remaining case, a proper
//! common factor in every variable at once, uses a remainder sequence.

use super::images::{Image, image_gcd, images};
use super::polynomial::{Polynomial, Variable};
use crate::integer::Integer;
use crate::{Field, PrimeField};
use lgm_source::cancellation::Cancellation;
use num_bigint::BigInt;

/// A work allowance, in operations on terms.
///
/// If it is exhausted, operations return cheap results: a greatest common divisor is 1, a product 0.
#[derive(Clone, Debug)]
pub struct Budget {
    /// The number of remaining term operations.
    pub remaining: u64,
    /// The maximum length of a polynomial.
    pub maximum_terms: usize,
    exhausted: bool,
    /// Cancelled work has no allowance.
    cancellation: Cancellation,
}

impl Budget {
    /// Creates an allowance of term operations, for polynomials up to `maximum_terms` terms.
    pub fn new(operations: u64, maximum_terms: usize) -> Budget {
        Budget {
            remaining: operations,
            maximum_terms,
            exhausted: false,
            cancellation: Cancellation::default(),
        }
    }

    /// Returns the allowance, which is also exhausted when the work is cancelled.
    pub fn until(self, cancellation: Cancellation) -> Budget {
        Budget { cancellation, ..self }
    }

    /// Creates an unlimited allowance.
    pub fn unlimited() -> Budget {
        Budget::new(u64::MAX, usize::MAX)
    }

    /// Returns true if more was requested than was left.
    pub fn exhausted(&self) -> bool {
        self.exhausted
    }

    /// Uses up the rest of the allowance.
    pub fn give_up(&mut self) {
        self.exhausted = true;
    }

    /// Deducts from the allowance; returns true if enough was left.
    pub fn charge(&mut self, operations: u64) -> bool {
        match self.remaining.checked_sub(operations) {
            Some(rest) if !self.exhausted && !self.cancellation.is_cancelled() => self.remaining = rest,
            _ => self.exhausted = true,
        }
        !self.exhausted
    }

    /// Computes a * b, or 0 if the allowance or a limit is exceeded.
    pub fn mul(&mut self, a: &Polynomial, b: &Polynomial) -> Polynomial {
        if a.is_one() || b.is_one() {
            return if a.is_one() { b.clone() } else { a.clone() };
        }
        let (m, n) = (a.term_count() as u64, b.term_count() as u64);
        // A product of the words of long coefficients costs a small part of a term operation.
        let words = a.long_words().saturating_mul(b.long_words()) / 64;
        if !self.charge(m.saturating_mul(n).saturating_add(1 + words)) || !a.is_safe_factor() || !b.is_safe_factor() {
            self.exhausted = true;
            return Polynomial::zero();
        }
        let product = a.mul(b);
        if product.term_count() > self.maximum_terms || !product.is_safe_factor() {
            self.exhausted = true;
        }
        product
    }

    /// Computes a / b for a divisor b of a, or a if the allowance is exceeded.
    pub fn quotient(&mut self, a: &Polynomial, b: &Polynomial) -> Polynomial {
        if b.is_one() || self.exhausted {
            return a.clone();
        }
        match self.divide(a, b) {
            Some(quotient) => quotient,
            None => {
                assert!(self.exhausted, "invariant: a common divisor divides");
                a.clone()
            }
        }
    }

    /// Computes a / b if it is exact and within the allowance.
    pub fn divide(&mut self, a: &Polynomial, b: &Polynomial) -> Option<Polynomial> {
        let words = a.long_words().saturating_mul(b.long_words()) / 64;
        if !self.charge(a.term_count() as u64 + 1 + words) {
            return None;
        }
        let quotient = a.divide_within(b, &mut self.remaining);
        self.exhausted |= self.remaining == 0;
        quotient.filter(|_| !self.exhausted)
    }
}

/// Returns the greatest common divisor, with a positive leading coefficient; 0 for two zeros. If the budget runs out, returns some common
/// divisor instead.
pub fn gcd(a: &Polynomial, b: &Polynomial, budget: &mut Budget) -> Polynomial {
    if a.is_one() || b.is_one() || budget.exhausted() {
        return Polynomial::one();
    }
    if a.is_zero() || b.is_zero() {
        let other = if a.is_zero() { b } else { a };
        return if other.is_negative() {
            other.neg()
        } else {
            other.clone()
        };
    }
    // The divisor of two long numbers requires one pass over their words per bit.
    let longest = a.longest_words().max(b.longest_words());
    if !budget.charge((a.term_count() + b.term_count()) as u64 + longest.saturating_mul(longest)) {
        return Polynomial::one();
    }
    let content = Polynomial::from_integer(a.integer_content().gcd(&b.integer_content()));
    if a.is_constant() || b.is_constant() {
        return content;
    }
    if a == b {
        return if a.is_negative() { a.neg() } else { a.clone() };
    }
    let content = content.mul(&common_monomial(a, b));
    if a.term_count() == 1 || b.term_count() == 1 {
        return content;
    }
    let a = a.primitive_part().without_monomial_content();
    let b = b.primitive_part().without_monomial_content();
    content.mul(&gcd_primitive(&a, &b, budget))
}

/// Returns the product of powers that divides both.
fn common_monomial(a: &Polynomial, b: &Polynomial) -> Polynomial {
    let other = b.monomial_content();
    let factors: Vec<(Variable, u32)> = a
        .monomial_content()
        .into_iter()
        .filter_map(|(variable, exponent)| {
            let at = other.binary_search_by_key(&variable, |factor| factor.0).ok()?;
            Some((variable, exponent.min(other[at].1)))
        })
        .collect();
    Polynomial::monomial(&factors)
}

/// Returns the greatest common divisor of a list; 0 for zeros.
pub fn gcd_list(mut list: Vec<Polynomial>, budget: &mut Budget) -> Polynomial {
    // The shortest first: most lists are settled after one or two.
    list.retain(|polynomial| !polynomial.is_zero());
    list.sort_by_key(Polynomial::term_count);
    let mut common = Polynomial::zero();
    for polynomial in &list {
        common = gcd(&common, polynomial, budget);
        if common.is_one() {
            break;
        }
    }
    common
}

/// Computes the divisor of two polynomials with content 1, without monomial factors and with positive leading coefficients.
fn gcd_primitive(a: &Polynomial, b: &Polynomial, budget: &mut Budget) -> Polynomial {
    if a.is_constant() || b.is_constant() {
        return Polynomial::one();
    }
    if a == b {
        return a.clone();
    }
    let only = |a: &Polynomial, b: &Polynomial| -> Vec<u32> {
        a.variables
            .iter()
            .copied()
            .filter(|variable| b.position(*variable).is_none())
            .collect()
    };
    let (only_a, only_b) = (only(a, b), only(b, a));
    if only_a.len() == a.variables.len() {
        return Polynomial::one();
    }
    if !only_a.is_empty() || !only_b.is_empty() {
        return gcd_of_coefficients(a, &only_a, b, &only_b, budget);
    }
    let variables = &a.variables;
    let work = (a.term_count() + b.term_count()) * variables.len();
    for seed in 1..=3 {
        if !budget.charge(work as u64) {
            return Polynomial::one();
        }
        let Some(common) = common_images(a, b, variables, seed) else {
            continue;
        };
        let absent: Vec<u32> = variables
            .iter()
            .zip(&common)
            .filter(|(_, image)| image.len() == 1)
            .map(|(variable, _)| *variable)
            .collect();
        if absent.len() == variables.len() {
            return Polynomial::one();
        }
        if !absent.is_empty() {
            return gcd_of_coefficients(a, &absent, b, &absent, budget);
        }
        if let Some(divisor) = gcd_by_primitive_part(a, b, &common, budget) {
            return divisor;
        }
        if let ([_], [image]) = (&variables[..], &common[..])
            && let Some(divisor) = lift_univariate(a, b, image, budget)
        {
            return divisor;
        }
        break;
    }
    gcd_by_remainders(a, b, budget)
}

/// Computes the greatest common divisor as the divisor of all coefficients, if it is known not to contain some variables.
fn gcd_of_coefficients(
    a: &Polynomial,
    from_a: &[u32],
    b: &Polynomial,
    from_b: &[u32],
    budget: &mut Budget,
) -> Polynomial {
    let mut list: Vec<Polynomial> = Vec::new();
    for (polynomial, variables) in [(a, from_a), (b, from_b)] {
        if variables.is_empty() {
            list.push(polynomial.clone());
        } else {
            list.extend(polynomial.split(variables).into_iter().map(|(_, part)| part));
        }
    }
    gcd_list(list, budget)
}

/// Returns the greatest common divisors of the images in each variable; `None` if a sampled point is unlucky.
fn common_images(a: &Polynomial, b: &Polynomial, variables: &[u32], seed: u64) -> Option<Vec<Image>> {
    images(a, variables, seed)
        .into_iter()
        .zip(images(b, variables, seed))
        .map(|(a, b)| Some(image_gcd(&a?, &b?)))
        .collect()
}

/// Computes the greatest common divisor if its degree in some variable equals the degree of an operand; verified by division.
fn gcd_by_primitive_part(a: &Polynomial, b: &Polynomial, common: &[Image], budget: &mut Budget) -> Option<Polynomial> {
    let (degrees_a, degrees_b) = (a.degrees(), b.degrees());
    let full = |degrees: &[u32]| {
        degrees
            .iter()
            .zip(common)
            .all(|(degree, image)| image.len() == *degree as usize + 1)
    };
    for (divisor, whole, degrees) in [(a, b, &degrees_a), (b, a, &degrees_b)] {
        if full(degrees) && budget.divide(whole, divisor).is_some() {
            return Some(divisor.clone());
        }
    }
    // Among the qualifying variables, prefers the one that splits its operand into the shortest coefficients.
    let mut candidates: Vec<(usize, bool, u32)> = Vec::new();
    for (position, image) in common.iter().enumerate() {
        let variable = a.variables[position];
        if image.len() == degrees_a[position] as usize + 1 {
            candidates.push((shortest_coefficient(a, variable), true, variable));
        }
        if image.len() == degrees_b[position] as usize + 1 {
            candidates.push((shortest_coefficient(b, variable), false, variable));
        }
    }
    let (_, of_a, variable) = candidates.into_iter().min()?;
    let (operand, other) = if of_a { (a, b) } else { (b, a) };
    let content = gcd_list(operand.coefficients_in(Variable(variable)), budget);
    let part = budget.quotient(operand, &content);
    budget.divide(other, &part)?;
    if content.is_one() {
        return Some(part);
    }
    let mut contents = other.coefficients_in(Variable(variable));
    contents.push(content);
    let contents = gcd_list(contents, budget);
    Some(budget.mul(&part, &contents)).filter(|_| !budget.exhausted())
}

fn shortest_coefficient(polynomial: &Polynomial, variable: u32) -> usize {
    let position = polynomial
        .position(variable)
        .expect("invariant: candidates are the polynomial's own variables");
    let mut counts = vec![0usize; polynomial.degree(Variable(variable)) as usize + 1];
    for term in 0..polynomial.term_count() {
        counts[polynomial.exponent(term, position) as usize] += 1;
    }
    counts.into_iter().filter(|count| *count > 0).min().unwrap_or(0)
}

/// Lifts the univariate divisor from its monic image, if its coefficients are below the prime; verified by division.
fn lift_univariate(a: &Polynomial, b: &Polynomial, image: &Image, budget: &mut Budget) -> Option<Polynomial> {
    let mut field = PrimeField;
    let variable = Variable(*a.variables.first()?);
    let leading = a.coefficients[0].gcd(&b.coefficients[0]).modulo_prime();
    let coefficients: Vec<Polynomial> = image
        .iter()
        .map(|value| {
            let value = field.mul(value, &leading);
            let signed = if value > PrimeField::MODULUS / 2 {
                i128::from(value) - i128::from(PrimeField::MODULUS)
            } else {
                i128::from(value)
            };
            Polynomial::from_integer(Integer::from(BigInt::from(signed)))
        })
        .collect();
    let candidate = Polynomial::from_coefficients_in(variable, &coefficients).primitive_part();
    budget.divide(a, &candidate)?;
    budget.divide(b, &candidate)?;
    Some(candidate)
}

/// Computes the greatest common divisor by a primitive remainder sequence in the variable of least degree.
fn gcd_by_remainders(a: &Polynomial, b: &Polynomial, budget: &mut Budget) -> Polynomial {
    let (degrees_a, degrees_b) = (a.degrees(), b.degrees());
    let variable = (0..a.variables.len())
        .min_by_key(|position| {
            (
                degrees_a[*position].min(degrees_b[*position]),
                degrees_a[*position].max(degrees_b[*position]),
            )
        })
        .map(|position| Variable(a.variables[position]))
        .expect("invariant: both polynomials depend on the same variables, at least one");
    let mut first = a.coefficients_in(variable);
    let mut second = b.coefficients_in(variable);
    let content_first = make_primitive(&mut first, budget);
    let content_second = make_primitive(&mut second, budget);
    let content = gcd(&content_first, &content_second, budget);
    if first.len() < second.len() {
        std::mem::swap(&mut first, &mut second);
    }
    while !budget.exhausted() {
        if second.len() == 1 {
            return content;
        }
        let mut remainder = pseudo_remainder(first, &second, budget);
        if remainder.is_empty() {
            let part = Polynomial::from_coefficients_in(variable, &second);
            return content.mul(&part.primitive_part());
        }
        make_primitive(&mut remainder, budget);
        first = second;
        second = remainder;
    }
    Polynomial::one()
}

/// Divides coefficients by their greatest common divisor, which is returned.
fn make_primitive(coefficients: &mut [Polynomial], budget: &mut Budget) -> Polynomial {
    let content = gcd_list(coefficients.to_vec(), budget);
    if !content.is_one() {
        for coefficient in coefficients.iter_mut() {
            *coefficient = budget.quotient(coefficient, &content);
        }
    }
    content
}

/// Returns a multiple of `a` by a power of the divisor's leading coefficient, reduced below the divisor's degree.
fn pseudo_remainder(mut a: Vec<Polynomial>, divisor: &[Polynomial], budget: &mut Budget) -> Vec<Polynomial> {
    let (leading, rest) = divisor
        .split_last()
        .expect("invariant: a divisor has a leading coefficient");
    while a.len() > rest.len() && !budget.exhausted() {
        let top = a
            .pop()
            .expect("invariant: the dividend is at least as long as the divisor");
        let common = gcd(leading, &top, budget);
        let (up, down) = (budget.quotient(leading, &common), budget.quotient(&top, &common));
        let offset = a.len() - rest.len();
        for (index, coefficient) in a.iter_mut().enumerate() {
            *coefficient = budget.mul(coefficient, &up);
            if let Some(index) = index.checked_sub(offset) {
                let product = budget.mul(&rest[index], &down);
                *coefficient = coefficient.sub(&product);
            }
        }
        while a.last().is_some_and(Polynomial::is_zero) {
            a.pop();
        }
    }
    a
}
