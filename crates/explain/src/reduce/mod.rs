//! The reduction of storage fields (McCalla 1991): dependent storage with its causal paths, gains and equivalent parameters, conserved
//! quantities, and the text of the model with one element for each field.

mod conserved;
mod json;
mod make;
mod merging;
mod parameters;
mod report;
pub(crate) mod rewrite;
mod text;

pub use json::json;
pub use make::reduction;
pub use report::{Class, Conserved, Dependent, GainedPath, Merge, MergeKind, Reduction, ReductionReport};
pub use rewrite::{Rewritten, reduced_text, report_what_stays};
pub use text::text;
