//! `lgm approximate`

use super::pictures::{compared, picture};
use super::realisation::model_text;
use super::response::frequencies;
use super::shared::{LinearModel, write_json, write_matrix};
use crate::cli::files::disk::{write_result, write_text as write_file};
use crate::cli::outcome::Outcome;
use crate::cli::report;
use lgm_analysis::ReductionMethod;
use lgm_emit::significant;
use lgm_equations::StateSystem;
use lgm_session::analysis::approximate::{ApproximatedModel, MatchRequest, match_at, truncate};
use lgm_source::SourceMap;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use std::io::{self, Write};
use std::path::PathBuf;

/// Prints a reduced-order model with an error bound.
///
/// `--method balanced` removes the least controllable and observable states; the error at any frequency is at most
/// twice the sum of the removed Hankel singular values. `--method modal` keeps the poles closest to 0, regardless of their
/// damping. `--method moments --at W,W..` matches the model near the angular frequencies W, also for systems with
/// 100,000 states; passive systems stay stable. `--format lgm` writes an ordinary model with the same inputs and
/// outputs.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lgm approximate examples/quarter_car.lgm --order 2
  lgm approximate examples/line.lgm --set N=40 --order 6 --match-dc --format lgm -o short_line.lgm
  lgm approximate examples/line.lgm --order 4 --method moments --at 0,3000 --plot line.svg")]
pub(in crate::cli) struct Arguments {
    #[command(flatten)]
    model: LinearModel,
    /// The number of states to keep; conjugate pairs stay complete
    #[arg(long, value_name = "N")]
    order: usize,
    /// The method of reduction
    #[arg(long, value_enum, default_value = "balanced")]
    method: Method,
    /// Keep the static gain: removed states follow instantaneously
    #[arg(long)]
    match_dc: bool,
    /// Keep across and through variables separate in --method moments, so that the reduced model also has second-order
    /// form
    #[arg(long, value_enum, value_name = "FORM")]
    keep: Option<Kept>,
    /// Plot the responses of both models to this file, `.svg` or `.html`
    #[arg(long, value_name = "FILE", value_parser = picture)]
    plot: Option<PathBuf>,
    /// The output format
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Method {
    /// Balanced truncation
    Balanced,
    /// The poles nearest to 0, with complete pairs
    Modal,
    /// Moment matching at the frequencies of --at
    Moments,
}

impl Method {
    /// Returns the method of a truncation.
    fn truncation(self) -> ReductionMethod {
        match self {
            Method::Modal => ReductionMethod::Modal,
            _ => ReductionMethod::Balanced,
        }
    }

