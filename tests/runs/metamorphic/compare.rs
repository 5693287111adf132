//! When two runs count as the same.
//!
//! Two runs at the relative tolerance `rtol` may differ in a column by [`SHARE`] times `rtol` of the column's size. That size
//! is its range over the rows, and at least a thousandth of each of these: its largest value (what hardly moves is measured by what
//! it is), the largest value of the same quantity in the model, and what it would be if the states, each of them known to a share
//! of its own size, did not cancel each other in it. Nothing is smaller than 1e-12 of the largest value of the model in units in
//! which values are near 1: what is zero but for rounding is zero. Where a model multiplies every error, the difference that a change of all
//! values by a millionth makes is measured, and what is allowed grows by as much as that difference is more than a hundred such
//! changes.

use super::run::Rows;

/// How many relative tolerances of a column's size are allowed.
pub const SHARE: f64 = 1000.0;

/// A column that is to be compared: its name, the factor from the expected to the found, and the size that it is measured by.
#[derive(Clone, Debug)]
pub struct Column {
    pub name: String,
    pub factor: f64,
    pub size: f64,
    /// How much more than usual is allowed.
    pub grows: f64,
}

/// The largest difference.
#[derive(Clone, Debug, Default)]
pub struct Difference {
    /// In sizes of the column.
    pub share: f64,
    /// In what is allowed.
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

/// The largest difference of any column, counted in what is allowed at a relative tolerance.
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
