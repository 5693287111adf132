//! The two ends of the frequency axis, below and above all zeros and poles. There a curve approaches a level to within round-off.
//!
//! There the curve minus the level is a power series in the frequency over the magnitude of the nearest root, or in its inverse. Leading
//! coefficients below round-off are zero: the curve then reaches the level at the end and does not cross it. The first remaining term is
//! not small compared with the others.

use super::roots::{Curve, Range, whole_range};
use crate::transfer::Factored;
use num_complex::Complex;
use std::f64::consts::{FRAC_PI_2, PI};

/// The smallest ratio between an end of the frequency range and the nearest root.
const APART: f64 = 4.0;

/// The number of terms of a series; the omitted rest is below `APART^-40`.
const TERMS: i32 = 40;

/// Sums below this fraction of their terms are zero.
const ZERO: f64 = 1e-11;

/// Zeros and poles that mirror each other to this relative distance cancel in the magnitude (all-pass).
const MIRRORED: f64 = 1e-9;

/// The maximum number of intervals examined.
const INTERVALS: usize = 20_000;

/// An end of the frequency axis, with the roots relative to the nearest one or its reciprocal.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Low,
    High,
}

/// Returns the frequencies, ascending, at which the curve of the magnitude or of the phase crosses a level. `None` if there are too many to
/// be distinguished.
pub(super) fn all_crossings(curve: Curve, of: &Factored, level: f64) -> Option<Vec<f64>> {
    let (from, to) = whole_range(of);
    let sizes = of.zeros.iter().chain(&of.poles).map(|root| root.norm());
    let sizes: Vec<f64> = sizes.filter(|size| *size > 0.0).collect();
    let least = sizes.iter().copied().fold(f64::INFINITY, f64::min);
    let most = sizes.iter().copied().fold(0.0, f64::max);
    let is_constant = curve == Curve::Phase || of.relative_degree() == 0;
    if !least.is_finite() {
        return match is_constant {
            true => Some(Vec::new()),
            false => curve.crossings(of, level, from, to),
        };
    }
    if curve == Curve::LogMagnitude && is_on_level(of, level) {
        return Some(Vec::new());
    }
    let (low, high) = (least / APART, most * APART);
    let mut found = match constant(curve, of, End::Low) {
        Some(constant) => of_end(curve, of, constant - level, End::Low, least)?,
        None => curve.crossings(of, level, from.min(low), low)?,
    };
    found.extend(curve.crossings(of, level, low, high)?);
    found.extend(match constant(curve, of, End::High) {
        Some(constant) => of_end(curve, of, constant - level, End::High, most)?,
        None => curve.crossings(of, level, high, to.max(high))?,
    });
    found.sort_by(f64::total_cmp);
    Some(found)
}

/// Returns true if the magnitude is at the level at all frequencies: each zero is a pole, or mirrors one.
fn is_on_level(of: &Factored, level: f64) -> bool {
    let mut open: Vec<Complex<f64>> = of.poles.clone();
    let is_constant = of.relative_degree() == 0
        && of.zeros.iter().all(|zero| {
            let is_image = |pole: &Complex<f64>| {
                let mirrored = Complex::new(-zero.re.abs(), zero.im);
                (Complex::new(-pole.re.abs(), pole.im) - mirrored).norm() <= MIRRORED * zero.norm()
            };
            let place = open.iter().position(is_image);
            place.map(|at| open.swap_remove(at)).is_some()
        });
    is_constant && (of.gain.abs().ln() - level).abs() <= ZERO
}

/// Returns the limit of the curve at an end; `None` if the magnitude goes to zero or infinity.
fn constant(curve: Curve, of: &Factored, end: End) -> Option<f64> {
    let turned = if of.gain < 0.0 { PI } else { 0.0 };
    let at_rest = |root: &Complex<f64>| match root.norm() == 0.0 {
        true => FRAC_PI_2,
        false => Curve::Phase.term(*root, 0.0),
    };
    let sum = |roots: &[Complex<f64>]| roots.iter().map(at_rest).sum::<f64>();
    match (curve, end) {
        (Curve::Phase, End::Low) => Some(turned + sum(&of.zeros) - sum(&of.poles)),
        (Curve::Phase, End::High) => Some(turned - f64::from(of.relative_degree()) * FRAC_PI_2),
        (_, End::Low) => {
            let gain = of.static_gain.filter(|gain| *gain != 0.0 && gain.is_finite());
            gain.map(|gain| gain.abs().ln())
        }
        (_, End::High) => (of.relative_degree() == 0).then(|| of.gain.abs().ln()),
    }
}

