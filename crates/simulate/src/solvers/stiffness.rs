//! The detection of explicit methods that are limited by stability rather than accuracy, and the resulting choice of method.
//!
//! An explicit method's step times the largest eigenvalue of the system cannot exceed a few units. If the accepted
//! steps stay at that limit, an implicit method may take longer ones. The location of the eigenvalue determines which
//! one: backward differentiation is best near the negative real axis, but unstable near the imaginary axis, where a
//! Runge-Kutta method that damps all fast parts replaces it.
//!
//! The largest eigenvalue is not necessarily the one that limits the steps: a smaller one nearer to the imaginary axis
//! may do so. An implicit method is therefore also tried, rarely, after many steps with many remaining.
//!
//! Steps at the limit also occur if accuracy happens to require them, such as for an oscillation at loose tolerances.
//! The implicit method is therefore on trial while it runs: if it makes less progress than it costs, the explicit one
//! continues.

use crate::motion::Motion;
use crate::motion::scales::Scales;
use crate::plan::Method;

/// Products of step and fastest rate above this value are at the stability limit (3.0 to 3.5 on the real axis).
const BOUND: f64 = 1.8;

/// The same near the imaginary axis, where the limit is lower.
const BOUND_OF_VIBRATIONS: f64 = 1.0;

/// The number of consecutive steps at the limit before the first trial of an implicit method; later trials wait longer.
const STEPS: u32 = 20;

/// With more remaining steps than this, an implicit method is tried even without a stability limit.
const MANY: f64 = 1e5;

/// The number of steps before that trial.
const MANY_STEPS: u32 = 2000;

/// The factor between the waits for consecutive trials.
const GROWTH: u32 = 8;

/// With fewer remaining steps than this, an implicit method does not pay off.
const WORTH: f64 = 3000.0;

/// The number of steps after which a nonlinear system's fastest rate is estimated again.
const RENEWAL: u32 = 60;

/// The number of power iterations; the first ones only turn the vector.
const ITERATIONS: usize = 16;

/// The number of steps of an implicit method over which its progress is measured.
const WINDOW: u32 = 64;

/// The number of consecutive poor windows; the first one also contains the short steps of a start.
const POOR: u32 = 2;

/// An explicit method that rejects this fraction of this number of steps is limited by something between its accepted
/// points, such as the far side of a steep law with a kink.
const REJECTED: f64 = 0.4;
const MANY_REJECTED: u64 = 1000;

/// The cost of an implicit step in explicit steps, including its linear solves.
const COST: f64 = 4.0;

/// Cosine of the angle to the negative real axis beyond which backward differentiation of order 4 is unstable (73 degrees).
const SECTOR: f64 = 0.287;

/// The eigenvalue of largest magnitude.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Fastest {
    /// Its magnitude in 1/s.
    pub rate: f64,
    /// The ratio of its real part to its magnitude: -1 for a decay, 0 for an undamped oscillation.
    pub cosine: f64,
}

impl Fastest {
    fn is_decay(self) -> bool {
        self.cosine < -SECTOR
    }

    /// Returns the implicit method that is best suited to it.
    fn fits(self) -> Method {
        if self.is_decay() { Method::Bdf } else { Method::Sdirk }
    }

    fn bound(self) -> f64 {
        if self.is_decay() { BOUND } else { BOUND_OF_VIBRATIONS }
    }
}

/// Monitors the steps of a run with automatic method selection.
#[derive(Debug)]
pub(crate) struct Watch {
    fastest: Option<Fastest>,
    since: u32,
    changes: bool,
    /// The number of steps at the limit before a trial.
    patience: u32,
    /// The number of steps with many remaining, since the explicit method began.
    many: u32,
    /// The number of waits.
    patience_of_many: u32,
    /// The number of steps in the current window of the explicit method, and the number of rejected ones when it began.
    accepted: u64,
    rejected: u64,
    /// True if most steps of the explicit method are rejected: it is then not tried again.
    is_refused: bool,
    /// The implicit method of the last trial.
    tried: Option<Method>,
    phase: Phase,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    /// The number of consecutive steps at the limit, and the start of the first one.
    Explicit { at_bound: u32, began: f64 },
    /// The length of earlier explicit steps; a window with its start and its number of steps; consecutive poor windows.
    Implicit {
        explicit: f64,
        began: f64,
        steps: u32,
        poor: u32,
    },
}

impl Phase {
    const NEW: Phase = Phase::Explicit {
        at_bound: 0,
        began: 0.0,
    };
}

impl Watch {
    /// Creates a monitor; for a linear system the fastest rate is estimated once.
    pub fn new(linear: bool) -> Watch {
        Watch {
            fastest: None,
            since: 0,
            changes: !linear,
            patience: STEPS,
            many: 0,
            patience_of_many: MANY_STEPS,
            accepted: 0,
            rejected: 0,
            is_refused: false,
            tried: None,
            phase: Phase::NEW,
        }
    }

    /// Starts a new piece.
    pub fn restart(&mut self) {
        if let Phase::Explicit { .. } = self.phase {
            self.phase = Phase::NEW;
            if self.changes {
                self.fastest = None;
            }
        }
    }

