//! Frequency responses as plots.

use lgm_analysis::{ResponseRequest, StateSpace, response};
use lgm_emit::plot::{FrequencyCurve, FrequencyFigure, frequency_html, frequency_svg};
use lgm_equations::StateSystem;
use lgm_source::diagnostic::Diagnostic;
use num_complex::Complex;
use std::path::{Path, PathBuf};

/// Number of points of a curve; large systems have fewer.
const POINTS: usize = 300;
const POINTS_OF_LARGE: usize = 80;

/// Number of states from which a system counts as large.
const LARGE: usize = 5_000;

/// Parses the file name of a plot.
pub(super) fn picture(name: &str) -> Result<PathBuf, String> {
    match name.ends_with(".svg") || name.ends_with(".html") {
        true => Ok(PathBuf::from(name)),
        false => Err("end the name in `.svg` or `.html`".to_string()),
    }
}

/// Parses the file name of a plot that is available as SVG only.
pub(super) fn svg_picture(name: &str) -> Result<PathBuf, String> {
    match name.ends_with(".svg") {
        true => Ok(PathBuf::from(name)),
        false => Err("end the name in `.svg`".to_string()),
    }
}

/// Returns a plot as text, in the format of this file name.
pub(super) fn drawn(figure: &FrequencyFigure, file: &Path) -> String {
    match file.extension().is_some_and(|ending| ending == "html") {
        true => frequency_html(figure),
        false => frequency_svg(figure),
    }
}

/// Returns the name of a curve.
pub(super) fn pair(system: &StateSystem, input: usize, output: usize) -> String {
    let (input, output) = (&system.inputs[input].name, &system.outputs[output].name);
    format!("{input} \u{2192} {output}")
}

/// Creates a curve without marks.
pub(super) fn curve(name: String, values: Vec<Complex<f64>>) -> FrequencyCurve {
    FrequencyCurve {
        name,
        values,
        phase_crossover: None,
        gain_crossover: None,
        static_gain: None,
    }
}

/// Plots the responses of a system and of a reduced system in one figure.
pub(super) fn compared(
    system: &StateSystem,
    space: &StateSpace,
    outputs: usize,
    file: &Path,
) -> Result<String, Box<Diagnostic>> {
    let points = if system.states.len() > LARGE {
        POINTS_OF_LARGE
    } else {
        POINTS
    };
    let (from, to) = space.shown_range();
    let share = |at: usize| at as f64 / (points - 1) as f64;
    let omega: Vec<f64> = (0..points).map(|at| from * (to / from).powf(share(at))).collect();
    let request = ResponseRequest {
        omega: omega.clone(),
        inputs: (0..system.declared_inputs().count()).collect(),
        outputs: (0..outputs).collect(),
    };
    let (found, mut diagnostics) = response(system, &request);
    let Some(found) = found else {
        return Err(Box::new(diagnostics.swap_remove(0)));
    };
    let infinite = Complex::new(f64::INFINITY, f64::INFINITY);
    let reduced: Vec<_> = omega.iter().map(|omega| space.at(*omega)).collect();
    let mut curves = Vec::new();
    for original in found.curves {
        let (input, output) = (original.input, original.output);
        let values = reduced
            .iter()
            .map(|values| values.as_ref().map_or(infinite, |values| values[(output, input)]));
        let values = values.collect();
        let name = pair(system, input, output);
        curves.push(curve(name.clone(), original.values));
        curves.push(curve(format!("{name}, order {}", space.a.nrows()), values));
    }
    let figure = FrequencyFigure {
        title: system.model.to_string(),
        omega,
        curves,
    };
    Ok(drawn(&figure, file))
}

/// Maximum number of input-output pairs in one plot.
const MOST_PAIRS: usize = 12;

/// Plots the responses of all outputs to all inputs as SVG, around the magnitudes of the poles, or returns a message that explains why no
/// plot exists.
pub(in crate::cli) fn response_picture(system: &StateSystem, poles: &[f64]) -> Result<String, String> {
    let (inputs, outputs) = (system.declared_inputs().count(), system.outputs.len());
    let pairs = inputs * outputs;
    if pairs == 0 {
        return Err("it requires an input and an output".to_string());
    }
    if pairs > MOST_PAIRS {
        return Err(format!(
            "the model has {pairs} pairs of an input and an output; at most {MOST_PAIRS} are drawn"
        ));
    }
    let sizes = || poles.iter().copied().filter(|size| *size > 0.0);
    let (least, most) = sizes().fold((f64::INFINITY, 0.0_f64), |(least, most), size| {
        (least.min(size), most.max(size))
    });
    let (from, to) = match least.is_finite() {
        true => (least / 10.0, most * 10.0),
        false => (0.1, 10.0),
    };
    let share = |at: usize| at as f64 / (POINTS - 1) as f64;
    let omega: Vec<f64> = (0..POINTS).map(|at| from * (to / from).powf(share(at))).collect();
    let (found, mut diagnostics) = response(system, &ResponseRequest::all(system, omega.clone()));
    let Some(found) = found else {
        let reason = diagnostics.pop().map(|fault| fault.message);
        return Err(reason.unwrap_or("it could not be computed".to_string()));
    };
    let curves = found
        .curves
        .into_iter()
        .map(|each| curve(pair(system, each.input, each.output), each.values));
    let figure = FrequencyFigure {
        title: system.model.to_string(),
        omega,
        curves: curves.collect(),
    };
    Ok(frequency_svg(&figure))
}
