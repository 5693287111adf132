//! Ways through expressions, each after its parts.

use crate::layout::Layout;
use lgm_algebra::expr::{ExprId, Exprs, Node};
use rustc_hash::FxHashMap;

/// A table pays where one of so many expressions of an arena is a root.
const DENSE: usize = 64;

/// Something for each of some expressions of an arena.
///
/// Where much of the arena is meant, a table in the order of the arena: what is near in a model is near there, so that a large
/// system is not a million reads all over the memory.
#[derive(Clone, Debug)]
pub(crate) enum ById<T> {
    Table(Vec<Option<T>>),
    Map(FxHashMap<ExprId, T>),
}

impl<T: Copy> ById<T> {
    /// For what so many roots of an arena are made of.
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

/// A way through all that some roots are made of, each expression once.
#[derive(Debug)]
pub(crate) struct Walk<'a> {
    exprs: &'a Exprs,
    layout: &'a Layout,
    passed: ById<()>,
    stack: Vec<ExprId>,
}

impl<'a> Walk<'a> {
    /// A way to about so many roots.
    pub(crate) fn new(exprs: &'a Exprs, layout: &'a Layout, roots: usize) -> Walk<'a> {
        Walk {
            exprs,
            layout,
            passed: ById::new(exprs, roots),
            stack: Vec::new(),
        }
    }

    /// Leaves out an expression, and what it alone is made of.
    pub(crate) fn pass(&mut self, id: ExprId) {
        self.passed.insert(id, ());
    }

    /// Adds all that a root is made of and that was not passed before, parts first; an assigned symbol comes after its value.
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
