//! Frequency responses: the results for each input-output pair, as data and as JSON.

use lgm_analysis::{
    Curve, Factored, Margins, Peak, Response, ResponseRequest, factored, group_delay, margins, numeric_form, peaks,
    response, shown_range,
};
use lgm_equations::StateSystem;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use serde_json::{Map, Value, json};

/// Number of points across a narrow peak.
const ACROSS: u32 = 32;

/// The results that are requested in addition to the values.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extras {
    /// The group delay -d arg(H)/d omega.
    pub group_delay: bool,
    /// Gain and phase margins of the loop closed by negative feedback; an error if they are unknown.
    pub margins: bool,
    /// The maxima of abs(H) between the smallest and the largest frequency.
    pub peaks: bool,
    /// Zeros, poles and margins, if they can be found.
    pub marks: bool,
}

/// Results of one pair in addition to its response values.
#[derive(Debug, Default)]
pub struct Further {
    /// The group delay at each frequency, in seconds; None at a pole.
    pub delay: Option<Vec<Option<f64>>>,
    /// Zeros, poles and gain.
    pub factored: Option<Factored>,
    /// Gain and phase margins.
    pub margins: Option<Margins>,
    /// The maxima of the magnitude.
    pub peaks: Option<Vec<Peak>>,
    /// True if the margins were requested and not found.
    pub has_no_margins: bool,
    /// True if the peaks were requested and not found.
    pub has_no_peaks: bool,
}

/// Response values of all pairs, and further results.
#[derive(Debug)]
pub struct ResponseResults {
    /// The values of each pair.
    pub response: Response,
    /// Further results of each pair.
    pub further: Vec<Further>,
}

/// Computes the requested results for some pairs. Response values are computed at `omega`, in rad/s.
///
/// # Errors
///
/// If the equations are nonlinear, or a requested result needs zeros and poles that cannot be found.
pub fn find(
    extras: Extras,
    system: &StateSystem,
    (inputs, outputs): (Vec<usize>, Vec<usize>),
    omega: Vec<f64>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Option<ResponseResults>, Box<Diagnostic>> {
    let form = numeric_form(system, "frequency response")?;
    let has_delays = !system.events.delays.is_empty();
    if has_delays && (extras.margins || extras.peaks || extras.group_delay) {
        let fault = Diagnostic::error(
            Code::LGM0725,
            "this result of a system with delays requires a finite number of poles",
        );
        return Err(Box::new(fault.help(
            "approximate delays with `--pade 4`, or read the values from the response",
        )));
    }
    let factors = match (extras.margins || extras.peaks || extras.marks) && !has_delays {
        true => factored(system, &inputs, &outputs),
        false => None,
    };
    if (extras.margins || extras.peaks) && factors.is_none() {
        return Err(without_factors(
            "the zeros and poles of this system could not be computed",
        ));
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
            delay: extras
                .group_delay
                .then(|| group_delay(form, &response.omega, curve.input, curve.output)),
            ..Further::default()
        };
        if let Some(factors) = factors {
            if extras.margins || extras.marks {
                each.margins = margins(&factors);
                each.has_no_margins = each.margins.is_none();
                if each.has_no_margins && extras.margins {
                    diagnostics.push(crowded(system, curve, "margins"));
                }
            }
            if extras.peaks {
                each.peaks = peaks(&factors, range.0, range.1);
                each.has_no_peaks = each.peaks.is_none();
                if each.has_no_peaks {
                    diagnostics.push(crowded(system, curve, "peaks"));
                }
            }
            each.factored = Some(factors);
        }
        further.push(each);
    }
    Ok(Some(ResponseResults { response, further }))
}

/// Returns the content of a plot of some pairs: the range of all zeros and poles, and frequencies across each narrow peak or dip. None if
/// zeros and poles cannot be found.
pub fn shown(system: &StateSystem, inputs: &[usize], outputs: &[usize]) -> Option<((f64, f64), Vec<f64>)> {
    numeric_form(system, "frequency response").ok()?;
    let factors = factored(system, inputs, outputs)?;
    let roots = factors.iter().flat_map(|of| of.zeros.iter().chain(&of.poles));
    let narrow = roots.filter(|root| root.re.abs() > 1e-9 * root.im && root.re.abs() < 0.1 * root.im);
    let mut more: Vec<f64> = Vec::new();
    for root in narrow {
        // Equal steps of the phase contribution of this root.
        let turns = (1..ACROSS).map(|k| (std::f64::consts::PI * (f64::from(k) / f64::from(ACROSS) - 0.5)).tan());
        more.extend(turns.map(|turn| root.im + root.re.abs() * turn));
    }
    Some((shown_range(&factors), more))
}

/// Creates a warning about unknown results of one pair. The results of other pairs remain available.
fn crowded(system: &StateSystem, curve: &Curve, what: &str) -> Diagnostic {
    let (input, output) = (&system.inputs[curve.input].name, &system.outputs[curve.output].name);
    let message = format!("`{input}` -> `{output}`: the {what} are unknown: the crossings are too close together");
    Diagnostic::warning(Code::LGM0709, message).help("read them from the response at many frequencies")
}

fn without_factors(message: &str) -> Box<Diagnostic> {
    let fault = Diagnostic::error(Code::LGM0709, message);
    Box::new(fault.help("choose a pair with `--from` and `--to`, or read them from the response at many frequencies"))
}

/// Returns the JSON of `lgm response`: `{"omega": [..], "H": {"u->y": [[re, im], ..]}}`, and a key for each further result.
pub fn response_json(system: &StateSystem, found: &ResponseResults) -> Value {
    let mut value = json!({"omega": found.response.omega});
    let each = |entry: &dyn Fn(&Further) -> Option<Value>| {
        let mut map = Map::new();
        for (curve, further) in found.response.curves.iter().zip(&found.further) {
            if let Some(value) = entry(further) {
                map.insert(pair_name(system, curve.input, curve.output), value);
            }
        }
        map
    };
    let mut curves = Map::new();
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

/// The entry of a curve under a key; None if it was not requested.
type Entry<'a> = &'a dyn Fn(&Further) -> Option<Value>;

fn pair_name(system: &StateSystem, input: usize, output: usize) -> String {
    format!("{}->{}", system.inputs[input].name, system.outputs[output].name)
}
