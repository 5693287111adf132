//! The tolerance of each state near zero: one thousandth of its tolerance at its own scale.
//!
//! An absolute tolerance in SI units has no scale: 1e-9 is small for a position in metres and ten times the charge of a
//! capacitor of 1 pF. The scale of a state is therefore its largest magnitude so far in the run. A state that has not
//! moved yet gets a small fraction of the value that it would reach if the inputs kept their largest values
//! ([`expected`](crate::run::expected::expected)). The fraction is large enough that no step is shortened for a state
//! that has hardly begun to move, and small enough that a state far below its expected value is still accurate. The
//! scales do not depend on units: in other units, the scale of a state changes by the same factor.

use crate::plan::Plan;
use lgm_algebra::expr::ExprId;
use lgm_kernels::{Arguments, KernelOptions, Layout, expression};
use lgm_model::system::StateSystem;
use lgm_runtime::dopri5::UNKNOWN_SCALE;
pub use lgm_runtime::events::blocks::UNSEEN;

/// The absolute tolerance as a fraction of the relative one times the scale.
pub const SHARE: f64 = 1e-3;

/// A state below this fraction of its expected value has not moved yet. A state that has moved and grows beyond all
/// bounds approaches a pole, which no other tolerance can pass.
const STILL: f64 = 1e-6;

/// The minimum scale of loop unknowns and rates, as a fraction of the largest one: values that cancel to zero are round-off.
const NOISE: f64 = 1e-6;

/// The minimum scale of a displacement that closes a chain, in units of round-off of the largest one.
const ROUNDINGS: f64 = 64.0 * f64::EPSILON;

/// A state has outgrown its tolerance if its scale has grown by this factor since the tolerance was set.
const OUTGROWN: f64 = 100.0;

/// The number of steps after which a run first checks if a state has outgrown its tolerance; then after twice as many.
const FIRST_LOOK: u64 = 20;

/// The tolerances of a run, state by state.
#[derive(Debug)]
pub(crate) struct Scales {
    rtol: f64,
    /// One absolute tolerance for all, if requested.
    atol: Option<f64>,
    /// The given scale of each state, if any.
    nominal: Vec<Option<f64>>,
    /// The expected magnitudes of the states, then of the other unknowns of an implicit method.
    expected: Vec<f64>,
    /// The largest magnitude of each state so far.
    seen: Vec<f64>,
    /// For each loop unknown (they follow the states), true if it is a displacement that closes a chain.
    chains: Vec<bool>,
    /// The scales of the current solver, and the number of steps after which the next check is due.
    used: Vec<f64>,
    next_look: u64,
}

impl Scales {
    /// Creates scales before any state is seen or expected.
    pub fn new(plan: &Plan, nominal: Vec<Option<f64>>) -> Scales {
        let size = nominal.len();
        Scales {
            rtol: plan.rtol,
            atol: plan.atol,
            nominal,
            expected: vec![0.0; size],
            seen: vec![0.0; size],
            chains: Vec::new(),
            used: Vec::new(),
            next_look: FIRST_LOOK,
        }
    }

    /// Returns the scales with loop unknowns, some of which are displacements that close chains.
    pub fn with_chains(self, chains: &[bool]) -> Scales {
        Scales {
            chains: chains.to_vec(),
            ..self
        }
    }

    /// Raises the tolerances of the displacements that close chains to that of the largest of them: a displacement that
    /// stays at zero, such as the angle of a rod in pure translation, inherits the errors of the others. `sizes` begin
    /// with the loop unknowns.
    fn as_chains(&self, sizes: &[f64], allowed: &mut [f64]) {
        let of_chains = self.chains.iter().zip(sizes).filter(|pair| *pair.0);
        let largest = of_chains.map(|pair| *pair.1).fold(0.0, f64::max);
        let least = largest * (SHARE * self.rtol).max(ROUNDINGS);
        for (allowed, _) in allowed.iter_mut().zip(&self.chains).filter(|pair| *pair.1) {
            *allowed = allowed.max(least);
        }
    }

    /// Returns the scales for another solver, which restarts counting its steps.
    pub fn again(self) -> Scales {
        Scales {
            used: Vec::new(),
            next_look: FIRST_LOOK,
            ..self
        }
    }

    /// Adopts the expected magnitudes, and records the current states.
    pub fn begin(&mut self, expected: Vec<f64>, states: &[f64]) {
        self.expected = expected;
        self.see(states);
    }

    /// Returns true if scales must be determined.
    pub fn follow(&self) -> bool {
        self.atol.is_none() && self.nominal.iter().any(Option::is_none)
    }

    /// Records the states that the run has reached.
    pub fn see(&mut self, states: &[f64]) {
        for (seen, state) in self.seen.iter_mut().zip(states) {
            if state.is_finite() {
                *seen = seen.max(state.abs());
            }
        }
    }

