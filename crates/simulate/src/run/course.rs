//! A run while it goes on.

use crate::inputs::signals::{Corner, Signals};
use crate::loops::singular::{ChainWatch, Position};
use crate::loops::solution_branch::Branch;
use crate::motion::Motion;
use crate::plan::{Method, Plan, Progress, Sink, Summary};
use crate::reinitialisation::jump::RatesRead;
use crate::run::headway::Headway;
use crate::run::output_errors::OutputErrors;
use crate::run::scales::Scales;
use crate::solvers::interpolation::InterpolationError;
use crate::solvers::solver::Counts;
use crate::solvers::stiffness::Watch;
use crate::switching::balance::PowerMeter;
use crate::zero_crossings::derivative_discontinuities::Bends;
use crate::zero_crossings::events::Events;
use lgm_source::diagnostic::Diagnostic;
use std::sync::Arc;

/// Shorter pieces than this share of the time have nothing between their ends, and the library refuses to stop so soon: within
/// 100 roundings of the time and the step together.
pub(crate) const SHORTEST: f64 = 256.0 * f64::EPSILON;

/// Nor have pieces, in seconds, that are shorter than this wherever they are: beside 0 there are numbers as near as 5e-324 s.
pub(crate) const NEAREST: f64 = 1e-200;

/// A run on its way.
pub(crate) struct Run<'r> {
    pub(crate) motion: &'r Motion<'r>,
    pub(crate) signals: &'r dyn Signals,
    pub(crate) plan: &'r Plan,
    pub(crate) sink: &'r mut dyn Sink,
    pub(crate) progress: &'r dyn Progress,
    pub(crate) rates_read: &'r RatesRead,
    pub(crate) events: Option<Events<'r>>,
    /// Ends explicit steps where the right sides bend.
    pub(crate) bends: Option<Bends<'r>>,
    /// For each input, true if its step ends this part of the run.
    pub(crate) moving: Vec<bool>,
    /// Conditions that end this part of the run.
    pub(crate) watched: Option<crate::switching::watch::EndConditions<'r>>,
    /// Integrates the powers of this part of the run, if the balance of energy is asked for.
    pub(crate) meter: Option<PowerMeter<'r>>,
    /// Where this part of the run ends: at the stop, or at an instant before it.
    pub(crate) until: f64,
    /// True if an event happens there: rows there show what it leaves, and are written behind it.
    pub(crate) ends_with_event: bool,
    pub(crate) corners: Vec<Corner>,
    /// The next corner.
    pub(crate) corner: usize,
    pub(crate) time: f64,
    pub(crate) states: Vec<f64>,
    /// Where the run began.
    pub(crate) first: Position,
    pub(crate) chains: Option<ChainWatch>,
    pub(crate) branch: Option<Branch>,
    /// Where a method failed last, and which ones were tried from there on.
    pub(crate) given_up: (f64, Vec<Method>),
    /// Where the run was when the last row was written, or this piece began.
    pub(crate) safe: Position,
    pub(crate) outputs: Vec<f64>,
    /// The errors of the outputs that the tolerance allows.
    pub(crate) output_errors: OutputErrors,
    pub(crate) between: Vec<f64>,
    /// The next row.
    pub(crate) row: usize,
    pub(crate) watch: Watch,
    pub(crate) scales: Scales,
    pub(crate) summary: Summary,
    /// What solvers have done that are gone.
    pub(crate) done: Counts,
    /// No step is longer.
    pub(crate) longest: f64,
    /// No step leaps over one of these instants.
    pub(crate) looks: Arc<[f64]>,
    /// Asks whether what is interpolated between the ends of steps is right.
    pub(crate) interpolation: InterpolationError<'r>,
    /// Whether the method comes to the end in the steps that there are.
    pub(crate) headway: Headway,
    /// A method that would take more steps than these is given up.
    pub(crate) enough: u64,
    /// Remarks on methods that were given up for others.
    pub(crate) given_up_for: Vec<Diagnostic>,
    /// True if an impulse in outputs was reported.
    pub(crate) has_impulse: bool,
    /// No step is longer for the moment, so that the rows between its ends are right.
    pub(crate) reach: f64,
}
