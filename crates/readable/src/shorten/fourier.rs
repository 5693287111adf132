//! Trigonometric polynomials as Fourier sums, in which all identities of sine and cosine hold automatically.
//!
//! A product of sines and cosines of angles is a unique sum of exponentials `exp(i*f)` of integer combinations f of
//! these angles, with exact coefficients. Divisibility by sin(u) or cos(u) is visible along lines of frequencies: 1 -
//! cos(2*u) is twice the square of sin(u), sin(a)*cos(b) - cos(a)*sin(b) is sin(a - b).

use super::terms::Term;
use crate::factor::{Factor, multiply};
use lgm_algebra::expr::{ExprId, Exprs, Function, Node};
use num_bigint::BigInt;
use num_complex::Complex;
use num_integer::Integer as _;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};
use std::collections::BTreeMap;

/// The maximum number of exponentials of a sum.
const LONGEST: usize = 1_000;

/// The highest examined frequency.
const HIGHEST: i32 = 16;

/// The maximum number of waves in which pairs are searched for.
const PAIRED: usize = 5;

/// The maximum number of sines and cosines in a product.
const HALVINGS: u32 = 24;

/// The multiplicity of each angle in a sum of angles.
pub(super) type Frequency = Vec<i32>;

/// Exponentials with their coefficients, none of them zero. The function is real: opposite frequencies have conjugate
/// coefficients.
pub(super) type Series = BTreeMap<Frequency, Complex<BigRational>>;

fn real(value: BigRational) -> Complex<BigRational> {
    Complex::new(value, BigRational::zero())
}

fn whole(value: i32) -> BigRational {
    BigRational::from_integer(BigInt::from(value))
}

fn combined(a: &Frequency, b: &Frequency, times: i32) -> Frequency {
    a.iter().zip(b).map(|(a, b)| a + times * b).collect()
}

fn add(sum: &mut Series, frequency: Frequency, value: Complex<BigRational>) {
    let entry = sum.entry(frequency);
    match entry {
        std::collections::btree_map::Entry::Vacant(entry) => {
            if !value.is_zero() {
                entry.insert(value);
            }
        }
        std::collections::btree_map::Entry::Occupied(mut entry) => {
            *entry.get_mut() += value;
            if entry.get().is_zero() {
                entry.remove();
            }
        }
    }
}

/// Returns the sum divided by sin(u) or cos(u), if no remainder is left.
///
/// `exp(i*u) +- exp(-i*u)` is divided out from the highest frequency down.
pub(super) fn quotient(series: &Series, function: Function, u: &Frequency) -> Option<Series> {
    // In the direction of any angle, no exponential of a product is beyond those of the sum that it forms.
    let mut bounds = vec![0; u.len()];
    for frequency in series.keys() {
        bounds
            .iter_mut()
            .zip(frequency)
            .for_each(|(bound, k)| *bound = k.abs().max(*bound));
    }
    let mut rest = series.clone();
    let mut found = Series::new();
    // 1/cos(u) is 2 over the sum of both exponentials, 1/sin(u) is 2*i over their difference.
    let scale = match function {
        Function::Cos => real(whole(2)),
        _ => Complex::new(BigRational::zero(), whole(2)),
    };
    while let Some((frequency, value)) = rest.pop_last() {
        let below = combined(&frequency, u, -2);
        if below.iter().zip(&bounds).any(|(k, bound)| k.abs() > *bound) {
            return None;
        }
        let taken = if function == Function::Cos {
            -value.clone()
        } else {
            value.clone()
        };
        add(&mut rest, below, taken);
        found.insert(combined(&frequency, u, -1), &value * &scale);
    }
    Some(found)
}

