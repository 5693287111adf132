//! `lgm import`

use super::files::disk::write_result;
use super::report;
use crate::cli::outcome::Outcome;
use lgm_import;
use lgm_source::SourceMap;
use std::path::PathBuf;

/// Turns a model in another notation into a `.lgm` model.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  lgm import lg2ss --graph \"[1 2 1 4; 2 2 3 3; 3 3 1 1]\" --outputs \"[1 3 1]\"")]
pub(super) struct Arguments {
    #[command(subcommand)]
    notation: Notation,
}

#[derive(Debug, clap::Subcommand)]
enum Notation {
    Lg2ss(Lg2ss),
}

/// From the two matrices of LG2ss.
#[derive(Debug, clap::Args)]
struct Lg2ss {
    /// The branches, one per row
    #[arg(long, value_name = "MATRIX", allow_hyphen_values = true)]
    graph: String,
    /// The outputs, one per row
    #[arg(long, value_name = "MATRIX", allow_hyphen_values = true)]
    outputs: String,
    /// The name of the model
    #[arg(long, value_name = "NAME", default_value = "Imported")]
    name: String,
    /// Write to this file instead of standard output
    #[arg(short, long = "output", value_name = "OUT")]
    out: Option<PathBuf>,
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Outcome {
    let Notation::Lg2ss(given) = &arguments.notation;
    let mut map = SourceMap::default();
    let graph = map.add("--graph", given.graph.as_str(), None);
    let outputs = map.add("--outputs", given.outputs.as_str(), None);
    let (text, diagnostics) = lgm_import::lg2ss(&map, graph, outputs, &given.name);
    report::print(&map, &diagnostics);
    let outcome = report::outcome(&diagnostics);
    let (Some(text), Outcome::Success) = (text, outcome) else {
        return outcome;
    };
    let written = write_result(given.out.as_deref(), &mut |stream| stream.write_all(text.as_bytes()));
    report::after_writing(&map, written)
}
