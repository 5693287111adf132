//! `lgm response`

use super::shared::{Format, LinearModel, Pairs, frequency};
use crate::cli::disk::{write_result, write_text as write_file};
use crate::cli::outcome::Outcome;
use crate::cli::report;
use lgm_analysis::{
    Factored, Margins, Peak, Response, ResponseRequest, factored, group_delay, margins, numeric_form, peaks, response,
    shown_range,
};
use lgm_emit::plot::{FrequencyCurve, FrequencyFigure, frequency_html, frequency_svg};
use lgm_emit::{significant, write_in_lines};
use lgm_equations::StateSystem;
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, has_errors};
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::PathBuf;

/// Prints the frequency response H(jw), or draws it.
///
/// Infinite values, at a pole on the imaginary axis, are `null` in JSON. Margins are those of the loop that is closed by negative feedback
/// around H. Margins and peaks are found exactly, and not from the frequencies of `--omega`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lgm response examples/oscillator.lgm --omega 0.1,1,10 --from F --to v
  lgm response examples/oscillator.lgm --omega 0.1:100:200 --peaks --format json
  lgm response examples/sallen_key.lgm --plot bode.svg
  lgm response examples/duffing.lgm --omega 0.1,1,10 --equilibrium")]
pub(in crate::cli) struct Arguments {
    #[command(flatten)]
    model: LinearModel,
    /// Angular frequencies in rad/s: numbers, `A:B:N` for N of them with equal ratios, `A:B:N:lin` with equal steps
    #[arg(long, required_unless_present_any = ["plot", "margins"], value_delimiter = ',', value_parser = frequencies,
          allow_hyphen_values = true)]
    omega: Vec<Frequencies>,
    #[command(flatten)]
    pairs: Pairs,
    /// The group delay -d arg(H)/d omega too
    #[arg(long)]
    group_delay: bool,
    /// Gain and phase margins with their crossovers
    #[arg(long)]
    margins: bool,
    /// The maxima of abs(H) between the least and the largest frequency
    #[arg(long)]
    peaks: bool,
    /// Draws Bode, Nyquist and Nichols plots into this file, `.svg` or `.html`
    #[arg(long, value_name = "FILE", value_parser = picture)]
    plot: Option<PathBuf>,
    /// How to print it
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

/// Frequencies that one word stands for.
#[derive(Clone, Debug)]
struct Frequencies(Vec<f64>);

/// The most values of a range.
const MOST: usize = 1_000_000;

/// Points of a plot without `--omega`.
const PLOTTED: usize = 600;

fn frequencies(text: &str) -> Result<Frequencies, String> {
    let words: Vec<&str> = text.split(':').collect();
    let (from, to, count, linear) = match words[..] {
        [one] => return frequency(one).map(|value| Frequencies(vec![value])),
        [from, to, count] => (from, to, count, false),
        [from, to, count, "lin"] => (from, to, count, true),
        _ => return Err("write a range as `A:B:N` or `A:B:N:lin`".to_string()),
    };
    let (from, to) = (frequency(from)?, frequency(to)?);
    let count: usize = count
        .trim()
        .parse()
        .map_err(|_| "N of a range is a whole number".to_string())?;
    if !(2..=MOST).contains(&count) {
        return Err(format!("a range has from 2 to {MOST} values"));
    }
    if !linear && from.min(to) <= 0.0 {
        return Err("equal ratios take ends above 0; `A:B:N:lin` has equal steps".to_string());
    }
    Ok(Frequencies(spaced(from, to, count, linear)))
}

fn picture(name: &str) -> Result<PathBuf, String> {
    match name.ends_with(".svg") || name.ends_with(".html") {
        true => Ok(PathBuf::from(name)),
        false => Err("end the name in `.svg` or `.html`".to_string()),
    }
}

/// Both ends, exactly, and what is between them.
fn spaced(from: f64, to: f64, count: usize, linear: bool) -> Vec<f64> {
    let value = |at: usize| {
        let share = at as f64 / (count - 1) as f64;
        match (at, linear) {
            (0, _) => from,
            (at, _) if at + 1 == count => to,
            (_, true) => from + share * (to - from),
            (_, false) => 10f64.powf(from.log10() + share * (to.log10() - from.log10())),
        }
    };
    (0..count).map(value).collect()
}

/// What is known of one pair beside its values.
#[derive(Default)]
struct Further {
    delay: Option<Vec<Option<f64>>>,
    factored: Option<Factored>,
    margins: Option<Margins>,
    peaks: Option<Vec<Peak>>,
}

struct Found {
    response: Response,
    further: Vec<Further>,
}

