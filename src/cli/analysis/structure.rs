//! `lgm structure`

use super::shared::{Format, LinearModel, write_json};
use crate::cli::files::disk::write_result;
use crate::cli::outcome::Outcome;
use crate::cli::report;
use lgm_analysis::{Structure, structure};
use lgm_emit::significant;
use lgm_equations::StateSystem;
use lgm_session::analysis::rows_json;
use serde_json::{Value, json};
use std::io::{self, Write};

/// Prints controllability, observability, the order of a minimal realisation, and Gramians.
///
/// Ranks are exact for the values of the parameters. JSON contains the Gramians in the order of the states; they are
/// null if the system is unstable.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lgm structure examples/quarter_car.lgm
  lgm structure examples/oscillator.lgm --format json")]
pub(in crate::cli) struct Arguments {
    #[command(flatten)]
    model: LinearModel,
    /// The output format
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

/// Runs the command.
pub(in crate::cli) fn run(arguments: &Arguments) -> Outcome {
    let asked = arguments.model.ask(true, |system, diagnostics| {
        let found = structure(system);
        found.map_err(|fault| diagnostics.push(*fault)).ok()
    });
    let (map, system, found) = value_or_return!(asked);
    let written = write_result(None, &mut |out| match arguments.format {
        Format::Json => write_json(&as_json(&system, &found), out),
        Format::Text => write_text(&system, &found, out),
    });
    report::after_writing(&map, written)
}

fn names(system: &StateSystem, places: &[usize]) -> Vec<String> {
    places.iter().map(|at| system.states[*at].name.to_string()).collect()
}

fn as_json(system: &StateSystem, found: &Structure) -> Value {
    let all: Vec<usize> = (0..system.states.len()).collect();
    json!({
        "schema": "lgm-structure/1",
        "order": system.states.len(),
        "states": names(system, &all),
        "controllable": found.controllable,
        "observable": found.observable,
        "minimal_order": found.minimal_order,
        "uncontrollable": names(system, &found.uncontrollable),
        "unobservable": names(system, &found.unobservable),
        "gramians": {
            "controllability": found.controllability_gramian.as_ref().map(rows_json),
            "observability": found.observability_gramian.as_ref().map(rows_json),
        },
    })
}

fn write_text(system: &StateSystem, found: &Structure, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "states: {}", system.states.len())?;
    writeln!(out, "controllable: {}", found.controllable)?;
    writeln!(out, "observable: {}", found.observable)?;
    writeln!(out, "minimal order: {}", found.minimal_order)?;
    let lists = [
        ("no input affects the motion of", &found.uncontrollable),
        ("no output depends on the motion of", &found.unobservable),
    ];
    for (text, list) in lists {
        if !list.is_empty() {
            writeln!(out, "{text}: {}", names(system, list).join(", "))?;
        }
    }
    if let (Some(reach), Some(show)) = (&found.controllability_gramian, &found.observability_gramian) {
        writeln!(out, "diagonals of the Gramians (controllability, observability):")?;
        for (at, state) in system.states.iter().enumerate() {
            let (reach, show) = (significant(reach[(at, at)], 6), significant(show[(at, at)], 6));
            writeln!(out, "  {}: {reach}, {show}", state.name)?;
        }
    }
    Ok(())
}
