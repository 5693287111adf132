//! What is given for a formulation beside the graph: the elements to retain, the outputs that are asked for, the values of parameters.

use super::options::Options;
use super::outputs::is_affine;
use crate::diagnostic::Diagnostic;
use crate::elaborate::model::{ElementId, Model};
use crate::expr::SymbolId;
use num_rational::BigRational;
use rustc_hash::FxHashMap;

/// Elements named by `--retain`, with a diagnostic for each unknown name.
pub(crate) fn retained(model: &Model, options: &Options, diagnostics: &mut Vec<Diagnostic>) -> Vec<ElementId> {
    let mut found = Vec::new();
    for name in &options.retain {
        let position = (0..model.elements.len() as u32)
            .map(ElementId)
            .find(|id| model.element_name(*id) == *name);
        match position {
            Some(id) if super::refusal::is_storage(model, id) => found.push(id),
            Some(id) => diagnostics.push(
                Diagnostic::error(
                    "LGM0904",
                    format!("`--retain {name}`: `{name}` is not a storage element"),
                )
                .label(model.element_span(id), "this element stores no energy")
                .help("name a mass, spring, capacitor, inductor or bond `I` or `C`"),
            ),
            None => {
                let storage: Vec<String> = (0..model.elements.len() as u32)
                    .map(ElementId)
                    .filter(|id| super::refusal::is_storage(model, *id))
                    .take(8)
                    .map(|id| format!("`{}`", model.element_name(id)))
                    .collect();
                diagnostics.push(
                    Diagnostic::error(
                        "LGM0904",
                        format!("`--retain {name}`: the model has no element `{name}`"),
                    )
                    .help(format!("storage elements are {}", storage.join(", "))),
                );
            }
        }
    }
    found
}

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
                    "LGM0505",
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