/// Returns the angles u for which sin(u) or cos(u) may divide the sum: half the distance of its highest frequency from
/// others, or an integer fraction of that; shorter ones first.
pub(super) fn candidates(series: &Series) -> Vec<Frequency> {
    let Some(highest) = series.keys().next_back() else {
        return Vec::new();
    };
    let mut found: Vec<Frequency> = Vec::new();
    for other in series.keys().rev().skip(1) {
        let distance = combined(highest, other, -1);
        if distance.iter().any(|k| k % 2 != 0) {
            continue;
        }
        let half: Frequency = distance.iter().map(|k| k / 2).collect();
        let common = half.iter().fold(0, |gcd, k| gcd.gcd(k));
        for part in (1..=common).rev().filter(|part| common % part == 0) {
            let u: Frequency = half.iter().map(|k| k / part).collect();
            if !found.contains(&u) {
                found.push(u);
            }
        }
    }
    found.sort_by_key(|u| u.iter().map(|k| k.abs()).sum::<i32>());
    found
}

/// The angles in sines and cosines, as integer combinations of a few basic ones.
pub(super) struct Angles {
    /// The summands, with the value of one of them.
    atoms: Vec<(ExprId, BigRational)>,
    /// Arguments as written.
    known: Vec<(ExprId, Frequency)>,
}

impl Angles {
    /// Finds the combinations of these arguments.
    pub(super) fn new(exprs: &mut Exprs, arguments: &[ExprId]) -> Option<Angles> {
        // The first of two angles is the positive one.
        let mut atoms: BTreeMap<Factor, BigInt> = BTreeMap::new();
        let mut forms = Vec::with_capacity(arguments.len());
        for argument in arguments {
            let form = linear(exprs, *argument);
            for (atom, number) in &form {
                let unit = atoms.entry(Factor::new(exprs, *atom)).or_insert_with(BigInt::one);
                *unit = unit.lcm(number.denom());
            }
            forms.push(form);
        }
        let place: BTreeMap<ExprId, usize> = atoms.keys().enumerate().map(|(k, atom)| (atom.id, k)).collect();
        let mut known = Vec::with_capacity(arguments.len());
        for (argument, form) in arguments.iter().zip(forms) {
            let mut frequency = vec![0; atoms.len()];
            for (atom, number) in form {
                let unit = atoms[&Factor::new(exprs, atom)].clone();
                let count = (number * BigRational::from_integer(unit)).to_integer();
                frequency[place[&atom]] = count.to_i32().filter(|count| count.abs() <= HIGHEST)?;
            }
            known.push((*argument, frequency));
        }
        let unit = |lcm: BigInt| BigRational::new(BigInt::one(), lcm);
        Some(Angles {
            atoms: atoms.into_iter().map(|(atom, lcm)| (atom.id, unit(lcm))).collect(),
            known,
        })
    }

    /// Returns the number of angles.
    pub(super) fn count(&self) -> usize {
        self.atoms.len()
    }

    /// Returns the frequency of an argument.
    pub(super) fn frequency(&self, argument: ExprId) -> Option<&Frequency> {
        self.known
            .iter()
            .find(|known| known.0 == argument)
            .map(|known| &known.1)
    }

    /// Returns the argument of a frequency, and true if it has the opposite sign: as originally written, or with the
    /// first angle positive.
    fn argument(&self, exprs: &mut Exprs, frequency: &Frequency) -> (ExprId, bool) {
        let minus: Frequency = frequency.iter().map(|k| -k).collect();
        for (id, known) in &self.known {
            if known == frequency || *known == minus {
                return (*id, *known == minus);
            }
        }
        // Twice a difference is written as such, not as a difference of doubled terms.
        let common = frequency.iter().fold(0, |gcd, k| gcd.gcd(k)).max(1);
        let number = exprs.number(whole(common));
        for (id, known) in &self.known {
            let is_multiple = |sign: i32| known.iter().zip(frequency).all(|(k, f)| k * common * sign == *f);
            if is_multiple(1) || is_multiple(-1) {
                return (exprs.mul(number, *id), is_multiple(-1));
            }
        }
        let is_reversed = frequency.iter().find(|k| **k != 0).is_some_and(|k| *k < 0);
        let frequency = if is_reversed { &minus } else { frequency };
        let of_sign = |exprs: &mut Exprs, is_negative: bool| -> Vec<ExprId> {
            let places = self.atoms.iter().zip(frequency);
            let places = places.filter(|(_, k)| **k != 0 && (**k < 0) == is_negative);
            places
                .map(|((atom, unit), k)| {
                    let number = exprs.number(unit * whole(k / common));
                    exprs.mul(number, *atom)
                })
                .collect()
        };
        let mut terms = of_sign(exprs, false);
        terms.extend(of_sign(exprs, true));
        let sum = exprs.sum(terms);
        (exprs.mul(number, sum), is_reversed)
    }

