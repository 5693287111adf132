//! Models of lower order, as data and as JSON.

use crate::analysis::modes::with_storage;
use crate::analysis::rows_json;
use lgm_analysis::{
    LinearizeRequest, MomentRequest, Moments, Reduced, ReductionMethod, StateSpace, match_moments, reduce_order,
};
use lgm_compilation::Whole;
use lgm_equations::StateSystem;
use lgm_source::diagnostic::Diagnostic;
use serde_json::{Value, json};

/// The reduced model, from any of the methods.
#[derive(Debug)]
pub struct ApproximatedModel {
    /// Its matrices.
    pub space: StateSpace,
    /// The Hankel singular values of the model; empty for moment matching.
    pub hankel: Vec<f64>,
    /// The maximum error at any frequency, if it is known.
    pub bound: Option<f64>,
    /// Relative errors at frequencies in rad/s; empty unless they were measured.
    pub errors: Vec<(f64, f64)>,
    /// The names of the states.
    pub states: Vec<String>,
    /// The number of outputs of the model.
    pub outputs: usize,
}

/// The request for a model that matches another at frequencies.
#[derive(Clone, Copy, Debug)]
pub struct MatchRequest<'r> {
    /// The number of states to keep.
    pub order: usize,
    /// The frequencies, in rad/s.
    pub omega: &'r [f64],
    /// True if across and through variables stay separate, so that the reduced model also has second-order form.
    pub keeps_second_order: bool,
}

/// Reduces linear equations by balanced or modal truncation. With `match_dc`, removed states follow instantaneously.
///
/// # Errors
///
/// If the equations are nonlinear or have no such approximation.
pub fn truncate(
    system: &StateSystem,
    order: usize,
    method: ReductionMethod,
    match_dc: bool,
) -> Result<ApproximatedModel, Box<Diagnostic>> {
    let Reduced { space, hankel, bound } = reduce_order(system, order, method, match_dc)?;
    Ok(ApproximatedModel {
        states: (1..=space.a.nrows()).map(|at| format!("x{at}")).collect(),
        space,
        hankel,
        bound: bound.is_finite().then_some(bound),
        errors: Vec::new(),
        outputs: system.outputs.len(),
    })
}

/// Reduces a model by moment matching. `retain` and `linearized` are those of the model. Returns the result with the equations in power
/// variables.
pub fn match_at(
    whole: &Whole,
    retain: Vec<String>,
    linearized: Option<LinearizeRequest>,
    request: &MatchRequest<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<(StateSystem, ApproximatedModel)> {
    let outputs = whole.system.outputs.len();
    let (_, system, storage) = with_storage(whole, retain, linearized, false, diagnostics)?;
    let request = MomentRequest {
        order: request.order,
        omega: request.omega,
        outputs,
        storage: &storage,
        keeps_second_order: request.keeps_second_order,
    };
    let found = match_moments(&system, &request);
    let found = found.map_err(|fault| diagnostics.push(*fault)).ok()?;
    let states = state_names(&found);
    let Moments {
        space, errors, bound, ..
    } = found;
    let found = ApproximatedModel {
        space,
        hankel: Vec::new(),
        bound,
        errors,
        states,
        outputs,
    };
    Some((system, found))
}

/// Returns the names of the states. If kinds stay separate, states of across variables are named a, the others t.
fn state_names(found: &Moments) -> Vec<String> {
    let order = found.space.a.nrows();
    let name = |at: usize| match found.first_kind {
        None => format!("x{}", at + 1),
        Some(first) if at < first => format!("a{}", at + 1),
        Some(first) => format!("t{}", at + 1 - first),
    };
    (0..order).map(name).collect()
}

impl ApproximatedModel {
    /// Returns the JSON of `lgm approximate`. Errors are included if the method is `moments`.
    pub fn json(&self, system: &StateSystem, method: &str) -> Value {
        let inputs: Vec<&str> = system.declared_inputs().map(|input| &*input.name).collect();
        let outputs = system.outputs.iter().take(self.outputs);
        let outputs: Vec<&str> = outputs.map(|output| &*output.name).collect();
        let mut value = json!({
            "schema": "lgm-approximate/1",
            "order": self.space.a.nrows(),
            "method": method,
            "hankel": self.hankel,
            "bound": self.bound,
            "states": self.states,
            "inputs": inputs,
            "outputs": outputs,
            "A": rows_json(&self.space.a),
            "B": rows_json(&self.space.b),
            "C": rows_json(&self.space.c),
            "D": rows_json(&self.space.d),
        });
        if method == "moments" {
            let errors = self.errors.iter();
            value["errors"] = errors
                .map(|(omega, error)| json!({"omega": omega, "relative": error}))
                .collect();
        }
        value
    }
}
