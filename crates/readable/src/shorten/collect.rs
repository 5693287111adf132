//! Sums with common factors extracted, if that is shorter: `m*l*g*s + m*l*h*s` is `m*l*s*(g + h)`.
//!
//! A term is a number times powers of factors; negative powers are in the denominator. Factors of all terms precede the
//! sum. Within it, the factors that most terms of a part have in common are extracted from that part, as long as this
//! saves operations.

use super::length::{Length, Saved};
use super::names::name_of;
use super::numbers::common_number;
use super::terms::{FactoredSum, Term, joined, places, shared_powers};
use crate::factor::{Factor, Powers, as_written, multiply};
use lgm_algebra::expr::{ExprId, Exprs, Function, Node};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};
use rustc_hash::FxHashMap;
use std::cmp::Ordering;

/// Longer sums than this stay unchanged.
pub(super) const LONGEST: usize = 500;

/// Sums of at most this many terms are tried with and without a common denominator.
const TRIED_APART: usize = 16;

/// Squares of sums are searched for in sums of at most this many terms.
const SQUARED: usize = 16;

/// Products of two sums are searched for in sums of at most this many terms.
const PAIRED: usize = 40;

/// The writer of terms in few operations.
pub(super) struct Collector<'e> {
    pub(super) exprs: &'e mut Exprs,
    /// The lengths of factors.
    pub(super) lengths: FxHashMap<ExprId, Saved>,
    /// Sums by their names.
    sums: FxHashMap<String, ExprId>,
    /// True if parts are chosen by their combined savings with others.
    pub(super) looks_ahead: bool,
    /// True if the look-ahead has made a difference.
    pub(super) looking_ahead_matters: bool,
}

