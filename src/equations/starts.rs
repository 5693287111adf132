//! Starts of dependent storage: a constraint that must be consistent (language 9).

use super::formulate::Run;
use super::given::parameter_values;
use super::matrices::Present;
use super::system::{StartConstraint, StateSystem};
use crate::causality::Causality;
use crate::diagnostic::Diagnostic;
use crate::elaborate::model::{Law, Model, PortId, StateChoice, StorageForm};
use crate::expr::{ExprId, Exprs, to_f64};

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
            .map(|(state, factor)| match *factor {
                1.0 => state.name.to_string(),
                factor => format!("{factor}*{}", state.name),
            })
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

/// The same constraints over the parameters, to be checked again where a run changes these.
pub(crate) fn constraints<F: Present>(
    model: &Model,
    causality: &Causality,
    system: &mut StateSystem,
    run: &Run<F::Element>,
    field: &mut F,
) -> Vec<StartConstraint> {
    let mut exprs = std::mem::take(&mut system.exprs);
    let mut list = Vec::new();
    for (port, row) in causality.dependent.iter().zip(&run.dependent_co_energy) {
        let element = &model.elements[model.ports[port.index()].element.index()];
        let at = (port.0 - element.ports.start) as usize;
        let Some(Some(given)) = element.start.get(at) else {
            continue;
        };
        let mut terms = Vec::new();
        for (column, factor) in row.iter().filter(|entry| (entry.0 as usize) < system.states.len()) {
            let factor = field.present(&mut exprs, factor);
            terms.push(exprs.mul(factor, system.states[*column as usize].start));
        }
        let co_energy = exprs.sum(terms);
        let follows = match natural_factor(model, *port, &mut exprs) {
            Some(factor) => exprs.mul(factor, co_energy),
            None => co_energy,
        };
        list.push(StartConstraint {
            element: model.element_name(model.ports[port.index()].element).into(),
            given: *given,
            follows,
            span: element.start_span.unwrap_or(element.law_span),
        });
    }
    system.exprs = exprs;
    list
}

/// The factor of [`natural_scale`] as an expression; none where it is 1.
fn natural_factor(model: &Model, port: PortId, exprs: &mut Exprs) -> Option<ExprId> {
    let element = &model.elements[model.ports[port.index()].element.index()];
    let at = (port.0 - element.ports.start) as usize;
    match (&element.law, element.state_choice) {
        (Law::Storage { value, form, .. }, StateChoice::Energy) => Some(match form {
            StorageForm::Direct => value.get(at, at),
            StorageForm::Inverse => {
                let one = exprs.one();
                exprs.div(one, value.get(at, at))
            }
        }),
        _ => None,
    }
}

/// The factor from co-energy to the variable that the user gives a start for; 1 for graph elements.
pub(super) fn natural_scale(model: &Model, port: PortId, number: &dyn Fn(ExprId) -> f64) -> f64 {
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
