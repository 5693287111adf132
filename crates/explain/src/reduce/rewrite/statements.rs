//! The meaning of the names of a text.

use lgm_model::{BondEnd, Connection, Model, NodeId};
use lgm_source::Span;
use lgm_syntax::ast::{self, Expr, ExprKind, Instance, Statement, StatementKind};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;

/// The statements of a model that declare elements and junctions directly, not within a loop, a component or a vector.
pub(super) struct Names<'t> {
    instances: FxHashMap<String, (&'t Statement, &'t Instance)>,
    junctions: FxHashSet<String>,
}

impl<'t> Names<'t> {
    pub(super) fn of(model: &Model, declared: &'t ast::Model) -> Names<'t> {
        let mut names = Names {
            instances: FxHashMap::default(),
            junctions: FxHashSet::default(),
        };
        for statement in &declared.body {
            match &statement.kind {
                StatementKind::Instance(instance) if instance.declared.brackets.is_empty() => {
                    let name = instance.declared.name.text.to_string();
                    names.instances.insert(name, (statement, instance));
                }
                StatementKind::Node(found) | StatementKind::Zero(found) | StatementKind::One(found) => {
                    let plain = found.names.iter().filter(|name| name.brackets.is_empty());
                    names.junctions.extend(plain.map(|name| name.name.text.to_string()));
                }
                _ => {}
            }
        }
        // A name that occurs in loops and bindings must stay.
        let mut held: FxHashSet<String> = FxHashSet::default();
        for statement in &declared.body {
            match &statement.kind {
                StatementKind::For(each) => names_in(&each.body, &mut held),
                StatementKind::If(choice) => {
                    choice.branches.iter().for_each(|branch| names_in(&branch.1, &mut held));
                    names_in(&choice.otherwise, &mut held);
                }
                StatementKind::Instance(instance) => {
                    for binding in instance.bindings.iter().flatten() {
                        mentioned(&binding.value, &mut held);
                    }
                }
                _ => {}
            }
        }
        names.junctions.retain(|name| !held.contains(name));
        names.instances.retain(|name, _| !held.contains(name));
        let is_vector = |name: &String| {
            let mut nodes = model.graph.nodes.iter();
            nodes.any(|node| node.entry.is_some() && model.path_name(node.path) == *name)
        };
        names.junctions.retain(|name| !is_vector(name));
        names
    }

    pub(super) fn has_instance(&self, name: &str) -> bool {
        self.instances.contains_key(name)
    }

    /// A known instance.
    pub(super) fn instance(&self, name: &str) -> (&'t Statement, &'t Instance) {
        self.instances[name]
    }

    /// Returns true if a junction may be removed from the text.
    pub(super) fn has_junction(&self, name: &str) -> bool {
        self.junctions.contains(name)
    }
}

fn names_in(body: &[Statement], held: &mut FxHashSet<String>) {
    lgm_syntax::visit::statements(body, &mut |statement| {
        lgm_syntax::visit::statement_expressions(statement, &mut |expr| mentioned(expr, held));
    });
}

/// Collects all names in an expression.
fn mentioned(expr: &Expr, held: &mut FxHashSet<String>) {
    if let ExprKind::Name(name) = &expr.kind {
        held.insert(name.text.to_string());
    }
    lgm_syntax::visit::child_expressions(expr, &mut |child| mentioned(child, held));
}

/// Returns the name at the beginning of a bond's or branch's end: `T` of `T.in`.
pub(crate) fn base(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::Name(name) => Some(&name.text),
        ExprKind::Member(of, _) | ExprKind::Index(of, _) => base(of),
        _ => None,
    }
}

/// Returns the byte range of a span.
pub(crate) fn range(span: Span) -> Range<usize> {
    span.start as usize..span.end as usize
}

/// Returns the bonds and branches that end at each node.
pub(super) fn ends_at(model: &Model) -> Vec<Vec<Incident>> {
    let mut found = vec![Vec::new(); model.graph.nodes.len()];
    let mut add = |node: NodeId, incident: Incident| found[node.index()].push(incident);
    for (at, bond) in model.graph.bonds.iter().enumerate() {
        for (end, other) in [(bond.tail, bond.head), (bond.head, bond.tail)] {
            if let BondEnd::Node(node) = end {
                add(node, Incident::Bond(at as u32, other));
            }
        }
    }
    for (at, port) in model.graph.ports.iter().enumerate() {
        if let Connection::Branch { from, to, .. } = &port.connection {
            for node in [from, to].into_iter().flatten() {
                add(*node, Incident::Branch(lgm_model::PortId(at as u32)));
            }
        }
    }
    found
}

/// A bond or a branch that ends at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Incident {
    /// A bond, with its other end.
    Bond(u32, BondEnd),
    /// A branch.
    Branch(lgm_model::PortId),
}
