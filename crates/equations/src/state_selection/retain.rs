//! Storage that should keep its state (`--retain`), and the reasons why it cannot.

use crate::causality::Causality;
use crate::causality::elimination::Row;
use crate::causality::relation::{co_energy, determinants, keeps_state};
use crate::causality::words::list;
use crate::options::Options;
use crate::parameter_values::sampled;
use lgm_algebra::{FromExpression, PrimeField, Sampled};
use lgm_model::{ElementId, Law, Model, PortId};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::nearest::did_you_mean;

/// Returns the elements named by `--retain`, each once, with a diagnostic for each name that is not a storage element.
pub fn retained(model: &Model, options: &Options, diagnostics: &mut Vec<Diagnostic>) -> Vec<ElementId> {
    let elements = || (0..model.graph.elements.len() as u32).map(ElementId);
    let storage = || {
        let found = elements().filter(|id| is_storage(model, *id));
        found.map(|id| model.element_name(id)).collect::<Vec<String>>()
    };
    let mut found = Vec::new();
    for name in &options.retain {
        match elements().find(|id| model.element_name(*id) == *name) {
            Some(id) if found.contains(&id) => {}
            Some(id) if is_storage(model, id) => found.push(id),
            Some(id) => diagnostics.push(
                Diagnostic::error(
                    Code::LGM0904,
                    format!("`--retain {name}`: `{name}` is not a storage element"),
                )
                .label(model.element_span(id), "this element stores no energy")
                .help(all(&storage())),
            ),
            None => diagnostics.push(
                Diagnostic::error(
                    Code::LGM0904,
                    format!("`--retain {name}`: the model has no element `{name}`"),
                )
                .help(candidates(name, &storage())),
            ),
        }
    }
    found
}

/// Suggests elements to retain instead of an invalid name: similar names, or all.
fn candidates(name: &str, storage: &[String]) -> String {
    match did_you_mean(name, storage.iter().map(String::as_str)) {
        Some(near) if near.starts_with("did you mean") => near,
        _ => all(storage),
    }
}

fn all(storage: &[String]) -> String {
    let names: Vec<String> = storage.iter().map(|name| format!("`{name}`")).collect();
    match names.is_empty() {
        true => "remove the option: this model has no storage elements".to_string(),
        false => format!("storage elements are {}", list(&names)),
    }
}

/// Returns true if an element stores energy.
fn is_storage(model: &Model, id: ElementId) -> bool {
    match &model.graph.elements[id.index()].law {
        Law::Storage { .. } => true,
        Law::Nonlinear(law) => {
            law.storage.iter().any(Option::is_some) || model.integrals.iter().any(|found| found.owner == Some(id))
        }
        _ => false,
    }
}

/// Reports retained elements that do not keep all their states, and the variables that these follow from. `rows` are
/// the rows of the junction structure, in the field in which causality was decided.
pub(crate) fn unmet(
    model: &Model,
    causality: &Causality,
    retain: &[ElementId],
    rows: impl Fn() -> Vec<Row<u64>>,
) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for &id in retain {
        let ports: Vec<PortId> = model
            .ports_of(id)
            .filter(|port| co_energy(model, *port).is_some())
            .collect();
        let (kept, lost): (Vec<PortId>, Vec<PortId>) =
            ports.into_iter().partition(|port| keeps_state(model, causality, *port));
        if lost.is_empty() {
            continue;
        }
        let mut causes: Vec<PortId> = lost
            .iter()
            .flat_map(|port| determinants(model, causality, rows(), *port))
            .collect();
        causes.sort_unstable();
        causes.dedup();
        found.push(refusal(model, retain, id, (kept.len(), lost.len()), &causes));
    }
    found
}

/// Returns the rows of the junction structure in the prime field, with the parameters in general or at their values,
/// whichever decided causality.
pub(crate) fn sampled_rows(model: &Model, causality: &Causality, general: bool) -> Vec<Row<u64>> {
    let mut sampled = match general {
        true => Sampled::new(1),
        false => sampled(model, 1),
    };
    let modulus = |_: &mut PrimeField, id| {
        let value = sampled.from_expression(&model.exprs, id).unwrap_or(0);
        Ok::<u64, std::convert::Infallible>(value)
    };
    let rows = causality.structure.rows_in(&mut PrimeField, modulus);
    rows.unwrap_or_else(|never| match never {})
}

/// Returns an error if no state is kept, and a remark if some are.
fn refusal(
    model: &Model,
    retain: &[ElementId],
    id: ElementId,
    (kept, lost): (usize, usize),
    causes: &[PortId],
) -> Diagnostic {
    let name = model.element_name(id);
    let others = elements_of(model, causes, |other| other != id);
    let follows = match others.is_empty() {
        true => "it follows from its own other entries".to_string(),
        false => format!("it follows from {}", names(model, &others)),
    };
    let span = model.element_span(id);
    let mut diagnostic = match kept {
        0 => Diagnostic::error(
            Code::LGM0927,
            format!("`--retain {name}`: `{name}` cannot keep its state"),
        )
        .label(span, follows),
        _ => {
            let message = format!("`--retain {name}`: `{name}` keeps {kept} of its {} states", kept + lost);
            Diagnostic::information(Code::LGM0927, message)
                .label(span, format!("its further stored variables: {follows}"))
        }
    };
    let is_source = |id: ElementId| matches!(model.graph.elements[id.index()].law, Law::Source { .. });
    let sources = elements_of(model, causes, is_source);
    if !sources.is_empty() && sources.len() == others.len() {
        diagnostic = diagnostic.note(format!("{} always determines what it stores", names(model, &sources)));
    }
    let also = elements_of(model, causes, |other| other != id && retain.contains(&other));
    if !also.is_empty() {
        diagnostic = diagnostic.note(format!(
            "retained earlier, and not independent of it: {}",
            names(model, &also)
        ));
    }
    let geometry = elements_of(model, causes, |other| {
        other != id && !is_source(other) && !retain.contains(&other)
    });
    if !geometry.is_empty() {
        diagnostic = diagnostic.note(format!(
            "a modulus depends on a displacement, whose rate must be a state: {}",
            names(model, &geometry)
        ));
    }
    match (kept, also.is_empty()) {
        (_, false) => diagnostic.help(format!("remove `--retain {name}`, or put it before the others")),
        (0, true) => diagnostic.help(format!("remove `--retain {name}`")),
        (_, true) => diagnostic,
    }
}

/// Returns the elements of ports that satisfy a predicate, each once.
fn elements_of(model: &Model, ports: &[PortId], wanted: impl Fn(ElementId) -> bool) -> Vec<ElementId> {
    let mut found: Vec<ElementId> = Vec::new();
    for port in ports {
        let id = model.graph.ports[port.index()].element;
        if wanted(id) && !found.contains(&id) {
            found.push(id);
        }
    }
    found
}

fn names(model: &Model, elements: &[ElementId]) -> String {
    let names = elements.iter().map(|id| {
        let name = model.element_name(*id);
        match model.graph.elements[id.index()].is_velocity() {
            true => format!("the velocity at `{name}`"),
            false => format!("`{name}`"),
        }
    });
    list(&names.collect::<Vec<String>>())
}
