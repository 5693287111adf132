//! The storage of each state of nonlinear equations, and the storage elements that share momenta or charges.

use crate::causality::Causality;
use crate::causality::elimination::Row;
use crate::causality::structure::port_column;
use crate::formulation::dependent_starts::{constant_part, declared_starts};
use crate::index_reduction::Reduced;
use crate::nonlinear::prepare::Prepared;
use crate::state_selection::links::{Carrier, Links};
use lgm_algebra::expr::SymbolId;
use lgm_model::system::StateSystem;
use lgm_model::{Law, Model, PortId};
use rustc_hash::FxHashSet;

/// Returns the energy variable of a storage port with its own nonlinear law.
fn energy_of(model: &Model, port: PortId) -> Option<SymbolId> {
    let element = &model.graph.elements[model.graph.ports[port.index()].element.index()];
    match &element.law {
        Law::Nonlinear(law) => Some(law.storage[(port.0 - element.ports.start) as usize]?.1),
        _ => None,
    }
}

/// Returns true if the junction structure gives the co-energy of such a port, so that the port has no state.
pub(super) fn follows(model: &Model, causality: &Causality, port: PortId) -> bool {
    let element = &model.graph.elements[model.graph.ports[port.index()].element.index()];
    let Law::Nonlinear(law) = &element.law else {
        return false;
    };
    let storage = law.storage[(port.0 - element.ports.start) as usize];
    storage.is_some_and(|(co_energy, _)| causality.solved[port.index()] == Some(co_energy))
}

/// Returns the columns of the co-energies of nonlinear storage that follow from others.
pub(super) fn followers(prepared: &Prepared) -> Vec<u32> {
    let Prepared { model, causality, .. } = prepared;
    let ports = causality.nonlinear.iter().copied();
    let ports = ports.filter(|port| follows(model, causality, *port));
    let solved = |port: PortId| causality.solved[port.index()].expect("invariant: causality assigns every storage");
    ports.map(|port| port_column(port, solved(port))).collect()
}

/// Returns the source ports whose value has a part that is switched on at the start.
fn switched_sources(model: &Model, ports: impl Iterator<Item = PortId>) -> FxHashSet<PortId> {
    let ports: FxHashSet<PortId> = ports.collect();
    if ports.is_empty() {
        return ports;
    }
    let mut exprs = model.exprs.clone();
    let starts = declared_starts(model);
    let mut is_switched = |port: &PortId| {
        let element = &model.graph.elements[model.graph.ports[port.index()].element.index()];
        let Law::Source { values, .. } = &element.law else {
            return false;
        };
        let value = values[(port.0 - element.ports.start) as usize];
        constant_part(&mut exprs, value, &starts).is_some()
    };
    ports.into_iter().filter(|port| is_switched(port)).collect()
}

/// Returns the storage with states, and its ties; `followers` are the rows of the columns of the same name. The states
/// with the indices `totals` are not tied: they hold everything that their storage shares.
pub(super) fn links<E>(
    prepared: &Prepared,
    system: &StateSystem,
    reduced: &Reduced<E>,
    followers: &[Row<E>],
    totals: &FxHashSet<usize>,
) -> Links {
    let Prepared { model, causality, .. } = prepared;
    let storage = reduced.known.storage;
    let states: Vec<SymbolId> = system.states[..storage].iter().map(|state| state.symbol).collect();
    let source = |column: u32| {
        let sources = reduced.known.source(0)..reduced.known.source_rate(0);
        sources
            .contains(&column)
            .then(|| reduced.sources[(column - reduced.known.source(0)) as usize])
    };
    let state = |column: u32| match states.get(column as usize) {
        Some(state) => (!totals.contains(&(column as usize))).then_some(*state),
        None => energy_of(model, source(column)?),
    };
    let rows = [&reduced.dependent_co_energy[..], followers];
    let switched = switched_sources(
        model,
        rows.into_iter().flatten().flatten().filter_map(|entry| source(entry.0)),
    );
    let is_constant = |column: u32| source(column).is_some_and(|port| switched.contains(&port));
    let mut links = Links::default();
    links.carry(model, &reduced.independent, &states);
    for total in totals {
        links.carriers.remove(&states[*total]);
    }
    for port in &causality.nonlinear {
        if let Some(energy) = energy_of(model, *port)
            && !follows(model, causality, *port)
        {
            links.carriers.insert(energy, Carrier::Port(*port));
        }
    }
    links.tie(&reduced.dependent_co_energy, state, is_constant);
    links.tie(followers, state, is_constant);
    links
}
