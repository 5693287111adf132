//! Regions of one notation: linear graphs with ladders and meshes, and bond graphs.

use super::super::network::*;
use super::{Builder, one_port};

impl Builder {
    /// A linear graph: nodes joined to earlier ones or to the reference, further branches, sometimes a ladder.
    pub(super) fn graph_region(&mut self) -> Vec<Slot> {
        let domain = self.random.choose(&Domain::ALL);
        let mut nodes: Vec<Slot> = Vec::new();
        let count = self.random.between(1, 4);
        for _ in 0..count {
            let width = if self.random.percent(12) {
                Some(self.random.between(2, 3))
            } else {
                None
            };
            let node = self.junction(JunctionKind::Node, Some(domain), width);
            let partners = self.partners(&nodes, node);
            let other = if partners.is_empty() || self.random.percent(40) {
                None
            } else {
                Some(self.random.choose(&partners))
            };
            let (from, to) = self.either_way(Some(node), other);
            if self.random.percent(15) {
                self.driven(domain, from, to)
            } else {
                self.passive(domain, from, to)
            }
            nodes.push(node);
            if width.is_some() && self.random.percent(60) {
                let entry = self.random.below(self.network.width(node));
                nodes.push(Slot {
                    entry: Some(entry),
                    ..node
                });
            }
        }
        if self.random.percent(8) {
            nodes.extend(self.ladder(
                domain,
                nodes.first().copied().filter(|slot| self.network.width(*slot) == 1),
            ));
        }
        for _ in 0..self.random.between(0, 5) {
            let from = self.random.choose(&nodes);
            let partners = self.partners(&nodes, from);
            let to = if partners.is_empty() || self.random.percent(45) {
                None
            } else {
                Some(self.random.choose(&partners))
            };
            let (from, to) = self.either_way(Some(from), to);
            if self.random.percent(12) {
                self.driven(domain, from, to)
            } else {
                self.passive(domain, from, to)
            }
        }
        if self.random.percent(15) {
            self.dissipative_mesh(domain, &nodes);
        }
        nodes
    }

    /// Resistors between all pairs of some scalar nodes and the reference: deltas, bridges, algebraic loops.
    pub(super) fn dissipative_mesh(&mut self, domain: Domain, nodes: &[Slot]) {
        let mut ends: Vec<Option<Slot>> = nodes
            .iter()
            .filter(|slot| self.network.width(**slot) == 1)
            .take(3)
            .map(|slot| Some(*slot))
            .collect();
        ends.push(None);
        let word = match domain {
            Domain::Electrical => (Law::Resistance, "Resistor"),
            Domain::Fluid => (Law::Resistance, "FluidResistor"),
            Domain::Translational => (Law::Conductance, "Damper"),
            Domain::Rotational => (Law::Conductance, "RotaryDamper"),
        };
        for i in 0..ends.len() {
            for k in 0..i {
                self.branch(word.0, word.1, ends[i], ends[k]);
            }
        }
    }

    /// Other slots of the same width, not of the same junction.
    pub(super) fn partners(&self, nodes: &[Slot], node: Slot) -> Vec<Slot> {
        let width = self.network.width(node);
        nodes
            .iter()
            .copied()
            .filter(|other| self.network.width(*other) == width && *other != node)
            .collect()
    }

    pub(super) fn either_way(&mut self, a: Option<Slot>, b: Option<Slot>) -> (Option<Slot>, Option<Slot>) {
        if self.random.percent(50) { (a, b) } else { (b, a) }
    }

