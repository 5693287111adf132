//! Zero crossings: conditions on states, derivative discontinuities of laws, and corners in time. Each is located and ends a step.

pub(crate) mod corners;
pub(crate) mod derivative_discontinuities;
pub(crate) mod events;
pub(crate) mod instants;
pub(crate) mod watch;
