//! What is allowed of each state near zero: one thousandth of what is allowed of it at its own scale.
//!
//! An absolute tolerance in SI units knows no scale: 1e-9 is little of a position in metres and ten times the charge of a
//! capacitor of 1 pF. So the scale of a state is the most that the run has seen of it. A state that has not moved yet has a small
//! share of what it would come to if the inputs kept their largest values ([`expected`](crate::run::expected::expected)): enough that no step is made small for
//! what has hardly begun, and so little that a state which stays far below what was expected is still right. Nothing of this
//! depends on units: where a state is counted in other ones, its scale is another by the same factor.

use crate::plan::Plan;
use lgm_algebra::expr::ExprId;
use lgm_kernels::{Arguments, KernelOptions, Layout, expression};
use lgm_model::system::StateSystem;
use lgm_runtime::dopri5::UNKNOWN_SCALE;

/// The absolute tolerance as a share of the relative one times the scale.
pub const SHARE: f64 = 1e-3;

/// The share of what is expected of a state that counts as its scale before it was seen.
pub const UNSEEN: f64 = 1e-3;

/// Loop unknowns and rates are no smaller than this share of the largest one: what balances to zero is rounding.
const NOISE: f64 = 1e-6;

/// Nothing of a displacement that closes a chain is smaller than so many roundings of the largest of them.
const ROUNDINGS: f64 = 64.0 * f64::EPSILON;

/// A state has outgrown its tolerance where its scale is so many times larger than when the tolerance was made.
const OUTGROWN: f64 = 100.0;

/// Steps after which a run looks for the first time whether a state has outgrown its tolerance; then after twice as many.
const FIRST_LOOK: u64 = 20;

/// The tolerances of a run, state by state.
#[derive(Debug)]
pub(crate) struct Scales {
    rtol: f64,
    /// One absolute tolerance for all, where it was asked for.
    atol: Option<f64>,
    /// The scale that was given for a state.
    nominal: Vec<Option<f64>>,
    /// What is expected of the states, then of what an implicit method solves for beside them.
    expected: Vec<f64>,
    /// The most that was seen of each state.
    seen: Vec<f64>,
    /// Which of the loop unknowns, which come behind the states, are displacements that close chains.
    chains: Vec<bool>,
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
            chains: Vec::new(),
            used: Vec::new(),
            next_look: FIRST_LOOK,
        }
    }

    /// The same with loop unknowns of which these are displacements that close chains.
    pub fn with_chains(self, chains: &[bool]) -> Scales {
        Scales {
            chains: chains.to_vec(),
            ..self
        }
    }

    /// Raises what is allowed of the displacements that close chains to what is allowed of the largest of them: one that stays at zero,
    /// as the angle of a rod that is only moved along, balances to the errors of the others. `sizes` begin with the loop unknowns.
    fn as_chains(&self, sizes: &[f64], allowed: &mut [f64]) {
        let of_chains = self.chains.iter().zip(sizes).filter(|pair| *pair.0);
        let largest = of_chains.map(|pair| *pair.1).fold(0.0, f64::max);
        let least = largest * (SHARE * self.rtol).max(ROUNDINGS);
        for (allowed, _) in allowed.iter_mut().zip(&self.chains).filter(|pair| *pair.1) {
            *allowed = allowed.max(least);
        }
    }

    /// The same for another solver, which counts its steps anew.
    pub fn again(self) -> Scales {
        Scales {
            used: Vec::new(),
            next_look: FIRST_LOOK,
            ..self
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

    /// States that are at zero and of which nothing was expected, as one that integrates a condition before it holds, are expected to
    /// move on as they begin to, for the time that is left. Whether there are any.
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

    /// Of what size a state is.
    pub fn scale(&self, at: usize) -> f64 {
        let own = self.seen[at].max(UNSEEN * self.expected[at]).max(UNKNOWN_SCALE);
        self.nominal[at].unwrap_or(own)
    }

    /// The allowed error of a state at zero.
    fn absolute(&self, at: usize) -> f64 {
        self.atol.unwrap_or_else(|| SHARE * self.rtol * self.scale(at))
    }

    /// What is allowed of a state at a value.
    pub fn allowed(&self, at: usize, value: f64) -> f64 {
        self.absolute(at) + self.rtol * value.abs()
    }

    /// The relative tolerance of a state at a value, whatever was asked for near zero.
    pub fn relative(&self, at: usize, value: f64) -> f64 {
        self.rtol * (value.abs() + SHARE * self.scale(at))
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

    /// The sizes of loop unknowns below which their values do not matter.
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
