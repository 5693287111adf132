//! The results for each pair of an input and an output.

use super::arguments::Arguments;
use lgm_analysis::{
    Curve, Factored, Margins, Peak, Response, ResponseRequest, factored, group_delay, margins, numeric_form, peaks,
    response, shown_range,
};
use lgm_equations::StateSystem;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;

/// Points of a plot without `--omega`.
pub(super) const PLOTTED: usize = 600;

/// Points across a narrow peak.
const ACROSS: u32 = 32;

/// Results of one pair beside its values.
#[derive(Default)]
pub(super) struct Further {
    pub(super) delay: Option<Vec<Option<f64>>>,
    pub(super) factored: Option<Factored>,
    pub(super) margins: Option<Margins>,
    pub(super) peaks: Option<Vec<Peak>>,
    /// True if the margins were asked for and not found.
    pub(super) has_no_margins: bool,
    /// The same of the peaks.
    pub(super) has_no_peaks: bool,
}

/// Values of all pairs, and what is known beside them.
pub(super) struct Found {
    pub(super) response: Response,
    pub(super) further: Vec<Further>,
}

/// Finds the results that the options ask of some pairs; values are at `omega`.
pub(super) fn find(
    arguments: &Arguments,
    system: &StateSystem,
    (inputs, outputs): (Vec<usize>, Vec<usize>),
    omega: Vec<f64>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Option<Found>, Box<Diagnostic>> {
    let form = numeric_form(system, "frequency response")?;
    let factors = match arguments.is_factored() {
        true => factored(system, &inputs, &outputs),
        false => None,
    };
    if (arguments.margins || arguments.peaks) && factors.is_none() {
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
            delay: arguments
                .group_delay
                .then(|| group_delay(form, &response.omega, curve.input, curve.output)),
            ..Further::default()
        };
        if let Some(factors) = factors {
            if arguments.margins || arguments.plot.is_some() {
                each.margins = margins(&factors);
                each.has_no_margins = each.margins.is_none();
                if each.has_no_margins && arguments.margins {
                    diagnostics.push(crowded(system, curve, "margins"));
                }
            }
            if arguments.peaks {
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
    Ok(Some(Found { response, further }))
}

/// The content of a plot of some pairs: the range of all zeros and poles, and frequencies across each narrow peak or dip. None where zeros
/// and poles cannot be had.
pub(super) fn shown(system: &StateSystem, inputs: &[usize], outputs: &[usize]) -> Option<((f64, f64), Vec<f64>)> {
    numeric_form(system, "frequency response").ok()?;
    let factors = factored(system, inputs, outputs)?;
    let roots = factors.iter().flat_map(|of| of.zeros.iter().chain(&of.poles));
    let narrow = roots.filter(|root| root.re.abs() > 1e-9 * root.im && root.re.abs() < 0.1 * root.im);
    let mut more: Vec<f64> = Vec::new();
    for root in narrow {
        // Equal steps of the phase that this root turns.
        let turns = (1..ACROSS).map(|k| (std::f64::consts::PI * (f64::from(k) / f64::from(ACROSS) - 0.5)).tan());
        more.extend(turns.map(|turn| root.im + root.re.abs() * turn));
    }
    Some((shown_range(&factors), more))
}

/// An unknown result of one pair takes nothing from the others.
fn crowded(system: &StateSystem, curve: &Curve, what: &str) -> Diagnostic {
    let (input, output) = (&system.inputs[curve.input].name, &system.outputs[curve.output].name);
    let message =
        format!("`{input}` -> `{output}`: the {what} are not known: there are more crossings than can be told apart");
    Diagnostic::warning(Code::LGM0709, message).help("read them off the values at many frequencies")
}

fn without_factors(message: &str) -> Box<Diagnostic> {
    let fault = Diagnostic::error(Code::LGM0709, message);
    Box::new(fault.help("choose a pair with `--from` and `--to`, or read them off the values at many frequencies"))
}
