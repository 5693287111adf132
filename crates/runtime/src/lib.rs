//! One run of a model over time, without the standard library, without allocation and without `unsafe`.
//!
//! An emitted Rust package is this crate's sources beside the functions of one model, which implement [`system::System`]. Emitted C
//! has the same parts under the same names. A part that a model does not need has arrays of no size and constants that are false,
//! and the compiler drops it.
//!
//! | module | what it holds |
//! | --- | --- |
//! | `real`, `array` | the numbers, and arrays of them |
//! | `system` | what a model has: its functions and its tables |
//! | `model`, `loops`, `linear` | right sides, outputs, the Jacobian; Newton's method for algebraic loops |
//! | `signals` | default signals of the inputs, corners in time, conditions on states |
//! | `rk4`, `dopri5` | steps of fixed and of controlled length |
//! | `bends` | derivative discontinuities within a step |
//! | `branch` | the solution of the loops that a run follows, and limit points where it ends |
//! | `jump` | reinitialisation after steps of inputs |
//! | `run`, `cause` | a whole run with its rows, and why one ends early |
//!
//! AFTER THIS POINT there are only rows of numbers.

#![no_std]
#![forbid(unsafe_code)]

pub mod array;
pub mod bends;
pub mod branch;
pub mod cause;
pub mod dopri5;
pub mod jump;
pub mod linear;
pub mod loops;
pub mod model;
pub mod real;
pub mod rk4;
pub mod run;
pub mod signals;
pub mod system;

#[cfg(test)]
extern crate std;
#[cfg(test)]
mod tests;

/// The source of each module under its name, as an emitted package carries it.
pub const SOURCES: [(&str, &str); 14] = [
    ("array", include_str!("array.rs")),
    ("bends", include_str!("bends.rs")),
    ("branch", include_str!("branch.rs")),
    ("cause", include_str!("cause.rs")),
    ("dopri5", include_str!("dopri5.rs")),
    ("jump", include_str!("jump.rs")),
    ("linear", include_str!("linear.rs")),
    ("loops", include_str!("loops.rs")),
    ("model", include_str!("model.rs")),
    ("real", include_str!("real.rs")),
    ("rk4", include_str!("rk4.rs")),
    ("run", include_str!("run.rs")),
    ("signals", include_str!("signals.rs")),
    ("system", include_str!("system.rs")),
];
