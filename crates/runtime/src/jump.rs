//! What steps of inputs do to states where the share of each depends on the point: the limit of ever faster ramps.
//!
//! The right sides are affine in the rates u' of the inputs, `x' = f(x, u) + E(x, u) u'`: storage that sources determine gives and
//! takes charge and momentum at once. In a ramp that takes no time the states go along `dx/ds = E(x, u) (after - before)`, while the
//! share s of the steps goes from 0 to 1. E times the steps is what the right sides grow by where the rates do, both beyond all bounds: a
//! limited rate adds nothing, and what grows faster than the rates is no jump. The way is gone in parts whose error is estimated.
//! Conserved charges and momenta determine the states at its end, whichever way the inputs take; so it is gone a second time along
//! another one, and where the two end apart, the steps do not say where the states come to.

use super::array::Array;
use super::dopri5::Dopri5;
use super::loops::{least, zeros};
use super::model::Model;
use super::real::Real;
use super::system::{At, Fault, System};

/// How fast the ramps are, in their own steps for a second. Loops that have no solution with the fastest are asked for slower ones.
pub const RATES: [f64; 3] = [1.180_591_620_717_411_3e21, 3.435_973_836_8e10, 1.0];
/// Rates that differ by so much show what grows in proportion. It is no power of two, so that rounding shows as well.
pub const FASTER: f64 = 3.0;
/// What is limited loses more than this share where the rates grow by the factor above; a square root keeps 0.58.
pub const LIMITED: f64 = 0.9;
/// What grows without bounds beside the rates grows by more than this where these grow by the factor above.
pub const GROWING: f64 = 1.5;
/// A state that moves by so many times the largest one of its kind is moved without bounds.
pub const ENDLESS: f64 = 1e9;
/// The tolerance of the way, as a share of that of the run.
pub const FINER: f64 = 1e-2;
/// Nothing of a state is smaller than this share of the largest one of its kind.
pub const OF_KIND: f64 = 1e-9;
/// So many differences of slopes that rounding makes are allowed of a state.
pub const NOISE: f64 = 100.0;
/// The first part of the way.
pub const FIRST: f64 = 1.0 / 64.0;
/// The shortest part of the way.
pub const SHORTEST: f64 = 1e-14;
/// The most parts of the way.
pub const PARTS: usize = 20_000;

/// Why the states after steps are not known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lost<T> {
    /// The equations could not be evaluated, or their solution ends, on the way there.
    NoWay,
    /// A state would move without bounds.
    Endless(usize),
    /// Where a state comes to depends on the way that the inputs take: two values of it.
    Open(usize, T, T),
}

/// Steps of inputs at an instant.
#[derive(Clone, Copy, Debug)]
pub struct Steps<S: System> {
    /// When the inputs step.
    pub t: S::Real,
    /// Whether the run begins there: the loops were not solved before the steps.
    pub is_start: bool,
    /// The inputs before.
    pub before: S::Inputs,
    /// What each of them grows by.
    pub steps: S::Inputs,
}

/// The states after steps of inputs in a run with a relative tolerance. The loops are left solved there.
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
    // The ends are the same within so many tolerances.
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

/// What the right sides of a state grow by with slower and faster rates, for the step of a rate, and the rounding of the latter.
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

/// One way from before the steps to after them.
struct Way<'a, S: System> {
    model: &'a mut Model<S>,
    steps: &'a Steps<S>,
    /// Whether some inputs are ahead of the others.
    is_bent: bool,
    tolerance: S::Real,
    /// The largest that was seen of each state and of its way.
    sizes: S::States,
    /// By how much rounding may make the slope of each state wrong in the part that is tried, and what that has added to it so far.
    noise: S::States,
    added: S::States,
    /// The unknowns of the loops with each of the rates, and without any.
    unknowns: [S::Unknowns; 4],
    /// The rate that is used, as a place among those that there are.
    rate: usize,
    /// Why the last slope was not found.
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

    /// Goes the whole way.
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

    /// The slope where the way begins, with the fastest rates with which there is one. Before a run, when all inputs are 0, the
    /// unknowns of the loops are near 0 rather than where they are after the steps.
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

    /// The error of a part of the way, in units of what is allowed.
    fn excess(&mut self, way: &Dopri5<S::States>, length: S::Real, trial: &S::States) -> S::Real {
        for at in 0..S::States::LENGTH {
            self.sizes[at] = self.sizes[at].maximum(trial[at].abs());
            for slope in &way.slope {
                self.sizes[at] = self.sizes[at].maximum((length * slope[at]).abs());
            }
        }
        let largest = self.largest();
        let mut excess = S::Real::c(0.0);
        // What rounding makes of a slope adds to the state in proportion to the length of the part.
        for at in 0..S::States::LENGTH {
            excess = excess.maximum(way.difference(length, at) / self.allowed(&largest, at, length * self.noise[at]));
        }
        excess
    }

    /// The largest of each kind that was seen.
    fn largest(&self) -> S::States {
        let mut largest = zeros::<S::States>();
        for (kind, size) in S::STATES.kinds.iter().zip(self.sizes.entries()) {
            largest[*kind] = largest[*kind].maximum(*size);
        }
        largest
    }

    /// What is allowed of the error of a state to which rounding may add so much.
    fn allowed(&self, largest: &S::States, at: usize, noise: S::Real) -> S::Real {
        let size = self.sizes[at].maximum(S::Real::c(OF_KIND) * largest[S::STATES.kinds[at]]);
        self.tolerance * size + S::Real::c(NOISE) * noise + least()
    }

    /// The inputs at a share of the way, and their rates along it. On a bent one, every other input is ahead.
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

    /// What the states grow by for the share of the way.
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

    /// The limits of slopes, of each of which two are known.
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
            // Slow ramps do not show what becomes of it.
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

    /// Solves the loops on the way without an impulse, and leaves them so.
    fn still(&mut self, share: S::Real, x: &S::States) {
        let (u, _) = self.inputs(share);
        let (t, u, du) = (self.steps.t, &u, &zeros());
        let mut right = zeros();
        // What has no value there shows with the rates as well, or does not matter.
        let _ = self
            .model
            .rates_near(&mut self.unknowns[3], At { t, x, u, du }, &mut right);
    }
}
