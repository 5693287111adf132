//! The names of array entries, for programs of kernels in the functions of a named model.

use crate::code::dialect::{Array, Lane, Text};
use crate::code::named::Book;
use lgm_kernels::operation::Space;
use lgm_kernels::program::Index;
use std::cell::Cell;

/// The names of the entries of arrays.
pub(crate) struct Places {
    parameters: Vec<String>,
    lists: [(Space, Vec<String>); 4],
    /// True after a program has read a parameter that has no name, such as several in a loop.
    missed: Cell<bool>,
}

impl Places {
    pub(crate) fn new(book: &Book) -> Places {
        Places {
            parameters: book.entries.clone(),
            lists: [
                (Space::States, book.states.clone()),
                (Space::Inputs, book.inputs.clone()),
                (Space::Rates, book.input_rates.clone()),
                (Space::Unknowns, book.unknowns.clone()),
            ],
            missed: Cell::new(false),
        }
    }

    /// Returns the name of a parameter.
    pub(crate) fn parameter(&self, index: Index, lane: Lane) -> Option<Text> {
        let name = match (index, lane) {
            (Index::Affine { first, .. }, Lane::Only) => self.parameters.get(first as usize),
            (Index::Affine { first, stride: 0 }, _) => self.parameters.get(first as usize),
            _ => None,
        };
        self.missed.set(self.missed.get() || name.is_none());
        name.map(Text::atom)
    }

    /// Returns the name of an entry of another array, counted from `first`; none if the index is not a number.
    pub(crate) fn element(&self, array: Array, index: &str, first: usize) -> Option<Text> {
        let Array::Read(space) = array else { return None };
        let (_, names) = self.lists.iter().find(|list| list.0 == space)?;
        let at = index.parse::<usize>().ok()?.checked_sub(first)?;
        names.get(at).map(Text::atom)
    }

    /// Returns true if a parameter without a name was read since the last question.
    pub(super) fn take_missed(&self) -> bool {
        self.missed.replace(false)
    }
}
