//! The effect of input steps on states if its ratio to the steps depends on the point: the limit of increasingly fast ramps.
//!
//! The right-hand sides are affine in the rates u' of the inputs, `x' = f(x, u) + E(x, u) u'`, because storage
//! determined by sources exchanges charge and momentum instantaneously. In a ramp of zero duration the states follow
//! `dx/ds = E(x, u) (after - before)`. The completed fraction s of the steps increases from 0 to 1.
//! E times the steps is the growth of the right-hand sides per unit of the rates, as these grow without bound. A bounded
//! effect therefore adds nothing, and an effect that grows faster than the rates is not a jump. The path is integrated
//! in parts with error estimates. Conserved charges and momenta determine the states at its end, for any path of the
//! inputs. As a check, a second path is integrated; if the two ends differ, the steps do not determine the states.

use super::array::Numbers;
use super::dopri5::{difference, stages};
use super::loops::least;
use super::real::Real;

/// The speed of the ramps, in steps of the inputs per second. The slower ramps are tried if the loops have no solution
/// with the fastest.
const RATES: [f64; 3] = [1.180_591_620_717_411_3e21, 3.435_973_836_8e10, 1.0];
/// The factor between two sets of rates, which reveals proportional growth; not a power of two, so that round-off
/// shows.
const FASTER: f64 = 3.0;
/// Bounded effects lose more than this fraction if the rates grow by the factor above; a square root keeps 0.58.
const LIMITED: f64 = 0.9;
/// Unbounded effects grow by more than this factor if the rates grow by the factor above.
const GROWING: f64 = 1.5;
/// A state that moves by more than this multiple of the largest state of its kind moves without bound.
const ENDLESS: f64 = 1e9;
/// The tolerance along the path, as a fraction of that of the run.
const FINER: f64 = 1e-2;
/// The smallest significant value of a state, as a fraction of the largest of its kind.
const OF_KIND: f64 = 1e-9;
/// The allowed error of a state, in units of the round-off of its slope differences.
const NOISE: f64 = 100.0;
/// The first part of the path, as a fraction of the path.
const FIRST: f64 = 1.0 / 64.0;
/// The shortest part of the path, as a fraction of the path.
const SHORTEST: f64 = 1e-14;
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
#[derive(Clone, Debug)]
pub struct Steps<'a, I, W> {
    /// The number of the first state of the same kind, or a smaller one that no other kind has, for each state.
    pub kinds: &'a [usize],
    /// Guesses of the unknowns of the loops at the start of the path, at least one.
    pub guesses: &'a [W],
    /// The inputs before the steps.
    pub before: I,
    /// The step of each input.
    pub steps: I,
}

/// Computes time derivatives at states, and at inputs with their time derivatives, with the solution of the loops nearest to unknowns, and
/// stores this solution in the unknowns. Returns false if they have no value.
pub type Rates<'a, X, I, W> = dyn FnMut(&mut W, &X, (&I, &I), &mut X) -> bool + 'a;

