//! Multiple poles, which round-off spreads over a circle around their common value.
//!
//! A pole of multiplicity k moves by the k-th root of the round-off: a fourfold pole at -10 is computed as -9.9991, -10 + 0.0009j, -10 -
//! 0.0009j and -10.0009. Their mean moves only by the round-off. Multiplicities follow from the characteristic polynomial over a prime
//! field, and are therefore valid for the exact parameter values.

use crate::prime::{Rows, add_multiple};
use lgm_algebra::{Field, Image, PrimeField, image_division, image_gcd};
use num_complex::Complex;

/// Poles within this relative distance are candidates for one multiple pole.
const NEAR: f64 = 0.05;

/// The poles of a cluster are closer to each other than to other poles by at least this factor.
const APART: f64 = 4.0;

/// Returns the poles with each multiple pole at its mean, if the exact matrix has multiple poles. Poles that are too close to be
/// distinguished remain unchanged.
pub(crate) fn with_multiple_poles(mut poles: Vec<Complex<f64>>, exact: &Rows) -> Vec<Complex<f64>> {
    let has_neighbours = (0..poles.len()).any(|at| {
        let is_near = |other: &Complex<f64>| (poles[at] - other).norm() <= NEAR * poles[at].norm();
        poles[at + 1..].iter().any(is_near)
    });
    if !has_neighbours {
        return poles;
    }
    let mut open: Vec<usize> = (0..poles.len()).collect();
    let mut places = places_by_multiplicity(&characteristic(exact));
    places.retain(|(multiplicity, _)| *multiplicity > 1);
    while let Some((multiplicity, count)) = places.pop() {
        for _ in 0..count {
            let Some(cluster) = closest(&poles, &open, multiplicity) else {
                return poles;
            };
            open.retain(|at| !cluster.contains(at));
            let sum: Complex<f64> = cluster.iter().map(|at| poles[*at]).sum();
            let has_conjugate = |at: &usize| cluster.iter().any(|other| poles[*other] == poles[*at].conj());
            let is_real = cluster.iter().all(has_conjugate);
            let mean = sum / multiplicity as f64;
            let mean = Complex::new(mean.re, if is_real { 0.0 } else { mean.im });
            cluster.iter().for_each(|at| poles[*at] = mean);
        }
    }
    poles
}

/// Returns the `multiplicity` poles with the smallest mutual distances relative to their distance from all others; `None` if the others are
/// equally close.
fn closest(poles: &[Complex<f64>], open: &[usize], multiplicity: usize) -> Option<Vec<usize>> {
    let around = |at: &usize| {
        let distance = |other: &usize| (poles[*other] - poles[*at]).norm();
        let mut others = open.to_vec();
        others.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
        let cluster: Vec<usize> = others.get(..multiplicity)?.to_vec();
        let radius = distance(cluster.last()?);
        let next = others.get(multiplicity).map_or(f64::INFINITY, distance);
        (radius <= NEAR * poles[*at].norm() && APART * radius <= next).then_some((radius / poles[*at].norm(), cluster))
    };
    let best = open.iter().filter_map(around).min_by(|a, b| a.0.total_cmp(&b.0));
    best.map(|(_, cluster)| cluster)
}

/// Returns the number of distinct roots of each multiplicity, in ascending order: degrees of the square-free factors (Yun's algorithm).
fn places_by_multiplicity(polynomial: &Image) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut shared = image_gcd(polynomial, &derivative(polynomial));
    let mut distinct = image_division(polynomial.clone(), &shared).0;
    for multiplicity in 1..polynomial.len() {
        let higher = image_gcd(&distinct, &shared);
        if distinct.len() > higher.len() {
            found.push((multiplicity, distinct.len() - higher.len()));
        }
        if higher.len() <= 1 {
            break;
        }
        shared = image_division(shared, &higher).0;
        distinct = higher;
    }
    found
}

