//! The result of verifying a run.

use crate::Plan;
use lgm_equations::{Powers, Seen};
use lgm_model::system::StateSystem;
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, six_digits};

/// The maximum number of reported faults.
const SHOWN: usize = 10;

/// The largest number of steps in one interval whose errors add up.
const MOST_STEPS: f64 = 20.0;

/// The largest missing fraction of the total energy, divided by the relative tolerance.
const MISSING: f64 = 1000.0;

/// A violation at a time.
#[derive(Clone, Debug)]
pub struct Fault {
    /// Its subject: ``the law of `damper` ``.
    pub what: String,
    /// Its location in the source; the energy balance has none.
    pub span: Option<Span>,
    /// The time in seconds.
    pub time: f64,
    /// The size of the violation, as text.
    pub words: String,
}

impl Fault {
    pub(super) fn new(what: String, span: impl Into<Option<Span>>, time: f64, words: String) -> Fault {
        Fault {
            what,
            span: span.into(),
            time,
            words,
        }
    }
}

/// The checks and their findings.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The number of rows and sides of events at which the flat graph was examined.
    pub rows: u64,
    /// The number of equations of the flat graph that hold there.
    pub equations: u64,
    /// The largest relative residual of an equation.
    pub worst: f64,
    /// The number of equations with too few digits left after round-off.
    pub open: u64,
    /// The number of rows at which the equations have no values.
    pub unseen: u64,
    /// The number of input values compared with their definitions.
    pub inputs: u64,
    /// The number of output values compared with the flat graph.
    pub outputs: u64,
    /// The number of jumps across which charges and momenta are conserved.
    pub jumps: u64,
    /// The number of jumps without a verdict.
    pub unjudged_jumps: u64,
    /// The number of intervals between rows.
    pub intervals: u64,
    /// The number of intervals integrated by the second integrator.
    pub crossed: u64,
    /// The number of intervals that were not.
    pub uncrossed: u64,
    /// The largest difference of a state between both, relative to the state's size.
    pub states: f64,
    /// True if effort times flow is a power at all ports.
    pub has_power: bool,
    /// The energies of all fully known intervals, in joules: supplied by sources, absorbed by dissipators, and absorbed
    /// by storage.
    pub supplied: f64,
    /// See [`Report::supplied`].
    pub lost: f64,
    /// See [`Report::supplied`].
    pub stored: f64,
    /// The total energy through all ports.
    pub passed: f64,
    /// The accuracy of the energy sums.
    pub uncertainty: f64,
    /// The number of these intervals.
    pub balanced: u64,
    /// The violations, each at its first occurrence.
    pub faults: Vec<Fault>,
    /// The number of violations.
    pub count: u64,
}

impl Report {
    pub(super) fn fault(&mut self, fault: Fault) {
        self.count += 1;
        if !self.faults.iter().any(|known| known.what == fault.what) {
            self.faults.push(fault);
        }
    }

    pub(super) fn take(&mut self, time: f64, seen: &Seen) {
        self.rows += 1;
        self.equations += seen.equations as u64;
        self.open += seen.open as u64;
        self.worst = self.worst.max(seen.worst);
        for failed in &seen.failed {
            let words = format!("it is off by {:.1e} of its largest term", failed.residual);
            self.fault(Fault::new(failed.what.clone(), failed.span, time, words));
        }
    }

    pub(super) fn add_energy(&mut self, powers: &Powers, uncertainty: f64, stored: f64) {
        self.supplied += powers.supplied;
        self.lost += powers.lost;
        self.stored += powers.taken + stored;
        self.passed += powers.size;
        self.uncertainty += uncertainty;
        self.balanced += 1;
    }

    /// Returns the missing part of the energy balance.
    pub fn missing(&self) -> f64 {
        self.supplied - self.lost - self.stored
    }

    pub(super) fn judge_energy(&mut self, plan: &Plan) {
        let allowed = MISSING * plan.rtol * self.passed + 2.0 * self.uncertainty;
        if self.balanced > 0 && self.missing().abs() > allowed {
            let words = format!(
                "sources supply {} J, dissipators absorb {} J, and storage absorbs {} J",
                six_digits(self.supplied),
                six_digits(self.lost),
                six_digits(self.stored)
            );
            self.fault(Fault::new("the balance of energy".into(), None, plan.stop, words));
        }
    }

    /// Returns one line on the verified items.
    pub fn summary(&self) -> String {
        let mut text = format!(
            "verified: {} equations of the flat graph at {} samples and sides of events hold to {:.1e}",
            self.equations, self.rows, self.worst
        );
        if self.outputs + self.inputs > 0 {
            text.push_str(&format!(
                "; {} values of outputs and {} of inputs",
                self.outputs, self.inputs
            ));
        }
        if self.crossed > 0 {
            text.push_str(&format!(
                "; a second integrator reproduces the states to {:.1e} over {} of {} sample intervals",
                self.states, self.crossed, self.intervals
            ));
        }
        if self.jumps > 0 {
            text.push_str(&format!("; charge and momentum are conserved at {} jumps", self.jumps));
        }
        if self.balanced > 0 && self.passed > 0.0 {
            text.push_str(&format!(
                "; energy over {} of them: {} J supplied, {} J lost, {} J stored, relative error {:.1e}",
                self.balanced,
                six_digits(self.supplied),
                six_digits(self.lost),
                six_digits(self.stored),
                self.missing().abs() / self.passed
            ));
        }
        text
    }

