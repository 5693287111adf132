//! The effect of input steps on states if its ratio to the steps depends on the point: the limit of increasingly fast ramps.
//!
//! The right-hand sides are affine in the rates u' of the inputs, `x' = f(x, u) + E(x, u) u'`, because storage
//! determined by sources exchanges charge and momentum instantaneously. In a ramp of zero duration the states follow
//! `dx/ds = E(x, u) (after - before)`. The completed fraction s of the steps increases from 0 to 1.
//! E times the steps is the growth of the right-hand sides per unit of the rates, as these grow without bound. A bounded
//! effect therefore adds nothing, and an effect that grows faster than the rates is not a jump. The path is integrated
//! in parts with error estimates. Conserved charges and momenta determine the states at its end, for any path of the
//! inputs. As a check, a second path is integrated; if the two ends differ, the steps do not determine the states.

use super::array::Array;
use super::dopri5::Dopri5;
use super::loops::{least, zeros};
use super::model::Model;
use super::real::Real;
use super::system::{At, Fault, System};

/// The speed of the ramps, in steps of the inputs per second. The slower ramps are tried if the loops have no solution
/// with the fastest.
pub const RATES: [f64; 3] = [1.180_591_620_717_411_3e21, 3.435_973_836_8e10, 1.0];
/// The factor between two sets of rates, which reveals proportional growth; not a power of two, so that round-off
/// shows.
pub const FASTER: f64 = 3.0;
/// Bounded effects lose more than this fraction if the rates grow by the factor above; a square root keeps 0.58.
pub const LIMITED: f64 = 0.9;
/// Unbounded effects grow by more than this factor if the rates grow by the factor above.
pub const GROWING: f64 = 1.5;
/// A state that moves by more than this multiple of the largest state of its kind moves without bound.
pub const ENDLESS: f64 = 1e9;
/// The tolerance along the path, as a fraction of that of the run.
pub const FINER: f64 = 1e-2;
/// The smallest significant value of a state, as a fraction of the largest of its kind.
pub const OF_KIND: f64 = 1e-9;
/// The allowed error of a state, in units of the round-off of its slope differences.
pub const NOISE: f64 = 100.0;
/// The first part of the path, as a fraction of the path.
pub const FIRST: f64 = 1.0 / 64.0;
/// The shortest part of the path, as a fraction of the path.
pub const SHORTEST: f64 = 1e-14;
/// The maximum number of parts of the path.
pub const PARTS: usize = 20_000;

/// The reason why the states after steps cannot be determined.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lost<T> {
    /// The equations cannot be evaluated on the path, or their solution ends there.
    NoWay,
    /// A state would move without bound.
    Endless(usize),
    /// The final value of a state depends on the path of the inputs; two such values are given.
    Open(usize, T, T),
}

/// Steps of inputs at an instant.
#[derive(Clone, Copy, Debug)]
pub struct Steps<S: System> {
    /// The time of the steps.
    pub t: S::Real,
    /// True at the start of a run: the loops were not solved before the steps.
    pub is_start: bool,
    /// The inputs before the steps.
    pub before: S::Inputs,
    /// The step of each input.
    pub steps: S::Inputs,
}

/// Returns the states after steps of inputs, in a run with a relative tolerance. Leaves the loops solved at these states.
pub fn after<S: System>(
    model: &mut Model<S>,
    steps: &Steps<S>,
    rtol: S::Real,
    x: &S::States,
) -> Result<S::States, Lost<S::Real>> {
    model.loops.solve_exactly(true);
    let ends = both_ends(model, steps, rtol, x);
    model.loops.solve_exactly(false);
    ends
}

