//! One instant of a run with events: the modes that follow (`transition`, `complementarity`, `contacts`), and the states in them
//! (`entering`, `standing`).

mod complementarity;
mod contacts;
mod entering;
mod faults;
pub(crate) mod standing;
pub(crate) mod transition;
