//! Trial runs of bounded length, to find magnitudes that another run needs.

pub(crate) mod sizes;
pub(crate) mod slack;
