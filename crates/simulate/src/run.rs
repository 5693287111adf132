//! A run while it goes on.

use crate::bends::Bends;
use crate::events::Events;
use crate::headway::Headway;
use crate::interpolation::InterpolationError;
use crate::jump::RatesRead;
use crate::motion::Motion;
use crate::plan::{Method, Plan, Progress, Sink, Summary};
use crate::scales::Scales;
use crate::signals::{Corner, Signals};
use crate::singular::{ChainWatch, Position};
use crate::solution_branch::Branch;
use crate::solver::Counts;
use crate::stiffness::Watch;
use std::sync::Arc;

/// Shorter pieces than this share of the time have nothing between their ends, and the library refuses to stop so soon: within
/// 100 roundings of the time and the step together.
pub(super) const SHORTEST: f64 = 256.0 * f64::EPSILON;

/// Nor have pieces, in seconds, that are shorter than this wherever they are: beside 0 there are numbers as near as 5e-324 s.
pub(super) const NEAREST: f64 = 1e-200;

/// A run on its way.
pub(super) struct Run<'r> {
    pub(super) motion: &'r Motion<'r>,
    pub(super) signals: &'r dyn Signals,
    pub(super) plan: &'r Plan,
    pub(super) sink: &'r mut dyn Sink,
    pub(super) progress: &'r dyn Progress,
    pub(super) rates_read: &'r RatesRead,
    pub(super) events: Option<Events<'r>>,
    /// Ends explicit steps where the right sides bend.
    pub(super) bends: Option<Bends<'r>>,
    pub(super) corners: Vec<Corner>,
    /// The next corner.
    pub(super) corner: usize,
    pub(super) time: f64,
    pub(super) states: Vec<f64>,
    /// Where the run began.
    pub(super) first: Position,
    pub(super) chains: Option<ChainWatch>,
    pub(super) branch: Option<Branch>,
    /// Where a method failed last, and which ones were tried from there on.
    pub(super) given_up: (f64, Vec<Method>),
    /// Where the run was when the last row was written, or this piece began.
    pub(super) safe: Position,
    pub(super) outputs: Vec<f64>,
    pub(super) between: Vec<f64>,
    /// The next row.
    pub(super) row: usize,
    pub(super) watch: Watch,
    pub(super) scales: Scales,
    pub(super) summary: Summary,
    /// What solvers have done that are gone.
    pub(super) done: Counts,
    /// No step is longer.
    pub(super) longest: f64,
    /// No step leaps over one of these instants.
    pub(super) looks: Arc<[f64]>,
    /// Asks whether what is interpolated between the ends of steps is right.
    pub(super) interpolation: InterpolationError<'r>,
    /// Whether the method comes to the end in the steps that there are.
    pub(super) headway: Headway,
    /// A method that would take more steps than these is given up.
    pub(super) enough: u64,
    /// No step is longer for the moment, so that the rows between its ends are right.
    pub(super) reach: f64,
}
