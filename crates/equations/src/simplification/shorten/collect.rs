//! Sums with common factors taken out, where that is shorter: `m*l*g*s + m*l*h*s` is `m*l*s*(g + h)`.
//!
//! A term is a number times powers of factors, negative ones below the line. What all terms share stands in front of the sum;
//! within it, the factors that most terms of a part share are taken out of that part, as long as it saves operations.

use super::length::Length;
use lgm_algebra::expr::{ExprId, Exprs, Function, Node, SymbolId, operations, text};
use num_bigint::BigInt;
use num_integer::Integer as _;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Sums of more terms than this stay as they are.
pub(super) const LONGEST: usize = 200;

/// Sums of at most this many terms are tried with and without a common denominator.
const TRIED_APART: usize = 16;

/// Products of two sums are looked for in sums of at most this many terms.
const PAIRED: usize = 40;

/// A factor with its place among others: symbols in the order of their declaration, then functions, then sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Factor {
    place: (u8, u32),
    pub(super) id: ExprId,
}

impl Factor {
    pub(super) fn new(exprs: &Exprs, id: ExprId) -> Factor {
        let place = match exprs.node(id) {
            Node::Symbol(SymbolId(number)) => (0, *number),
            Node::Sum(_) => (2, id.0),
            _ => (1, id.0),
        };
        Factor { place, id }
    }
}

/// Powers of factors, without zeros.
pub(super) type Powers = BTreeMap<Factor, i32>;

/// Multiplies by a power of a factor.
pub(super) fn multiply(powers: &mut Powers, factor: Factor, exponent: i32) {
    let sum = powers.entry(factor).or_insert(0);
    *sum += exponent;
    if *sum == 0 {
        powers.remove(&factor);
    }
}

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

    /// The product with other powers.
    pub(super) fn times(&self, number: &BigRational, powers: &Powers) -> Term {
        let mut product = self.clone();
        product.number *= number;
        for (factor, exponent) in powers {
            multiply(&mut product.powers, *factor, *exponent);
        }
        product
    }

    /// The product with a power of another term.
    pub(super) fn times_power(&self, other: &Term, exponent: i32) -> Term {
        let powers = other.powers.iter().map(|each| (*each.0, each.1 * exponent)).collect();
        self.times(&other.number.pow(exponent), &powers)
    }
}

/// What writes terms in few operations.
pub(super) struct Collector<'e> {
    pub(super) exprs: &'e mut Exprs,
    /// The lengths of factors.
    lengths: FxHashMap<ExprId, Saved>,
}

/// What is saved by another form: operations, and characters among forms of as many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Saved {
    operations: i64,
    characters: i64,
}

