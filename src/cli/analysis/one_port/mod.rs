//! The equivalent of a network at a port.

pub(in crate::cli) mod convert;
pub(in crate::cli) mod thevenin;

use super::polynomials::{polynomial, quotient};
use super::shared::LinearModel;
use lgm_analysis::{Ratio, Reduction};
use lgm_session::analysis::one_port::PortRequest;
use std::io::{self, Write};

impl LinearModel {
    /// Returns the form of the equations of a network of the model.
    fn port_request(&self) -> PortRequest {
        PortRequest {
            states: self.states.request(),
            linearize: self.linearize.asked(false),
        }
    }
}

/// Formats a ratio on one line.
fn ratio_text(ratio: &Ratio) -> String {
    match polynomial(&ratio.denominator).as_str() {
        "0" => "infinite".to_string(),
        below => quotient(&polynomial(&ratio.numerator), below),
    }
}

/// Prints the steps of a reduction, with the numbers that later steps refer to.
fn write_steps(steps: &[Reduction], out: &mut dyn Write) -> io::Result<()> {
    for (at, step) in steps.iter().enumerate() {
        let end = |end: &Option<String>| end.as_deref().unwrap_or("gnd").to_string();
        let ends = format!("{} -> {}", end(&step.ends.0), end(&step.ends.1));
        write!(
            out,
            "  {}: {} of {}, {ends}: ",
            at + 1,
            step.rule.word(),
            step.of.join(", ")
        )?;
        let source = step.source.as_ref().map(ratio_text);
        match (&step.impedance, source) {
            (Some(impedance), None) => writeln!(out, "across/through = {}", ratio_text(impedance))?,
            (Some(impedance), Some(source)) => {
                writeln!(
                    out,
                    "across/through = {}, across source {source}",
                    ratio_text(impedance)
                )?;
            }
            (None, source) => writeln!(out, "through source {}", source.as_deref().unwrap_or("0"))?,
        }
    }
    Ok(())
}
