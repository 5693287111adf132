//! One instant of a run with events: the next modes (`transition`, `complementarity`, `contacts`), and the states in them
//! (`entering`, `standing`).

mod complementarity;
mod contacts;
mod entering;
pub(crate) mod faults;
pub(crate) mod standing;
pub(crate) mod transition;