/// Returns the states after steps of inputs, in a run with a relative tolerance. `rates` solves the loops to round-off, and is called last
/// at the states returned.
pub fn after<T: Real, X: Numbers<T>, I: Numbers<T>, W: Clone>(
    rates: &mut Rates<'_, X, I, W>,
    steps: &Steps<'_, I, W>,
    rtol: T,
    x: &X,
) -> Result<X, Lost<T>> {
    let coarsest = 1e-11_f64.max(80.0 * T::EPSILON);
    let tolerance = (T::c(FINER) * rtol)
        .maximum(T::c(1e-13_f64.max(16.0 * T::EPSILON)))
        .minimum(T::c(coarsest));
    // The ends are equal if they differ by less than this number of tolerances.
    let same = T::c(1e-7_f64.max(1e4 * T::EPSILON) / coarsest);
    let other = Way::new(rates, steps, true, tolerance, x).go(x)?;
    let mut way = Way::new(rates, steps, false, tolerance, x);
    let found = way.go(x)?;
    let largest = way.largest();
    for (at, (one, other)) in found.as_ref().iter().zip(other.as_ref()).enumerate() {
        let is_same = (*one - *other).abs() <= same * way.allowed(&largest, at, way.added.as_ref()[at]);
        if !is_same {
            return Err(Lost::Open(at, *one, *other));
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
struct Way<'a, T, X, I, W> {
    rates: &'a mut Rates<'a, X, I, W>,
    steps: &'a Steps<'a, I, W>,
    /// True if some inputs are ahead of the others.
    is_bent: bool,
    tolerance: T,
    /// The largest magnitude of each state and of its change along the path.
    sizes: X,
    /// The possible round-off error of the slope of each state in the attempted part, and its effect on the state so far.
    noise: X,
    added: X,
    /// The unknowns of the loops with each of the rates, and with zero rates.
    unknowns: [W; 4],
    /// The index of the rate in use, in [`RATES`].
    rate: usize,
}

/// Returns values computed from other values one by one.
fn each<T: Real, X: Numbers<T>>(values: &X, of: impl Fn(T) -> T) -> X {
    let mut results = values.clone();
    for value in results.as_mut() {
        *value = of(*value);
    }
    results
}

impl<'a, T: Real, X: Numbers<T>, I: Numbers<T>, W: Clone> Way<'a, T, X, I, W> {
    fn new(
        rates: &'a mut Rates<'_, X, I, W>,
        steps: &'a Steps<'a, I, W>,
        is_bent: bool,
        tolerance: T,
        x: &X,
    ) -> Way<'a, T, X, I, W> {
        Way {
            rates,
            steps,
            is_bent,
            tolerance,
            sizes: each(x, T::abs),
            noise: each(x, |_| T::c(0.0)),
            added: each(x, |_| T::c(0.0)),
            unknowns: [(); 4].map(|()| steps.guesses[0].clone()),
            rate: 0,
        }
    }

    /// Integrates along the complete path.
    fn go(&mut self, start: &X) -> Result<X, Lost<T>> {
        let (zero, one) = (T::c(0.0), T::c(1.0));
        let (mut t, mut x, mut length) = (zero, start.clone(), T::c(FIRST));
        let mut slopes = [(); 7].map(|()| start.clone());
        slopes[0] = self.first(start)?;
        for _ in 0..PARTS {
            let left = one - t;
            let is_last = length >= left;
            length = length.minimum(left);
            let known = (self.unknowns.clone(), self.sizes.clone());
            self.noise.as_mut().fill(zero);
            let end = if is_last { one } else { t + length };
            let step = (t, length, end);
            let made = stages(|share, x, dx| self.slope(share, x, dx), step, &x, &mut slopes);
            let excess = match &made {
                Ok(trial) => self.excess(&slopes, length, trial),
                Err(Lost::NoWay) => T::c(f64::INFINITY),
                Err(lost) => return Err(*lost),
            };
            match made {
                Ok(trial) if excess <= one => {
                    (t, x) = (end, trial);
                    slopes.swap(0, 6);
                    for (added, noise) in self.added.as_mut().iter_mut().zip(self.noise.as_ref()) {
                        *added = *added + length * *noise;
                    }
                    self.still(t, &x);
                    if is_last {
                        return Ok(x);
                    }
                }
                _ => (self.unknowns, self.sizes) = known,
            }
            let factor = if excess.is_finite() {
                T::c(0.9) * excess.maximum(T::c(1e-10)).powf(T::c(-0.2))
            } else {
                zero
            };
            length = length * factor.maximum(T::c(0.1)).minimum(T::c(4.0));
            if length < T::c(SHORTEST) * t.maximum(T::c(T::EPSILON)) {
                break;
            }
        }
        Err(Lost::NoWay)
    }

    /// Computes the slope at the start of the path, with the fastest rate for which a slope exists. Before a run, when all inputs are 0,
    /// the unknowns of the loops are nearer to 0 than to their values after the steps.
    fn first(&mut self, x: &X) -> Result<X, Lost<T>> {
        let (zero, mut lost) = (T::c(0.0), Lost::NoWay);
        for rate in 0..RATES.len() {
            for guess in self.steps.guesses {
                self.unknowns = [(); 4].map(|()| guess.clone());
                self.rate = rate;
                self.still(zero, x);
                let mut slope = x.clone();
                match self.slope(zero, x, &mut slope) {
                    Ok(()) => return Ok(slope),
                    Err(Lost::NoWay) => {}
                    Err(other) => lost = other,
                }
            }
        }
        Err(lost)
    }

    /// Returns the error of a part of the path, in units of the tolerance.
    fn excess(&mut self, slopes: &[X; 7], length: T, trial: &X) -> T {
        for (at, size) in self.sizes.as_mut().iter_mut().enumerate() {
            *size = size.maximum(trial.as_ref()[at].abs());
            for slope in slopes {
                *size = size.maximum((length * slope.as_ref()[at]).abs());
            }
        }
        let largest = self.largest();
        let mut excess = T::c(0.0);
        // The effect of slope round-off on the state is proportional to the length of the part.
        for (at, noise) in self.noise.as_ref().iter().enumerate() {
            excess = excess.maximum(difference(slopes, length, at) / self.allowed(&largest, at, length * *noise));
        }
        excess
    }

    /// Returns the largest magnitude of each kind of state.
    fn largest(&self) -> X {
        let mut largest = each(&self.sizes, |_| T::c(0.0));
        for (kind, size) in self.steps.kinds.iter().zip(self.sizes.as_ref()) {
            largest.as_mut()[*kind] = largest.as_ref()[*kind].maximum(*size);
        }
        largest
    }

    /// Returns the tolerance of a state to which round-off may add this amount.
    fn allowed(&self, largest: &X, at: usize, noise: T) -> T {
        let of_kind = largest.as_ref()[self.steps.kinds[at]];
        let size = self.sizes.as_ref()[at].maximum(T::c(OF_KIND) * of_kind);
        self.tolerance * size + T::c(NOISE) * noise + least()
    }

    /// Returns the inputs at a fraction of the path, and their rates along it. On a bent path, every second input is ahead.
    fn inputs(&self, share: T) -> (I, I) {
        let (half, one) = (T::c(0.5), T::c(1.0));
        let (mut inputs, mut rates) = (self.steps.before.clone(), self.steps.steps.clone());
        let mut stepping = 0;
        for (input, step) in inputs.as_mut().iter_mut().zip(rates.as_mut()) {
            stepping += usize::from(*step != T::c(0.0));
            let (done, rate) = match (self.is_bent, stepping % 2) {
                (false, _) => (share, one),
                (true, 0) => (half * (share + share * share), half + share),
                (true, _) => (half * share * (T::c(3.0) - share), T::c(1.5) - share),
            };
            *input = *input + done * *step;
            *step = rate * *step;
        }
        (inputs, rates)
    }

    /// Computes the growth of the states per completed fraction of the path.
    fn slope(&mut self, share: T, x: &X, dx: &mut X) -> Result<(), Lost<T>> {
        let (u, du) = self.inputs(share);
        let (rate, faster) = (T::c(RATES[self.rate]), T::c(FASTER));
        let factors = [rate, faster * rate, faster * faster * rate];
        let mut right = [(); 3].map(|()| x.clone());
        for ((unknowns, factor), right) in self.unknowns.iter_mut().zip(factors).zip(&mut right) {
            if !(self.rates)(unknowns, x, (&u, &each(&du, |rate| factor * rate)), right) {
                return Err(Lost::NoWay);
            }
        }
        let [slow, middle, fast] = right.each_ref().map(|right| right.as_ref());
        let slopes = |at: usize| Slopes {
            slow: (middle[at] - slow[at]) / (factors[1] - factors[0]),
            fast: (fast[at] - middle[at]) / (factors[2] - factors[1]),
            rounding: T::c(T::EPSILON) * fast[at].abs() / factors[1],
        };
        self.limit(slopes, dx.as_mut())
    }

    /// Computes the limits of the slopes from two values each.
    fn limit(&mut self, slopes: impl Fn(usize) -> Slopes<T>, dx: &mut [T]) -> Result<(), Lost<T>> {
        let zero = T::c(0.0);
        let (mut largest, kinds) = (self.largest(), self.steps.kinds);
        let largest = largest.as_mut();
        for (at, kind) in kinds.iter().enumerate() {
            let slopes = slopes(at);
            if slopes.is_proportional() {
                largest[*kind] = largest[*kind].maximum(slopes.fast.abs());
            }
        }
        let most = largest.iter().fold(zero, |most, size| most.maximum(*size));
        for (at, (dx, noise)) in dx.iter_mut().zip(self.noise.as_mut()).enumerate() {
            let slopes = slopes(at);
            let (fast, slow) = (slopes.fast.abs(), slopes.slow.abs());
            let apart = (slopes.fast - slopes.slow).abs();
            *dx = zero;
            if slopes.is_proportional() {
                *dx = slopes.fast;
                *noise = noise.maximum(apart.minimum(slopes.rounding));
                continue;
            }
            let of_kind = largest[kinds[at]];
            let size = if of_kind > zero { of_kind } else { most };
            let is_endless = fast > T::c(GROWING) * slow && fast > T::c(ENDLESS) * size;
            if is_endless && self.rate == 0 {
                return Err(Lost::Endless(at));
            }
            // With slow ramps the limit cannot be determined.
            if self.rate > 0 {
                return Err(Lost::NoWay);
            }
            if fast > T::c(LIMITED) * slow {
                *dx = slopes.fast;
                *noise = noise.maximum(apart);
            }
        }
        Ok(())
    }

    /// Solves the loops on the path with zero rates, and leaves them solved.
    fn still(&mut self, share: T, x: &X) {
        let (u, du) = self.inputs(share);
        // A missing value also shows with nonzero rates, or does not matter.
        let _ = (self.rates)(
            &mut self.unknowns[3],
            x,
            (&u, &each(&du, |_| T::c(0.0))),
            &mut x.clone(),
        );
    }
}
