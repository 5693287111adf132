//! Responses as JSON and as tables.

use super::answer::{Found, Further};
use lgm_analysis::{Margins, Response};
use lgm_emit::significant;
use lgm_equations::StateSystem;
use serde_json::{Value, json};
use std::io::{self, Write};

/// Everything as JSON.
pub(super) fn response_json(system: &StateSystem, found: &Found) -> Value {
    let mut value = json!({"omega": found.response.omega});
    let each = |entry: &dyn Fn(&Further) -> Option<Value>| {
        let mut map = serde_json::Map::new();
        for (curve, further) in found.response.curves.iter().zip(&found.further) {
            if let Some(value) = entry(further) {
                map.insert(pair_name(system, curve.input, curve.output), value);
            }
        }
        map
    };
    let mut curves = serde_json::Map::new();
    for curve in &found.response.curves {
        let values: Vec<[f64; 2]> = curve.values.iter().map(|value| [value.re, value.im]).collect();
        curves.insert(pair_name(system, curve.input, curve.output), json!(values));
    }
    value["H"] = Value::Object(curves);
    let margins = |further: &Further| {
        let found = further.margins.map(|margins| {
            json!({
                "gain_margin": margins.gain,
                "phase_margin": margins.phase,
                "phase_crossover": margins.phase_crossover,
                "gain_crossover": margins.gain_crossover,
            })
        });
        found.or(further.has_no_margins.then_some(Value::Null))
    };
    let peaks = |further: &Further| {
        if further.has_no_peaks {
            return Some(Value::Null);
        }
        let list = further.peaks.as_ref()?.iter();
        Some(
            list.map(|peak| json!({"omega": peak.omega, "magnitude": peak.magnitude}))
                .collect(),
        )
    };
    let parts: [(&str, Entry<'_>); 3] = [
        ("group_delay", &|further| further.delay.as_ref().map(|list| json!(list))),
        ("margins", &margins),
        ("peaks", &peaks),
    ];
    for (key, entry) in parts {
        let map = each(entry);
        if !map.is_empty() {
            value[key] = Value::Object(map);
        }
    }
    value
}

/// The entry of a curve under a key; none where it was not asked for.
type Entry<'a> = &'a dyn Fn(&Further) -> Option<Value>;

fn pair_name(system: &StateSystem, input: usize, output: usize) -> String {
    format!("{}->{}", system.inputs[input].name, system.outputs[output].name)
}

/// Everything as tables.
pub(super) fn write_text(
    system: &StateSystem,
    found: &Found,
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
            writeln!(out, "  margins: not known")?;
        }
        if further.has_no_peaks {
            writeln!(out, "  peaks: not known")?;
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
        // Neither nothing nor infinity points anywhere.
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
