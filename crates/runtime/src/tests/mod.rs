//! The runtime against answers that are known.

mod discontinuities;
mod events;
mod loops;
mod steppers;
mod system;
