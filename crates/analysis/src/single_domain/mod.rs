//! A model converted to one domain as a source text: its own elements, and an equivalent for each coupler.
//!
//! An impedance that is a ladder of positive elements becomes these elements ([`ladder`]), with its source in series or in parallel. Other
//! impedances, and inner variables that are outputs, become states with a controlled source ([`internal`]).

mod far_side;
mod internal;
mod ladder;
mod names;
mod parts;
mod port;
mod text;
mod writer;

pub use writer::Probed;

use crate::one_port::Conversion;
use lgm_model::Model;
use lgm_source::diagnostic::Diagnostic;
use writer::{Writer, separate};

/// Reports an error if two couplers lead to the same network. Such a network has two ports, and is not an impedance at either of them.
pub fn one_port_each(model: &Model, conversion: &Conversion) -> Result<(), Box<Diagnostic>> {
    separate(model, conversion).map(|_| ())
}

/// Writes a model in one domain with the inputs, the outputs and the transfer functions of the given model.
pub fn single_domain(
    model: &Model,
    conversion: &Conversion,
    probed: &mut Probed<'_>,
    is_numeric: bool,
) -> Result<String, Box<Diagnostic>> {
    let mut writer = Writer::new(model, conversion, is_numeric)?;
    for at in 0..conversion.behind.len() {
        writer.behind(at, probed)?;
    }
    Ok(writer.finished())
}
