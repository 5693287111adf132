//! Poles near a circle about the origin, for large sparse systems: Arnoldi's method on `(A - shift)^-1`.
//!
//! About each shift the method finds the nearest poles, and so knows that a disc holds no others. Shifts are added until discs cover all
//! places on the circle where a pole could be nearer than those that were found.

use crate::response::SparseLu;
use lgm_model::system::SparseMatrix;
use nalgebra::{DMatrix, DVector};
use num_complex::Complex;

type Vector = DVector<Complex<f64>>;

/// The most shifts; each takes a factorisation.
const SHIFTS: usize = 40;

/// The largest subspace about one shift.
const SUBSPACE: usize = 160;

/// Poles of two shifts that are nearer to each other than this, beside their size, are one.
const SAME: f64 = 1e-7;

/// What one shift found.
struct Disc {
    centre: Complex<f64>,
    radius: f64,
}

/// The poles whose distance from the origin is nearest to `omega` in rad/s, as many as asked for, or one more, so that pairs are whole; and
/// whether it is certain that none is missing. None if a factorisation or an iteration breaks down.
pub(super) fn poles_near(a: &SparseMatrix<f64>, omega: f64, count: usize) -> Option<(Vec<Complex<f64>>, bool)> {
    let wanted = count + 2;
    let mut discs: Vec<Disc> = Vec::new();
    let mut found: Vec<Complex<f64>> = Vec::new();
    let scale = a.rows.iter().flatten().map(|entry| entry.1.abs()).fold(0.0, f64::max);
    let unit = if omega > 0.0 { omega } else { scale.max(1.0) * 1e-6 };
    let mut next = Some(std::f64::consts::FRAC_PI_2);
    while let Some(angle) = next.filter(|_| discs.len() < SHIFTS) {
        let shift = Complex::from_polar(omega, angle);
        let (poles, radius) = around(a, shift, unit, wanted)?;
        discs.push(Disc { centre: shift, radius });
        for pole in poles {
            let upper = Complex::new(pole.re, pole.im.abs());
            let is_new = |known: &Complex<f64>| (known - upper).norm() > SAME * upper.norm().max(1e-6 * unit);
            if found.iter().all(is_new) {
                found.push(upper);
            }
        }
        next = uncovered(&discs, &found, omega, count);
    }
    let is_certain = next.is_none();
    found.sort_by(|a, b| distance(a, omega).total_cmp(&distance(b, omega)));
    let mut list = Vec::new();
    for pole in found {
        if list.len() >= count {
            break;
        }
        let is_real = pole.im <= 1e-9 * pole.norm();
        match is_real {
            true => list.push(Complex::new(pole.re, 0.0)),
            false => list.extend([pole, pole.conj()]),
        }
    }
    Some((list, is_certain))
}

fn distance(pole: &Complex<f64>, omega: f64) -> f64 {
    (pole.norm() - omega).abs()
}

/// The angle of a place on the upper half circle about which no disc holds all that could be nearer than the poles found; none if there
/// is no such place.
fn uncovered(discs: &[Disc], found: &[Complex<f64>], omega: f64, count: usize) -> Option<f64> {
    if omega == 0.0 {
        return None;
    }
    let mut distances: Vec<f64> = Vec::new();
    for pole in found {
        let copies = if pole.im > 1e-9 * pole.norm() { 2 } else { 1 };
        distances.extend(std::iter::repeat_n(distance(pole, omega), copies));
    }
    distances.sort_by(f64::total_cmp);
    // As long as there are too few, all places count that are as near as 0 is.
    let reach = distances.get(count.saturating_sub(1)).copied().unwrap_or(omega);
    // Poles of a stable system are on the left; the right half is looked at last.
    const PLACES: usize = 2000;
    let is_free = |angle: &f64| {
        [(omega - reach).max(0.0), omega, omega + reach].iter().any(|radius| {
            let place = Complex::from_polar(*radius, *angle);
            discs.iter().all(|disc| {
                let mirrored = disc.centre.conj();
                (place - disc.centre).norm() > disc.radius && (place - mirrored).norm() > disc.radius
            })
        })
    };
    let angles = (0..=PLACES).map(|k| std::f64::consts::PI * (PLACES - k) as f64 / PLACES as f64);
    let free: Vec<f64> = angles.filter(is_free).collect();
    // The middle of the longest run of such places.
    let step = 1.5 * std::f64::consts::PI / PLACES as f64;
    let runs = free.chunk_by(|a, b| (a - b).abs() <= step);
    let longest = runs.max_by_key(|run| run.len())?;
    Some(0.5 * (longest[0] + longest[longest.len() - 1]))
}

