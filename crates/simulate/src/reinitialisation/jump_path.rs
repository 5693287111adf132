//! The effect of input steps on states if the effect of each step depends on the point: the limit of increasingly fast ramps.
//!
//! The right sides of states are affine in the rates u' of the inputs, `x' = f(x, u) + E(x, u) u'`: storage determined
//! by sources exchanges charge and momentum instantaneously. In a ramp of zero duration the states follow
//! `dx/ds = E(x, u) (after - before)`, while the fraction s of the steps goes from 0 to 1. E times the steps is the
//! growth of the right sides when the rates grow without bound: a bounded rate adds nothing, and growth faster than the
//! rates is not a jump. The path is integrated with an error estimate. Conserved charges and momenta determine the
//! states at its end, for any path of the inputs. A second path is therefore integrated; if the two ends differ, the
//! steps do not determine the states.

use crate::motion::Motion;
use lgm_runtime::dopri5::{DIFFERENCES, NODES, SHARES};
use lgm_runtime::jump::{ENDLESS, FASTER, FINER, FIRST, GROWING, LIMITED, NOISE, OF_KIND, PARTS, RATES, SHORTEST};

/// The accuracy of proportionality to the rates.
const IN_PROPORTION: f64 = 1e-6;

/// The largest and the smallest tolerance along the path.
const COARSEST: f64 = 1e-11;
const FINEST: f64 = 1e-13;

/// The ends of two paths are equal within this many tolerances.
const EQUAL_ENDS: f64 = 1e4;

/// The reason why the states after a step are unknown.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Lost {
    /// The equations could not be evaluated on the path, or their solution ends there.
    NoWay,
    /// A state would move without bounds.
    Endless(usize),
    /// The final value of a state depends on the path of the inputs; contains two such values.
    Open(usize, f64, f64),
}

/// Steps of inputs at an instant.
pub(crate) struct Steps<'a> {
    pub time: f64,
    /// True if the run begins there: the loops were not solved before the steps.
    pub is_start: bool,
    /// The inputs before.
    pub before: &'a [f64],
    /// The step of each input.
    pub steps: &'a [f64],
}

/// Returns the states after steps of inputs. The loops are left solved there.
pub(crate) fn after(motion: &Motion<'_>, steps: &Steps<'_>, rtol: f64, states: &[f64]) -> Result<Vec<f64>, Lost> {
    let tolerance = (FINER * rtol).clamp(FINEST, COARSEST);
    let unknowns = motion.solution();
    motion.solving_exactly(|| {
        let mut way = Way::new(motion, steps, tolerance, bent, &unknowns, states);
        let other = way.go(states)?;
        let mut way = Way::new(motion, steps, tolerance, straight, &unknowns, states);
        let found = way.go(states)?;
        for (at, (a, b)) in found.iter().zip(&other).enumerate() {
            if (a - b).abs() > EQUAL_ENDS * way.allowed(at, way.noise[at]) {
                return Err(Lost::Open(at, *a, *b));
            }
        }
        Ok(found)
    })
}

/// The fraction of its step that an input has completed, and the rate of this fraction.
type Course = fn(usize, f64) -> (f64, f64);

/// Returns the path on which all inputs step together.
fn straight(_: usize, share: f64) -> (f64, f64) {
    (share, 1.0)
}

/// Returns the path on which every other input is ahead, and the others are behind.
fn bent(input: usize, share: f64) -> (f64, f64) {
    match input % 2 {
        0 => (0.5 * (share + share * share), 0.5 + share),
        _ => (0.5 * share * (3.0 - share), 1.5 - share),
    }
}

/// A slope at a point.
#[derive(Clone)]
struct Slope {
    values: Vec<f64>,
    /// The maximum round-off of each slope.
    noise: Vec<f64>,
}

/// One path from before the steps to after them.
struct Way<'a, 'm> {
    motion: &'a Motion<'m>,
    steps: &'a Steps<'a>,
    course: Course,
    tolerance: f64,
    /// The rank of each input in the list of stepping inputs.
    order: Vec<usize>,
    /// States of one kind have the same number.
    kinds: Vec<usize>,
    /// The largest magnitude so far of each state and of its path.
    sizes: Vec<f64>,
    /// The maximum effect of slope round-off on each state.
    noise: Vec<f64>,
    /// The unknowns of the loops with each of the rates, and without any.
    unknowns: [Vec<f64>; 4],
    /// The rate in use, as an index in the list of rates.
    rate: usize,
}