impl Collector<'_> {
    pub(super) fn new(exprs: &mut Exprs) -> Collector<'_> {
        Collector {
            exprs,
            lengths: FxHashMap::default(),
            sums: FxHashMap::default(),
            looks_ahead: true,
            looking_ahead_matters: false,
        }
    }

    /// Writes a term as an expression: sines times cosines of an angle as sines of twice the angle, sines over cosines as tangents.
    pub(super) fn product(&mut self, term: &Term) -> ExprId {
        let mut number = term.number.clone();
        let mut powers = term.powers.clone();
        for factor in term.powers.keys() {
            let Node::Call(Function::Sin, list) = self.exprs.node(factor.id) else {
                continue;
            };
            let angle = list[0];
            let cosine = self.exprs.call(Function::Cos, [angle]);
            let (sine, cosine) = (*factor, Factor::new(self.exprs, cosine));
            let both = |powers: &Powers| Some((*powers.get(&sine)?, *powers.get(&cosine)?));
            let Some((above, below)) = both(&powers) else { continue };
            let count = above.abs().min(below.abs());
            let (function, angle, sign) = if (above > 0) != (below > 0) {
                (Function::Tan, angle, above.signum())
            } else {
                let half = BigRational::new(BigInt::one(), BigInt::from(2));
                number *= half.pow(count * above.signum());
                (Function::Sin, self.twice(angle), above.signum())
            };
            multiply(&mut powers, sine, -above.signum() * count);
            multiply(&mut powers, cosine, -below.signum() * count);
            let call = self.exprs.call(function, [angle]);
            let call = Factor::new(self.exprs, call);
            multiply(&mut powers, call, sign * count);
        }
        let mut factors = vec![self.exprs.number(number)];
        let mut written: Vec<i32> = Vec::new();
        let powers = as_written(self.exprs, &powers);
        for (factor, exponent) in &powers {
            let is_ratio = exponent.abs() > 1 && powers.iter().any(|other| other.1 == -exponent);
            if !is_ratio {
                let exponent = self.exprs.integer(i64::from(*exponent));
                factors.push(self.exprs.power(factor.id, exponent));
            } else if !written.contains(&exponent.abs()) {
                written.push(exponent.abs());
                factors.push(self.ratio(&powers, exponent.abs()));
            }
        }
        self.exprs.product(factors)
    }

    /// Writes `b^2/a^2` as `(b/a)^2`: the factors with this exponent in the numerator over those in the denominator.
    fn ratio(&mut self, powers: &[(Factor, i32)], exponent: i32) -> ExprId {
        let mut of = |sign: i32| {
            let list = powers.iter().filter(|each| each.1 == sign * exponent);
            let list: Vec<ExprId> = list.map(|each| each.0.id).collect();
            self.exprs.product(list)
        };
        let (above, below) = (of(1), of(-1));
        let ratio = self.exprs.div(above, below);
        let exponent = self.exprs.integer(i64::from(exponent));
        self.exprs.power(ratio, exponent)
    }

    /// Writes a complete expression: `-(a - b)` is `b - a`.
    pub(super) fn whole(&mut self, term: &Term) -> ExprId {
        let mut term = term.clone();
        if term.number.is_negative() {
            let of_power = |power: i32| {
                term.powers
                    .iter()
                    .filter(move |each| *each.1 == power)
                    .map(|each| *each.0)
            };
            let mut sums = of_power(1).chain(of_power(-1));
            if let Some(sum) = sums.find(|factor| takes_minus(self.exprs, factor.id)) {
                let power = term.powers[&sum];
                let reversed = self.reversed(sum.id);
                let reversed = Factor::new(self.exprs, reversed);
                term.number = -term.number;
                term.powers.remove(&sum);
                multiply(&mut term.powers, reversed, power);
            }
        }
        self.product(&term)
    }

    /// Returns a sum with the opposite sign, positive terms first.
    fn reversed(&mut self, sum: ExprId) -> ExprId {
        let terms = terms_of(self.exprs, sum);
        let has_minus = terms.iter().any(|term| is_negative(self.exprs, *term));
        let minus: Vec<ExprId> = terms
            .into_iter()
            .map(|term| match has_minus {
                true => self.exprs.neg(term),
                false => self.reversed_product(term),
            })
            .collect();
        let (below, mut all): (Vec<ExprId>, Vec<ExprId>) =
            minus.into_iter().partition(|term| is_negative(self.exprs, *term));
        all.extend(below);
        self.exprs.sum(all)
    }

    /// Returns a product with the opposite sign, which one of its factors absorbs if possible.
    fn reversed_product(&mut self, term: ExprId) -> ExprId {
        let Some(sum) = sum_with_minus(self.exprs, term) else {
            return self.exprs.neg(term);
        };
        let reversed = self.reversed(sum);
        let Node::Product(list) = self.exprs.node(term).clone() else {
            return reversed;
        };
        let factors = list
            .iter()
            .map(|factor| if *factor == sum { reversed } else { *factor });
        self.exprs.product(factors)
    }

    /// Returns twice an angle, with the number inside its product.
    fn twice(&mut self, angle: ExprId) -> ExprId {
        let two = self.exprs.integer(2);
        self.exprs.mul(two, angle)
    }

    /// Returns true if a sum is written with the opposite sign: most terms are positive or, in a tie, the first one by name is positive.
    fn is_reversed(&self, terms: &[Term]) -> bool {
        let negative = terms.iter().filter(|term| term.number.is_negative()).count();
        let first = || terms.iter().min_by_key(|term| self.words(&term.powers));
        match (2 * negative).cmp(&terms.len()) {
            Ordering::Less => false,
            Ordering::Equal => first().is_some_and(|term| term.number.is_negative()),
            Ordering::Greater => true,
        }
    }

    /// Returns an expression as a factor. A sum is the same factor for any order of its terms.
    pub(super) fn factor(&mut self, id: ExprId) -> Factor {
        let known = match self.exprs.node(id) {
            Node::Sum(_) => *self.sums.entry(name_of(self.exprs, id)).or_insert(id),
            _ => id,
        };
        Factor::new(self.exprs, known)
    }

    /// Adds up the terms; those that are known to be positive come first.
    fn plain_sum(&mut self, terms: &[Term]) -> ExprId {
        let mut terms: Vec<&Term> = terms.iter().collect();
        // Division by a common denominator reverses the order of its factors.
        if terms.iter().any(|term| term.powers.values().any(|power| *power < 0)) {
            let exprs = &*self.exprs;
            let of_sign = |term: &Term, sign: i32| {
                let places = term.powers.iter().filter(|each| each.1.signum() == sign);
                places.map(|each| each.0.place(exprs)).min()
            };
            terms.sort_by_key(|term| of_sign(term, 1).or_else(|| of_sign(term, -1)));
        }
        let products: Vec<(bool, ExprId)> = terms
            .iter()
            .map(|term| (term.number.is_negative(), self.product(term)))
            .collect();
        let of_sign = |sign: bool| products.iter().filter(move |each| each.0 == sign).map(|each| each.1);
        let all: Vec<ExprId> = of_sign(false).chain(of_sign(true)).collect();
        self.exprs.sum(all)
    }

    /// Returns the shortest form found for a sum of terms, as one term that may have a sum as a factor.
    pub(super) fn as_term(&mut self, terms: Vec<Term>) -> Term {
        let terms = joined(terms);
        match terms.len() {
            0 => return Term::number(BigRational::zero()),
            1 => return terms[0].clone(),
            _ => {}
        }
        let common = self.common(&terms);
        let whole = self.apart(&terms, &common);
        let above: Powers = common
            .powers
            .iter()
            .filter(|each| *each.1 > 0)
            .map(|each| (*each.0, *each.1))
            .collect();
        if above.len() == common.powers.len() || terms.len() > TRIED_APART {
            return whole;
        }
        // With a separate denominator for each term, which may cancel more there.
        let common = Term {
            number: common.number,
            powers: above,
        };
        let single = self.apart(&terms, &common);
        let lengths = (self.written(&single), self.written(&whole));
        match lengths.0.is_less(self.exprs, lengths.1) {
            true => single,
            false => whole,
        }
    }

    /// Returns the length of a term.
    pub(super) fn written(&mut self, term: &Term) -> Length {
        let id = self.whole(term);
        Length::of(self.exprs, id)
    }

    /// Returns the common factor times the rest of the sum, with partial common factors extracted.
    fn apart(&mut self, terms: &[Term], common: &Term) -> Term {
        let inverse: Powers = common.powers.iter().map(|each| (*each.0, -each.1)).collect();
        let number = BigRational::one() / &common.number;
        let mut rest: Vec<Term> = terms.iter().map(|term| term.times(&number, &inverse)).collect();
        loop {
            if let Some(shorter) = self.square_of_sum(&rest) {
                rest = shorter;
                continue;
            }
            let Some(chosen) = self.best_part(&rest) else {
                match self.product_of_sums(&rest) {
                    Some(shorter) => rest = shorter,
                    None => break,
                }
                continue;
            };
            let first = chosen[0];
            let part: Vec<Term> = chosen.iter().map(|k| rest[*k].clone()).collect();
            let collected = self.as_term(part);
            let mut others: Vec<Term> = Vec::with_capacity(rest.len() - chosen.len() + 1);
            for (k, term) in rest.into_iter().enumerate() {
                if k == first {
                    others.push(collected.clone());
                } else if !chosen.contains(&k) {
                    others.push(term);
                }
            }
            rest = joined(others);
        }
        if let [only] = &rest[..] {
            return only.times(&common.number, &common.powers);
        }
        // A collected sum may now be in all terms.
        if rest.len() < terms.len() && shared_powers(&rest).keys().any(|factor| factor.is_sum()) {
            return self.as_term(rest).times(&common.number, &common.powers);
        }
        let mut product = common.clone();
        if self.is_reversed(&rest) {
            rest.iter_mut().for_each(|term| term.number = -term.number.clone());
            product.number = -product.number;
        }
        let sum = self.plain_sum(&rest);
        let sum = self.factor(sum);
        multiply(&mut product.powers, sum, 1);
        product
    }

    /// Returns the factor of all terms.
    fn common(&mut self, terms: &[Term]) -> Term {
        let powers = shared_powers(terms);
        let numbers: Vec<&BigRational> = terms.iter().map(|term| &term.number).collect();
        Term {
            number: common_number(&numbers),
            powers,
        }
    }

    /// Writes `a^2 - 2*a*b + b^2` as `(a - b)^2`, even if other terms are present.
    fn square_of_sum(&mut self, terms: &[Term]) -> Option<Vec<Term>> {
        if !(3..=SQUARED).contains(&terms.len()) {
            return None;
        }
        let mut roots: Vec<(usize, Term)> = Vec::new();
        roots.extend((0..terms.len()).filter_map(|k| Some((k, terms[k].root()?))));
        roots.sort_by(|a, b| a.1.powers.cmp(&b.1.powers));
        for (k, (first, a)) in roots.iter().enumerate() {
            for (second, b) in &roots[k + 1..] {
                let mut twice = a.times_power(b, 1);
                twice.number *= BigRational::from_integer(BigInt::from(2));
                let is_mixed = |term: &Term| term.powers == twice.powers && term.number.abs() == twice.number;
                let Some(third) = terms.iter().position(is_mixed) else {
                    continue;
                };
                // Both squares may be subtracted.
                let sign = terms[*first].number.signum();
                if sign != terms[*second].number.signum() {
                    continue;
                }
                let mut b = b.clone();
                b.number *= &sign * terms[third].number.signum();
                let sum = self.as_term(vec![a.clone(), b]);
                let square = Term::number(sign).times_power(&sum, 2);
                let places = [*first, *second, third];
                let kept = (0..terms.len()).filter(|k| !places.contains(k));
                let mut shorter = vec![square];
                shorter.extend(kept.map(|k| terms[k].clone()));
                return Some(joined(shorter));
            }
        }
        None
    }

    /// Writes `a*g + a*h - b*g - b*h` as `(a - b)*(g + h)`: two parts of a sum that differ only in their common factors.
    fn product_of_sums(&mut self, terms: &[Term]) -> Option<Vec<Term>> {
        if !(4..=PAIRED).contains(&terms.len()) {
            return None;
        }
        let mut parts: Vec<FactoredSum> = places(terms)
            .into_values()
            .filter(|list| list.len() >= 2)
            .map(|list| FactoredSum::new(terms, list))
            .collect();
        parts.sort_by_cached_key(|part| self.words(&part.shared.powers));
        for (k, one) in parts.iter().enumerate() {
            for other in &parts[k + 1..] {
                if one.rest != other.rest || one.places.iter().any(|place| other.places.contains(place)) {
                    continue;
                }
                let sum = self.as_term(one.rest.clone());
                let factor = self.as_term(vec![one.shared.clone(), other.shared.clone()]);
                let product = factor.times(&sum.number, &sum.powers);
                let kept = (0..terms.len()).filter(|k| !one.places.contains(k) && !other.places.contains(k));
                let mut shorter = vec![product];
                shorter.extend(kept.map(|k| terms[k].clone()));
                return Some(joined(shorter));
            }
        }
        None
    }
}