fn both_ends<S: System>(
    model: &mut Model<S>,
    steps: &Steps<S>,
    rtol: S::Real,
    x: &S::States,
) -> Result<S::States, Lost<S::Real>> {
    let begun = if steps.is_start { None } else { model.loops.solution() };
    let coarsest = 1e-11_f64.max(80.0 * S::Real::EPSILON);
    let tolerance = (S::Real::c(FINER) * rtol)
        .maximum(S::Real::c(1e-13_f64.max(16.0 * S::Real::EPSILON)))
        .minimum(S::Real::c(coarsest));
    // The ends are equal if they differ by less than this number of tolerances.
    let same = S::Real::c(1e-7_f64.max(1e4 * S::Real::EPSILON) / coarsest);
    let other = Way::new(model, steps, true, tolerance, x).go(begun, x)?;
    let mut way = Way::new(model, steps, false, tolerance, x);
    let found = way.go(begun, x)?;
    let largest = way.largest();
    for at in 0..S::States::LENGTH {
        let is_same = (found[at] - other[at]).abs() <= same * way.allowed(&largest, at, way.added[at]);
        if !is_same {
            return Err(Lost::Open(at, found[at], other[at]));
        }
    }
    Ok(found)
}

/// The growth of the right-hand side of a state per unit of the rate, at slower and at faster rates, and its round-off at
/// the faster ones.
#[derive(Clone, Copy)]
struct Slopes<T> {
    slow: T,
    fast: T,
    rounding: T,
}

impl<T: Real> Slopes<T> {
    fn is_proportional(&self) -> bool {
        let share = T::c(1e-6_f64.max(1e3 * T::EPSILON));
        (self.fast - self.slow).abs() <= share * self.fast.abs() + T::c(4.0) * self.rounding
    }
}

/// A path of the inputs from before the steps to after them.
struct Way<'a, S: System> {
    model: &'a mut Model<S>,
    steps: &'a Steps<S>,
    /// True if some inputs are ahead of the others.
    is_bent: bool,
    tolerance: S::Real,
    /// The largest magnitude of each state and of its change along the path.
    sizes: S::States,
    /// The possible round-off error of the slope of each state in the attempted part, and its effect on the state so far.
    noise: S::States,
    added: S::States,
    /// The unknowns of the loops with each of the rates, and with zero rates.
    unknowns: [S::Unknowns; 4],
    /// The index of the rate in use, in [`RATES`].
    rate: usize,
    /// The reason why the last slope was not found.
    lost: Lost<S::Real>,
}

