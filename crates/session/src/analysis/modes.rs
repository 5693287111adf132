//! Poles with their shapes and sensitivities, as JSON, and the equations that mode shapes require.

use lgm_analysis::{LinearizeRequest, Mode, StorageOutputs, linearize, with_storage_outputs};
use lgm_compilation::Whole;
use lgm_equations::bond::BondGraph;
use lgm_equations::{Options, StateRequest, StateSystem, formulate_with_time};
use lgm_model::Model;
use lgm_source::diagnostic::Diagnostic;
use serde_json::{Value, json};

/// Returns the JSON of `lgm modes`: all poles in 1/s, and natural frequencies in rad/s.
pub fn modes_json(system: &StateSystem, modes: &[Mode], shapes: bool, sensitivity: &[String]) -> Value {
    let list = modes.iter().map(|mode| {
        let pole = mode.pole;
        let omega = pole.norm();
        let damping = (omega > 0.0).then(|| -pole.re / omega);
        let mut value = json!({
            "real": pole.re, "imaginary": pole.im, "omega": omega, "damping": damping, "rigid": omega == 0.0
        });
        if shapes {
            let entries = system.states.iter().zip(&mode.shape);
            let entries = entries.map(
                |(state, value)| json!({"element": &*state.element, "state": &*state.name, "re": value.re, "im": value.im}),
            );
            value["shape"] = entries.collect();
            let shares = mode.energy.iter();
            value["energy"] = shares
                .map(|(element, share)| json!({"element": &**element, "share": share}))
                .collect();
        }
        if !sensitivity.is_empty() {
            let entries = sensitivity.iter().zip(&mode.sensitivity);
            let entries = entries.map(|(name, value)| {
                json!({"parameter": name, "re": value.map(|value| value.re), "im": value.map(|value| value.im)})
            });
            value["sensitivity"] = entries.collect();
        }
        value
    });
    json!({"schema": "lgm-modes/1", "poles": list.collect::<Vec<Value>>()})
}

/// Derives the equations again, in power variables. Outputs that measure all storage follow the outputs of the model. Outputs that were
/// omitted as nonlinear stay omitted.
pub fn with_storage(
    whole: &Whole,
    retain: Vec<String>,
    linearized: Option<LinearizeRequest>,
    symbolic: bool,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<(Model, StateSystem, Vec<StorageOutputs>)> {
    let mut model = whole.model.clone();
    let kept = &whole.system.outputs;
    model
        .outputs
        .retain(|output| kept.iter().any(|kept| kept.name == output.name));
    let (model, storage) = with_storage_outputs(&model);
    let options = Options {
        states: StateRequest::Power,
        retain,
        symbolic,
        ..Options::default()
    };
    let (model, system) = formulated(model, &whole.graph, &options, linearized, diagnostics)?;
    Some((model, system, storage))
}

/// Formulates the equations of a changed model, and adds errors to the diagnostics.
pub fn formulated(
    model: Model,
    graph: &BondGraph,
    options: &Options,
    linearized: Option<LinearizeRequest>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<(Model, StateSystem)> {
    let (made, found) = formulate_with_time(&model, graph, options);
    diagnostics.extend(found.into_iter().filter(Diagnostic::is_error));
    let (system, own) = made?;
    let model = own.unwrap_or(model);
    let Some(asked) = linearized else {
        return Some((model, system));
    };
    let (system, found) = linearize(&model, &system, &asked);
    diagnostics.extend(found.into_iter().filter(Diagnostic::is_error));
    Some((model, system?))
}
