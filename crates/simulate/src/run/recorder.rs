//! Records the values before delays over one part of a run.

use crate::inputs::history::{History, NODES, Polynomial, nodes};
use crate::motion::Motion;
use crate::solvers::solver::SolverFault;
use lgm_kernels::Kernel;
use std::sync::Arc;

/// The maximum number of times that a step is halved for its values: they may vary much faster than the states.
const MOST_HALVINGS: u32 = 24;

/// The points of an interval, between the nodes, at which polynomials are compared with the values.
const CHECKED: [f64; 3] = [0.05, 0.43, 0.79];

/// The allowed deviation of polynomials, in units of the relative tolerance of the run.
const DEVIATION: f64 = 0.1;

/// Deviations below this fraction of the largest value may be round-off of laws and loops.
const NOISE: f64 = 1e-6;

/// The values before delays: a kernel that computes them, and the history of each.
pub(crate) type Delayed<'d> = (&'d Kernel, &'d [Arc<History>]);

/// Writes the states at a time.
type StatesAt<'s> = &'s mut dyn FnMut(f64, &mut [f64]) -> Result<(), SolverFault>;

/// Records values over one part of a run.
pub(crate) struct Recorder<'m> {
    delayed: Delayed<'m>,
    /// The time up to which values are recorded.
    at: f64,
    /// The allowed deviation as a fraction of the largest value.
    tolerance: f64,
    values: Vec<f64>,
    unknowns: Vec<f64>,
    states: Vec<f64>,
}

impl<'m> Recorder<'m> {
    /// Creates a recorder that begins at a time.
    pub fn new(delayed: Delayed<'m>, motion: &Motion<'_>, (at, rtol): (f64, f64)) -> Recorder<'m> {
        Recorder {
            values: vec![0.0; delayed.0.outputs()],
            unknowns: vec![0.0; motion.unknowns],
            states: vec![0.0; motion.system.states.len()],
            delayed,
            at,
            tolerance: DEVIATION * rtol,
        }
    }

    /// Records the values up to a time; `states_at` gives the states in between.
    pub fn go_to(&mut self, motion: &Motion<'_>, end: f64, states_at: StatesAt<'_>) -> Result<(), SolverFault> {
        // The intervals that remain, the next one last, with the number of halvings and the deviation before the last one.
        let mut open = vec![(self.at, end, 0, f64::INFINITY)];
        while let Some((from, to, halvings, before)) = open.pop().filter(|next| next.1 > next.0) {
            let pieces = self.pieces(motion, (from, to), states_at)?;
            let middle = from + 0.5 * (to - from);
            let deviation = self.deviation(motion, &pieces, states_at)?;
            // A small deviation that halving does not reduce is round-off.
            let is_noise = deviation < NOISE && deviation > 0.5 * before;
            let can_halve = halvings < MOST_HALVINGS && middle > from && middle < to;
            if can_halve && deviation > self.tolerance && !is_noise {
                open.push((middle, to, halvings + 1, deviation));
                open.push((from, middle, halvings + 1, deviation));
                continue;
            }
            for (history, piece) in self.delayed.1.iter().zip(pieces) {
                history.add(piece);
            }
            self.at = to;
        }
        Ok(())
    }

    /// Returns the polynomials over an interval.
    fn pieces(
        &mut self,
        motion: &Motion<'_>,
        (from, to): (f64, f64),
        states_at: StatesAt<'_>,
    ) -> Result<Vec<Polynomial>, SolverFault> {
        let mut found = vec![[0.0; NODES]; self.delayed.1.len()];
        for (at, share) in nodes().into_iter().enumerate() {
            let time = if at + 1 == NODES {
                to
            } else {
                from + share * (to - from)
            };
            self.evaluate(motion, time, states_at)?;
            for (values, value) in found.iter_mut().zip(&self.values) {
                values[at] = *value;
            }
        }
        Ok(found
            .iter()
            .map(|values| Polynomial::through(from, to, values))
            .collect())
    }

    /// Returns the largest deviation of polynomials from the values between their nodes, as a fraction of the largest value.
    fn deviation(
        &mut self,
        motion: &Motion<'_>,
        pieces: &[Polynomial],
        states_at: StatesAt<'_>,
    ) -> Result<f64, SolverFault> {
        let (from, to) = (pieces[0].from, pieces[0].to);
        // Times are round, and so are the states between the ends of a short step.
        let rounded = 16.0 * f64::EPSILON * (1.0 + to.abs() / (to - from));
        let mut worst = 0.0_f64;
        for share in CHECKED {
            let time = from + share * (to - from);
            self.evaluate(motion, time, states_at)?;
            for ((piece, history), value) in pieces.iter().zip(self.delayed.1).zip(&self.values) {
                let largest = history.largest().max(piece.largest());
                let off = (piece.at(time).0 - value).abs() - rounded * piece.largest();
                if off > 0.0 && largest > 0.0 {
                    worst = worst.max(off / largest);
                }
            }
        }
        Ok(worst)
    }

    fn evaluate(&mut self, motion: &Motion<'_>, time: f64, states_at: StatesAt<'_>) -> Result<(), SolverFault> {
        states_at(time, &mut self.states)?;
        motion.solve_loops(time, &self.states);
        motion.copy_unknowns(&mut self.unknowns);
        motion.call(
            self.delayed.0,
            time,
            &self.states,
            &self.unknowns,
            None,
            &mut self.values,
        );
        Ok(())
    }
}
