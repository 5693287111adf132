//! Causal strokes, conflicts between elements, and the choice of states.

mod augment;
mod by_hand;
pub mod command;
mod conflicts;
mod control_loops;
mod headline;
mod ill_posed;
pub mod report;
pub mod state_choice;
mod strokes;
mod total_states;
