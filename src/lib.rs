//! `lgm` compiles textual models of physical systems to state equations.
//!
//! Data flows one way, through one stage after another; each stage is one function and the type that it returns:
//!
//! 1. A text and all that it imports, kept in a [`source::SourceMap`], is parsed by [`syntax`] and gathered by
//!    [`elaborate::load`] into a program.
//! 2. [`elaborate::elaborate`] expands the chosen model: components, arrays, vectors and units are gone, and what is
//!    left is a flat [`model::Model`] whose laws are [`expr`] expressions.
//! 3. [`bond::lower`] makes one graph of junctions and ports of it, whichever notation it was drawn in.
//! 4. [`equations::formulate_with_time`] asks [`causality`] which variable each port is solved for, lets [`index_reduction`] remove
//!    dependent storage and algebraic loops over the arithmetic of [`algebra`], and writes down the
//!    [`equations::StateSystem`].
//! 5. [`analysis`] draws conclusions from it, [`kernels`] compiles it to functions of arrays, [`simulate`] runs it, and
//!    [`emit`] prints it, with sizes of states from [`trial_runs`].
//!
//! Every stage returns its [`diagnostic::Diagnostic`]s beside its value. A text with errors is elaborated as far as it could be
//! read, so that one run reports as many faults as it can; from [`bond`] on, stages run only if there are no errors up to there.
//! [`cli`] writes to the disk; texts are read from it by `lgm_files`, for the command line and the language server.

pub mod cli;
pub mod rendering;
pub mod trial_runs;

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
pub use lgm_simulate as simulate;
pub use lgm_source::{self as source, codes, diagnostic};
pub use lgm_syntax as syntax;

pub use lgm_compilation::{Compilation, Request, Whole, stretched};

use diagnostic::Diagnostic;
use equations::StateSystem;
use source::{SourceId, SourceMap, Sources};

/// Says what is wrong with a text; a text without a model may be without fault.
pub fn check(files: &dyn Sources, map: &mut SourceMap, root: SourceId, request: &Request) -> Vec<Diagnostic> {
    let compilation = Compilation::new(files, std::mem::take(map), root, request.clone());
    let diagnostics = compilation.diagnostics();
    *map = compilation.into_map();
    diagnostics
}

/// Compiles the chosen model of a text; there are equations exactly where no diagnostic is an error.
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
