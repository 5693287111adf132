//! The names that the equations of an element, or the body of a modal block, can use.

use crate::context::values::Value;
use crate::program::mode_table::ModeTable;
use lgm_algebra::expr::ExprId;

/// The names that an element's equations can use.
pub(crate) struct LawScope<'a> {
    pub formals: Vec<(&'a str, Value)>,
    pub ports: Vec<ScopePort<'a>>,
    pub time: Option<ExprId>,
    /// Of a mode of a modal block, its row of a table.
    pub table: Option<TableScope<'a>>,
}

/// The variables of one port.
pub(crate) struct ScopePort<'a> {
    pub name: Option<&'a str>,
    pub across: Value,
    pub through: Value,
    pub effort: Value,
    pub flow: Value,
    /// A bond has no across and through variables.
    pub is_bond: bool,
}

/// What a function of the position that is tabulated needs beside its arguments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TableScope<'a> {
    pub table: &'a ModeTable,
    pub row: usize,
    /// The function that is evaluated.
    pub function: &'a str,
}
