//! Fractions in lowest terms as a person would write them: trigonometric identities are applied if they shorten, common
//! factors are extracted.
//!
//! Numerator and denominator are treated as sums of products of parameters and variables, each times a trigonometric
//! polynomial ([`super::fourier`]). Common factors of a sum, including sines and cosines of any of its angles, are
//! extracted and cancelled. Each polynomial is written in the shortest of several forms; then common factors are
//! collected ([`super::collect`]). Every step is an identity of exact numbers.

use super::collect::{self, Collector};
use super::fourier::{self, Angles, Frequency, Series, Waves};
use super::length::Length;
use super::numbers;
use super::terms::{Term, shared_powers};
use crate::factor::{Factor, Powers, multiply};
use indexmap::IndexMap;
use lgm_algebra::expr::{ExprId, Exprs, Function, Node};
use num_rational::BigRational;
use num_traits::{One, ToPrimitive, Zero};
use rustc_hash::FxHashMap;

/// Parts of expressions up to this number of nodes are also chosen with a look-ahead.
const AHEAD: u64 = 300;

/// Trigonometric polynomials with their factors, in writing order.
type Groups = IndexMap<Powers, Series>;

/// Rewrites an expression in lowest terms; returns `None` if it is too long.
pub(super) fn by_hand(exprs: &mut Exprs, id: ExprId) -> Option<ExprId> {
    let is_short = exprs.written_size(&[id]) <= AHEAD;
    let factors = factors_of(exprs, id);
    let mut arguments = Vec::new();
    for (base, _) in &factors {
        for term in terms_of(exprs, *base) {
            for (factor, _) in factors_of(exprs, term) {
                if let Node::Call(Function::Sin | Function::Cos, list) = exprs.node(factor)
                    && !arguments.contains(&list[0])
                {
                    arguments.push(list[0]);
                }
            }
        }
    }
    let angles = Angles::new(exprs, &arguments)?;
    let mut writer = Writer {
        angles,
        collector: Collector::new(exprs),
    };
    let (number, factors) = number_apart(writer.collector.exprs, factors)?;
    let mut parts = Vec::with_capacity(factors.len());
    for (base, exponent) in factors {
        parts.push((writer.part(base)?, exponent));
    }
    let mut best: Option<(Length, Term)> = None;
    // A common sine may be the sine of a multiple, which is shorter unchanged.
    let attempts: &[bool] = if arguments.is_empty() { &[true] } else { &[true, false] };
    for looks_ahead in [false, true] {
        if looks_ahead && !(is_short && writer.collector.looking_ahead_matters) {
            break;
        }
        writer.collector.looks_ahead = looks_ahead;
        for divides in attempts {
            let term = writer.fraction(&number, &parts, *divides)?;
            let length = writer.collector.written(&term);
            let exprs = &*writer.collector.exprs;
            if best.as_ref().is_none_or(|known| length.is_less(exprs, known.0)) {
                best = Some((length, term));
            }
        }
    }
    best.map(|(_, term)| writer.collector.whole(&term))
}

/// Returns the bases of a product with their integer exponents; numbers are bases as well.
pub(super) fn factors_of(exprs: &Exprs, id: ExprId) -> Vec<(ExprId, i32)> {
    let list = match exprs.node(id) {
        Node::Product(list) => list.to_vec(),
        _ => vec![id],
    };
    let power = |id: ExprId| match exprs.node(id) {
        Node::Power(base, exponent) => {
            let exponent = exprs.as_number(*exponent).filter(|exponent| exponent.is_integer());
            let small = exponent.and_then(|exponent| exponent.to_integer().to_i32());
            small.map_or((id, 1), |small| (*base, small))
        }
        _ => (id, 1),
    };
    list.into_iter().map(power).collect()
}

fn terms_of(exprs: &Exprs, id: ExprId) -> Vec<ExprId> {
    match exprs.node(id) {
        Node::Sum(list) => list.to_vec(),
        _ => vec![id],
    }
}

/// Returns the product of the numbers in a list of factors, and the other factors.
pub(super) fn number_apart(exprs: &Exprs, factors: Vec<(ExprId, i32)>) -> Option<(BigRational, Vec<(ExprId, i32)>)> {
    let mut number = BigRational::one();
    let mut others = Vec::with_capacity(factors.len());
    for (id, exponent) in factors {
        match exprs.as_number(id) {
            Some(value) if value.is_zero() || exponent.abs() > 64 => return None,
            Some(value) => number *= value.pow(exponent),
            None => others.push((id, exponent)),
        }
    }
    Some((number, others))
}

