//! Modal blocks: a distributed-parameter element represented by its modes, each an ordinary storage, and one coupler between the modes and
//! the ports.
//!
//! In the flat graph they are ordinary parts. With n modes and p ports there are n nodes, n A-types, up to n T-types and dissipators, and
//! one p-by-n transformer. Its entries are the values of the shapes at the ports
//! (Pourazadi, sec. 4.5: `v_port = R' v`, `M v' = -f + R f_port`). Reduction therefore supports every causality at the ports. In the dual
//! (`drive across;`) the modes' T-types replace the A-types, in series with the rest.

mod block;
mod constants;
mod parts;
mod residual;
mod starts;
mod table;

use crate::context::values::{Scalar, Value};
use lgm_model::Matrix;

/// The values of one mode.
pub(crate) struct ModeValues<'a> {
    pub scope: Vec<(&'a str, Value)>,
    pub primary: Scalar,
    pub restoring: Option<Scalar>,
    pub dissipation: Option<Scalar>,
    pub loss: Option<Scalar>,
}

/// The values of a residual, ports by ports.
pub(crate) struct ResidualValues {
    pub compliance: Option<Matrix>,
    pub resistance: Option<Matrix>,
}
