//! Terminal equations: the relation between the across and through variables at the open ports of a component.
//!
//! [`isolate`] takes the component out of its model and puts a source at each port, [`Isolated::choose`] decides which variables are
//! given, and [`terminals`] reads the equations off those of the changed model.

mod choose;
mod equations;
mod fault;
mod isolate;
mod modes;
mod outside;

pub use equations::{Terminals, terminals};
pub use isolate::{Isolated, isolate};
pub use modes::{ModalMatrices, modal_matrices};
