//! The approximate magnitudes of the states of a run, before it starts.

use crate::inputs::expressions::Inputs;
use crate::inputs::signals::{Corner, Side, Signals};
use crate::linear_factors::Balanced;
use crate::loops::joint::euler;
use crate::motion::scales::{UNSEEN, nominal_sizes};
use crate::motion::{BEYOND, Motion, symbols_behind};
use crate::plan::Plan;
use crate::solvers::implicit::Implicit;
use crate::zero_crossings::corners::own_corners;
use lgm_kernels::{Arguments, Kernels};
use lgm_model::system::StateSystem;
use lgm_numerics::search::scattered;
use lgm_runtime::dopri5::UNKNOWN_SCALE;

/// Samples of the inputs over the run.
const SAMPLES: usize = 256;

/// Instants at which large inputs are examined together.
const MOMENTS: usize = 8;

/// The fraction of a time span that is also examined next to it.
const SPAN_SHARE: f64 = 0.6;

/// The smallest fraction of a run during which a state moves at its initial rate.
const AT_ONCE: f64 = 1e-12;

/// Systems with more unknowns than this are examined over fewer time spans.
const LARGE: usize = 2000;

/// A correction below this fraction of its value is negligible.
const NEAR: f64 = 1e-6;

/// The number of additional trial values, which differ by the given number of round-off units.
const BESIDES: u64 = 2;
const ROUNDINGS: f64 = 8.0;

/// Systems with more unknowns than this are not iterated on with care.
const MODERATE: usize = 200;

/// Returns the approximate values that the states and all solved unknowns would reach with constant drivers: the
/// inputs, and functions of time within the equations, at their largest values in the run. The results are the largest
/// magnitudes after each of several time spans, by one step of Euler's implicit method over each span. The error of
/// such a step is a factor, but never orders of magnitude: it damps oscillations and finds equilibria. `corners` are
/// those of the equations' own functions of time.
pub(crate) fn expected(motion: &Motion<'_>, plan: &Plan, starts: &[f64], corners: &[f64]) -> Vec<f64> {
    let implicit = Implicit::new(motion);
    let size = implicit.size;
    let mut largest = vec![0.0; size];
    let span = plan.stop - plan.start;
    if size == 0 || span.is_nan() || span <= 0.0 {
        return largest;
    }
    let mut first = vec![0.0; size];
    motion.set_piece(plan.start, f64::INFINITY);
    implicit.begin(plan.start, starts, &mut first);
    take(&mut largest, &first);
    if let Some(moved) = moved_at_once(motion, &implicit, plan.start, (starts, &first), AT_ONCE * span) {
        take(&mut largest, &moved);
    }
    let mut moments = moments(motion, plan, starts, corners);
    let frequency = motion.signals().frequency(plan.start, plan.stop);
    // Over many periods of an input its mean matters rather than its largest value.
    let longest = if frequency > 0.0 {
        span.min(1e3 / frequency)
    } else {
        span
    };
    let spans = spans(longest, size);
    if motion.system.equations.linear {
        for length in spans {
            // If something grows, a step of a certain length diverges, but not one of a neighbouring length.
            let beside = [length, SPAN_SHARE * length];
            let factors = beside.map(|length| factor(&implicit, plan.start, &first, length));
            for moment in &moments {
                let ends = beside.iter().zip(&factors).filter_map(|(length, factor)| {
                    let mut y = first.clone();
                    step(&implicit, factor.as_ref()?, *moment, &first, &mut y, *length).map(|_| y)
                });
                let smaller = |a: Vec<f64>, b: Vec<f64>| a.iter().zip(&b).map(|(a, b)| a.abs().min(b.abs())).collect();
                if let Some(least) = ends.reduce(smaller) {
                    take(&mut largest, &least);
                }
            }
        }
    } else {
        moments.truncate(if size > LARGE { 2 } else { moments.len() });
        for moment in &moments {
            let mut y = first.clone();
            let mut are_any = false;
            for length in &spans {
                let mut known = found(&implicit, *moment, &first, &mut y, *length);
                if known.is_none() && !are_any {
                    // Starting from a solution of the loops at that moment, the path may be shorter.
                    motion.find_loops(*moment, starts);
                    implicit.begin(*moment, starts, &mut y);
                    motion.guess_unknowns(&first[motion.states..motion.states + motion.unknowns]);
                    known = found(&implicit, *moment, &first, &mut y, *length);
                }
                match known {
                    Some(known) => {
                        take(&mut largest, &known);
                        are_any = true;
                    }
                    None if are_any => break,
                    None => y.copy_from_slice(&first),
                }
            }
        }
    }
    spread(motion, &implicit, plan.start, &first, &mut largest);
    largest
}

