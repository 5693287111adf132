//! Full matrices over a field: products, sums, and solutions of equations that may have fewer rows than unknowns.

use lgm_algebra::Field;

/// Rows of entries.
pub(super) type Rows<E> = Vec<Vec<E>>;

/// Computes `left * right`; `right` has `columns` columns.
pub(super) fn product<F: Field>(
    field: &mut F,
    left: &Rows<F::Element>,
    right: &Rows<F::Element>,
    columns: usize,
) -> Rows<F::Element> {
    let mut rows = Vec::with_capacity(left.len());
    for row in left {
        let mut sums = vec![field.zero(); columns];
        for (factor, source) in row.iter().zip(right) {
            if field.is_zero(factor) {
                continue;
            }
            for (sum, value) in sums.iter_mut().zip(source) {
                if !field.is_zero(value) {
                    let term = field.mul(factor, value);
                    *sum = field.add(sum, &term);
                }
            }
        }
        rows.push(sums);
    }
    rows
}

/// Computes `left + sign*right`.
pub(super) fn combined<F: Field>(
    field: &mut F,
    left: &Rows<F::Element>,
    right: &Rows<F::Element>,
    minus: bool,
) -> Rows<F::Element> {
    let mut rows = Vec::with_capacity(left.len());
    for (left, right) in left.iter().zip(right) {
        let mut row = Vec::with_capacity(left.len());
        for (a, b) in left.iter().zip(right) {
            row.push(if minus { field.sub(a, b) } else { field.add(a, b) });
        }
        rows.push(row);
    }
    rows
}

/// Returns the transpose of a matrix with `columns` columns.
pub(super) fn transposed<E: Clone>(rows: &Rows<E>, columns: usize) -> Rows<E> {
    (0..columns)
        .map(|column| rows.iter().map(|row| row[column].clone()).collect())
        .collect()
}

/// Returns true if every entry is zero.
pub(super) fn is_zero<F: Field>(field: &F, rows: &Rows<F::Element>) -> bool {
    rows.iter().flatten().all(|value| field.is_zero(value))
}

/// Returns one X with `A X = B`, for a given number of columns of A; `None` if no solution exists. Free unknowns are zero.
pub(super) fn solution<F: Field>(
    field: &mut F,
    a: &Rows<F::Element>,
    b: &Rows<F::Element>,
    columns: usize,
) -> Option<Rows<F::Element>> {
    let sides = b.first().map_or(0, Vec::len);
    let mut rows: Rows<F::Element> = a.iter().zip(b).map(|(a, b)| [a.clone(), b.clone()].concat()).collect();
    let mut pivots: Vec<usize> = Vec::new();
    for column in 0..columns {
        let first = pivots.len();
        let candidates = (first..rows.len()).filter(|row| !field.is_zero(&rows[*row][column]));
        let cost = |row: &usize| field.pivot_cost(&rows[*row][column]);
        let Some(pivot) = candidates.min_by(|a, b| cost(a).total_cmp(&cost(b))) else {
            continue;
        };
        rows.swap(first, pivot);
        let inverse = field.invert(&rows[first][column]);
        rows[first] = rows[first].iter().map(|value| field.mul(value, &inverse)).collect();
        for row in 0..rows.len() {
            if row == first || field.is_zero(&rows[row][column]) {
                continue;
            }
            let factor = rows[row][column].clone();
            let pivot = rows[first].clone();
            let entries = rows[row].iter_mut().zip(&pivot).skip(column);
            for (entry, above) in entries {
                if !field.is_zero(above) {
                    let term = field.mul(&factor, above);
                    *entry = field.sub(entry, &term);
                }
            }
        }
        pivots.push(column);
        if field.exhausted() {
            return None;
        }
    }
    let is_open = |row: &Vec<F::Element>| row[columns..].iter().any(|value| !field.is_zero(value));
    if rows[pivots.len()..].iter().any(is_open) {
        return None;
    }
    let mut found = vec![vec![field.zero(); sides]; columns];
    for (row, column) in rows.iter().zip(&pivots) {
        found[*column] = row[columns..].to_vec();
    }
    Some(found)
}
