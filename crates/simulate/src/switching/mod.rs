//! Runs of models with modes, `when` and `every` blocks.
//!
//! A run is made of parts between events. In each part one combination of modes is in force, which is a model of fixed structure with
//! equations of its own (`library`, `prepared`); a part ends where a condition becomes true (`watch`) or at an instant of an `every`
//! block. At an event blocks assign and modes change, until nothing follows (`follow`, `instant`); the order of all that, and the
//! search for modes, are those of the runtime. `run` is the loop over parts and events, `course` what it keeps, and `balance` keeps
//! account of the energy.

pub(crate) mod balance;
mod columns;
mod course;
mod follow;
pub(crate) mod held;
mod instant;
mod library;
mod prepared;
mod run;
mod setup;
mod starts;
mod undetermined;
pub(crate) mod watch;

pub use balance::Balance;
pub use run::run_switched;
pub use setup::{Event, Finished, Switched};
