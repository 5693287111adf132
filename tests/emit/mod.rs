//! Emitted programs, compared with runs of the same models.

mod bends;
mod branches;
mod c;
mod casadi;
mod events;
mod examples;
mod failures;
pub mod fmu;
mod julia;
pub mod jumps;
mod known_answers;
mod loops;
pub mod matlab;
mod modelica;
mod python;
mod rust;
mod sampled;
mod steps;
