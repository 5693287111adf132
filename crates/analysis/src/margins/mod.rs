//! Exact stability margins of a loop and peaks of a response, without a frequency grid.

mod ends;
mod roots;

use crate::transfer::Factored;
use ends::all_crossings;
use num_complex::Complex;
use roots::{Curve, whole_range};
use std::f64::consts::{PI, TAU};

/// The stability margins of a loop `H` with negative feedback. With several crossovers, the smallest margins count.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Margins {
    /// The gain factor that makes the loop marginally stable; none if the phase does not cross -180 degrees.
    pub gain: Option<f64>,
    /// The phase lag in degrees that makes the loop marginally stable; none if the magnitude does not cross 1.
    pub phase: Option<f64>,
    /// The frequency at which the phase crosses -180 degrees, in rad/s.
    pub phase_crossover: Option<f64>,
    /// The frequency at which the magnitude crosses 1, in rad/s.
    pub gain_crossover: Option<f64>,
}

/// A maximum of the magnitude.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Peak {
    /// The frequency in rad/s.
    pub omega: f64,
    /// abs(H)
    pub magnitude: f64,
}

/// Roots within this relative distance of the imaginary axis are on it.
const ON_AXIS: f64 = 1e-12;

/// Within this relative distance of a root on the axis, its round-off determines the phase.
const PHASE_UNRELIABLE: f64 = 1e-6;

/// Computes H(jw).
fn value(of: &Factored, omega: f64) -> Complex<f64> {
    let log = Curve::LogMagnitude.value(of, 0.0, omega);
    Complex::from_polar(log.exp(), Curve::Phase.value(of, 0.0, omega))
}

/// Returns the margins of a loop; `None` if there are more crossings than can be distinguished.
pub fn margins(of: &Factored) -> Option<Margins> {
    let mut found = Margins::default();
    if of.gain == 0.0 {
        return Some(found);
    }
    let (from, to) = whole_range(of);
    let (least, most) = Curve::Phase.bounds(of, from, to);
    let mut crossovers = Vec::new();
    if let Some(gain) = of.static_gain.filter(|gain| *gain < 0.0) {
        crossovers.push((0.0, -gain));
    }
    let turns = ((least - PI) / TAU).ceil() as i64..=((most - PI) / TAU).floor() as i64;
    for turn in turns {
        let level = PI + TAU * turn as f64;
        let frequencies = all_crossings(Curve::Phase, of, level)?;
        crossovers.extend(frequencies.into_iter().map(|omega| (omega, value(of, omega).norm())));
    }
    // At a root on the imaginary axis H is zero or unbounded to within round-off, and its phase jumps.
    let is_on_axis = |omega: f64| {
        let mut roots = of.zeros.iter().chain(&of.poles);
        roots.any(|root| root.re.abs() <= ON_AXIS * omega && (root.im - omega).abs() <= PHASE_UNRELIABLE * omega)
    };
    let ratios = crossovers
        .iter()
        .filter(|crossover| crossover.1 > 0.0 && !is_on_axis(crossover.0))
        .map(|(omega, size)| (*omega, 1.0 / size));
    if let Some((omega, ratio)) = ratios.min_by(|a, b| a.1.ln().abs().total_cmp(&b.1.ln().abs())) {
        (found.phase_crossover, found.gain) = (Some(omega), Some(ratio));
    }
    let frequencies = all_crossings(Curve::LogMagnitude, of, 0.0)?;
    let phases = frequencies.into_iter().map(|omega| {
        let degrees = Curve::Phase.value(of, 0.0, omega).to_degrees();
        (omega, degrees.rem_euclid(360.0) - 180.0)
    });
    if let Some((omega, degrees)) = phases.min_by(|a, b| a.1.abs().total_cmp(&b.1.abs())) {
        (found.gain_crossover, found.phase) = (Some(omega), Some(degrees));
    }
    Some(found)
}

/// Returns the maxima of the magnitude between two frequencies, ascending; a pole on the imaginary axis is an unbounded maximum. Frequency
/// 0 means far below all zeros and poles. `None` if there are more maxima than can be distinguished.
pub fn peaks(of: &Factored, from: f64, to: f64) -> Option<Vec<Peak>> {
    let mut found: Vec<Peak> = Vec::new();
    let from = if from > 0.0 { from } else { whole_range(of).0.min(to) };
    for pole in &of.poles {
        if pole.re == 0.0 && from < pole.im && pole.im < to && found.iter().all(|peak| peak.omega != pole.im) {
            found.push(Peak {
                omega: pole.im,
                magnitude: f64::INFINITY,
            });
        }
    }
    for omega in Curve::Slope.crossings(of, 0.0, from, to)? {
        let step = 1e-6 * omega;
        let is_near_pole = found.iter().any(|peak| (peak.omega - omega).abs() < step);
        // The slope falls through zero at a maximum.
        let (before, after) = (
            Curve::Slope.value(of, 0.0, omega - step),
            Curve::Slope.value(of, 0.0, omega + step),
        );
        if before > after && !is_near_pole {
            found.push(Peak {
                omega,
                magnitude: value(of, omega).norm(),
            });
        }
    }
    found.sort_by(|a, b| a.omega.total_cmp(&b.omega));
    Some(found)
}

/// Returns a range of frequencies in rad/s that covers all features: from a decade below the smallest nonzero root to a decade above the
/// largest.
pub fn shown_range(list: &[Factored]) -> (f64, f64) {
    let roots = list.iter().flat_map(|of| of.zeros.iter().chain(&of.poles));
    range_about(roots.map(|root| root.norm()))
}

