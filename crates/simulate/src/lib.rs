//! From state equations to trajectories.
//!
//! A run consists of pieces between corners: the times at which an input, or an expression of time, has a step or a
//! kink. No step extends beyond a piece. A step of an input moves the states by E times the step (language 9), and a
//! condition on states is located and the solver restarted there. The solver implements one trait; samples go to a
//! [`Sink`] as they are produced.
//!
//! Contents:
//!
//! | folder or file | contents |
//! | --- | --- |
//! | `inputs` | signals and tables |
//! | `motion` | the equations at an instant, with the algebraic loops in them |
//! | `zero_crossings` | the locations at which conditions change and laws have kinks |
//! | `reinitialisation` | the states at the start, and after a step of an input |
//! | `solvers` | the methods, and their accuracy |
//! | `loops` | the solution of algebraic loops that a run follows |
//! | `run` | a run from corner to corner: its pieces and its samples |
//! | `trial` | runs that find magnitudes |
//! | `switching` | modes, sampled blocks and other events: a run in parts between them |
//! | `verify` | a run against the flat graph |
//!
//! Each folder uses only folders above it in this table.
//!
//! AFTER THIS POINT only rows of numbers remain, at exactly the requested times.

mod inputs;
mod loops;
mod reinitialisation;
mod run;
mod solvers;
mod switching;
mod trial;
mod verify;
mod zero_crossings;

mod blame;
mod failure;
mod finite;
mod linear_factors;
mod motion;
mod plan;
mod simulator;

pub use failure::{Blame, Failure, FailureKind};
pub use inputs::expressions::Inputs;
pub use inputs::given::{Function, Signal};
pub use inputs::signals::{Corner, Side, Signals};
pub use inputs::table::{Table, TableReference, read_samples, read_table, table_reference};
pub use plan::{Method, Plan, Progress, Silent, Sink, Stop, Summary};
pub use run::balance::Balance;
pub use run::expected::state_scales;
pub use simulator::{Simulator, simulate};
pub use switching::{Event, Finished, Switched, run_switched, warnings_at_start};
pub use trial::sizes::trial_sizes;
pub use trial::slack::{with_default_slack, with_slack};
pub use verify::{Fault, Report, Verifier};
