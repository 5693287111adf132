//! The maximum width of lines, and the indentation.

/// Lines are broken, and blocks opened, beyond this many columns.
pub(super) const COLUMNS: usize = 100;

/// The number of additional spaces before each line of a block.
pub(super) const INDENT: usize = 2;
