//! Runs compared with known answers, exact solutions and balances, and their failures.

mod between;
mod corners;
mod ends;
mod energy;
mod exact;
mod known_answers;
mod nonlinear;
mod output_errors;
mod problems;
pub mod runs;
mod scales;
pub mod shapes;
use crate::support;
use crate::systems;
