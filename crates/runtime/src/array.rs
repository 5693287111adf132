//! Arrays whose size is known to a model, and not to the code that runs it.

use core::fmt::Debug;
use core::ops::{Index, IndexMut};
use core::slice::{Iter, IterMut};

/// An array of a fixed size.
pub trait Array:
    Copy + Debug + AsRef<[Self::Item]> + AsMut<[Self::Item]> + Index<usize, Output = Self::Item> + IndexMut<usize>
{
    /// The type of an entry.
    type Item: Copy + Debug;
    /// The number of entries.
    const LENGTH: usize;
    /// An array from a function of the places.
    fn of(entry: impl FnMut(usize) -> Self::Item) -> Self;

    /// An array of equal entries.
    fn filled(value: Self::Item) -> Self {
        Self::of(|_| value)
    }

    /// All entries.
    fn entries(&self) -> Iter<'_, Self::Item> {
        self.as_ref().iter()
    }

    /// All entries, to be changed.
    fn entries_mut(&mut self) -> IterMut<'_, Self::Item> {
        self.as_mut().iter_mut()
    }
}

impl<T: Copy + Debug, const LENGTH: usize> Array for [T; LENGTH] {
    type Item = T;
    const LENGTH: usize = LENGTH;

    fn of(entry: impl FnMut(usize) -> T) -> [T; LENGTH] {
        core::array::from_fn(entry)
    }
}
