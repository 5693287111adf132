//! Why the equations are what they are: reports on the way from a model to its equations, as data and as text.
//!
//! Nothing is decided here. What the stages decided is put into the names and the words of the model's author:
//! [`causality`](mod@causality) says which variable each element gives to the rest of the model, and why.

pub mod causality;

pub use causality::{CausalityReport, causality};
