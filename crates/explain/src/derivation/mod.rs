//! The derivation of state equations as the source documents lay it out: the shell of the states, other constitutive equations, node and
//! loop equations of a linear graph over its normal tree, junctions of a bond graph, numbered substitutions, and the result.
//!
//! Each step is an equation with the numbers of the steps that it follows from. It is made of what the stages decided: the laws of the flat
//! model, its causality with the normal tree, its states and its equations. It is evaluated at random points before it is shown.

mod check;
mod eliminate;
mod laws;
mod make;
mod order;
mod print;
mod report;
mod results;
mod terms;
mod topology;
mod variables;

pub use make::derivation;
pub use print::{Piece, json, latex, markdown, pieces, text, typst};
pub use report::{Derivation, Given, Rule, Step};
