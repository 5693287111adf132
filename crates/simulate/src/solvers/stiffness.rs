//! Whether an explicit method is held back by stability rather than by accuracy, and what is to be done about it.
//!
//! An explicit method's step times the largest eigenvalue of the system cannot exceed a few units. Where the steps that
//! pass the error test stay at that bound, an implicit method may take longer ones. Which one may follows from where the
//! eigenvalue lies: backward differentiation is at its best near the negative real axis and itself unstable near the
//! imaginary one, where the Runge-Kutta method that damps everything fast takes its place.
//!
//! The largest eigenvalue need not be the one that holds the steps back: one that is smaller and nearer to the imaginary axis may be. So
//! an implicit method is also tried where many steps have been made and many more are to come, if seldom.
//!
//! Steps at the bound also come about where accuracy happens to ask for them, as in a vibration at loose tolerances. So the
//! implicit method is on trial, for as long as it runs: where it makes less way than it costs, the explicit one goes on.

use crate::motion::Motion;
use crate::plan::Method;
use crate::run::scales::Scales;

/// Products of step and fastest rate above this are taken as the bound of stability (3.0 to 3.5 on the real axis).
const BOUND: f64 = 1.8;

/// The same near the imaginary axis, where the bound is nearer.
const BOUND_OF_VIBRATIONS: f64 = 1.0;

/// So many steps in a row must be at the bound before the first trial of an implicit method; later trials wait for longer.
const STEPS: u32 = 20;

/// Where a run would take so many further steps, an implicit method is tried also where no bound is seen.
const MANY: f64 = 1e5;

/// So many of them are made before that.
const MANY_STEPS: u32 = 2000;

/// How many times longer each trial is waited for than the one before it.
const GROWTH: u32 = 8;

/// Fewer steps than this are left to the explicit method even so: an implicit one would not pay.
const WORTH: f64 = 3000.0;

/// Steps after which a nonlinear system's fastest rate is estimated again.
const RENEWAL: u32 = 60;

/// Iterations of the power method, the first of which only turn the vector.
const ITERATIONS: usize = 16;

/// Steps of an implicit method over which its way is measured.
const WINDOW: u32 = 64;

/// So many windows in a row must be poor: the first one also holds the short steps of a beginning.
const POOR: u32 = 2;

/// An explicit method that rejects so large a share of so many steps is held back by what it does not see at the points that it
/// accepts, as the far side of a steep law that bends.
const REJECTED: f64 = 0.4;
const MANY_REJECTED: u64 = 1000;

/// A step of an implicit method, with its linear solutions, costs as much as so many explicit ones.
const COST: f64 = 4.0;

/// Cosine of the angle to the negative real axis beyond which backward differentiation of order 4 is unstable (73 degrees).
const SECTOR: f64 = 0.287;

/// The eigenvalue of largest size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Fastest {
    /// Its size in 1/s.
    pub rate: f64,
    /// Its real part over its size: -1 for a decay, 0 for a vibration that nothing damps.
    pub cosine: f64,
}

impl Fastest {
    fn is_decay(self) -> bool {
        self.cosine < -SECTOR
    }

    fn bound(self) -> f64 {
        if self.is_decay() { BOUND } else { BOUND_OF_VIBRATIONS }
    }
}

/// Watches the steps of a run whose method is free.
#[derive(Debug)]
pub(crate) struct Watch {
    fastest: Option<Fastest>,
    since: u32,
    changes: bool,
    /// Steps at the bound that are waited for.
    patience: u32,
    /// Steps with many more to come, since the explicit method began.
    many: u32,
    /// So many of them are waited for.
    patience_of_many: u32,
    /// Steps in the present window of the explicit method, and the rejected ones when it began.
    accepted: u64,
    rejected: u64,
    /// True if steps of the explicit method are rejected for the most part: then none is tried again.
    is_refused: bool,
    /// The implicit method of the last trial.
    tried: Option<Method>,
    phase: Phase,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    /// So many steps in a row were at the bound, the first of which began then.
    Explicit { at_bound: u32, began: f64 },
    /// The length of explicit steps before; a window that began then and has so many steps; poor windows in a row.
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
    /// For a linear system the fastest rate is estimated once.
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

    /// A new piece begins.
    pub fn restart(&mut self) {
        if let Phase::Explicit { .. } = self.phase {
            self.phase = Phase::NEW;
            if self.changes {
                self.fastest = None;
            }
        }
    }

    /// One step from a time to another has passed the error test, with so much time left; the method for the rest of the
    /// run, where it is to be another one.
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

    /// One step of the explicit method has passed the error test, and so many were rejected since the solver was made; the implicit method
    /// for the rest of the run, where they are most of all steps.
    pub fn rejections(&mut self, rejected: u64) -> Option<Method> {
        if !matches!(self.phase, Phase::Explicit { .. }) {
            return None;
        }
        self.accepted += 1;
        // A solver that was made anew counts from 0.
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
        // A method of one step remembers nothing of the other side of what bends.
        self.tried = Some(Method::Sdirk);
        self.tried
    }

    /// An implicit method is of no use from here on, or cannot go on at all; the method in its place.
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
        // What the largest eigenvalue says of the method may not hold for others: after a poor trial the other one has its turn.
        let fits = match self.fastest.is_some_and(Fastest::is_decay) {
            true => Method::Bdf,
            false => Method::Sdirk,
        };
        let method = match self.tried == Some(fits) {
            true if fits == Method::Bdf => Method::Sdirk,
            true => Method::Bdf,
            false => fits,
        };
        self.tried = Some(method);
        Some(method)
    }
}

/// The eigenvalue of df/dx of largest size at a point, roughly, by the power method on differences of f; none where f has no
/// value. States count in units of their scales.
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

/// The eigenvalue of largest size of a matrix, given what it makes of a vector.
fn dominant(size: usize, mut times: impl FnMut(&[f64]) -> Option<Vec<f64>>) -> Option<Fastest> {
    // A direction without symmetry.
    let mut last: Vec<f64> = (0..size)
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
    // The geometric mean over many applications also holds where the largest eigenvalues are a complex pair.
    let mean = settled.iter().map(|factor| factor.max(1e-300).ln()).sum::<f64>() / settled.len() as f64;
    let rate = mean.exp();
    Some(Fastest { rate, cosine })
}

/// Three vectors, each a matrix times the one before, that are nearly in the plane of one pair of eigenvalues: `next = a now +
/// b last` with `z^2 = a z + b` for both. The cosine of the angle of the larger one; none where the vectors are in a line and
/// opposed to nothing.
fn cosine_of(last: &[f64], now: &[f64], next: &[f64]) -> Option<f64> {
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    // In units in which all three have about one length.
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
        // -1000 beside a slow vibration.
        let decay = of(&[&[-1000.0, 1.0, 0.0], &[0.0, 0.0, 5.0], &[0.0, -5.0, 0.0]]);
        assert!(
            (decay.rate / 1000.0 - 1.0).abs() < 1e-6 && decay.cosine < -0.999,
            "{decay:?}"
        );
        // Mass and spring in SI: 5 1/s, damped by 0.02 of the critical value.
        let vibration = of(&[&[-0.2, -0.5], &[50.0, 0.0]]);
        assert!((vibration.rate / 5.0 - 1.0).abs() < 0.2, "{vibration:?}");
        assert!((vibration.cosine + 0.02).abs() < 1e-6, "{vibration:?}");
        // A growth is no decay.
        let growth = of(&[&[3.0, 0.0], &[0.0, -1.0]]);
        assert!(growth.cosine > 0.99, "{growth:?}");
    }
}
