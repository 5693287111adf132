//! lgm compiles textual models of physical systems to state equations.

#![warn(missing_docs)]

pub mod algebra;
pub mod diagnostic;
pub mod elaborate;
pub mod equations;
pub mod expr;
pub mod source;
pub mod syntax;
pub mod units;
