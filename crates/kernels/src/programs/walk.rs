//! Traversals of expressions in which each one follows its parts.

use crate::programs::layout::Layout;
use lgm_algebra::expr::{ExprId, Exprs, Node};
use rustc_hash::FxHashMap;

/// A table pays off if at least one in this number of expressions of an arena is a root.
const DENSE: usize = 64;

/// A map from some expressions of an arena to values.
///
/// For large parts of the arena, a table in the order of the arena: neighbours in a model are neighbours there, so that a large system does
/// not cause a million scattered reads.
#[derive(Clone, Debug)]
pub(crate) enum ById<T> {
    Table(Vec<Option<T>>),
    Map(FxHashMap<ExprId, T>),
}

impl<T: Copy> ById<T> {
    /// Creates a map for the parts of `roots` roots of an arena.
    pub(crate) fn new(exprs: &Exprs, roots: usize) -> ById<T> {
        match roots.saturating_mul(DENSE) >= exprs.len() {
            true => ById::Table(vec![None; exprs.len()]),
            false => ById::Map(FxHashMap::default()),
        }
    }

    pub(crate) fn get(&self, id: ExprId) -> Option<T> {
        match self {
            ById::Table(table) => table.get(id.0 as usize).copied().flatten(),
            ById::Map(map) => map.get(&id).copied(),
        }
    }

    pub(crate) fn insert(&mut self, id: ExprId, value: T) {
        match self {
            ById::Table(table) => table[id.0 as usize] = Some(value),
            ById::Map(map) => {
                map.insert(id, value);
            }
        }
    }
}

/// A traversal of all parts of some roots that visits each expression once.
#[derive(Debug)]
pub(crate) struct Walk<'a> {
    exprs: &'a Exprs,
    layout: &'a Layout,
    passed: ById<()>,
    stack: Vec<ExprId>,
}

impl<'a> Walk<'a> {
    /// Creates a traversal for approximately `roots` roots.
    pub(crate) fn new(exprs: &'a Exprs, layout: &'a Layout, roots: usize) -> Walk<'a> {
        Walk {
            exprs,
            layout,
            passed: ById::new(exprs, roots),
            stack: Vec::new(),
        }
    }

    /// Omits an expression, and the parts that only it contains.
    pub(crate) fn pass(&mut self, id: ExprId) {
        self.passed.insert(id, ());
    }

    /// Adds all parts of a root that have not been passed before, parts first; an assigned symbol comes after its value.
    pub(crate) fn to(&mut self, root: ExprId, order: &mut Vec<ExprId>) {
        self.stack.push(root);
        while let Some(id) = self.stack.last().copied() {
            if self.passed.get(id).is_some() {
                self.stack.pop();
                continue;
            }
            let waiting = self.stack.len();
            match self.exprs.node(id) {
                Node::Symbol(symbol) => self.stack.extend(self.layout.value_of(*symbol)),
                node => self.stack.extend(node.children()),
            }
            let mut at = waiting;
            while at < self.stack.len() {
                if self.passed.get(self.stack[at]).is_some() {
                    self.stack.swap_remove(at);
                } else {
                    at += 1;
                }
            }
            if self.stack.len() == waiting {
                self.passed.insert(id, ());
                order.push(id);
                self.stack.pop();
            }
        }
    }
}
