//! `lgm` compiles textual models of physical systems to state equations.
//!
//! Data flows in one direction through a sequence of stages. Each stage is a function with its return type:
//!
//! 1. [`syntax`] parses a text and all its imports, which a [`source::SourceMap`] stores.
//!    [`elaborate::load`] collects the results into a program.
//! 2. [`elaborate::elaborate`] expands components, arrays, vectors and units of the chosen model.
//!    The result is a flat [`model::Model`] whose laws are [`expr`] expressions.
//! 3. [`bond::lower`] converts the model to a single graph of junctions and ports, for every notation.
//! 4. [`equations::formulate_with_time`] derives the [`equations::StateSystem`]. [`causality`] assigns the variable that each port is
//!    solved for. [`index_reduction`] removes dependent storage and algebraic loops, using the arithmetic of [`algebra`].
//! 5. [`analysis`] analyses the equations, [`kernels`] compiles them to functions of arrays, [`simulate`] runs them, and
//!    [`emit`] prints them, with magnitudes of states from [`session::trial_runs`].
//!
//! Every stage returns its [`diagnostic::Diagnostic`]s in addition to its value. A text with errors is elaborated as far as it was parsed,
//! so that one run reports as many errors as possible. From [`bond`] on, stages run only if no earlier stage reported an error. [`cli`]
//! writes to disk. `lgm_files` reads texts from disk, for the command line and the language server.

#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "cli")]
pub mod rendering;

pub use lgm_algebra::{self as algebra, expr, units};
pub use lgm_analysis as analysis;
pub use lgm_draw as draw;
pub use lgm_elaborate as elaborate;
pub use lgm_emit as emit;
pub use lgm_equations::{self as equations, bond, causality, index_reduction};
pub use lgm_explain as explain;
pub use lgm_import as import;
pub use lgm_kernels as kernels;
pub use lgm_model as model;
pub use lgm_session as session;
pub use lgm_simulate as simulate;
pub use lgm_source::{self as source, codes, diagnostic};
pub use lgm_syntax as syntax;

pub use lgm_compilation::{Compilation, Request, Whole, stretched};

use diagnostic::Diagnostic;
use equations::StateSystem;
use source::{SourceId, SourceMap, Sources};

/// Returns the diagnostics of a text. A text without a model can be free of errors.
pub fn check(files: &dyn Sources, map: &mut SourceMap, root: SourceId, request: &Request) -> Vec<Diagnostic> {
    let compilation = Compilation::new(files, std::mem::take(map), root, request.clone());
    let diagnostics = compilation.diagnostics();
    *map = compilation.into_map();
    diagnostics
}

/// Compiles the chosen model of a text. The result has equations if and only if no diagnostic is an error.
pub fn compile(
    files: &dyn Sources,
    map: &mut SourceMap,
    root: SourceId,
    request: &Request,
) -> (Option<StateSystem>, Vec<Diagnostic>) {
    let compilation = Compilation::new(files, std::mem::take(map), root, request.clone());
    let diagnostics = compilation.diagnostics_of_model();
    let (texts, whole) = compilation.into_parts();
    *map = texts;
    (whole.map(|whole| whole.system), diagnostics)
}
