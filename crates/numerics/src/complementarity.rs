//! Linear complementarity problems: `w = M z + q`, where both are nonnegative and of each pair one is zero.

use nalgebra::DMatrix;

/// A pivot below this share of the largest entry of its column is none.
const PIVOT: f64 = 1e-12;

/// Solves `w = M z + q`, `w >= 0`, `z >= 0`, `w' z = 0` by Lemke's method (C. E. Lemke, 1965; Cottle, Pang and Stone, The Linear
/// Complementarity Problem, algorithm 4.4.5), with ties broken lexicographically; returns z. None where the method ends on a ray: for
/// positive semidefinite M there is no solution then.
pub fn lemke(m: &DMatrix<f64>, q: &[f64]) -> Option<Vec<f64>> {
    let n = q.len();
    if q.iter().all(|value| *value >= 0.0) {
        return Some(vec![0.0; n]);
    }
    // Columns: w, z, the artificial variable, the right side.
    let (artificial, right) = (2 * n, 2 * n + 1);
    let mut table = DMatrix::<f64>::zeros(n, 2 * n + 2);
    for row in 0..n {
        table[(row, row)] = 1.0;
        for column in 0..n {
            table[(row, n + column)] = -m[(row, column)];
        }
        table[(row, artificial)] = -1.0;
        table[(row, right)] = q[row];
    }
    let mut basis: Vec<usize> = (0..n).collect();
    let first = (0..n).min_by(|a, b| q[*a].total_cmp(&q[*b]))?;
    let mut leaving = pivot(&mut table, &mut basis, first, artificial);
    for _ in 0..50 * (n + 1) {
        if leaving == artificial {
            let mut z = vec![0.0; n];
            for (row, variable) in basis.iter().enumerate() {
                if (n..2 * n).contains(variable) {
                    z[variable - n] = table[(row, right)].max(0.0);
                }
            }
            return Some(z);
        }
        // The complement of what has left comes in.
        let entering = if leaving < n { leaving + n } else { leaving - n };
        let row = ratio_test(&table, &basis, entering, artificial)?;
        leaving = pivot(&mut table, &mut basis, row, entering);
    }
    None
}

/// The row that limits how far a variable can grow; the artificial variable leaves where it may.
fn ratio_test(table: &DMatrix<f64>, basis: &[usize], entering: usize, artificial: usize) -> Option<usize> {
    let n = basis.len();
    let right = table.ncols() - 1;
    let largest = (0..n).map(|row| table[(row, entering)].abs()).fold(0.0, f64::max);
    let candidates = (0..n).filter(|row| table[(*row, entering)] > PIVOT * largest);
    let ratio = |row: usize, column: usize| table[(row, column)] / table[(row, entering)];
    // Lexicographic: the right side first, then the columns of the inverse of the basis, which are those of w.
    let less = |a: usize, b: usize| {
        let columns = std::iter::once(right).chain(0..n);
        for column in columns {
            let (x, y) = (ratio(a, column), ratio(b, column));
            let size = x.abs().max(y.abs()).max(f64::MIN_POSITIVE);
            if (x - y).abs() > 1e-13 * size {
                return x < y;
            }
            if column == right && (basis[a] == artificial || basis[b] == artificial) {
                return basis[a] == artificial;
            }
        }
        false
    };
    candidates.fold(None, |best, row| match best {
        Some(best) if !less(row, best) => Some(best),
        _ => Some(row),
    })
}

/// Brings a variable into the basis in a row; returns the one that leaves.
fn pivot(table: &mut DMatrix<f64>, basis: &mut [usize], row: usize, entering: usize) -> usize {
    let by = table[(row, entering)];
    for column in 0..table.ncols() {
        table[(row, column)] /= by;
    }
    for other in (0..basis.len()).filter(|other| *other != row) {
        let factor = table[(other, entering)];
        if factor != 0.0 {
            for column in 0..table.ncols() {
                let part = factor * table[(row, column)];
                table[(other, column)] -= part;
            }
        }
    }
    std::mem::replace(&mut basis[row], entering)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(m: &DMatrix<f64>, q: &[f64]) -> bool {
        let Some(z) = lemke(m, q) else { return false };
        let n = q.len();
        let w: Vec<f64> = (0..n)
            .map(|row| q[row] + (0..n).map(|column| m[(row, column)] * z[column]).sum::<f64>())
            .collect();
        let size = q.iter().fold(1.0_f64, |size, value| size.max(value.abs()));
        assert!(w.iter().all(|value| *value > -1e-9 * size), "w of {q:?} is {w:?}");
        assert!(z.iter().all(|value| *value >= 0.0), "z of {q:?} is {z:?}");
        for (w, z) in w.iter().zip(&z) {
            assert!((w * z).abs() < 1e-8 * size * (1.0 + z), "{w} and {z}");
        }
        true
    }

    #[test]
    fn problems_of_passive_networks_are_solved() {
        // Random positive definite matrices with a skew part, as networks of diodes have.
        let mut seed = 1_u64;
        let mut random = move || {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        };
        for n in 1..30 {
            for _ in 0..10 {
                let a = DMatrix::from_fn(n, n, |_, _| random());
                let skew = DMatrix::from_fn(n, n, |_, _| random());
                let m = &a * a.transpose() + DMatrix::identity(n, n) * 1e-3 + (&skew - skew.transpose());
                let q: Vec<f64> = (0..n).map(|_| random()).collect();
                assert!(check(&m, &q), "{n}");
            }
        }
    }

    #[test]
    fn a_problem_without_solution_ends_on_a_ray() {
        // w = -1 whatever z is.
        assert_eq!(lemke(&DMatrix::zeros(1, 1), &[-1.0]), None);
        assert_eq!(lemke(&DMatrix::zeros(1, 1), &[1.0]), Some(vec![0.0]));
    }

    #[test]
    fn semidefinite_problems_with_ties_do_not_cycle() {
        let m = DMatrix::from_row_slice(2, 2, &[1.0, 1.0, 1.0, 1.0]);
        assert!(check(&m, &[-1.0, -1.0]));
        let m = DMatrix::from_row_slice(3, 3, &[0.0, 1.0, -1.0, -1.0, 0.0, 1.0, 1.0, -1.0, 0.0]);
        assert!(check(&m, &[-1.0, -1.0, 3.0]));
    }
}
