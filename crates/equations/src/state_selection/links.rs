//! The storage of each state of a system, and the states that share momenta or charges.

use crate::causality::elimination::Row;
use lgm_algebra::expr::SymbolId;
use lgm_model::system::StateSystem;
use lgm_model::{BondEnd, Connection, DomainId, Law, Model, PathId, PortId, Variable};
use rustc_hash::FxHashMap;

/// The storage of each state, and the storage that shares its momentum or charge.
#[derive(Clone, Debug, Default)]
pub(crate) struct Links {
    /// The states of storage.
    pub(crate) carriers: FxHashMap<SymbolId, Carrier>,
    /// The ports of dependent storage with given initial values, in the order of the constraints.
    pub(crate) dependent: Vec<PortId>,
    /// States that dependent storage, or a field, ties together.
    pub(crate) ties: Vec<Tie>,
}

/// The owner of a state.
#[derive(Clone, Debug)]
pub(crate) enum Carrier {
    /// A storage port of the model.
    Port(PortId),
    /// A velocity that no storage of the model carries: its measurement.
    Velocity {
        variable: Variable,
        domain: Option<DomainId>,
        path: PathId,
        at: Place,
    },
}

/// The reference of a measured velocity.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    /// Across a branch.
    Branch(Connection),
    /// At a junction.
    Junction(BondEnd),
}

impl Carrier {
    /// Returns the owner of a storage port's state in a model that may have more storage than the written one.
    fn of(model: &Model, id: PortId) -> Carrier {
        let port = &model.graph.ports[id.index()];
        let element = &model.graph.elements[port.element.index()];
        let Law::Storage { co_energy, .. } = element.law else {
            return Carrier::Port(id);
        };
        if !element.is_velocity() {
            return Carrier::Port(id);
        }
        let at = match &port.connection {
            Connection::Bond(bond) => Place::Junction(model.graph.bonds[bond.index()].tail),
            branch => Place::Branch(branch.clone()),
        };
        Carrier::Velocity {
            variable: co_energy,
            domain: port.domain,
            path: element.path,
            at,
        }
    }
}

/// States that move together.
#[derive(Clone, Debug)]
pub(crate) struct Tie {
    pub(crate) states: Vec<SymbolId>,
    /// True if a constant source takes part.
    pub(crate) is_driven: bool,
}

impl Links {
    /// Registers the owners of the states of storage ports, and the ties of fields.
    pub(crate) fn carry(&mut self, model: &Model, ports: &[PortId], states: &[SymbolId]) {
        let mut of_port: FxHashMap<PortId, SymbolId> = FxHashMap::default();
        for (port, state) in ports.iter().zip(states) {
            self.carriers.insert(*state, Carrier::of(model, *port));
            of_port.insert(*port, *state);
        }
        for element in &model.graph.elements {
            let Law::Storage { value, .. } = &element.law else {
                continue;
            };
            let is_zero = |row: usize, column: usize| model.exprs.is_zero(value.get(row, column));
            let pairs = (0..value.rows).flat_map(|row| (0..row).map(move |column| (row, column)));
            let mut pairs = pairs.filter(|(row, column)| !is_zero(*row, *column) || !is_zero(*column, *row));
            if pairs.next().is_some() {
                let ports = element.ports.clone().map(PortId);
                let states = ports.filter_map(|port| of_port.get(&port).copied()).collect();
                let is_driven = false;
                self.ties.push(Tie { states, is_driven });
            }
        }
    }

    /// Ties the states in each row of dependent storage; a column represents a state, or possibly a constant source.
    pub(crate) fn tie<E>(
        &mut self,
        rows: &[Row<E>],
        state: impl Fn(u32) -> Option<SymbolId>,
        is_constant: impl Fn(u32) -> bool,
    ) {
        for row in rows {
            let states: Vec<SymbolId> = row.iter().filter_map(|entry| state(entry.0)).collect();
            let is_driven = row.iter().any(|entry| is_constant(entry.0));
            if states.len() > 1 || is_driven {
                self.ties.push(Tie { states, is_driven });
            }
        }
    }
}

/// The data for finding initial values by impulses: the model, its links, and the formulation of the second model.
pub(crate) struct Impulses<'a> {
    pub(crate) model: &'a Model,
    pub(crate) links: &'a Links,
    pub(crate) formulate: &'a dyn Fn(&Model) -> Option<StateSystem>,
    pub(crate) size_limit: u64,
}

/// The reason why initial values do not follow by conservation.
#[derive(Clone, Debug)]
pub(crate) enum ImpulseFault {
    /// The effect of the impulses has no closed form.
    Unknown { states: Vec<usize> },
    /// The first value of an input would be needed.
    Input { states: Vec<usize>, input: usize },
}