impl<'a, S: System> Way<'a, S> {
    fn new(
        model: &'a mut Model<S>,
        steps: &'a Steps<S>,
        is_bent: bool,
        tolerance: S::Real,
        x: &S::States,
    ) -> Way<'a, S> {
        Way {
            model,
            steps,
            is_bent,
            tolerance,
            sizes: S::States::of(|at| x[at].abs()),
            noise: zeros(),
            added: zeros(),
            unknowns: [zeros(); 4],
            rate: 0,
            lost: Lost::NoWay,
        }
    }

    /// Integrates along the complete path.
    fn go(&mut self, begun: Option<S::Unknowns>, x: &S::States) -> Result<S::States, Lost<S::Real>> {
        let one = S::Real::c(1.0);
        let mut way = Dopri5::at(S::Real::c(0.0), x);
        way.slope[0] = self.first(begun, x)?;
        let mut length = S::Real::c(FIRST);
        for _ in 0..PARTS {
            let left = one - way.t;
            let is_last = length >= left;
            length = length.minimum(left);
            let known = (self.unknowns, self.sizes);
            self.noise = zeros();
            self.lost = Lost::NoWay;
            let end = way.t + length;
            let made = way.stages(&mut |share, x, dx| self.slope(share, x, dx), length, end);
            let excess = match made {
                Ok(trial) => self.excess(&way, length, &trial),
                Err(_) if self.lost != Lost::NoWay => return Err(self.lost),
                Err(_) => S::Real::c(f64::INFINITY),
            };
            match made {
                Ok(trial) if excess <= one => {
                    (way.t, way.x, way.slope[0]) = (if is_last { one } else { end }, trial, way.slope[6]);
                    for (added, noise) in self.added.entries_mut().zip(self.noise.entries()) {
                        *added = *added + length * *noise;
                    }
                    self.still(way.t, &trial);
                    if is_last {
                        return Ok(trial);
                    }
                }
                _ => (self.unknowns, self.sizes) = known,
            }
            let factor = if excess.is_finite() {
                S::Real::c(0.9) * excess.maximum(S::Real::c(1e-10)).powf(S::Real::c(-0.2))
            } else {
                S::Real::c(0.0)
            };
            length = length * factor.maximum(S::Real::c(0.1)).minimum(S::Real::c(4.0));
            if length < S::Real::c(SHORTEST) * way.t.maximum(S::Real::c(S::Real::EPSILON)) {
                break;
            }
        }
        Err(Lost::NoWay)
    }

    /// Computes the slope at the start of the path, with the fastest rate for which a slope exists. Before a run, when all inputs are 0,
    /// the unknowns of the loops are nearer to 0 than to their values after the steps.
    fn first(&mut self, begun: Option<S::Unknowns>, x: &S::States) -> Result<S::States, Lost<S::Real>> {
        let mut lost = Lost::NoWay;
        for rate in 0..RATES.len() {
            let guesses = S::LOOPS.guesses;
            let is_one = begun.is_some() || S::Unknowns::LENGTH == 0;
            for guess in &guesses[..if is_one { 1 } else { guesses.len() }] {
                self.unknowns = [begun.unwrap_or(S::Unknowns::of(|at| S::Real::c(guess[at]))); 4];
                self.rate = rate;
                self.lost = Lost::NoWay;
                self.still(S::Real::c(0.0), x);
                let mut slope = zeros();
                let found = self.slope(S::Real::c(0.0), x, &mut slope);
                if found.is_ok() {
                    return Ok(slope);
                }
                if self.lost != Lost::NoWay {
                    lost = self.lost;
                }
            }
        }
        Err(lost)
    }

    /// Returns the error of a part of the path, in units of the tolerance.
    fn excess(&mut self, way: &Dopri5<S::States>, length: S::Real, trial: &S::States) -> S::Real {
        for at in 0..S::States::LENGTH {
            self.sizes[at] = self.sizes[at].maximum(trial[at].abs());
            for slope in &way.slope {
                self.sizes[at] = self.sizes[at].maximum((length * slope[at]).abs());
            }
        }
        let largest = self.largest();
        let mut excess = S::Real::c(0.0);
        // The effect of slope round-off on the state is proportional to the length of the part.
        for at in 0..S::States::LENGTH {
            excess = excess.maximum(way.difference(length, at) / self.allowed(&largest, at, length * self.noise[at]));
        }
        excess
    }

    /// Returns the largest magnitude of each kind of state.
    fn largest(&self) -> S::States {
        let mut largest = zeros::<S::States>();
        for (kind, size) in S::STATES.kinds.iter().zip(self.sizes.entries()) {
            largest[*kind] = largest[*kind].maximum(*size);
        }
        largest
    }

    /// Returns the tolerance of a state to which round-off may add this amount.
    fn allowed(&self, largest: &S::States, at: usize, noise: S::Real) -> S::Real {
        let size = self.sizes[at].maximum(S::Real::c(OF_KIND) * largest[S::STATES.kinds[at]]);
        self.tolerance * size + S::Real::c(NOISE) * noise + least()
    }

    /// Returns the inputs at a fraction of the path, and their rates along it. On a bent path, every second input is ahead.
    fn inputs(&self, share: S::Real) -> (S::Inputs, S::Inputs) {
        let (half, one) = (S::Real::c(0.5), S::Real::c(1.0));
        let (mut inputs, mut rates) = (self.steps.before, zeros::<S::Inputs>());
        let mut stepping = 0;
        for at in 0..S::Inputs::LENGTH {
            stepping += usize::from(self.steps.steps[at] != S::Real::c(0.0));
            let (done, rate) = match (self.is_bent, stepping % 2) {
                (false, _) => (share, one),
                (true, 0) => (half * (share + share * share), half + share),
                (true, _) => (half * share * (S::Real::c(3.0) - share), S::Real::c(1.5) - share),
            };
            inputs[at] = inputs[at] + done * self.steps.steps[at];
            rates[at] = rate * self.steps.steps[at];
        }
        (inputs, rates)
    }

    /// Computes the growth of the states per completed fraction of the path.
    fn slope(&mut self, share: S::Real, x: &S::States, dx: &mut S::States) -> Result<(), Fault> {
        let (u, du) = self.inputs(share);
        let rate = S::Real::c(RATES[self.rate]);
        let faster = S::Real::c(FASTER);
        let factors = [rate, faster * rate, faster * faster * rate];
        let mut right = [zeros(); 3];
        for with in 0..3 {
            let du = S::Inputs::of(|at| factors[with] * du[at]);
            let (t, u, du) = (self.steps.t, &u, &du);
            let unknowns = &mut self.unknowns[with];
            self.model.rates_near(unknowns, At { t, x, u, du }, &mut right[with])?;
        }
        let slopes = |at: usize| Slopes {
            slow: (right[1][at] - right[0][at]) / (factors[1] - factors[0]),
            fast: (right[2][at] - right[1][at]) / (factors[2] - factors[1]),
            rounding: S::Real::c(S::Real::EPSILON) * right[2][at].abs() / factors[1],
        };
        self.limit(slopes, dx)
    }

    fn lose(&mut self, why: Lost<S::Real>) -> Result<(), Fault> {
        self.lost = why;
        Err(Fault::JumpNotKnown)
    }

    /// Computes the limits of the slopes from two values each.
    fn limit(&mut self, slopes: impl Fn(usize) -> Slopes<S::Real>, dx: &mut S::States) -> Result<(), Fault> {
        let zero = S::Real::c(0.0);
        let mut largest = self.largest();
        for (at, kind) in S::STATES.kinds.iter().enumerate() {
            let slopes = slopes(at);
            if slopes.is_proportional() {
                largest[*kind] = largest[*kind].maximum(slopes.fast.abs());
            }
        }
        let most = largest.entries().fold(zero, |most, size| most.maximum(*size));
        for at in 0..S::States::LENGTH {
            let slopes = slopes(at);
            let (fast, slow) = (slopes.fast.abs(), slopes.slow.abs());
            let apart = (slopes.fast - slopes.slow).abs();
            dx[at] = zero;
            if slopes.is_proportional() {
                dx[at] = slopes.fast;
                self.noise[at] = self.noise[at].maximum(apart.minimum(slopes.rounding));
                continue;
            }
            let size = if largest[S::STATES.kinds[at]] > zero {
                largest[S::STATES.kinds[at]]
            } else {
                most
            };
            if fast > S::Real::c(GROWING) * slow && fast > S::Real::c(ENDLESS) * size {
                return self.lose(if self.rate == 0 { Lost::Endless(at) } else { Lost::NoWay });
            }
            // With slow ramps the limit cannot be determined.
            if self.rate > 0 {
                return self.lose(Lost::NoWay);
            }
            if fast > S::Real::c(LIMITED) * slow {
                dx[at] = slopes.fast;
                self.noise[at] = self.noise[at].maximum(apart);
            }
        }
        Ok(())
    }

    /// Solves the loops on the path with zero rates, and leaves them solved.
    fn still(&mut self, share: S::Real, x: &S::States) {
        let (u, _) = self.inputs(share);
        let (t, u, du) = (self.steps.t, &u, &zeros());
        let mut right = zeros();
        // A missing value also shows with nonzero rates, or does not matter.
        let _ = self
            .model
            .rates_near(&mut self.unknowns[3], At { t, x, u, du }, &mut right);
    }
}