/// Adds the initial motion of the states: with their first rates, or less if these decay faster. A characteristic that
/// is far off may begin with a rate of 1e22 that vanishes in 1e-22 s.
fn moved_at_once(
    motion: &Motion<'_>,
    implicit: &Implicit<'_>,
    time: f64,
    (starts, first): (&[f64], &[f64]),
    length: f64,
) -> Option<Vec<f64>> {
    let mut rates = vec![0.0; motion.states];
    if !motion.rates(time, starts, &mut rates) {
        return None;
    }
    let straight = rates.iter().map(|rate| (length * rate).abs());
    let mut y = first.to_vec();
    let damped = factor(implicit, time, first, length)
        .and_then(|factor| step(implicit, &factor, time, first, &mut y, length))
        .unwrap_or_else(|| vec![f64::INFINITY; first.len()]);
    Some(straight.zip(&damped).map(|(one, other)| one.min(other.abs())).collect())
}

fn take(largest: &mut [f64], values: &[f64]) {
    for (most, value) in largest.iter_mut().zip(values) {
        if value.is_finite() && value.abs() < BEYOND {
            *most = most.max(value.abs());
        }
    }
}

/// Returns time spans from short to long.
fn spans(longest: f64, size: usize) -> Vec<f64> {
    let (count, apart) = if size > LARGE { (2, 1e-3) } else { (13, 1e-1) };
    (0..count).rev().map(|k| longest * f64::powi(apart, k)).collect()
}

/// Returns true if the equations themselves depend on time.
fn follow_time(system: &StateSystem) -> bool {
    let mut roots = system.equations.derivatives.clone();
    roots.extend(system.equations.residuals());
    symbols_behind(system, &roots).contains(&system.time)
}

/// Returns the drivers of the states at a time: the inputs, their rates, and the rates of states that stay at their
/// initial values, which reveal dependence on time without an input.
fn drives(motion: &Motion<'_>, time: f64, starts: &[f64], follow_time: bool) -> Vec<f64> {
    let signals = motion.signals();
    let (mut values, mut slopes) = (vec![0.0; signals.count()], vec![0.0; signals.count()]);
    signals.values(time, Side::After, &mut values, &mut slopes);
    let mut rates = vec![0.0; motion.states];
    if !follow_time || !motion.rates(time, starts, &mut rates) {
        rates.fill(0.0);
    }
    let all = values.iter().chain(&slopes).chain(&rates);
    all.map(|value| if value.is_finite() { value.abs() } else { 0.0 })
        .collect()
}

/// Returns a small number of instants at which the inputs and other functions of time are large: each of them is near
/// its largest value at one of the instants.
fn moments(motion: &Motion<'_>, plan: &Plan, starts: &[f64], corners: &[f64]) -> Vec<f64> {
    let follow_time = follow_time(motion.system);
    let count = if motion.states > LARGE { MOMENTS } else { SAMPLES };
    let span = plan.stop - plan.start;
    let mut times: Vec<f64> = (0..=count)
        .map(|k| plan.start + span * (k as f64 / count as f64))
        .collect();
    let of_inputs = motion.signals().corners(plan.start, plan.stop);
    times.extend(of_inputs.into_iter().take(SAMPLES).map(|corner| corner.time));
    times.extend(corners.iter().take(SAMPLES));
    let samples: Vec<Vec<f64>> = times
        .iter()
        .map(|time| drives(motion, *time, starts, follow_time))
        .collect();
    let largest: Vec<f64> = (0..samples[0].len())
        .map(|at| samples.iter().map(|sample| sample[at]).fold(0.0, f64::max))
        .collect();
    let mut open: Vec<usize> = (0..largest.len()).filter(|at| largest[*at] > 0.0).collect();
    let mut chosen = vec![plan.start];
    while !open.is_empty() && chosen.len() < MOMENTS {
        let covers = |sample: &[f64]| open.iter().filter(|at| sample[**at] >= 0.5 * largest[**at]).count();
        let Some(best) = (0..samples.len()).max_by_key(|k| covers(&samples[*k])) else {
            break;
        };
        open.retain(|at| samples[best][*at] < 0.5 * largest[*at]);
        chosen.push(times[best]);
    }
    // Dependence on time without an input is sampled at some points.
    if !motion.system.equations.linear {
        chosen.extend([0.25, 0.5, 1.0].map(|share| plan.start + share * (plan.stop - plan.start)));
    }
    chosen
}

