//! `lgm lsp`

use crate::cli::outcome::Outcome;
use crate::cli::simulate;

/// Serves an editor: the Language Server Protocol over standard input and output.
#[derive(Debug, clap::Args)]
#[command(after_help = "Editors start this command; docs/editor.md explains the setup.\n\n\
    Example:\n  lgm lsp --stdio")]
pub(in crate::cli) struct Arguments {
    /// Use standard input and output; the default, accepted because many editors pass it
    #[arg(long)]
    stdio: bool,
}

/// Runs the command.
pub(in crate::cli) fn run(_arguments: &Arguments) -> Outcome {
    match lgm_lsp::run(simulate::picture) {
        Ok(()) => Outcome::Success,
        Err(error) => {
            eprintln!("error: {error}");
            Outcome::Failure
        }
    }
}