    /// A chain of equal cells that may begin at a node.
    pub(super) fn ladder(&mut self, domain: Domain, start: Option<Slot>) -> Vec<Slot> {
        let number = self.network.ladders.len() + 1;
        let count = self.random.between(2, 3);
        let inner = self.random.percent(50);
        let nodes = format!("v{number}");
        let cells = format!("cell{number}");
        let mut body = Vec::new();
        let mut path = if inner {
            vec![(Place::Left, Place::Inner), (Place::Inner, Place::Right)]
        } else {
            vec![(Place::Left, Place::Right)]
        };
        path.push((Place::Right, Place::Reference));
        for (at, (from, to)) in path.into_iter().enumerate() {
            let (law, kind) = one_port(&mut self.random, domain, to == Place::Reference);
            body.push((format!("e{}", at + 1), law, kind, self.random.value(), from, to));
        }
        let hidden = |network: &mut Network, name: String| {
            network.junctions.push(Junction {
                name,
                kind: JunctionKind::Node,
                domain: Some(domain),
                width: None,
                hidden: true,
            });
            Slot {
                junction: network.junctions.len() - 1,
                entry: None,
            }
        };
        let chain: Vec<Slot> = (0..=count)
            .map(|at| hidden(&mut self.network, format!("{nodes}[{}]", at + 1)))
            .collect();
        for cell in 0..count {
            let own = inner.then(|| hidden(&mut self.network, format!("{cells}[{}].m", cell + 1)));
            for (name, law, kind, value, from, to) in body.clone() {
                let end = |place: Place| match place {
                    Place::Left => Some(chain[cell]),
                    Place::Right => Some(chain[cell + 1]),
                    Place::Inner => own,
                    Place::Reference => None,
                };
                let ports = vec![Connection::Branch {
                    from: end(from),
                    to: end(to),
                }];
                let index = self.element("e", law, kind, Matrix::scalar(value), ports);
                let element = &mut self.network.elements[index];
                element.name = format!("{cells}[{}].{name}", cell + 1);
                element.hidden = true;
                element.named = false;
            }
        }
        self.network.ladders.push(Ladder {
            nodes,
            cells,
            domain,
            count,
            inner,
            body,
        });
        self.passive(domain, Some(chain[0]), start);
        chain
    }

    /// A bond graph: junctions joined as a tree, sometimes with a mesh, and elements on them.
    pub(super) fn bond_region(&mut self) -> Vec<Slot> {
        let vector = if self.random.percent(12) {
            Some((self.random.between(2, 3), self.random.choose(&Domain::ALL)))
        } else {
            None
        };
        let count = self.random.between(1, 5);
        let mut junctions: Vec<Slot> = Vec::new();
        for at in 0..count {
            let kind = self.random.choose(&[JunctionKind::Zero, JunctionKind::One]);
            let junction = self.junction(kind, vector.map(|it| it.1), vector.map(|it| it.0));
            if at > 0 {
                let other = self.random.choose(&junctions);
                self.join(other, junction);
            }
            junctions.push(junction);
        }
        for _ in 0..2 {
            if count > 2 && self.random.percent(30) {
                let a = self.random.choose(&junctions);
                let b = self.random.choose(&junctions);
                if a != b {
                    self.join(a, b);
                }
            }
        }
        for junction in junctions.clone() {
            for _ in 0..self.random.between(0, 2) {
                self.bond_element(junction);
            }
        }
        let first = junctions[0];
        self.bond_element(first);
        junctions
    }

    /// A storage, a dissipator or a source on a junction.
    pub(super) fn bond_element(&mut self, junction: Slot) {
        if self.random.percent(15) {
            let (law, kind) = self.random.choose(&[(Law::Se, "Se"), (Law::Sf, "Sf")]);
            let width = self.network.width(junction);
            let signals = (0..width).map(|_| self.signal()).collect();
            let matrix = Matrix::scalar(Value::new(1, 0));
            let index = self.element("s", law, kind, matrix, vec![Connection::Bond(junction)]);
            self.network.elements[index].signals = signals;
            return;
        }
        let (law, kind) = self
            .random
            .choose(&[(Law::BondI, "I"), (Law::BondC, "C"), (Law::BondR, "R")]);
        let width = self.network.width(junction);
        let matrix = self.matrix_for(law, width);
        self.element("b", law, kind, matrix, vec![Connection::Bond(junction)]);
    }
}