    /// Returns the unverified items as text; `None` if everything is verified.
    pub fn gaps(&self) -> Option<String> {
        let mut parts = Vec::new();
        let mut part = |count: u64, words: &str| {
            if count > 0 {
                parts.push(format!("{count} {words}"));
            }
        };
        part(self.unseen, "samples at which the equations have no values");
        part(self.open, "equations to which round-off leaves too few digits");
        part(self.uncrossed, "intervals that the second integrator did not complete");
        part(self.unjudged_jumps, "jumps that cannot be checked");
        (!parts.is_empty()).then(|| format!("not verified: {}", parts.join(", ")))
    }

    /// Returns the faults as diagnostics.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        let mut list: Vec<Diagnostic> = self
            .faults
            .iter()
            .take(SHOWN)
            .map(|fault| {
                let message = format!(
                    "the run does not satisfy {} at {} s",
                    fault.what,
                    six_digits(fault.time)
                );
                let diagnostic = Diagnostic::error(Code::LGM1032, message).note(fault.words.clone());
                let diagnostic = match fault.span {
                    Some(span) => diagnostic.label(span, "this is violated during the run"),
                    None => diagnostic,
                };
                diagnostic.help(
                    "try a smaller `--rtol` or another `--method`; if neither helps, this is a bug in lgm: please \
                     report it",
                )
            })
            .collect();
        let more = self.faults.len().saturating_sub(SHOWN);
        if more > 0
            && let Some(last) = list.pop()
        {
            list.push(last.note(format!("{more} more are violated")));
        }
        list
    }
}

/// The largest difference between two values of the same quantity over a run, relative to its largest magnitude.
#[derive(Clone, Debug, Default)]
pub(super) struct Difference {
    beyond: f64,
    size: f64,
    fault: Option<Fault>,
}

impl Difference {
    /// Records the part of a difference beyond round-off, and the magnitude of the values.
    pub(super) fn take(&mut self, beyond: f64, size: f64, fault: impl FnOnce() -> Fault) {
        self.size = self.size.max(size);
        if beyond > self.beyond || beyond.is_nan() && self.beyond != f64::INFINITY {
            self.beyond = if beyond.is_nan() { f64::INFINITY } else { beyond };
            self.fault = Some(fault());
        }
    }

    /// Reports violations of the run's tolerance.
    pub(super) fn judge(&mut self, report: &mut Report, plan: &Plan) {
        let is_wrong = self.beyond > plan.rtol.min(1e-6) * self.size;
        if let Some(fault) = self.fault.take().filter(|_| is_wrong) {
            report.fault(fault);
        }
    }
}

/// A state that differs from the second integrator.
#[derive(Clone, Copy, Debug, Default)]
struct Apart {
    /// The difference beyond the propagated initial error, at its maximum; the difference itself, and the time.
    beyond: f64,
    there: f64,
    time: f64,
    /// The largest difference.
    largest: f64,
}

/// The largest difference of each state from the second integrator.
pub(super) struct Worst {
    names: Vec<(String, Span)>,
    found: Vec<Apart>,
}

impl Worst {
    pub(super) fn new(system: &StateSystem) -> Worst {
        let name = |state: &lgm_model::system::State| (format!("state `{}`", state.name), state.span);
        Worst {
            names: system.states.iter().map(name).collect(),
            found: vec![Apart::default(); system.states.len()],
        }
    }

    pub(super) fn take(&mut self, at: usize, time: f64, apart: f64, carried: f64) {
        let beyond = apart - ALLOWED * carried;
        let found = &mut self.found[at];
        found.largest = found.largest.max(apart);
        if beyond > found.beyond {
            *found = Apart {
                beyond,
                there: apart,
                time,
                ..*found
            };
        }
    }

    /// Compares the differences with the magnitudes that the states have reached.
    pub(super) fn judge(&self, report: &mut Report, plan: &Plan, sizes: &[f64], steps: u64) {
        let in_interval = (1.0 + steps as f64 / report.intervals.max(1) as f64).min(MOST_STEPS);
        let sizes = not_vanishing(sizes);
        for (at, found) in self.found.iter().enumerate() {
            if sizes[at] == 0.0 {
                continue;
            }
            report.states = report.states.max(found.largest / sizes[at]);
            // The user's tolerance for states near zero applies; a default uses the same scales.
            let allowed = plan.rtol * sizes[at] + plan.atol.unwrap_or(0.0);
            if found.beyond > ALLOWED * in_interval * allowed {
                let (what, span) = self.names[at].clone();
                let words = format!(
                    "its change since the previous sample differs from its integrated rate by {}, {:.1e} of its \
                     magnitude",
                    six_digits(found.there),
                    found.beyond / sizes[at]
                );
                report.fault(Fault::new(what, span, found.time, words));
            }
        }
    }
}

/// A state below this fraction of the largest one is the round-off of zero in any unit.
const VANISHING: f64 = 1e-30;

/// Returns the magnitudes of states, bounded below by round-off relative to the largest.
pub(super) fn not_vanishing(sizes: &[f64]) -> Vec<f64> {
    let largest = sizes.iter().copied().fold(0.0, f64::max);
    sizes.iter().map(|size| size.max(VANISHING * largest)).collect()
}

/// The largest error of a sample in units of the tolerance, for each step of the run in its interval.
pub(super) const ALLOWED: f64 = 50.0;

#[cfg(test)]
mod tests {
    use super::*;

    /// A difference due to round-off before anything moves is judged by the later magnitude of the variable.
    #[test]
    fn differences_are_judged_by_the_size_over_the_whole_run() {
        for (later, count) in [(1e-4, 0), (1e-12, 1)] {
            let (mut report, mut difference) = (Report::default(), Difference::default());
            let fault = |time: f64| Fault::new("output `Q`".into(), None, time, String::new());
            difference.take(1.2e-13, 1.2e-13, || fault(0.5));
            difference.take(-1e-20, later, || fault(1.0));
            difference.judge(&mut report, &Plan::default());
            assert_eq!(report.count, count, "{later}");
        }
    }
}
