//! Terms of sums: a number times powers of factors.

use crate::factor::{Factor, Powers, multiply};
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};
use std::collections::BTreeMap;

/// A term of a sum.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Term {
    pub(super) number: BigRational,
    pub(super) powers: Powers,
}

impl Term {
    pub(super) fn number(number: BigRational) -> Term {
        Term {
            number,
            powers: Powers::new(),
        }
    }

    /// Returns the product with other powers.
    pub(super) fn times(&self, number: &BigRational, powers: &Powers) -> Term {
        let mut product = self.clone();
        product.number *= number;
        for (factor, exponent) in powers {
            multiply(&mut product.powers, *factor, *exponent);
        }
        product
    }

    /// Returns the root of the term or of the opposite one.
    pub(super) fn root(&self) -> Option<Term> {
        let number = self.number.abs();
        let root = BigRational::new(number.numer().sqrt(), number.denom().sqrt());
        let is_square = &root * &root == number && self.powers.values().all(|exponent| exponent % 2 == 0);
        let halves = self.powers.iter().map(|each| (*each.0, each.1 / 2));
        is_square.then(|| Term {
            number: root,
            powers: halves.collect(),
        })
    }

    /// Returns the product with a power of another term.
    pub(super) fn times_power(&self, other: &Term, exponent: i32) -> Term {
        let powers = other.powers.iter().map(|each| (*each.0, each.1 * exponent)).collect();
        self.times(&other.number.pow(exponent), &powers)
    }
}

/// Returns the indices of the terms with the same power of a factor.
pub(super) fn places(terms: &[Term]) -> BTreeMap<(Factor, i32), Vec<usize>> {
    let mut places: BTreeMap<(Factor, i32), Vec<usize>> = BTreeMap::new();
    for (k, term) in terms.iter().enumerate() {
        for (factor, exponent) in &term.powers {
            places.entry((*factor, *exponent)).or_default().push(k);
        }
    }
    places
}

/// Some terms of a sum as their common factor times a rest, whose first term has no number.
pub(super) struct FactoredSum {
    pub(super) places: Vec<usize>,
    pub(super) shared: Term,
    pub(super) rest: Vec<Term>,
}

impl FactoredSum {
    pub(super) fn new(terms: &[Term], places: Vec<usize>) -> FactoredSum {
        let own: Vec<Term> = places.iter().map(|k| terms[*k].clone()).collect();
        let powers = shared_powers(&own);
        let inverse: Powers = powers.iter().map(|each| (*each.0, -each.1)).collect();
        let one = BigRational::one();
        let mut rest: Vec<Term> = own.iter().map(|term| term.times(&one, &inverse)).collect();
        rest.sort_by(|a, b| a.powers.cmp(&b.powers));
        let number = rest[0].number.clone();
        rest.iter_mut().for_each(|term| term.number /= &number);
        FactoredSum {
            places,
            shared: Term { number, powers },
            rest,
        }
    }
}

/// Adds up terms with equal powers and omits zeros; the order is that of first occurrence.
pub(super) fn joined(terms: Vec<Term>) -> Vec<Term> {
    let mut places: BTreeMap<Powers, usize> = BTreeMap::new();
    let mut list: Vec<Term> = Vec::with_capacity(terms.len());
    for term in terms {
        match places.get(&term.powers) {
            Some(place) => list[*place].number += term.number,
            None => {
                places.insert(term.powers.clone(), list.len());
                list.push(term);
            }
        }
    }
    list.retain(|term| !term.number.is_zero());
    list
}

/// Returns the powers common to all terms: the smaller of positive ones, and of negative ones.
pub(super) fn shared_powers(terms: &[Term]) -> Powers {
    let Some((first, others)) = terms.split_first() else {
        return Powers::new();
    };
    let shared = first.powers.iter().filter_map(|(factor, own)| {
        let mut exponent = *own;
        for term in others {
            let other = *term.powers.get(factor)?;
            if (other > 0) != (exponent > 0) {
                return None;
            }
            if other.abs() < exponent.abs() {
                exponent = other;
            }
        }
        Some((*factor, exponent))
    });
    shared.collect()
}
