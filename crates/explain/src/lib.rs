//! Reports on the steps from a model to its equations, as data and as text.
//!
//! No decisions are made here: the results of the compiler stages are expressed with the names that the author chose.
//! [`causality`](mod@causality) reports which variable each element sets for the rest of the model, and why. [`reduce`] reports how storage
//! without a state of its own is treated. [`derivation`](mod@derivation) shows the equations step by step, from the elements to the result.

pub mod augment;
pub mod causality;
pub mod derivation;
mod names;
pub mod reduce;

pub use causality::{CausalityReport, causality};
