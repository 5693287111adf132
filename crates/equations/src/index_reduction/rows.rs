//! Sums of rows, and the substitution of rows for columns.

use crate::causality::elimination::{Row, add_scaled, scaled};
use lgm_algebra::Field;

/// Returns the sum of many rows, added pairwise, so that n rows of one entry cost n log n.
pub(crate) fn sum_rows<F: Field>(field: &mut F, mut parts: Vec<Row<F::Element>>) -> Row<F::Element> {
    let one = field.one();
    while parts.len() > 1 {
        let mut next = Vec::with_capacity(parts.len().div_ceil(2));
        let mut pairs = parts.into_iter();
        while let Some(first) = pairs.next() {
            next.push(match pairs.next() {
                Some(second) => add_scaled(field, &first, &second, &one, None, |_| {}),
                None => first,
            });
        }
        parts = next;
    }
    parts.pop().unwrap_or_default()
}

/// Replaces the columns `start..start + table.len()` of a row by the table's rows.
pub(crate) fn substitute<F: Field>(
    field: &mut F,
    row: &Row<F::Element>,
    start: u32,
    table: &[Row<F::Element>],
) -> Row<F::Element> {
    let end = start + table.len() as u32;
    if !row.iter().any(|entry| (start..end).contains(&entry.0)) {
        return row.clone();
    }
    let mut parts = vec![
        row.iter()
            .filter(|entry| !(start..end).contains(&entry.0))
            .cloned()
            .collect::<Row<F::Element>>(),
    ];
    for (column, value) in row.iter().filter(|entry| (start..end).contains(&entry.0)) {
        parts.push(scaled(field, &table[(column - start) as usize], value));
    }
    sum_rows(field, parts)
}
