//! Emitted code of a random model: its samples are those of the model, in every target.

use super::driven::Driven;
use super::model::Model;
use super::relations::{Broken, Case};
use super::run::{Fault, Rows, guarded};
use super::support::emitted;
use super::write::{Place, Writing, write};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The targets of the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    C,
    Rust,
    Python,
    /// Co-simulation by FMI 2.
    CoSimulation,
    /// Model exchange by FMI 3, with the solver of the tests' driver.
    ModelExchange,
}

impl Target {
    pub const ALL: [Target; 5] = [
        Target::C,
        Target::Rust,
        Target::Python,
        Target::CoSimulation,
        Target::ModelExchange,
    ];

    /// A short name, without spaces.
    pub fn word(self) -> String {
        format!("{self:?}").to_lowercase()
    }

    /// Returns true if its tools are available; prints a message if not.
    pub fn is_there(self) -> bool {
        let (program, arguments): (&str, &[&str]) = match self {
            Target::C | Target::CoSimulation | Target::ModelExchange => ("gcc", &["--version"]),
            Target::Rust => (env!("CARGO"), &["--version"]),
            Target::Python => ("python3", &["-c", "import numpy, scipy"]),
        };
        let found = Command::new(program).args(arguments).output();
        let is_there = found.is_ok_and(|output| output.status.success());
        if !is_there {
            eprintln!("skipped: no {program} for {}", self.word());
        }
        is_there
    }
}

/// The time limit of a program, in seconds.
const TIME: &str = "20";

/// The output of a program, within its time limit.
fn printed(program: &Path, arguments: &[String]) -> Result<String, Fault> {
    let output = Command::new("timeout").arg(TIME).arg(program).args(arguments).output();
    let output = output.map_err(|error| Fault::Failed(format!("{error}")))?;
    match output.status.code() {
        Some(0) => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        Some(124) => Err(Fault::Slow),
        _ => {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            let is_limit = said.contains("steps");
            Err(if is_limit {
                Fault::Slow
            } else {
                Fault::Failed(format!("exit: {said}"))
            })
        }
    }
}

fn rows(printed: &emitted::Rows) -> Rows {
    Rows {
        names: printed.names[1..].to_vec(),
        times: printed.values.iter().map(|row| row[0]).collect(),
        values: printed.values.iter().map(|row| row[1..].to_vec()).collect(),
        ..Rows::default()
    }
}

/// Runs a model's code.
fn run(case: &Case, text: &str, target: Target, targets: &Path) -> Result<Rows, Fault> {
    let scratch = tempfile::tempdir().map_err(|error| Fault::Failed(error.to_string()))?;
    let (file, folder) = (scratch.path().join("random.lgm"), scratch.path().join("code"));
    fs::write(&file, text).map_err(|error| Fault::Failed(error.to_string()))?;
    let settings = &case.settings;
    let mut arguments = vec!["--rtol".to_string(), format!("{:e}", settings.rtol)];
    let stop = ["--points".to_string(), settings.points.to_string()];
    arguments.extend(stop);
    let printed = match target {
        Target::C => {
            emitted::emit(&file, "c", &folder, &[]);
            printed(&emitted::compile(&folder, &["-O0"]), &arguments)?
        }
        Target::Rust => {
            emitted::emit(&file, "rust", &folder, &[]);
            emitted::must(&mut emitted::cargo(
                &folder.join("run"),
                targets,
                &["build", "--example", "simulate"],
            ));
            printed(&targets.join("debug/examples/simulate"), &arguments)?
        }
        Target::Python => {
            emitted::emit(&file, "python", &folder, &[]);
            let files = fs::read_dir(&folder).map_err(|error| Fault::Failed(error.to_string()))?;
            let mut files = files.filter_map(|entry| Some(entry.ok()?.path()));
            let module = files.find(|path| path.extension().is_some_and(|ending| ending == "py"));
            let module = module.ok_or_else(|| Fault::Failed("there is no module".into()))?;
            let options = ["rtol", "points"]
                .iter()
                .zip([arguments[1].clone(), arguments[3].clone()]);
            let options = options.map(|(name, value)| format!("{name}={value}"));
            let arguments: Vec<String> = std::iter::once(module.display().to_string()).chain(options).collect();
            printed(&PathBuf::from("python3"), &arguments)?
        }
        Target::CoSimulation => return unit(case, &file, &folder, "fmu2", "cs"),
        Target::ModelExchange => return unit(case, &file, &folder, "fmu3", "me"),
    };
    Ok(rows(&emitted::Rows::read(&printed)))
}

/// Runs a model's FMU.
fn unit(case: &Case, file: &Path, folder: &Path, target: &str, mode: &str) -> Result<Rows, Fault> {
    let driven = Driven::new(file, target, folder, &["-O0"]);
    let names: Vec<String> = case.model.outputs.iter().map(|output| output.name.clone()).collect();
    let like = emitted::Rows {
        names: names.clone(),
        values: case.times().iter().map(|time| vec![*time]).collect(),
    };
    let arguments = driven.arguments(mode, &like, &format!("{:e}", case.settings.rtol), &[]);
    let text = printed(&driven.program, &arguments)?;
    Ok(Rows {
        names,
        times: case.times(),
        values: text
            .lines()
            .map(|line| line.split(',').map(|field| field.parse().unwrap_or(f64::NAN)).collect())
            .collect(),
        ..Rows::default()
    })
}

/// The error of a model's code, if any.
pub fn check(case: &Case, target: Target, targets: &Path, seed: u64) -> Option<Broken> {
    let place = [Place::Input, Place::Signal, Place::Written][(seed % 3) as usize];
    let text = write_for(&case.model, place);
    let found = guarded(|| run(case, &text, target, targets));
    case.judge(found, &text)
}

fn write_for(model: &Model, place: Place) -> String {
    write(
        model,
        Writing {
            place,
            ..Writing::PLAIN
        },
    )
}
