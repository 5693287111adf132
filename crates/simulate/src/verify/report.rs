//! What the verification of a run found.

use crate::Plan;
use lgm_equations::{Powers, Seen};
use lgm_model::system::StateSystem;
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, six_digits};

/// Faults that are reported.
const SHOWN: usize = 10;

/// Errors of more steps than these do not add up in one interval.
const MOST_STEPS: f64 = 20.0;

/// A share of all energy that passes that may be missing, for a relative tolerance of 1.
const MISSING: f64 = 1000.0;

/// Something that does not hold at a time.
#[derive(Clone, Debug)]
pub struct Fault {
    /// What it is: ``the law of `damper` ``.
    pub what: String,
    /// Where that stands in the source; the balance of energy stands nowhere.
    pub span: Option<Span>,
    /// The time in seconds.
    pub time: f64,
    /// By how much, as a sentence.
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

/// What was looked at, and what was found.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Rows and sides of events at which the flat graph was looked at.
    pub rows: u64,
    /// Equations of the flat graph that hold there, all in all.
    pub equations: u64,
    /// The largest relative residual of one.
    pub worst: f64,
    /// Equations that rounding left too few digits of.
    pub open: u64,
    /// Rows at which the equations have no values.
    pub unseen: u64,
    /// Values of inputs that were compared with what is written.
    pub inputs: u64,
    /// Values of outputs that were compared with the flat graph.
    pub outputs: u64,
    /// Jumps across which charges and momenta are kept.
    pub jumps: u64,
    /// Jumps of which nothing can be said.
    pub unjudged_jumps: u64,
    /// Intervals between rows.
    pub intervals: u64,
    /// Those that were crossed by the second integrator.
    pub crossed: u64,
    /// Those that were not.
    pub uncrossed: u64,
    /// The largest difference of a state between both, relative to the state's size.
    pub states: f64,
    /// Whether effort times flow is a power at all ports.
    pub has_power: bool,
    /// The energies of all intervals at whose ends all of it is known, in joules: given by sources, taken by dissipators, and taken by
    /// storage.
    pub supplied: f64,
    /// See [`Report::supplied`].
    pub lost: f64,
    /// See [`Report::supplied`].
    pub stored: f64,
    /// What passed through all ports.
    pub passed: f64,
    /// How exactly energies were added up.
    pub uncertainty: f64,
    /// How many intervals that were.
    pub balanced: u64,
    /// What does not hold; each thing once, where it was first seen.
    pub faults: Vec<Fault>,
    /// How often anything did not hold.
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

    /// What is missing in the balance of energy.
    pub fn missing(&self) -> f64 {
        self.supplied - self.lost - self.stored
    }

    pub(super) fn judge_energy(&mut self, plan: &Plan) {
        let allowed = MISSING * plan.rtol * self.passed + 2.0 * self.uncertainty;
        if self.balanced > 0 && self.missing().abs() > allowed {
            let words = format!(
                "sources give {} J, dissipators take {} J, and storage takes {} J",
                six_digits(self.supplied),
                six_digits(self.lost),
                six_digits(self.stored)
            );
            self.fault(Fault::new("the balance of energy".into(), None, plan.stop, words));
        }
    }

