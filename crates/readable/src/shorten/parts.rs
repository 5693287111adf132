//! The choice of the next factor to extract from a sum.

use super::collect::Collector;
use super::length::Saved;
use super::names::name_of;
use super::numbers::{common_number, number_length};
use super::terms::{Term, places, shared_powers};
use crate::factor::{Factor, Powers};
use lgm_algebra::expr::{Node, operations, text};
use num_rational::BigRational;
use num_traits::{One, Signed};

/// Up to this number of parts, the combined savings with other parts are considered.
const AHEAD: usize = 24;

/// Terms with extractable factors.
struct Candidate {
    gain: Saved,
    /// The names in their common factors.
    words: Vec<String>,
    /// The indices of the terms.
    list: Vec<usize>,
}

impl Candidate {
    /// Returns the savings combined with those of adjacent candidates, the best ones first: `a*x - a*y + b*z - b*y` is
    /// `a*(x - y) + b*(z - y)`, and not `a*x + b*z - y*(a + b)`.
    fn with_others(&self, all: &[Candidate]) -> Saved {
        let (mut total, mut taken) = (self.gain, self.list.clone());
        for other in all {
            if !other.list.iter().any(|place| taken.contains(place)) {
                total.operations += other.gain.operations;
                total.characters += other.gain.characters;
                taken.extend(&other.list);
            }
        }
        total
    }
}

impl Collector<'_> {
    /// Returns the proper subset of terms whose common factor saves most. Each term has the same power of some factor,
    /// so a polynomial in a velocity stays together.
    pub(super) fn best_part(&mut self, terms: &[Term]) -> Option<Vec<usize>> {
        let mut found: Vec<Candidate> = Vec::new();
        for list in places(terms).into_values() {
            // Factors common to all terms stay with the terms.
            if list.len() < 2 || list.len() == terms.len() {
                continue;
            }
            let part: Vec<Term> = list.iter().map(|k| terms[*k].clone()).collect();
            let shared = shared_powers(&part);
            let gain = self.gain(&part, &shared);
            if gain > Saved::default() {
                let words = self.words(&shared);
                found.push(Candidate { gain, words, list });
            }
        }
        // The order is by name, independent of the order of declarations.
        found.sort_by(|a, b| b.gain.cmp(&a.gain).then_with(|| a.words.cmp(&b.words)));
        let mut chosen = 0;
        if found.len() <= AHEAD {
            let totals: Vec<Saved> = found.iter().map(|first| first.with_others(&found)).collect();
            // The first one with the largest total.
            let best = (0..found.len()).rev().max_by_key(|at| totals[*at])?;
            self.looking_ahead_matters |= best != 0;
            chosen = if self.looks_ahead { best } else { 0 };
        }
        (chosen < found.len()).then(|| found.swap_remove(chosen).list)
    }

    /// Returns the savings if powers are extracted from the terms that contain them.
    fn gain(&mut self, part: &[Term], shared: &Powers) -> Saved {
        let others = part.len() as i64 - 1;
        let numbers: Vec<&BigRational> = part.iter().map(|term| &term.number).collect();
        let common = common_number(&numbers);
        let number = number_length(&common.abs()) as i64;
        let mut gain = Saved {
            operations: others * i64::from(number > 0),
            characters: others * number,
        };
        for length in shared.iter().map(|each| self.length(each)) {
            gain.operations += others * length.operations;
            gain.characters += others * length.characters;
        }
        // `x/a` without x is `1/a`, with the same number of operations. The common factor itself leaves a 1, and parentheses are added.
        let is_above = number > 0 || shared.values().any(|exponent| *exponent > 0);
        let is_empty = |term: &&Term| {
            let above = term.powers.iter().filter(|each| *each.1 > 0);
            let mut rest = above.map(|(factor, own)| own - shared.get(factor).copied().unwrap_or(0));
            (&term.number / &common).abs().is_one() && rest.all(|power| power <= 0)
        };
        let empty = part.iter().filter(is_empty).count() as i64;
        gain.operations -= if is_above { empty } else { 0 };
        gain.characters -= empty + 3;
        gain
    }

    /// Returns the names in powers.
    pub(super) fn words(&self, powers: &Powers) -> Vec<String> {
        let exprs = &*self.exprs;
        let word = |(factor, exponent): (&Factor, &i32)| format!("{}^{exponent}", name_of(exprs, factor.id));
        let mut words: Vec<String> = powers.iter().map(word).collect();
        words.sort_unstable();
        words
    }

    /// Returns the length of a power with the adjacent product sign.
    fn length(&mut self, (factor, exponent): (&Factor, &i32)) -> Saved {
        let exprs = &*self.exprs;
        let own = *self.lengths.entry(factor.id).or_insert_with(|| {
            let parentheses = if matches!(exprs.node(factor.id), Node::Sum(_)) {
                2
            } else {
                0
            };
            Saved {
                operations: operations(exprs, factor.id).min(1_000) as i64,
                characters: (text(exprs, factor.id).len() + parentheses) as i64,
            }
        });
        let is_power = i64::from(exponent.abs() != 1);
        Saved {
            operations: own.operations + 1 + is_power,
            characters: own.characters + 1 + 2 * is_power,
        }
    }
}
