//! The equivalent of a network at a port: an impedance and a source for each input.

mod conversion;
mod equivalent;
mod probe;
mod stepwise;
mod table;
mod without;

pub use conversion::{Behind, Branch, Conversion, Step, conversion};
pub(crate) use conversion::{Kind, domain_of, is_across};
pub use equivalent::{Equivalent, EquivalentKind, Ratio, equivalent};
pub use probe::{Place, Probe, Test, observe, probe};
pub use stepwise::{Reduction, Rule, stepwise};
pub(crate) use without::{Places, elements_and_bonds};
