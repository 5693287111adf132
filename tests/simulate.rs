//! Runs: against known answers, exact solutions and balances, and how they fail.

#[path = "simulate/between.rs"]
mod between;
#[path = "simulate/corners.rs"]
mod corners;
#[path = "simulate/ends.rs"]
mod ends;
#[path = "simulate/energy.rs"]
mod energy;
#[path = "simulate/exact.rs"]
mod exact;
#[path = "simulate/known_answers.rs"]
mod known_answers;
#[path = "simulate/nonlinear.rs"]
mod nonlinear;
#[path = "simulate/problems.rs"]
mod problems;
#[path = "simulate/runs.rs"]
mod runs;
#[path = "simulate/scales.rs"]
mod scales;
#[path = "simulate/shapes.rs"]
mod shapes;
mod support;
mod systems;
