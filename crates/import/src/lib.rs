//! Other notations -> the text of a `.lgm` model. Pure functions that access no files.
//!
//! AFTER THIS POINT there is ordinary source text, parsed and compiled like any other; only names remain from the foreign notation.

mod elements;
mod lg2ss;
mod matrix;
mod print;

pub use lg2ss::lg2ss;
