//! Tests of the runtime against known solutions.

mod complementarity;
mod discontinuities;
mod events;
mod loops;
mod sources;
mod steppers;
mod system;
