//! Models with modes: the equations of one combination of modes, and the outputs watched by a run.
//!
//! A combination of modes is a model of fixed structure. Its equations get additional outputs after the declared ones:
//! the margins of conditions, the values used by events, and the variables of storage and of elements with modes. If a
//! mode gives a variable of a port, an internal input is added to it, the *offset*: the difference between the variable
//! just before a change and the value from the law. At the change the offset steps to 0. A change of modes therefore
//! moves states like a step of an input, and conserves momentum, charge and flux linkage (docs/switching.md).

mod bounds;
mod combination;
mod conditions;
mod events;
mod explore;
mod inside;
mod nearest;
mod redundant;
mod watching;

pub use combination::{Combination, InModes, Offset, PowerOutputs, WatchedBound, WatchedChange};
pub use conditions::Condition;
pub use events::{Events, Formulated};
pub use explore::{Explored, ExploredModes, explore};
pub use inside::Inside;
pub use nearest::{Made, first_modes, near, shared};