/// Computes the characteristic polynomial from the Hessenberg form of a matrix.
fn characteristic(matrix: &Rows) -> Image {
    let mut field = PrimeField;
    let hessenberg = hessenberg(matrix.clone());
    // The polynomial of the first k rows and columns, for each k.
    let mut list: Vec<Image> = vec![vec![1]];
    for size in 1..=hessenberg.len() {
        let last = &list[size - 1];
        let mut next = vec![0];
        next.extend(last);
        add_multiple(&mut next, field.neg(&hessenberg[size - 1][size - 1]), last);
        let mut product = 1;
        for row in (0..size - 1).rev() {
            product = field.mul(&product, &hessenberg[row + 1][row]);
            let factor = field.mul(&product, &hessenberg[row][size - 1]);
            add_multiple(&mut next, field.neg(&factor), &list[row]);
        }
        list.push(next);
    }
    list.pop().unwrap_or_default()
}

/// Returns a similar matrix without entries below the first subdiagonal.
fn hessenberg(mut matrix: Rows) -> Rows {
    let mut field = PrimeField;
    for column in 0..matrix.len().saturating_sub(2) {
        let Some(pivot) = (column + 1..matrix.len()).find(|row| matrix[*row][column] != 0) else {
            continue;
        };
        matrix.swap(pivot, column + 1);
        matrix.iter_mut().for_each(|row| row.swap(pivot, column + 1));
        let inverse = field.invert(&matrix[column + 1][column]);
        for row in column + 2..matrix.len() {
            if matrix[row][column] == 0 {
                continue;
            }
            let factor = field.mul(&matrix[row][column], &inverse);
            // The column operation of the previous row changed this row too.
            let source = matrix[column + 1].clone();
            add_multiple(&mut matrix[row], field.neg(&factor), &source);
            for entries in &mut matrix {
                let product = field.mul(&factor, &entries[row]);
                entries[column + 1] = field.add(&entries[column + 1], &product);
            }
        }
    }
    matrix
}

fn derivative(polynomial: &Image) -> Image {
    let powers = polynomial.iter().enumerate().skip(1);
    powers
        .map(|(power, value)| PrimeField.mul(&(power as u64), value))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a triangular matrix with these poles in another basis.
    fn matrix(poles: &[i64]) -> Rows {
        let entry = |row: usize, column: usize| match column as i64 - row as i64 {
            0 => PrimeField.reduce(&num_rational::BigRational::from_integer(poles[row].into())),
            1 => 1,
            _ => 0,
        };
        let mut rows: Rows = (0..poles.len())
            .map(|row| (0..poles.len()).map(|column| entry(row, column)).collect())
            .collect();
        // Row i gains row j, and column j loses column i: a similarity.
        for (i, j) in (1..poles.len()).flat_map(|i| (0..i).map(move |j| (i, j))) {
            let source = rows[j].clone();
            add_multiple(&mut rows[i], 3, &source);
            for row in &mut rows {
                let product = PrimeField.mul(&PrimeField.neg(&3), &row[i]);
                row[j] = PrimeField.add(&row[j], &product);
            }
        }
        rows
    }

    #[test]
    fn multiplicities_are_those_of_the_matrix() {
        let places = |poles: &[i64]| places_by_multiplicity(&characteristic(&matrix(poles)));
        assert_eq!(places(&[-1, -2, -3]), [(1, 3)]);
        assert_eq!(places(&[-10, -10, -10, -10]), [(4, 1)]);
        assert_eq!(places(&[-1, -7, -7, 0, -7, 5, 5, -2]), [(1, 3), (2, 1), (3, 1)]);
    }

    #[test]
    fn poles_of_one_place_are_in_their_mean_and_others_stay() {
        let around = |re: f64, im: f64| Complex::new(re, im);
        let found = vec![
            around(-9.9991, 0.0),
            around(-10.0, 9e-4),
            around(-10.0, -9e-4),
            around(-10.0009, 0.0),
            around(-3.0, 0.0),
        ];
        let exact = matrix(&[-10, -3, -10, -10, -10]);
        let poles = with_multiple_poles(found.clone(), &exact);
        assert!(
            poles[..4].iter().all(|pole| (pole - around(-10.0, 0.0)).norm() < 1e-12),
            "{poles:?}"
        );
        assert_eq!(poles[4], found[4]);
        // Without multiple poles, all poles stay unchanged.
        assert_eq!(
            with_multiple_poles(found.clone(), &matrix(&[-10, -3, -11, -9, -8])),
            found
        );
    }
}
