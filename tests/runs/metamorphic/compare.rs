//! The criterion by which two runs count as equal.
//!
//! Two runs at the relative tolerance `rtol` may differ in a column by [`SHARE`] times `rtol` of the column's
//! magnitude. The magnitude is its range over the samples, but at least a thousandth of each of these: its largest
//! absolute value (for nearly constant columns); the largest value of the same quantity in the model; and its value if
//! the states, each known to a fraction of its magnitude, did not cancel in it. The minimum is 1e-12 of the largest
//! value of the model in units in which values are near 1, so that round-off counts as zero. If a model amplifies
//! errors, the test measures the effect of changing all values by a millionth. The tolerance grows by the factor by
//! which this effect exceeds a hundred such changes.

use super::run::Rows;

/// The number of relative tolerances of a column's magnitude that are allowed.
pub const SHARE: f64 = 1000.0;

/// A compared column: its name, the factor from the expected to the found value, and its magnitude.
#[derive(Clone, Debug)]
pub struct Column {
    pub name: String,
    pub factor: f64,
    pub size: f64,
    /// The factor by which the tolerance is increased.
    pub grows: f64,
}

/// The largest difference.
#[derive(Clone, Debug, Default)]
pub struct Difference {
    /// Relative to the magnitude of the column.
    pub share: f64,
    /// Relative to the tolerance.
    pub excess: f64,
    pub column: String,
    pub time: f64,
    pub expected: f64,
    pub found: f64,
}

/// Range and largest value.
pub fn extent(values: &[f64]) -> (f64, f64) {
    let (low, high) = values.iter().fold((f64::MAX, f64::MIN), |(low, high), value| {
        (low.min(*value), high.max(*value))
    });
    (high - low, high.abs().max(low.abs()))
}

/// The largest difference of any column, relative to the allowed difference at a relative tolerance.
pub fn difference(columns: &[Column], expected: &Rows, found: &Rows, allowed: f64) -> Result<Difference, String> {
    if expected.times.len() != found.times.len() {
        return Err(format!("{} and {} rows", expected.times.len(), found.times.len()));
    }
    let mut worst = Difference::default();
    for column in columns {
        let values = expected.column(&column.name).expect("the column is one of the model's");
        let others = found
            .column(&column.name)
            .ok_or_else(|| format!("there is no column {}", column.name))?;
        for (at, (value, other)) in values.iter().zip(&others).enumerate() {
            let other = other / column.factor;
            if *value == other {
                continue;
            }
            let share = (value - other).abs() / column.size;
            let excess = share / (allowed * column.grows);
            if excess.is_nan() || excess > worst.excess {
                worst = Difference {
                    share,
                    excess: if excess.is_nan() { f64::INFINITY } else { excess },
                    column: column.name.clone(),
                    time: expected.times[at],
                    expected: *value,
                    found: other,
                };
            }
        }
    }
    Ok(worst)
}
