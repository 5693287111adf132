//! `lgm thevenin`

use super::{ratio_text, write_steps};
use crate::cli::analysis::shared::{Format, LinearModel, write_json};
use crate::cli::files::disk::write_result;
use crate::cli::outcome::Outcome;
use crate::cli::report;
use lgm_analysis::{Equivalent, Reduction};
use lgm_session::analysis::one_port::{kind_word, thevenin, thevenin_json};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use std::io::{self, Write};

/// Prints the Thévenin equivalent at a port: an impedance, and a source for each input.
///
/// `--at` names the port: an element, which is removed; a port of a coupler, `ELEM.PORT`, which is removed with the
/// network behind it; a node, relative to `gnd`; or two nodes, `a,b`. With values, such as `--at x=1`, it sets the
/// point of linearisation.
///
/// The impedance is the across variable over the through variable into the network at the first end: a mobility in mechanics. The source is
/// the across variable when open, from the first end to the second; if there is none, the through variable with the ends joined.
///
/// Series-parallel networks of branches are also reduced step by step, with couplers as reflections.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lgm thevenin examples/oscillator.lgm --at spring
  lgm thevenin examples/wheatstone_bridge.lgm --at left,right --format json")]
pub(in crate::cli) struct Arguments {
    #[command(flatten)]
    model: LinearModel,
    /// Numbers instead of symbols
    #[arg(long)]
    numeric: bool,
    /// The output format
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

/// Runs the command.
pub(in crate::cli) fn run(arguments: &Arguments) -> Outcome {
    let mut model = arguments.model.clone();
    let places = model.linearize.take_places();
    let (map, whole) = value_or_return!(model.whole(!arguments.numeric));
    let mut diagnostics = Vec::new();
    let found = match &places[..] {
        [place] => thevenin(
            &whole,
            model.port_request(),
            (place, arguments.numeric),
            &mut diagnostics,
        ),
        _ => {
            let fault = Diagnostic::error(Code::LGM0718, "choose a single point or pair of nodes");
            diagnostics.push(fault.help("name it once: `--at ELEM`, `--at NODE`, `--at a,b` or `--at ELEM.PORT`"));
            None
        }
    };
    report::print(&map, &diagnostics);
    let Some((found, steps)) = found else {
        return match report::outcome(&diagnostics) {
            Outcome::Success => Outcome::Failure,
            outcome => outcome,
        };
    };
    let written = write_result(None, &mut |out| match arguments.format {
        Format::Json => write_json(&thevenin_json(&found, &steps, arguments.numeric), out),
        Format::Text => write_text(&found, &steps, out),
    });
    report::after_writing(&map, written)
}

fn write_text(found: &Equivalent, steps: &[Reduction], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "impedance (across/through): {}", ratio_text(&found.impedance))?;
    for (input, ratio) in &found.sources {
        writeln!(
            out,
            "{} source from {input}: {}",
            kind_word(found.kind),
            ratio_text(ratio)
        )?;
    }
    write_steps(steps, out)
}
