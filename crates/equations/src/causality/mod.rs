//! Bond graph to causality: which variable of each port the junction structure solves for.
//!
//! AFTER THIS POINT every port of a storage element, dissipator or source has exactly one variable that the structure
//! gives and one that it receives. Independent and dependent storage are known, and the order in which the structure's
//! equations are solved is fixed. The graph itself is unchanged.

mod chain;
pub(crate) mod conflict;
mod context;
mod coupled;
mod decide;
pub mod elimination;
mod explanation;
mod locked;
pub(crate) mod relation;
pub mod scap;
pub mod structure;
pub mod words;

use lgm_model::{PortId, Variable};
use structure::Structure;

pub use decide::{Request, assign};
pub use locked::locked;

/// The causality of a graph.
#[derive(Clone, Debug)]
pub struct Causality {
    /// The equations of the junction structure.
    pub structure: Structure,
    /// For each port, the variable that the structure solves for; none for the ports of couplers.
    pub solved: Vec<Option<Variable>>,
    /// Row and column of each elimination step, in order. Inner columns first, then ports by priority.
    pub pivots: Vec<(u32, u32)>,
    /// Inner columns that no equation determines: circulating flows of ideal loops.
    pub free: Vec<u32>,
    /// Storage ports in integral causality, in declaration order.
    pub independent: Vec<PortId>,
    /// Storage ports in derivative causality, in declaration order.
    pub dependent: Vec<PortId>,
    /// The dependent ports whose co-energy follows from the structure only together with dissipator laws, as in ideal
    /// elements such as an op-amp with zero input.
    pub tied: Vec<PortId>,
    /// Dissipator ports, in declaration order.
    pub dissipators: Vec<PortId>,
    /// Source ports, in declaration order.
    pub sources: Vec<PortId>,
    /// Ports of nonlinear laws, in declaration order: the variable that the structure takes is a nonlinear function of others.
    pub nonlinear: Vec<PortId>,
    /// True if moduli may change with time, so that the co-energy of dependent storage changes with them too.
    pub modulated: bool,
}
