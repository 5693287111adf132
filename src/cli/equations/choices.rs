//! `lgm equations --choices`

use super::arguments::{Arguments, Format};
use super::derive::no_such_form;
use crate::cli::files::disk::write_result;
use crate::cli::outcome::Outcome;
use crate::cli::report;
use crate::cli::request::StateArguments;
use lgm_algebra::expr::operations;
use lgm_emit::write_in_lines;
use lgm_equations::{Options, StateSystem};
use lgm_source::diagnostic::Diagnostic;
use serde_json::{Value, json};
use std::io::{self, Write};

/// The states for one choice of storage.
struct Choice {
    /// The element that keeps its state; none for the default choice.
    retained: Option<String>,
    /// The names of the states and the operations of the equations, or why the element cannot keep its state.
    found: Result<(Vec<String>, u64), String>,
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Outcome {
    if !matches!(arguments.format, Format::Text | Format::Json) {
        return no_such_form(
            "choices of states are available as text or JSON only",
            "use `--format text` or `json`",
        );
    }
    let compile = |states: &StateArguments| arguments.model.asked(states, Options::default());
    let compilation = value_or_return!(compile(&arguments.states));
    let diagnostics = compilation.diagnostics_of_model();
    report::print(compilation.map(), &diagnostics);
    let (Some(system), Some(causality), Outcome::Success) = (
        compilation.system(),
        compilation.causality(),
        report::outcome(&diagnostics),
    ) else {
        return report::outcome(&diagnostics);
    };
    let mut choices = vec![Choice {
        retained: None,
        found: Ok(summary(system)),
    }];
    for storage in causality.storage.iter().filter(|storage| !storage.is_integral) {
        let element = causality.ports[storage.port].element.clone();
        if choices.iter().any(|choice| choice.retained.as_ref() == Some(&element)) {
            continue;
        }
        let other = value_or_return!(compile(&arguments.states.retaining(&element)));
        let reason = other
            .diagnostics_of_model()
            .into_iter()
            .find(Diagnostic::is_error)
            .map(|fault| {
                let label = fault.labels.first().map(|label| label.message.clone());
                label.unwrap_or(fault.message)
            });
        let found = match (other.system(), reason) {
            (Some(system), None) => Ok(summary(system)),
            (_, reason) => Err(reason.unwrap_or_default()),
        };
        choices.push(Choice {
            retained: Some(element),
            found,
        });
    }
    let written = write_result(arguments.output.as_deref(), &mut |out| match arguments.format {
        Format::Json => write_in_lines(out, &as_json(system, &choices)),
        _ => write_text(&choices, out),
    });
    report::after_writing(compilation.map(), written)
}

/// Returns the names of the states, and the number of operations of their equations as printed.
fn summary(system: &StateSystem) -> (Vec<String>, u64) {
    let mut all: Vec<_> = system
        .read_assignments()
        .iter()
        .map(|assignment| assignment.value)
        .collect();
    all.extend((0..system.states.len()).map(|state| system.read_equation(state).right));
    let masses = system.equations.mass_form.iter().flat_map(|form| &form.equations);
    all.extend(masses.flat_map(|equation| equation.terms.iter().map(|term| term.1)));
    let count = all.iter().map(|id| operations(&system.exprs, *id)).sum();
    (
        system.states.iter().map(|state| state.name.to_string()).collect(),
        count,
    )
}

fn as_json(system: &StateSystem, choices: &[Choice]) -> Value {
    let one = |choice: &Choice| match &choice.found {
        Ok((states, operations)) => json!({"retain": choice.retained, "states": states, "operations": operations}),
        Err(reason) => json!({"retain": choice.retained, "refused": reason}),
    };
    let choices: Vec<Value> = choices.iter().map(one).collect();
    json!({"schema": "lgm-choices/1", "model": &*system.model, "choices": choices})
}

fn write_text(choices: &[Choice], out: &mut dyn Write) -> io::Result<()> {
    let own = choices[0].found.as_ref().map_or(&[][..], |found| &found.0);
    for choice in choices {
        match (&choice.retained, &choice.found) {
            (None, Ok((states, operations))) => {
                writeln!(
                    out,
                    "{} states: {}; {operations} operations",
                    states.len(),
                    states.join(", ")
                )?;
            }
            (Some(element), Ok((states, operations))) => {
                let missing = |these: &[String], those: &[String]| {
                    let list: Vec<&str> = these
                        .iter()
                        .filter(|name| !those.contains(name))
                        .map(String::as_str)
                        .collect();
                    if list.is_empty() {
                        "none".to_string()
                    } else {
                        list.join(", ")
                    }
                };
                let (gained, lost) = (missing(states, own), missing(own, states));
                writeln!(
                    out,
                    "--retain {element}: {} states: {gained} instead of {lost}; {operations} operations",
                    states.len()
                )?;
            }
            (element, Err(reason)) => {
                let element = element.as_deref().unwrap_or_default();
                writeln!(out, "--retain {element}: not possible: {reason}")?;
            }
        }
    }
    Ok(())
}
