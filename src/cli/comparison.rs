//! The comparison of a generated model with its original.

use crate::Compilation;
use lgm_analysis::{LinearizeRequest, ResponseRequest, response};
use lgm_equations::StateSystem;
use lgm_source::diagnostic::has_errors;

/// Angular frequencies at which responses are compared, in rad/s.
const OMEGA: [f64; 8] = [1e-2, 0.13, 1.7, 23.0, 310.0, 4.1e3, 5.3e4, 7.7e5];

/// Tolerance of the responses, as a fraction of the largest response of an output.
const TOLERANCE: f64 = 1e-7;

/// The outcome of a comparison that did not find the models equivalent.
pub(super) enum Difference {
    /// The text does not compile, or its responses differ; the reason.
    Found(String),
    /// No responses can be compared.
    Unknown,
}

/// Compares the frequency responses from all inputs to all outputs.
pub(super) fn same(before: &StateSystem, after: &StateSystem) -> Result<(), Difference> {
    let curves = |system: &StateSystem| response(system, &ResponseRequest::all(system, OMEGA.to_vec())).0;
    let (Some(before), Some(after)) = (curves(before), curves(after)) else {
        return Err(Difference::Unknown);
    };
    let differs = || Difference::Found("its outputs would differ from those of the model".to_string());
    if before.curves.len() != after.curves.len() {
        return Err(differs());
    }
    if before.curves.is_empty() {
        return Err(Difference::Unknown);
    }
    for (before, after) in before.curves.iter().zip(&after.curves) {
        let finite = before.values.iter().filter(|value| value.is_finite());
        let size = finite.map(|value| value.norm()).fold(0.0, f64::max);
        // Both are infinite at a pole.
        let pairs = before.values.iter().zip(&after.values);
        let pairs = pairs.filter(|(a, b)| a.is_finite() || b.is_finite());
        let mut errors = pairs.map(|(a, b)| (a - b).norm());
        if errors.any(|error| error.is_nan() || error > TOLERANCE * size) {
            return Err(differs());
        }
    }
    Ok(())
}

/// Compares the responses of a model with the responses of a text. Nonlinear models are compared about their initial values.
pub(super) fn same_as_text(before: &Compilation, after: &Compilation) -> Result<(), Difference> {
    compiles(after).map_err(Difference::Found)?;
    let small_motions = |compilation: &Compilation| {
        let is_linear = compilation.system().is_none_or(|system| system.equations.linear);
        (!is_linear).then(|| {
            compilation.linearized_anew(LinearizeRequest {
                equilibrium: false,
                symbolic: false,
            })
        })
    };
    let (first, second) = (small_motions(before), small_motions(after));
    let (first, second) = (first.as_ref().unwrap_or(before), second.as_ref().unwrap_or(after));
    if has_errors(&first.diagnostics()) || has_errors(&second.diagnostics()) {
        return Err(Difference::Unknown);
    }
    match (first.system(), second.system()) {
        (Some(first), Some(second)) => same(first, second),
        _ => Err(Difference::Unknown),
    }
}

/// Returns the first error of a text that has errors.
pub(super) fn compiles(text: &Compilation) -> Result<(), String> {
    let found = text.diagnostics_of_model();
    match found.iter().find(|diagnostic| diagnostic.is_error()) {
        Some(first) => Err(format!("its text would not compile: {}", first.message)),
        None => Ok(()),
    }
}
