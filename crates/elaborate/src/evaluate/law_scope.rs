//! The names that the equations of an element, or the body of a modal block, can use.

use crate::context::values::Value;
use crate::program::mode_table::ModeTable;
use lgm_algebra::expr::ExprId;
use lgm_syntax::ast::Table;

/// The names that an element's equations can use.
pub(crate) struct LawScope<'a> {
    pub formals: Vec<(&'a str, Value)>,
    pub ports: Vec<ScopePort<'a>>,
    pub time: Option<ExprId>,
    pub tables: &'a [Table],
    /// For a mode of a modal block, its row in a table.
    pub table: Option<TableScope<'a>>,
}

/// The variables of one port.
pub(crate) struct ScopePort<'a> {
    pub name: Option<&'a str>,
    pub across: Value,
    pub through: Value,
    pub effort: Value,
    pub flow: Value,
    /// True for a bond, which has no across and through variables.
    pub is_bond: bool,
}

/// Further data of a tabulated function of the position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TableScope<'a> {
    pub table: &'a ModeTable,
    pub row: usize,
    /// The current function.
    pub function: &'a str,
}