/// The poles nearest to a shift, and how far around it no other one is.
fn around(a: &SparseMatrix<f64>, shift: Complex<f64>, unit: f64, wanted: usize) -> Option<(Vec<Complex<f64>>, f64)> {
    // A shift on a pole has no inverse; one that is a little beside it converges all the faster.
    let shift = shift + Complex::new(0.6, 0.8) * (1e-9 * unit);
    let mut rows: Vec<Vec<(u32, Complex<f64>)>> = Vec::with_capacity(a.rows.len());
    for (at, entries) in a.rows.iter().enumerate() {
        let mut row: Vec<(u32, Complex<f64>)> = entries
            .iter()
            .map(|(column, value)| (*column, Complex::new(*value, 0.0)))
            .collect();
        match row.iter_mut().find(|entry| entry.0 as usize == at) {
            Some(entry) => entry.1 -= shift,
            None => row.push((at as u32, -shift)),
        }
        rows.push(row);
    }
    let factors = SparseLu::factorise(&rows)?;
    let size = a.rows.len();
    let limit = SUBSPACE.max(2 * wanted + 20).min(size);
    let start = Vector::from_fn(size, |row, _| {
        let turn = ((row + 1) as f64 * 0.618_033_988_749_894_9).fract();
        Complex::new(0.5 + turn, 1.0 - turn)
    });
    let norm = start.norm();
    let mut basis: Vec<Vector> = vec![start / Complex::new(norm, 0.0)];
    let mut projected: DMatrix<Complex<f64>> = DMatrix::zeros(limit + 1, limit);
    for step in 0..limit {
        let mut next = Vector::from_vec(factors.solve(basis[step].as_slice()));
        let before = next.norm();
        // Twice, so that the basis is orthogonal to rounding.
        for _ in 0..2 {
            for (at, known) in basis.iter().enumerate() {
                let part = known.dotc(&next);
                projected[(at, step)] += part;
                next.axpy(-part, known, Complex::new(1.0, 0.0));
            }
        }
        let norm = next.norm();
        if !norm.is_finite() {
            return None;
        }
        projected[(step + 1, step)] = Complex::new(norm, 0.0);
        let used = step + 1;
        let is_whole = norm <= 1e-14 * before || used == size;
        let is_last = is_whole || used == limit;
        if is_last || used >= wanted + 10 && used.is_multiple_of(10) {
            let (poles, radius, converged) = ritz(&projected, used, shift, if is_whole { 0.0 } else { norm })?;
            if is_last || converged > wanted {
                let radius = if is_whole { f64::INFINITY } else { radius };
                return Some((poles, radius));
            }
        }
        basis.push(next / Complex::new(norm, 0.0));
    }
    Some((Vec::new(), 0.0))
}

/// The poles that have converged, the nearest first, up to the first that has not; how far that one is from the shift, and how many there
/// are.
fn ritz(
    projected: &DMatrix<Complex<f64>>,
    used: usize,
    shift: Complex<f64>,
    residual: f64,
) -> Option<(Vec<Complex<f64>>, f64, usize)> {
    let small = projected.view((0, 0), (used, used)).into_owned();
    let (turn, triangle) = nalgebra::Schur::try_new(small, f64::EPSILON, 100 * used)?.unpack();
    let mut order: Vec<usize> = (0..used).collect();
    order.sort_by(|a, b| triangle[(*b, *b)].norm().total_cmp(&triangle[(*a, *a)].norm()));
    let mut poles = Vec::new();
    for at in order {
        let value = triangle[(at, at)];
        // The last entry of the eigenvector says how far the Ritz value is from an eigenvalue.
        let mut vector = Vector::zeros(used);
        vector[at] = Complex::new(1.0, 0.0);
        for row in (0..at).rev() {
            let sum: Complex<f64> = (row + 1..=at).map(|k| triangle[(row, k)] * vector[k]).sum();
            let mut gap = value - triangle[(row, row)];
            if gap.norm() < 1e-14 * value.norm() {
                gap = Complex::new(1e-14 * value.norm() + f64::MIN_POSITIVE, 0.0);
            }
            vector[row] = sum / gap;
        }
        let turned: Complex<f64> = (0..used).map(|k| turn[(used - 1, k)] * vector[k]).sum();
        let error = residual * turned.norm() / vector.norm();
        if error > 1e-10 * value.norm() {
            let distance = 1.0 / value.norm();
            let count = poles.len();
            // The next one is only as far as is known of those that converged.
            let last = poles.last().map_or(0.0, |pole: &Complex<f64>| (pole - shift).norm());
            return Some((poles, distance.min(last), count));
        }
        poles.push(shift + value.inv());
    }
    let count = poles.len();
    let radius = poles.last().map_or(0.0, |pole| (pole - shift).norm());
    Some((poles, radius, count))
}
