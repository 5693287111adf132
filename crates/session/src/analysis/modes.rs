//! Poles with their shapes and sensitivities, as JSON, and the equations that mode shapes require.

use lgm_algebra::expr::SymbolId;
use lgm_analysis::{LinearizeRequest, Mode, StorageOutputs, linearize, with_storage_outputs};
use lgm_compilation::Whole;
use lgm_equations::bond::BondGraph;
use lgm_equations::{Options, StateRequest, StateSystem, formulate_with_time};
use lgm_model::Model;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::nearest::did_you_mean;
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

/// Returns the parameters with these names, for the sensitivities of poles. `declared` is the number of parameters of the model: if the
/// equations contain values of a numeric equilibrium, these values depend on the parameters in an unknown way.
pub fn varied_parameters(
    names: &[String],
    system: &StateSystem,
    declared: usize,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<SymbolId> {
    if !names.is_empty() && system.parameters.len() > declared {
        let message =
            "the sensitivities are unknown: the equilibrium depends on the parameters but is only known numerically";
        let fault = Diagnostic::error(Code::LGM0934, message);
        diagnostics.push(fault.help(
            "give the equilibrium in terms of the parameters, `--at \"x=m*g/k\"`, or compare two values with `--set`",
        ));
    }
    let mut found = Vec::new();
    for name in names {
        match parameter_entry(system, name, "--sensitivity") {
            Ok(place) => found.push(place.1),
            Err(fault) => diagnostics.push(*fault),
        }
    }
    found
}

/// Returns the place and the symbol of the parameter, or the entry of a parameter, that an option names.
///
/// # Errors
///
/// If the model has no such parameter.
pub fn parameter_entry(system: &StateSystem, name: &str, option: &str) -> Result<(usize, SymbolId), Box<Diagnostic>> {
    let entries = system.parameters.iter().flat_map(|parameter| &parameter.entries);
    let symbols: Vec<SymbolId> = entries.map(|entry| entry.symbol).collect();
    let named = |symbol: &SymbolId| &*system.exprs.symbol_info(*symbol).name;
    if let Some(place) = symbols.iter().position(|symbol| named(symbol) == name) {
        if system.is_fixed(place) {
            let message = format!("`{option} {name}`: `{name}` determines the instants of an `every` block");
            let fault = Diagnostic::error(Code::LGM0905, message);
            return Err(Box::new(fault.help("compare two values with `--set`")));
        }
        return Ok((place, symbols[place]));
    }
    let message = format!("`{option} {name}`: the model has no parameter `{name}`");
    let fault = Diagnostic::error(Code::LGM0905, message);
    let help = did_you_mean(name, symbols.iter().map(named));
    Err(Box::new(help.into_iter().fold(fault, Diagnostic::help)))
}
