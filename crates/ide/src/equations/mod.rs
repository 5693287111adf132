//! Parts of a text in the equations: storage, loops, ports, relations.

pub(crate) mod facts;
pub(crate) mod ports;
pub(crate) mod relation;
