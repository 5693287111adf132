//! What the state equations say about the system: frequency response and poles.
//!
//! AFTER THIS POINT there are numbers only; nothing here changes the equations that were given.

mod double_double;
mod duration;
mod factor;
mod linearize;
pub mod poles;
pub mod response;
mod sparse_lu;

pub use duration::{Duration, MOST_STATES, duration};
pub use linearize::{LinearizeRequest, linearize};
pub use poles::poles;
pub use response::{Response, ResponseRequest, response};
