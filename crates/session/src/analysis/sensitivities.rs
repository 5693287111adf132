//! Derivatives of runs with respect to parameters.

use crate::analysis::modes::parameter_entry;
use crate::run::inputs::InputValue;
use crate::run::plan::RunOptions;
use crate::{Faults, Prepared, Session};
use lgm_algebra::expr::SymbolId;
use lgm_analysis::with_sensitivities;
use lgm_equations::StateSystem;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;

/// Compiles a run whose outputs and states are followed by their derivatives with respect to parameters: `d y/d k`. The derivatives
/// solve the variational equations, within the tolerance of the run.
///
/// # Errors
///
/// Those of [`Session::prepare`], and if the derivatives are unknown: for models with events or algebraic loops, and for equations with
/// conditions on states or parameters.
pub fn prepare_sensitivities(
    session: &Session,
    options: &RunOptions,
    inputs: &[(String, InputValue)],
    names: &[String],
) -> Result<Prepared, Faults> {
    session.prepare_changed(options, inputs, Some(&|system| extended(system, names)))
}

fn extended(system: &StateSystem, names: &[String]) -> Result<StateSystem, Box<Diagnostic>> {
    let symbols = names
        .iter()
        .map(|name| Ok(parameter_entry(system, name, "sensitivity")?.1));
    let symbols: Vec<SymbolId> = symbols.collect::<Result<_, Box<Diagnostic>>>()?;
    let found = match system.events.happen {
        true => None,
        false => with_sensitivities(system, &symbols),
    };
    let Some(mut found) = found else {
        let message = format!("the derivatives of runs of `{}` are unknown", system.model);
        let fault = Diagnostic::error(Code::LGM0934, message)
            .note("events, algebraic loops, conditions on states or parameters, and rates of inputs have no variational equations here");
        return Err(Box::new(
            fault.help("compare runs with nearby values of the parameters"),
        ));
    };
    let count = system.outputs.len();
    for (at, name) in names.iter().enumerate() {
        for (output, own) in found.outputs[(at + 1) * count..].iter_mut().zip(&system.outputs) {
            (output.name, output.unit) = (format!("d {}/d {name}", own.name).into(), None);
        }
    }
    Ok(found)
}
