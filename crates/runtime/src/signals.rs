//! The default signals of the inputs, and the instants at which signals or equations step or have a derivative
//! discontinuity. These functions are for programs with their own solver.

use super::array::Array;
use super::loops::zeros;
use super::model::Model;
use super::real::Real;
use super::system::{At, System};

/// The number of samples of a run used to find changes of conditions on time.
pub const SAMPLES: f64 = 20_000.0;
/// The largest factor by which fast oscillations increase the number of samples.
const MOST_REFINED: f64 = 64.0;
/// The number of samples used to find the fastest oscillation.
const COARSE: u32 = 1000;
/// The largest change of a phase, in radians, between two samples.
pub const LARGEST_TURN: f64 = core::f64::consts::FRAC_PI_4;

impl<S: System> Model<S> {
    /// Returns the inputs and their time derivatives at a time in seconds. At the instant of a step they have the new value.
    pub fn inputs(&mut self, t: S::Real) -> (S::Inputs, S::Inputs) {
        let mut both = zeros::<S::Signals>();
        self.system.inputs(t, &mut both);
        (
            S::Inputs::of(|at| both[at]),
            S::Inputs::of(|at| both[S::Inputs::LENGTH + at]),
        )
    }

    /// Returns the first instant after `after`, up to `stop`, at which a function of time steps or has a derivative
    /// discontinuity; infinity if none exists. A condition that changes twice between two of about 20,000 samples from
    /// `start` to `stop` may be missed.
    pub fn next_corner(&mut self, start: S::Real, after: S::Real, stop: S::Real) -> S::Real {
        let mut found = S::Real::c(f64::INFINITY);
        let mut instants = zeros::<S::Instants>();
        self.system.instants(&mut instants);
        for instant in instants.entries() {
            if *instant > after && *instant <= stop && *instant < found {
                found = *instant;
            }
        }
        if S::Switches::LENGTH == 0 || after >= stop {
            return found;
        }
        let first = if after > start { after } else { start };
        let begin = if after < start { start.next_down() } else { first };
        let width = (stop - start) / (S::Real::c(SAMPLES) * self.refinement(start, stop));
        let until = if found < stop { found.next_down() } else { stop };
        let coarse = self.scan(begin, until, width, start);
        found = if coarse < found { coarse } else { found };
        // Changes within the current piece.
        for _ in 0..3 {
            let until = if found < stop { found.next_down() } else { stop };
            if until > first {
                let fine = self.scan(first, until, (until - first) / S::Real::c(8.0), first);
                if fine >= found {
                    break;
                }
                found = fine;
            }
        }
        found
    }

    /// Returns the longest step with which a solver misses no oscillation in time between `start` and `stop`, for the
    /// current parameters. Returns infinity without oscillations, and for linear equations, whose response to an
    /// oscillation is proportional.
    pub fn longest_step(&mut self, start: S::Real, stop: S::Real) -> S::Real {
        if S::FEATURES.bounds_steps {
            let rate = self.fastest(start, stop);
            if rate > S::Real::c(0.0) && rate.is_finite() {
                return S::Real::c(LARGEST_TURN) / rate;
            }
        }
        S::Real::c(f64::INFINITY)
    }

    /// Computes all conditions on states.
    fn crossings(&mut self, at: At<'_, S>) -> S::Crossings {
        let mut crossings = zeros();
        self.system.crossings(at, &self.loops.w, &mut crossings);
        crossings
    }

    /// Returns functions that change sign when a condition on states changes. Call this after [`Model::rhs`] at the same
    /// point.
    pub fn conditions(&mut self, t: S::Real, x: &S::States, u: &S::Inputs, du: &S::Inputs) -> S::Conditions {
        if S::Conditions::LENGTH == 0 {
            return zeros();
        }
        let crossings = self.crossings(At { t, x, u, du });
        S::Conditions::of(|at| crossings[S::JUMPING[at]])
    }

    /// Returns functions that change sign at derivative discontinuities of the equations. Call this after [`Model::rhs`] at
    /// the same point.
    pub fn bends(&mut self, t: S::Real, x: &S::States, u: &S::Inputs, du: &S::Inputs) -> S::Bends {
        if S::Bends::LENGTH == 0 {
            return zeros();
        }
        let crossings = self.crossings(At { t, x, u, du });
        S::Bends::of(|at| crossings[S::BENDING[at]])
    }

    /// Returns the largest angular frequency of the oscillations in time, in rad/s, averaged over one thousandth of the
    /// interval.
    fn fastest(&mut self, start: S::Real, stop: S::Real) -> S::Real {
        let mut largest = S::Real::c(0.0);
        let mut last = zeros::<S::Phases>();
        if S::Phases::LENGTH == 0 || start >= stop {
            return largest;
        }
        for sample in 0..=COARSE {
            let t = start + (stop - start) * S::Real::c(f64::from(sample) / f64::from(COARSE));
            let mut next = zeros::<S::Phases>();
            self.system.phases(t, &mut next);
            for (a, b) in last.entries().zip(next.entries()) {
                let way = (*b - *a).abs();
                if sample > 0 && way > largest {
                    largest = way;
                }
            }
            last = next;
        }
        largest * S::Real::c(f64::from(COARSE)) / (stop - start)
    }

    /// Returns the values that are constant between discontinuities.
    fn look(&mut self, t: S::Real) -> S::Switches {
        let mut values = zeros();
        self.system.switches(t, &mut values);
        values
    }

    /// Returns the factor by which the fastest oscillation increases the number of samples.
    fn refinement(&mut self, start: S::Real, stop: S::Real) -> S::Real {
        let turns = self.fastest(start, stop) * (stop - start) / S::Real::c(LARGEST_TURN);
        let needed = -(-(turns / S::Real::c(SAMPLES))).floor();
        if needed > S::Real::c(1.0) {
            needed.minimum(S::Real::c(MOST_REFINED))
        } else {
            S::Real::c(1.0)
        }
    }

    /// Returns the first change between two instants, sampled at intervals of `width`; infinity if none exists.
    fn scan(&mut self, from: S::Real, until: S::Real, width: S::Real, origin: S::Real) -> S::Real {
        let same = |a: &S::Switches, b: &S::Switches| {
            let mut pairs = a.entries().zip(b.entries());
            pairs.all(|(a, b)| a == b || (a.is_nan() && b.is_nan()))
        };
        let values = self.look(from);
        let mut low = from;
        let mut number = ((from - origin) / width).floor();
        while low < until {
            let next = (origin + number * width).minimum(until);
            number = number + S::Real::c(1.0);
            if next <= low {
                continue;
            }
            if same(&values, &self.look(next)) {
                low = next;
                continue;
            }
            let mut high = next;
            loop {
                let middle = low + (high - low) * S::Real::c(0.5);
                if middle <= low || middle >= high {
                    return high;
                }
                if same(&values, &self.look(middle)) {
                    low = middle;
                } else {
                    high = middle;
                }
            }
        }
        S::Real::c(f64::INFINITY)
    }
}
