//! `lgm lsp`

use super::Outcome;

/// Serves an editor: the Language Server Protocol over standard input and output.
#[derive(Debug, clap::Args)]
#[command(after_help = "An editor starts this; docs/editor.md says how it is told to.\n\n\
    Example:\n  lgm lsp")]
pub(super) struct Arguments {
    /// What is done in any case; many editors say it
    #[arg(long)]
    stdio: bool,
}

/// Runs the command.
pub(super) fn run(_arguments: &Arguments) -> Outcome {
    match lgm_lsp::run() {
        Ok(()) => Outcome::Success,
        Err(error) => {
            eprintln!("error: {error}");
            Outcome::Failure
        }
    }
}
