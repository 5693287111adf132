//! Dynamic augmentation (McCalla 1991, section 2.2): parasitic elements that give dependent storage a state of its own.
//!
//! The elements are inserted into the source text one at a time: [`candidates`] are the locations that may free one dependent element, the
//! best first. The compiler determines which of them does.

mod parasitic;
mod places;
mod subject;
mod text;

pub use places::candidates;
pub use subject::{ModelText, Place, Rule, Starts};
pub use text::{Candidate, Parameters, end_of_line};
