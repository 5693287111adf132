//! Times in options: `0.5` in seconds, or with a unit as in `500 [ms]`.

use lgm_algebra::expr::to_f64;
use lgm_algebra::units::{UnitPower, unit_of};
use lgm_equations::shortest_decimal;
use lgm_source::{SourceId, Span};

/// Parses a time in seconds.
pub(super) fn time(text: &str) -> Result<f64, String> {
    seconds(text).ok_or_else(|| format!("a time is a finite number of seconds, or has a unit as in `{EXAMPLE}`"))
}

/// Parses a positive time in seconds.
pub(super) fn duration(text: &str) -> Result<f64, String> {
    let found = seconds(text).filter(|seconds| *seconds > 0.0);
    found.ok_or_else(|| format!("a duration is a number of seconds above 0, or has a unit as in `{EXAMPLE}`"))
}

const EXAMPLE: &str = "20 [ms]";

fn seconds(text: &str) -> Option<f64> {
    let text = text.trim();
    let Some(start) = text.strip_suffix(']') else {
        return text.parse().ok().filter(|seconds: &f64| seconds.is_finite());
    };
    let (number, unit) = start.split_once('[')?;
    let number: f64 = number.trim().parse().ok().filter(|number: &f64| number.is_finite())?;
    let of = |name| {
        let power = UnitPower {
            name,
            exponent: (1, 1),
            span: Span::new(SourceId(0), 0, 0),
        };
        unit_of([power]).ok()
    };
    let unit = of(unit.trim()).filter(|unit| Some(unit.dimension) == of("s").map(|second| second.dimension))?;
    Some(to_f64(&unit.to_si(&shortest_decimal(number)))).filter(|seconds| seconds.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        assert_eq!(time("-4"), Ok(-4.0));
        assert_eq!(time("4 [ms]"), Ok(0.004));
        assert_eq!(time("0.1[us]"), Ok(1e-7));
        assert_eq!(duration(" 2 [h] "), Ok(7200.0));
        for wrong in ["4 [m]", "4 ms", "inf", "1e400 [s]", "[s]", "3 [s", ""] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
        assert!(duration("0 [s]").is_err() && duration("-1").is_err());
    }
}
