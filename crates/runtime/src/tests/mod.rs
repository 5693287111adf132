//! The runtime against answers that are known.

mod complementarity;
mod discontinuities;
mod events;
mod loops;
mod sources;
mod steppers;
mod system;
