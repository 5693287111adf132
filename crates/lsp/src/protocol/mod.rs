//! The protocol: messages, places, paths, and what both sides can do.

pub(crate) mod capabilities;
pub(crate) mod convert;
pub(crate) mod tokens;
pub(crate) mod transport;
pub(crate) mod uri;
