//! The findings of verification and their messages.

use crate::verification::equation::{Equation, Flat, Judged, Verdict};
use lgm_model::Model;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use rustc_hash::{FxHashMap, FxHashSet};

/// The findings of verification.
#[derive(Clone, Debug, Default)]
pub struct Verification {
    /// The number of random points at which the equations were compared.
    pub points: usize,
    /// The number of points at which nothing could be compared, because the equations or the laws have no values there.
    pub without_values: usize,
    /// The number of equations of the flat graph checked at each point.
    pub equations: usize,
    /// The largest relative residual of an equation.
    pub residual: f64,
    /// The largest relative sum of the power over all ports.
    pub power: f64,
    /// Equations without any digits left after round-off at some point, and without enough digits to be judged at any point.
    pub unreadable: Vec<String>,
    /// Equations without a value at any tried point.
    pub without_value: Vec<String>,
    /// One error for each kind of failure.
    pub diagnostics: Vec<Diagnostic>,
    /// The number of points at which each equation was judged, if not at all points.
    judged: FxHashMap<Equation, u32>,
    /// The equations that had a value at some point, and those that had none at some point.
    with_value: FxHashSet<Equation>,
    at_times_without: FxHashSet<Equation>,
}

/// The maximum number of reported failures.
const SHOWN: usize = 10;

impl Verification {
    /// Records the findings at one point.
    pub(crate) fn take(&mut self, flat: &Flat<'_>, found: &[Judged]) {
        let is_power = |one: &&Judged| one.equation == Equation::Power;
        let is_counted = |one: &&Judged| !is_power(one) && one.verdict != Verdict::NoValue;
        self.equations = self.equations.max(found.iter().filter(is_counted).count());
        for one in found {
            let _ = match one.verdict {
                Verdict::NoValue => self.at_times_without.insert(one.equation),
                _ => self.with_value.insert(one.equation),
            };
            match one.verdict {
                Verdict::NoValue => continue,
                Verdict::Open => {
                    self.judged.entry(one.equation).or_insert(0);
                    continue;
                }
                Verdict::Holds => {
                    if let Some(count) = self.judged.get_mut(&one.equation) {
                        *count += 1;
                    }
                }
                Verdict::Fails if self.diagnostics.len() < SHOWN => self.diagnostics.push(failure(flat, one)),
                Verdict::Fails => {}
            }
            match one.equation {
                Equation::Power => self.power = self.power.max(one.residual),
                _ => self.residual = self.residual.max(one.residual),
            }
        }
    }

    /// Lists the equations that were judged at no point after one at which they could not be judged.
    pub(crate) fn say_what_is_open(&mut self, flat: &Flat<'_>) {
        let mut open: Vec<Equation> = self
            .judged
            .iter()
            .filter(|entry| *entry.1 == 0)
            .map(|entry| *entry.0)
            .collect();
        open.sort();
        self.unreadable = open.into_iter().map(|equation| flat.words(equation).0).collect();
        let mut nowhere: Vec<Equation> = self.at_times_without.difference(&self.with_value).copied().collect();
        nowhere.sort();
        self.without_value = nowhere.into_iter().map(|equation| flat.words(equation).0).collect();
    }

    /// Returns the messages for the user: the failures, or the checks made.
    pub fn into_diagnostics(self, model: &Model) -> Vec<Diagnostic> {
        if !self.diagnostics.is_empty() {
            return self.diagnostics;
        }
        if self.points == 0 {
            return vec![
                Diagnostic::warning(
                    Code::LGM0713,
                    format!("the equations of `{}` were not verified", model.heading.name),
                )
                .label(model.heading.span, "they have no values at any of the points tried")
                .note("a law has no value there, or no solution of an algebraic loop was found")
                .help("give states a `start` at which all laws have values; the other points are near it"),
            ];
        }
        let mut remarks = self.remarks(model);
        let mut holds = Diagnostic::information(
            Code::LGM0712,
            format!("verified: the equations of `{}` hold", model.heading.name),
        )
        .label(
            model.heading.span,
            format!(
                "all {} equations of its flat graph are satisfied at {} random point{}",
                self.equations,
                self.points,
                if self.points == 1 { "" } else { "s" }
            ),
        )
        .note(format!(
            "the largest residual is {} of the largest term; the power balance over all ports is off by {} of its \
             magnitude",
            brief(self.residual),
            brief(self.power)
        ));
        if self.without_values > 0 {
            holds = holds.note(format!(
                "{} further point{} could not be checked: a law has no value there, or no solution of an algebraic \
                 loop was found",
                self.without_values,
                if self.without_values == 1 { "" } else { "s" }
            ));
        }
        remarks.push(holds);
        remarks
    }

    /// Returns remarks on the unverified items.
    fn remarks(&self, model: &Model) -> Vec<Diagnostic> {
        let mut remarks = Vec::new();
        if !self.unreadable.is_empty() {
            let message = format!(
                "round-off leaves too few digits to verify all equations of `{}`",
                model.heading.name
            );
            let remark = Diagnostic::warning(Code::LGM0714, message)
                .label(
                    model.heading.span,
                    format!("not verified: {}", some_of(&self.unreadable)),
                )
                .note("they divide by a nearly vanishing value, or subtract nearly equal terms")
                .help(
                    "choose parameter values of similar magnitude, or give states a `start` away from the singular \
                    point",
                );
            remarks.push(remark);
        }
        if !self.without_value.is_empty() {
            let message = format!("some equations of `{}` were not verified", model.heading.name);
            let remark = Diagnostic::warning(Code::LGM0713, message)
                .label(
                    model.heading.span,
                    format!("no value at any point: {}", some_of(&self.without_value)),
                )
                .note("a law has no value at any of the points tried, such as the root of a negative number")
                .help("give states a `start` at which all laws have values; the other points are near it");
            remarks.push(remark);
        }
        remarks
    }
}

/// Returns the first names of a list, and the number of the others.
fn some_of(names: &[String]) -> String {
    let more = names.len().saturating_sub(SHOWN);
    let mut shown = names[..names.len() - more].join(", ");
    if more > 0 {
        shown.push_str(&format!(" and {more} more"));
    }
    shown
}

/// Reports one violated equation.
fn failure(flat: &Flat<'_>, one: &Judged) -> Diagnostic {
    let (text, span) = flat.words(one.equation);
    Diagnostic::error(Code::LGM0711, format!("the equations do not satisfy {text}"))
        .label(span, format!("off by {:.1e} of its largest term", one.residual))
        .note(format!("rounding explains at most {} of it", brief(one.rounding)))
        .help("this is a bug in lgm, not in the model: please report it with the model")
}

/// Formats a magnitude with two digits, and zero as `0`.
fn brief(size: f64) -> String {
    match size == 0.0 {
        true => "0".to_string(),
        false => format!("{size:.1e}"),
    }
}