    /// One line on what was verified.
    pub fn summary(&self) -> String {
        let mut text = format!(
            "verified: {} equations of the flat graph at {} rows and sides of events hold to {:.1e}",
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
                "; states go from row to row by a second integrator to {:.1e} over {} of {} intervals",
                self.states, self.crossed, self.intervals
            ));
        }
        if self.jumps > 0 {
            text.push_str(&format!("; charge and momentum are kept at {} jumps", self.jumps));
        }
        if self.balanced > 0 && self.passed > 0.0 {
            text.push_str(&format!(
                "; energy over {} of them: {} J given, {} J lost, {} J stored, {:.1e} of what passed is missing",
                self.balanced,
                six_digits(self.supplied),
                six_digits(self.lost),
                six_digits(self.stored),
                self.missing().abs() / self.passed
            ));
        }
        text
    }

    /// What is not verified, in words; none where everything is.
    pub fn gaps(&self) -> Option<String> {
        let mut parts = Vec::new();
        let mut part = |count: u64, words: &str| {
            if count > 0 {
                parts.push(format!("{count} {words}"));
            }
        };
        part(self.unseen, "rows at which the equations have no values");
        part(self.open, "equations that rounding leaves too few digits of");
        part(self.uncrossed, "intervals that the second integrator did not cross");
        part(self.unjudged_jumps, "jumps that cannot be judged");
        (!parts.is_empty()).then(|| format!("not verified: {}", parts.join(", ")))
    }

    /// The faults as diagnostics.
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
                    Some(span) => diagnostic.label(span, "this does not hold along the run"),
                    None => diagnostic,
                };
                diagnostic.help(
                    "a smaller `--rtol` or another `--method` may mend it; else it is a fault of lgm: please report it",
                )
            })
            .collect();
        let more = self.faults.len().saturating_sub(SHOWN);
        if more > 0
            && let Some(last) = list.pop()
        {
            list.push(last.note(format!("{more} more do not hold")));
        }
        list
    }
}

/// The largest difference between two values of one thing over a run, which is judged by the largest size that this comes to.
#[derive(Clone, Debug, Default)]
pub(super) struct Difference {
    beyond: f64,
    size: f64,
    fault: Option<Fault>,
}

impl Difference {
    /// Takes what a difference is beyond rounding, and the size of the values.
    pub(super) fn take(&mut self, beyond: f64, size: f64, fault: impl FnOnce() -> Fault) {
        self.size = self.size.max(size);
        if beyond > self.beyond || beyond.is_nan() && self.beyond != f64::INFINITY {
            self.beyond = if beyond.is_nan() { f64::INFINITY } else { beyond };
            self.fault = Some(fault());
        }
    }

    /// Reports what is not as small as the run allows.
    pub(super) fn judge(&mut self, report: &mut Report, plan: &Plan) {
        let is_wrong = self.beyond > plan.rtol.min(1e-6) * self.size;
        if let Some(fault) = self.fault.take().filter(|_| is_wrong) {
            report.fault(fault);
        }
    }
}

/// A state that is apart from the second integrator.
#[derive(Clone, Copy, Debug, Default)]
struct Apart {
    /// The difference beyond what was carried there, where that is largest; the difference itself, and the time.
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

    /// Compares with the sizes that the states have reached.
    pub(super) fn judge(&self, report: &mut Report, plan: &Plan, sizes: &[f64], steps: u64) {
        let in_interval = (1.0 + steps as f64 / report.intervals.max(1) as f64).min(MOST_STEPS);
        let sizes = not_vanishing(sizes);
        for (at, found) in self.found.iter().enumerate() {
            if sizes[at] == 0.0 {
                continue;
            }
            report.states = report.states.max(found.largest / sizes[at]);
            // What the user lets a state be off near zero counts; a default knows no scale that this does not see.
            let allowed = plan.rtol * sizes[at] + plan.atol.unwrap_or(0.0);
            if found.beyond > ALLOWED * in_interval * allowed {
                let (what, span) = self.names[at].clone();
                let words = format!(
                    "it moves to a value that is {} from what its rate adds up to since the row before, {:.1e} of its size",
                    six_digits(found.there),
                    found.beyond / sizes[at]
                );
                report.fault(Fault::new(what, span, found.time, words));
            }
        }
    }
}

/// A state that is smaller than this share of the largest one, in whatever units, is rounding of what stays zero: 1e-64 A of a current
/// that nothing drives has no digit that could be right.
const VANISHING: f64 = 1e-30;

/// The sizes of states, none of them smaller than what is rounding beside the largest.
pub(super) fn not_vanishing(sizes: &[f64]) -> Vec<f64> {
    let largest = sizes.iter().copied().fold(0.0, f64::max);
    sizes.iter().map(|size| size.max(VANISHING * largest)).collect()
}

/// So many tolerances a row may be off, for each step of the run in an interval.
pub(super) const ALLOWED: f64 = 50.0;

#[cfg(test)]
mod tests {
    use super::*;

    /// A difference by rounding before anything moves is judged by the size that the variable has later.
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