    /// Returns the method for a part of a run between events with an expected duration, if stability would limit an
    /// explicit method for most of it. Parts may be too short to monitor the steps of each.
    pub fn begin(
        &mut self,
        motion: &Motion<'_>,
        time: f64,
        (states, scales): (&[f64], &Scales),
        expected: f64,
    ) -> Option<Method> {
        if self.changes {
            return None;
        }
        self.fastest = fastest(motion, time, states, scales);
        let fastest = self.fastest?;
        let explicit = fastest.bound() / fastest.rate;
        if expected < WORTH * explicit {
            return None;
        }
        self.phase = Phase::Implicit {
            explicit,
            began: time,
            steps: 0,
            poor: 0,
        };
        self.tried = Some(fastest.fits());
        self.tried
    }

    /// Records one step that passed the error test, with the remaining time; returns the method for the rest of the run
    /// if it should change.
    pub fn step(
        &mut self,
        motion: &Motion<'_>,
        (from, to): (f64, f64),
        (states, scales): (&[f64], &Scales),
        left: f64,
    ) -> Option<Method> {
        match self.phase {
            Phase::Explicit { at_bound, began } => {
                let began = if at_bound == 0 { from } else { began };
                self.explicit_step(motion, (began, from, to), (states, scales), left, at_bound)
            }
            Phase::Implicit {
                explicit,
                began,
                steps,
                poor,
            } => {
                let steps = steps + 1;
                let (began, steps, poor) = match (
                    steps < WINDOW || self.is_refused,
                    to - began < COST * explicit * f64::from(WINDOW),
                ) {
                    (true, _) => (began, steps, poor),
                    (false, true) => (to, 0, poor + 1),
                    (false, false) => (to, 0, 0),
                };
                if poor >= POOR {
                    return Some(self.back());
                }
                self.phase = Phase::Implicit {
                    explicit,
                    began,
                    steps,
                    poor,
                };
                None
            }
        }
    }

    /// Records one step of the explicit method that passed the error test, and the number of rejections since the
    /// solver was created. Returns the implicit method for the rest of the run if most steps are rejected.
    pub fn rejections(&mut self, rejected: u64) -> Option<Method> {
        if !matches!(self.phase, Phase::Explicit { .. }) {
            return None;
        }
        self.accepted += 1;
        // A new solver counts from 0.
        let since = rejected.checked_sub(self.rejected).unwrap_or(rejected);
        let all = self.accepted + since;
        if all < MANY_REJECTED {
            return None;
        }
        (self.accepted, self.rejected) = (0, rejected);
        if (since as f64) < REJECTED * all as f64 || self.is_refused {
            return None;
        }
        self.is_refused = true;
        self.phase = Phase::Implicit {
            explicit: 0.0,
            began: 0.0,
            steps: 0,
            poor: 0,
        };
        // A one-step method has no memory of the other side of a kink.
        self.tried = Some(Method::Sdirk);
        self.tried
    }

    /// Returns the method that replaces an implicit one that is no longer useful or cannot continue.
    pub fn back(&mut self) -> Method {
        self.phase = Phase::NEW;
        self.patience = self.patience.saturating_mul(GROWTH);
        self.patience_of_many = self.patience_of_many.saturating_mul(GROWTH);
        self.many = 0;
        Method::Tsit45
    }

    fn explicit_step(
        &mut self,
        motion: &Motion<'_>,
        (began, from, to): (f64, f64, f64),
        (states, scales): (&[f64], &Scales),
        left: f64,
        at_bound: u32,
    ) -> Option<Method> {
        let step = to - from;
        if left / step < WORTH {
            self.phase = Phase::NEW;
            return None;
        }
        self.since += 1;
        self.many = if left / step > MANY { self.many + 1 } else { 0 };
        if self.fastest.is_none() || self.changes && self.since >= RENEWAL {
            self.fastest = fastest(motion, to, states, scales);
            self.since = 0;
        }
        let is_at_bound = self
            .fastest
            .is_some_and(|fastest| fastest.rate * step > fastest.bound());
        let at_bound = if is_at_bound { at_bound + 1 } else { 0 };
        if at_bound < self.patience && self.many < self.patience_of_many {
            self.phase = Phase::Explicit { at_bound, began };
            return None;
        }
        self.phase = Phase::Implicit {
            explicit: if at_bound > 0 {
                (to - began) / f64::from(at_bound)
            } else {
                step
            },
            began: to,
            steps: 0,
            poor: 0,
        };
        // The largest eigenvalue may not be conclusive for other methods: after a poor trial the other one is tried.
        let fits = self.fastest.map_or(Method::Sdirk, Fastest::fits);
        let method = match self.tried == Some(fits) {
            true if fits == Method::Bdf => Method::Sdirk,
            true => Method::Bdf,
            false => fits,
        };
        self.tried = Some(method);
        Some(method)
    }
}