/// Runs the command.
pub(in crate::cli) fn run(arguments: &Arguments) -> Outcome {
    let is_factored = arguments.margins || arguments.peaks || arguments.plot.is_some();
    let asked = arguments.model.ask(is_factored, |system, diagnostics| {
        let (inputs, outputs) = arguments.pairs.places(system, diagnostics);
        if has_errors(diagnostics) {
            return None;
        }
        let found = find(arguments, system, inputs, outputs, diagnostics);
        found.map_err(|fault| diagnostics.push(*fault)).ok().flatten()
    });
    let (map, system, mut found) = match asked {
        Ok(asked) => asked,
        Err(outcome) => return outcome,
    };
    if let Some(file) = &arguments.plot {
        let figure = figure(&system, &found);
        let text = match file.extension().is_some_and(|ending| ending == "html") {
            true => frequency_html(&figure),
            false => frequency_svg(&figure),
        };
        let outcome = report::after_writing(&map, write_file(file, &text));
        if outcome != Outcome::Success {
            return outcome;
        }
    }
    if !arguments.margins {
        // The plot marks them; they are printed only if they are asked for.
        found.further.iter_mut().for_each(|each| each.margins = None);
    }
    let written = write_result(None, &mut |out| match arguments.format {
        Format::Json if arguments.plot.is_some() && arguments.omega.is_empty() => Ok(()),
        Format::Json => write_in_lines(out, &response_json(&system, &found)),
        Format::Text => write_text(&system, &found, arguments.plot.is_none(), out),
    });
    report::after_writing(&map, written)
}

fn find(
    arguments: &Arguments,
    system: &StateSystem,
    inputs: Vec<usize>,
    outputs: Vec<usize>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Option<Found>, Box<Diagnostic>> {
    let form = numeric_form(system, "frequency response")?;
    let mut omega: Vec<f64> = arguments.omega.iter().flat_map(|list| list.0.clone()).collect();
    let is_factored = arguments.margins || arguments.peaks || arguments.plot.is_some();
    let factors = match is_factored {
        true => factored(system, &inputs, &outputs),
        false => None,
    };
    if (arguments.margins || arguments.peaks) && factors.is_none() {
        return Err(without_factors(
            "the zeros and poles of this system could not be computed",
        ));
    }
    if omega.is_empty() && arguments.plot.is_some() {
        let (from, to) = shown_range(factors.as_deref().unwrap_or_default());
        omega = spaced(from, to, PLOTTED, false);
    }
    let range = omega.iter().fold((f64::INFINITY, 0.0_f64), |range, value| {
        (range.0.min(*value), range.1.max(*value))
    });
    let request = ResponseRequest { omega, inputs, outputs };
    let (found, more) = response(system, &request);
    diagnostics.extend(more);
    let Some(response) = found else { return Ok(None) };
    let mut further: Vec<Further> = Vec::new();
    for (at, curve) in response.curves.iter().enumerate() {
        let factors = factors.as_ref().map(|list| list[at].clone());
        let mut each = Further {
            delay: arguments
                .group_delay
                .then(|| group_delay(form, &response.omega, curve.input, curve.output)),
            ..Further::default()
        };
        if let Some(factors) = factors {
            let crowded = || without_factors("there are more crossings than can be told apart");
            if arguments.margins || arguments.plot.is_some() {
                each.margins = Some(margins(&factors).ok_or_else(crowded)?);
            }
            if arguments.peaks {
                let from = range.0.max(1e-9 * range.1);
                each.peaks = Some(peaks(&factors, from, range.1).ok_or_else(crowded)?);
            }
            each.factored = Some(factors);
        }
        further.push(each);
    }
    Ok(Some(Found { response, further }))
}

fn without_factors(message: &str) -> Box<Diagnostic> {
    let fault = Diagnostic::error(Code::LGM0709, message);
    Box::new(fault.help("choose a pair with `--from` and `--to`, or read them off the values at many frequencies"))
}

fn response_json(system: &StateSystem, found: &Found) -> Value {
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
        further.margins.map(|margins| {
            json!({
                "gain_margin": margins.gain,
                "phase_margin": margins.phase,
                "phase_crossover": margins.phase_crossover,
                "gain_crossover": margins.gain_crossover,
            })
        })
    };
    let peaks = |further: &Further| {
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

/// What a curve has under a key; none where it was not asked for.
type Entry<'a> = &'a dyn Fn(&Further) -> Option<Value>;

fn pair_name(system: &StateSystem, input: usize, output: usize) -> String {
    format!("{}->{}", system.inputs[input].name, system.outputs[output].name)
}

fn write_text(system: &StateSystem, found: &Found, shows_values: bool, out: &mut dyn Write) -> io::Result<()> {
    let response = &found.response;
    for (at, (curve, further)) in response.curves.iter().zip(&found.further).enumerate() {
        let is_empty = further.margins.is_none() && further.peaks.is_none();
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

fn figure(system: &StateSystem, found: &Found) -> FrequencyFigure {
    let curves = found.response.curves.iter().zip(&found.further);
    let curves = curves.map(|(curve, further)| {
        let margins = further.margins.unwrap_or_default();
        FrequencyCurve {
            name: format!(
                "{} \u{2192} {}",
                system.inputs[curve.input].name, system.outputs[curve.output].name
            ),
            values: curve.values.clone(),
            phase_crossover: margins.phase_crossover,
            gain_crossover: margins.gain_crossover,
            static_gain: further.factored.as_ref().and_then(|factors| factors.static_gain),
        }
    });
    FrequencyFigure {
        title: system.model.to_string(),
        omega: found.response.omega.clone(),
        curves: curves.collect(),
    }
}
