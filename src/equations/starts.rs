//! Starts of dependent storage: a constraint that must be consistent (language 9).

use super::formulate::{Run, parameter_values};
use super::system::StateSystem;
use crate::causality::Causality;
use crate::diagnostic::Diagnostic;
use crate::elaborate::model::{Law, Model, PortId, StateChoice, StorageForm};
use crate::expr::{ExprId, to_f64};

/// Checks each `start` given on dependent storage against the starts of the storage that determines it.
pub(crate) fn check_dependent_starts(
    model: &Model,
    causality: &Causality,
    system: &StateSystem,
    run: &Run<f64>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let values = parameter_values(model);
    let number = |id: ExprId| {
        model
            .exprs
            .evaluate_exact(&[id], &|symbol| values.get(&symbol).cloned())
            .map_or(f64::NAN, |list| to_f64(&list[0]))
    };
    for (port, row) in causality.dependent.iter().zip(&run.dependent_co_energy) {
        let element = &model.elements[model.ports[port.index()].element.index()];
        let at = (port.0 - element.ports.start) as usize;
        let Some(Some(start)) = element.start.get(at) else {
            continue;
        };
        let start = number(*start);
        let scale = natural_scale(model, *port, &number);
        let states: Vec<_> = row
            .iter()
            .filter(|entry| (entry.0 as usize) < system.states.len())
            .map(|(column, factor)| (&system.states[*column as usize], factor * scale))
            .collect();
        let follows: f64 = states.iter().map(|(state, factor)| factor * state.start_value).sum();
        if (follows - start).abs() <= 1e-9 * follows.abs().max(start.abs()) {
            continue;
        }
        let name = model.element_name(model.ports[port.index()].element);
        let relation: Vec<String> = states
            .iter()
            .map(|(state, factor)| format!("{factor}*{}", state.name))
            .collect();
        let relation = if relation.is_empty() {
            "0".to_string()
        } else {
            relation.join(" + ")
        };
        diagnostics.push(
            Diagnostic::error(
                "LGM0425",
                format!("`{name}` starts at {start}, but what it is joined to starts it at {follows}"),
            )
            .label(element.start_span.unwrap_or(element.law_span), "this start")
            .note(format!("`{name}` has no state of its own: its value is {relation}"))
            .help(format!(
                "start the storage that carries the state instead, or keep the state here with `--retain {name}`"
            )),
        );
    }
}

/// The factor from co-energy to the variable that the user gives a start for; 1 for graph elements.
fn natural_scale(model: &Model, port: PortId, number: &dyn Fn(ExprId) -> f64) -> f64 {
    let element = &model.elements[model.ports[port.index()].element.index()];
    let at = (port.0 - element.ports.start) as usize;
    match (&element.law, element.state_choice) {
        (Law::Storage { value, form, .. }, StateChoice::Energy) => match form {
            StorageForm::Direct => number(value.get(at, at)),
            StorageForm::Inverse => 1.0 / number(value.get(at, at)),
        },
        _ => 1.0,
    }
}
