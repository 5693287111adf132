//! Poles near a circle about the origin, for large sparse systems: Arnoldi's method on `(A - shift)^-1`.
//!
//! For each shift the method finds the nearest poles, which proves that a disc contains no others. A Krylov subspace contains each multiple
//! pole once, so the method is repeated on the complement of the poles found until the disc contains no more. Shifts are added until discs
//! cover the circle wherever a pole could be nearer than the poles found.

use super::range::Range;
use crate::response::SparseLu;
use lgm_model::system::SparseMatrix;
use nalgebra::{DMatrix, DVector};
use num_complex::Complex;

type Vector = DVector<Complex<f64>>;

/// The maximum number of shifts; each requires a factorisation. Large systems get fewer shifts, to limit the run time to seconds; regions
/// without a disc are then reported as uncertain.
const SHIFTS: usize = 40;
const FEWEST: usize = 2;
const WORK: usize = 20_000;

/// The maximum dimension of the subspace for one shift.
const SUBSPACE: usize = 160;

/// A pole within this fraction of the radius of convergence appears in [`SEEN`] steps.
const INSIDE: f64 = 0.9;
const SEEN: usize = 40;

/// Poles of two shifts within this relative distance are equal.
const EQUAL_POLES: f64 = 1e-7;

/// The maximum number of times that a shift is moved to the nearest value that has not converged.
const NEARER: usize = 3;

/// The poles nearest to a shift, the radius without other poles, and the nearest value that has not converged.
struct Around {
    poles: Vec<Complex<f64>>,
    radius: f64,
    guess: Option<Complex<f64>>,
}

/// The disc that one shift has searched.
struct Disc {
    centre: Complex<f64>,
    radius: f64,
}

