//! Whether a text does the same as the model that it was made from.

use crate::Compilation;
use lgm_analysis::{ResponseRequest, response};
use lgm_equations::StateSystem;

/// Angular frequencies that responses are compared at, in rad/s.
const OMEGA: [f64; 8] = [1e-2, 0.13, 1.7, 23.0, 310.0, 4.1e3, 5.3e4, 7.7e5];

/// Responses differ by no more than this, of the largest of an output.
const TOLERANCE: f64 = 1e-7;

/// Compares the frequency responses of all outputs to all inputs; why they are not the same.
pub(super) fn same(system: &StateSystem, written: &Compilation) -> Result<(), String> {
    let found = written.diagnostics_of_model();
    if let Some(first) = found.iter().find(|diagnostic| diagnostic.is_error()) {
        return Err(format!("its text would not compile: {}", first.message));
    }
    let differs = || "its outputs would not be those of the model".to_string();
    let other = written.system().ok_or_else(differs)?;
    let curves = |system: &StateSystem| response(system, &ResponseRequest::all(system, OMEGA.to_vec())).0;
    let (Some(before), Some(after)) = (curves(system), curves(other)) else {
        return Err("its responses could not be compared with those of the model".to_string());
    };
    if before.curves.len() != after.curves.len() {
        return Err(differs());
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
