//! Responses as tables.

use lgm_analysis::{Margins, Response};
use lgm_emit::significant;
use lgm_equations::StateSystem;
use lgm_session::analysis::response::{Further, ResponseResults};
use std::io::{self, Write};

/// Prints all results as tables.
pub(super) fn write_text(
    system: &StateSystem,
    found: &ResponseResults,
    shows_values: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let response = &found.response;
    for (at, (curve, further)) in response.curves.iter().zip(&found.further).enumerate() {
        let is_known = further.margins.is_some() || further.peaks.is_some();
        let is_empty = !is_known && !further.has_no_margins && !further.has_no_peaks;
        if !shows_values && is_empty {
            continue;
        }
        if at > 0 {
            writeln!(out)?;
        }
        let (input, output) = (&system.inputs[curve.input].name, &system.outputs[curve.output].name);
        writeln!(out, "{input} -> {output}")?;
        if shows_values && !response.omega.is_empty() {
            write_values(response, curve, further, out)?;
        }
        if let Some(margins) = &further.margins {
            write_margins(margins, out)?;
        }
        if further.has_no_margins {
            writeln!(out, "  margins: unknown")?;
        }
        if further.has_no_peaks {
            writeln!(out, "  peaks: unknown")?;
        }
        for peak in further.peaks.iter().flatten() {
            let (omega, magnitude) = (significant(peak.omega, 9), significant(peak.magnitude, 9));
            writeln!(out, "  peak of {magnitude} at {omega} rad/s")?;
        }
    }
    Ok(())
}

fn write_values(
    response: &Response,
    curve: &lgm_analysis::Curve,
    further: &Further,
    out: &mut dyn Write,
) -> io::Result<()> {
    write!(
        out,
        "{:>14}{:>16}{:>12}{:>12}",
        "omega [rad/s]", "magnitude", "dB", "phase [deg]"
    )?;
    writeln!(
        out,
        "{}",
        if further.delay.is_some() {
            format!("{:>16}", "delay [s]")
        } else {
            String::new()
        }
    )?;
    for (at, (omega, value)) in response.omega.iter().zip(&curve.values).enumerate() {
        let magnitude = value.norm();
        // Zero and infinity have no phase.
        let phase = if magnitude.is_finite() && magnitude > 0.0 {
            format!("{:.3}", value.arg().to_degrees())
        } else {
            "-".to_string()
        };
        write!(
            out,
            "{:>14}{:>16}{:>12}{:>12}",
            significant(*omega, 6),
            significant(magnitude, 6),
            format!("{:.3}", 20.0 * magnitude.log10()),
            phase
        )?;
        if let Some(delays) = &further.delay {
            let delay = delays[at].map_or("-".to_string(), |delay| significant(delay, 6));
            write!(out, "{delay:>16}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn write_margins(margins: &Margins, out: &mut dyn Write) -> io::Result<()> {
    match (margins.gain, margins.phase_crossover) {
        (Some(gain), Some(omega)) => {
            let decibels = significant(20.0 * gain.log10(), 6);
            let (gain, omega) = (significant(gain, 9), significant(omega, 9));
            writeln!(out, "  gain margin: {gain} ({decibels} dB) at {omega} rad/s")?;
        }
        _ => writeln!(out, "  gain margin: none, the phase does not cross -180 degrees")?,
    }
    match (margins.phase, margins.gain_crossover) {
        (Some(phase), Some(omega)) => {
            let (phase, omega) = (significant(phase, 9), significant(omega, 9));
            writeln!(out, "  phase margin: {phase} degrees at {omega} rad/s")
        }
        _ => writeln!(out, "  phase margin: none, the magnitude does not cross 1"),
    }
}
