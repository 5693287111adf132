//! What a network is seen from a port: an impedance and a source for each input.

mod conversion;
mod equivalent;
mod probe;

pub use conversion::{Behind, Branch, Conversion, Step, conversion};
pub use equivalent::{Equivalent, EquivalentKind, Ratio, equivalent};
pub use probe::{Place, Probe, Test, probe};