    /// Returns the command-line value.
    fn word(self) -> &'static str {
        match self {
            Method::Balanced => "balanced",
            Method::Modal => "modal",
            Method::Moments => "moments",
        }
    }
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Kept {
    SecondOrder,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Format {
    Text,
    Json,
    /// A model
    Lgm,
}

/// Runs the command.
pub(in crate::cli) fn run(arguments: &Arguments) -> Outcome {
    let asked = match arguments.method {
        Method::Moments => moments(arguments),
        _ => truncated(arguments),
    };
    let (map, system, found) = value_or_return!(asked);
    if let Some(file) = &arguments.plot {
        let written = compared(&system, &found.space, found.outputs, file).map(|text| write_file(file, &text));
        let outcome = match written {
            Ok(written) => report::after_writing(&map, written),
            Err(fault) => {
                report::print(&map, std::slice::from_ref(&*fault));
                report::outcome(&[*fault])
            }
        };
        if outcome != Outcome::Success {
            return outcome;
        }
    }
    if matches!(arguments.format, Format::Lgm) && system.states.iter().any(|state| state.start_value != 0.0) {
        let message = "the reduced model starts at rest: its text does not contain the initial values of the model";
        let remark = Diagnostic::information(Code::LGM0716, message);
        let help = "it has nearly the same transfer functions; compare runs that start at rest";
        report::print(&map, &[remark.help(help)]);
    }
    let written = write_result(arguments.output.as_deref(), &mut |out| match arguments.format {
        Format::Json => write_json(&found.json(&system, arguments.method.word()), out),
        Format::Text => write_text(&system, &found, out),
        Format::Lgm => out.write_all(model_text(&system, found.outputs, &found.space, "Reduced").as_bytes()),
    });
    report::after_writing(&map, written)
}

type Asked = Result<(SourceMap, StateSystem, ApproximatedModel), Outcome>;

fn misused(option: &str, help: &str) -> Diagnostic {
    Diagnostic::error(Code::LGM0716, format!("`{option}` is not available for this method")).help(help)
}

/// Reduces the model by balanced or modal truncation.
fn truncated(arguments: &Arguments) -> Asked {
    arguments.model.ask(true, |system, diagnostics| {
        if arguments.keep.is_some() {
            diagnostics.push(misused("--keep", "it is an option of `--method moments`"));
            return None;
        }
        let found = truncate(
            system,
            arguments.order,
            arguments.method.truncation(),
            arguments.match_dc,
        );
        found.map_err(|fault| diagnostics.push(*fault)).ok()
    })
}

/// Reduces the model by moment matching at frequencies.
fn moments(arguments: &Arguments) -> Asked {
    let mut model = arguments.model.clone();
    let places = model.linearize.take_places();
    let mut diagnostics = Vec::new();
    let mut omega: Vec<f64> = Vec::new();
    for word in places.iter().flat_map(|place| place.split(',')) {
        match frequencies(word.trim()) {
            Ok(found) => omega.extend(found.values()),
            Err(reason) => {
                let fault = Diagnostic::error(Code::LGM0716, format!("`--at {word}` is not a frequency: {reason}"));
                diagnostics.push(fault.help("write it in rad/s, such as `--at 0,1e3`"));
            }
        }
    }
    if omega.is_empty() && diagnostics.is_empty() {
        let fault = Diagnostic::error(Code::LGM0716, "the frequencies to match are missing");
        diagnostics.push(fault.help("give one or several in rad/s, such as `--at 0,1e3`"));
    }
    if arguments.match_dc {
        diagnostics.push(misused("--match-dc", "the static gain is kept by `--at 0`"));
    }
    if let outcome @ (Outcome::Failure | Outcome::Misuse) = report::outcome(&diagnostics) {
        report::print(&SourceMap::default(), &diagnostics);
        return Err(outcome);
    }
    let (map, whole) = model.whole(false)?;
    let request = MatchRequest {
        order: arguments.order,
        omega: &omega,
        keeps_second_order: arguments.keep.is_some(),
    };
    let (retain, linearized) = (model.states.retained(), model.linearize.asked(false));
    let found = match_at(&whole, retain, linearized, &request, &mut diagnostics);
    report::print(&map, &diagnostics);
    let Some((system, found)) = found else {
        return Err(match report::outcome(&diagnostics) {
            Outcome::Success => Outcome::Failure,
            outcome => outcome,
        });
    };
    Ok((map, system, found))
}

fn write_text(system: &StateSystem, found: &ApproximatedModel, out: &mut dyn Write) -> io::Result<()> {
    let (order, whole) = (found.space.a.nrows(), system.states.len());
    match found.bound {
        Some(bound) => {
            let bound = significant(bound, 6);
            writeln!(
                out,
                "{order} of {whole} states; the error is at most {bound} at any frequency"
            )?;
        }
        None => writeln!(out, "{order} of {whole} states; the error has no bound")?,
    }
    for (omega, error) in &found.errors {
        let (omega, error) = (significant(*omega, 4), significant(*error, 3));
        writeln!(
            out,
            "error at {omega} rad/s: {error} of the largest value of a transfer function"
        )?;
    }
    if !found.hankel.is_empty() {
        let shown: Vec<String> = found
            .hankel
            .iter()
            .take(20)
            .map(|value| significant(*value, 6))
            .collect();
        let more = if found.hankel.len() > 20 { ", .." } else { "" };
        writeln!(out, "Hankel singular values: {}{more}", shown.join(", "))?;
    }
    let space = &found.space;
    for (name, matrix) in [("A", &space.a), ("B", &space.b), ("C", &space.c), ("D", &space.d)] {
        write_matrix(name, matrix, out)?;
    }
    Ok(())
}
