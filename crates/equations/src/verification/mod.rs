//! Verification: the equations against every equation of the flat graph, and its power.

pub(crate) mod bounds;
pub(crate) mod checker;
pub(crate) mod discontinuities;
pub(crate) mod equation;
pub(crate) mod flat_graph;
pub(crate) mod flat_run;
pub(crate) mod linear;
pub(crate) mod nonlinear;
pub(crate) mod points;
pub(crate) mod reach;
pub(crate) mod report;
pub(crate) mod residuals;
pub(crate) mod rounding;
