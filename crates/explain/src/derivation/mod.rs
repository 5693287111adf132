//! The derivation of state equations, in the layout of the source documents: the state equations before substitution, the other
//! constitutive equations, the node and loop equations of a linear graph or the junctions of a bond graph, numbered substitutions,
//! and the result.
//!
//! Each step is an equation with the numbers of the steps that it follows from. Steps are built from the results of the compiler stages:
//! the laws of the flat model, its causality with the normal tree, its states and its equations. Each is evaluated at random points before
//! it is shown.

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
mod vectors;

pub use make::derivation;
pub use print::{Piece, json, latex, markdown, pieces, text, typst};
pub use report::{Derivation, DerivationSource, Rule, Sides, Step};
pub use vectors::{VectorDerivation, vector_derivation};
