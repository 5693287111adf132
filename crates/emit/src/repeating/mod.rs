//! Rows that repeat over indices, combined into single rows, and documents made of such rows, independent of the output format.
//!
//! The rows of every format are compared as text in the modelling language ([`patterns`]), so all formats share their patterns. Parts of a
//! document ([`Piece`]) represent parts of a longer document if its rows and matrices grow evenly ([`stretched`]).

mod names;
mod patterns;
mod pieces;
mod stretched;

pub(crate) use names::Names;
pub(crate) use patterns::{Letters, Manner, Range, Row, gathered};
pub(crate) use pieces::{Entries, Format, Piece};
pub(crate) use stretched::{Growth, stretched};
