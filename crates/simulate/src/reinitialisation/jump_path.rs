//! What steps of inputs do to states where the share of each depends on the point: the limit of ever faster ramps.
//!
//! The right sides of states are affine in the rates u' of the inputs, `x' = f(x, u) + E(x, u) u'`: storage that sources determine
//! gives and takes charge and momentum at once. In a ramp that takes no time the states go along `dx/ds = E(x, u) (after - before)`,
//! while the share s of the steps goes from 0 to 1. Here E times the steps is what the right sides grow by where the rates do, both
//! beyond all bounds: a limited rate adds nothing, and what grows faster than the rates is no jump. The way is integrated with an
//! estimate of its error. Conserved charges and momenta determine the states at its end, whichever way the inputs take; so it is gone
//! a second time along another one, and where the two end apart, the steps do not say where the states come to.

use crate::motion::Motion;
use lgm_runtime::dopri5::{DIFFERENCES, NODES, SHARES};
use lgm_runtime::jump::{ENDLESS, FASTER, FINER, FIRST, GROWING, LIMITED, NOISE, OF_KIND, PARTS, RATES, SHORTEST};

/// What is in proportion to the rates is so to this share.
const IN_PROPORTION: f64 = 1e-6;

/// The tolerance of the way, at most and least.
const COARSEST: f64 = 1e-11;
const FINEST: f64 = 1e-13;

/// The ends of two ways are the same within so many tolerances.
const SAME: f64 = 1e4;

/// Why the states after a step are not known.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Lost {
    /// The equations could not be evaluated, or their solution ends, on the way there.
    NoWay,
    /// A state would move without bounds.
    Endless(usize),
    /// Where a state comes to depends on the way that the inputs take: two values of it.
    Open(usize, f64, f64),
}

/// Steps of inputs at an instant.
pub(crate) struct Steps<'a> {
    pub time: f64,
    /// Whether the run begins there: the loops were not solved before the steps.
    pub is_start: bool,
    /// The inputs before.
    pub before: &'a [f64],
    /// What each of them grows by.
    pub steps: &'a [f64],
}

/// The states after steps of inputs. The loops are left solved there.
pub(crate) fn after(motion: &Motion<'_>, steps: &Steps<'_>, rtol: f64, states: &[f64]) -> Result<Vec<f64>, Lost> {
    let tolerance = (FINER * rtol).clamp(FINEST, COARSEST);
    let unknowns = motion.solution();
    motion.solving_exactly(|| {
        let mut way = Way::new(motion, steps, tolerance, bent, &unknowns, states);
        let other = way.go(states)?;
        let mut way = Way::new(motion, steps, tolerance, straight, &unknowns, states);
        let found = way.go(states)?;
        for (at, (a, b)) in found.iter().zip(&other).enumerate() {
            if (a - b).abs() > SAME * way.allowed(at, way.noise[at]) {
                return Err(Lost::Open(at, *a, *b));
            }
        }
        Ok(found)
    })
}

/// The share of its step that an input has made, and the rate of that.
type Course = fn(usize, f64) -> (f64, f64);

/// All inputs go together.
fn straight(_: usize, share: f64) -> (f64, f64) {
    (share, 1.0)
}

/// Every other input is ahead, and the others behind.
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
    /// By how much each may be wrong by rounding.
    noise: Vec<f64>,
}

/// One way from before the steps to after them.
struct Way<'a, 'm> {
    motion: &'a Motion<'m>,
    steps: &'a Steps<'a>,
    course: Course,
    tolerance: f64,
    /// The inputs that step, by their places among those.
    order: Vec<usize>,
    /// States of one kind have the same number.
    kinds: Vec<usize>,
    /// The largest that was seen of each state and of its way.
    sizes: Vec<f64>,
    /// What rounding of the slopes has added to each state, at most.
    noise: Vec<f64>,
    /// The unknowns of the loops with each of the rates, and without any.
    unknowns: [Vec<f64>; 4],
    /// The rate that is used, as a place among those that there are.
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

    /// Goes the whole way.
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

    /// The slope where the way begins, with the fastest rates with which there is one. Before a run, when all inputs are 0, the
    /// unknowns of the loops are near 0 rather than where they are after the steps.
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

    /// One part of the way: the point and the slope at its end, and its error in units of what is allowed.
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
            // What rounding makes of a slope adds to the state in proportion to the length of the part.
            let noise = length * slopes.iter().map(|slope| slope.noise[at]).fold(0.0, f64::max);
            self.noise[at] += noise;
            if error > 0.0 {
                excess = excess.max(error / self.allowed(at, noise));
            }
        }
        Ok((next, slopes.pop(), excess))
    }

    /// What is allowed of the error of a state to which rounding may add so much.
    fn allowed(&self, at: usize, noise: f64) -> f64 {
        let of_kind = (0..self.sizes.len()).filter(|other| self.kinds[*other] == self.kinds[at]);
        let largest = of_kind.map(|other| self.sizes[other]).fold(0.0, f64::max);
        self.tolerance * self.sizes[at].max(OF_KIND * largest) + NOISE * noise + f64::MIN_POSITIVE
    }

    /// The inputs at a share of the way, and their rates along it.
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

    /// What the states grow by for the share of the way.
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

    /// The limits of slopes, of each of which two are known, with slower and faster rates, and the rounding of the second.
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
            // Slow ramps do not show what becomes of it.
            if self.rate > 0 {
                return Err(Lost::NoWay);
            }
            if fast.abs() > LIMITED * slow.abs() {
                (limit.values[at], limit.noise[at]) = (fast, apart);
            }
        }
        Ok(limit)
    }

    /// The right sides at a point.
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

    /// Solves the loops on the way without an impulse, and leaves them so.
    fn still(&mut self, share: f64, point: &[f64]) {
        let (inputs, rates) = self.inputs(share);
        let none = vec![0.0; rates.len()];
        // What has no value there shows with the rates as well, or does not matter.
        let _ = self.evaluate(3, point, &inputs, &none);
    }
}
