//! The elements that determine dependent storage.

use super::Causality;
use super::elimination::{Elimination, Row};
use super::structure::{column_port, port_column};
use lgm_algebra::PrimeField;
use lgm_model::{Law, Model, PortId, Variable};

/// Returns the ports that determine the co-energy of a dependent storage port: storage with states of its own, and sources.
///
/// `rows` are the rows of the structure, in the field in which causality was decided. All other columns are eliminated,
/// which leaves relations among these ports only; independent ports have none.
pub(crate) fn determinants(model: &Model, causality: &Causality, rows: Vec<Row<u64>>, port: PortId) -> Vec<PortId> {
    let Some(co_energy) = co_energy(model, port) else {
        return Vec::new();
    };
    let known = |other| given(model, causality, other);
    determining(model, causality, rows, (port, co_energy), known)
}

/// Returns the ports whose known variables determine a variable of a port in the junction structure.
pub(crate) fn determining(
    model: &Model,
    causality: &Causality,
    rows: Vec<Row<u64>>,
    (port, variable): (PortId, Variable),
    known: impl Fn(PortId) -> Option<Variable>,
) -> Vec<PortId> {
    let mut field = PrimeField;
    let mut elimination = Elimination::new(rows, causality.structure.columns);
    elimination.pivot_all(&mut field, causality.structure.inner.iter().copied());
    let others = (0..model.graph.ports.len() as u32).map(PortId).flat_map(|other| {
        let known = match other == port {
            true => Some(variable),
            false => known(other),
        };
        let variables = [Variable::Effort, Variable::Flow].into_iter();
        let unknown = variables.filter(move |variable| Some(*variable) != known);
        unknown.map(move |variable| port_column(other, variable))
    });
    elimination.pivot_all(&mut field, others.collect::<Vec<u32>>());
    let Some(row) = elimination.pivot(&mut field, port_column(port, variable)) else {
        return Vec::new();
    };
    let columns = elimination.rows[row as usize].iter().map(|entry| entry.0);
    let mut found: Vec<PortId> = columns.map(|column| column_port(column).0).collect();
    found.retain(|other| *other != port);
    found.sort_unstable();
    found
}

/// Returns the variable of a port that its element gives to the structure: that of a source, or the co-energy of storage with a state.
fn given(model: &Model, causality: &Causality, port: PortId) -> Option<Variable> {
    let element = &model.graph.elements[model.graph.ports[port.index()].element.index()];
    match &element.law {
        Law::Source { given, .. } => Some(*given),
        _ => co_energy(model, port).filter(|_| keeps_state(model, causality, port)),
    }
}

/// Returns the co-energy of a storage port.
pub(crate) fn co_energy(model: &Model, port: PortId) -> Option<Variable> {
    let element = &model.graph.elements[model.graph.ports[port.index()].element.index()];
    match &element.law {
        Law::Storage { co_energy, .. } => Some(*co_energy),
        Law::Nonlinear(law) => law.storage[(port.0 - element.ports.start) as usize].map(|found| found.0),
        _ => None,
    }
}

/// Returns true if a storage port is in integral causality.
pub(crate) fn keeps_state(model: &Model, causality: &Causality, port: PortId) -> bool {
    let wanted = co_energy(model, port).map(Variable::conjugate);
    wanted.is_some() && causality.solved[port.index()] == wanted
}
