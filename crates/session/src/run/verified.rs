//! Runs that are verified against the laws of the graph.

use crate::run::happened::{Happened, verify};
use crate::run::ready::Ready;
use lgm_equations::bond::BondGraph;
use lgm_equations::{FlatGraph, StateRequest};
use lgm_model::{ElementId, Model};
use lgm_simulate::{Failure, FailureKind, Progress, Sink, Summary, Verifier, simulate};
use lgm_source::diagnostic::Diagnostic;

/// The reference for verifying a run.
#[derive(Debug)]
pub struct Origin {
    /// The model.
    pub model: Model,
    /// The graph of its equations.
    pub graph: BondGraph,
    /// The elements that keep their states.
    pub retained: Vec<ElementId>,
    /// The choice of states.
    pub states: StateRequest,
}

/// The findings on a run.
#[derive(Debug)]
pub struct Verification {
    /// A diagnostic for each violation.
    pub diagnostics: Vec<Diagnostic>,
    /// One sentence on the verified properties.
    pub summary: String,
    /// The properties that could not be verified.
    pub gaps: Option<String>,
}

/// Runs a model and verifies the run: its samples against the flat graph or, for a model with events, the equations of all mode
/// combinations that occurred.
///
/// # Errors
///
/// The reason and the time if the run ends before its stop time, or if the graph has no equations to verify it with.
pub fn run_verified(
    ready: &Ready,
    origin: &Origin,
    sink: &mut dyn Sink,
    progress: &dyn Progress,
    happened: &mut Happened,
) -> Result<(Summary, Verification), Failure> {
    if let Some(switched) = &ready.switched {
        let summary = ready.run(sink, progress, happened)?;
        let (diagnostics, words) = verify(&switched.events, &switched.options, happened);
        let found = Verification {
            diagnostics,
            summary: words,
            gaps: None,
        };
        return Ok((summary, found));
    }
    let Ready {
        system,
        kernels,
        parameters,
        inputs,
        plan,
        ..
    } = ready;
    let refused = |message: String| Failure::new(plan.start, FailureKind::Refused(message));
    let graph = FlatGraph::new(&origin.model, &origin.graph, system, &origin.retained, origin.states);
    let graph = graph.map_err(|diagnostic| refused(diagnostic.message))?;
    let graph = graph
        .ok_or_else(|| refused("the flat graph of the model has no equations to verify the run with".to_string()))?;
    let mut verifier = Verifier::new(graph, system, kernels, parameters, inputs, plan, sink)?;
    let all = Verifier::plan_of(plan);
    let summary = simulate(system, kernels, parameters, inputs, &all, &mut verifier, progress)?;
    let (report, last) = verifier.finish(summary.steps);
    last.map_err(|stop| Failure::new(plan.stop, FailureKind::Stopped(stop)))?;
    let found = Verification {
        diagnostics: report.diagnostics(),
        summary: report.summary(),
        gaps: report.gaps(),
    };
    Ok((summary, found))
}
