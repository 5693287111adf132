//! What is given for a formulation beside the graph: the outputs that are asked for, the values of parameters.

use super::outputs::is_affine;
use lgm_algebra::expr::SymbolId;
use lgm_model::Model;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use num_rational::BigRational;
use rustc_hash::FxHashMap;

/// The model with its linear outputs alone; none where all are.
pub(super) fn without_nonlinear_outputs(model: &Model, diagnostics: &mut Vec<Diagnostic>) -> Option<Model> {
    let mut linear = model.clone();
    linear.outputs.clear();
    for output in &model.outputs {
        if is_affine(&mut linear.exprs, output.value) {
            linear.outputs.push(output.clone());
        } else {
            diagnostics.push(
                Diagnostic::warning(
                    Code::LGM0505,
                    format!("output `{}` is not linear, and is left out", output.name),
                )
                .label(output.span, "a product of variables, or a function of one")
                .help("ask for outputs that are linear in efforts, flows, across and through variables"),
            );
        }
    }
    (linear.outputs.len() < model.outputs.len()).then_some(linear)
}

/// The values of all parameter entries.
pub(crate) fn parameter_values(model: &Model) -> FxHashMap<SymbolId, BigRational> {
    model
        .parameters
        .iter()
        .flat_map(|parameter| &parameter.entries)
        .map(|entry| (entry.symbol, entry.value.clone()))
        .collect()
}
