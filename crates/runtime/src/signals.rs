//! The default signals of the inputs, and where they or the equations step or have a derivative discontinuity: for programs that run
//! the model by itself.

use super::array::Array;
use super::loops::zeros;
use super::model::Model;
use super::real::Real;
use super::system::{At, System};

/// So many samples of a run find changes of conditions on time.
const SAMPLES: f64 = 20_000.0;
/// At most so many times as many if something oscillates fast.
const MOST_REFINED: f64 = 64.0;
/// So many samples find the fastest oscillation.
const COARSE: u32 = 1000;
/// The largest angle, in radians, that a phase may turn through between two looks at it.
pub const LARGEST_TURN: f64 = core::f64::consts::FRAC_PI_4;

impl<S: System> Model<S> {
    /// The inputs and their time derivatives at a time in seconds. A step has its new value at the instant itself.
    pub fn inputs(&mut self, t: S::Real) -> (S::Inputs, S::Inputs) {
        let mut both = zeros::<S::Signals>();
        self.system.inputs(t, &mut both);
        (
            S::Inputs::of(|at| both[at]),
            S::Inputs::of(|at| both[S::Inputs::LENGTH + at]),
        )
    }

    /// The first instant after `after`, and not after `stop`, at which what depends on time alone steps or bends; infinite where
    /// there is none. A condition that changes twice between two of some 20,000 samples from `start` to `stop` may be missed.
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
        // Changes within the present piece.
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

    /// The longest step in which a solver overlooks no turn of what oscillates with time alone between two times, at the
    /// parameters that the model has; infinite where nothing does, or where the equations are linear and answer every turn in
    /// proportion.
    pub fn longest_step(&mut self, start: S::Real, stop: S::Real) -> S::Real {
        if S::FEATURES.bounds_steps {
            let rate = self.fastest(start, stop);
            if rate > S::Real::c(0.0) && rate.is_finite() {
                return S::Real::c(LARGEST_TURN) / rate;
            }
        }
        S::Real::c(f64::INFINITY)
    }

    /// All conditions on states.
    fn crossings(&mut self, at: At<'_, S>) -> S::Crossings {
        let mut crossings = zeros();
        self.system.crossings(at, &self.loops.w, &mut crossings);
        crossings
    }

    /// Functions that change their sign where a condition on states changes; to be called after [`Model::rhs`] at the same
    /// point.
    pub fn conditions(&mut self, t: S::Real, x: &S::States, u: &S::Inputs, du: &S::Inputs) -> S::Conditions {
        if S::Conditions::LENGTH == 0 {
            return zeros();
        }
        let crossings = self.crossings(At { t, x, u, du });
        S::Conditions::of(|at| crossings[S::JUMPING[at]])
    }

    /// The same where the equations have a derivative discontinuity.
    pub fn bends(&mut self, t: S::Real, x: &S::States, u: &S::Inputs, du: &S::Inputs) -> S::Bends {
        if S::Bends::LENGTH == 0 {
            return zeros();
        }
        let crossings = self.crossings(At { t, x, u, du });
        S::Bends::of(|at| crossings[S::BENDING[at]])
    }

    /// The largest angular frequency of what oscillates with time alone, in rad/s: the mean of a thousandth of the time.
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

    /// The values that are constant between corners.
    fn look(&mut self, t: S::Real) -> S::Switches {
        let mut values = zeros();
        self.system.switches(t, &mut values);
        values
    }

    /// The factor of samples that the fastest oscillation needs.
    fn refinement(&mut self, start: S::Real, stop: S::Real) -> S::Real {
        let turns = self.fastest(start, stop) * (stop - start) / S::Real::c(LARGEST_TURN);
        let needed = -(-(turns / S::Real::c(SAMPLES))).floor();
        if needed > S::Real::c(1.0) {
            needed.minimum(S::Real::c(MOST_REFINED))
        } else {
            S::Real::c(1.0)
        }
    }

    /// Where something changes first between two instants, looked at so far apart; infinite where nothing does.
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