    /// Returns sin(f) or cos(f) as a sign and a function.
    pub(super) fn call(&self, exprs: &mut Exprs, function: Function, frequency: &Frequency) -> (BigRational, ExprId) {
        let (argument, is_reversed) = self.argument(exprs, frequency);
        let sign = if is_reversed && function == Function::Sin {
            -1
        } else {
            1
        };
        (whole(sign), exprs.call(function, [argument]))
    }

    /// Multiplies a term by a power of sin(f) or cos(f).
    pub(super) fn times_power(
        &self,
        exprs: &mut Exprs,
        term: &mut Term,
        function: Function,
        u: &Frequency,
        power: i32,
    ) {
        let (sign, call) = self.call(exprs, function, u);
        if power % 2 != 0 {
            term.number *= sign;
        }
        match exprs.as_number(call).cloned() {
            Some(number) => term.number *= number.pow(power),
            None => multiply(&mut term.powers, Factor::new(exprs, call), power),
        }
    }

    /// Writes the sum as sines and cosines of sums of angles.
    pub(super) fn waves(&self, exprs: &mut Exprs, series: &Series) -> Vec<Term> {
        let zero = vec![0; self.count()];
        let mut terms = Vec::new();
        for (frequency, value) in series.iter().rev().filter(|each| *each.0 >= zero) {
            if *frequency == zero {
                terms.push(Term::number(value.re.clone()));
                continue;
            }
            for (function, number) in [
                (Function::Cos, &value.re * whole(2)),
                (Function::Sin, &value.im * whole(-2)),
            ] {
                if !number.is_zero() {
                    let mut term = Term::number(number);
                    self.times_power(exprs, &mut term, function, frequency, 1);
                    terms.push(term);
                }
            }
        }
        terms
    }

    /// Writes the sum with cosines of doubled angles as squares: all of them, or the one that absorbs the constant, as
    /// `1 + cos(2*u)` is `2*cos(u)^2`.
    pub(super) fn squares(&self, exprs: &mut Exprs, series: &Series) -> Vec<Vec<Term>> {
        let zero = vec![0; self.count()];
        let constant = series.get(&zero).map_or(BigRational::zero(), |value| value.re.clone());
        let is_doubled = |each: &(&Frequency, &Complex<BigRational>)| {
            *each.0 > zero && !each.1.re.is_zero() && each.0.iter().all(|k| k % 2 == 0)
        };
        let doubled: Vec<(Frequency, BigRational)> = series
            .iter()
            .filter(is_doubled)
            .map(|(frequency, value)| (frequency.clone(), &value.re * whole(2)))
            .collect();
        let mut found = Vec::new();
        for function in [Function::Cos, Function::Sin] {
            // cos(2*u) is 2*cos(u)^2 - 1, or 1 - 2*sin(u)^2.
            let sign = whole(if function == Function::Cos { 1 } else { -1 });
            let mut choices = vec![doubled.clone()];
            let alone = doubled.iter().filter(|(_, amplitude)| amplitude * &sign == constant);
            choices.extend(alone.map(|one| vec![one.clone()]));
            for chosen in choices.into_iter().filter(|chosen| !chosen.is_empty()) {
                let mut rest = series.clone();
                let mut terms = Vec::new();
                for (frequency, amplitude) in chosen {
                    let half: Frequency = frequency.iter().map(|k| k / 2).collect();
                    let minus: Frequency = frequency.iter().map(|k| -k).collect();
                    let less = real(-&amplitude / whole(2));
                    add(&mut rest, frequency, less.clone());
                    add(&mut rest, minus, less);
                    add(&mut rest, zero.clone(), real(-&amplitude * &sign));
                    let mut square = Term::number(amplitude * whole(2) * &sign);
                    self.times_power(exprs, &mut square, function, &half, 2);
                    terms.push(square);
                }
                terms.extend(self.waves(exprs, &rest));
                found.push(terms);
            }
        }
        found
    }

