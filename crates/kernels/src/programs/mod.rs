//! Conversion of expressions to programs over arrays.

pub(crate) mod body;
pub(crate) mod fuse;
pub(crate) mod graph;
pub(crate) mod layout;
pub(crate) mod lower;
pub mod operation;
pub mod program;
pub(crate) mod reroll;
pub(crate) mod units;
pub(crate) mod walk;
