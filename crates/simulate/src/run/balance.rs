//! The energy over a run with events: supplied by sources, absorbed by dissipators, stored, and lost in events.

use crate::motion::Motion;
use crate::solvers::solver::SolverFault;
use lgm_kernels::Kernel;

/// The energies of a run with events, in joules.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Balance {
    /// The energy supplied by sources.
    pub supplied: f64,
    /// The energy absorbed by dissipators and elements with modes.
    pub dissipated: f64,
    /// The energy of storage at the end minus that of its initial values.
    pub stored: f64,
    /// The energy lost in jumps of states: the loss of storage plus the energy supplied by impulses of sources.
    pub lost: f64,
}

impl Balance {
    /// Returns the remainder of the energy balance, which is 0 to within the tolerance of the run.
    pub fn rest(&self) -> f64 {
        self.supplied - self.dissipated - self.stored - self.lost
    }

    pub(crate) fn add(&mut self, part: &Balance) {
        self.supplied += part.supplied;
        self.dissipated += part.dissipated;
        self.lost += part.lost;
    }
}

/// Nodes and weights of the three-point Gauss rule on the interval from 0 to 1.
const GAUSS: [(f64, f64); 3] = [
    (0.112_701_665_379_258_31, 5.0 / 18.0),
    (0.5, 4.0 / 9.0),
    (0.887_298_334_620_741_7, 5.0 / 18.0),
];

/// A kernel that computes the powers and the energy of a combination of modes.
pub(crate) struct Powers {
    /// Pairs of values whose products are added: effort and flow of sources, effort and flow of dissipators, then
    /// co-energy and energy variables of storage.
    pub kernel: Kernel,
    /// The numbers of pairs of sources and of dissipators.
    pub counts: (usize, usize),
}

/// Writes the states at a time.
type StatesAt<'s> = &'s mut dyn FnMut(f64, &mut [f64]) -> Result<(), SolverFault>;

/// Integrates powers over one part of a run.
pub(crate) struct PowerMeter<'m> {
    powers: &'m Powers,
    /// The time up to which the powers have been integrated.
    at: f64,
    values: Vec<f64>,
    unknowns: Vec<f64>,
    states: Vec<f64>,
    pub found: Balance,
}

impl<'m> PowerMeter<'m> {
    /// Creates a meter that begins at a time.
    pub fn new(powers: &'m Powers, motion: &Motion<'_>, at: f64) -> PowerMeter<'m> {
        PowerMeter {
            values: vec![0.0; powers.kernel.outputs()],
            unknowns: vec![0.0; motion.unknowns],
            states: vec![0.0; motion.system.states.len()],
            powers,
            at,
            found: Balance::default(),
        }
    }

    /// Integrates the powers up to a time; `states_at` gives the states in between.
    pub fn go_to(&mut self, motion: &Motion<'_>, end: f64, states_at: StatesAt<'_>) -> Result<(), SolverFault> {
        let length = end - self.at;
        if length > 0.0 {
            for (share, weight) in GAUSS {
                let time = self.at + share * length;
                let mut states = std::mem::take(&mut self.states);
                let found = states_at(time, &mut states);
                self.evaluate(motion, time, &states);
                self.states = states;
                found?;
                let (sources, dissipators) = self.powers.counts;
                self.found.supplied -= weight * length * self.sum(0, sources);
                self.found.dissipated += weight * length * self.sum(sources, sources + dissipators);
            }
            self.at = end;
        }
        Ok(())
    }

    /// Returns the energy of storage.
    pub fn energy(&mut self, motion: &Motion<'_>, time: f64, states: &[f64]) -> f64 {
        self.evaluate(motion, time, states);
        let (sources, dissipators) = self.powers.counts;
        0.5 * self.sum(sources + dissipators, self.values.len() / 2)
    }

    fn evaluate(&mut self, motion: &Motion<'_>, time: f64, states: &[f64]) {
        motion.solve_loops(time, states);
        motion.copy_unknowns(&mut self.unknowns);
        motion.call(
            &self.powers.kernel,
            time,
            states,
            &self.unknowns,
            None,
            &mut self.values,
        );
    }

    /// Returns the sum of the products of some pairs.
    fn sum(&self, from: usize, to: usize) -> f64 {
        let pairs = self.values[2 * from..2 * to].chunks_exact(2);
        pairs.map(|pair| pair[0] * pair[1]).sum()
    }
}
