//! Declarations: parameters, inputs, states, discrete variables, initial values and conditions.

pub(in crate::evaluate) mod arguments;
pub(in crate::evaluate) mod conditions;
pub(in crate::evaluate) mod declared;
pub(in crate::evaluate) mod discrete;
pub(in crate::evaluate) mod input_signals;
pub(crate) mod ranges;
pub(in crate::evaluate) mod settings;
pub(in crate::evaluate) mod starts;
