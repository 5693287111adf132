//! Rows that repeat over indices, as one row, and documents made of such rows, whatever sets them.
//!
//! The rows of every format are compared as the text of the language ([`patterns`]), so that all formats have the same patterns. Parts of a
//! document ([`Piece`]) stand for those of a longer one, where its rows and matrices grow evenly ([`stretched`]).

mod names;
mod patterns;
mod pieces;
mod stretched;

pub(crate) use names::Names;
pub(crate) use patterns::{Letters, Manner, Range, Row, gathered};
pub(crate) use pieces::{Entries, Format, Piece};
pub(crate) use stretched::{Growth, stretched};
