//! `lgm modes --sampled`

use super::shared::{Format, write_json};
use crate::cli::files::disk::write_result;
use crate::cli::outcome::Outcome;
use crate::cli::report;
use crate::cli::request::{LinearizeArguments, ModelArguments, StateArguments};
use crate::cli::table::Table;
use lgm_analysis::{Sampled, sampled};
use lgm_emit::significant;
use lgm_equations::Options;
use lgm_source::SourceMap;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use serde_json::{Value, json};
use std::f64::consts::TAU;
use std::io::{self, Write};

/// Prints the z-plane poles of a sampled loop.
pub(super) fn run(model: &ModelArguments, states: &StateArguments, format: Format) -> Outcome {
    let none = LinearizeArguments::default();
    let (map, whole, mut diagnostics) =
        model
            .refusing_delays()
            .compile_whole(SourceMap::default(), states, &none, Options::default(), Vec::new());
    let found = whole.and_then(|whole| {
        let found = match &whole.switched {
            Some((events, options)) => sampled(events, options, &whole.system),
            None => Err(Box::new(
                Diagnostic::error(Code::LGM0945, "the model has no `every` block")
                    .help("remove `--sampled`, or see `lgm equations --discretize PERIOD`"),
            )),
        };
        found.map_err(|fault| diagnostics.push(*fault)).ok()
    });
    report::print(&map, &diagnostics);
    let (Some(found), Outcome::Success) = (found, report::outcome(&diagnostics)) else {
        return report::outcome(&diagnostics);
    };
    let written = write_result(None, &mut |out| match format {
        Format::Json => write_json(&as_json(&found), out),
        Format::Text => write_text(&found, out),
    });
    report::after_writing(&map, written)
}

fn as_json(found: &Sampled) -> Value {
    let z: Vec<[f64; 2]> = found.z.iter().map(|z| [z.re, z.im]).collect();
    let names: Vec<&str> = found.names.iter().map(|name| &**name).collect();
    json!({ "period": found.period, "z": z, "variables": names, "linearized": found.is_linearised })
}

fn write_text(found: &Sampled, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "period {} s, over {}\n",
        significant(found.period, 6),
        found.names.join(", ")
    )?;
    let mut table = Table::new(&[4, 12, 16, 10]);
    table.row(["z", "|z|", "omega [rad/s]", "damping"].map(String::from));
    for z in &found.z {
        let sign = if z.im < 0.0 { '-' } else { '+' };
        let pole = match z.im == 0.0 {
            true => significant(z.re, 6),
            false => format!("{} {sign} {}i", significant(z.re, 6), significant(z.im.abs(), 6)),
        };
        // The equivalent continuous-time pole in s.
        let s = z.ln() / found.period;
        let (omega, damping) = match z.norm() > 0.0 {
            true => (significant(s.norm(), 6), significant(-s.re / s.norm(), 4)),
            false => ("deadbeat".to_string(), String::new()),
        };
        table.row([pole, significant(z.norm(), 6), omega, damping]);
    }
    table.write(out)?;
    let largest = found.z.iter().map(|z| z.norm()).fold(0.0, f64::max);
    let nyquist = significant(0.5 * TAU / found.period, 6);
    let words = if largest < 1.0 { "stable" } else { "not stable" };
    writeln!(out, "\n{words}; half of the sampling frequency is {nyquist} rad/s")?;
    if found.is_linearised {
        writeln!(
            out,
            "the blocks are nonlinear: these results hold for small motions about the initial values"
        )?;
    }
    Ok(())
}