/// Factorises the matrix `M - h J` at a point.
fn factor(implicit: &Implicit<'_>, time: f64, y: &[f64], length: f64) -> Option<Balanced> {
    Balanced::new(implicit.size, implicit.step_matrix(time, y, length)).ok()
}

/// Performs one Newton iteration on `M (y - first) = h g(t, y)`; returns the correction.
fn step(
    implicit: &Implicit<'_>,
    factor: &Balanced,
    time: f64,
    first: &[f64],
    y: &mut [f64],
    length: f64,
) -> Option<Vec<f64>> {
    let mut right = vec![0.0; y.len()];
    implicit.right_sides(time, y, &mut right);
    if right.iter().any(|value| value.abs() >= BEYOND) {
        return None;
    }
    let moved: Vec<f64> = y.iter().zip(first).map(|(y, first)| y - first).collect();
    let left = implicit.left_times(&moved);
    for (right, left) in right.iter_mut().zip(&left) {
        *right = length * *right - left;
    }
    factor.solve(&mut right);
    if !crate::finite::all_finite(&right) {
        return None;
    }
    for (y, correction) in y.iter_mut().zip(&right) {
        *y += correction;
    }
    Some(right)
}

/// Performs a few Newton iterations from the result of the shorter span; the last correction must be small.
fn solve(implicit: &Implicit<'_>, time: f64, first: &[f64], y: &mut [f64], length: f64) -> Option<()> {
    let mut tried = y.to_vec();
    let (mut before, mut last) = (Vec::new(), Vec::new());
    // At rest the slope of a law may be infinite, such as for a turbulent flow; it is finite nearby.
    if factor(implicit, time, &tried, length).is_none() {
        let mut rates = vec![0.0; tried.len()];
        implicit.right_sides(time, &tried, &mut rates);
        let most = rates.iter().fold(0.0, |most: f64, rate| most.max(rate.abs()));
        let beside = |at: usize| scattered(at, 0) * length * most;
        tried
            .iter_mut()
            .enumerate()
            .for_each(|(at, tried)| *tried += beside(at));
    }
    for _ in 0..if y.len() > LARGE { 2 } else { 5 } {
        let factor = factor(implicit, time, &tried, length)?;
        before = std::mem::replace(&mut last, step(implicit, &factor, time, first, &mut tried, length)?);
    }
    // High up on an exponential all corrections are small and equal: there the iteration creeps, and has not converged.
    let is_settled = |at: usize| {
        let (last, tried) = (last[at].abs(), tried[at].abs());
        last <= NEAR * tried
            || (last <= 0.5 * tried && before.get(at).is_none_or(|before: &f64| last <= 0.5 * before.abs()))
    };
    let are_settled = (0..tried.len()).all(is_settled);
    are_settled.then(|| y.copy_from_slice(&tried))
}

/// Does the same, but only accepts improvements, after the plain iterations failed. A diode at rest hardly conducts,
/// and a current through it would require an unbounded voltage by the slope of its law there.
fn with_care(implicit: &Implicit<'_>, time: f64, first: &[f64], y: &mut [f64], length: f64) -> Option<()> {
    if y.len() > MODERATE || implicit.holds_chains() {
        return None;
    }
    y.copy_from_slice(&euler(implicit, time, first, y, length)?);
    Some(())
}

/// Returns the result of a step after some Newton iterations, or more careful ones, without noise.
fn found(implicit: &Implicit<'_>, time: f64, first: &[f64], y: &mut [f64], length: f64) -> Option<Vec<f64>> {
    solve(implicit, time, first, y, length).or_else(|| with_care(implicit, time, first, y, length))?;
    without_noise(implicit, time, first, y, length)
}

