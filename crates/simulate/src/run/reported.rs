//! The message for a run that cannot continue, or not as requested.

use crate::failure::{Blame, Failure, FailureKind};
use crate::motion::{Fault, FaultKind};
use crate::plan::Method;
use crate::run::course::Run;
use crate::solvers::solver::{Solver, SolverFault};
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, six_digits};

/// The maximum number of states for the check that they determine the loops.
const LOOKED_AT: usize = 200;

impl Run<'_> {
    /// Returns the message for a solver failure.
    pub(crate) fn failure(&self, error: SolverFault, solver: Option<&dyn Solver>) -> Failure {
        let time = solver.map_or(self.time, Solver::time);
        let steps = self.done.steps + solver.map_or(0, |solver| solver.counts().steps);
        // The last valid point, and beyond it the one that could not be evaluated.
        let states = solver.map_or(&self.states[..], Solver::states);
        let fault = self.motion.fault().filter(|fault| fault.time >= time);
        let beyond = fault.as_ref().map(|fault| (fault.time, &fault.states[..]));
        if let Some(found) = self.singular([Some((time, states)), beyond], steps) {
            return Failure { time, ..found };
        }
        if let Some(fault) = fault {
            if matches!(fault.kind, FaultKind::Loop(_))
                && let Some(blame) = self.undetermined(time, states)
            {
                let blame = Some(Box::new(blame));
                let kind = FailureKind::StepNotSolved;
                return Failure {
                    time,
                    kind,
                    blame,
                    steps,
                };
            }
            let found = self.motion.failure(&fault, steps);
            // The fault occurred at trial values, which are not states of the run.
            let stands = |blame: Box<Blame>| {
                Box::new(Blame {
                    states: self.motion.states_in_words(states),
                    ..*blame
                })
            };
            let blame = found.blame.map(stands);
            return Failure { time, blame, ..found };
        }
        let kind = match error {
            SolverFault::TooSmall => FailureKind::StepTooSmall,
            SolverFault::NotSolved => FailureKind::StepNotSolved,
            SolverFault::Other(words) => FailureKind::Refused(format!("the solver failed at {time} s: {words}")),
        };
        let blame = solver.and_then(|solver| self.blamed(time, solver.states()));
        Failure {
            time,
            kind,
            blame,
            steps,
        }
    }

    /// Returns the message if one of several points is a singular position.
    pub(crate) fn singular(&self, ends: [Option<(f64, &[f64])>; 2], steps: u64) -> Option<Failure> {
        // If a run starts without a solution of the loops, there was no previous position.
        let is_unsolved = |fault: Fault| matches!(fault.kind, FaultKind::Loop(_)) && fault.time <= self.first.time;
        if self.motion.fault().is_some_and(is_unsolved) {
            return None;
        }
        ends.into_iter().flatten().find_map(|(time, states)| {
            let end = self.motion.position(time, states);
            let (kind, blame) = self.motion.singular_position(&self.first, &end)?;
            let states = self.motion.states_in_words(states);
            Some(Failure {
                time,
                kind,
                blame: Some(Box::new(Blame { states, ..blame })),
                steps,
            })
        })
    }

    /// Returns the state that changes most relative to its magnitude.
    pub(crate) fn fastest(&self, time: f64, states: &[f64]) -> usize {
        let mut rates = vec![0.0; states.len()];
        self.motion.rates(time, states, &mut rates);
        let share = |at: usize| rates[at].abs() / self.scales.allowed(at, states[at]);
        let fastest = (0..states.len()).max_by(|a, b| share(*a).total_cmp(&share(*b)));
        fastest.unwrap_or(0)
    }

    /// Returns the variable for which steps are short: an unknown of a loop that the states do not determine, or the
    /// state that changes fastest.
    pub(crate) fn blamed(&self, time: f64, states: &[f64]) -> Option<Box<Blame>> {
        let undetermined = self.undetermined(time, states);
        undetermined
            .or_else(|| self.motion.state(self.fastest(time, states)))
            .map(Box::new)
    }

    /// Returns true if only round-off determines some unknown of the loops here.
    pub(crate) fn is_undetermined(&self) -> bool {
        self.undetermined(self.time, &self.states).is_some()
    }

    /// Returns an unknown that would move by more than its magnitude if a state moved by its tolerance, such as the
    /// voltage of a blocking diode after an inductor.
    fn undetermined(&self, time: f64, states: &[f64]) -> Option<Blame> {
        let motion = self.motion;
        let sizes = self.branch.as_ref().map(|branch| &branch.sizes)?;
        if states.len() > LOOKED_AT || !motion.solve_loops(time, states) {
            return None;
        }
        let here = motion.position(time, states);
        let slopes = motion.loop_matrix(&here).lu();
        let found = (0..states.len()).find_map(|at| {
            let mut moved = here.clone();
            moved.states[at] += self.scales.allowed(at, states[at].abs());
            // One step of Newton's method with the slopes here.
            let steps = slopes.solve(&motion.residuals_at(&moved))?;
            let is_lost = |unknown: &usize| steps[*unknown].is_nan() || steps[*unknown].abs() > sizes[*unknown];
            (0..here.unknowns.len()).find(is_lost)
        });
        let blame = motion.unknown(found?)?;
        Some(Blame {
            is_undetermined: true,
            ..blame
        })
    }

    /// Returns the message if no method completes the run.
    pub(crate) fn without_headway(&self, needed: f64) -> Failure {
        Failure {
            time: self.time,
            kind: FailureKind::NoHeadway(needed),
            blame: self.blamed(self.time, &self.states),
            steps: self.done.steps,
        }
    }

    /// Returns the remark on a method that is abandoned for another.
    pub(crate) fn remark_on_headway(&self, method: Method, next: Method, needed: f64) -> Diagnostic {
        let (method, next) = (method.word(), next.word());
        let message = format!(
            "the method `{method}` makes no progress at {} s, so the run continues with `{next}`",
            six_digits(self.time)
        );
        Diagnostic::warning(Code::LGM1024, message)
            .note(format!(
                "the rest of the run would take about {needed:.0e} steps of `{method}`"
            ))
            .help(format!("choose it with `--method {next}`, or use `--method auto`"))
    }
}