/// Returns true if a term of an expression has a minus sign.
fn is_negative(exprs: &Exprs, id: ExprId) -> bool {
    let number = match exprs.node(id) {
        Node::Product(list) => exprs.as_number(list[0]),
        _ => exprs.as_number(id),
    };
    number.is_some_and(Signed::is_negative)
}

fn terms_of(exprs: &Exprs, id: ExprId) -> Vec<ExprId> {
    match exprs.node(id) {
        Node::Sum(list) => list.to_vec(),
        _ => Vec::new(),
    }
}

/// Returns true if a sum is as short with the opposite sign: one of its terms is negative, or a sum in one of them has a negative term.
fn takes_minus(exprs: &Exprs, id: ExprId) -> bool {
    let terms = terms_of(exprs, id);
    let is_open = |term: &ExprId| is_negative(exprs, *term) || sum_with_minus(exprs, *term).is_some();
    terms.iter().any(is_open)
}

/// Returns the factor of a product that is a sum with no more positive terms than negative ones; the first one by name.
fn sum_with_minus(exprs: &Exprs, term: ExprId) -> Option<ExprId> {
    let Node::Product(list) = exprs.node(term) else {
        return None;
    };
    let has_minus = |id: &ExprId| {
        let terms = terms_of(exprs, *id);
        let negative = terms.iter().filter(|term| is_negative(exprs, **term)).count();
        negative > 0 && 2 * negative >= terms.len()
    };
    let sums = list.iter().copied().filter(has_minus);
    sums.min_by_key(|id| Factor::new(exprs, *id))
}
