//! Why the equations are what they are: reports on the way from a model to its equations, as data and as text.
//!
//! Nothing is decided here. What the stages decided is put into the names and the words of the model's author:
//! [`causality`](mod@causality) says which variable each element gives to the rest of the model, and why;
//! [`reduce`] says what becomes of storage without a state of its own;
//! [`derivation`](mod@derivation) writes the way from the elements to the equations, step by step.

pub mod augment;
pub mod causality;
pub mod derivation;
mod names;
pub mod reduce;

pub use causality::{CausalityReport, causality};
