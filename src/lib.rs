//! `lgm` compiles textual models of physical systems to state equations.
//!
//! Data flows one way, through one room after another; each room is one function and the type that it returns:
//!
//! 1. A text and all that it imports, kept in a [`source::SourceMap`], is parsed by [`syntax`] and gathered by
//!    [`elaborate::load`] into a program.
//! 2. [`elaborate::elaborate`] expands the chosen model: components, arrays, vectors and units are gone, and what is
//!    left is a flat [`model::Model`] whose laws are [`expr`] expressions.
//! 3. [`bond::lower`] makes one graph of junctions and ports of it, whichever notation it was drawn in.
//! 4. [`equations::formulate`] asks [`causality`] which variable each port is solved for, lets [`reduce`] remove
//!    dependent storage and algebraic loops over the arithmetic of [`algebra`], and writes down the
//!    [`equations::StateSystem`].
//! 5. [`analysis`] draws conclusions from it, [`kernels`] compiles it to functions of arrays, [`simulate`] runs it, and
//!    [`emit`] prints it.
//!
//! Every stage returns its [`diagnostic::Diagnostic`]s beside its value. A text with errors is elaborated as far as it could be
//! read, so that one run reports as many faults as it can; from [`bond`] on, stages run only if there are no errors up to there.
//! [`cli`] is the only room that touches the disk.

pub mod cli;
pub mod rendering;

pub use lgm_algebra::{self as algebra, expr, units};
pub use lgm_elaborate as elaborate;
pub use lgm_emit as emit;
pub use lgm_equations::{self as equations, analysis, bond, causality, reduce};
pub use lgm_import as import;
pub use lgm_kernels as kernels;
pub use lgm_model as model;
pub use lgm_simulate as simulate;
pub use lgm_source::{self as source, codes, diagnostic};
pub use lgm_syntax as syntax;

use diagnostic::{Diagnostic, has_errors, in_source_order};
use equations::StateSystem;
use source::{SourceId, SourceMap, Sources};

/// What is asked of one compilation.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Which model, and the values of its parameters.
    pub settings: elaborate::Settings,
    /// Which states, and in which form the matrices are wanted.
    pub equations: equations::Options,
    /// Whether, and where, the equations are linearised.
    pub linearize: Option<analysis::LinearizeRequest>,
    /// Whether the equations are compared with the laws of the flat graph.
    pub verify: bool,
}

/// Says what is wrong with a text; a text without a model may be without fault.
pub fn check(files: &dyn Sources, map: &mut SourceMap, root: SourceId, request: &Request) -> Vec<Diagnostic> {
    let (_, mut diagnostics) = run(files, map, root, request);
    in_source_order(&mut diagnostics);
    diagnostics
}

/// Compiles the chosen model of a text; there are equations exactly where no diagnostic is an error.
pub fn compile(
    files: &dyn Sources,
    map: &mut SourceMap,
    root: SourceId,
    request: &Request,
) -> (Option<StateSystem>, Vec<Diagnostic>) {
    let (whole, diagnostics) = compile_whole(files, map, root, request);
    (whole.map(|whole| whole.system), diagnostics)
}

/// A model with all that was made of it.
#[derive(Clone, Debug)]
pub struct Whole {
    /// The flat model.
    pub model: model::Model,
    /// Its bond graph.
    pub graph: bond::BondGraph,
    /// Its equations.
    pub system: StateSystem,
    /// The storage elements that were to keep their states.
    pub retained: Vec<model::ElementId>,
}

/// [`compile`], with the flat model and the graph that the equations were made from: what a run is verified against.
pub fn compile_whole(
    files: &dyn Sources,
    map: &mut SourceMap,
    root: SourceId,
    request: &Request,
) -> (Option<Whole>, Vec<Diagnostic>) {
    let (system, mut diagnostics) = run(files, map, root, request);
    in_source_order(&mut diagnostics);
    if system.is_none() && !has_errors(&diagnostics) {
        let name = &map.get(root).name;
        let help =
            "write `model Name { .. }`, or name the file that holds it; `lgm check` also takes a file of components";
        diagnostics.push(Diagnostic::error("LGM0910", format!("there is no model in `{name}`")).help(help));
    }
    (system, diagnostics)
}

/// How large the chosen model is, as a person counts it; nothing where a diagnostic is an error, or without a model.
pub fn counts(
    files: &dyn Sources,
    map: &mut SourceMap,
    root: SourceId,
    settings: &elaborate::Settings,
) -> Option<elaborate::Counts> {
    let (program, diagnostics) = elaborate::load(files, map, root);
    let (model, found) = elaborate::elaborate(&program, map, settings);
    let sound = !has_errors(&diagnostics) && !has_errors(&found);
    model.filter(|_| sound).map(|model| elaborate::counts(&model))
}

/// The stages in their order; each is given what the one before it returned.
fn run(
    files: &dyn Sources,
    map: &mut SourceMap,
    root: SourceId,
    request: &Request,
) -> (Option<Whole>, Vec<Diagnostic>) {
    let (program, mut diagnostics) = elaborate::load(files, map, root);
    let (model, found) = elaborate::elaborate(&program, map, &request.settings);
    diagnostics.extend(found);
    let Some(mut model) = model.filter(|_| !has_errors(&diagnostics)) else {
        return (None, diagnostics);
    };
    let mut found = bond::split_singular_stiffness(&mut model);
    found.extend(bond::hold_integrals(&mut model));
    let graph = bond::lower(&model);
    let (system, more) = equations::formulate_with_time(&mut model, &graph, &request.equations);
    found.extend(more);
    model.show_instances(&mut found);
    diagnostics.extend(found);
    let system = system.filter(|_| !has_errors(&diagnostics));
    let retained = equations::retained(&model, &request.equations, &mut Vec::new());
    if request.verify
        && let Some(system) = &system
    {
        let verification = equations::verify(
            &model,
            &graph,
            system,
            &retained,
            request.equations.states,
            request.equations.symbolic,
        );
        diagnostics.extend(verification.into_diagnostics(&model));
    }
    let system = match (system, &request.linearize) {
        (Some(system), Some(asked)) => {
            let (system, found) = analysis::linearize(&model, &system, asked);
            diagnostics.extend(found);
            system
        }
        (system, _) => system,
    };
    let whole = system.map(|system| Whole {
        model,
        graph,
        system,
        retained,
    });
    (whole, diagnostics)
}
