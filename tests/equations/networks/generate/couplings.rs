//! Connections of regions: bonds, transformers and gyrators between their nodes and junctions.

use super::super::network::*;
use super::super::random::coupling;
use super::Builder;

impl Builder {
    /// A bond, a transformer or a gyrator between two junctions, in either direction.
    pub(super) fn join(&mut self, a: Slot, b: Slot) {
        let (tail, head) = if self.random.percent(50) { (a, b) } else { (b, a) };
        let widths = (self.network.width(tail), self.network.width(head));
        let domain = |slot: Slot| self.network.junctions[slot.junction].domain;
        let same_domain = domain(tail).is_none() || domain(head).is_none() || domain(tail) == domain(head);
        if widths.0 == widths.1 && same_domain && self.random.percent(60) {
            self.network.bonds.push(Bond { tail, head });
            return;
        }
        let (law, kind) = self.random.choose(&[(Law::Tf, "TF"), (Law::Tf, "TF"), (Law::Gy, "GY")]);
        let matrix = self.coupler_matrix(widths.0, widths.1);
        self.element(
            "t",
            law,
            kind,
            matrix,
            vec![Connection::Bond(tail), Connection::Bond(head)],
        );
    }

    pub(super) fn coupler_matrix(&mut self, rows: usize, columns: usize) -> Matrix {
        if rows == columns && (rows == 1 || self.random.percent(25)) {
            return Matrix::scalar(self.random.modulus());
        }
        coupling(&mut self.random, rows, columns)
    }

    /// A transformer or a gyrator between branches of two graph nodes.
    pub(super) fn couple_branches(&mut self, a: Slot, b: Slot) {
        let (law, kind) = self.random.choose(&[
            (Law::Transformer, "Transformer"),
            (Law::Transformer, "Transformer"),
            (Law::Gyrator, "Gyrator"),
        ]);
        let matrix = self.coupler_matrix(self.network.width(b), self.network.width(a));
        let ports = [a, b]
            .into_iter()
            .map(|slot| {
                let other = self.other_end(slot);
                let (from, to) = self.either_way(Some(slot), other);
                Connection::Branch { from, to }
            })
            .collect();
        self.element("t", law, kind, matrix, ports);
    }

    /// The reference, or sometimes another node of the same domain and width.
    pub(super) fn other_end(&mut self, slot: Slot) -> Option<Slot> {
        if !self.random.percent(25) {
            return None;
        }
        let domain = self.network.junctions[slot.junction].domain;
        let width = self.network.width(slot);
        let list: Vec<Slot> = (0..self.network.junctions.len())
            .filter(|&at| at != slot.junction)
            .map(|junction| Slot { junction, entry: None })
            .filter(|other| {
                let junction = &self.network.junctions[other.junction];
                junction.kind == JunctionKind::Node && junction.domain == domain && self.network.width(*other) == width
            })
            .collect();
        if list.is_empty() {
            None
        } else {
            Some(self.random.choose(&list))
        }
    }

    /// Couples two regions.
    pub(super) fn couple(&mut self, a: &[Slot], b: &[Slot]) {
        let a = self.random.choose(a);
        let b = self.random.choose(b);
        let is_node = |slot: Slot| self.network.junctions[slot.junction].kind == JunctionKind::Node;
        if is_node(a) && is_node(b) {
            self.couple_branches(a, b);
        } else if a.junction != b.junction {
            self.join(a, b);
        }
    }
}
