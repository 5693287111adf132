//! FMUs: descriptions that agree with themselves, sources clean under strict flags, and the trajectories of `lgm simulate` in both
//! modes of both versions.

#[path = "fmu/archives.rs"]
mod archives;
#[path = "fmu/description.rs"]
mod description;
#[path = "fmu/driven.rs"]
mod driven;
#[path = "fmu/events.rs"]
mod events;
#[path = "fmu/runs.rs"]
mod runs;
mod support;
