//! A model in one domain as a text: its own elements, and in the place of each coupler what is seen behind it.
//!
//! An impedance that is a ladder of positive elements becomes these ([`ladder`]), with its source in series or in parallel. Anything else,
//! and what an output shows from the inside, becomes states behind a controlled source ([`internal`]).

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

/// An error if two couplers lead to one network behind them: it has two ports, and is no impedance at either of them.
pub fn one_port_each(model: &Model, conversion: &Conversion) -> Result<(), Box<Diagnostic>> {
    separate(model, conversion).map(|_| ())
}

/// A model in one domain with the inputs, the outputs and the transfer functions of a model.
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
