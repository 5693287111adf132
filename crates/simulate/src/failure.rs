//! The reason why a run could not be completed, and its cause.

use super::plan::Stop;
use lgm_model::system::StateSystem;
use lgm_source::Span;
use lgm_source::diagnostic::Diagnostic;

/// A run that ended before its stop time. Samples up to `time` have been passed on.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// The time in seconds.
    pub time: f64,
    /// The kind of failure.
    pub kind: FailureKind,
    /// The cause, if it is known.
    pub blame: Option<Box<Blame>>,
    /// The number of steps until then.
    pub steps: u64,
}

/// The kind of failure of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum FailureKind {
    /// The error test failed down to the smallest step.
    StepTooSmall,
    /// A state has grown beyond any physical magnitude.
    Unbounded,
    /// Newton's iteration of an implicit step did not converge down to the smallest step.
    StepNotSolved,
    /// The mass matrix is singular: the equations do not determine the state's rate.
    SingularMass,
    /// The mechanism reached a position with a singular mass matrix: the state's rate is undetermined there.
    SingularPosition,
    /// A closed chain reached a position at which the displacement does not follow from the others.
    DeadCentre,
    /// Newton's iteration on an algebraic loop did not converge.
    LoopNotSolved,
    /// The loop solution that determines stored quantities ends at a limit point: switching to another solution would
    /// change the stored quantities.
    StorageWouldJump,
    /// No solution was found for the position equations of a closed chain.
    ChainNotClosed,
    /// A value is not finite: the expression and its argument, such as `log(-0.5)`.
    LeftDomain(String),
    /// Initial values contradict each other with these parameters.
    Starts {
        /// The given initial value.
        given: f64,
        /// Its value from the other initial values.
        follows: f64,
    },
    /// Derived initial values were not found with these parameters.
    StartsNotFound,
    /// No state with zero derivatives exists, or none was found.
    NoEquilibrium,
    /// States with zero derivatives exist, but a conserved quantity has a different value there; the text describes it.
    RestNotReached(String),
    /// The states after a step of inputs were not found; the text lists the stepping inputs.
    JumpNotFound(String),
    /// The state would grow without bounds in a step of inputs; the text lists the inputs.
    JumpEndless(String),
    /// The value of a state after input steps depends on the path of the inputs.
    JumpOpen {
        /// The stepping inputs, as text.
        stepping: String,
        /// The state if all inputs change in proportion.
        one: f64,
        /// The state if some inputs step before the others.
        other: f64,
    },
    /// A condition changes repeatedly within an infinitesimal time.
    Chatter,
    /// The allowed steps are used up.
    TooManySteps,
    /// No method completes the run within the allowed steps; contains the number of further steps needed.
    NoHeadway(f64),
    /// An event without a known outcome, with its diagnostic.
    Events(Box<Diagnostic>),
    /// The request cannot be fulfilled, with the reason.
    Refused(String),
    /// The user or the sink ended the run.
    Stopped(Stop),
}

/// The part of the model that a failure belongs to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blame {
    /// The element, if any: `capacitor_3`.
    pub element: Option<String>,
    /// The state, output, unknown or input: `capacitor_3.v`.
    pub variable: String,
    /// The expression at fault in the notation of the language; empty if the variable is sufficient.
    pub expression: String,
    /// The first few states at the failure: `theta = 1.5, crank.w = 3`.
    pub states: String,
    /// True if a logarithm of a state is at fault, which results if an exponential law is solved for its argument.
    pub is_log_of_state: bool,
    /// True if a law that was solved for its argument has no value there, because no root is negative.
    pub is_beyond_range: bool,
    /// True if the variable is an unknown of a loop that the states do not determine within their tolerances.
    pub is_undetermined: bool,
    /// The findings about the algebraic loops there: a solution elsewhere, or the closest approach. Empty elsewhere.
    pub seen: String,
    /// The location of the element, or of the variable itself.
    pub span: Option<Span>,
}

impl Blame {
    /// Reports a state, and the element that carries it.
    pub(super) fn state(system: &StateSystem, index: usize) -> Option<Blame> {
        let state = system.states.get(index)?;
        Some(Blame {
            element: Some(state.element.to_string()),
            variable: state.name.to_string(),
            span: Some(state.span),
            ..Blame::default()
        })
    }
}

impl Failure {
    /// Creates a failure without a cause, before any step.
    pub fn new(time: f64, kind: FailureKind) -> Failure {
        Failure {
            time,
            kind,
            blame: None,
            steps: 0,
        }
    }

    /// Returns true if the user or the sink ended the run, rather than an error.
    pub fn is_stop(&self) -> bool {
        matches!(self.kind, FailureKind::Stopped(_))
    }
}
