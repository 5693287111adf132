//! The decision on causality: by the structure, with what ideal elements tie, and with the states that are conditioned best.

use crate::bond::BondGraph;
use crate::causality::{self, Causality, Request};
use crate::parameter_values::parameter_values;
use crate::state_selection::conditioning::improved;
use crate::state_selection::ties::with_ties;
use lgm_algebra::expr::SymbolId;
use lgm_algebra::{FromExpression, PrimeField, Sampled};
use lgm_model::{Law, Model};
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, has_errors};

/// Decides causality, and which of the storage that depends on each other carries the states: in the order of declaration, unless
/// other states are much better conditioned (see `conditioning`). The flag says whether the parameters in general may be used.
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
        ranks,
        ..Request::default()
    };
    let (causality, general, mut diagnostics) = decide_rank(model, graph, &request);
    diagnostics.extend(warning);
    (causality, general, diagnostics)
}

/// Decides causality by the structure, and with what ideal elements tie.
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

/// Decides causality in general, and again with the numbers given; where these have a lower rank, the second decision
/// holds, with a warning. The flag says whether the parameters in general may be used.
pub(crate) fn decide_structure(
    model: &Model,
    graph: &BondGraph,
    request: &Request,
) -> (Causality, bool, Vec<Diagnostic>) {
    let mut sampled = Sampled::new(1);
    let (general, mut diagnostics) = causality::assign(model, graph, request, |id| {
        sampled.from_expression(&model.exprs, id).unwrap_or(0)
    });
    if has_errors(&diagnostics) {
        // Numbers can only have a lower rank, and so more conflicts.
        return (general, true, diagnostics);
    }
    let has_moduli = model
        .graph
        .elements
        .iter()
        .any(|element| matches!(element.law, Law::Coupler { .. }));
    if !has_moduli {
        // Without moduli the structure holds nothing but ones, and no value can change its rank.
        return (general, true, diagnostics);
    }
    let values = parameter_values(model);
    let value = |symbol: SymbolId| values.get(&symbol).cloned();
    let (numeric, numeric_diagnostics) = causality::assign(model, graph, request, |id| {
        model
            .exprs
            .evaluate_exact(&[id], &value)
            .map_or(0, |list| PrimeField.reduce(&list[0]))
    });
    if numeric.solved == general.solved && numeric.pivots.len() == general.pivots.len() {
        // The pivots that the numbers allow are not zero in general either; the converse is not true.
        return (numeric, true, diagnostics);
    }
    if has_errors(&numeric_diagnostics) {
        let only_here = "this holds for the parameter values given; for values in general there is no conflict";
        let noted = numeric_diagnostics
            .into_iter()
            .map(|diagnostic| diagnostic.note(only_here));
        return (numeric, false, noted.collect());
    }
    let mut diagnostic =
        Diagnostic::warning(
            Code::LGM0322,
            "with these numbers parts of the model are cut off or tied together, unlike with others; the equations hold for these numbers only",
        )
        .label(model.heading.span, "in this model")
        .help("look for moduli that are zero, or that cancel around a loop; change them with `--set`");
    let (in_general, here) = (general.independent.len(), numeric.independent.len());
    if in_general != here {
        diagnostic = diagnostic.note(format!(
            "{in_general} storage ports have a state of their own in general, {here} with these numbers"
        ));
    }
    diagnostics.push(diagnostic);
    (numeric, false, diagnostics)
}
