//! The choice of what is taken out of a sum next.

use super::collect::Collector;
use super::length::Saved;
use super::names::name_of;
use super::numbers::{common_number, number_length};
use super::terms::{Term, places, shared_powers};
use crate::simplification::factor::{Factor, Powers};
use lgm_algebra::expr::{Node, operations, text};
use num_rational::BigRational;
use num_traits::{One, Signed};

/// Among so many parts at most, those that can be taken out as well count.
const AHEAD: usize = 24;

/// Terms out of which something can be taken.
struct Candidate {
    gain: Saved,
    /// The names in what they share.
    words: Vec<String>,
    /// The places of the terms.
    list: Vec<usize>,
}

impl Candidate {
    /// The savings together with those of others that lie beside it, the best ones first: `a*x - a*y + b*z - b*y` is
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
    /// The places of the terms, not all, out of which it saves most to take what they share. Each has the same power of some
    /// factor: a polynomial in a velocity stays one.
    pub(super) fn best_part(&mut self, terms: &[Term]) -> Option<Vec<usize>> {
        let mut found: Vec<Candidate> = Vec::new();
        for list in places(terms).into_values() {
            // Factors of all terms that still stand here are to stay with the terms.
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
        // The order of declarations decides nothing: names do.
        found.sort_by(|a, b| b.gain.cmp(&a.gain).then_with(|| a.words.cmp(&b.words)));
        let mut chosen = 0;
        if found.len() <= AHEAD {
            let totals: Vec<Saved> = found.iter().map(|first| first.with_others(&found)).collect();
            // The first one of the largest total.
            let best = (0..found.len()).rev().max_by_key(|at| totals[*at])?;
            self.looking_ahead_matters |= best != 0;
            chosen = if self.looks_ahead { best } else { 0 };
        }
        (chosen < found.len()).then(|| found.swap_remove(chosen).list)
    }

    /// The savings if powers are taken out of terms that share them.
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
        // `x/a` without x is `1/a`, of as many operations. A 1 is left of the common factor itself, and there are parentheses.
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

    /// Powers by the names in them.
    pub(super) fn words(&self, powers: &Powers) -> Vec<String> {
        let exprs = &*self.exprs;
        let word = |(factor, exponent): (&Factor, &i32)| format!("{}^{exponent}", name_of(exprs, factor.id));
        let mut words: Vec<String> = powers.iter().map(word).collect();
        words.sort_unstable();
        words
    }

    /// A power with the sign of the product beside it.
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
