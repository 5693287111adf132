//! The variables that a coupler receives and sets.
//!
//! With `y = M x` and `conj(x) = -M' conj(y)`, the variables that a coupler receives at its ports may be chosen freely
//! under one condition. The square part of M between the x that the coupler gives and the y that it receives must be
//! regular. The number of received x and y together therefore equals the number of entries of x; at all other ports the
//! coupler receives the conjugate variable. Ports that M does not connect are counted separately.

use lgm_algebra::DisjointSets;
use lgm_model::{Law, Matrix, Model, PortId, Variable};
use rustc_hash::FxHashMap;

/// The ports of couplers in groups that depend on each other.
pub(super) struct Groups {
    /// The group of each port of a coupler.
    of_port: FxHashMap<PortId, u32>,
    groups: Vec<Group>,
}

/// Ports of one coupler that its matrix connects.
#[derive(Default)]
struct Group {
    /// The ports with their variables x or y.
    ports: Vec<(PortId, Variable)>,
    /// The number of these variables that every assignment takes.
    needed: usize,
    /// The number taken so far.
    taken: usize,
    /// The number of ports without an assignment so far.
    open: usize,
}

impl Groups {
    pub(super) fn of(model: &Model) -> Groups {
        let mut all = Groups {
            of_port: FxHashMap::default(),
            groups: Vec::new(),
        };
        for element in &model.graph.elements {
            if let Law::Coupler { input, output, matrix } = &element.law {
                let first = element.ports.start;
                let roots = connected(model, matrix);
                let mut group_of: FxHashMap<usize, u32> = FxHashMap::default();
                for (at, root) in roots.iter().enumerate() {
                    let group = *group_of.entry(*root).or_insert_with(|| {
                        all.groups.push(Group::default());
                        all.groups.len() as u32 - 1
                    });
                    let is_x = at < matrix.columns;
                    let port = PortId(first + at as u32);
                    let entry = &mut all.groups[group as usize];
                    entry.ports.push((port, if is_x { *input } else { *output }));
                    entry.needed += usize::from(is_x);
                    entry.open += 1;
                    all.of_port.insert(port, group);
                }
            }
        }
        all
    }

    /// Imposes a variable on a port; ports of other elements are ignored.
    pub(super) fn impose(&mut self, port: PortId, imposed: Variable) {
        let Some(group) = self.of_port.get(&port) else { return };
        let group = &mut self.groups[*group as usize];
        let own = group.ports.iter().find(|entry| entry.0 == port);
        group.taken += usize::from(own.is_some_and(|entry| entry.1 == imposed));
        group.open -= 1;
    }

    /// Returns the ports of a port's group and the variables to impose on them, if only one possibility remains; ports
    /// that are already assigned are included.
    pub(super) fn forced(&self, port: PortId) -> Vec<(PortId, Variable)> {
        let Some(group) = self.of_port.get(&port) else {
            return Vec::new();
        };
        let group = &self.groups[*group as usize];
        let left = group.needed.saturating_sub(group.taken);
        let takes = match left {
            _ if group.open == 0 => return Vec::new(),
            0 => false,
            left if left == group.open => true,
            _ => return Vec::new(),
        };
        let imposed = |own: Variable| if takes { own } else { own.conjugate() };
        group.ports.iter().map(|(port, own)| (*port, imposed(*own))).collect()
    }
}

/// Returns for each port of a coupler, x first, a representative of the ports that entries of the matrix connect with it.
fn connected(model: &Model, matrix: &Matrix) -> Vec<usize> {
    let mut sets = DisjointSets::new(matrix.columns + matrix.rows);
    for row in 0..matrix.rows {
        for column in 0..matrix.columns {
            if !model.exprs.is_zero(matrix.get(row, column)) {
                sets.join(column, matrix.columns + row);
            }
        }
    }
    sets.roots()
}
