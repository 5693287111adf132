//! What is allowed of each state near zero: one thousandth of what is allowed of it at its own scale.
//!
//! An absolute tolerance in SI units knows no scale: 1e-9 is little of a position in metres and ten times the charge of a
//! capacitor of 1 pF. So the scale of a state is the most that the run has seen of it. A state that has not moved yet has a small
//! share of what it would come to if the inputs kept their largest values ([`expected`]): enough that no step is made small for
//! what has hardly begun, and so little that a state which stays far below what was expected is still right. Nothing of this
//! depends on units: where a state is counted in other ones, its scale is another by the same factor.

use super::implicit::Implicit;
use super::linear::Balanced;
use super::motion::{BEYOND, Motion};
use super::plan::Plan;
use super::signals::Side;
use crate::algebra::search::scattered;
use crate::equations::StateSystem;
use crate::expr::ExprId;
use crate::kernels::{Arguments, KernelOptions, Layout, expression};

/// The absolute tolerance as a share of the relative one times the scale.
pub const SHARE: f64 = 1e-3;

/// The share of what is expected of a state that counts as its scale before it was seen.
pub const UNSEEN: f64 = 1e-3;

/// The scale of a state of which nothing is expected, in SI units: far below everything that is measured, and far above the
/// smallest doubles.
pub const LEAST: f64 = 1e-30;

/// Loop unknowns and rates are no smaller than this share of the largest one: what balances to zero is rounding.
const NOISE: f64 = 1e-6;

/// A state has outgrown its tolerance where its scale is so many times larger than when the tolerance was made.
const OUTGROWN: f64 = 100.0;

/// Steps after which a run looks for the first time whether a state has outgrown its tolerance; then after twice as many.
const FIRST_LOOK: u64 = 20;

/// Samples of the inputs over the run.
const SAMPLES: usize = 256;

/// Instants at which large inputs are looked at together.
const MOMENTS: usize = 8;

/// Systems of more unknowns than this are looked at over few spans of time.
const LARGE: usize = 2000;

/// The tolerances of a run, state by state.
#[derive(Debug)]
pub(super) struct Scales {
    rtol: f64,
    /// One absolute tolerance for all, where it was asked for.
    atol: Option<f64>,
    /// The scale that was given for a state.
    nominal: Vec<Option<f64>>,
    /// What is expected of the states, then of what an implicit method solves for beside them.
    expected: Vec<f64>,
    /// The most that was seen of each state.
    seen: Vec<f64>,
    /// The scales that the solver of now was made with, and the steps after which the next look is due.
    used: Vec<f64>,
    next_look: u64,
}

impl Scales {
    /// Before anything was seen or is expected.
    pub fn new(plan: &Plan, nominal: Vec<Option<f64>>) -> Scales {
        let size = nominal.len();
        Scales {
            rtol: plan.rtol,
            atol: plan.atol,
            nominal,
            expected: vec![0.0; size],
            seen: vec![0.0; size],
            used: Vec::new(),
            next_look: FIRST_LOOK,
        }
    }

    /// Takes over what is expected, and sees the states of now.
    pub fn begin(&mut self, expected: Vec<f64>, states: &[f64]) {
        self.expected = expected;
        self.see(states);
    }

    /// Whether scales are to be found out at all.
    pub fn follow(&self) -> bool {
        self.atol.is_none() && self.nominal.iter().any(Option::is_none)
    }

    /// The run has come to these states.
    pub fn see(&mut self, states: &[f64]) {
        for (seen, state) in self.seen.iter_mut().zip(states) {
            if state.is_finite() {
                *seen = seen.max(state.abs());
            }
        }
    }

    /// Of what size a state is.
    pub fn scale(&self, at: usize) -> f64 {
        let own = self.seen[at].max(UNSEEN * self.expected[at]).max(LEAST);
        self.nominal[at].unwrap_or(own)
    }

    /// What is allowed of a state at zero.
    fn absolute(&self, at: usize) -> f64 {
        self.atol.unwrap_or_else(|| SHARE * self.rtol * self.scale(at))
    }

    /// What is allowed of a state at a value.
    pub fn allowed(&self, at: usize, value: f64) -> f64 {
        self.absolute(at) + self.rtol * value.abs()
    }

    /// The relative tolerance.
    pub fn rtol(&self) -> f64 {
        self.rtol
    }

    /// The absolute tolerances of all that a solver solves for, which starts with these values; they are kept to be compared with.
    pub fn absolutes(&mut self, first: &[f64]) -> Vec<f64> {
        let states = self.seen.len();
        self.used = (0..states).map(|at| self.scale(at)).collect();
        self.next_look = FIRST_LOOK;
        let mut all: Vec<f64> = (0..states).map(|at| self.absolute(at)).collect();
        if let Some(atol) = self.atol {
            all.resize(first.len(), atol);
            return all;
        }
        let of_rest = |at: usize| {
            let expected = self.expected.get(at).copied().unwrap_or(0.0);
            let now = if first[at].is_finite() { first[at].abs() } else { 0.0 };
            (UNSEEN * expected).max(now)
        };
        let largest = (states..first.len()).map(of_rest).fold(LEAST, f64::max);
        all.extend((states..first.len()).map(|at| SHARE * self.rtol * of_rest(at).max(NOISE * largest)));
        all
    }

