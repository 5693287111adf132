//! The data for explaining a conflict of sources: the model, its junction structure and their names.

use crate::bond::{BondGraph, Origin};
use crate::causality::elimination::Row;
use crate::causality::structure::{Equation, Structure, column_port, port_column};
use crate::causality::words::{Fact, Words};
use lgm_model::{Law, Model, PortId, Variable};
use rustc_hash::FxHashMap;

/// Returns the variable that a source gives.
pub(crate) fn given(model: &Model, port: PortId) -> Option<Variable> {
    let element = model.graph.ports[port.index()].element;
    match &model.graph.elements[element.index()].law {
        Law::Source { given, .. } => Some(*given),
        _ => None,
    }
}

/// A structure with a conflict, and the names of its variables.
pub(crate) struct ConflictContext<'a> {
    pub(crate) model: &'a Model,
    pub(crate) graph: &'a BondGraph,
    pub(crate) structure: &'a Structure,
    pub(crate) rows: &'a [Row<u64>],
    pub(crate) words: Words<'a>,
    pub(crate) inner: FxHashMap<u32, Fact>,
}

impl ConflictContext<'_> {
    pub(crate) fn given_column(&self, port: PortId) -> u32 {
        let given = given(self.model, port).expect("invariant: only sources are in conflict");
        port_column(port, given)
    }

    pub(crate) fn fact(&self, column: u32) -> Fact {
        self.words.fact(&self.inner, column)
    }

    pub(crate) fn name(&self, column: u32) -> String {
        self.words.name(self.fact(column))
    }

    pub(crate) fn is_silent(&self, row: u32) -> bool {
        matches!(self.structure.equations[row as usize], Equation::Port(_))
    }

    /// Returns the name of the variable that a source sets: its current, or the voltage of a node.
    pub(crate) fn own_name(&self, column: u32, port: PortId) -> String {
        let (_, variable) = column_port(column);
        match self.fact(column) {
            Fact::Own(..) if self.words.is_across(port, variable) != Some(true) => {
                let domain = self.model.graph.ports[port.index()].domain;
                format!("its {}", self.words.variable(domain, variable))
            }
            Fact::Common(junction) if matches!(self.graph.junctions[junction as usize].origin, Origin::Branch(own) if own == port) =>
            {
                let domain = self.model.graph.ports[port.index()].domain;
                format!("its {}", self.words.variable(domain, variable))
            }
            fact => self.words.name(fact),
        }
    }

    pub(crate) fn is_cut(&self, rows: &[u32]) -> bool {
        let mut nodes = 0;
        let all = rows.iter().all(|row| match self.structure.equations[*row as usize] {
            Equation::Port(_) => true,
            Equation::Junction(junction) => match self.graph.junctions[junction as usize].origin {
                Origin::Node(node) => {
                    nodes += 1;
                    self.model.graph.nodes[node.index()].is_graph_node
                }
                _ => false,
            },
            Equation::Bond(_) | Equation::Coupler(..) => false,
        });
        all && nodes > 1
    }
}
