//! One run of a model over time, without the standard library, without allocation and without `unsafe`.
//!
//! An emitted Rust package is this crate's sources beside the functions of one model, which implement [`system::System`]. A part that
//! a model does not need has arrays of no size and constants that are false, and the compiler drops it. Emitted C has the same parts
//! under the same names, in the folder `c`: a generated header says what a model has, and `lgm_run` there is `Oscillator_run` of a
//! model `Oscillator` to the linker.
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
//! | `motion` | the model between two corners |
//! | `events` | blocks and changes of modes beside the motion of a run |
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
pub mod events;
pub mod jump;
pub mod linear;
pub mod loops;
pub mod model;
pub mod motion;
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
pub const SOURCES: [(&str, &str); 15] = [
    ("array", include_str!("array.rs")),
    ("bends", include_str!("bends.rs")),
    ("branch", include_str!("branch.rs")),
    ("cause", include_str!("cause.rs")),
    ("dopri5", include_str!("dopri5.rs")),
    ("jump", include_str!("jump.rs")),
    ("linear", include_str!("linear.rs")),
    ("loops", include_str!("loops.rs")),
    ("model", include_str!("model.rs")),
    ("motion", include_str!("motion.rs")),
    ("real", include_str!("real.rs")),
    ("rk4", include_str!("rk4.rs")),
    ("run", include_str!("run.rs")),
    ("signals", include_str!("signals.rs")),
    ("system", include_str!("system.rs")),
];

/// Further modules of models with events, in the folder `events`.
pub const EVENTS: [(&str, &str); 14] = [
    ("blocks", include_str!("events/blocks.rs")),
    ("cause", include_str!("events/cause.rs")),
    ("complementarity", include_str!("events/complementarity.rs")),
    ("enter", include_str!("events/enter.rs")),
    ("instants", include_str!("events/instants.rs")),
    ("lemke", include_str!("events/lemke.rs")),
    ("looks", include_str!("events/looks.rs")),
    ("mod", include_str!("events/mod.rs")),
    ("modes", include_str!("events/modes.rs")),
    ("moment", include_str!("events/moment.rs")),
    ("search", include_str!("events/search.rs")),
    ("switching", include_str!("events/switching.rs")),
    ("tables", include_str!("events/tables.rs")),
    ("watch", include_str!("events/watch.rs")),
];

/// The same in C: what every emitted package and FMU holds beside the equations of its model.
pub const C_SOURCES: [(&str, &str); 19] = [
    ("lgm_bends.c", include_str!("../c/lgm_bends.c")),
    ("lgm_bends.h", include_str!("../c/lgm_bends.h")),
    ("lgm_branch.c", include_str!("../c/lgm_branch.c")),
    ("lgm_branch.h", include_str!("../c/lgm_branch.h")),
    ("lgm_dopri5.c", include_str!("../c/lgm_dopri5.c")),
    ("lgm_dopri5.h", include_str!("../c/lgm_dopri5.h")),
    ("lgm_jump.c", include_str!("../c/lgm_jump.c")),
    ("lgm_jump.h", include_str!("../c/lgm_jump.h")),
    ("lgm_model.c", include_str!("../c/lgm_model.c")),
    ("lgm_names.h", include_str!("../c/lgm_names.h")),
    ("lgm_numbers.h", include_str!("../c/lgm_numbers.h")),
    ("lgm_prefix.h", include_str!("../c/lgm_prefix.h")),
    ("lgm_rk4.c", include_str!("../c/lgm_rk4.c")),
    ("lgm_rk4.h", include_str!("../c/lgm_rk4.h")),
    ("lgm_run.c", include_str!("../c/lgm_run.c")),
    ("lgm_run.h", include_str!("../c/lgm_run.h")),
    ("lgm_signals.c", include_str!("../c/lgm_signals.c")),
    ("lgm_signals.h", include_str!("../c/lgm_signals.h")),
    ("lgm_tables.h", include_str!("../c/lgm_tables.h")),
];

/// Further sources of models with events.
pub const C_EVENTS: [(&str, &str); 6] = [
    ("lgm_enter.c", include_str!("../c/lgm_enter.c")),
    ("lgm_events.c", include_str!("../c/lgm_events.c")),
    ("lgm_events.h", include_str!("../c/lgm_events.h")),
    ("lgm_lemke.c", include_str!("../c/lgm_lemke.c")),
    ("lgm_modes.c", include_str!("../c/lgm_modes.c")),
    ("lgm_watch.c", include_str!("../c/lgm_watch.c")),
];

/// Programs of emitted C: the one that writes rows, and the same with CVODE of SUNDIALS.
pub const C_PROGRAMS: [(&str, &str); 2] = [
    ("lgm_cvode.c", include_str!("../c/lgm_cvode.c")),
    ("main.c", include_str!("../c/main.c")),
];

/// A program that runs the model in steps of fixed length.
pub const C_FIXED: (&str, &str) = ("lgm_fixed.c", include_str!("../c/lgm_fixed.c"));
