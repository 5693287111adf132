//! Linear systems over any field: sparse, in blocks, fraction-free.

pub(crate) mod blocks;
pub(crate) mod connected;
pub(crate) mod diagonal;
pub(crate) mod minors;
pub(crate) mod solve;
pub(crate) mod sparse;
