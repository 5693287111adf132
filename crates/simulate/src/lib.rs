//! State equations to trajectories.
//!
//! One run is made of pieces between corners: the times at which an input, or an expression of time, steps or bends. No
//! piece is stepped over, a step of an input moves the states by E times it (language 9), and a condition on states is
//! located and the solver started anew there. The solver stands behind one trait; rows go to a [`Sink`] as they are made.
//!
//! Where what is:
//!
//! | folder or file | what it holds |
//! | --- | --- |
//! | `run` | a run from corner to corner: its pieces, its rows, its scales |
//! | `motion` | the equations at an instant |
//! | `zero_crossings` | where conditions change and laws bend, located |
//! | `reinitialisation` | the states at the start, and after a step of an input |
//! | `loops` | algebraic loops, and which of their solutions a run follows |
//! | `solvers` | the methods, and the linear equations that they solve |
//! | `inputs` | signals and tables |
//! | `switching` | modes, sampled blocks and other events: a run in parts between them |
//! | `verify` | a run against the flat graph |
//!
//! AFTER THIS POINT there are only rows of numbers, at exactly the times that were asked for.

mod inputs;
mod loops;
mod reinitialisation;
mod run;
mod solvers;
mod zero_crossings;

mod blame;
mod failure;
mod motion;
mod plan;
mod simulator;
mod switching;
mod verify;

pub use failure::{Blame, Failure, FailureKind};
pub use inputs::expressions::Inputs;
pub use inputs::signals::{Corner, Side, Signals};
pub use inputs::table::{Table, TableReference, read_samples, read_table, table_reference};
pub use plan::{Method, Plan, Progress, Silent, Sink, Stop, Summary};
pub use run::expected::state_scales;
pub use run::trial::trial_sizes;
pub use simulator::{Simulator, simulate};
pub use switching::{Balance, Event, Finished, Switched, run_switched};
pub use verify::{Fault, Report, Verifier};
pub use zero_crossings::slack::{with_default_slack, with_slack};
