//! FMUs: consistent descriptions, sources without warnings under strict flags, and the trajectories of `lgm simulate`
//! in both modes of both versions.

mod archives;
pub mod description;
pub mod driven;
mod events;
pub mod runs;
use crate::support;
