//! How wide lines are, and how far they are indented.

/// Lines are broken, and blocks opened, beyond this many columns.
pub(super) const COLUMNS: usize = 100;

/// Blanks in front of each line of a block, more than the block itself has.
pub(super) const INDENT: usize = 2;
