//! Nonlinear equations in doubles: Newton's method on small dense systems, searches for zeros from scattered guesses,
//! and combinations that equations conserve. Exact arithmetic is in [`lgm_algebra`].

pub mod conserved;
pub mod newton;
pub mod rest;
pub mod search;
pub mod settle;