    /// The sizes of loop unknowns below which their values do not matter.
    pub fn small_unknowns(&self, count: usize) -> Vec<f64> {
        let states = self.seen.len();
        let most = 1e-4 * self.atol.unwrap_or(SHARE * self.rtol.min(1e-6));
        if self.atol.is_some() {
            return vec![most; count];
        }
        let expected = |at: usize| self.expected.get(states + at).copied().unwrap_or(0.0);
        let largest = (0..count).map(expected).fold(0.0, f64::max);
        let of_one = |at: usize| most * expected(at).max(1e-4 * largest).min(1.0);
        let known = |small: f64| if small > 0.0 { small } else { most };
        (0..count).map(|at| known(of_one(at))).collect()
    }

    /// Whether some state has outgrown the tolerance that the solver was made with, after so many of its steps. Looks are further and
    /// further apart, so that no run is started anew all the time.
    pub fn have_outgrown(&mut self, steps: u64) -> bool {
        if self.atol.is_some() || steps < self.next_look {
            return false;
        }
        self.next_look = 2 * steps;
        (0..self.used.len()).any(|at| self.scale(at) > OUTGROWN * self.used[at])
    }
}

/// The sizes that the model gives for its states, with these parameters; one that is zero or no number says nothing.
pub(super) fn nominal_sizes(system: &StateSystem, parameters: &[f64]) -> Vec<Option<f64>> {
    let roots: Vec<ExprId> = system.states.iter().filter_map(|state| state.nominal).collect();
    if roots.is_empty() {
        return vec![None; system.states.len()];
    }
    let at = Arguments {
        parameters,
        ..Arguments::default()
    };
    let kernel = expression(
        &system.exprs,
        &roots,
        &Layout::new(system),
        &KernelOptions { native: false },
    );
    let mut values = kernel.values(&at).into_iter();
    let mut of_state = |is_given: bool| is_given.then(|| values.next()).flatten().map(f64::abs);
    let sizes = system.states.iter().map(|state| of_state(state.nominal.is_some()));
    sizes
        .map(|size| size.filter(|size| *size > 0.0 && size.is_finite()))
        .collect()
}

/// What the states and all that is solved for beside them would come to, roughly, if the inputs kept the largest values that they
/// have in the run: the largest size after each of several spans of time, by a step of Euler's implicit method over the whole of it.
/// Such a step is wrong by a factor and never by orders of magnitude: it damps what oscillates and finds what is at rest.
pub(super) fn expected(motion: &Motion<'_>, plan: &Plan, starts: &[f64]) -> Vec<f64> {
    let implicit = Implicit::new(motion);
    let size = implicit.size;
    let mut largest = vec![0.0; size];
    let span = plan.stop - plan.start;
    if size == 0 || !(span > 0.0) {
        return largest;
    }
    let mut first = vec![0.0; size];
    motion.set_piece(plan.start, f64::INFINITY);
    implicit.begin(plan.start, starts, &mut first);
    take(&mut largest, &first);
    // However a state goes on, it moves by this much at once.
    let mut rates = vec![0.0; motion.states];
    if motion.rates(plan.start, starts, &mut rates) {
        let moved: Vec<f64> = rates.iter().map(|rate| 1e-12 * span * rate).collect();
        take(&mut largest, &moved);
    }
    let mut moments = moments(motion, plan);
    let frequency = motion.signals().frequency(plan.start, plan.stop);
    // Beyond many turns of an input its mean does the work, and not its largest value.
    let longest = if frequency > 0.0 {
        span.min(1e3 / frequency)
    } else {
        span
    };
    let spans = spans(longest, size);
    if motion.system.linear {
        for length in spans {
            let Some(factor) = factor(&implicit, plan.start, &first, length) else {
                continue;
            };
            for moment in &moments {
                let mut y = first.clone();
                if step(&implicit, &factor, *moment, &first, &mut y, length).is_some() {
                    take(&mut largest, &y);
                }
            }
        }
    } else {
        moments.truncate(if size > LARGE { 2 } else { moments.len() });
        for moment in &moments {
            let mut y = first.clone();
            for length in &spans {
                if solve(&implicit, *moment, &first, &mut y, *length).is_none() {
                    break;
                }
                take(&mut largest, &y);
            }
        }
    }
    spread(motion, &implicit, plan.start, &first, &mut largest);
    largest
}

fn take(largest: &mut [f64], values: &[f64]) {
    for (most, value) in largest.iter_mut().zip(values) {
        if value.is_finite() && value.abs() < BEYOND {
            *most = most.max(value.abs());
        }
    }
}

/// Spans of time from short to long.
fn spans(longest: f64, size: usize) -> Vec<f64> {
    let (count, apart) = if size > LARGE { (3, 1e-3) } else { (13, 1e-1) };
    (0..count).rev().map(|k| longest * f64::powi(apart, k)).collect()
}

