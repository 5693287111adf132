//! State-space matrices: structure, discretisation and order reduction.

mod discrete;
mod matrices;
mod moments;
mod reduction;
mod sampled;
mod structure;
pub(crate) mod zero;

pub use discrete::{Discrete, Hold, StatesBehind, discretize};
pub use matrices::{Matrix, StateSpace};
pub use moments::{MomentRequest, Moments, match_moments};
pub use reduction::{Reduced, ReductionMethod, reduce_order};
pub use sampled::{Sampled, sampled};
pub use structure::{Structure, structure};
