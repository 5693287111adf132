//! Values shared by the templates of every target: the size of a model, its features, and the plan of a run.

use super::subject::{JUMP_PARTS, Parameter, Subject};
use super::template::values;

values! {
    /// The size of a model, and the features that need separate code.
    pub(crate) struct Sizes {
        states: usize,
        inputs: usize,
        outputs: usize,
        parameters: usize,
        unknowns: usize,
        asides: usize,
        loops: bool,
        linear: bool,
        branches: bool,
        totals: bool,
        bends: bool,
        moves: bool,
        jumps: bool,
        jump_parts: String,
    }
}

/// Returns the size of a model, and its features.
pub(crate) fn sizes(subject: &Subject<'_>) -> Sizes {
    Sizes {
        states: subject.states.len(),
        inputs: subject.inputs.len(),
        outputs: subject.outputs.len(),
        parameters: subject.entries().count(),
        unknowns: subject.unknowns(),
        asides: subject.asides(),
        loops: subject.unknowns() > 0,
        linear: subject.system.equations.linear,
        branches: subject.has_branches(),
        totals: subject.has_totals(),
        bends: !subject.bending.is_empty(),
        moves: subject.moves,
        jumps: subject.jumps(),
        jump_parts: JUMP_PARTS.to_string(),
    }
}

values! {
    /// The plan of a run, and the model that is run.
    pub(crate) struct Planned {
        ..sizes: Sizes;
        plan_start: String,
        plan_stop: String,
        plan_stop_or_nan: String,
        has_stop: bool,
        plan_points: usize,
        plan_rtol: String,
        plan_atol: String,
    }
}

/// Returns the plan of a run, with doubles in the notation of a language.
///
/// If the model has no absolute tolerance, its text is `no_number`.
pub(crate) fn planned(subject: &Subject<'_>, literal: impl Fn(f64) -> String, no_number: &str) -> Planned {
    planned_within(subject, subject.tolerances(), literal, no_number)
}

/// Returns the same plan with different relative and absolute tolerances.
pub(crate) fn planned_within(
    subject: &Subject<'_>,
    (rtol, atol): (f64, Option<f64>),
    literal: impl Fn(f64) -> String,
    no_number: &str,
) -> Planned {
    let (start, stop, points) = subject.plan();
    Planned {
        sizes: sizes(subject),
        plan_start: literal(start),
        plan_stop: literal(stop.unwrap_or(start)),
        plan_stop_or_nan: literal(stop.unwrap_or(f64::NAN)),
        has_stop: stop.is_some(),
        plan_points: points,
        plan_rtol: literal(rtol),
        plan_atol: atol.map_or(no_number.to_string(), literal),
    }
}

/// Prints every number of a list in the notation of a language.
pub(crate) fn literals(numbers: &[f64], literal: impl Fn(f64) -> String) -> Vec<String> {
    numbers.iter().map(|number| literal(*number)).collect()
}

/// Prints every entry of a parameter in the notation of a language; computed entries are `no_number` until they are computed.
pub(crate) fn entry_literals(parameter: &Parameter, literal: impl Fn(f64) -> String, no_number: &str) -> Vec<String> {
    let entries = parameter.entries.iter().map(|entry| match entry.derived {
        Some(_) => no_number.to_string(),
        None => literal(entry.value),
    });
    entries.collect()
}
