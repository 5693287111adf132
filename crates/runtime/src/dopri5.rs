//! Dormand and Prince's method of order 5(4) with step size control and dense output.

use super::array::{Array, Numbers};
use super::real::Real;
use super::system::Fault;

/// The weights of the previous slopes in the point of each stage.
const SHARES: [&[f64]; 7] = [
    &[],
    &[1.0 / 5.0],
    &[3.0 / 40.0, 9.0 / 40.0],
    &[44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0],
    &[19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0],
    &[
        9017.0 / 3168.0,
        -355.0 / 33.0,
        46732.0 / 5247.0,
        49.0 / 176.0,
        -5103.0 / 18656.0,
    ],
    &[
        35.0 / 384.0,
        0.0,
        500.0 / 1113.0,
        125.0 / 192.0,
        -2187.0 / 6784.0,
        11.0 / 84.0,
    ],
];
/// The times of the stages, as fractions of a step.
const NODES: [f64; 7] = [0.0, 0.2, 0.3, 0.8, 8.0 / 9.0, 1.0, 1.0];
/// The solution of order 5 minus that of order 4.
const DIFFERENCES: [f64; 7] = [
    71.0 / 57600.0,
    0.0,
    -71.0 / 16695.0,
    71.0 / 1920.0,
    -17253.0 / 339200.0,
    22.0 / 525.0,
    -1.0 / 40.0,
];
const DENSE: [f64; 7] = [
    -12715105075.0 / 11282082432.0,
    0.0,
    87487479700.0 / 32700410799.0,
    -10690763975.0 / 1880347072.0,
    701980252875.0 / 199316789632.0,
    -1453857185.0 / 822651844.0,
    69997945.0 / 29380423.0,
];

/// The scale of a state without an estimate, in SI units: far below physical values, far above the smallest doubles.
pub const UNKNOWN_SCALE: f64 = 1e-30;

/// The allowed error of a step.
#[derive(Clone, Copy, Debug)]
pub struct Tolerances<X: Array> {
    /// The tolerance relative to a state's magnitude.
    pub rtol: X::Item,
    /// The tolerance of a state near zero. If it is 0, each state has a thousandth of `rtol` times its scale, which is its
    /// largest magnitude so far.
    pub atol: X::Item,
    /// The largest magnitude of each state so far.
    pub seen: X,
    /// The scales of the states before the run has found any; the model gives the negative ones, which remain in force.
    pub scales: &'static [f64],
}

impl<T: Real, X: Array<Item = T>> Tolerances<X> {
    /// Creates tolerances before any state was evaluated, with the scales of the states.
    pub fn with_scales(rtol: T, atol: T, scales: &'static [f64]) -> Tolerances<X> {
        Tolerances {
            rtol,
            atol,
            seen: X::filled(T::c(0.0)),
            scales,
        }
    }

    fn see(&mut self, x: &X) {
        for (seen, x) in self.seen.entries_mut().zip(x.entries()) {
            *seen = seen.maximum(x.abs());
        }
    }

    /// Returns the tolerance of a state between two values.
    pub fn allowed(&self, at: usize, a: T, b: T) -> T {
        let known = self.scales[at];
        let scale = if known < 0.0 {
            T::c(-known)
        } else {
            T::c(known).maximum(self.seen[at])
        };
        let near_zero = if self.atol > T::c(0.0) {
            self.atol
        } else {
            T::c(1e-3) * self.rtol * scale
        };
        near_zero + self.rtol * a.abs().maximum(b.abs())
    }
}

/// An integration in progress.
#[derive(Clone, Debug)]
pub struct Dopri5<X: Array> {
    /// The start of the last step.
    pub before: X::Item,
    /// The end of the last step.
    pub t: X::Item,
    /// The states at `t`.
    pub x: X,
    /// The states at `before`.
    pub x_before: X,
    /// The size of the next attempted step.
    pub h: X::Item,
    /// The tolerance of a step; a run keeps it across restarts.
    pub tolerances: Tolerances<X>,
    /// The longest allowed step; infinity if steps are unbounded.
    pub longest: X::Item,
    /// The number of steps taken.
    pub steps: u64,
    /// The slopes of the stages of the last step.
    pub(crate) slope: [X; 7],
}

impl<T: Real, X: Array<Item = T>> Dopri5<X> {
    /// Starts at a point; `stop` bounds the first step, and `longest` every step.
    pub fn new(
        mut f: impl FnMut(T, &X, &mut X) -> Result<(), Fault>,
        (t, stop): (T, T),
        x: &X,
        tolerances: Tolerances<X>,
        longest: T,
    ) -> Result<Dopri5<X>, Fault> {
        let zero = T::c(0.0);
        let mut solver = Dopri5 {
            before: t,
            t,
            x: *x,
            x_before: *x,
            h: (stop - t) * T::c(1e-4),
            tolerances,
            longest,
            steps: 0,
            slope: [X::filled(zero); 7],
        };
        solver.tolerances.see(x);
        f(t, x, &mut solver.slope[0])?;
        let (mut value, mut rate) = (T::c(1.0), zero);
        for (at, (x, slope)) in x.entries().zip(solver.slope[0].entries()).enumerate() {
            let scale = solver.tolerances.allowed(at, *x, *x);
            value = value.maximum(x.abs() / scale);
            rate = rate.maximum(slope.abs() / scale);
        }
        if rate > zero {
            // A step that moves the states by a hundredth of their magnitude, or by the tolerance if they are zero.
            let natural = value * T::c(0.01) / rate;
            solver.h = natural.minimum(solver.h);
        }
        // The stop may be the next larger number after the time.
        let least = T::c(1e-12) * (stop - t) + T::c(64.0 * T::EPSILON) * t.abs();
        solver.h = solver.h.maximum(least);
        Ok(solver)
    }

