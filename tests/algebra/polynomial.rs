//! Polynomials and their greatest common divisors, tested by independent laws.

use crate::support::cases;

use cases::cases;
use lgm::algebra::{Budget, Field, Polynomial, PrimeField, Variable, gcd};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Zero};
use proptest::prelude::*;

fn polynomial(variables: u32, terms: usize, degree: u32) -> impl Strategy<Value = Polynomial> {
    let factor = (0..variables, 0..=degree);
    let term = (prop::collection::vec(factor, 0..4), -9i64..10);
    prop::collection::vec(term, 1..=terms).prop_map(|list| {
        let list: Vec<Polynomial> = list
            .into_iter()
            .map(|(factors, coefficient)| {
                factors
                    .into_iter()
                    .fold(Polynomial::constant(coefficient), |product, (variable, exponent)| {
                        product.mul(&Polynomial::monomial(&[(Variable(variable), exponent)]))
                    })
            })
            .collect();
        Polynomial::sum(&list)
    })
}

fn point(variable: Variable) -> BigRational {
    BigRational::new(
        BigInt::from(7 * i64::from(variable.0) + 3),
        BigInt::from(variable.0 + 2),
    )
}

/// The degree of the greatest common divisor in one variable, by Euclid's algorithm over the prime field at a random
/// point for the others. It shares only the field with the library's algorithm.
fn image_degree(a: &Polynomial, b: &Polynomial, variable: Variable, seed: u64) -> usize {
    let image = |p: &Polynomial| -> Vec<u64> {
        let mut list: Vec<u64> = p
            .coefficients_in(variable)
            .iter()
            .map(|c| c.evaluate_prime(|v| PrimeField.sample(u64::from(v.0) + 77, seed)))
            .collect();
        while list.last() == Some(&0) {
            list.pop();
        }
        list
    };
    let (mut a, mut b) = (image(a), image(b));
    while !b.is_empty() {
        while a.len() >= b.len() {
            let factor = PrimeField.div(a.last().unwrap(), b.last().unwrap());
            let offset = a.len() - b.len();
            for (index, value) in b.iter().enumerate() {
                let product = PrimeField.mul(value, &factor);
                a[offset + index] = PrimeField.sub(&a[offset + index], &product);
            }
            while a.last() == Some(&0) {
                a.pop();
            }
        }
        std::mem::swap(&mut a, &mut b);
    }
    a.len() - 1
}

fn check_gcd(a: &Polynomial, b: &Polynomial, c: &Polynomial) -> Result<(), TestCaseError> {
    if a.is_zero() || b.is_zero() || c.is_zero() {
        return Ok(());
    }
    let (p, q) = (a.mul(c), b.mul(c));
    let mut budget = Budget::unlimited();
    let common = gcd(&p, &q, &mut budget);
    prop_assert!(
        common.divide_exact(c).is_some(),
        "{common:?} is no multiple of the planted factor"
    );
    let left = p.divide_exact(&common);
    let right = q.divide_exact(&common);
    prop_assert!(left.is_some() && right.is_some(), "{common:?} does not divide both");
    let (left, right) = (left.unwrap(), right.unwrap());
    for variable in left.variables().collect::<Vec<_>>() {
        prop_assert_eq!(image_degree(&left, &right, variable, 5), 0, "cofactors share a factor");
    }
    prop_assert!(
        num_integer::Integer::gcd(&left.content(), &right.content()).is_one(),
        "cofactors share a number"
    );
    prop_assert!(!common.is_negative());
    Ok(())
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn ring_axioms(a in polynomial(6, 6, 3), b in polynomial(9, 6, 2), c in polynomial(4, 6, 3)) {
        prop_assert_eq!(a.add(&b), b.add(&a));
        prop_assert_eq!(a.add(&b).add(&c), a.add(&b.add(&c)));
        prop_assert_eq!(a.mul(&b), b.mul(&a));
        prop_assert_eq!(a.mul(&b).mul(&c), a.mul(&b.mul(&c)));
        prop_assert_eq!(a.mul(&b.add(&c)), a.mul(&b).add(&a.mul(&c)));
        prop_assert_eq!(a.sub(&b), a.add(&b.neg()));
        prop_assert!(a.sub(&a).is_zero());
        prop_assert_eq!(a.mul(&Polynomial::one()), a.clone());
    }

    #[test]
    fn evaluation_is_a_homomorphism(a in polynomial(12, 8, 4), b in polynomial(12, 8, 4)) {
        prop_assert_eq!(a.mul(&b).evaluate(point), a.evaluate(point) * b.evaluate(point));
        prop_assert_eq!(a.add(&b).evaluate(point), a.evaluate(point) + b.evaluate(point));
        let sample = |v: Variable| PrimeField.sample(u64::from(v.0), 3);
        prop_assert_eq!(
            a.mul(&b).evaluate_prime(sample),
            PrimeField.mul(&a.evaluate_prime(sample), &b.evaluate_prime(sample))
        );
    }

    #[test]
    fn quotients_of_products_are_exact(a in polynomial(7, 9, 3), b in polynomial(7, 9, 3), c in polynomial(7, 3, 2)) {
        prop_assume!(!b.is_zero());
        prop_assert_eq!(a.mul(&b).divide_exact(&b), Some(a.clone()));
        // A remainder of smaller degree than the divisor must be detected.
        if let Some(quotient) = a.add(&c).divide_exact(&b) {
            prop_assert_eq!(quotient.mul(&b), a.add(&c));
        }
        if !b.is_constant() {
            prop_assert_eq!(a.mul(&b).add(&Polynomial::one()).divide_exact(&b), None);
        }
    }

    #[test]
    fn derivatives_obey_the_product_rule(a in polynomial(4, 6, 4), b in polynomial(4, 6, 4)) {
        let v = Variable(1);
        prop_assert_eq!(
            a.mul(&b).derivative(v),
            a.derivative(v).mul(&b).add(&a.mul(&b.derivative(v)))
        );
    }

    #[test]
    fn parts_put_together_are_the_whole(a in polynomial(5, 9, 3), v in 0u32..5) {
        let v = Variable(v);
        prop_assert_eq!(Polynomial::from_coefficients_in(v, &a.coefficients_in(v)), a.clone());
        let content = Polynomial::constant(a.content());
        let signed = if a.is_negative() { content.neg() } else { content };
        prop_assert_eq!(a.primitive_part().mul(&signed), a.clone());
        let monomial = Polynomial::monomial(&a.monomial_content());
        prop_assert_eq!(a.without_monomial_content().mul(&monomial), a);
    }

    #[test]
    fn gcd_of_many_variables(a in polynomial(12, 6, 1), b in polynomial(12, 6, 1), c in polynomial(12, 5, 1)) {
        check_gcd(&a, &b, &c)?;
    }

    #[test]
    fn gcd_of_higher_degrees(a in polynomial(3, 4, 3), b in polynomial(3, 4, 3), c in polynomial(3, 4, 3)) {
        check_gcd(&a, &b, &c)?;
    }

    #[test]
    fn gcd_in_one_variable(a in polynomial(1, 6, 9), b in polynomial(1, 6, 9), c in polynomial(1, 6, 9)) {
        check_gcd(&a, &b, &c)?;
    }

    #[test]
    fn gcd_where_a_proper_factor_is_shared_in_every_variable(
        a in polynomial(2, 3, 2), b in polynomial(2, 3, 2), c in polynomial(2, 3, 2), d in polynomial(2, 3, 2),
    ) {
        check_gcd(&a.mul(&d), &b.mul(&b), &c.mul(&d))?;
    }
}