/// Returns the requested number of poles whose distance from the origin is closest to `omega` in rad/s, or one more to complete a pair. The
/// flag is true if the set is certain to be complete. `None` if a factorisation or an iteration breaks down.
pub(super) fn poles_near(a: &SparseMatrix<f64>, omega: f64, count: usize) -> Option<(Vec<Complex<f64>>, bool)> {
    let wanted = count + 2;
    let mut discs: Vec<Disc> = Vec::new();
    let mut found: Vec<Complex<f64>> = Vec::new();
    let scale = a.rows.iter().flatten().map(|entry| entry.1.abs()).fold(0.0, f64::max);
    let unit = if omega > 0.0 { omega } else { scale.max(1.0) * 1e-6 };
    let shifts = (WORK / a.rows.len().max(1)).clamp(FEWEST, SHIFTS);
    let range = Range::of(a);
    let mut next = Some(std::f64::consts::FRAC_PI_2);
    while let Some(angle) = next.filter(|_| discs.len() < shifts) {
        let mut shift = Complex::from_polar(omega, angle);
        let mut about = around(a, shift, unit, wanted)?;
        // Poles on a line do not converge if they are closer to each other than to the shift; they do if the shift is on the line.
        for _ in 0..NEARER {
            if let (true, Some(guess)) = (about.poles.is_empty(), about.guess) {
                shift = guess;
                about = around(a, shift, unit, wanted)?;
            }
        }
        let Around { poles, radius, .. } = about;
        discs.push(Disc { centre: shift, radius });
        // Conjugates have the same distance; a multiple pole is listed with the multiplicity found from one shift.
        let mut own: Vec<Complex<f64>> = Vec::new();
        for pole in poles.into_iter().filter(|pole| pole.im >= -1e-9 * pole.norm()) {
            let upper = Complex::new(pole.re, pole.im.abs());
            let same = |known: &&Complex<f64>| (*known - upper).norm() <= EQUAL_POLES * upper.norm().max(1e-6 * unit);
            own.push(upper);
            if found.iter().filter(same).count() < own.iter().filter(same).count() {
                found.push(upper);
            }
        }
        next = uncovered(&discs, &found, &range, (omega, count));
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

/// Returns the angle of a point on the upper half circle that no disc covers sufficiently and that may be near a pole; `None` if no such
/// point exists.
fn uncovered(discs: &[Disc], found: &[Complex<f64>], range: &Range, (omega, count): (f64, usize)) -> Option<f64> {
    if omega == 0.0 {
        return None;
    }
    let mut distances: Vec<f64> = Vec::new();
    for pole in found {
        let copies = if pole.im > 1e-9 * pole.norm() { 2 } else { 1 };
        distances.extend(std::iter::repeat_n(distance(pole, omega), copies));
    }
    distances.sort_by(f64::total_cmp);
    // While too few poles are found, all regions count that are as close as 0 is.
    let reach = distances.get(count.saturating_sub(1)).copied().unwrap_or(omega);
    // Poles of a stable system are on the left; the right half is examined last.
    const PLACES: usize = 2000;
    let is_free = |angle: &f64| {
        [(omega - reach).max(0.0), omega, omega + reach].iter().any(|radius| {
            let place = Complex::from_polar(*radius, *angle);
            let between = 0.5 * radius * std::f64::consts::PI / PLACES as f64;
            range.may_hold(place, between)
                && discs.iter().all(|disc| {
                    let mirrored = disc.centre.conj();
                    (place - disc.centre).norm() > disc.radius && (place - mirrored).norm() > disc.radius
                })
        })
    };
    let angles = (0..=PLACES).map(|k| std::f64::consts::PI * (PLACES - k) as f64 / PLACES as f64);
    let free: Vec<f64> = angles.filter(is_free).collect();
    // The middle of the longest run of such points.
    let step = 1.5 * std::f64::consts::PI / PLACES as f64;
    let runs = free.chunk_by(|a, b| (a - b).abs() <= step);
    let longest = runs.max_by_key(|run| run.len())?;
    Some(0.5 * (longest[0] + longest[longest.len() - 1]))
}

/// Returns the poles nearest to a shift with their multiplicities, and the radius without further poles.
fn around(a: &SparseMatrix<f64>, shift: Complex<f64>, unit: f64, wanted: usize) -> Option<Around> {
    // A shift on a pole has no inverse; a shift slightly off the pole converges even faster.
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
    let mut search = Search {
        factors: &factors,
        shift,
        known: Vec::new(),
        limit: SUBSPACE.max(2 * wanted + 20).min(size),
    };
    let mut poles: Vec<Complex<f64>> = Vec::new();
    let (mut radius, mut guess) = (f64::INFINITY, None);
    for run in 0..wanted + 2 {
        // Later runs only check whether poles remain inside.
        let found = match run {
            0 => search.run(wanted, run, None)?,
            _ => search.run(0, run, Some(radius))?,
        };
        let nearest = found.nearest;
        guess = guess.or(found.guess);
        radius = radius.min(found.radius);
        poles.extend(found.poles);
        if nearest.is_none_or(|nearest| nearest > radius * (1.0 + EQUAL_POLES)) || search.known.len() >= size {
            break;
        }
        // The pole found last may have a higher multiplicity.
        if run + 1 == wanted + 2 {
            radius = radius.min(nearest.unwrap_or(radius)) * (1.0 - EQUAL_POLES);
        }
    }
    Some(Around { poles, radius, guess })
}

/// Arnoldi's method for one shift.
struct Search<'a> {
    factors: &'a SparseLu,
    shift: Complex<f64>,
    /// An orthonormal basis of the subspace of all poles found.
    known: Vec<Vector>,
    limit: usize,
}

/// The result of one run.
struct Run {
    poles: Vec<Complex<f64>>,
    /// No further pole of this run is nearer to the shift.
    radius: f64,
    /// The distance of the nearest pole; none if no pole was found.
    nearest: Option<f64>,
    /// The nearest value that has not converged.
    guess: Option<Complex<f64>>,
}

impl Search<'_> {
    /// Removes the components in the subspace of known poles and in a basis. This is done twice, so that the rest is orthogonal to within
    /// round-off.
    fn orthogonal(&self, vector: &mut Vector, basis: &[Vector], mut part: impl FnMut(usize, Complex<f64>)) {
        let one = Complex::new(1.0, 0.0);
        for _ in 0..2 {
            for known in &self.known {
                let share = known.dotc(vector);
                vector.axpy(-share, known, one);
            }
            for (at, known) in basis.iter().enumerate() {
                let share = known.dotc(vector);
                part(at, share);
                vector.axpy(-share, known, one);
            }
        }
    }

    /// Iterates on the complement of the known vectors until `wanted` poles have converged, or until the rest of the radius is proved
    /// empty.
    fn run(&mut self, wanted: usize, run: usize, inside: Option<f64>) -> Option<Run> {
        let size = self.factors.size();
        let limit = self.limit.min(size - self.known.len().min(size));
        let nothing = || Run {
            poles: Vec::new(),
            radius: f64::INFINITY,
            nearest: None,
            guess: None,
        };
        let mut start = Vector::from_fn(size, |row, _| {
            let turn = ((row + 1) as f64 * (0.618_033_988_749_894_9 + 0.137 * run as f64)).fract();
            Complex::new(0.5 + turn, 1.0 - turn)
        });
        self.orthogonal(&mut start, &[], |_, _| {});
        let norm = start.norm();
        if limit == 0 || norm < 1e-10 * (size as f64).sqrt() {
            return Some(nothing());
        }
        let mut basis: Vec<Vector> = vec![start / Complex::new(norm, 0.0)];
        let mut projected: DMatrix<Complex<f64>> = DMatrix::zeros(limit + 1, limit);
        let mut look = wanted + 10;
        for step in 0..limit {
            let mut next = Vector::from_vec(self.factors.solve(basis[step].as_slice()));
            let before = next.norm();
            self.orthogonal(&mut next, &basis, |at, share| projected[(at, step)] += share);
            let norm = next.norm();
            if !norm.is_finite() {
                return None;
            }
            projected[(step + 1, step)] = Complex::new(norm, 0.0);
            let used = step + 1;
            let is_whole = norm <= 1e-13 * before || used + self.known.len() == size;
            let is_last = is_whole || used == limit;
            if is_last || used >= look {
                // The cost of a check grows with the cube of the number of steps, so checks become less frequent.
                look = used + (used / 2).max(10);
                let found = ritz(&projected, used, self.shift, if is_whole { 0.0 } else { norm })?;
                if let Some(radius) = inside.map(|radius| INSIDE * radius)
                    && used >= SEEN
                    && found.next * radius < 1.0
                {
                    return Some(Run {
                        radius,
                        ..self.finished(found, &basis, is_whole)
                    });
                }
                if is_last || inside.is_none() && found.poles.len() > wanted {
                    return Some(self.finished(found, &basis, is_whole));
                }
            }
            basis.push(next / Complex::new(norm, 0.0));
        }
        Some(nothing())
    }

    /// Keeps the vectors of the poles found.
    fn finished(&mut self, found: Ritz, basis: &[Vector], is_whole: bool) -> Run {
        for vector in &found.vectors {
            let mut whole = Vector::zeros(basis[0].len());
            for (share, direction) in vector.iter().zip(basis) {
                whole.axpy(*share, direction, Complex::new(1.0, 0.0));
            }
            let before = whole.norm();
            self.orthogonal(&mut whole, &[], |_, _| {});
            let norm = whole.norm();
            if norm > 1e-8 * before {
                self.known.push(whole / Complex::new(norm, 0.0));
            }
        }
        Run {
            guess: found.guess,
            nearest: found.poles.first().map(|pole| (pole - self.shift).norm()),
            radius: if is_whole { f64::INFINITY } else { found.radius },
            poles: found.poles,
        }
    }
}

