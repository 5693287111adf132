//! The protocol: messages, locations, paths, and the capabilities of both sides.

pub(crate) mod capabilities;
pub(crate) mod convert;
pub(crate) mod tokens;
pub(crate) mod transport;