impl<'a, 'm> Way<'a, 'm> {
    fn new(
        motion: &'a Motion<'m>,
        steps: &'a Steps<'a>,
        tolerance: f64,
        course: Course,
        unknowns: &[f64],
        states: &[f64],
    ) -> Way<'a, 'm> {
        let mut stepping = 0;
        let order = steps.steps.iter().map(|step| {
            stepping += usize::from(*step != 0.0);
            stepping
        });
        let mut units = Vec::new();
        let kinds = motion.system.states.iter().map(|state| {
            let known = units.iter().position(|unit| *unit == &state.unit);
            known.unwrap_or_else(|| {
                units.push(&state.unit);
                units.len() - 1
            })
        });
        Way {
            motion,
            steps,
            course,
            tolerance,
            order: order.collect(),
            kinds: kinds.collect(),
            sizes: states.iter().map(|value| value.abs()).collect(),
            noise: vec![0.0; states.len()],
            unknowns: [(); 4].map(|()| unknowns.to_vec()),
            rate: 0,
        }
    }

    /// Integrates the complete path.
    fn go(&mut self, states: &[f64]) -> Result<Vec<f64>, Lost> {
        let mut point = states.to_vec();
        let (mut share, mut length) = (0.0, FIRST);
        let mut first = self.first(&point)?;
        for _ in 0..PARTS {
            length = f64::min(length, 1.0 - share);
            let known = (self.unknowns.clone(), self.sizes.clone(), self.noise.clone());
            let (next, slope, excess) = match self.part(share, length, &point, &first) {
                Ok(made) => made,
                Err(Lost::Endless(at)) => return Err(Lost::Endless(at)),
                Err(_) => (Vec::new(), None, f64::INFINITY),
            };
            if let Some(slope) = slope.filter(|_| excess <= 1.0) {
                share = if length >= 1.0 - share { 1.0 } else { share + length };
                (point, first) = (next, slope);
                self.still(share, &point);
                if share >= 1.0 {
                    return Ok(point);
                }
            } else {
                (self.unknowns, self.sizes, self.noise) = known;
            }
            let factor = 0.9 * excess.max(1e-10).powf(-0.2);
            length *= if factor.is_finite() {
                factor.clamp(0.1, 4.0)
            } else {
                0.1
            };
            if length < SHORTEST * share.max(f64::EPSILON) {
                break;
            }
        }
        Err(Lost::NoWay)
    }

    /// Returns the slope at the beginning of the path, with the fastest rates for which one exists. Before a run, when
    /// all inputs are 0, the unknowns of the loops are closer to 0 than to their values after the steps.
    fn first(&mut self, point: &[f64]) -> Result<Slope, Lost> {
        let later = self.unknowns[0].clone();
        let mut guesses = vec![later];
        if self.steps.is_start {
            guesses.insert(0, self.motion.system.first_unknowns(0.0));
        }
        let mut lost = Lost::NoWay;
        for rate in 0..RATES.len() {
            for guess in &guesses {
                self.rate = rate;
                self.unknowns = [(); 4].map(|()| guess.clone());
                self.still(0.0, point);
                match self.slope(0.0, point) {
                    Ok(slope) => return Ok(slope),
                    Err(Lost::NoWay) => {}
                    Err(other) => lost = other,
                }
            }
        }
        Err(lost)
    }

    /// Integrates one part of the path; returns the point and the slope at its end, and its error in units of the tolerance.
    fn part(
        &mut self,
        share: f64,
        length: f64,
        point: &[f64],
        first: &Slope,
    ) -> Result<(Vec<f64>, Option<Slope>, f64), Lost> {
        let mut slopes = vec![first.clone()];
        let mut next = Vec::new();
        let sum = |slopes: &[Slope], weights: &[f64], at: usize| -> f64 {
            weights
                .iter()
                .zip(slopes)
                .map(|(weight, slope)| weight * slope.values[at])
                .sum()
        };
        for (node, row) in NODES.iter().zip(SHARES).skip(1) {
            next = (0..point.len())
                .map(|at| point[at] + length * sum(&slopes, row, at))
                .collect();
            slopes.push(self.slope(share + node * length, &next)?);
        }
        let mut excess: f64 = 0.0;
        for (at, size) in self.sizes.iter_mut().enumerate() {
            let moved = slopes.iter().map(|slope| (length * slope.values[at]).abs());
            *size = moved.fold(size.max(next[at].abs()), f64::max);
        }
        for at in 0..point.len() {
            let error = (length * sum(&slopes, &DIFFERENCES, at)).abs();
            // The effect of slope round-off on the state is proportional to the length of the part.
            let noise = length * slopes.iter().map(|slope| slope.noise[at]).fold(0.0, f64::max);
            self.noise[at] += noise;
            if error > 0.0 {
                excess = excess.max(error / self.allowed(at, noise));
            }
        }
        Ok((next, slopes.pop(), excess))
    }

