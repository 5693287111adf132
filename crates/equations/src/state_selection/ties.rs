//! Storage that ideal elements tie to states and sources.
//!
//! The junction structure conserves power, and causality uses only the structure to find dependent storage. The law of
//! an ideal op-amp, `in.across = 0; in.through = 0`, is not part of it: according to the structure, the capacitor of a
//! differentiator has a state, although the op-amp keeps its voltage equal to that of the source. The laws of
//! dissipators then contradict each other. The contradiction identifies the storage that must give up its state; with
//! derivative causality there the same laws are regular.

use crate::causality::{Causality, Request};
use crate::index_reduction::{Defect, are_tied, defects};
use crate::parameter_values::sampled;
use lgm_model::{Dissipator, ElementId, Law, Model, PortId};

/// Returns a causality in which ideal elements tie storage, if that makes singular laws regular; `decide` decides
/// causality for a request.
pub(crate) fn with_ties<Found>(
    model: &Model,
    causality: &Causality,
    request: &Request,
    mut decide: impl FnMut(&Request) -> Option<(Causality, Found)>,
) -> Option<(Causality, Found)> {
    let is_ideal = |id: ElementId| {
        let law = &model.graph.elements[id.index()].law;
        matches!(law, Law::Dissipator(Dissipator::Implicit(..)))
    };
    if !(0..model.graph.elements.len()).any(|at| is_ideal(ElementId(at as u32))) {
        return None;
    }
    let ideal_defects = |causality: &Causality| -> Vec<Defect> {
        let all = defects(model, causality, &mut sampled(model, 5));
        all.into_iter().filter(|defect| !defect.storage).collect()
    };
    let mut request = request.clone();
    let mut left = ideal_defects(causality);
    let mut found = None;
    while !left.is_empty() {
        let ports = |defect: &Defect| -> Vec<ElementId> {
            let of_ports = defect.ports.iter().map(|port| model.graph.ports[port.index()].element);
            of_ports.chain(defect.elements.iter().copied()).collect()
        };
        let ideal = left.iter().filter(|defect| ports(defect).into_iter().any(is_ideal));
        let mut candidates: Vec<PortId> = ideal.flat_map(|defect| defect.opposed.iter().copied()).collect();
        candidates.retain(|port| is_storage(model, *port) && !request.tied.contains(port));
        // The last declared element gives up its state, unless it is to be retained.
        candidates.sort_by_key(|port| {
            let is_retained = request.retain.contains(&model.graph.ports[port.index()].element);
            (is_retained, std::cmp::Reverse(*port))
        });
        candidates.dedup();
        let mut level = None;
        let better = candidates.into_iter().find_map(|port| {
            let mut with = request.clone();
            with.tied.push(port);
            let (causality, rest) = decide(&with)?;
            let after = ideal_defects(&causality);
            let (before, count) = (left.len(), after.len());
            let found = causality
                .tied
                .contains(&port)
                .then_some((with, causality, rest, after))?;
            if count == before {
                level.get_or_insert(found);
                return None;
            }
            (count < before).then_some(found)
        });
        // Storage of one loop gives up its states together: if only the first one did, another would have the state instead.
        let (with, causality, rest, after) = better.or(level)?;
        (request, left) = (with, after);
        found = Some((causality, rest));
    }
    found.filter(|(causality, _)| are_tied(model, causality, &mut sampled(model, 5)))
}

fn is_storage(model: &Model, port: PortId) -> bool {
    let element = &model.graph.elements[model.graph.ports[port.index()].element.index()];
    matches!(element.law, Law::Storage { .. })
}
