//! Diagnosis: what is reported when there are no equations, and which elements are to blame.

pub(crate) mod blame;
pub(crate) mod refusal;
pub(crate) mod singular;
pub(crate) mod values;
