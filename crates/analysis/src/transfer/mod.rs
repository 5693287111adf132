//! Transfer functions `H(s) = C (s I - A)^-1 (B + s E) + D + s F` in lowest terms.

mod elimination;
mod functions;
mod multiple;
mod numeric;
mod steps;
mod zeros;
mod zpk;

pub(crate) use functions::{Functions, functions};
pub use functions::{SymbolicTransfer, TransferFunction, symbolic_transfer};
pub use numeric::numeric_transfer;
pub use steps::{Combination, EliminationStep, Term, elimination_steps};
pub use zpk::{Factored, MOST_STATES, factored};
