//! What all files of C know.

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
        description: String,
        model: String,
        name: String,
        guard: String,
        program: String,
        real: &'static str,
        changing: bool,
        several: bool,
        run_arguments: &'static str,
        rounding: String,
    }
}

/// What all files know.
pub(super) fn common(subject: &Subject<'_>, c: &C) -> Common {
    let system = subject.system;
    let name = legal(&system.model, RULES);
    let (rtol, atol) = subject.tolerances();
    let (rtol, atol) = match c.float {
        // Single precision has seven digits.
        true => (rtol.max(1e-5), atol.map(|atol| atol.max(1e-6))),
        false => (rtol, atol),
    };
    Common {
        planned: planned_within(subject, (rtol, atol), |value| c.literal(value), &c.literal(0.0)),
        title: format!("{}: state equations.", system.model),
        origin: comment(&subject.origin.sentence()),
        origin_markdown: subject.origin.sentence(),
        description: comment(&subject.description),
        model: comment(&system.model),
        guard: name.to_ascii_uppercase(),
        program: name.to_ascii_lowercase(),
        real: if c.float { "float" } else { "double" },
        changing: subject.held.is_some(),
        several: subject.held.as_ref().is_some_and(|held| held.combinations > 1),
        run_arguments: if subject.plan().1.is_some() { "" } else { "--stop 10 " },
        rounding: c.literal(64.0 * c.epsilon()),
        name,
    }
}