    /// Finds pairs of waves in a sum, up to a common amplitude, with the rest: `cos(x + y) + 3*cos(x - y)` is twice
    /// `cos(x)*cos(y)`, and `2*cos(x - y)`.
    pub(super) fn pairs(&self, series: &Series) -> Vec<(Series, Series)> {
        let zero = vec![0; self.count()];
        let waves: Vec<(&Frequency, &Complex<BigRational>)> = series.iter().filter(|each| *each.0 > zero).collect();
        let mut found = Vec::new();
        if waves.len() > PAIRED {
            return found;
        }
        let amplitude = |value: &Complex<BigRational>| value.re.abs() + value.im.abs();
        for (k, (f, a)) in waves.iter().enumerate() {
            for (g, b) in &waves[k + 1..] {
                // Both are cosines, or both are sines.
                let are_alike = (a.re.is_zero() && b.re.is_zero()) || (a.im.is_zero() && b.im.is_zero());
                if !are_alike || series.len() == 4 && amplitude(a) == amplitude(b) {
                    continue;
                }
                let least = amplitude(a).min(amplitude(b));
                let (mut pair, mut rest) = (Series::new(), series.clone());
                for (frequency, value) in [(*f, *a), (*g, *b)] {
                    let part = value * real(&least / amplitude(value));
                    let minus: Frequency = frequency.iter().map(|k| -k).collect();
                    for (frequency, part) in [(frequency.clone(), part.clone()), (minus, part.conj())] {
                        add(&mut rest, frequency.clone(), -part.clone());
                        add(&mut pair, frequency, part);
                    }
                }
                found.push((pair, rest));
            }
        }
        found
    }

    /// Writes the sum as products of sines and cosines of the individual angles, each sine (or each cosine) with a power of at most one.
    pub(super) fn powers(&self, exprs: &mut Exprs, series: &Series, squares_of: Function) -> Option<Vec<Term>> {
        // Powers of the cosine and of the sine of each angle.
        type Exponents = Vec<(i32, i32)>;
        let mut all: BTreeMap<Exponents, Complex<BigRational>> = BTreeMap::new();
        for (frequency, value) in series {
            if frequency.iter().map(|k| k.abs()).sum::<i32>() > HIGHEST {
                return None;
            }
            let mut product: Vec<(Exponents, Complex<BigRational>)> = vec![(Vec::new(), value.clone())];
            for k in frequency {
                let factor = binomial(*k, squares_of);
                let mut next = Vec::with_capacity(product.len() * factor.len());
                for (exponents, number) in &product {
                    for (powers, other) in &factor {
                        let mut exponents = exponents.clone();
                        exponents.push(*powers);
                        next.push((exponents, number * other));
                    }
                }
                product = next;
            }
            for (exponents, number) in product {
                *all.entry(exponents).or_insert_with(Complex::zero) += number;
            }
            if all.len() > LONGEST {
                return None;
            }
        }
        let mut terms = Vec::new();
        for (exponents, number) in all.into_iter().rev().filter(|each| !each.1.is_zero()) {
            let mut term = Term::number(number.re);
            for (place, (cosines, sines)) in exponents.into_iter().enumerate() {
                let mut u = vec![0; self.count()];
                u[place] = 1;
                for (function, power) in [(Function::Cos, cosines), (Function::Sin, sines)] {
                    if power != 0 {
                        self.times_power(exprs, &mut term, function, &u, power);
                    }
                }
            }
            terms.push(term);
        }
        Some(terms)
    }
}

