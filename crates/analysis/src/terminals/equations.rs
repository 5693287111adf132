//! The matrix between the given and the resulting variables of the ports.

use super::isolate::Isolated;
use crate::one_port::Ratio;
use crate::transfer::functions;
use crate::values::numeric_form;
use lgm_model::system::StateSystem;
use lgm_source::diagnostic::Diagnostic;
use std::sync::Arc;

/// The terminal equations of a component: `found = matrix*given`, and the contribution of its internal sources.
#[derive(Clone, Debug, PartialEq)]
pub struct Terminals {
    /// The given variables, one per port: `across(a)`.
    pub given: Vec<String>,
    /// The resulting variables, one per port.
    pub found: Vec<String>,
    /// A row for each resulting variable. A denominator without s is 1.
    pub matrix: Vec<Vec<Ratio>>,
    /// For each input that affects the ports, its column of the matrix.
    pub inputs: Vec<(Arc<str>, Vec<Ratio>)>,
    /// True if internal sources have parts that are not inputs, such as constants and functions of time.
    pub has_constants: bool,
}

/// Computes the terminal equations from the equations of the component with a source at each port; `None` if they are too long in terms
/// of the parameters.
pub fn terminals(
    isolated: &Isolated,
    system: &StateSystem,
    numeric: bool,
) -> Result<Option<Terminals>, Box<Diagnostic>> {
    let form = numeric_form(system, "terminal equations in s")?;
    let has_constants = form.x_offset.is_some() || form.y_offset.is_some();
    let count = isolated.ports.len();
    let inputs: Vec<usize> = (0..system.declared_inputs().count()).collect();
    let outputs: Vec<usize> = (0..count).collect();
    let Some(mut functions) = functions(system, &inputs, &outputs, numeric) else {
        return Ok(None);
    };
    // Sources at the ports are the last inputs.
    let own = inputs.len() - count;
    let mut ratio = |input: usize, output: usize| {
        let (numerator, denominator) = functions.written_over_one(input * count + output);
        Ratio { numerator, denominator }
    };
    let matrix = outputs.iter().map(|row| {
        let columns = (own..inputs.len()).map(|input| ratio(input, *row));
        columns.collect::<Vec<Ratio>>()
    });
    let matrix: Vec<Vec<Ratio>> = matrix.collect();
    let mut reaching = Vec::new();
    for (input, declared) in system.declared_inputs().take(own).enumerate() {
        let column: Vec<Ratio> = outputs.iter().map(|row| ratio(input, *row)).collect();
        if column.iter().any(|entry| !entry.is_zero()) {
            reaching.push((declared.name.clone(), column));
        }
    }
    if functions.is_exhausted() {
        return Ok(None);
    }
    let named = |at: usize, across: bool| {
        let port = &isolated.ports[at];
        let measure = if across { "across" } else { "through" };
        let entry = port.entry.map_or(String::new(), |entry| format!("[{entry}]"));
        format!("{measure}({}){entry}", port.name)
    };
    let is_across: Vec<bool> = (0..count).map(|at| isolated.is_across_given(at)).collect();
    Ok(Some(Terminals {
        given: (0..count).map(|at| named(at, is_across[at])).collect(),
        found: (0..count).map(|at| named(at, !is_across[at])).collect(),
        matrix,
        inputs: reaching,
        has_constants,
    }))
}
