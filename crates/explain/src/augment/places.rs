//! The locations in a text at which a parasitic element may free a dependent storage element.

use super::subject::{ModelText, Subject, instance_of};
use super::text::{Candidate, Parameters, Writer};
use lgm_model::{Connection, ElementId, Law, Model, PortId, Variable};

/// Returns the texts that may free a dependent element, the best location first. `path` is the causal path to the storage that determines
/// it: names of elements, nodes and junctions, beginning with the element itself.
pub fn candidates(given: &ModelText<'_>, element: &str, path: &[String], parameters: &Parameters) -> Vec<Candidate> {
    let model = given.model;
    let ids = (0..model.graph.elements.len() as u32).map(ElementId);
    let Some(id) = { ids }.find(|id| model.element_name(*id) == element) else {
        return Vec::new();
    };
    let ports: Vec<PortId> = model.ports_of(id).collect();
    let Some(co_energy) = co_energy(model, id) else {
        return Vec::new();
    };
    let effort_is_across = model.graph.ports[ports[0].index()]
        .domain
        .is_none_or(|domain| model.graph.domains[domain.index()].effort_is_across);
    let subject = Subject {
        given,
        id,
        name: element.to_string(),
        is_across: effort_is_across == (co_energy == Variable::Effort),
        ports,
    };
    let writer = Writer::new(&subject, parameters);
    let mut found = Vec::new();
    let is_bond = matches!(
        model.graph.ports[subject.ports[0].index()].connection,
        Connection::Bond(_)
    );
    match (is_bond, instance_of(given, element)) {
        (true, Some(_)) => {
            found.extend(coupler_of(&subject, path).and_then(|coupler| writer.bond_at_coupler(coupler)));
            found.extend(writer.bond_at_element());
        }
        (false, Some(instance)) if !subject.is_across => found.extend(writer.beside(instance)),
        (false, Some(instance)) => {
            let coupler = coupler_of(&subject, path);
            found.extend(coupler.and_then(|coupler| writer.branch_at_coupler(coupler)));
            found.extend(writer.branch_at_element(instance));
        }
        (false, None) if subject.is_across => {
            let holder = element.split('.').next().and_then(|name| instance_of(given, name));
            if let Some(holder) = holder {
                for binding in holder.bindings.iter().flatten() {
                    found.extend(writer.at_port(holder, &binding.name.text, &binding.value));
                }
            }
        }
        (_, None) => {}
    }
    found
}

fn co_energy(model: &Model, id: ElementId) -> Option<Variable> {
    match &model.graph.elements[id.index()].law {
        Law::Storage { co_energy, .. } => Some(*co_energy),
        Law::Nonlinear(law) => law.storage.iter().flatten().next().map(|port| port.0),
        _ => None,
    }
}

/// Returns the coupler on the path that is connected to the node or the junction of the element.
fn coupler_of(subject: &Subject<'_>, path: &[String]) -> Option<ElementId> {
    let model = subject.given.model;
    let name = path.get(2)?;
    let ids = (0..model.graph.elements.len() as u32).map(ElementId);
    ids.into_iter().find(|id| {
        model.element_name(*id) == *name && matches!(model.graph.elements[id.index()].law, Law::Coupler { .. })
    })
}
