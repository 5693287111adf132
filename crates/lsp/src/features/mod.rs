//! Answers to requests.

pub(crate) mod across;
pub(crate) mod completion;
pub(crate) mod formatting;
pub(crate) mod imports;
pub(crate) mod preview;
pub(crate) mod renamed;
pub(crate) mod requests;
