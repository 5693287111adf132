//! Random linear networks and an independent solution.
//!
//! Nothing here shares code or method with the compiler: [`network`] is a separate model, [`generate`] makes random
//! ones, [`write`] prints them as `.lgm` text, [`tableau`] states every junction and element equation as one sparse
//! pencil, and [`eliminate`] solves it in the arithmetics of [`scalar`]. [`compare`] compares the compiler's result
//! with that.

// Each test crate that includes these modules uses some of their items.
#![allow(dead_code)]

pub mod adapter;
pub mod check;
pub mod compare;
pub mod convert;
pub mod eliminate;
pub mod generate;
pub mod network;
pub mod nodal;
pub mod random;
pub mod scalar;
pub mod shrink;
pub mod tableau;
pub mod write;
