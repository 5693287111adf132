//! Mismatches of dimensions, and dimensions inferred without evaluation.

pub(crate) mod claims;
pub(in crate::evaluate) mod explain;
pub(in crate::evaluate) mod infer;
pub(crate) mod plain_numbers;
