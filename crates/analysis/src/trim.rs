//! Inputs that hold a system in equilibrium with given values of outputs.

use crate::linearize::{LinearizeRequest, linearize};
use lgm_model::Model;
use lgm_model::system::{OperatingPoint, State, StateSystem, StateVariable};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;

/// A request for an equilibrium.
#[derive(Clone, Debug, Default)]
pub struct TrimRequest {
    /// Outputs with their required values.
    pub required: Vec<(usize, f64)>,
    /// The free inputs; the others keep their values.
    pub varied: Vec<usize>,
}

/// Finds the equilibrium at which outputs have the required values. Free inputs are treated as states whose rate is the error of an output,
/// so the result is an equilibrium of all states.
pub fn trim(model: &Model, system: &StateSystem, request: &TrimRequest) -> Result<OperatingPoint, Vec<Diagnostic>> {
    if request.required.len() != request.varied.len() {
        let counts = (request.required.len(), request.varied.len());
        let message = format!("{} outputs are required, but {} inputs may vary", counts.0, counts.1);
        let fault = Diagnostic::error(Code::LGM0720, message);
        return Err(vec![
            fault.help("each required output needs one input: `--require y=1 --vary u`"),
        ]);
    }
    let mut changed = system.clone();
    for ((output, value), input) in request.required.iter().zip(&request.varied) {
        let input = &system.inputs[*input];
        let wanted = crate::values::decimal(&mut changed.exprs, *value);
        let error = changed.exprs.sub(system.equations.output_values[*output], wanted);
        let start = input.signal.unwrap_or_else(|| changed.exprs.zero());
        changed.equations.derivatives.push(error);
        changed.states.push(State {
            name: input.name.clone(),
            element: input.name.clone(),
            // Like a storage state, the input must come to rest.
            variable: StateVariable::Across,
            written: None,
            total_of: Vec::new(),
            unit: input.unit.clone(),
            symbol: input.symbol,
            start,
            start_value: 0.0,
            start_given: true,
            start_span: None,
            nominal: None,
            span: input.span,
        });
    }
    let is_kept = |at: &usize| !request.varied.contains(at);
    let kept: Vec<usize> = (0..system.inputs.len()).filter(is_kept).collect();
    changed.inputs = kept.iter().map(|at| system.inputs[*at].clone()).collect();
    changed.input_rates = kept.iter().map(|at| system.input_rates[*at]).collect();
    changed.equations.mass_matrix = None;
    changed.equations.mass_form = None;
    changed.matrices.blocks = None;
    changed.equations.rate_blocks.clear();
    changed.equations.linear = false;
    (changed.matrices.symbolic, changed.matrices.numeric) = (None, None);
    let asked = LinearizeRequest {
        equilibrium: true,
        symbolic: false,
    };
    let (found, diagnostics) = linearize(model, &changed, &asked);
    let Some(mut point) = found.and_then(|found| found.linearized_at) else {
        return Err(diagnostics);
    };
    point.inputs.extend(point.states.split_off(system.states.len()));
    // In the order of the model.
    let place = |name: &str| system.inputs.iter().position(|input| *input.name == *name);
    point.inputs.sort_by_key(|value| place(&value.name));
    Ok(point)
}
