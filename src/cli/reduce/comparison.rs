//! Whether a model does the same as the one that it was made from.

use crate::Compilation;
use lgm_analysis::{LinearizeRequest, ResponseRequest, response};
use lgm_equations::StateSystem;
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, has_errors};

/// Angular frequencies that responses are compared at, in rad/s.
const OMEGA: [f64; 6] = [1e-2, 0.13, 1.7, 23.0, 310.0, 4.1e3];

/// Frequency responses differ by no more than this, of the largest of an output.
const TOLERANCE: f64 = 1e-7;

/// Compares the responses of all outputs to all inputs; of nonlinear models, those about the starts.
pub(super) fn same(whole: &Compilation, reduced: &Compilation) -> Result<(), Vec<Diagnostic>> {
    let found = reduced.diagnostics_of_model();
    if let Some(first) = found.iter().find(|diagnostic| diagnostic.is_error()) {
        let reason = format!("its text would not compile: {}", first.message);
        return Err(vec![refusal(reason)]);
    }
    let (Some(before), Some(after)) = (curves(whole), curves(reduced)) else {
        return Ok(());
    };
    let differs = |(before, after): (&Curve, &Curve)| {
        let size = before.iter().map(|(re, im)| re.hypot(*im)).fold(0.0, f64::max);
        let pairs = before.iter().zip(after);
        let mut differences = pairs.map(|(a, b)| (a.0 - b.0).hypot(a.1 - b.1));
        differences.any(|difference| difference > TOLERANCE * size)
    };
    match before.len() != after.len() || before.iter().zip(&after).any(differs) {
        true => Err(vec![refusal("its outputs would not be those of the model".to_string())]),
        false => Ok(()),
    }
}

fn refusal(reason: String) -> Diagnostic {
    Diagnostic::error(Code::LGM0940, "the reduced model cannot be written as text")
        .note(reason)
        .help("read the equivalent parameters from `lgm reduce` without `--format lgm`")
}

/// Real and imaginary parts of a response, a pair for each frequency.
type Curve = Vec<(f64, f64)>;

/// Responses, a curve for each input and output; none where there are none.
fn curves(compilation: &Compilation) -> Option<Vec<Curve>> {
    let system = compilation.system()?;
    if system.linear {
        return of_system(system);
    }
    let linear = compilation.linearized_anew(LinearizeRequest {
        equilibrium: false,
        symbolic: false,
    });
    match has_errors(&linear.diagnostics()) {
        true => None,
        false => of_system(linear.system()?),
    }
}

fn of_system(system: &StateSystem) -> Option<Vec<Curve>> {
    let (found, _) = response(system, &ResponseRequest::all(system, OMEGA.to_vec()));
    let curves = found?.curves.into_iter();
    Some(
        curves
            .map(|curve| curve.values.iter().map(|value| (value.re, value.im)).collect())
            .collect(),
    )
}
