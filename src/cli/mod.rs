//! The command line: arguments in, files and exit codes out. Each subcommand has a file.
//!
//! Apart from the language server, only this module accesses the disk. The exit codes are:
//!
//! - 0 for success, including warnings,
//! - 1 if a diagnostic is an error or a run fails,
//! - 2 for misuse, such as an unknown option, model or name, or a file that cannot be read or written.

/// Evaluates to the value of a result; a function ends with the outcome that takes its place.
macro_rules! value_or_return {
    ($result:expr) => {
        match $result {
            Ok(value) => value,
            Err(outcome) => return outcome,
        }
    };
}

mod analysis;
mod causality;
mod chapter;
mod check;
mod comparison;
mod draw;
mod emit;
mod equations;
mod explain;
mod files;
mod fmt;
mod import;
mod interrupt;
mod new;
mod outcome;
mod profile;
mod reduce;
mod report;
mod request;
mod shell;
mod simulate;
mod table;
mod times;
mod watch;

use crate::cli::analysis::one_port::{convert, thevenin};
use crate::cli::analysis::{
    approximate, fit, modes, response, second_order, structure, switching, terminals, transfer, trim,
};
use crate::cli::outcome::Outcome;
use clap::{CommandFactory, Parser, Subcommand};
use lgm_source::stack;
use std::ffi::OsString;
use std::process::ExitCode;

/// Compiles linear graphs and bond graphs of physical systems to exact state equations.
#[derive(Debug, Parser)]
#[command(name = "lgm", version, arg_required_else_help = true, propagate_version = true)]
#[command(
    after_help = "Example:\n  lgm equations examples/oscillator.lgm\n\nSee `lgm COMMAND --help` for details of a command."
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    New(new::Arguments),
    Check(check::Arguments),
    Watch(watch::Arguments),
    Equations(equations::Arguments),
    Causality(causality::Arguments),
    Reduce(reduce::Arguments),
    Draw(draw::Arguments),
    Report(chapter::Arguments),
    Transfer(transfer::Arguments),
    Response(response::Arguments),
    Modes(modes::Arguments),
    Structure(structure::Arguments),
    Switching(switching::Arguments),
    SecondOrder(second_order::Arguments),
    Thevenin(thevenin::Arguments),
    Convert(convert::Arguments),
    Terminals(terminals::Arguments),
    Approximate(approximate::Arguments),
    Trim(trim::Arguments),
    Fit(fit::Arguments),
    Simulate(Box<simulate::Arguments>),
    Emit(emit::Arguments),
    Import(import::Arguments),
    Fmt(fmt::Arguments),
    Explain(explain::Arguments),
    Lsp(shell::lsp::Arguments),
    Completions(shell::completions::Arguments),
    Man(shell::man::Arguments),
}

/// Runs the command in the arguments of this process.
pub fn main() -> ExitCode {
    ExitCode::from(main_with(std::env::args_os().collect()))
}

/// Runs a command and returns the exit code. The first argument is the name of the program. Help and usage errors end the process.
pub fn main_with(given: Vec<OsString>) -> u8 {
    let first = given
        .get(1)
        .and_then(|first| first.to_str())
        .unwrap_or_default()
        .to_string();
    let arguments = Arguments::try_parse_from(given).unwrap_or_else(|error| {
        // A single file argument usually means that the subcommand is missing.
        if error.kind() == clap::error::ErrorKind::InvalidSubcommand && first.ends_with(".lgm") {
            eprintln!("error: `{first}` is a file; put a command before it\n\n  tip: lgm check {first}");
            std::process::exit(2);
        }
        error.exit()
    });
    let outcome = stack::deep(|| match arguments.command {
        Command::New(arguments) => new::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Watch(arguments) => watch::run(&arguments),
        Command::Equations(arguments) => equations::run(&arguments),
        Command::Causality(arguments) => causality::run(&arguments),
        Command::Reduce(arguments) => reduce::run(&arguments),
        Command::Draw(arguments) => draw::run(&arguments),
        Command::Report(arguments) => chapter::run(&arguments),
        Command::Transfer(arguments) => transfer::run(&arguments),
        Command::Response(arguments) => response::run(&arguments),
        Command::Modes(arguments) => modes::run(&arguments),
        Command::Structure(arguments) => structure::run(&arguments),
        Command::Switching(arguments) => switching::run(&arguments),
        Command::SecondOrder(arguments) => second_order::run(&arguments),
        Command::Thevenin(arguments) => thevenin::run(&arguments),
        Command::Convert(arguments) => convert::run(&arguments),
        Command::Terminals(arguments) => terminals::run(&arguments),
        Command::Approximate(arguments) => approximate::run(&arguments),
        Command::Trim(arguments) => trim::run(&arguments),
        Command::Fit(arguments) => fit::run(&arguments),
        Command::Simulate(arguments) => simulate::run(&arguments),
        Command::Emit(arguments) => emit::run(&arguments),
        Command::Import(arguments) => import::run(&arguments),
        Command::Fmt(arguments) => fmt::run(&arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Lsp(arguments) => shell::lsp::run(&arguments),
        Command::Completions(arguments) => shell::completions::run(&arguments, Arguments::command()),
        Command::Man(arguments) => shell::man::run(&arguments, Arguments::command()),
    });
    match outcome {
        Outcome::Success => 0,
        Outcome::Failure => 1,
        Outcome::Misuse => 2,
        Outcome::Interrupted => 130,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_consistent_and_each_command_has_an_example() {
        let mut command = Arguments::command();
        command.build();
        command.clone().debug_assert();
        for subcommand in command.get_subcommands().filter(|entry| entry.get_name() != "help") {
            let help = subcommand.get_after_help().map(ToString::to_string).unwrap_or_default();
            let example = format!("lgm {}", subcommand.get_name());
            assert!(help.contains(&example), "`{example}` has no example");
        }
    }
}