/// Returns the crossings at an end.
fn of_end(curve: Curve, of: &Factored, constant: f64, end: End, nearest: f64) -> Option<Vec<f64>> {
    let found = zeros_of(&series(curve, of, constant, end, nearest), 1.0 / APART)?;
    let omega = |t: f64| match end {
        End::Low => nearest * t,
        End::High => nearest / t,
    };
    Some(found.into_iter().map(omega).collect())
}

/// Returns the curve minus the level as coefficients of powers of t, the frequency over the magnitude of the nearest root, or its inverse.
/// Leading zero coefficients are omitted. Empty if all are zero.
fn series(curve: Curve, of: &Factored, constant: f64, end: End, nearest: f64) -> Vec<f64> {
    let ratio = |root: &Complex<f64>| match end {
        End::High => *root / nearest,
        End::Low if root.norm() == 0.0 => Complex::default(),
        End::Low => Complex::new(nearest, 0.0) / root,
    };
    let zeros = of.zeros.iter().map(|root| (1.0, ratio(root)));
    let roots: Vec<(f64, Complex<f64>)> = zeros.chain(of.poles.iter().map(|root| (-1.0, ratio(root)))).collect();
    let sum = |power: i32| {
        let (mut value, mut size) = (0.0, 0.0);
        for (sign, root) in &roots {
            let term = root.powi(power);
            value += sign * term.re;
            size += term.norm();
        }
        match value.abs() <= ZERO * size {
            true => 0.0,
            false => value / f64::from(power),
        }
    };
    // ln(1 - y) = -y - y^2/2 - .. with y the root over jw, or jw over the root: even powers are real, and odd ones imaginary.
    let coefficient = |power: i32| {
        let alternating = if power / 2 % 2 == 0 { 1.0 } else { -1.0 };
        match (curve, power % 2, end) {
            (Curve::Phase, 1, End::High) => alternating * sum(power),
            (Curve::Phase, 1, End::Low) => -alternating * sum(power),
            (Curve::LogMagnitude, 0, _) => -alternating * sum(power),
            _ => 0.0,
        }
    };
    let constant = if constant.abs() <= ZERO { 0.0 } else { constant };
    let list = std::iter::once(constant).chain((1..TERMS).map(coefficient));
    list.skip_while(|value| *value == 0.0).collect()
}

/// Returns the zeros of a polynomial between 0, which is excluded, and `most`. `None` if there are too many to be distinguished.
fn zeros_of(coefficients: &[f64], most: f64) -> Option<Vec<f64>> {
    let derivative: Vec<f64> = (1..coefficients.len()).map(|k| k as f64 * coefficients[k]).collect();
    let value = |t: f64| coefficients.iter().rev().fold(0.0, |sum, each| sum * t + each);
    let mut open = vec![(0.0, most)];
    let mut found = Vec::new();
    let mut looked_at = 0;
    while let Some((low, high)) = open.pop() {
        looked_at += 1;
        if looked_at > INTERVALS {
            return None;
        }
        if !range(coefficients, low, high).holds_zero() {
            continue;
        }
        let is_between = value(low) * value(high) < 0.0;
        let middle = 0.5 * (low + high);
        if !range(&derivative, low, high).holds_zero() || high - low <= 1e-14 * high {
            if is_between {
                found.push(bisected(&value, low, high));
            }
            continue;
        }
        open.push((middle, high));
        open.push((low, middle));
    }
    Some(found)
}

/// Returns bounds of a polynomial between two nonnegative numbers.
fn range(coefficients: &[f64], low: f64, high: f64) -> Range {
    let (mut sum, mut powers) = (Range { low: 0.0, high: 0.0 }, (1.0, 1.0));
    for value in coefficients {
        let ends = [value * powers.0, value * powers.1];
        sum.low += ends[0].min(ends[1]);
        sum.high += ends[0].max(ends[1]);
        powers = (powers.0 * low, powers.1 * high);
    }
    sum
}

fn bisected(value: &dyn Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    let first = value(low);
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return middle;
        }
        match value(middle) * first > 0.0 {
            true => low = middle,
            false => high = middle,
        }
    }
}
