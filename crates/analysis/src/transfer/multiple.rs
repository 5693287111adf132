//! Multiple roots from exact coefficients.
//!
//! Multiple eigenvalues lose most digits: a root of multiplicity k moves by the k-th root of the round-off. The greatest common divisor of
//! a polynomial and its derivative yields exact factors for each multiplicity, and each factor has simple roots.

use crate::eigen::poles::eigenvalues;
use lgm_algebra::expr::{Exprs, SymbolKind, to_f64};
use lgm_algebra::{Budget, Kernels, Polynomial, Variable, gcd};
use nalgebra::DMatrix;
use num_complex::Complex;
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{One, Zero};

/// The maximum number of term operations for one polynomial.
const OPERATIONS: u64 = 20_000_000;

/// The maximum degree of a factor whose simple roots are found from its coefficients.
const DEGREE: usize = 8;

/// Corrects multiple roots. The coefficients belong to descending powers. The roots are computed as eigenvalues, and remain unchanged if
/// the factors cannot be computed. `None` if too many roots coincide.
pub(super) fn with_multiple_roots(
    mut roots: Vec<Complex<f64>>,
    coefficients: &[BigRational],
) -> Option<Vec<Complex<f64>>> {
    let factors = factors_by_multiplicity(coefficients).unwrap_or_default();
    let is_simple = factors.iter().all(|(multiplicity, _)| *multiplicity == 1);
    if is_simple || roots.len() + 1 != coefficients.len() {
        return Some(roots);
    }
    let mut exact: Vec<Complex<f64>> = Vec::new();
    let mut is_whole = true;
    for (multiplicity, factor) in &factors {
        let found = simple_roots(factor);
        match found {
            Some(found) => exact.extend(found.iter().flat_map(|root| std::iter::repeat_n(*root, *multiplicity))),
            None if *multiplicity == 1 => is_whole = false,
            None => return None,
        }
    }
    if is_whole {
        return Some(exact);
    }
    // The simple roots remain after the nearest root is removed for each of the others.
    for root in &exact {
        let nearest =
            (0..roots.len()).min_by(|a, b| (roots[*a] - root).norm().total_cmp(&(roots[*b] - root).norm()))?;
        roots.swap_remove(nearest);
    }
    roots.extend(exact);
    Some(roots)
}

/// Returns factors without multiple roots, each with the multiplicity of its roots; coefficients of descending powers.
fn factors_by_multiplicity(coefficients: &[BigRational]) -> Option<Vec<(usize, Vec<BigRational>)>> {
    let mut exprs = Exprs::default();
    let s = Kernels::symbol(exprs.new_symbol("s", SymbolKind::Parameter));
    let mut budget = Budget::new(OPERATIONS, usize::MAX);
    let whole = whole_polynomial(coefficients, s).primitive_part();
    let mut shared = gcd(&whole, &whole.derivative(s), &mut budget);
    let mut distinct = budget.divide(&whole, &shared)?;
    let mut found = Vec::new();
    for multiplicity in 1..=coefficients.len() {
        if distinct.degree(s) == 0 {
            break;
        }
        let higher = gcd(&distinct, &shared, &mut budget);
        let factor = budget.divide(&distinct, &higher)?;
        if factor.degree(s) > 0 {
            found.push((multiplicity, numbers(&factor, s)));
        }
        shared = budget.divide(&shared, &higher)?;
        distinct = higher;
    }
    (!budget.exhausted()).then_some(found)
}

/// Returns a multiple of the polynomial with integer coefficients.
fn whole_polynomial(coefficients: &[BigRational], s: Variable) -> Polynomial {
    let one = num_bigint::BigInt::one();
    let common = coefficients.iter().fold(one, |common, value| common.lcm(value.denom()));
    let whole = |value: &BigRational| Polynomial::constant((value * &common).to_integer());
    let ascending: Vec<Polynomial> = coefficients.iter().rev().map(whole).collect();
    Polynomial::from_coefficients_in(s, &ascending)
}

fn numbers(polynomial: &Polynomial, s: Variable) -> Vec<BigRational> {
    let coefficients = polynomial.coefficients_in(s).into_iter().rev();
    coefficients
        .map(|value| value.evaluate(|_| BigRational::zero()))
        .collect()
}

/// Returns the roots of a polynomial with simple roots; `None` beyond [`DEGREE`]. Conjugates are adjacent, the upper one first.
fn simple_roots(coefficients: &[BigRational]) -> Option<Vec<Complex<f64>>> {
    let degree = coefficients.len() - 1;
    let monic: Vec<f64> = coefficients[1..]
        .iter()
        .map(|value| to_f64(&(value / &coefficients[0])))
        .collect();
    match degree {
        1 => Some(vec![Complex::new(-monic[0], 0.0)]),
        2 => {
            let (half, product) = (-monic[0] / 2.0, monic[1]);
            // The discriminant is exact, so close roots keep their digits.
            let four = BigRational::from_integer(4.into());
            let b = &coefficients[1] / &coefficients[0];
            let discriminant = to_f64(&(&b * &b / four - &coefficients[2] / &coefficients[0]));
            if discriminant < 0.0 {
                let root = Complex::new(half, (-discriminant).sqrt());
                return Some(vec![root, root.conj()]);
            }
            let larger = half + discriminant.sqrt().copysign(half);
            let smaller = if larger == 0.0 { 0.0 } else { product / larger };
            Some(vec![Complex::new(larger, 0.0), Complex::new(smaller, 0.0)])
        }
        3..=DEGREE => {
            let mut companion = DMatrix::zeros(degree, degree);
            for (at, value) in monic.iter().enumerate() {
                companion[(0, at)] = -value;
            }
            for at in 1..degree {
                companion[(at, at - 1)] = 1.0;
            }
            crate::eigen::poles::balance(&mut companion);
            eigenvalues(companion)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the product of `s - root` over a list.
    fn product(roots: &[i64]) -> Vec<BigRational> {
        let mut list = vec![BigRational::one()];
        for root in roots {
            list.push(BigRational::zero());
            for at in (1..list.len()).rev() {
                let before = list[at - 1].clone();
                list[at] -= before * BigRational::from_integer((*root).into());
            }
        }
        list
    }

    #[test]
    fn multiple_roots_are_where_they_are() {
        let mut roots = vec![-200; 20];
        roots.extend([-3, -3, 0, 0, 0, 5, 7, -11]);
        let scattered: Vec<Complex<f64>> = (roots.iter().enumerate())
            .map(|(at, root)| Complex::new(*root as f64 + 1e-3 * at as f64, 0.0))
            .collect();
        let found = with_multiple_roots(scattered, &product(&roots)).unwrap();
        let mut found: Vec<f64> = found.iter().map(|root| root.re).collect();
        found.sort_by(f64::total_cmp);
        let mut expected: Vec<f64> = roots.iter().map(|root| *root as f64).collect();
        expected.sort_by(f64::total_cmp);
        for (found, expected) in found.iter().zip(&expected) {
            assert!((found - expected).abs() < 1e-8, "{found} and not {expected}");
        }
    }

    #[test]
    fn simple_roots_stay_as_they_were_found() {
        let roots = vec![Complex::new(1.25, 0.0), Complex::new(2.0, 0.0)];
        assert_eq!(with_multiple_roots(roots.clone(), &product(&[1, 2])), Some(roots));
    }
}
