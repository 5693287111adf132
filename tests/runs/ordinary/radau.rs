//! Radau's method of order 5 for `M z' = f(t, z)`, with step doubling.

use super::nodal::Nodal;
use nalgebra::{DMatrix, DVector, Dyn, LU};
use std::cell::Cell;

/// Abscissae and coefficients of the three stages.
fn stages() -> ([f64; 3], [[f64; 3]; 3]) {
    let r = 6f64.sqrt();
    (
        [(4.0 - r) / 10.0, (4.0 + r) / 10.0, 1.0],
        [
            [
                (88.0 - 7.0 * r) / 360.0,
                (296.0 - 169.0 * r) / 1800.0,
                (-2.0 + 3.0 * r) / 225.0,
            ],
            [
                (296.0 + 169.0 * r) / 1800.0,
                (88.0 + 7.0 * r) / 360.0,
                (-2.0 - 3.0 * r) / 225.0,
            ],
            [(16.0 - r) / 36.0, (16.0 + r) / 36.0, 1.0 / 9.0],
        ],
    )
}

/// Iterations before a step is reduced.
const ITERATIONS: usize = 150;

/// The total number of iterations after which a run is abandoned and skipped.
const WORK: usize = 20_000;

/// The first steps of a piece, as fractions of the run: any jump settles within them.
const FIRST: f64 = 1e-8;

/// A factorisation of the equations of all stages, with the scales of its rows.
struct Factor {
    lu: LU<f64, Dyn, Dyn>,
    scales: DVector<f64>,
}

/// A run in progress.
struct Run<'n, 'm> {
    nodal: &'n Nodal<'m>,
    /// For each row, whether it has no rate.
    is_algebraic: Vec<bool>,
    rtol: f64,
    /// The stored quantities, and their largest values so far.
    held: DVector<f64>,
    most: DVector<f64>,
    z: DVector<f64>,
    /// The largest value so far of each unknown.
    seen: DVector<f64>,
    side: f64,
    /// The remaining iterations.
    left: Cell<usize>,
}

/// The samples of a model at equal intervals; none if the equations cannot be solved within the limits.
pub fn rows(nodal: &Nodal<'_>, (stop, points): (f64, usize), corners: &[f64], rtol: f64) -> Option<Vec<Vec<f64>>> {
    let size = nodal.size;
    let held = nodal.start();
    let mut run = Run {
        nodal,
        is_algebraic: (0..size).map(|row| nodal.mass.row(row).amax() == 0.0).collect(),
        rtol,
        most: (&nodal.mass.abs() * DVector::from_column_slice(&nodal.sizes) * 1e-6)
            .zip_map(&held, |least, held| least.max(held.abs())),
        held,
        z: DVector::zeros(size),
        seen: DVector::zeros(size),
        side: 0.0,
        left: Cell::new(WORK),
    };
    run.seen = run.least();
    let mut found = Vec::new();
    let mut ends: Vec<(f64, bool)> = (0..points)
        .map(|row| (stop * row as f64 / (points - 1) as f64, true))
        .collect();
    ends.extend(corners.iter().map(|corner| (*corner, false)));
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut time = 0.0;
    let mut step = f64::NAN;
    for (end, is_row) in ends {
        if end > time {
            // Pieces end at corners, so none has one inside.
            run.side = 0.5 * (time + end);
            if step.is_nan() {
                for _ in 0..4 {
                    run.euler(time + FIRST * stop, FIRST * stop)?;
                }
                step = FIRST * stop;
                run.seen = run.least().zip_map(&run.z, |least, z| least.max(z.abs()));
            }
            step = run.cross(time, end, step)?;
        }
        time = end;
        match is_row {
            true => found.push(nodal.measured((time, run.side), &run.z)),
            false => step = f64::NAN,
        }
    }
    Some(found)
}