    /// Returns to the start of the last step, whose first slope is still stored.
    pub(crate) fn go_back(&mut self) {
        (self.t, self.x) = (self.before, self.x_before);
    }

    /// Performs one step that meets the tolerances and does not pass `stop`.
    pub fn step(&mut self, mut f: impl FnMut(T, &X, &mut X) -> Result<(), Fault>, stop: T) -> Result<(), Fault> {
        if self.t > self.before {
            // The last slope of one step is the first of the next.
            self.slope[0] = self.slope[6];
        }
        loop {
            let left = stop - self.t;
            let wanted = self.h.minimum(self.longest);
            let is_last = wanted >= left * T::c(0.999);
            let (h, end) = if is_last {
                (left, stop)
            } else {
                (wanted, self.t + wanted)
            };
            if end <= self.t {
                return Err(Fault::NotFinite);
            }
            let tried = stages(&mut f, (self.t, h, end), &self.x, &mut self.slope);
            let error = tried.map(|trial| (self.error(h, &trial), trial));
            let (error, trial) = match error {
                Ok((error, trial)) if error <= T::c(1.0) => (error, trial),
                other => {
                    let factor = match other {
                        Ok((error, _)) if error.is_finite() => T::c(0.9) * error.powf(T::c(-0.2)),
                        _ => T::c(0.1),
                    };
                    self.h = h * factor.maximum(T::c(0.1));
                    // In steps as short as this, the states do not change while time advances.
                    if self.h <= T::c(4.0 * T::EPSILON) * self.t.abs() {
                        return Err(other.err().unwrap_or(Fault::NotFinite));
                    }
                    continue;
                }
            };
            self.before = self.t;
            self.t = end;
            self.x_before = self.x;
            self.x = trial;
            self.tolerances.see(&trial);
            let growth = if error > T::c(1e-8) {
                T::c(0.9) * error.powf(T::c(-0.2))
            } else {
                T::c(5.0)
            };
            // A step that was shortened to end at `stop` is no reason to reduce the intended step size.
            let next = h * growth.minimum(T::c(5.0));
            if !(is_last && next < self.h) {
                self.h = next;
            }
            self.steps += 1;
            return Ok(());
        }
    }

    fn error(&self, h: T, trial: &X) -> T {
        let mut error = T::c(0.0);
        for (at, trial) in trial.entries().enumerate() {
            error = error.maximum(difference(&self.slope, h, at) / self.tolerances.allowed(at, self.x[at], *trial));
        }
        error
    }

    /// Computes the states at a time within the last step, to order 4.
    pub fn dense(&self, t: T, x: &mut X) {
        let h = self.t - self.before;
        let theta = if h > T::c(0.0) {
            (t - self.before) / h
        } else {
            T::c(1.0)
        };
        let rest = T::c(1.0) - theta;
        for (at, x) in x.entries_mut().enumerate() {
            let change = self.x[at] - self.x_before[at];
            let first = h * self.slope[0][at] - change;
            let last = change - h * self.slope[6][at] - first;
            let bend = weighted(&self.slope, &DENSE, at);
            *x = self.x_before[at] + theta * (change + rest * (first + theta * (last + rest * h * bend)));
        }
    }
}

/// Computes the slopes of a step from `t` by `h` to `end`, and the states there; the first slope must be known.
pub(crate) fn stages<T: Real, X: Numbers<T>, F>(
    mut f: impl FnMut(T, &X, &mut X) -> Result<(), F>,
    (t, h, end): (T, T, T),
    x: &X,
    slopes: &mut [X; 7],
) -> Result<X, F> {
    let mut trial = x.clone();
    for stage in 1..7 {
        for (at, (trial, x)) in trial.as_mut().iter_mut().zip(x.as_ref()).enumerate() {
            *trial = *x + h * weighted(slopes, SHARES[stage], at);
        }
        let t = if stage < 5 { t + T::c(NODES[stage]) * h } else { end };
        f(t, &trial, &mut slopes[stage])?;
    }
    Ok(trial)
}

/// Returns the difference between the two solutions of a step for a state.
pub(crate) fn difference<T: Real, X: Numbers<T>>(slopes: &[X; 7], h: T, at: usize) -> T {
    (h * weighted(slopes, &DIFFERENCES, at)).abs()
}

/// Returns the weighted sum of the slopes of a state.
fn weighted<T: Real, X: Numbers<T>>(slopes: &[X; 7], weights: &[f64], at: usize) -> T {
    let pairs = weights.iter().zip(slopes);
    pairs.fold(T::c(0.0), |sum, (weight, slope)| {
        sum + T::c(*weight) * slope.as_ref()[at]
    })
}
