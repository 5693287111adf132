//! `lgm watch`

use super::interrupt;
use super::report;
use super::request::ModelArguments;
use crate::cli::outcome::Outcome;
use lgm_session::check_request;
use lgm_source::SourceMap;
use lgm_source::diagnostic::Diagnostic;
use std::collections::BTreeSet;
use std::fs;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Time between two looks at the files.
const INTERVAL: Duration = Duration::from_millis(250);

/// Time between two looks at the interrupt.
const WAIT: Duration = Duration::from_millis(50);

/// Checks a model again whenever one of its files changes, until Ctrl-C.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  lgm watch examples/oscillator.lgm")]
pub(super) struct Arguments {
    #[command(flatten)]
    model: ModelArguments,
    /// Also compare the equations with the laws of the graph and the power balance at random values
    #[arg(long)]
    verify: bool,
}

/// A file of a model, with the time of its last change and its size; none if it does not exist.
type Stamp = (PathBuf, Option<(SystemTime, u64)>);

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Outcome {
    let Some(file) = arguments.model.path() else {
        eprintln!("error: `lgm watch` requires a file, not standard input");
        return Outcome::Misuse;
    };
    interrupt::listen();
    let folder = folder(file.parent().unwrap_or(Path::new("")));
    let mut files = BTreeSet::from([file.to_path_buf(), folder.clone()]);
    while !interrupt::is_asked_for() {
        let before = stamps(&files);
        let (map, diagnostics) = checked(arguments);
        files = files_of(&map);
        files.insert(file.to_path_buf());
        if report::outcome(&diagnostics) != Outcome::Success {
            // A missing file may appear.
            files.insert(folder.clone());
        }
        let seen = stamps(&files);
        print(file, &map, &diagnostics);
        // A change during the check counts.
        let is_stale = |(path, stamp): &Stamp| before.iter().any(|old| old.0 == *path && old.1 != *stamp);
        if !seen.iter().any(is_stale) {
            wait_for_change(&files, &seen);
        }
    }
    Outcome::Success
}

/// Waits until a file changes, or Ctrl-C is pressed.
fn wait_for_change(files: &BTreeSet<PathBuf>, seen: &[Stamp]) {
    let mut waited = Duration::ZERO;
    while !interrupt::is_asked_for() {
        std::thread::sleep(WAIT);
        waited += WAIT;
        if waited >= INTERVAL {
            waited = Duration::ZERO;
            if stamps(files) != seen {
                return;
            }
        }
    }
}

/// Returns the texts of a model, and its diagnostics.
fn checked(arguments: &Arguments) -> (SourceMap, Vec<Diagnostic>) {
    let compilation = arguments.model.compilation(SourceMap::default(), |settings, _| {
        check_request(settings, arguments.model.chooses_no_model(), arguments.verify)
    });
    match compilation {
        Err(failed) => failed,
        Ok(compilation) => {
            let diagnostics = compilation.diagnostics();
            (compilation.into_map(), diagnostics)
        }
    }
}

fn print(file: &Path, map: &SourceMap, diagnostics: &[Diagnostic]) {
    let mut stream = std::io::stderr();
    if stream.is_terminal() {
        let _ = write!(stream, "\x1b[2J\x1b[H");
    }
    report::print_in_full(map, diagnostics);
    let faults = match diagnostics.len() {
        0 => "no faults found".to_string(),
        1 => "1 message".to_string(),
        count => format!("{count} messages"),
    };
    let _ = writeln!(
        stream,
        "{}: {faults}; waiting for changes (Ctrl-C ends)",
        file.display()
    );
}

/// Returns the paths of all texts that were read from files.
fn files_of(map: &SourceMap) -> BTreeSet<PathBuf> {
    map.iter().filter_map(|(_, source)| source.path.clone()).collect()
}

/// Returns a folder; the current one for an empty path.
fn folder(path: &Path) -> PathBuf {
    match path.as_os_str().is_empty() {
        true => PathBuf::from("."),
        false => path.to_path_buf(),
    }
}

fn stamps(files: &BTreeSet<PathBuf>) -> Vec<Stamp> {
    let stamp = |path: &PathBuf| {
        let found = fs::metadata(path).ok()?;
        Some((found.modified().ok()?, found.len()))
    };
    files.iter().map(|path| (path.clone(), stamp(path))).collect()
}
