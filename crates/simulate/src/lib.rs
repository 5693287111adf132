//! State equations to trajectories.
//!
//! One run is made of pieces between corners: the times at which an input, or an expression of time, steps or bends. No
//! piece is stepped over, a step of an input moves the states by E times it (language 9), and a condition on states is
//! located and the solver started anew there. The solver stands behind one trait; rows go to a [`Sink`] as they are made.
//!
//! AFTER THIS POINT there are only rows of numbers, at exactly the times that were asked for.

mod ahead;
mod bends;
mod blame;
mod branch;
mod corners;
mod crossing;
mod diffsol_solver;
mod drive;
mod events;
mod expected;
mod failure;
mod finite;
mod first_step;
mod headway;
mod implicit;
mod inputs;
mod interpolation;
mod joint;
mod jump;
mod jump_path;
mod landing;
mod linear;
mod loop_solutions;
mod motion;
mod newton;
mod piece;
mod plan;
mod reported;
mod rows;
mod run;
mod scales;
mod signals;
mod simulator;
mod singular;
mod slack;
mod solution_branch;
mod solver;
mod starts;
mod steady;
mod stiffness;
mod table;
mod trial;
mod verify;

pub use expected::state_scales;
pub use failure::{Blame, Failure, FailureKind};
pub use inputs::Inputs;
pub use newton::{OVER_BENDS, ROUNDINGS};
pub use plan::{Method, Plan, Progress, Silent, Sink, Stop, Summary};
pub use scales::LEAST;
pub use signals::{Corner, Side, Signals};
pub use simulator::{Simulator, simulate};
pub use slack::{with_default_slack, with_slack};
pub use table::{Table, TableReference, read_samples, read_table, table_reference};
pub use trial::trial_sizes;
pub use verify::{Fault, Report, Verifier};
