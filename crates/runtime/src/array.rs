//! Arrays whose size the model knows at compile time, and generic code does not.

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
    /// Creates an array from a function of the index.
    fn of(entry: impl FnMut(usize) -> Self::Item) -> Self;

    /// Creates an array of equal entries.
    fn filled(value: Self::Item) -> Self {
        Self::of(|_| value)
    }

    /// Iterates over all entries.
    fn entries(&self) -> Iter<'_, Self::Item> {
        self.as_ref().iter()
    }

    /// Iterates mutably over all entries.
    fn entries_mut(&mut self) -> IterMut<'_, Self::Item> {
        self.as_mut().iter_mut()
    }
}

/// An array or a vector of numbers.
pub trait Numbers<T>: AsRef<[T]> + AsMut<[T]> + Clone {}

impl<T, X: AsRef<[T]> + AsMut<[T]> + Clone> Numbers<T> for X {}

impl<T: Copy + Debug, const LENGTH: usize> Array for [T; LENGTH] {
    type Item = T;
    const LENGTH: usize = LENGTH;

    fn of(entry: impl FnMut(usize) -> T) -> [T; LENGTH] {
        core::array::from_fn(entry)
    }
}
