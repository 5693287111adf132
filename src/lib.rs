//! lgm compiles textual models of physical systems to state equations.

#![warn(missing_docs)]

pub mod source;

pub mod diagnostic;

pub mod units;

pub mod expr;

pub mod algebra;

pub mod syntax;

pub mod elaborate;

pub mod bond;

pub mod causality;

pub mod reduce;

pub mod equations;

pub mod analysis;

pub mod emit;

pub mod import;