/// Instants at which the inputs are large, so few that every input is near its largest value at one of them.
fn moments(motion: &Motion<'_>, plan: &Plan) -> Vec<f64> {
    let signals = motion.signals();
    let count = signals.count();
    let mut times: Vec<f64> = (0..=SAMPLES)
        .map(|k| plan.start + (plan.stop - plan.start) * (k as f64 / SAMPLES as f64))
        .collect();
    times.extend(
        signals
            .corners(plan.start, plan.stop)
            .into_iter()
            .take(SAMPLES)
            .map(|corner| corner.time),
    );
    let (mut values, mut rates) = (vec![0.0; count], vec![0.0; count]);
    let samples: Vec<Vec<f64>> = times
        .iter()
        .map(|time| {
            signals.values(*time, Side::After, &mut values, &mut rates);
            values.iter().chain(&rates).map(|value| value.abs()).collect()
        })
        .collect();
    let largest: Vec<f64> = (0..2 * count)
        .map(|at| {
            samples
                .iter()
                .map(|sample| sample[at])
                .filter(|value| value.is_finite())
                .fold(0.0, f64::max)
        })
        .collect();
    let mut open: Vec<usize> = (0..2 * count).filter(|at| largest[*at] > 0.0).collect();
    let mut chosen = vec![plan.start];
    while !open.is_empty() && chosen.len() < MOMENTS {
        let covers = |sample: &[f64]| open.iter().filter(|at| sample[**at] >= 0.5 * largest[**at]).count();
        let Some(best) = (0..samples.len()).max_by_key(|k| covers(&samples[*k])) else {
            break;
        };
        open.retain(|at| samples[best][*at] < 0.5 * largest[*at]);
        chosen.push(times[best]);
    }
    // What depends on time without an input is seen here and there.
    if !motion.system.linear {
        chosen.extend([0.25, 0.5, 1.0].map(|share| plan.start + share * (plan.stop - plan.start)));
    }
    chosen
}

/// The matrix `M - h J` at a point.
fn factor(implicit: &Implicit<'_>, time: f64, y: &[f64], length: f64) -> Option<Balanced> {
    let mut values = vec![0.0; implicit.rows_of.len()];
    implicit.jacobian(time, y, &mut values);
    let mut entries: Vec<(usize, usize, f64)> = Vec::with_capacity(values.len() + implicit.size);
    for column in 0..implicit.size {
        for at in implicit.column_starts[column]..implicit.column_starts[column + 1] {
            entries.push((implicit.rows_of[at], column, -length * values[at]));
        }
    }
    match &implicit.mass {
        None => entries.extend((0..implicit.size).map(|at| (at, at, 1.0))),
        Some(mass) => entries.extend(mass.entries()),
    }
    Balanced::new(implicit.size, entries).ok()
}

/// One iteration of Newton's on `M (y - first) = h g(t, y)`; the correction.
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
    let mut left = vec![0.0; y.len()];
    match &implicit.mass {
        None => left.copy_from_slice(&moved),
        Some(mass) => mass.multiply(&moved, 0.0, &mut left),
    }
    for (right, left) in right.iter_mut().zip(&left) {
        *right = length * *right - left;
    }
    factor.solve(&mut right);
    if !super::finite::all_finite(&right) {
        return None;
    }
    for (y, correction) in y.iter_mut().zip(&right) {
        *y += correction;
    }
    Some(right)
}

/// Some iterations of Newton's, the last of which must not go far, from where the shorter span has led to.
fn solve(implicit: &Implicit<'_>, time: f64, first: &[f64], y: &mut [f64], length: f64) -> Option<()> {
    let mut tried = y.to_vec();
    let mut last = Vec::new();
    for _ in 0..if y.len() > LARGE { 2 } else { 5 } {
        let factor = factor(implicit, time, &tried, length)?;
        last = step(implicit, &factor, time, first, &mut tried, length)?;
    }
    let is_settled = last
        .iter()
        .zip(&tried)
        .all(|(last, tried)| last.abs() <= 0.5 * tried.abs());
    is_settled.then(|| y.copy_from_slice(&tried))
}

/// How far the loop unknowns move where the states do: unknowns that balance to zero at the points above have a size as well.
fn spread(motion: &Motion<'_>, implicit: &Implicit<'_>, time: f64, first: &[f64], largest: &mut [f64]) {
    let (n, k) = (motion.states, motion.unknowns);
    if k == 0 {
        return;
    }
    let mut values = vec![0.0; implicit.rows_of.len()];
    implicit.jacobian(time, first, &mut values);
    let mut own = Vec::new();
    let mut moved = vec![0.0; k];
    for column in 0..n + k {
        for at in implicit.column_starts[column]..implicit.column_starts[column + 1] {
            let row = implicit.rows_of[at];
            match (row >= n && row < n + k, column < n) {
                (true, true) => moved[row - n] += values[at] * scattered(column, 0) * largest[column],
                (true, false) => own.push((row - n, column - n, values[at])),
                _ => {}
            }
        }
    }
    if let Ok(factor) = Balanced::new(k, own) {
        factor.solve(&mut moved);
        take(&mut largest[n..n + k], &moved);
    }
}
