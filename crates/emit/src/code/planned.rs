//! What the templates of every target know: how large a model is, what it does, and how its run is planned.

use super::subject::{JUMP_PARTS, Parameter, Subject};
use super::template::values;

values! {
    /// How large a model is, and which of the things that need code of their own it does.
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

/// How large a model is, and what it does.
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
    /// How a run is planned, and what it is a run of.
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

/// How a run is planned, in the way that a language writes a double.
///
/// An absolute tolerance that the model does not have is `no_number`.
pub(crate) fn planned(subject: &Subject<'_>, literal: impl Fn(f64) -> String, no_number: &str) -> Planned {
    planned_within(subject, subject.tolerances(), literal, no_number)
}

/// The same with other tolerances, relative and absolute, than the model's.
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

/// What every number of a list is written as.
pub(crate) fn literals(numbers: &[f64], literal: impl Fn(f64) -> String) -> Vec<String> {
    numbers.iter().map(|number| literal(*number)).collect()
}

/// What every entry of a parameter is written as; what follows from others is `no_number` until it is computed.
pub(crate) fn entry_literals(parameter: &Parameter, literal: impl Fn(f64) -> String, no_number: &str) -> Vec<String> {
    let entries = parameter.entries.iter().map(|entry| match entry.derived {
        Some(_) => no_number.to_string(),
        None => literal(entry.value),
    });
    entries.collect()
}