/// Returns the range from a decade below the smallest size to a decade above the largest; zeros are ignored.
pub(crate) fn range_about(sizes: impl Iterator<Item = f64>) -> (f64, f64) {
    let sizes: Vec<f64> = sizes.filter(|size| *size > 0.0).collect();
    let least = sizes.iter().copied().fold(f64::INFINITY, f64::min);
    let most = sizes.iter().copied().fold(0.0, f64::max);
    match least.is_finite() {
        true => (
            10f64.powf(least.log10().floor() - 1.0),
            10f64.powf(most.log10().ceil() + 1.0),
        ),
        false => (0.01, 100.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(zeros: &[(f64, f64)], poles: &[(f64, f64)], gain: f64) -> Factored {
        let list = |roots: &[(f64, f64)]| {
            roots
                .iter()
                .map(|root| Complex::new(root.0, root.1))
                .collect::<Vec<_>>()
        };
        let (zeros, poles) = (list(zeros), list(poles));
        let product = |roots: &[Complex<f64>]| roots.iter().map(|root| -root).product::<Complex<f64>>().re;
        let below = product(&poles);
        Factored {
            input: 0,
            output: 0,
            static_gain: (below != 0.0).then(|| gain * product(&zeros) / below),
            zeros,
            poles,
            gain,
        }
    }

    #[test]
    fn a_magnitude_that_comes_to_1_at_an_end_does_not_cross_it() {
        let side = 0.75_f64.sqrt();
        let none: [Factored; 6] = [
            // s/(s + 15), 1/(s + 1), an all-pass, and (s^2 + 1)/(s^2 + 4 s + 1).
            with(&[(0.0, 0.0)], &[(-15.0, 0.0)], 1.0),
            with(&[], &[(-1.0, 0.0)], 1.0),
            with(&[(1.0, 0.0)], &[(-1.0, 0.0)], -1.0),
            with(
                &[(0.0, 1.0), (0.0, -1.0)],
                &[(-2.0 + 3f64.sqrt(), 0.0), (-2.0 - 3f64.sqrt(), 0.0)],
                1.0,
            ),
            // Butterworth's filter of order 3, high pass and low pass.
            with(&[(0.0, 0.0); 3], &[(-1.0, 0.0), (-0.5, side), (-0.5, -side)], 1.0),
            with(&[], &[(-1.0, 0.0), (-0.5, side), (-0.5, -side)], 1.0),
        ];
        for of in &none {
            let found = margins(of);
            assert!(found.is_some_and(|margins| margins.phase.is_none()), "{of:?} {found:?}");
        }
        // 0.5 s^2/(0.5 s^2 + 2 s + 10), by hand: 4.0824829 rad/s and -78.46304 degrees.
        let of = with(&[(0.0, 0.0), (0.0, 0.0)], &[(-2.0, 4.0), (-2.0, -4.0)], 1.0);
        let found = margins(&of).unwrap_or_default();
        assert!(
            (found.gain_crossover.unwrap_or(0.0) - (50.0_f64 / 3.0).sqrt()).abs() < 1e-12,
            "{found:?}"
        );
        assert!((found.phase.unwrap_or(0.0) + 78.463040967).abs() < 1e-6, "{found:?}");
    }

    /// s/((s + a) (s + b)) is largest at sqrt(a b), where it is 1/(a + b).
    #[test]
    fn a_peak_is_found_in_any_range_around_it() {
        let (a, b) = (6.0658e-4, 9.342e-5);
        let of = with(&[(0.0, 0.0)], &[(-a, 0.0), (-b, 0.0)], 1.0);
        for (from, to) in [(0.0, 1e9), (1e-9, 1e9), (1e-4, 1e6), (1e-4, 1e12), (1e-300, 1.0)] {
            let found = peaks(&of, from, to).unwrap_or_default();
            assert_eq!(found.len(), 1, "{from} to {to}: {found:?}");
            assert!((found[0].omega / (a * b).sqrt() - 1.0).abs() < 1e-9, "{found:?}");
            assert!((found[0].magnitude * (a + b) - 1.0).abs() < 1e-12, "{found:?}");
        }
    }

    #[test]
    fn a_crossing_far_above_all_poles_is_found() {
        // abs(H)^2 = 1 where (1 - 2e-6)(w^2 + 4) = w^2 + 1.
        let gain = (1.0 - 2e-6_f64).sqrt();
        let found = margins(&with(&[(-2.0, 0.0)], &[(-1.0, 0.0)], gain)).unwrap_or_default();
        let exact = ((3.0 - 8e-6) / 2e-6_f64).sqrt();
        assert!(
            (found.gain_crossover.unwrap_or(0.0) / exact - 1.0).abs() < 1e-8,
            "{found:?} {exact}"
        );
    }

    /// A gyroscope whose phase reaches -180 degrees exactly where its magnitude vanishes.
    #[test]
    fn a_phase_that_turns_at_a_zero_has_no_gain_margin() {
        let zero = 15f64.sqrt();
        let poles = [
            (-0.013704016480305323, 4.265847243120399),
            (-0.013704016480305323, -4.265847243120399),
            (-0.011295983519694963, 3.516264025592149),
            (-0.011295983519694963, -3.516264025592149),
        ];
        let found = margins(&with(&[(4e-17, zero), (4e-17, -zero)], &poles, 0.5)).unwrap_or_default();
        assert_eq!(found.gain, None, "{found:?}");
    }

    #[test]
    fn a_zero_on_the_axis_has_no_gain_margin() {
        for rest in [0.0, 1e-15, -1e-15] {
            let of = with(
                &[(rest, 2.0), (rest, -2.0)],
                &[(-1.0, 1.0), (-1.0, -1.0), (-3.0, 0.0)],
                -1.0,
            );
            let found = margins(&of).unwrap_or_default();
            assert!(
                found.phase_crossover.is_none_or(|omega| (omega - 2.0).abs() > 0.1),
                "{found:?}"
            );
        }
    }
}