    /// Returns the tolerance of a state to which round-off may add this much.
    fn allowed(&self, at: usize, noise: f64) -> f64 {
        let of_kind = (0..self.sizes.len()).filter(|other| self.kinds[*other] == self.kinds[at]);
        let largest = of_kind.map(|other| self.sizes[other]).fold(0.0, f64::max);
        self.tolerance * self.sizes[at].max(OF_KIND * largest) + NOISE * noise + f64::MIN_POSITIVE
    }

    /// Returns the inputs at a fraction of the path, and their rates along it.
    fn inputs(&self, share: f64) -> (Vec<f64>, Vec<f64>) {
        let count = self.steps.steps.len();
        let (mut inputs, mut rates) = (self.steps.before.to_vec(), vec![0.0; count]);
        for at in (0..count).filter(|at| self.steps.steps[*at] != 0.0) {
            let (done, rate) = (self.course)(self.order[at], share);
            inputs[at] += done * self.steps.steps[at];
            rates[at] = rate * self.steps.steps[at];
        }
        (inputs, rates)
    }

    /// Returns the derivative of the states with respect to the fraction of the path.
    fn slope(&mut self, share: f64, point: &[f64]) -> Result<Slope, Lost> {
        let (inputs, rates) = self.inputs(share);
        let rate = RATES[self.rate];
        let factors = [rate, FASTER * rate, FASTER * FASTER * rate];
        let mut found = Vec::with_capacity(factors.len());
        for (with, factor) in factors.iter().enumerate() {
            let scaled: Vec<f64> = rates.iter().map(|value| factor * value).collect();
            found.push(self.evaluate(with, point, &inputs, &scaled)?);
        }
        let slopes = (0..point.len()).map(|at| {
            let slow = (found[1][at] - found[0][at]) / (factors[1] - factors[0]);
            let fast = (found[2][at] - found[1][at]) / (factors[2] - factors[1]);
            (slow, fast, f64::EPSILON * found[2][at].abs() / factors[1])
        });
        self.limit(&slopes.collect::<Vec<_>>())
    }

    /// Returns the limits of slopes from two values each, with slower and faster rates, and the round-off of the second.
    fn limit(&mut self, slopes: &[(f64, f64, f64)]) -> Result<Slope, Lost> {
        let is_proportional = |at: usize| {
            let (slow, fast, rounding) = slopes[at];
            (fast - slow).abs() <= IN_PROPORTION * fast.abs() + 4.0 * rounding
        };
        let size = |at: usize| match is_proportional(at) {
            true => self.sizes[at].max(slopes[at].1.abs()),
            false => self.sizes[at],
        };
        let largest = |kind: Option<usize>| {
            let same = (0..slopes.len()).filter(|at| kind.is_none_or(|kind| self.kinds[*at] == kind));
            same.map(size).fold(0.0, f64::max)
        };
        let mut limit = Slope {
            values: vec![0.0; slopes.len()],
            noise: vec![0.0; slopes.len()],
        };
        for (at, (slow, fast, rounding)) in slopes.iter().copied().enumerate() {
            let apart = (fast - slow).abs();
            if is_proportional(at) {
                (limit.values[at], limit.noise[at]) = (fast, apart.min(rounding));
                continue;
            }
            let most = Some(largest(Some(self.kinds[at]))).filter(|most| *most > 0.0);
            let grows = fast.abs() > GROWING * slow.abs();
            if grows && fast.abs() > ENDLESS * most.unwrap_or_else(|| largest(None)) {
                return Err(if self.rate == 0 { Lost::Endless(at) } else { Lost::NoWay });
            }
            // Slow ramps do not reveal the limit.
            if self.rate > 0 {
                return Err(Lost::NoWay);
            }
            if fast.abs() > LIMITED * slow.abs() {
                (limit.values[at], limit.noise[at]) = (fast, apart);
            }
        }
        Ok(limit)
    }

    /// Returns the right sides at a point.
    fn evaluate(&mut self, with: usize, point: &[f64], inputs: &[f64], rates: &[f64]) -> Result<Vec<f64>, Lost> {
        let mut right = vec![0.0; point.len()];
        self.motion.guess_unknowns(&self.unknowns[with]);
        if !self
            .motion
            .rates_with(self.steps.time, point, Some(inputs), rates, &mut right)
        {
            return Err(Lost::NoWay);
        }
        self.unknowns[with] = self.motion.solution();
        Ok(right)
    }

    /// Solves the loops on the path without an impulse, and leaves them solved.
    fn still(&mut self, share: f64, point: &[f64]) {
        let (inputs, rates) = self.inputs(share);
        let none = vec![0.0; rates.len()];
        // A missing value also shows with the rates, or does not matter.
        let _ = self.evaluate(3, point, &inputs, &none);
    }
}
