//! Other notations -> the text of a `.lgm` model. Pure functions: none of them reads or writes a file.
//!
//! AFTER THIS POINT there is ordinary source text, to be parsed and compiled like any other; nothing of
//! the foreign notation is left but the names that it gives to things.

mod elements;
mod lg2ss;
mod matrix;
mod print;

pub use lg2ss::lg2ss;