impl Run<'_, '_> {
    /// From one time to another; returns the next step size.
    fn cross(&mut self, from: f64, to: f64, first: f64) -> Option<f64> {
        let mut time = from;
        let mut step = first;
        while time < to {
            if self.left.get() == 0 || step < 1e-16 * to {
                return None;
            }
            let is_last = time + 1.01 * step >= to;
            let length = if is_last { to - time } else { step };
            let whole = self.radau((time, length), &self.held, &self.z);
            let half = whole
                .is_some()
                .then(|| self.radau((time, 0.5 * length), &self.held, &self.z))
                .flatten();
            let second = half
                .as_ref()
                .and_then(|(z, held)| self.radau((time + 0.5 * length, 0.5 * length), held, z));
            let (Some((_, rough)), Some((z, held))) = (whole, second) else {
                step = 0.2 * length;
                continue;
            };
            let most = self.most.zip_map(&held, |most, held| most.max(held.abs()));
            let error = (0..held.len())
                .filter(|row| !self.is_algebraic[*row])
                .map(|row| (held[row] - rough[row]).abs() / (self.rtol * most[row] + f64::MIN_POSITIVE))
                .fold(0.0, f64::max)
                / 31.0;
            let next = length * (0.9 * error.powf(-1.0 / 6.0)).clamp(0.2, 5.0);
            if error > 1.0 {
                step = next;
                continue;
            }
            time = if is_last { to } else { time + length };
            step = if is_last { next.max(step) } else { next };
            self.seen = self.seen.zip_map(&z, |seen, z| seen.max(z.abs()));
            (self.most, self.z, self.held) = (most, z, held);
        }
        Some(step)
    }

    /// The initial magnitudes of unknowns before any values exist.
    fn least(&self) -> DVector<f64> {
        DVector::from_iterator(self.nodal.size, self.nodal.sizes.iter().map(|size| 1e-6 * size))
    }

    /// Returns true if a change of the stored quantities is round-off: the resolution of a through variable is that divided by
    /// the step size.
    fn is_rounding(&self, change: &DVector<f64>, stages: usize) -> bool {
        let size = self.nodal.size;
        (0..stages).all(|stage| {
            let held = &self.nodal.mass * change.rows(stage * size, size);
            (0..size).all(|row| held[row].abs() <= 1e-14 * self.most[row])
        })
    }

    /// One step of Euler's implicit method.
    fn euler(&mut self, time: f64, length: f64) -> Option<()> {
        let (z, held) = self.solve(time - length, length, (&[1.0], &[vec![1.0]]), &self.held, &self.z)?;
        self.most = self.most.zip_map(&held, |most, held| most.max(held.abs()));
        (self.z, self.held) = (z, held);
        Some(())
    }

    fn radau(
        &self,
        (time, length): (f64, f64),
        held: &DVector<f64>,
        z: &DVector<f64>,
    ) -> Option<(DVector<f64>, DVector<f64>)> {
        let (abscissae, coefficients) = stages();
        let coefficients = coefficients.map(|row| row.to_vec());
        self.solve(time, length, (&abscissae, &coefficients), held, z)
    }

