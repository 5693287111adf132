//! One run of a model over time, without the standard library, without allocation and without `unsafe`.
//!
//! An emitted Rust package consists of this crate's sources and the functions of one model, which implement
//! [`system::System`]. A part that a model does not need has empty arrays and false constants, and the
//! compiler drops it. Emitted C has the same structure and names; its sources are in the folder `c`. Their macros are the
//! features of a model. A model gets only the lines, functions and files that it needs, with `lgm_run` renamed to, for
//! example, `Oscillator_run`.
//!
//! | module | contents |
//! | --- | --- |
//! | `real`, `array` | numbers, and arrays of numbers |
//! | `system` | the interface of a model: its functions and tables |
//! | `model`, `loops`, `linear` | right-hand sides, outputs, the Jacobian; Newton's method for algebraic loops |
//! | `signals` | default signals of the inputs, discontinuities in time, conditions on states |
//! | `rk4`, `dopri5` | integration with a fixed and with a controlled step size |
//! | `bends` | derivative discontinuities within a step |
//! | `branch` | the solution of the loops that a run follows, and the limit points at which it ends |
//! | `jump` | reinitialisation after steps of inputs |
//! | `motion` | the model between two discontinuities in time |
//! | `events` | blocks, and changes of modes |
//! | `run`, `cause` | a complete run with its rows, and the reasons for an early end |
//!
//! AFTER THIS POINT all data are rows of numbers.

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

/// The source of each module by name, as in an emitted package.
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

/// Additional modules of models with events, in the folder `events`.
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

/// The C sources of a run; a model gets those that it needs.
pub const C_SOURCES: [(&str, &str); 20] = [
    ("lgm_bends.c", include_str!("../c/lgm_bends.c")),
    ("lgm_bends.h", include_str!("../c/lgm_bends.h")),
    ("lgm_branch.c", include_str!("../c/lgm_branch.c")),
    ("lgm_branch.h", include_str!("../c/lgm_branch.h")),
    ("lgm_directional.c", include_str!("../c/lgm_directional.c")),
    ("lgm_directional.h", include_str!("../c/lgm_directional.h")),
    ("lgm_dopri5.c", include_str!("../c/lgm_dopri5.c")),
    ("lgm_dopri5.h", include_str!("../c/lgm_dopri5.h")),
    ("lgm_jump.c", include_str!("../c/lgm_jump.c")),
    ("lgm_jump.h", include_str!("../c/lgm_jump.h")),
    ("lgm_model.h", include_str!("../c/lgm_model.h")),
    ("lgm_names.h", include_str!("../c/lgm_names.h")),
    ("lgm_numbers.h", C_NUMBERS),
    ("lgm_point.c", include_str!("../c/lgm_point.c")),
    ("lgm_point.h", include_str!("../c/lgm_point.h")),
    ("lgm_run.c", include_str!("../c/lgm_run.c")),
    ("lgm_run.h", include_str!("../c/lgm_run.h")),
    ("lgm_signals.c", include_str!("../c/lgm_signals.c")),
    ("lgm_signals.h", include_str!("../c/lgm_signals.h")),
    ("lgm_tables.h", include_str!("../c/lgm_tables.h")),
];

/// Newton's method for algebraic loops; part of the source of a model.
pub const C_LOOPS: &str = include_str!("../c/lgm_loops.c");

/// Precision-dependent constants, and small functions.
pub const C_NUMBERS: &str = include_str!("../c/lgm_numbers.h");

/// Additional C sources of models with events.
pub const C_EVENTS: [(&str, &str); 6] = [
    ("lgm_enter.c", include_str!("../c/lgm_enter.c")),
    ("lgm_events.c", include_str!("../c/lgm_events.c")),
    ("lgm_events.h", include_str!("../c/lgm_events.h")),
    ("lgm_lemke.c", include_str!("../c/lgm_lemke.c")),
    ("lgm_modes.c", include_str!("../c/lgm_modes.c")),
    ("lgm_watch.c", include_str!("../c/lgm_watch.c")),
];

/// A program that runs a model.
pub const C_MAIN: (&str, &str) = ("main.c", include_str!("../c/main.c"));

/// A driver that runs a model with CVODE of SUNDIALS.
pub const C_CVODE: (&str, &str) = ("lgm_cvode.c", include_str!("../c/lgm_cvode.c"));

/// A driver that runs a model with a fixed step size.
pub const C_FIXED: (&str, &str) = ("lgm_fixed.c", include_str!("../c/lgm_fixed.c"));
