//! What all files of C know.

use super::dialect::{C, RULES};
use super::text::{comment, list};
use crate::code::dialect::Dialect;
use crate::code::names::legal;
use crate::code::planned::{Planned, planned_within};
use crate::code::subject::Subject;
use crate::code::template::values;
use lgm_kernels::LARGEST_TURN;
use lgm_runtime::loops::ROUNDINGS;

values! {
    pub(in crate::code) struct Common {
        ..planned: Planned;
        ..constants: Constants;
        title: String,
        origin: String,
        origin_markdown: String,
        description: String,
        model: String,
        name: String,
        guard: String,
        program: String,
        suffix: &'static str,
        real: &'static str,
        conditional: bool,
        events: bool,
        run_arguments: &'static str,
        run_sources: String,
        run_headers: String,
        start_given: String,
        state_kinds: String,
        state_scales: String,
        settled_unknowns: String,
        stored_unknowns: String,
        loop_small: String,
    }
}

values! {
    /// Numbers and functions of the kind of numbers.
    pub(in crate::code) struct Constants {
        zero: String,
        one: String,
        two: String,
        six: String,
        half: String,
        quarter: String,
        largest_turn: String,
        most_refined: String,
        epsilon: String,
        least: String,
        rounding: String,
        nearest: String,
        event_length: String,
        jump_in_proportion: String,
        jump_coarsest: String,
        jump_finest: String,
        jump_same: String,
        agreement: String,
        singular: String,
        loop_relative: String,
        loop_absolute: String,
        loop_nearly: String,
        loop_rounding: String,
        fabs: String,
        pow: String,
        ceil: String,
        floor: String,
        nextafter: String,
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
    let given = system
        .states
        .iter()
        .map(|state| i32::from(state.start_given).to_string());
    let kinds = subject.kinds().into_iter().map(|kind| kind.to_string());
    let settled = subject
        .settled_unknowns()
        .map(|is_settled| u8::from(is_settled).to_string());
    let stored = subject
        .stored_unknowns()
        .map(|is_stored| u8::from(is_stored).to_string());
    // Single precision has fewer powers of ten.
    let least = if c.float { 1e-18 } else { 0.0 };
    let scales = subject.scales().iter();
    let scales = scales.map(|scale| c.literal(if *scale < 0.0 { *scale } else { scale.max(least) }));
    let constants = constants(c);
    Common {
        planned: planned_within(subject, (rtol, atol), |value| c.literal(value), &c.literal(0.0)),
        title: format!("{}: state equations.", system.model),
        origin: comment(&subject.origin.sentence()),
        origin_markdown: subject.origin.sentence(),
        description: comment(&subject.description),
        model: comment(&system.model),
        guard: name.to_ascii_uppercase(),
        program: name.to_ascii_lowercase(),
        suffix: if c.float { "F" } else { "" },
        real: if c.float { "float" } else { "double" },
        conditional: !subject.jumping.is_empty(),
        events: subject.has_branches() || !subject.jumping.is_empty(),
        run_arguments: if subject.plan().1.is_some() { "" } else { "--stop 10 " },
        run_sources: run_files(subject, &name, "c"),
        run_headers: run_files(subject, &name, "h"),
        start_given: list(given, "0".to_string()),
        state_kinds: list(kinds, "0".to_string()),
        state_scales: list(scales, c.literal(1.0)),
        settled_unknowns: list(settled, "0".to_string()),
        stored_unknowns: list(stored, "0".to_string()),
        loop_small: match subject.jumps() {
            true => "model->small".to_string(),
            false => constants.loop_absolute.clone(),
        },
        constants,
        name,
    }
}

/// The files that runs need besides the model's own, of one ending.
fn run_files(subject: &Subject<'_>, name: &str, ending: &str) -> String {
    let parts = [
        ("rk4", true),
        ("dopri5", true),
        ("run", true),
        ("branch", subject.has_branches()),
        ("bends", !subject.bending.is_empty()),
        ("jump", subject.jumps()),
    ];
    let parts = parts.iter().filter(|part| part.1);
    let files: Vec<String> = parts.map(|(part, _)| format!("{name}_{part}.{ending}")).collect();
    files.join(" ")
}

fn constants(c: &C) -> Constants {
    // In single precision, and in double precision.
    let either = |float: f64, double: f64| c.literal(if c.float { float } else { double });
    Constants {
        zero: c.literal(0.0),
        one: c.literal(1.0),
        two: c.literal(2.0),
        six: c.literal(6.0),
        half: c.literal(0.5),
        quarter: c.literal(0.25),
        largest_turn: c.literal(LARGEST_TURN),
        most_refined: c.literal(64.0),
        epsilon: c.literal(c.epsilon()),
        least: either(f64::from(f32::MIN_POSITIVE), f64::MIN_POSITIVE),
        rounding: c.literal(64.0 * c.epsilon()),
        nearest: c.literal(c.nearest()),
        event_length: c.literal(1e-9),
        jump_in_proportion: either(1e-4, 1e-6),
        jump_coarsest: either(1e-5, 1e-11),
        jump_finest: either(2e-6, 1e-13),
        jump_same: either(100.0, 1e4),
        agreement: either(1e-4, 1e-9),
        singular: either(1e-6, 1e-14),
        loop_relative: either(1e-6, 1e-13),
        loop_absolute: either(1e-10, 1e-13),
        loop_nearly: either(8.0, 1e4),
        loop_rounding: either(ROUNDINGS * f64::from(f32::EPSILON), ROUNDINGS * f64::EPSILON),
        fabs: c.function("fabs"),
        pow: c.function("pow"),
        ceil: c.function("ceil"),
        floor: c.function("floor"),
        nextafter: c.function("nextafter"),
    }
}
