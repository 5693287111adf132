//! `lgm check`

use super::disk::write_result;
use super::request::ModelArguments;
use super::{Outcome, report};
use crate::elaborate::Counts;
use clap::ValueEnum;
use std::io::{self, Write};

/// Says what is wrong with a model.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  lgm check --verify examples/oscillator.lgm")]
pub(super) struct Arguments {
    #[command(flatten)]
    model: ModelArguments,
    /// Also compare the equations with the laws of the graph at random values, and the power balance
    #[arg(long)]
    verify: bool,
    /// Also print how many branches, nodes, elements and equations there are: in scalars, in vectors, and as written
    #[arg(long, conflicts_with = "format")]
    stats: bool,
    /// `text` goes to standard error, `json` to standard output
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    Text,
    Json,
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Outcome {
    let (map, diagnostics) = arguments.model.check(arguments.verify);
    let outcome = report::outcome(&diagnostics);
    match arguments.format {
        Format::Text if diagnostics.is_empty() => report::say_without_faults(),
        Format::Text => report::print(&map, &diagnostics),
        Format::Json => {
            let value = report::as_json(&map, &diagnostics);
            let written = write_result(None, &mut |out| {
                serde_json::to_writer_pretty(&mut *out, &value)?;
                out.write_all(b"\n")
            });
            let writing = report::after_writing(&map, written);
            if writing != Outcome::Success {
                return writing;
            }
        }
    }
    if arguments.stats
        && outcome == Outcome::Success
        && let Some(counts) = arguments.model.counts()
    {
        let written = write_result(None, &mut |out| write_counts(&counts, out));
        return report::after_writing(&map, written);
    }
    outcome
}

fn write_counts(counts: &Counts, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "{:<12}{:>9}{:>7}{:>10}{:>14}{:>7}{:>7}{:>7}",
        "", "branches", "nodes", "elements", "constitutive", "loop", "node", "total"
    )?;
    for (name, count) in [
        ("scalar", counts.scalar),
        ("vector", counts.vector),
        ("as written", counts.written),
    ] {
        writeln!(
            out,
            "{name:<12}{:>9}{:>7}{:>10}{:>14}{:>7}{:>7}{:>7}",
            count.branches,
            count.nodes,
            count.elements,
            count.constitutive,
            count.loops(),
            count.cuts(),
            count.equations()
        )?;
    }
    Ok(())
}
