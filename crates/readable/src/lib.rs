//! The form of expressions that people read: of all equal forms, the shortest one.
//!
//! AFTER THIS POINT an expression has the same value as before.

mod angles;
mod factor;
mod shorten;

pub use shorten::{LARGE, Shortening, is_large, is_shorter, lowest_terms};
