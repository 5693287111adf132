//! Models with modes: the equations of one combination of modes, and what a run watches in them.
//!
//! A combination of modes is a model of fixed structure. Its equations get further outputs, behind those that the author declared:
//! the margins of conditions, the values that events read, and the variables of storage and of elements with modes. Where a mode gives
//! a variable of a port, an internal input is added to it, the *offset*: the difference between what the variable was just before a
//! change and what the law gives. At the change the offset steps to 0. So a change of modes moves states as a step of an
//! input does, and keeps momentum, charge and flux linkage (docs/switching.md).

mod combination;
mod conditions;
mod events;
mod explore;
mod nearest;

pub use combination::{Combination, InModes, Offset, PowerOutputs, WatchedChange};
pub use conditions::Condition;
pub use events::Events;
pub use explore::{Explored, ExploredModes, explore};
pub use nearest::{first_modes, near};
