//! How time and memory grow with the size of a model: `cargo bench --bench scale`.
//!
//! Each measurement is a process of its own, `lgm check` or `lgm equations --numeric --sparse --format json` on a model
//! written to a temporary folder; processor time is counted, not time on the wall, and the peak of resident memory.
//!
//! ```text
//! cargo bench --bench scale -- [--max N] [--only a,b] [--repeat K] [--stages N] [--symbolic] [--write]
//! ```
//!
//! `--max` limits the size (1,000,000 unless given), `--only` chooses families, `--repeat` is how often each is run at
//! most, `--symbolic` compares symbolic equations with the check of the same text instead, also with a parameter for every
//! element, `--stages` takes one compilation of the ladder of that size apart instead, and `--write` puts the figures into
//! `docs/scale.md` and the plot into `docs/scale.svg`.

mod measure;
mod models;
mod plot;
mod report;
mod stages;
mod symbolic;

use measure::Run;
use models::{FAMILIES, Family};
use std::path::Path;

/// The measured sizes.
const SIZES: [usize; 5] = [100, 1_000, 10_000, 100_000, 1_000_000];

/// Repetitions stop after this total time in seconds.
const ENOUGH: f64 = 4.0;

/// The runs of one command on one model.
pub struct Point {
    family: &'static Family,
    size: usize,
    command: Command,
    runs: Vec<Run>,
}

/// The measured command.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// `lgm check`.
    Check,
    /// `lgm equations --format json`.
    Equations,
}

impl Command {
    const ALL: [Command; 2] = [Command::Check, Command::Equations];

    fn name(self) -> &'static str {
        match self {
            Command::Check => "check",
            Command::Equations => "equations",
        }
    }

    fn run(self, file: &str) -> Result<Run, String> {
        match self {
            Command::Check => measure::lgm(&["check", file]),
            Command::Equations => measure::lgm(&["equations", "--numeric", "--sparse", "--format", "json", file]),
        }
    }
}

impl Point {
    /// The minimum and the median time; on a busy machine the minimum is the most reliable.
    fn seconds(&self) -> (f64, f64) {
        let mut times: Vec<f64> = self.runs.iter().map(|run| run.seconds).collect();
        times.sort_by(f64::total_cmp);
        (times[0], times[times.len() / 2])
    }

    /// The memory peak of a run, in bytes.
    fn peak(&self) -> f64 {
        self.runs.iter().map(|run| run.peak).max().unwrap_or(0) as f64
    }
}

/// The parsed arguments.
struct Options {
    max: usize,
    only: Option<Vec<String>>,
    repeat: usize,
    stages: Option<usize>,
    symbolic: bool,
    write: bool,
}

fn options() -> Result<Options, String> {
    let mut options = Options {
        max: 1_000_000,
        only: None,
        repeat: 5,
        stages: None,
        symbolic: false,
        write: false,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("`{argument}` needs a value"));
        let number = |text: String| {
            text.replace('_', "")
                .parse()
                .map_err(|_| format!("`{text}` is not a number"))
        };
        match argument.as_str() {
            "--max" => options.max = number(value()?)?,
            "--only" => options.only = Some(value()?.split(',').map(str::to_string).collect()),
            "--repeat" => options.repeat = number(value()?)?.max(1),
            "--stages" => options.stages = Some(number(value()?)?),
            "--symbolic" => options.symbolic = true,
            "--write" => options.write = true,
            // An argument that cargo adds.
            "--bench" => {}
            other => {
                return Err(format!(
                    "`{other}` is not known; see the first lines of benches/scale/main.rs"
                ));
            }
        }
    }
    Ok(options)
}

fn main() -> Result<(), String> {
    let options = options()?;
    if let Some(size) = options.stages {
        let (bytes, list) = stages::stages((FAMILIES[0].text)(size));
        print!("{}", report::stages(size, bytes, &list));
        return Ok(());
    }
    let folder = tempfile::tempdir().map_err(|fault| fault.to_string())?;
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    if options.symbolic {
        let tables = symbolic::measure(folder.path(), options.max, options.repeat)?;
        print!("{tables}");
        return match options.write {
            true => report::write_between(&docs.join("scale.md"), report::SYMBOLIC, &tables),
            false => Ok(()),
        };
    }
    let mut points = Vec::new();
    for family in &FAMILIES {
        if options
            .only
            .as_ref()
            .is_some_and(|only| !only.iter().any(|key| key == family.key))
        {
            continue;
        }
        for size in SIZES {
            if size > options.max.min(family.largest) {
                continue;
            }
            let file = folder.path().join("model.lgm");
            std::fs::write(&file, (family.text)(size)).map_err(|fault| fault.to_string())?;
            for command in Command::ALL {
                // A failure does not discard earlier measurements.
                match measure(family, size, command, &file, options.repeat) {
                    Ok(point) => {
                        println!("{}", report::line(&point));
                        points.push(point);
                    }
                    Err(fault) => eprintln!("{fault}"),
                }
            }
        }
    }
    print!("\n{}", report::exponents(&points));
    if options.write {
        report::write(&docs.join("scale.md"), &points)?;
        std::fs::write(docs.join("scale.svg"), plot::svg(&points)).map_err(|fault| fault.to_string())?;
    }
    Ok(())
}

fn measure(
    family: &'static Family,
    size: usize,
    command: Command,
    file: &Path,
    repeat: usize,
) -> Result<Point, String> {
    let file = file.to_str().ok_or("the temporary folder has no plain name")?;
    let mut runs: Vec<Run> = Vec::new();
    while runs.len() < repeat && (runs.len() < 2 || runs.iter().map(|run| run.seconds).sum::<f64>() < ENOUGH) {
        runs.push(command.run(file)?);
        if runs[0].seconds > ENOUGH {
            break;
        }
    }
    Ok(Point {
        family,
        size,
        command,
        runs,
    })
}
