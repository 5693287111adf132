//! The decision on causality: from the structure, with the ties of ideal elements, and with the best conditioned states.

use crate::bond::BondGraph;
use crate::causality::{self, Causality, Request};
use crate::parameter_values::sampled;
use crate::state_selection::conditioning::improved;
use crate::state_selection::last_digits::decided_by_last_digits;
use crate::state_selection::ties::with_ties;
use lgm_algebra::{FromExpression, Sampled};
use lgm_model::{Law, Model};
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, has_errors};

/// Decides causality, and which of mutually dependent storage elements carry the states: in the order of declaration,
/// unless other states are much better conditioned (see `conditioning`). The flag is true if general parameters may be
/// used.
pub fn decide(model: &Model, graph: &BondGraph, request: &Request) -> (Causality, bool, Vec<Diagnostic>) {
    let (causality, general, mut diagnostics) = decide_rank(model, graph, request);
    if has_errors(&diagnostics) {
        return (causality, general, diagnostics);
    }
    let (better, warning) = improved(model, graph, &causality, request);
    let Some(better) = better else {
        diagnostics.extend(warning);
        return (causality, general, diagnostics);
    };
    let mut ranks = request.ranks.clone();
    ranks.extend(better.into_iter().map(|port| (port, -1)));
    let request = Request {
        retain: request.retain.clone(),
        strokes: request.strokes.clone(),
        ranks,
        ..Request::default()
    };
    let (causality, general, mut diagnostics) = decide_rank(model, graph, &request);
    diagnostics.extend(warning);
    (causality, general, diagnostics)
}

/// Decides causality from the structure, and with the ties of ideal elements.
pub(crate) fn decide_rank(model: &Model, graph: &BondGraph, request: &Request) -> (Causality, bool, Vec<Diagnostic>) {
    let (causality, general, diagnostics) = decide_structure(model, graph, request);
    if has_errors(&diagnostics) {
        return (causality, general, diagnostics);
    }
    let tied = with_ties(model, &causality, request, |request| {
        let (causality, general, diagnostics) = decide_structure(model, graph, request);
        (!has_errors(&diagnostics)).then_some((causality, (general, diagnostics)))
    });
    match tied {
        Some((causality, (general, diagnostics))) => (causality, general, diagnostics),
        None => (causality, general, diagnostics),
    }
}

/// Decides causality for general parameters, and again for the given numbers. If the latter have a lower rank, the
/// second decision is used, with a warning. The flag is true if general parameters may be used.
pub(crate) fn decide_structure(
    model: &Model,
    graph: &BondGraph,
    request: &Request,
) -> (Causality, bool, Vec<Diagnostic>) {
    let mut symbols = Sampled::new(1);
    let (general, mut diagnostics) = causality::assign(model, graph, request, |id| {
        symbols.from_expression(&model.exprs, id).unwrap_or(0)
    });
    if has_errors(&diagnostics) {
        // Numbers can only have a lower rank, and therefore more conflicts.
        return (general, true, diagnostics);
    }
    let has_moduli = model
        .graph
        .elements
        .iter()
        .any(|element| matches!(element.law, Law::Coupler { .. }));
    if !has_moduli {
        // Without moduli the structure contains only ones, and no value can change its rank.
        return (general, true, diagnostics);
    }
    let mut given = sampled(model, 1);
    let (numeric, numeric_diagnostics) = causality::assign(model, graph, request, |id| {
        given.from_expression(&model.exprs, id).unwrap_or(0)
    });
    if !has_errors(&numeric_diagnostics)
        && let Some(diagnostic) = decided_by_last_digits(model, &numeric)
    {
        diagnostics.push(diagnostic);
        return (numeric, false, diagnostics);
    }
    if numeric.solved == general.solved && numeric.pivots.len() == general.pivots.len() {
        // The pivots that the numbers allow are also nonzero in general; the converse is not true.
        return (numeric, true, diagnostics);
    }
    if has_errors(&numeric_diagnostics) {
        let only_here = "this holds for the given parameter values; for general values there is no conflict";
        let noted = numeric_diagnostics
            .into_iter()
            .map(|diagnostic| diagnostic.note(only_here));
        return (numeric, false, noted.collect());
    }
    let mut diagnostic = Diagnostic::warning(
        Code::LGM0322,
        "these particular numbers disconnect or lock parts of the model; the equations hold for these numbers \
             only",
    )
    .label(model.heading.span, "in this model")
    .help("check for moduli that are zero or cancel around a loop; change them with `--set`");
    let (in_general, here) = (general.independent.len(), numeric.independent.len());
    if in_general != here {
        diagnostic = diagnostic.note(format!(
            "in general, {in_general} storage ports have independent states; with these numbers, {here} do"
        ));
    }
    diagnostics.push(diagnostic);
    (numeric, false, diagnostics)
}