/// A factor of a fraction.
enum FractionFactor {
    Sum(Groups),
    /// A sine or cosine.
    Turning(Function, Frequency),
    Plain(Factor),
}

struct Writer<'e> {
    angles: Angles,
    collector: Collector<'e>,
}

impl Writer<'_> {
    /// Classifies a factor.
    fn part(&self, base: ExprId) -> Option<FractionFactor> {
        Some(match self.collector.exprs.node(base) {
            Node::Sum(list) => FractionFactor::Sum(self.groups(list)?),
            Node::Call(function @ (Function::Sin | Function::Cos), list) => {
                FractionFactor::Turning(*function, self.angles.frequency(list[0])?.clone())
            }
            _ => FractionFactor::Plain(Factor::new(self.collector.exprs, base)),
        })
    }

    /// Returns the product of the factors; sines and cosines that divide a whole sum are extracted if requested.
    fn fraction(&mut self, number: &BigRational, factors: &[(FractionFactor, i32)], divides: bool) -> Option<Term> {
        let mut front = Term::number(number.clone());
        let opened = opened(factors);
        let mut open: Option<Vec<Term>> = None;
        for (k, (base, exponent)) in factors.iter().enumerate() {
            match base {
                FractionFactor::Sum(groups) => {
                    if groups.is_empty() {
                        return (*exponent > 0).then(|| Term::number(BigRational::zero()));
                    }
                    let mut groups = groups.clone();
                    let common = self.common(&mut groups, divides);
                    front = front.times_power(&common, *exponent);
                    let mut terms = self.terms(groups)?;
                    if opened == Some(k) {
                        open = Some(terms);
                    } else {
                        let numbers: Vec<&BigRational> = terms.iter().map(|term| &term.number).collect();
                        let scale = numbers::scale(&numbers);
                        terms.iter_mut().for_each(|term| term.number /= &scale);
                        front.number *= scale.pow(*exponent);
                        let sum = self.collector.as_term(terms);
                        front = front.times_power(&sum, *exponent);
                    }
                }
                FractionFactor::Turning(function, frequency) => {
                    let exprs = &mut *self.collector.exprs;
                    self.angles
                        .times_power(exprs, &mut front, *function, frequency, *exponent);
                }
                FractionFactor::Plain(factor) => multiply(&mut front.powers, *factor, *exponent),
            }
        }
        let Some(open) = open else { return Some(front) };
        let terms = open
            .iter()
            .map(|term| term.times(&front.number, &front.powers))
            .collect();
        Some(self.collector.as_term(terms))
    }

    /// Groups a sum by the factors of its trigonometric polynomials.
    fn groups(&self, list: &[ExprId]) -> Option<Groups> {
        let exprs = &*self.collector.exprs;
        let mut groups = Groups::new();
        let mut known: FxHashMap<Vec<(ExprId, i32)>, Waves> = FxHashMap::default();
        let (mut rational, mut turning) = (Powers::new(), Vec::new());
        for term in list {
            let (number, factors) = number_apart(exprs, factors_of(exprs, *term))?;
            rational.clear();
            turning.clear();
            for (id, exponent) in factors {
                match exprs.node(id) {
                    Node::Call(Function::Sin | Function::Cos, _) if exponent > 0 => turning.push((id, exponent)),
                    _ => multiply(&mut rational, Factor::new(exprs, id), exponent),
                }
            }
            if !known.contains_key(&turning) {
                known.insert(turning.clone(), self.waves(&turning)?);
            }
            known[&turning].add_to(groups.entry(rational.clone()).or_default(), &number);
        }
        groups.retain(|_, series| !series.is_empty());
        (groups.len() <= collect::LONGEST).then_some(groups)
    }

    /// Expands a product of powers of sines and cosines to a sum.
    fn waves(&self, turning: &[(ExprId, i32)]) -> Option<Waves> {
        let mut factors = Vec::with_capacity(turning.len());
        for (id, exponent) in turning {
            if let Node::Call(function, list) = self.collector.exprs.node(*id) {
                factors.push((*function, self.angles.frequency(list[0])?, *exponent));
            }
        }
        Waves::new(&factors, self.angles.count())
    }

    /// Extracts the common factor of a sum.
    fn common(&mut self, groups: &mut Groups, divides: bool) -> Term {
        let list: Vec<Term> = groups
            .keys()
            .map(|powers| Term {
                number: BigRational::one(),
                powers: powers.clone(),
            })
            .collect();
        let mut common = Term {
            number: BigRational::one(),
            powers: shared_powers(&list),
        };
        let inverse: Powers = common.powers.iter().map(|each| (*each.0, -each.1)).collect();
        let taken = std::mem::take(groups);
        for (powers, series) in taken {
            let rest = Term {
                number: BigRational::one(),
                powers,
            };
            groups.insert(rest.times(&BigRational::one(), &inverse).powers, series);
        }
        if divides {
            let mut all: Vec<Series> = groups.values().cloned().collect();
            for (function, u, power) in divide(&mut all) {
                let exprs = &mut *self.collector.exprs;
                self.angles.times_power(exprs, &mut common, function, &u, power);
            }
            for (group, series) in groups.values_mut().zip(all) {
                *group = series;
            }
        }
        common
    }

    /// Returns the terms of a sum, each trigonometric polynomial in its shortest form.
    fn terms(&mut self, groups: Groups) -> Option<Vec<Term>> {
        let mut all = Vec::with_capacity(groups.len());
        for (powers, series) in groups {
            for term in self.shortest(&series) {
                all.push(term.times(&BigRational::one(), &powers));
            }
            if all.len() > collect::LONGEST {
                return None;
            }
        }
        Some(all)
    }

    /// Returns a trigonometric polynomial as terms: as a product, or as a sum in one of several forms.
    fn shortest(&mut self, series: &Series) -> Vec<Term> {
        let mut forms: Vec<Vec<Term>> = self.product(series).map(|product| vec![product]).into_iter().collect();
        forms.extend(self.sums(series));
        for (pair, rest) in self.angles.pairs(series) {
            if let Some(product) = self.product(&pair) {
                let mut form = vec![product];
                form.extend(self.angles.waves(self.collector.exprs, &rest));
                forms.push(form);
            }
        }
        self.least(forms)
    }

    /// Returns a trigonometric polynomial as sines and cosines times a rest, if any of them divides it.
    fn product(&mut self, series: &Series) -> Option<Term> {
        let mut rest = [series.clone()];
        let factors = divide(&mut rest);
        if factors.is_empty() {
            return None;
        }
        let forms = self.sums(&rest[0]);
        let sum = self.least(forms);
        let mut product = self.collector.as_term(sum);
        for (function, u, power) in factors {
            let exprs = &mut *self.collector.exprs;
            self.angles.times_power(exprs, &mut product, function, &u, power);
        }
        Some(product)
    }

    /// Returns the forms of a trigonometric polynomial that are sums.
    fn sums(&mut self, series: &Series) -> Vec<Vec<Term>> {
        let exprs = &mut *self.collector.exprs;
        let mut forms = vec![self.angles.waves(exprs, series)];
        forms.extend(self.angles.squares(exprs, series));
        for function in [Function::Cos, Function::Sin] {
            forms.extend(self.angles.powers(exprs, series, function));
        }
        forms.retain(|form| form.len() <= collect::LONGEST);
        forms
    }

    /// Returns the shortest of some forms.
    fn least(&mut self, forms: Vec<Vec<Term>>) -> Vec<Term> {
        let mut best: Option<(Length, Vec<Term>)> = None;
        for form in forms {
            let whole = self.collector.as_term(form.clone());
            let length = self.collector.written(&whole);
            let exprs = &*self.collector.exprs;
            if best.as_ref().is_none_or(|known| length.is_less(exprs, known.0)) {
                best = Some((length, form));
            }
        }
        best.map_or(Vec::new(), |found| found.1)
    }
}

