//! A component with open ports: it gets separate nodes there, because its terminal equations are requested.

use crate::context::{GraphPart, NodeShape, NodeView};
use crate::expand::Expansion;
use lgm_model::{Node, NodeId, PathId};
use lgm_syntax::ast::PortDecl;

impl<'a> Expansion<'_, 'a> {
    /// Returns true if the ports of this instance are left open.
    pub(super) fn is_opened(&self, instance: PathId) -> bool {
        let is_named = |name| self.graph.model.path_name(instance) == name;
        self.opened.is_some_and(is_named)
    }

    /// Creates separate nodes for a port, instead of those that it is bound to. An end at the reference stays there.
    pub(super) fn open(&mut self, port: &'a PortDecl, instance: PathId, bound: GraphPart) -> GraphPart {
        match bound {
            GraphPart::Nodes(view) if !view.is_ground() => {
                let shape = self.scopes.shapes[view.shape as usize].clone();
                GraphPart::Nodes(self.own_nodes(port, instance, view, &shape, None))
            }
            GraphPart::Indexed(entries) => {
                let mut entries: Vec<((i64, i64), GraphPart)> = entries.into_iter().collect();
                entries.sort_by_key(|entry| entry.0);
                let opened = entries.into_iter().map(|(at, entry)| match entry {
                    GraphPart::Nodes(view) if !view.is_ground() => {
                        let shape = self.scopes.shapes[view.shape as usize].clone();
                        (
                            at,
                            GraphPart::Nodes(self.own_nodes(port, instance, view, &shape, Some(at.0))),
                        )
                    }
                    other => (at, other),
                });
                GraphPart::Indexed(Box::new(opened.collect()))
            }
            other => other,
        }
    }

    fn own_nodes(
        &mut self,
        port: &'a PortDecl,
        instance: PathId,
        bound: NodeView,
        shape: &NodeShape,
        index: Option<i64>,
    ) -> NodeView {
        let count: i64 = shape.sizes.iter().product();
        let second = shape.sizes.get(1).copied().unwrap_or(1);
        let base = self.graph.model.graph.nodes.len() as u32;
        let mut from = bound.base;
        for at in 0..count {
            let indices: Vec<i64> = match (index, shape.sizes.len()) {
                (Some(index), _) => vec![index],
                (None, 0) => Vec::new(),
                (None, 1) => vec![at + 1],
                (None, _) => vec![at / second + 1, at % second + 1],
            };
            let path = self.graph.path(Some(instance), &port.declared.name, &indices);
            for _ in 0..shape.width {
                let node = Node {
                    path,
                    ..self.graph.model.graph.nodes[from as usize].clone()
                };
                let own = NodeId(self.graph.model.graph.nodes.len() as u32);
                self.graph.model.graph.nodes.push(node);
                self.graph.model.graph.open_ports.push(own);
                // The connectivity of the graph is unchanged.
                self.graph.branching.join(Some(own), Some(NodeId(from)));
                from += 1;
            }
        }
        NodeView { base, ..bound }
    }
}
