//! Linear analysis: properties of a system that follow from its state equations.
//!
//! Each folder covers one subject. No function changes the given equations; [`linearize`] returns new ones.

mod between;
mod eigen;
mod fit;
mod linearize;
mod margins;
mod modes;
mod one_port;
mod prime;
mod response;
mod second_order;
mod sensitivity;
mod single_domain;
mod state_space;
mod terminals;
mod transfer;
mod trim;
mod values;

pub use eigen::poles::poles;
pub use eigen::storage::{StorageOutputs, with_storage_outputs};
pub use fit::{Estimate, NoEstimate, Residuals, least_squares};
pub use linearize::{LinearizeRequest, linearize};
pub use margins::{Margins, Peak, margins, peaks, shown_range};
pub use modes::duration::{Duration, MOST_STATES, duration};
pub use modes::{Mode, ModeRequest, integrals_of_outputs, modes};
pub use one_port::{
    Behind, Branch, Conversion, Equivalent, EquivalentKind, Place, Probe, Ratio, Reduction, Rule, Step, Test,
    conversion, equivalent, observe, probe, stepwise,
};
pub use response::{Curve, Response, ResponseRequest, group_delay, response};
pub use second_order::{
    Eliminated, JunctionStructure, Mechanism, Partition, SecondOrder, block, junction_structure, mechanism,
    mechanism_at_rest, partition, second_order,
};
pub use sensitivity::with_sensitivities;
pub use single_domain::{Probed, one_port_each, single_domain};
pub use state_space::{
    Discrete, Hold, Matrix, MomentRequest, Moments, Reduced, ReductionMethod, Sampled, StateSpace, StatesBehind,
    Structure, discretize, match_moments, reduce_order, sampled, structure,
};
pub use terminals::{Isolated, ModalMatrices, Terminals, isolate, modal_matrices, terminals};
pub use transfer::{
    Combination, EliminationStep, Factored, MOST_STATES as MOST_STATES_OF_ZEROS, SymbolicTransfer, Term,
    TransferFunction, elimination_steps, factored, numeric_transfer, symbolic_transfer,
};
pub use trim::{TrimRequest, trim};
pub use values::numeric_form;
