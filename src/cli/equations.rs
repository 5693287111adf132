//! `lgm equations`

use super::disk::write_result;
use super::report;
use super::request::{LinearizeArguments, ModelArguments, StateArguments};
use crate::cli::outcome::Outcome;
use clap::ValueEnum;
use lgm_emit::{self, MatrixOptions, TextOptions};
use lgm_equations::{Options, with_numbers};
use std::io::IsTerminal;
use std::path::PathBuf;

/// Prints the state equations of a model.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lgm equations examples/oscillator.lgm --set m=3 --numeric --format json
  lgm equations examples/seeds/bar_modal.lgm --blocks
  lgm equations examples/oscillator.lgm --format html -o oscillator.html
  lgm equations examples/pendulum.lgm --at \"theta=pi, joint.w=0\"
  lgm equations examples/seeds/two_link_manipulator.lgm --equilibrium --at \"theta[1]=-1, theta[2]=-1\"")]
pub(super) struct Arguments {
    #[command(flatten)]
    model: ModelArguments,
    #[command(flatten)]
    states: StateArguments,
    #[command(flatten)]
    linearize: LinearizeArguments,
    /// Matrices in numbers instead of symbols; equations in numbers where there are no matrices
    #[arg(long)]
    numeric: bool,
    /// Only the nonzero entries of matrices; always so beyond 500 states
    #[arg(long)]
    sparse: bool,
    /// Vectors of states and the matrices between them in place of single equations: `der(bar.v) = [bar.mass]^-1*(..)`; the states
    /// are power variables
    #[arg(long, conflicts_with_all = ["states", "linearize", "at", "equilibrium"])]
    blocks: bool,
    /// How to print them
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    Text,
    Latex,
    /// A page with MathML
    Html,
    Json,
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Outcome {
    let wanted = Options {
        symbolic: !arguments.numeric,
        numeric: arguments.numeric,
        blocks: arguments.blocks,
        ..Options::default()
    };
    let compiled = arguments
        .model
        .compiled(&arguments.states, &arguments.linearize, wanted);
    let (map, system) = match compiled {
        Ok(compiled) => compiled,
        Err(outcome) => return outcome,
    };
    let system = match arguments.numeric && !system.linear {
        true => with_numbers(&system),
        false => system,
    };
    let matrices = MatrixOptions {
        numeric: arguments.numeric,
        sparse: arguments.sparse,
        blocks: arguments.blocks,
    };
    let out = arguments.output.as_deref();
    let written = write_result(out, &mut |stream| match arguments.format {
        Format::Json => lgm_emit::json(&system, matrices, stream),
        Format::Latex => stream.write_all(lgm_emit::latex(&system, matrices).as_bytes()),
        Format::Html => stream.write_all(lgm_emit::html(&system, matrices).as_bytes()),
        Format::Text => {
            let options = layout(matrices, out.is_some());
            stream.write_all(lgm_emit::text(&system, &options).as_bytes())
        }
    });
    // The process ends here: to give a large system's memory back piece by piece would take longer than to print it.
    std::mem::forget(system);
    report::after_writing(&map, written)
}

/// As wide as the terminal, with the brackets that it has; a file gets the best there is.
fn layout(matrices: MatrixOptions, to_a_file: bool) -> TextOptions {
    let mut options = TextOptions {
        matrices,
        ..TextOptions::default()
    };
    if !to_a_file && std::io::stdout().is_terminal() {
        if let Some((width, _)) = terminal_size::terminal_size() {
            options.width = usize::from(width.0).max(40);
        }
        options.unicode = locale_is_unicode();
    }
    options
}

/// Whether the first of the variables that name a character set names a Unicode one.
fn locale_is_unicode() -> bool {
    let named = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .filter_map(|variable| std::env::var(variable).ok())
        .find(|value| !value.is_empty());
    match named {
        Some(locale) => {
            let locale = locale.to_ascii_lowercase();
            locale.contains("utf-8") || locale.contains("utf8")
        }
        None => cfg!(windows),
    }
}
