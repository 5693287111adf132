//! `lgm completions`

use crate::cli::files::disk::write_result;
use crate::cli::outcome::Outcome;
use crate::cli::report;
use clap::Command;
use clap_complete::Shell;
use lgm_source::SourceMap;

/// Prints a shell completion script.
#[derive(Debug, clap::Args)]
#[command(after_help = "Bash and zsh read the script at start-up, fish on demand.\n\n\
    Examples:\n  lgm completions bash > ~/.local/share/bash-completion/completions/lgm\n  \
    lgm completions zsh > ~/.zfunc/_lgm       (with `fpath+=~/.zfunc` before `compinit` in ~/.zshrc)\n  \
    lgm completions fish > ~/.config/fish/completions/lgm.fish")]
pub(in crate::cli) struct Arguments {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// Runs the command; `all` is the complete command-line definition.
pub(in crate::cli) fn run(arguments: &Arguments, mut all: Command) -> Outcome {
    // Write to memory first, because the library panics if a stream returns an error.
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut all, "lgm", &mut script);
    let written = write_result(None, &mut |stream| stream.write_all(&script));
    report::after_writing(&SourceMap::default(), written)
}
