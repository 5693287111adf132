//! Dynamic augmentation (McCalla 1991, section 2.2): parasitic elements that give dependent storage a state of its own.
//!
//! The elements go into the author's text, one place after the other: [`candidates`] are the places that may free one dependent
//! element, the best first. The compiler tells which of them does.

mod parasitic;
mod places;
mod subject;
mod text;

pub use places::candidates;
pub use subject::{Given, Place, Rule, Starts};
pub use text::{Candidate, Parameters, end_of_line};
