//! Text to syntax tree. Parsing never fails: it returns a tree and diagnostics.

pub mod ast;
