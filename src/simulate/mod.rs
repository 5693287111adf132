//! From state equations to trajectories.

mod signals;

pub use signals::{Corner, Side, Signals};
