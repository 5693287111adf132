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
    let own = session.with_varied(names)?;
    let session = own.as_ref().unwrap_or(session);
    session.prepare_changed(options, inputs, true, Some(&|system| extended(system, names)))
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
        let message = format!(
            "the derivatives of runs of `{}` are unknown: {}",
            system.model,
            reason(system)
        );
        let fault = Diagnostic::error(Code::LGM0934, message);
        return Err(Box::new(fault.help(
            "use differences of runs with nearby values, further apart than the tolerance of the runs",
        )));
    };
    let count = system.outputs.len();
    for (at, name) in names.iter().enumerate() {
        for (output, own) in found.outputs[(at + 1) * count..].iter_mut().zip(&system.outputs) {
            (output.name, output.unit) = (format!("d {}/d {name}", own.name).into(), None);
        }
    }
    Ok(found)
}

/// Returns the reason why a system has no variational equations.
fn reason(system: &StateSystem) -> &'static str {
    let equations = &system.equations;
    if system.events.happen {
        "the model has events, and the derivatives jump there, since the parameters move the events in time"
    } else if !equations.loops.is_empty() || equations.mass_matrix.is_some() {
        "the equations have algebraic loops"
    } else if system.starts.search.is_some() {
        "the initial values are only known numerically"
    } else {
        "the equations have conditions on states or parameters, or too many states, or an input depends on the parameters"
    }
}