/// Returns the solved values, with zero instead of those determined by round-off; `None` if round-off determines all of them.
///
/// If voltages of 1e62 V add up to those of diodes, every residual is only the round-off of its terms, and every such
/// value is accepted as a solution. A value is rejected if adjacent values lead far away.
fn without_noise(implicit: &Implicit<'_>, time: f64, first: &[f64], y: &[f64], length: f64) -> Option<Vec<f64>> {
    let mut known = y.to_vec();
    for attempt in 0..BESIDES {
        let beside = y.iter().enumerate();
        let mut beside: Vec<f64> = beside
            .map(|(at, y)| y * (1.0 + ROUNDINGS * f64::EPSILON * scattered(at, attempt)))
            .collect();
        let factor = factor(implicit, time, y, length)?;
        let correction = step(implicit, &factor, time, first, &mut beside, length)?;
        for (known, (correction, y)) in known.iter_mut().zip(correction.iter().zip(y)) {
            if correction.abs() > 0.5 * y.abs() {
                *known = 0.0;
            }
        }
    }
    Some(known)
}

/// Adds the motion of the loop unknowns with the states: unknowns that cancel to zero at the points above also have a magnitude.
fn spread(motion: &Motion<'_>, implicit: &Implicit<'_>, time: f64, first: &[f64], largest: &mut [f64]) {
    let (n, k) = (motion.states, motion.unknowns);
    if k == 0 {
        return;
    }
    let mut values = vec![0.0; implicit.rows_of.len()];
    implicit.jacobian(time, first, &mut values);
    let mut own = Vec::new();
    let mut moved = vec![0.0; k];
    for (column, size) in largest.iter().enumerate().take(n + k) {
        let stored = implicit.column_starts[column]..implicit.column_starts[column + 1];
        for (row, value) in implicit.rows_of[stored.clone()].iter().zip(&values[stored]) {
            match ((n..n + k).contains(row), column < n) {
                (true, true) => moved[row - n] += value * scattered(column, 0) * size,
                (true, false) => own.push((row - n, column - n, *value)),
                _ => {}
            }
        }
    }
    if let Ok(factor) = Balanced::new(k, own) {
        factor.solve(&mut moved);
        take(&mut largest[n..n + k], &moved);
    }
}

/// Returns the initial scales of states for a program that cannot look ahead, with the parameters and signals of the
/// model. Inputs without a signal have the magnitude of their units. A scale given by the model is negative: it is
/// kept.
pub fn state_scales(system: &StateSystem, kernels: &Kernels, plan: &Plan) -> Vec<f64> {
    let parameters = kernels.parameters(&[]);
    let signals = OrUnit::new(system, kernels, &parameters, plan.start);
    let nominal = nominal_sizes(system, &parameters);
    let mut sizes = vec![0.0; system.states.len()];
    let starts = kernels.starts.values(&Arguments {
        time: plan.start,
        parameters: &parameters,
        ..Arguments::default()
    });
    if let (Ok(motion), true) = (
        Motion::new(system, kernels, &parameters, &signals, plan),
        starts.iter().all(|start| start.is_finite()),
    ) {
        motion.find_loops(plan.start, &starts);
        let corners = own_corners(system);
        let corners = corners.times(&parameters, plan.start, plan.stop);
        sizes = expected(&motion, plan, &starts, &corners);
    }
    let scales = nominal.iter().zip(&sizes);
    scales
        .map(|(nominal, size)| nominal.map_or((UNSEEN * size).max(UNKNOWN_SCALE), |nominal| -nominal))
        .collect()
}

/// The signals of a model, with 1 for inputs without a signal.
pub(crate) struct OrUnit {
    given: Inputs,
    has_none: Vec<bool>,
}

impl OrUnit {
    pub fn new(system: &StateSystem, kernels: &Kernels, parameters: &[f64], start: f64) -> OrUnit {
        let tables = vec![None; system.inputs.len()];
        OrUnit {
            given: Inputs::new(system, kernels, parameters, tables, start),
            has_none: system.inputs.iter().map(|input| input.signal.is_none()).collect(),
        }
    }
}

impl Signals for OrUnit {
    fn count(&self) -> usize {
        self.given.count()
    }

    fn values(&self, time: f64, side: Side, values: &mut [f64], rates: &mut [f64]) {
        self.given.values(time, side, values, rates);
        for (value, has_none) in values.iter_mut().zip(&self.has_none) {
            if *has_none {
                *value = 1.0;
            }
        }
    }

    fn corners(&self, from: f64, to: f64) -> Vec<Corner> {
        self.given.corners(from, to)
    }

    fn looks(&self, from: f64, to: f64) -> Vec<f64> {
        self.given.looks(from, to)
    }

    fn frequency(&self, from: f64, to: f64) -> f64 {
        self.given.frequency(from, to)
    }
}
