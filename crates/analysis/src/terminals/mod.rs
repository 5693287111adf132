//! Terminal equations: the relation between the across and through variables at the open ports of a component.
//!
//! [`isolate`] separates the component from its model and adds a source at each port. [`Isolated::choose`] decides which variables are
//! given. [`terminals`] computes the equations from the changed model.

mod choose;
mod equations;
mod fault;
mod isolate;
mod modes;
mod outside;

pub use equations::{Terminals, terminals};
pub use isolate::{Isolated, isolate};
pub use modes::{ModalMatrices, modal_matrices};