impl Collector<'_> {
    pub(super) fn new(exprs: &mut Exprs) -> Collector<'_> {
        Collector {
            exprs,
            lengths: FxHashMap::default(),
        }
    }

    /// The expression of a term: sines times cosines of an angle as sines of twice the angle, sines over cosines as tangents.
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
        for (factor, exponent) in &powers {
            let is_ratio = exponent.abs() > 1 && powers.values().any(|other| *other == -exponent);
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

    /// `b^2/a^2` as `(b/a)^2`: the factors of this exponent above the line over those below.
    fn ratio(&mut self, powers: &Powers, exponent: i32) -> ExprId {
        let mut of = |sign: i32| {
            let list = powers.iter().filter(|each| *each.1 == sign * exponent);
            let list: Vec<ExprId> = list.map(|each| each.0.id).collect();
            self.exprs.product(list)
        };
        let (above, below) = (of(1), of(-1));
        let ratio = self.exprs.div(above, below);
        let exponent = self.exprs.integer(i64::from(exponent));
        self.exprs.power(ratio, exponent)
    }

    /// Twice an angle, the number inside a product of it.
    fn twice(&mut self, angle: ExprId) -> ExprId {
        let two = self.exprs.integer(2);
        self.exprs.mul(two, angle)
    }

    /// The terms added up: those that are known to be positive first.
    fn plain_sum(&mut self, terms: &[Term]) -> ExprId {
        let mut terms: Vec<&Term> = terms.iter().collect();
        // Division by a denominator of all turns the order of its factors round.
        if terms.iter().any(|term| term.powers.values().any(|power| *power < 0)) {
            let of_sign = |term: &Term, sign: i32| {
                let mut powers = term.powers.iter();
                powers.find(|each| each.1.signum() == sign).map(|each| *each.0)
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

    /// The shortest form found for a sum of terms, as one term with a sum among its factors where it takes one.
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
        // With a denominator of its own for each term, which may cancel more there.
        let common = Term {
            number: common.number,
            powers: above,
        };
        let single = self.apart(&terms, &common);
        match self.written(&single) < self.written(&whole) {
            true => single,
            false => whole,
        }
    }

    /// The length of a term.
    pub(super) fn written(&mut self, term: &Term) -> Length {
        let id = self.product(term);
        Length::of(self.exprs, id)
    }

    /// The common factor times what is left of the sum, with partly common factors taken out.
    fn apart(&mut self, terms: &[Term], common: &Term) -> Term {
        let inverse: Powers = common.powers.iter().map(|each| (*each.0, -each.1)).collect();
        let number = BigRational::one() / &common.number;
        let mut rest: Vec<Term> = terms.iter().map(|term| term.times(&number, &inverse)).collect();
        loop {
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
        let sum = self.plain_sum(&rest);
        let sum = Factor::new(self.exprs, sum);
        let mut product = common.clone();
        multiply(&mut product.powers, sum, 1);
        product
    }

    /// The factor of all terms.
    fn common(&mut self, terms: &[Term]) -> Term {
        let powers = shared_powers(terms);
        let numbers: Vec<&BigRational> = terms.iter().map(|term| &term.number).collect();
        Term {
            number: common_number(&numbers),
            powers,
        }
    }

    /// The places of the terms, not all, out of which it saves most to take what they share. Each has the same power of some
    /// factor: a polynomial in a velocity stays one.
    fn best_part(&mut self, terms: &[Term]) -> Option<Vec<usize>> {
        let places = places(terms);
        let mut best: Option<(Saved, Vec<String>, Vec<usize>)> = None;
        for list in places.into_values() {
            // What all share and still stands here is to stay with the terms.
            if list.len() < 2 || list.len() == terms.len() {
                continue;
            }
            let part: Vec<Term> = list.iter().map(|k| terms[*k].clone()).collect();
            let shared = shared_powers(&part);
            let gain = self.gain(&part, &shared);
            if gain <= Saved::default() {
                continue;
            }
            let is_best = match &best {
                None => true,
                Some(known) if gain != known.0 => gain > known.0,
                // The order of declarations decides nothing: names do.
                Some(known) => self.words(&shared) < known.1,
            };
            if is_best {
                let words = self.words(&shared);
                best = Some((gain, words, list));
            }
        }
        best.map(|found| found.2)
    }

    /// What it saves to take powers out of terms that share them.
    fn gain(&mut self, part: &[Term], shared: &Powers) -> Saved {
        let others = part.len() as i64 - 1;
        let numbers: Vec<&BigRational> = part.iter().map(|term| &term.number).collect();
        let number = number_length(&common_number(&numbers).abs()) as i64;
        let lengths: Vec<Saved> = shared.iter().map(|each| self.length(each)).collect();
        let mut gain = Saved {
            operations: others * i64::from(number > 0),
            characters: others * number,
        };
        for length in lengths {
            gain.operations += others * length.operations;
            gain.characters += others * length.characters;
        }
        // A 1 is left where a term is the common factor itself, and there are parentheses.
        let ones = part.iter().filter(|term| term.powers == *shared).count() as i64;
        gain.operations -= ones;
        gain.characters -= ones + 3;
        gain
    }

    /// Powers by the names in them.
    fn words(&self, powers: &Powers) -> Vec<String> {
        let exprs = &*self.exprs;
        let word = |(factor, exponent): (&Factor, &i32)| format!("{}^{exponent}", text(exprs, factor.id));
        let mut words: Vec<String> = powers.iter().map(word).collect();
        words.sort_unstable();
        words
    }

    /// `a*g + a*h - b*g - b*h` as `(a - b)*(g + h)`: two parts of a sum that are the same but for what each of them shares.
    fn product_of_sums(&mut self, terms: &[Term]) -> Option<Vec<Term>> {
        if !(4..=PAIRED).contains(&terms.len()) {
            return None;
        }
        let mut parts: Vec<Part> = places(terms)
            .into_values()
            .filter(|list| list.len() >= 2)
            .map(|list| Part::new(terms, list))
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

/// The places of the terms that have the same power of a factor.
fn places(terms: &[Term]) -> BTreeMap<(Factor, i32), Vec<usize>> {
    let mut places: BTreeMap<(Factor, i32), Vec<usize>> = BTreeMap::new();
    for (k, term) in terms.iter().enumerate() {
        for (factor, exponent) in &term.powers {
            places.entry((*factor, *exponent)).or_default().push(k);
        }
    }
    places
}

/// Some terms of a sum as what they share times a rest, whose first term has no number.
struct Part {
    places: Vec<usize>,
    shared: Term,
    rest: Vec<Term>,
}

impl Part {
    fn new(terms: &[Term], places: Vec<usize>) -> Part {
        let own: Vec<Term> = places.iter().map(|k| terms[*k].clone()).collect();
        let powers = shared_powers(&own);
        let inverse: Powers = powers.iter().map(|each| (*each.0, -each.1)).collect();
        let one = BigRational::one();
        let mut rest: Vec<Term> = own.iter().map(|term| term.times(&one, &inverse)).collect();
        rest.sort_by(|a, b| a.powers.cmp(&b.powers));
        let number = rest[0].number.clone();
        rest.iter_mut().for_each(|term| term.number /= &number);
        Part {
            places,
            shared: Term { number, powers },
            rest,
        }
    }
}

/// Equal powers added up, zeros left out; in the order of their first places.
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

/// The powers that all terms share: the lesser of positive ones, and of negative ones.
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

/// The number to take out of a sum: a sign that all share, and a factor that makes the numbers shorter.
pub(super) fn common_number(numbers: &[&BigRational]) -> BigRational {
    let is_negative = numbers.iter().all(|number| number.is_negative());
    let sign = BigRational::from_integer(BigInt::from(if is_negative { -1 } else { 1 }));
    let numerators = numbers
        .iter()
        .fold(BigInt::zero(), |gcd, number| gcd.gcd(number.numer()));
    let denominators = numbers
        .iter()
        .fold(BigInt::one(), |lcm, number| lcm.lcm(number.denom()));
    let within = |factor: &BigRational| -> usize {
        let inside: usize = numbers
            .iter()
            .map(|number| number_length(&(*number / factor).abs()))
            .sum();
        inside + number_length(factor)
    };
    let mut best = BigRational::one();
    for factor in [
        BigRational::from_integer(numerators.clone()),
        BigRational::new(BigInt::one(), denominators.clone()),
        BigRational::new(numerators, denominators),
    ] {
        if within(&factor) < within(&best) {
            best = factor;
        }
    }
    sign * best
}

/// About how many characters a positive number takes as a factor; none where it is 1.
fn number_length(number: &BigRational) -> usize {
    match number.is_one() {
        true => 0,
        false => lgm_algebra::expr::print::number(number).len() + 1,
    }
}
