//! Why a run could not be finished, and what is to blame.

use super::plan::Stop;
use lgm_model::system::StateSystem;
use lgm_source::Span;
use lgm_source::diagnostic::Diagnostic;

/// A run that ended before its stop. Rows up to `time` have been handed over.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// When, in seconds.
    pub time: f64,
    /// What happened.
    pub kind: FailureKind,
    /// What is to blame, if that is known.
    pub blame: Option<Box<Blame>>,
    /// Steps taken until then.
    pub steps: u64,
}

/// What ended a run.
#[derive(Clone, Debug, PartialEq)]
pub enum FailureKind {
    /// The error test failed down to the smallest step.
    StepTooSmall,
    /// A state has grown beyond all that a quantity can be.
    Unbounded,
    /// Newton's iteration of an implicit step did not converge down to the smallest step.
    StepNotSolved,
    /// The mass matrix is singular: the state's rate does not follow from the equations.
    SingularMass,
    /// The mechanism came to a position at which its mass matrix is singular: the state's rate does not follow there.
    SingularPosition,
    /// A closed chain came to a position at which the displacement does not follow from the others.
    DeadCentre,
    /// Newton's iteration on an algebraic loop did not converge.
    LoopNotSolved,
    /// The solution of the loop that says what storage holds ends at a limit point: with another one, storage would hold another amount.
    StorageWouldJump,
    /// The equations of position of a closed chain have no solution that was found.
    ChainNotClosed,
    /// A value is not finite: what was computed of what, such as `log(-0.5)`.
    LeftDomain(String),
    /// Starts contradict each other with these parameters: what was given and what follows.
    Starts {
        /// The start that was given.
        given: f64,
        /// What the other starts make of it.
        follows: f64,
    },
    /// Starts that follow from others were not found with these parameters.
    StartsNotFound,
    /// There is no state in which all derivatives are zero, or it was not found.
    NoEquilibrium,
    /// There are states in which all derivatives are zero, but what the equations keep constant is different there: in words.
    RestNotReached(String),
    /// The states after a step of inputs could not be found: which inputs step, in words.
    JumpNotFound(String),
    /// The state would move without bounds in a step of inputs: which ones, in words.
    JumpEndless(String),
    /// What a state is after a step of inputs depends on the way that these take.
    JumpOpen {
        /// Which inputs step, in words.
        stepping: String,
        /// The state if all go in proportion.
        one: f64,
        /// The state if some are ahead.
        other: f64,
    },
    /// A condition changes again and again within no time.
    Chatter,
    /// The steps that were allowed are used up.
    TooManySteps,
    /// No method comes to the end in the steps that are allowed: so many more would be needed.
    NoHeadway(f64),
    /// An event without a known outcome, with its diagnostic.
    Events(Box<Diagnostic>),
    /// What was asked for cannot be done: in words.
    Refused(String),
    /// The user or the sink ended the run.
    Stopped(Stop),
}

/// The part of the model that a failure belongs to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blame {
    /// The element, where there is one: `capacitor_3`.
    pub element: Option<String>,
    /// The state, output, unknown or input: `capacitor_3.v`.
    pub variable: String,
    /// The expression at fault as the language writes it; empty where the variable says all.
    pub expression: String,
    /// The first few states at the failure: `theta = 1.5, crank.w = 3`.
    pub states: String,
    /// Whether a logarithm of a state is at fault, as a law with an exponential becomes if it is solved for its argument.
    pub is_log_of_state: bool,
    /// Whether a law that was solved for its argument has no value there, as no root is negative.
    pub is_beyond_range: bool,
    /// True if the variable is an unknown of a loop that the states do not determine within their tolerances.
    pub is_undetermined: bool,
    /// What is seen of the algebraic loops there: a solution elsewhere, or how near they come to one. Empty elsewhere.
    pub seen: String,
    /// Where the element, or the variable itself, is declared.
    pub span: Option<Span>,
}

impl Blame {
    /// A state, and the element that carries it.
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
    /// A failure without anybody to blame, before any step.
    pub fn new(time: f64, kind: FailureKind) -> Failure {
        Failure {
            time,
            kind,
            blame: None,
            steps: 0,
        }
    }

    /// Whether the user or the sink ended the run, rather than a fault.
    pub fn is_stop(&self) -> bool {
        matches!(self.kind, FailureKind::Stopped(_))
    }
}
