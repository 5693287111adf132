//! Curves over the frequency, as sums with one term for each zero and each pole, and their roots.
//!
//! Each term and its slope have known bounds on any interval. If the sum of bounds excludes zero, the interval contains no root; if the
//! slope keeps its sign, the interval contains at most one. No root is therefore missed, however narrow a resonance is.

use crate::transfer::Factored;
use num_complex::Complex;

/// A curve given by zeros and poles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Curve {
    /// ln abs(H)
    LogMagnitude,
    /// The derivative of ln abs(H).
    Slope,
    /// arg(H) in radians, continuous except at roots on the imaginary axis.
    Phase,
}

/// The maximum number of intervals examined.
const INTERVALS: usize = 200_000;

/// Intervals narrower than this fraction of their frequency are not divided: a few units of round-off.
const NARROW: f64 = 1e-14;

/// Lower and upper bound.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Range {
    fn of(values: &[f64]) -> Range {
        let mut range = Range {
            low: f64::INFINITY,
            high: f64::NEG_INFINITY,
        };
        for value in values {
            range.low = range.low.min(*value);
            range.high = range.high.max(*value);
        }
        range
    }

    pub(super) fn holds_zero(self) -> bool {
        // The round-off of long sums relative to their terms is unknown here: bounds that touch zero contain it.
        !(self.low > 0.0 || self.high < 0.0)
    }
}

impl Curve {
    /// Returns the term of one root at a frequency.
    pub(super) fn term(self, root: Complex<f64>, omega: f64) -> f64 {
        let distance = omega - root.im;
        match self {
            Curve::LogMagnitude => root.re.hypot(distance).ln(),
            // Squares are avoided because they underflow far below all roots.
            Curve::Slope => {
                let size = root.re.hypot(distance);
                distance / size / size
            }
            // Avoids a jump if the root is close to the axis.
            Curve::Phase if root.re > 0.0 => std::f64::consts::PI - distance.atan2(root.re),
            Curve::Phase => distance.atan2(-root.re),
        }
    }

    /// Returns the bounds of the term between two frequencies.
    fn term_range(self, root: Complex<f64>, from: f64, to: f64) -> Range {
        let ends = [self.term(root, from), self.term(root, to)];
        let inside = |omega: f64| from < omega && omega < to;
        let mut values = ends.to_vec();
        let width = root.re.abs();
        match self {
            Curve::LogMagnitude if inside(root.im) => values.push(width.ln()),
            Curve::Slope if width == 0.0 && (inside(root.im) || from == root.im || to == root.im) => {
                values.extend([f64::NEG_INFINITY, f64::INFINITY]);
            }
            Curve::Slope => {
                let peaks = [root.im - width, root.im + width]
                    .into_iter()
                    .filter(|omega| inside(*omega));
                values.extend(peaks.map(|omega| self.term(root, omega)));
            }
            Curve::Phase if width == 0.0 && inside(root.im) => {
                values.extend([-std::f64::consts::FRAC_PI_2, std::f64::consts::FRAC_PI_2]);
            }
            // The term is monotone between the ends.
            Curve::LogMagnitude | Curve::Phase => {}
        }
        Range::of(&values)
    }

    /// Returns the bounds of the term's slope between two frequencies.
    fn slope_range(self, root: Complex<f64>, from: f64, to: f64) -> Range {
        let slope = |omega: f64| {
            let distance = omega - root.im;
            let size = root.re.hypot(distance);
            let (real, imaginary) = (root.re / size, distance / size);
            match self {
                Curve::LogMagnitude => imaginary / size,
                Curve::Slope => (real * real - imaginary * imaginary) / size / size,
                Curve::Phase => -real / size,
            }
        };
        let width = root.re.abs();
        if width == 0.0 && from <= root.im && root.im <= to {
            return Range {
                low: f64::NEG_INFINITY,
                high: f64::INFINITY,
            };
        }
        let turns = match self {
            Curve::LogMagnitude => [root.im - width, root.im + width, root.im],
            Curve::Slope => [root.im - 3f64.sqrt() * width, root.im + 3f64.sqrt() * width, root.im],
            Curve::Phase => [root.im; 3],
        };
        let turns = turns.into_iter().filter(|omega| from < *omega && *omega < to);
        let values: Vec<f64> = [from, to].into_iter().chain(turns).map(slope).collect();
        Range::of(&values)
    }

    /// Returns the contribution of the constant factor.
    fn constant(self, of: &Factored) -> f64 {
        match self {
            Curve::LogMagnitude => of.gain.abs().ln(),
            Curve::Phase if of.gain < 0.0 => std::f64::consts::PI,
            Curve::Slope | Curve::Phase => 0.0,
        }
    }