/// Returns the index of the sum in the numerator whose terms absorb the other factors: the longest one.
fn opened(factors: &[(FractionFactor, i32)]) -> Option<usize> {
    let sums = factors.iter().enumerate().filter_map(|(k, factor)| match factor {
        (FractionFactor::Sum(groups), 1) => {
            let mut powers: Vec<&Powers> = groups.keys().collect();
            powers.sort_unstable();
            Some((k, powers))
        }
        _ => None,
    });
    let longest = sums.max_by(|a, b| a.1.len().cmp(&b.1.len()).then_with(|| b.1.cmp(&a.1)));
    longest.map(|(k, _)| k)
}

/// Divides all sums by the sines and cosines that divide each of them; returns these with their powers.
fn divide(all: &mut [Series]) -> Vec<(Function, Frequency, i32)> {
    let Some(smallest) = all.iter().min_by_key(|series| series.len()) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for u in fourier::candidates(smallest) {
        for function in [Function::Sin, Function::Cos] {
            let mut power = 0;
            while let Some(quotients) = quotients(all, function, &u) {
                all.clone_from_slice(&quotients);
                power += 1;
            }
            if power > 0 {
                found.push((function, u.clone(), power));
            }
        }
    }
    found
}

fn quotients(all: &[Series], function: Function, u: &Frequency) -> Option<Vec<Series>> {
    all.iter()
        .map(|series| fourier::quotient(series, function, u))
        .collect()
}