#[test]
fn numbers_beyond_a_word_are_exact() {
    let x = Polynomial::variable(Variable(0));
    let big = Polynomial::constant(BigInt::from(10).pow(40));
    let a = x.add(&big);
    let cube = a.power(3);
    assert_eq!(cube.divide_exact(&a), Some(a.power(2)));
    assert_eq!(cube.coefficient(3), BigInt::from(10).pow(120));
    let b = x.sub(&big);
    assert_eq!(
        gcd(&cube.mul(&b), &a.mul(&b.power(2)), &mut Budget::unlimited()),
        a.mul(&b)
    );
    assert!(
        cube.evaluate(|_| BigRational::from_integer(-BigInt::from(10).pow(40)))
            .is_zero()
    );
}

/// (offset*x0 + (offset + 1)*x1 + ... + 1)^3 in eight variables.
fn dense_cube(offset: i64) -> Polynomial {
    let list: Vec<Polynomial> = (0..8)
        .map(|v| Polynomial::variable(Variable(v)).mul(&Polynomial::constant(offset + i64::from(v))))
        .collect();
    Polynomial::sum(&list).add(&Polynomial::one()).power(3)
}

#[test]
fn a_budget_ends_a_hard_problem_early() {
    let (a, b, c) = (dense_cube(1), dense_cube(3), dense_cube(5));
    let (p, q) = (a.mul(&c), b.mul(&c));
    let mut budget = Budget::new(10_000, 100_000);
    let answer = gcd(&p, &q, &mut budget);
    assert!(budget.exhausted());
    assert!(answer.is_one());
}

/// (x + a*y + b*z + 1)^power and similar polynomials in four variables.
fn mixed(seed: i64, power: u32) -> Polynomial {
    let x = |v| Polynomial::variable(Variable(v));
    let list = [
        x(0).mul(&x(1)).mul(&Polynomial::constant(seed)),
        x(1).mul(&x(2)),
        x(2).power(2).mul(&Polynomial::constant(seed + 3)),
        x(3).mul(&x(0)).neg(),
        x(3),
        Polynomial::constant(2 * seed + 1),
    ];
    Polynomial::sum(&list).power(power)
}

#[test]
fn proper_factors_in_every_variable_are_found_within_the_default_allowance() {
    let (a, b, c) = (mixed(2, 2), mixed(5, 2), mixed(1, 1));
    let (p, q) = (a.mul(&c), b.mul(&c));
    let mut budget = Budget::new(10_000_000, 20_000);
    let common = gcd(&p, &q, &mut budget);
    assert!(!budget.exhausted());
    assert_eq!(common, c.primitive_part());
}
