//! A model without some of its elements.

use super::probe::refused;
use lgm_algebra::expr::{ExprId, SymbolId};
use lgm_model::{BondEnd, BondId, Connection, DomainId, ElementId, Law, Measure, Model, PortId};
use lgm_source::diagnostic::Diagnostic;
use rustc_hash::FxHashSet;

/// The new indices of a model's parts after some elements are removed; none for removed parts.
pub(crate) struct Places {
    pub(crate) ports: Vec<Option<PortId>>,
    pub(crate) elements: Vec<Option<ElementId>>,
    bonds: Vec<Option<BondId>>,
}

impl Places {
    /// Returns the measured quantity in the reduced model; `None` if it was removed. Junctions keep their indices.
    pub(crate) fn measure(&self, measure: Measure) -> Option<Measure> {
        match measure {
            Measure::PortEffort(port) => self.ports[port.index()].map(Measure::PortEffort),
            Measure::PortFlow(port) => self.ports[port.index()].map(Measure::PortFlow),
            Measure::BondEffort(bond) => self.bonds[bond.index()].map(Measure::BondEffort),
            Measure::BondFlow(bond) => self.bonds[bond.index()].map(Measure::BondFlow),
            Measure::Common(node) => Some(Measure::Common(node)),
        }
    }
}

/// Returns the model without some elements of a domain and without their measurements; an error if these control the rest.
pub(super) fn without(
    model: &Model,
    domain: DomainId,
    is_removed: &dyn Fn(ElementId) -> bool,
) -> Result<Model, Box<Diagnostic>> {
    let mut rest = model.clone();
    let places = elements_and_bonds(model, &mut rest, is_removed);
    let mut gone: FxHashSet<SymbolId> = FxHashSet::default();
    rest.measures.clear();
    for (symbol, measure) in &model.measures {
        let moved = match *measure {
            Measure::Common(node) if model.graph.nodes[node.index()].domain == Some(domain) => None,
            other => places.measure(other),
        };
        match moved {
            Some(measure) => rest.measures.push((*symbol, measure)),
            None => {
                gone.insert(*symbol);
            }
        }
    }
    rest.outputs.clear();
    rest.start_conditions.clear();
    let depends = |roots: &[ExprId], gone: &FxHashSet<SymbolId>| {
        let mut symbols = model.exprs.symbols_of(roots).into_iter();
        symbols.any(|symbol| gone.contains(&symbol))
    };
    // The integral of a removed part is removed too.
    loop {
        let is_lost = |integral: &lgm_model::Integral, gone: &FxHashSet<SymbolId>| {
            let owner = integral.owner.map(|owner| places.elements[owner.index()]);
            owner == Some(None) || depends(&[integral.rate], gone)
        };
        let lost: Vec<SymbolId> = rest
            .integrals
            .iter()
            .filter(|integral| is_lost(integral, &gone))
            .map(|integral| integral.symbol)
            .collect();
        if lost.is_empty() {
            break;
        }
        rest.integrals.retain(|integral| !lost.contains(&integral.symbol));
        gone.extend(lost);
    }
    for integral in &mut rest.integrals {
        integral.owner = integral.owner.and_then(|owner| places.elements[owner.index()]);
    }
    rest.signals.retain(|signal| !depends(&[signal.value], &gone));
    let is_controlled = rest.graph.elements.iter().any(|element| match &element.law {
        Law::Source { values, .. } => depends(values, &gone),
        Law::Coupler { matrix, .. } => depends(&matrix.entries, &gone),
        Law::Nonlinear(law) => depends(&law.residuals, &gone),
        Law::Storage { .. } | Law::Dissipator(_) => false,
    });
    match is_controlled {
        true => Err(refused(
            "the network behind a coupler is controlled by variables of the domain",
            "conversion requires networks that interact only through couplers",
        )),
        false => Ok(rest),
    }
}

/// Removes elements, and the bonds at them, from a copy of the model.
pub(crate) fn elements_and_bonds(model: &Model, rest: &mut Model, is_removed: &dyn Fn(ElementId) -> bool) -> Places {
    let mut places = Places {
        ports: vec![None; model.graph.ports.len()],
        elements: vec![None; model.graph.elements.len()],
        bonds: vec![None; model.graph.bonds.len()],
    };
    (rest.graph.elements, rest.graph.ports, rest.graph.bonds) = (Vec::new(), Vec::new(), Vec::new());
    for (index, element) in model.graph.elements.iter().enumerate() {
        let id = ElementId(index as u32);
        if is_removed(id) {
            continue;
        }
        let own = ElementId(rest.graph.elements.len() as u32);
        places.elements[index] = Some(own);
        let first = rest.graph.ports.len() as u32;
        for port in model.ports_of(id) {
            places.ports[port.index()] = Some(PortId(rest.graph.ports.len() as u32));
            let mut port = model.graph.ports[port.index()].clone();
            port.element = own;
            rest.graph.ports.push(port);
        }
        let mut element = element.clone();
        element.ports = first..rest.graph.ports.len() as u32;
        rest.graph.elements.push(element);
    }
    rest.switching.elements.retain_mut(|switched| {
        let own = places.elements[switched.element.index()];
        switched.element = own.unwrap_or(switched.element);
        own.is_some()
    });
    for (index, bond) in model.graph.bonds.iter().enumerate() {
        let moved = |end: BondEnd| match end {
            BondEnd::Node(node) => Some(BondEnd::Node(node)),
            BondEnd::Port(port) => places.ports[port.index()].map(BondEnd::Port),
        };
        if let (Some(tail), Some(head)) = (moved(bond.tail), moved(bond.head)) {
            places.bonds[index] = Some(BondId(rest.graph.bonds.len() as u32));
            rest.graph.bonds.push(lgm_model::Bond {
                tail,
                head,
                ..bond.clone()
            });
        }
    }
    for port in &mut rest.graph.ports {
        if let Connection::Bond(bond) = &mut port.connection
            && let Some(moved) = places.bonds[bond.index()]
        {
            *bond = moved;
        }
    }
    places
}
