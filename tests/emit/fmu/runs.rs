//! Every example in both modes; saved states, and directional derivatives.

use super::description::Description;
use super::driven::{Driven, SANITIZED, has_compiler};
use super::support::cases::is_campaign;
use super::support::emitted::{TIGHT, agree, examples, for_each, must, simulated, stop};
use super::support::program::example;
use std::path::PathBuf;
use std::process::Command;

#[test]
fn every_example_runs_as_an_fmu_in_both_modes() {
    if !has_compiler() {
        return;
    }
    // Both versions are thin layers over the same files: a quarter of the examples runs in each, half of them in a campaign, and all of
    // them in the FMPy script.
    let share = if is_campaign() { 1 } else { 2 };
    let all: Vec<PathBuf> = examples().into_iter().step_by(share).collect();
    for_each(&all, |file| {
        let scratch = tempfile::tempdir().unwrap();
        let at = all.iter().position(|other| other == file).unwrap();
        let target = ["fmu3", "fmu2"][at % 2];
        let driven = Driven::new(file, target, &scratch.path().join("fmu"), &["-O0"]);
        let stop = stop(file);
        let expected = simulated(file, &stop);
        for mode in ["cs", "me"] {
            let rows = driven.rows(mode, &expected, TIGHT[1], &[]);
            agree(file, &stop, &expected, &rows, 1e-9).map_err(|fault| format!("{target} {mode}: {fault}"))?;
        }
        Ok(())
    });
}

/// Models that cover events and memory: steps, states that step with inputs, jumps triggered by states, loops, vectors.
const SELECTED: [&str; 6] = [
    "speed_loop.lgm",
    "rigid_gears.lgm",
    "motor_drive.lgm",
    "four_bar.lgm",
    "diode_rectifier.lgm",
    "pendulum.lgm",
];

#[test]
fn states_are_kept_and_derivatives_exact_under_sanitizers() {
    if !has_compiler() {
        return;
    }
    let files: Vec<PathBuf> = SELECTED.iter().map(|name| example(name)).collect();
    for_each(&files, |file| {
        // Each version runs half of these models, and all of them in a campaign.
        let at = files.iter().position(|other| other == file).unwrap();
        let targets = if is_campaign() {
            &["fmu2", "fmu3"][..]
        } else {
            &[["fmu2", "fmu3"][at % 2]]
        };
        for target in targets {
            let scratch = tempfile::tempdir().unwrap();
            let driven = Driven::new(file, target, &scratch.path().join("fmu"), &SANITIZED);
            let further = [&stop(file)[..], &["--points".into(), "21".into()]].concat();
            let expected = simulated(file, &further);
            for mode in ["cs", "me"] {
                let rows = driven.rows(mode, &expected, TIGHT[1], &[]);
                agree(file, &further, &expected, &rows, 1e-9).map_err(|fault| format!("{target} {mode}: {fault}"))?;
            }
            driven.rows("state", &expected, "1e-6", &[]);
            let pairs = dependent_pairs(&driven.description);
            let mut command = Command::new(&driven.program);
            command.args(["directional", "0", "1", "2", "1e-6", "--"]).args(&pairs);
            let worst: f64 = must(&mut command).trim().parse().unwrap();
            if worst > 1.0 {
                return Err(format!(
                    "{target}: directional derivatives are wrong by {worst} of what is allowed"
                ));
            }
        }
        Ok(())
    });
}

/// References of all unknowns, each with its structural dependencies among the knowns.
fn dependent_pairs(description: &Description) -> Vec<String> {
    let variables = description.variables();
    let reference = |place: usize| match description.is_three {
        true => place,
        false => variables[place - 1].number("valueReference").unwrap(),
    };
    let mut pairs = Vec::new();
    for unknown in &description.all {
        let key = if description.is_three {
            "valueReference"
        } else {
            "index"
        };
        if unknown.get("dependencies").is_some() {
            let own = reference(unknown.number(key).unwrap());
            for known in unknown.numbers("dependencies") {
                pairs.extend([own.to_string(), reference(known).to_string()]);
            }
        }
    }
    assert!(pairs.len() >= 4);
    pairs
}