    /// Unknowns and stored quantities at the end of a step.
    fn solve(
        &self,
        time: f64,
        length: f64,
        (abscissae, coefficients): (&[f64], &[Vec<f64>]),
        held: &DVector<f64>,
        first: &DVector<f64>,
    ) -> Option<(DVector<f64>, DVector<f64>)> {
        let (size, count) = (self.nodal.size, abscissae.len());
        let mut z: Vec<DVector<f64>> = vec![first.clone(); count];
        let least = self.least();
        let mut factor: Option<Factor> = None;
        let mut last = f64::INFINITY;
        for iteration in 0..ITERATIONS {
            self.left.set(self.left.get().checked_sub(1)?);
            let is_new = factor.is_none();
            let mut rights = Vec::new();
            let mut slopes = Vec::new();
            for (stage, z) in z.iter().enumerate() {
                let at = (time + abscissae[stage] * length, self.side);
                let mut matrix = is_new.then(|| DMatrix::zeros(size, size));
                rights.push(self.nodal.right(at, z, matrix.as_mut()));
                slopes.extend(matrix);
            }
            if is_new {
                factor = Some(self.factor(length, coefficients, &slopes));
            }
            let mut residual = DVector::zeros(size * count);
            for stage in 0..count {
                let held_now = &self.nodal.mass * &z[stage];
                for row in 0..size {
                    residual[stage * size + row] = match self.is_algebraic[row] {
                        true => rights[stage][row],
                        false => {
                            let sum: f64 = (0..count).map(|of| coefficients[stage][of] * rights[of][row]).sum();
                            held_now[row] - held[row] - length * sum
                        }
                    };
                }
            }
            let known = factor.as_ref().expect("it was made");
            let mut change = -known.lu.solve(&residual.component_mul(&known.scales))?;
            for (at, change) in change.iter_mut().enumerate() {
                *change *= self.nodal.sizes[at % size];
            }
            if change.iter().any(|change| !change.is_finite()) {
                return None;
            }
            let parts = |stage: usize| change.rows(stage * size, size).into_owned();
            let shares = (0..count).map(|stage| self.nodal.share(&z[stage], &parts(stage)));
            let share = shares.fold(1.0, f64::min);
            for (stage, z) in z.iter_mut().enumerate() {
                *z += share * change.rows(stage * size, size);
            }
            let worst_of = |size_of: &dyn Fn(usize) -> f64| {
                let shares = change.iter().enumerate().map(|(at, change)| change.abs() / size_of(at));
                shares.fold(0.0, f64::max)
            };
            let worst = worst_of(&|at| z[at / size][at % size].abs().max(least[at % size]));
            // Only round-off can prevent convergence with a new factorisation, such as that of formerly far larger
            // values.
            let stagnates = is_new && iteration > 2 && worst >= 0.7 * last;
            let is_near = worst <= 1e-9 || worst <= 1e-5 && self.is_rounding(&change, count);
            let is_late = iteration > 40 && worst_of(&|at| self.seen[at % size]) <= 1e-13;
            let stagnates = stagnates && (is_near || is_late);
            let is_done = share == 1.0 && (worst <= 1e-13 || stagnates);
            if is_done {
                let end = z.pop()?;
                // The stored quantities follow from the sums of the flows, which are unaffected by the round-off of
                // large unknowns.
                let now = &self.nodal.mass * &end;
                return Some((end, now));
            }
            // A factorisation is kept as long as it converges fast.
            if share < 1.0 || worst > 0.1 * last && worst > 1e-13 {
                factor = None;
            }
            last = worst;
        }
        None
    }

    fn factor(&self, length: f64, coefficients: &[Vec<f64>], slopes: &[DMatrix<f64>]) -> Factor {
        let (size, count) = (self.nodal.size, coefficients.len());
        let mut matrix = DMatrix::zeros(size * count, size * count);
        for stage in 0..count {
            for of in 0..count {
                for row in 0..size {
                    for column in 0..size {
                        let mass = if stage == of {
                            self.nodal.mass[(row, column)]
                        } else {
                            0.0
                        };
                        let entry = match (self.is_algebraic[row], stage == of) {
                            (true, true) => slopes[of][(row, column)],
                            (true, false) => 0.0,
                            (false, _) => mass - length * coefficients[stage][of] * slopes[of][(row, column)],
                        };
                        matrix[(stage * size + row, of * size + column)] = entry * self.nodal.sizes[column];
                    }
                }
            }
        }
        let largest = |row: usize| matrix.row(row).amax().max(f64::MIN_POSITIVE);
        let scales = DVector::from_iterator(size * count, (0..size * count).map(|row| 1.0 / largest(row)));
        for row in 0..size * count {
            matrix.row_mut(row).scale_mut(scales[row]);
        }
        Factor {
            lu: matrix.lu(),
            scales,
        }
    }
}
