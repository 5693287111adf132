//! Values shared by all C templates.

use super::dialect::{C, RULES};
use super::text::comment;
use crate::code::dialect::Dialect;
use crate::code::names::legal;
use crate::code::planned::{Planned, planned_within};
use crate::code::subject::Subject;
use crate::code::template::values;

values! {
    pub(in crate::code) struct Common {
        ..planned: Planned;
        title: String,
        origin: String,
        origin_markdown: String,
        model: String,
        name: String,
        program: String,
        changing: bool,
        several: bool,
        run_arguments: &'static str,
        rounding: String,
    }
}

impl Common {
    /// True if a run begins at 0 s.
    pub(super) fn plans_from_zero(&self) -> bool {
        self.planned.plan_start.trim_end_matches('F') == "0.0"
    }
}

/// Returns the values shared by all templates.
pub(super) fn common(subject: &Subject<'_>, c: &C<'_>) -> Common {
    let system = subject.system;
    let name = legal(&system.model, RULES);
    let (rtol, atol) = subject.tolerances();
    let (rtol, atol) = match c.float {
        // Single precision has seven digits.
        true => (rtol.max(1e-5), atol.map(|atol| atol.max(1e-6))),
        false => (rtol, atol),
    };
    let title = match subject.description.as_str() {
        "" => format!("{}: state equations.", system.model),
        text => format!("{}: {text}", system.model),
    };
    Common {
        planned: planned_within(subject, (rtol, atol), |value| c.literal(value), &c.literal(0.0)),
        title: comment(&title),
        origin: comment(&subject.origin.sentence()),
        origin_markdown: subject.origin.sentence(),
        model: comment(&system.model),
        program: name.to_ascii_lowercase(),
        changing: subject.held.is_some(),
        several: subject.held.as_ref().is_some_and(|held| held.combinations > 1),
        run_arguments: if subject.plan().1.is_some() { "" } else { "--stop 10 " },
        rounding: c.literal(64.0 * c.epsilon()),
        name,
    }
}
