//! `lgm fmt`

use super::files::disk::{read_root, write_result};
use super::report;
use crate::cli::outcome::Outcome;
use lgm_source::SourceMap;
use lgm_syntax;
use std::path::{Path, PathBuf};

/// Formats models in the standard layout.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "A file with syntax errors is left unchanged, and its errors are shown.\n\n\
    Examples:\n  lgm fmt examples/oscillator.lgm\n  lgm fmt --check examples/*.lgm\n  lgm fmt - < examples/line.lgm"
)]
pub(super) struct Arguments {
    /// Models; `-` reads standard input and writes standard output
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Change nothing; print the names of files that would change, and exit with 1 if any would
    #[arg(long)]
    check: bool,
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Outcome {
    let outcomes: Vec<Outcome> = arguments
        .files
        .iter()
        .map(|file| format(file, arguments.check))
        .collect();
    // The worst outcome takes precedence: misuse, then failure, then success.
    let worst_first = [Outcome::Misuse, Outcome::Failure, Outcome::Interrupted];
    let worst = worst_first.into_iter().find(|kind| outcomes.contains(kind));
    worst.unwrap_or(Outcome::Success)
}

fn format(file: &Path, check: bool) -> Outcome {
    let mut map = SourceMap::default();
    let source = match read_root(file, &mut map) {
        Ok(source) => source,
        Err(diagnostic) => {
            report::print(&map, std::slice::from_ref(&diagnostic));
            return report::outcome(&[diagnostic]);
        }
    };
    let text = &map.get(source).text;
    let formatted = match lgm_syntax::format(source, text) {
        Ok(formatted) => formatted,
        Err(diagnostics) => {
            report::print(&map, &diagnostics);
            return report::outcome(&diagnostics);
        }
    };
    let changes = formatted != **text;
    let is_stream = file == Path::new("-");
    let written = match (check, changes) {
        (true, true) => {
            let name = format!("{}\n", map.get(source).name);
            let written = write_result(None, &mut |out| out.write_all(name.as_bytes()));
            return match report::after_writing(&map, written) {
                Outcome::Success => Outcome::Failure,
                outcome => outcome,
            };
        }
        (false, _) if is_stream => write_result(None, &mut |out| out.write_all(formatted.as_bytes())),
        (false, true) => write_result(Some(file), &mut |out| out.write_all(formatted.as_bytes())),
        (_, false) => Ok(()),
    };
    report::after_writing(&map, written)
}
