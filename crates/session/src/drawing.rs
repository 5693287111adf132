//! Linear graphs and bond graphs.

use lgm_compilation::Compilation;
use lgm_draw::{Drawing, Kind, Manner, Refusal, draw_with, written_as};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;

/// Returns the drawing of a model, by default in its own notation; None if no model exists.
///
/// # Errors
///
/// If the model is too large, or has no linear graph.
pub fn drawing(compilation: &Compilation, kind: Option<Kind>, manner: Manner) -> Result<Option<Drawing>, Diagnostic> {
    let model = compilation.formulated_model().or_else(|| compilation.model());
    let (Some(model), Some(graph), Some(report)) = (model, compilation.bond_graph(), compilation.causality()) else {
        return Ok(None);
    };
    let kind = kind.unwrap_or_else(|| written_as(model));
    let refused = |refusal: Refusal| match refusal {
        Refusal::TooLarge(count) => Diagnostic::error(
            Code::LGM0938,
            format!(
                "the model has {count} elements; a drawing is limited to {}",
                lgm_draw::MOST
            ),
        )
        .help("draw it with fewer sections, such as `--set N=10`, or draw a model with only one of its components"),
        Refusal::NoLinearGraph(reason) => {
            Diagnostic::error(Code::LGM0939, format!("the model has no linear graph: {reason}"))
                .help("draw it with `--as bond-graph`")
        }
    };
    draw_with(model, graph, report, kind, manner).map(Some).map_err(refused)
}
