//! Combinations that equations conserve, such as the sum of two volumes, or an angle and the moment of the spring that it winds.

use lgm_source::diagnostic::six_digits;
use nalgebra::DMatrix;

/// A combination of rates below this fraction of the rates vanishes.
const VANISHES: f64 = 1e-11;

/// Coefficients below this fraction of the largest are round-off.
const COEFFICIENT_NOISE: f64 = 1e-8;

/// A combination that changes by less than this fraction of its terms is conserved.
const KEPT: f64 = 1e-7;

/// The number of points tried for each sample: some laws have values on only one side of the initial values.
const TRIES: usize = 8;

/// Returns the combinations of `count` rates that vanish wherever they are sampled, one vector each. `sample` returns the rates at the
/// point with a given number, or `None` if they have no values.
pub fn conserved(count: usize, mut sample: impl FnMut(u64) -> Option<Vec<f64>>) -> Vec<Vec<f64>> {
    let wanted = 2 * count + 8;
    let samples: Vec<Vec<f64>> = (0..(TRIES * wanted) as u64)
        .filter_map(&mut sample)
        .filter(|rates| rates.iter().all(|value| value.is_finite()))
        .take(wanted)
        .collect();
    if samples.len() < count + 4 || count == 0 {
        return Vec::new();
    }
    let mut matrix = DMatrix::from_fn(samples.len(), count, |row, column| samples[row][column]);
    let sizes = equilibrate(&mut matrix);
    let decomposition = matrix.svd(false, true);
    let Some(v) = &decomposition.v_t else { return Vec::new() };
    let largest = decomposition.singular_values.max();
    let singular = decomposition.singular_values.iter().enumerate();
    let vanishing = singular.filter(|(_, value)| **value <= VANISHES * largest);
    let rows: Vec<Vec<f64>> = vanishing
        .map(|(at, _)| (0..count).map(|column| v[(at, column)]).collect())
        .collect();
    let mut rows = apart(rows);
    for row in &mut rows {
        for (value, size) in row.iter_mut().zip(&sizes) {
            *value /= size;
        }
        let first = row.iter().copied().find(|value| *value != 0.0).unwrap_or(1.0);
        row.iter_mut().for_each(|value| *value /= first);
    }
    rows
}

/// Divides rows and columns by their largest entries, and returns the divisors of the columns. Otherwise a sample with one enormous rate,
/// such as the current of a diode at some volts, would hide all others.
fn equilibrate(matrix: &mut DMatrix<f64>) -> Vec<f64> {
    let divisor = |size: f64| if size > 0.0 { size } else { 1.0 };
    let mut sizes = vec![1.0; matrix.ncols()];
    for pass in 0..3 {
        for (mut column, size) in matrix.column_iter_mut().zip(&mut sizes) {
            let largest = divisor(column.amax());
            column /= largest;
            *size *= largest;
        }
        // The last pass scales only the columns.
        for mut row in matrix.row_iter_mut().filter(|_| pass < 2) {
            let largest = divisor(row.amax());
            row /= largest;
        }
    }
    sizes
}

/// Returns the combinations with round-off removed, each with an entry that no other combination has.
fn apart(mut rows: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    for at in 0..rows.len() {
        let Some(pivot) = (0..rows[at].len()).max_by(|a, b| rows[at][*a].abs().total_cmp(&rows[at][*b].abs())) else {
            continue;
        };
        let own = rows[at].clone();
        for (other, row) in rows.iter_mut().enumerate() {
            let factor = if other == at { 0.0 } else { row[pivot] / own[pivot] };
            row.iter_mut().zip(&own).for_each(|(value, own)| *value -= factor * own);
        }
    }
    for row in &mut rows {
        let largest = row.iter().map(|value| value.abs()).fold(0.0, f64::max);
        for value in row
            .iter_mut()
            .filter(|value| value.abs() <= COEFFICIENT_NOISE * largest)
        {
            *value = 0.0;
        }
    }
    rows
}

/// Formats a combination: `m1.v + 0.5*m2.v`.
pub fn in_words<'n>(combination: &[f64], names: impl IntoIterator<Item = &'n str>) -> String {
    let mut text = String::new();
    for (value, name) in combination.iter().zip(names).filter(|pair| *pair.0 != 0.0) {
        let sign = match (text.is_empty(), *value < 0.0) {
            (true, true) => "-",
            (true, false) => "",
            (false, true) => " - ",
            (false, false) => " + ",
        };
        let size = six_digits(value.abs());
        let factor = if size == "1" { String::new() } else { format!("{size}*") };
        text.push_str(&format!("{sign}{factor}{name}"));
    }
    text
}

/// Describes a combination whose value at a point differs from its initial value; `None` if all values agree.
pub fn not_kept<'n, N: Iterator<Item = &'n str>>(
    kept: &[Vec<f64>],
    starts: &[f64],
    at: &[f64],
    names: impl Fn() -> N,
) -> Option<String> {
    kept.iter().find_map(|combination| {
        let of = |values: &[f64]| -> f64 { combination.iter().zip(values).map(|(part, value)| part * value).sum() };
        let terms = combination.iter().zip(starts.iter().zip(at));
        let size = terms.map(|(part, (start, at))| (part * start).abs().max((part * at).abs()));
        let size = size.fold(0.0, f64::max);
        let (from, to) = (of(starts), of(at));
        ((from - to).abs() > KEPT * size).then(|| {
            format!(
                "the equations keep `{}` at its initial value {}; at rest it is {}",
                in_words(combination, names()),
                six_digits(from),
                six_digits(if to.abs() <= KEPT * size { 0.0 } else { to })
            )
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::scattered;

    /// Returns the rates of two tanks that fill each other, of a third that stays constant, and of one that drains.
    fn tanks(key: u64) -> Option<Vec<f64>> {
        let flow = scattered(0, key);
        Some(vec![-flow / 2.0, flow / 3.0, 0.0, scattered(1, key)])
    }

    #[test]
    fn what_is_constant_stands_apart() {
        let mut found = conserved(4, tanks);
        found.sort_by(|a, b| b[0].total_cmp(&a[0]));
        assert_eq!(found.len(), 2, "{found:?}");
        let names = ["a", "b", "c", "d"];
        assert_eq!(in_words(&found[0], names), "a + 1.5*b");
        assert_eq!(in_words(&found[1], names), "c");
    }

    /// Two capacitors connected by a diode, each with a resistor to ground: nothing is conserved, but while the diode conducts, only its
    /// current is visible.
    #[test]
    fn enormous_rates_hide_no_others() {
        let found = conserved(2, |key| {
            let (a, b) = (4.0 * scattered(0, key), 4.0 * scattered(1, key));
            let diode = 1e-14 * ((a - b) / 0.02585).exp_m1();
            Some(vec![-a - diode, (diode - b / 2.0) / 10.0])
        });
        assert!(found.is_empty(), "{found:?}");
    }
}