/// Returns an estimate of the eigenvalue of df/dx of largest magnitude at a point, by the power method on differences
/// of f; `None` if f has no value. States are in units of their scales.
pub(crate) fn fastest(motion: &Motion<'_>, time: f64, states: &[f64], scales: &Scales) -> Option<Fastest> {
    let size = states.len();
    let (mut base, mut moved) = (vec![0.0; size], vec![0.0; size]);
    if !motion.rates(time, states, &mut base) {
        return None;
    }
    let sizes: Vec<f64> = (0..size).map(|at| scales.scale(at)).collect();
    let times = |direction: &[f64]| {
        let length = norm(direction);
        if !(length > 0.0 && length.is_finite()) {
            return None;
        }
        let reach = 1e-5 * (size as f64).sqrt() / length;
        let along = direction.iter().zip(&sizes).map(|(d, size)| reach * d * size);
        let point: Vec<f64> = states.iter().zip(along).map(|(x, d)| x + d).collect();
        if !motion.rates(time, &point, &mut moved) {
            return None;
        }
        Some(
            moved
                .iter()
                .zip(&base)
                .zip(&sizes)
                .map(|((moved, base), size)| (moved - base) / (reach * size))
                .collect(),
        )
    };
    dominant(size, times)
}

/// Returns the eigenvalue of largest magnitude of a matrix, given by its products with a vector.
fn dominant(size: usize, mut times: impl FnMut(&[f64]) -> Option<Vec<f64>>) -> Option<Fastest> {
    // A direction without any symmetry.
    let mut last: Vec<f64> = (0..size as u64)
        .map(|at| 1.0 + 0.5 * ((at * 2_654_435_761) % 1000) as f64 / 1000.0)
        .collect();
    let mut now = times(&last)?;
    let mut growth = Vec::with_capacity(ITERATIONS);
    let mut cosine = -1.0;
    for _ in 1..ITERATIONS {
        let Some(next) = times(&now) else { break };
        growth.push(norm(&next) / norm(&now));
        cosine = cosine_of(&last, &now, &next).unwrap_or(cosine);
        last = std::mem::replace(&mut now, next);
    }
    let settled = &growth[growth.len() / 2..];
    if settled.is_empty() {
        return Some(Fastest { rate: 0.0, cosine });
    }
    // The geometric mean over many applications is also valid for a complex pair of largest eigenvalues.
    let mean = settled.iter().map(|factor| factor.max(1e-300).ln()).sum::<f64>() / settled.len() as f64;
    let rate = mean.exp();
    Some(Fastest { rate, cosine })
}

/// Returns the cosine of the angle of the larger one of a pair of eigenvalues. The three vectors, each a matrix times
/// the one before, are nearly in the plane of the pair: `next = a now + b last` with `z^2 = a z + b` for both. Returns
/// `None` if the vectors are collinear and their product is zero.
fn cosine_of(last: &[f64], now: &[f64], next: &[f64]) -> Option<f64> {
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    // Use units in which all three have about the same length.
    let unit = norm(now) / norm(last);
    let (ll, ln, nn) = (
        product(last, last),
        product(last, now) / unit,
        product(now, now) / (unit * unit),
    );
    let (lx, nx) = (
        product(last, next) / (unit * unit),
        product(now, next) / (unit * unit * unit),
    );
    let determinant = ll * nn - ln * ln;
    if determinant.is_nan() || determinant <= 1e-8 * ll * nn {
        // One real eigenvalue: the vectors are in a line.
        return (ln != 0.0).then(|| ln.signum());
    }
    let a = (nx * ll - lx * ln) / determinant;
    let b = (lx * nn - nx * ln) / determinant;
    let discriminant = 0.25 * a * a + b;
    match discriminant < 0.0 {
        true => Some(0.5 * a / (-b).sqrt()),
        false => Some(if a == 0.0 { -1.0 } else { a.signum() }),
    }
}

fn norm(vector: &[f64]) -> f64 {
    vector.iter().map(|value| value * value).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(matrix: &[&[f64]]) -> Fastest {
        let times = |vector: &[f64]| {
            let row = |row: &&[f64]| row.iter().zip(vector).map(|(a, x)| a * x).sum();
            Some(matrix.iter().map(row).collect::<Vec<f64>>())
        };
        dominant(matrix.len(), times).unwrap()
    }

    #[test]
    fn decays_and_vibrations_are_distinguished() {
        // The eigenvalue -1000 next to a slow oscillation.
        let decay = of(&[&[-1000.0, 1.0, 0.0], &[0.0, 0.0, 5.0], &[0.0, -5.0, 0.0]]);
        assert!(
            (decay.rate / 1000.0 - 1.0).abs() < 1e-6 && decay.cosine < -0.999,
            "{decay:?}"
        );
        // Mass and spring in SI: 5 1/s, damped by 0.02 of the critical value.
        let vibration = of(&[&[-0.2, -0.5], &[50.0, 0.0]]);
        assert!((vibration.rate / 5.0 - 1.0).abs() < 0.2, "{vibration:?}");
        assert!((vibration.cosine + 0.02).abs() < 1e-6, "{vibration:?}");
        // Growth is not decay.
        let growth = of(&[&[3.0, 0.0], &[0.0, -1.0]]);
        assert!(growth.cosine > 0.99, "{growth:?}");
    }
}