/// Expands `exp(i*k*x)` in powers of cos(x) and sin(x); with `Cos`, squares of sines are replaced, with `Sin` those of cosines.
fn binomial(k: i32, squares_of: Function) -> Vec<((i32, i32), Complex<BigRational>)> {
    let mut found: BTreeMap<(i32, i32), Complex<BigRational>> = BTreeMap::from([((0, 0), Complex::one())]);
    let i = Complex::new(BigRational::zero(), whole(k.signum()));
    for _ in 0..k.abs() {
        let mut next: BTreeMap<(i32, i32), Complex<BigRational>> = BTreeMap::new();
        let mut push = |exponents: (i32, i32), value: Complex<BigRational>| {
            *next.entry(exponents).or_insert_with(Complex::zero) += value;
        };
        for ((cosines, sines), value) in found {
            for (cosines, sines, value) in [(cosines + 1, sines, value.clone()), (cosines, sines + 1, &value * &i)] {
                match squares_of {
                    Function::Cos if sines == 2 => {
                        push((cosines, 0), value.clone());
                        push((cosines + 2, 0), -value);
                    }
                    Function::Sin if cosines == 2 => {
                        push((0, sines), value.clone());
                        push((0, sines + 2), -value);
                    }
                    _ => push((cosines, sines), value),
                }
            }
        }
        found = next;
    }
    found.into_iter().filter(|each| !each.1.is_zero()).collect()
}

/// Writes an angle as numbers times parts.
fn linear(exprs: &mut Exprs, root: ExprId) -> Vec<(ExprId, BigRational)> {
    let mut found: BTreeMap<ExprId, BigRational> = BTreeMap::new();
    let mut stack = vec![(root, BigRational::one())];
    while let Some((id, scale)) = stack.pop() {
        match exprs.node(id).clone() {
            Node::Sum(list) => stack.extend(list.iter().map(|term| (*term, scale.clone()))),
            Node::Product(list) if exprs.as_number(list[0]).is_some() => {
                let number = exprs.as_number(list[0]).cloned().unwrap_or_else(BigRational::one);
                let rest = exprs.product(list[1..].iter().copied());
                stack.push((rest, scale * number));
            }
            Node::Number(value) => {
                let one = exprs.one();
                *found.entry(one).or_insert_with(BigRational::zero) += scale * &*value;
            }
            _ => *found.entry(id).or_insert_with(BigRational::zero) += scale,
        }
    }
    found.into_iter().filter(|each| !each.1.is_zero()).collect()
}

/// A product of powers of sines and cosines: exponentials with integer coefficients, over a power of two.
pub(super) struct Waves {
    exponentials: BTreeMap<Frequency, Complex<i64>>,
    halvings: u32,
}

impl Waves {
    /// Returns the product; `None` if it is too long.
    pub(super) fn new(factors: &[(Function, &Frequency, i32)], angles: usize) -> Option<Waves> {
        let one = Complex::new(1, 0);
        let mut found = Waves {
            exponentials: BTreeMap::from([(vec![0; angles], one)]),
            halvings: 0,
        };
        for (function, u, power) in factors {
            for _ in 0..*power {
                found.halvings += 1;
                // Twice the cosine is exp(i*u) + exp(-i*u), twice the sine is -i*exp(i*u) + i*exp(-i*u).
                let scale = match function {
                    Function::Cos => one,
                    _ => Complex::new(0, -1),
                };
                let mut next: BTreeMap<Frequency, Complex<i64>> = BTreeMap::new();
                for (frequency, value) in &found.exponentials {
                    for (sign, scale) in [(1, scale), (-1, scale.conj())] {
                        *next.entry(combined(frequency, u, sign)).or_default() += value * scale;
                    }
                }
                found.exponentials = next;
                if found.halvings > HALVINGS || found.exponentials.len() > LONGEST {
                    return None;
                }
            }
        }
        Some(found)
    }

    /// Adds a multiple of the product to a sum.
    pub(super) fn add_to(&self, sum: &mut Series, number: &BigRational) {
        let number = number / BigRational::from_integer(BigInt::one() << self.halvings);
        for (frequency, value) in &self.exponentials {
            let part = |part: i64| &number * BigRational::from_integer(BigInt::from(part));
            add(sum, frequency.clone(), Complex::new(part(value.re), part(value.im)));
        }
    }
}
