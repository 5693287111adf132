//! The run duration that shows the slowest mode.

use crate::eigen::poles::poles;
use lgm_model::system::SparseMatrix;
use num_complex::Complex;

/// The maximum number of states for which poles are computed without a request: more take too long.
pub const MOST_STATES: usize = 300;

/// The duration in time constants of the slowest decay, after which it is below 1 %.
const TIME_CONSTANTS: f64 = 5.0;

/// The duration in periods of the slowest oscillation.
const PERIODS: f64 = 10.0;

/// A pole below this fraction of the largest is an integral that round-off has moved away from 0.
const INTEGRAL: f64 = 1e-9;

/// A duration and the mode from which it was chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Duration {
    /// The duration in seconds: 1, 2 or 5 times a power of ten.
    pub seconds: f64,
    /// The pole of the slowest mode.
    pub pole: Complex<f64>,
    /// True if the duration was chosen from periods instead of time constants.
    pub counts_periods: bool,
}

/// Returns the duration that shows the slowest mode. For each mode it covers five time constants, or ten periods if those are shorter; the
/// longest is rounded up. `None` if there are only integrals, or too many states to search for modes.
pub fn duration(a: &SparseMatrix<f64>) -> Option<Duration> {
    if a.rows.len() > MOST_STATES {
        return None;
    }
    let poles = poles(a)?;
    let largest = poles.iter().map(|pole| pole.norm()).fold(0.0, f64::max);
    let modes = poles.into_iter().filter(|pole| pole.norm() > INTEGRAL * largest);
    let lengths = modes.map(|pole| {
        let decay = TIME_CONSTANTS / pole.re.abs();
        let vibration = PERIODS * std::f64::consts::TAU / pole.im.abs();
        (decay.min(vibration), pole, vibration < decay)
    });
    let longest = lengths.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let seconds = round_up(longest.0);
    seconds.is_normal().then_some(Duration {
        seconds,
        pole: longest.1,
        counts_periods: longest.2,
    })
}

/// Rounds up to 1, 2 or 5 times a power of ten, with a tolerance for round-off.
fn round_up(seconds: f64) -> f64 {
    let decade = 10f64.powi(seconds.log10().floor() as i32);
    let factors = [1.0, 2.0, 5.0].into_iter();
    let fits = factors
        .map(|factor| factor * decade)
        .find(|value| *value * (1.0 + 1e-9) >= seconds);
    let rounded = fits.unwrap_or(10.0 * decade);
    // Parsing gives the double nearest to the decimal, which the power of ten may miss.
    format!("{rounded:.0e}").parse().unwrap_or(rounded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rows: &[&[f64]]) -> Option<Duration> {
        let sparse = |row: &[f64]| {
            row.iter()
                .enumerate()
                .map(|(column, value)| (column as u32, *value))
                .collect()
        };
        duration(&SparseMatrix {
            columns: rows.len(),
            rows: rows.iter().map(|row| sparse(row)).collect(),
        })
    }

    #[test]
    fn decays_are_followed_for_five_time_constants_and_vibrations_for_ten_periods() {
        // Time constants 3 s and 1 ms: 15 s, rounded up.
        let found = of(&[&[-1.0 / 3.0, 0.0], &[0.0, -1000.0]]).unwrap();
        assert_eq!((found.seconds, found.counts_periods), (20.0, false));
        // An undamped period of 1 s, and the same with little damping.
        let omega = std::f64::consts::TAU;
        for damping in [0.0, 0.01] {
            let found = of(&[&[-damping, -omega], &[omega, -damping]]).unwrap();
            assert_eq!((found.seconds, found.counts_periods), (10.0, true));
        }
        // With strong damping the motion ends sooner.
        let found = of(&[&[-omega, -omega], &[omega, -omega]]).unwrap();
        assert_eq!((found.seconds, found.counts_periods), (1.0, false));
        // Growing modes get the same duration as decaying ones.
        assert_eq!(of(&[&[1e-7]]).unwrap().seconds, 5e7);
    }

    #[test]
    fn integrals_take_no_time_of_their_own() {
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[&[0.0]]), None);
        assert_eq!(of(&[&[0.0, 1.0], &[0.0, -50.0]]).unwrap().seconds, 0.1);
        assert_eq!(of(&[&[-1e-300]]).map(|found| found.seconds), Some(5e300));
        assert_eq!(of(&[&[f64::NAN]]), None);
    }

    #[test]
    fn lengths_are_rounded_up_to_one_digit() {
        for (seconds, rounded) in [
            (1.0, 1.0),
            (1.1, 2.0),
            (2.0, 2.0),
            (3e-7, 5e-7),
            (5.1e4, 1e5),
            (0.3, 0.5),
        ] {
            assert_eq!(round_up(seconds), rounded);
        }
    }
}
