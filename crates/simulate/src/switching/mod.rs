//! Runs of models with modes, `when` and `every` blocks.
//!
//! A run consists of parts between events. In each part one combination of modes is in force, which is a model of fixed
//! structure with its own equations (`library`, `prepared`). A part ends when a condition becomes true (`zero_crossings::watch`) or at
//! an instant of an `every` block. At an event, blocks assign values and modes change, until nothing follows (`follow`,
//! `instant`). The runtime defines the order of these steps and the search for modes. `run` is the loop over
//! parts and events, `course` contains its data, and `run::balance` accounts for the energy.

mod columns;
mod course;
mod delays;
mod follow;
pub(crate) mod held;
mod histories;
mod instant;
mod library;
mod prepared;
mod run;
mod setup;
mod starts;
mod undetermined;

pub use run::{run_switched, warnings_at_start};
pub use setup::{Event, Finished, Switched};