    /// Sets the expected magnitudes of states that are at zero without an expectation, such as an integral of a
    /// condition before it holds: they are expected to continue with their initial rates for the remaining time.
    /// Returns true if there are any.
    pub fn expect_of_unknown(&mut self, rates: &[f64], left: f64) -> bool {
        let mut are_any = false;
        for (at, rate) in rates.iter().enumerate() {
            if self.scale(at) <= UNKNOWN_SCALE && *rate != 0.0 {
                self.expected[at] = (rate * left).abs();
                are_any |= self.scale(at) > UNKNOWN_SCALE;
            }
        }
        are_any
    }

    /// Adopts the expected magnitudes from now on, if they make the scale of a state much larger; returns true if
    /// such a state exists.
    pub fn expect_more(&mut self, expected: &[f64]) -> bool {
        let mut are_any = false;
        for (at, expected) in expected.iter().enumerate() {
            let is_still = self.seen[at] <= STILL * expected;
            if is_still && UNSEEN * expected > OUTGROWN * self.scale(at) && self.nominal[at].is_none() {
                self.expected[at] = *expected;
                are_any = true;
            }
        }
        are_any
    }

    /// Returns the scale of a state.
    pub fn scale(&self, at: usize) -> f64 {
        let own = self.seen[at].max(UNSEEN * self.expected[at]).max(UNKNOWN_SCALE);
        self.nominal[at].unwrap_or(own)
    }

    /// Returns the allowed error of a state at zero.
    fn absolute(&self, at: usize) -> f64 {
        self.atol.unwrap_or_else(|| SHARE * self.rtol * self.scale(at))
    }

    /// Returns the tolerance of a state at a value.
    pub fn allowed(&self, at: usize, value: f64) -> f64 {
        self.absolute(at) + self.rtol * value.abs()
    }

    /// Returns the relative tolerance of a state at a value, independent of the requested tolerance near zero.
    pub fn relative(&self, at: usize, value: f64) -> f64 {
        self.rtol * (value.abs() + SHARE * self.scale(at))
    }

    /// Returns the relative tolerance.
    pub fn rtol(&self) -> f64 {
        self.rtol
    }

    /// Returns the absolute tolerances of all unknowns of a solver, which begin with these values; they are kept for later comparison.
    pub fn absolutes(&mut self, first: &[f64]) -> Vec<f64> {
        let states = self.seen.len();
        self.used = (0..states).map(|at| self.scale(at)).collect();
        self.next_look = FIRST_LOOK;
        let mut all: Vec<f64> = (0..states).map(|at| self.absolute(at)).collect();
        let size_of = |share: f64, at: usize| {
            let expected = self.expected.get(at).copied().unwrap_or(0.0);
            let now = if first[at].is_finite() { first[at].abs() } else { 0.0 };
            (share * expected).max(now)
        };
        let of_rest = |at: usize| size_of(UNSEEN, at);
        if let Some(atol) = self.atol {
            all.resize(first.len(), atol);
            return all;
        }
        let largest = (states..first.len()).map(of_rest).fold(UNKNOWN_SCALE, f64::max);
        all.extend((states..first.len()).map(|at| SHARE * self.rtol * of_rest(at).max(NOISE * largest)));
        let sizes: Vec<f64> = (states..first.len()).map(|at| size_of(1.0, at)).collect();
        self.as_chains(&sizes, &mut all[states..]);
        all
    }

    /// Returns the magnitudes below which loop unknowns are negligible.
    pub fn small_unknowns(&self, count: usize) -> Vec<f64> {
        let states = self.seen.len();
        let most = 1e-4 * self.atol.unwrap_or(1e-9);
        if self.atol.is_some() {
            return vec![most; count];
        }
        let expected = |at: usize| self.expected.get(states + at).copied().unwrap_or(0.0);
        let largest = (0..count).map(expected).fold(0.0, f64::max);
        let of_one = |at: usize| most * expected(at).max(1e-4 * largest).min(1.0);
        let known = |small: f64| if small > 0.0 { small } else { most };
        (0..count).map(|at| known(of_one(at))).collect()
    }

    /// Returns true if some state has outgrown the tolerance of the solver, after this number of its steps. The checks
    /// become less frequent, so that no run is restarted repeatedly.
    pub fn have_outgrown(&mut self, steps: u64) -> bool {
        if self.atol.is_some() || steps < self.next_look {
            return false;
        }
        self.next_look = 2 * steps;
        (0..self.used.len()).any(|at| self.scale(at) > OUTGROWN * self.used[at])
    }
}

/// Returns the magnitudes that the model gives for its states, with these parameters; zero and non-finite values are ignored.
pub(crate) fn nominal_sizes(system: &StateSystem, parameters: &[f64]) -> Vec<Option<f64>> {
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
