//! Forms of laws: their classification, and their templates over formal parameters.

pub(crate) mod classify;
pub(crate) mod linear;
pub(crate) mod templates;
