//! Polynomials split by variables, differentiated and evaluated.

use super::polynomial::{Polynomial, Variable, lane};
use crate::integer::Integer;
use crate::{Field, PrimeField};
use num_rational::BigRational;
use num_traits::{One, Zero};
use rustc_hash::FxHashMap;

impl Polynomial {
    /// Returns the derivative with respect to one variable.
    pub fn derivative(&self, variable: Variable) -> Polynomial {
        let Some(position) = self.position(variable.0) else {
            return Polynomial::zero();
        };
        let (word, shift) = lane(position);
        let mut result = Polynomial {
            variables: self.variables.clone(),
            ..Polynomial::default()
        };
        for term in 0..self.term_count() {
            let exponent = self.exponent(term, position);
            if exponent > 0 {
                let start = result.exponents.len();
                result.exponents.extend_from_slice(self.words(term));
                result.exponents[start + word] -= 1 << shift;
                let factor = Integer::Small(i64::from(exponent));
                result.coefficients.push(self.coefficients[term].mul(&factor));
            }
        }
        result.trim()
    }

    /// Groups terms by their exponents in the given variables (ascending). Returns one polynomial in the other variables for each
    /// combination of exponents.
    pub(crate) fn split(&self, variables: &[u32]) -> Vec<(Vec<u32>, Polynomial)> {
        let positions: Vec<usize> = variables
            .iter()
            .filter_map(|variable| self.position(*variable))
            .collect();
        let mut mask = vec![u64::MAX; self.stride()];
        for position in &positions {
            let (word, shift) = lane(*position);
            mask[word] &= !(0xFFFF << shift);
        }
        let mut groups: FxHashMap<Vec<u32>, usize> = FxHashMap::default();
        let mut list: Vec<(Vec<u32>, Polynomial)> = Vec::new();
        for term in 0..self.term_count() {
            let key: Vec<u32> = positions
                .iter()
                .map(|position| self.exponent(term, *position))
                .collect();
            let index = *groups.entry(key).or_insert_with_key(|key| {
                let empty = Polynomial {
                    variables: self.variables.clone(),
                    ..Polynomial::default()
                };
                list.push((key.clone(), empty));
                list.len() - 1
            });
            let group = &mut list[index].1;
            // Terms of one group differ only in the other exponents, so they stay sorted.
            group
                .exponents
                .extend(self.words(term).iter().zip(&mask).map(|(word, mask)| word & mask));
            group.coefficients.push(self.coefficients[term].clone());
        }
        list.into_iter().map(|(key, group)| (key, group.trim())).collect()
    }

    /// Returns the coefficients of the powers of one variable, in ascending order.
    pub fn coefficients_in(&self, variable: Variable) -> Vec<Polynomial> {
        let mut list = vec![Polynomial::zero(); self.degree(variable) as usize + 1];
        for (key, group) in self.split(&[variable.0]) {
            list[key.first().map_or(0, |exponent| *exponent as usize)] = group;
        }
        list
    }

    /// Builds the polynomial with the given coefficients of the powers of a variable, which the coefficients do not contain.
    pub fn from_coefficients_in(variable: Variable, coefficients: &[Polynomial]) -> Polynomial {
        let list: Vec<Polynomial> = coefficients
            .iter()
            .enumerate()
            .map(|(power, coefficient)| coefficient.mul(&Polynomial::monomial(&[(variable, power as u32)])))
            .collect();
        Polynomial::sum(&list)
    }

    /// Returns the value in the prime field.
    pub fn evaluate_prime(&self, value: impl Fn(Variable) -> u64) -> u64 {
        let mut field = PrimeField;
        let powers = self.power_table(value, &1, |a, b| PrimeField.mul(a, b));
        let mut sum = 0;
        for term in 0..self.term_count() {
            let mut product = self.coefficients[term].modulo_prime();
            for (position, table) in powers.iter().enumerate() {
                product = field.mul(&product, &table[self.exponent(term, position) as usize]);
            }
            sum = field.add(&sum, &product);
        }
        sum
    }

    /// Returns the value over the rational numbers.
    pub fn evaluate(&self, value: impl Fn(Variable) -> BigRational) -> BigRational {
        let powers = self.power_table(value, &BigRational::one(), |a, b| a * b);
        let mut sum = BigRational::zero();
        for term in 0..self.term_count() {
            let mut product = BigRational::from_integer(self.coefficients[term].big());
            for (position, table) in powers.iter().enumerate() {
                let exponent = self.exponent(term, position);
                if exponent > 0 {
                    product *= &table[exponent as usize];
                }
            }
            sum += product;
        }
        sum
    }

    /// Returns the powers of each variable's value up to its degree.
    pub(crate) fn power_table<T: Clone>(
        &self,
        value: impl Fn(Variable) -> T,
        one: &T,
        multiply: impl Fn(&T, &T) -> T,
    ) -> Vec<Vec<T>> {
        self.degrees()
            .into_iter()
            .zip(&self.variables)
            .map(|(degree, variable)| {
                let base = value(Variable(*variable));
                let mut table = vec![one.clone()];
                for power in 0..degree as usize {
                    table.push(multiply(&table[power], &base));
                }
                table
            })
            .collect()
    }
}