/// Poles of the projected matrix.
struct Ritz {
    /// The converged poles, the nearest first, up to the first one that has not converged.
    poles: Vec<Complex<f64>>,
    /// The vectors of these poles in the basis.
    vectors: Vec<Vector>,
    /// The distance from the shift within which no other pole exists.
    radius: f64,
    /// The largest value that has not converged, 1 over a distance; 0 if all have.
    next: f64,
    /// The pole for that value.
    guess: Option<Complex<f64>>,
}

fn ritz(projected: &DMatrix<Complex<f64>>, used: usize, shift: Complex<f64>, residual: f64) -> Option<Ritz> {
    let small = projected.view((0, 0), (used, used)).into_owned();
    let (turn, triangle) = nalgebra::Schur::try_new(small, f64::EPSILON, 100 * used)?.unpack();
    let mut order: Vec<usize> = (0..used).collect();
    order.sort_by(|a, b| triangle[(*b, *b)].norm().total_cmp(&triangle[(*a, *a)].norm()));
    let (mut poles, mut vectors) = (Vec::new(), Vec::new());
    for at in order {
        let value = triangle[(at, at)];
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
        let turned = &turn * &vector / Complex::new(vector.norm(), 0.0);
        // The last entry of the eigenvector measures the distance of the Ritz value from an eigenvalue.
        if residual * turned[used - 1].norm() > 1e-10 * value.norm() {
            // The radius extends at most to the last converged pole, and to the first value that has not converged.
            let last = poles.last().map_or(0.0, |pole: &Complex<f64>| (pole - shift).norm());
            return Some(Ritz {
                radius: last.min(1.0 / value.norm()),
                poles,
                vectors,
                next: value.norm(),
                guess: Some(shift + value.inv()),
            });
        }
        poles.push(shift + value.inv());
        vectors.push(turned);
    }
    let radius = poles.last().map_or(0.0, |pole| (pole - shift).norm());
    Some(Ritz {
        poles,
        vectors,
        radius,
        next: 0.0,
        guess: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns pairs of states that oscillate at the given frequencies.
    fn oscillators(list: &[f64]) -> SparseMatrix<f64> {
        let rows = list.iter().enumerate().flat_map(|(at, omega)| {
            let (x, v) = (2 * at as u32, 2 * at as u32 + 1);
            [vec![(v, *omega)], vec![(x, -omega), (v, -0.02 * omega)]]
        });
        SparseMatrix {
            columns: 2 * list.len(),
            rows: rows.collect(),
        }
    }

    #[test]
    fn multiple_poles_are_found_as_often_as_they_are() {
        let mut list: Vec<f64> = (1..300).map(f64::from).collect();
        list.extend([50.0, 50.0, 51.0]);
        let found = poles_near(&oscillators(&list), 50.0, 10);
        let Some((poles, _)) = found else { panic!("none") };
        let count = |omega: f64| poles.iter().filter(|pole| (pole.norm() - omega).abs() < 1e-6).count();
        assert_eq!(
            (count(50.0), count(51.0) + count(49.0)),
            (6, poles.len() - 6),
            "{poles:?}"
        );
        assert!(poles.len() >= 10);
    }

    /// The poles are on a line 0.07 from the imaginary axis, 1e-4 apart.
    #[test]
    fn poles_of_a_dense_line_beside_the_shift_are_found() {
        let list: Vec<f64> = (0..4000).map(|at| 7.0 + 1e-4 * f64::from(at)).collect();
        let Some((poles, _)) = poles_near(&oscillators(&list), 7.2, 8) else {
            panic!("none")
        };
        assert_eq!(poles.len(), 8, "{poles:?}");
        for pole in &poles {
            assert!((pole.norm() - 7.2).abs() < 3e-4, "{poles:?}");
        }
    }

    #[test]
    fn many_equal_oscillators_do_not_keep_the_search_going() {
        let found = poles_near(&oscillators(&[3.0; 250]), 3.0, 6);
        let Some((poles, _)) = found else { panic!("none") };
        assert_eq!(poles.len(), 6, "{poles:?}");
    }
}