    /// Returns the value of the curve minus the level.
    pub(super) fn value(self, of: &Factored, level: f64, omega: f64) -> f64 {
        let zeros: f64 = of.zeros.iter().map(|root| self.term(*root, omega)).sum();
        let poles: f64 = of.poles.iter().map(|root| self.term(*root, omega)).sum();
        self.constant(of) - level + zeros - poles
    }

    fn sum_of_ranges(self, of: &Factored, from: f64, to: f64, slope: bool) -> Range {
        let range = |root: &Complex<f64>| match slope {
            true => self.slope_range(*root, from, to),
            false => self.term_range(*root, from, to),
        };
        let mut sum = Range { low: 0.0, high: 0.0 };
        for zero in of.zeros.iter().map(range) {
            sum = Range {
                low: sum.low + zero.low,
                high: sum.high + zero.high,
            };
        }
        for pole in of.poles.iter().map(range) {
            sum = Range {
                low: sum.low - pole.high,
                high: sum.high - pole.low,
            };
        }
        sum
    }

    /// Returns a lower and an upper bound of the curve between two frequencies.
    pub(super) fn bounds(self, of: &Factored, from: f64, to: f64) -> (f64, f64) {
        let range = self.sum_of_ranges(of, from, to, false);
        (range.low + self.constant(of), range.high + self.constant(of))
    }

    /// Returns the frequencies, ascending, at which the curve crosses a level between two positive frequencies. `None` if there are too
    /// many to be distinguished.
    pub(super) fn crossings(self, of: &Factored, level: f64, from: f64, to: f64) -> Option<Vec<f64>> {
        let mut open = vec![(from, to)];
        let mut found = Vec::new();
        let mut looked_at = 0;
        while let Some((low, high)) = open.pop() {
            looked_at += 1;
            if looked_at > INTERVALS {
                return None;
            }
            let (least, most) = self.bounds(of, low, high);
            if least > level || most < level {
                continue;
            }
            let (first, last) = (self.value(of, level, low), self.value(of, level, high));
            let slopes = self.sum_of_ranges(of, low, high, true);
            let middle = low.sqrt() * high.sqrt();
            // From the midpoint the curve goes no further than its slopes allow. A curve that stays on the level does not cross it.
            let reach = slopes.high.abs().max(slopes.low.abs()) * (high - low);
            if reach == 0.0 || self.value(of, level, middle).abs() > 1.001 * reach {
                continue;
            }
            if !slopes.holds_zero() {
                if first == 0.0 || first * last < 0.0 {
                    found.push(self.bisected(of, level, low, high));
                }
                continue;
            }
            if high - low <= NARROW * high || middle <= low || middle >= high {
                // If roots lie on the imaginary axis, the curve jumps past the level without crossing it.
                let is_jump = first.is_finite() && last.is_finite() && (last - first).abs() > 0.1;
                if first * last < 0.0 && !is_jump {
                    found.push(middle);
                }
                continue;
            }
            open.push((middle, high));
            open.push((low, middle));
        }
        Some(found)
    }

    fn bisected(self, of: &Factored, level: f64, mut low: f64, mut high: f64) -> f64 {
        let first = self.value(of, level, low);
        if first == 0.0 {
            return low;
        }
        loop {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                return middle;
            }
            match self.value(of, level, middle) * first > 0.0 {
                true => low = middle,
                false => high = middle,
            }
        }
    }
}

/// Returns frequencies far below and far above all features.
pub(super) fn whole_range(of: &Factored) -> (f64, f64) {
    let sizes = of
        .zeros
        .iter()
        .chain(&of.poles)
        .map(|root| root.norm())
        .filter(|size| *size > 0.0);
    let range = Range::of(&sizes.collect::<Vec<_>>());
    let degree = f64::from(of.relative_degree());
    if !range.low.is_finite() {
        // Only powers of s: the frequency at which the magnitude is 1.
        let centre = if degree == 0.0 {
            1.0
        } else {
            of.gain.abs().powf(1.0 / degree)
        };
        return (1e-3 * centre, 1e3 * centre);
    }
    // Beyond all roots, the outermost slopes of the curve determine whether it crosses 1.
    let outer = |value: f64| if value.is_finite() && value > 0.0 { value } else { 1.0 };
    let above = outer((of.gain.abs()).powf(1.0 / degree.max(1.0))).max(range.high);
    let origin = |roots: &[Complex<f64>]| roots.iter().filter(|root| root.norm() == 0.0).count() as f64;
    let slope = origin(&of.poles) - origin(&of.zeros);
    let mut below = range.low;
    if slope != 0.0 {
        let level = Curve::LogMagnitude.value(of, 0.0, 1e-6 * range.low);
        let crossing = (1e-6 * range.low).ln() + level / slope;
        below = below.min(outer(crossing.exp()));
    }
    (1e-6 * below, 1e6 * above)
}
