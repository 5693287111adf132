//! Univariate images of polynomials over the prime field, which show the degrees of common divisors cheaply.

use super::polynomial::{Polynomial, Variable};
use crate::{Field, PrimeField};

/// A univariate polynomial over the prime field: coefficients in ascending order, the last one nonzero.
pub type Image = Vec<u64>;

/// Removes zero coefficients at the end.
fn trim(image: &mut Image) {
    while image.last() == Some(&0) {
        image.pop();
    }
}

/// Returns, for each variable, the image of the polynomial with all other variables at sampled values; `None` if the leading coefficient
/// vanishes there, because the image would have the wrong degree.
pub(crate) fn images(polynomial: &Polynomial, variables: &[u32], seed: u64) -> Vec<Option<Image>> {
    let mut field = PrimeField;
    let value = |variable: Variable| PrimeField.sample(u64::from(variable.0), seed);
    let tables = polynomial.power_table(value, &1, |a, b| PrimeField.mul(a, b));
    let wanted: Vec<Option<usize>> = polynomial
        .variables
        .iter()
        .map(|variable| variables.iter().position(|other| other == variable))
        .collect();
    let mut images: Vec<Image> = variables
        .iter()
        .map(|variable| vec![0; polynomial.degree(Variable(*variable)) as usize + 1])
        .collect();
    let absent: Vec<usize> = (0..variables.len())
        .filter(|index| polynomial.position(variables[*index]).is_none())
        .collect();
    // Products of the factors before and after each one yield the product without it, without division.
    let mut factors: Vec<(usize, u32, u64)> = Vec::new();
    let mut before: Vec<u64> = Vec::new();
    for term in 0..polynomial.term_count() {
        let coefficient = polynomial.coefficients[term].modulo_prime();
        factors.clear();
        before.clear();
        let mut product = coefficient;
        for (position, table) in tables.iter().enumerate() {
            let exponent = polynomial.exponent(term, position);
            if exponent > 0 {
                let power = table[exponent as usize];
                factors.push((position, exponent, power));
                before.push(product);
                product = field.mul(&product, &power);
            }
        }
        let mut after = 1;
        let mut next = factors.len();
        for position in (0..tables.len()).rev() {
            let present = next > 0 && factors[next - 1].0 == position;
            let (exponent, rest) = if present {
                next -= 1;
                let rest = field.mul(&before[next], &after);
                after = field.mul(&after, &factors[next].2);
                (factors[next].1 as usize, rest)
            } else {
                (0, product)
            };
            if let Some(index) = wanted[position] {
                images[index][exponent] = field.add(&images[index][exponent], &rest);
            }
        }
        for index in &absent {
            images[*index][0] = field.add(&images[*index][0], &product);
        }
    }
    images
        .into_iter()
        .map(|image| (image.last() != Some(&0)).then_some(image))
        .collect()
}

/// Returns the quotient and the remainder over the prime field; the divisor is nonzero.
pub fn image_division(mut dividend: Image, divisor: &Image) -> (Image, Image) {
    let mut field = PrimeField;
    let leading = divisor
        .last()
        .expect("invariant: a nonzero image has a leading coefficient");
    let inverse = field.invert(leading);
    let mut quotient = vec![0; (dividend.len() + 1).saturating_sub(divisor.len())];
    for at in (0..quotient.len()).rev() {
        let factor = field.mul(&dividend[at + divisor.len() - 1], &inverse);
        quotient[at] = factor;
        if factor == 0 {
            continue;
        }
        for (value, other) in dividend[at..].iter_mut().zip(divisor) {
            let product = field.mul(other, &factor);
            *value = field.sub(value, &product);
        }
    }
    trim(&mut dividend);
    (quotient, dividend)
}

/// Returns the monic greatest common divisor over the prime field.
pub fn image_gcd(a: &Image, b: &Image) -> Image {
    let mut field = PrimeField;
    let (mut a, mut b) = (a.clone(), b.clone());
    trim(&mut a);
    trim(&mut b);
    while !b.is_empty() {
        (a, b) = (b.clone(), image_division(a, &b).1);
    }
    if let Some(last) = a.last() {
        let inverse = field.invert(last);
        for value in &mut a {
            *value = field.mul(value, &inverse);
        }
    }
    a
}
