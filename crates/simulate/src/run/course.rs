//! A run in progress.

use crate::inputs::signals::{Corner, Signals};
use crate::loops::singular::{ChainWatch, Position};
use crate::loops::solution_branch::Branch;
use crate::motion::Motion;
use crate::motion::scales::Scales;
use crate::plan::{Method, Plan, Progress, Sink, Summary};
use crate::reinitialisation::jump::RatesRead;
use crate::run::balance::PowerMeter;
use crate::run::headway::Headway;
use crate::run::output_errors::OutputErrors;
use crate::run::recorder::Recorder;
use crate::solvers::interpolation::InterpolationError;
use crate::solvers::solver::Counts;
use crate::solvers::stiffness::Watch;
use crate::zero_crossings::derivative_discontinuities::Bends;
use crate::zero_crossings::events::Events;
use lgm_source::diagnostic::Diagnostic;
use std::sync::Arc;

/// Pieces shorter than this fraction of the time contain no further points, and the library rejects so near a stop: it
/// must be more than 100 units of round-off of the time and the step together.
pub(crate) const SHORTEST: f64 = 256.0 * f64::EPSILON;

/// The same is true for pieces shorter than this in seconds: near 0, doubles are as close as 5e-324 s.
pub(crate) const NEAREST: f64 = 1e-200;

/// A run in progress.
pub(crate) struct Run<'r> {
    pub(crate) motion: &'r Motion<'r>,
    pub(crate) signals: &'r dyn Signals,
    pub(crate) plan: &'r Plan,
    pub(crate) sink: &'r mut dyn Sink,
    pub(crate) progress: &'r dyn Progress,
    pub(crate) rates_read: &'r RatesRead,
    pub(crate) events: Option<Events<'r>>,
    /// Ends explicit steps at kinks of the right sides.
    pub(crate) bends: Option<Bends<'r>>,
    /// For each input, true if its step ends this part of the run.
    pub(crate) moving: Vec<bool>,
    /// The conditions that end this part of the run.
    pub(crate) watched: Option<crate::zero_crossings::watch::EndConditions<'r>>,
    /// Integrates the powers of this part of the run, if the energy balance is requested.
    pub(crate) meter: Option<PowerMeter<'r>>,
    /// Records the values before delays.
    pub(crate) recorder: Option<Recorder<'r>>,
    /// The end of this part of the run: the stop, or an earlier instant.
    pub(crate) until: f64,
    /// True if an event occurs there: rows at that time show the state after it, and are written after it.
    pub(crate) ends_with_event: bool,
    pub(crate) corners: Vec<Corner>,
    /// The next corner.
    pub(crate) corner: usize,
    pub(crate) time: f64,
    pub(crate) states: Vec<f64>,
    /// The position at the start of the run.
    pub(crate) first: Position,
    pub(crate) chains: Option<ChainWatch>,
    pub(crate) branch: Option<Branch>,
    /// The point of the last failure of a method, and the methods tried since.
    pub(crate) given_up: (f64, Vec<Method>),
    /// The state of the run at the last sample, or at the start of this piece.
    pub(crate) safe: Position,
    pub(crate) outputs: Vec<f64>,
    /// The errors of the outputs that the tolerance allows.
    pub(crate) output_errors: OutputErrors,
    pub(crate) between: Vec<f64>,
    /// The next row.
    pub(crate) row: usize,
    pub(crate) watch: Watch,
    /// The expected duration of a part of a run between events, in seconds.
    pub(crate) expected: Option<f64>,
    pub(crate) scales: Scales,
    pub(crate) summary: Summary,
    /// The statistics of completed solvers.
    pub(crate) done: Counts,
    /// The longest allowed step.
    pub(crate) longest: f64,
    /// Instants that no step may pass over.
    pub(crate) looks: Arc<[f64]>,
    /// Checks the interpolation between the ends of steps.
    pub(crate) interpolation: InterpolationError<'r>,
    /// True if the method completes the run within the allowed steps.
    pub(crate) headway: Headway,
    /// A method that would take more steps than this is abandoned.
    pub(crate) enough: u64,
    /// Remarks on methods that were abandoned for others.
    pub(crate) given_up_for: Vec<Diagnostic>,
    /// True if an impulse in outputs was reported.
    pub(crate) has_impulse: bool,
    /// The current limit of the step, which keeps the rows between its ends accurate.
    pub(crate) reach: f64,
}
