//! Diagnosis: the messages if no equations can be derived, and the responsible elements.

pub(crate) mod blame;
pub(crate) mod singular;
pub(crate) mod values;
