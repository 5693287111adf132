//! Drawings of models: linear graphs and bond graphs, as data ([`Drawing`]) and as SVG, pages, DOT and JSON.
//!
//! Only positions are computed here: branches, bonds and strokes come from the model and its [`CausalityReport`]. AFTER THIS POINT the
//! entries of a vector are one line with a width, and the modes of a modal block are inside its box. Texts have boxes that no other text
//! overlaps.

mod bonds;
mod conflict;
mod content;
mod drawing;
mod formats;
mod linear;
mod manner;
mod marks;
mod metrics;
mod wrap;

pub use drawing::{
    Anchor, Coupling, Drawing, Edge, Frame, Kind, Label, LabelKind, Node, Point, Rail, Rect, Shape, Signal, Source,
    Stroke,
};
pub use formats::{Theme, dot, html, html_in, json, play, steps, svg, svg_in};
pub use manner::Manner;
pub use marks::{Line, Marks};

use content::{Boxes, Content};
use lgm_equations::bond::BondGraph;
use lgm_explain::CausalityReport;
use lgm_model::Model;

/// The maximum number of elements of a drawing, excluding the elements of modal blocks.
pub const MOST: usize = 1500;

/// The reason why a drawing is impossible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The number of elements, more than [`MOST`].
    TooLarge(usize),
    /// The junctions of the model correspond to no linear graph.
    NoLinearGraph(String),
}

/// Returns the notation of the model: a bond graph if it contains junctions, or bonds between elements.
pub fn written_as(model: &Model) -> Kind {
    match linear::obstacle(model) {
        None if model.graph.nodes.iter().any(|node| node.is_graph_node) => Kind::LinearGraph,
        _ => Kind::BondGraph,
    }
}

/// Draws a model by textbook conventions. `graph` is its bond graph, and `report` its causality.
pub fn draw(model: &Model, graph: &BondGraph, report: &CausalityReport, kind: Kind) -> Result<Drawing, Refusal> {
    draw_with(model, graph, report, kind, Manner::default())
}

/// Draws a model with the given conventions.
pub fn draw_with(
    model: &Model,
    graph: &BondGraph,
    report: &CausalityReport,
    kind: Kind,
    manner: Manner,
) -> Result<Drawing, Refusal> {
    let boxes = Boxes::of(model);
    let conflict = conflict::conflict(model, report);
    let content = Content {
        conflict: &conflict,
        model,
        graph,
        report,
        boxes: &boxes,
        manner,
    };
    let count = content.element_names().len();
    if count > MOST {
        return Err(Refusal::TooLarge(count));
    }
    match kind {
        Kind::LinearGraph => linear::draw(&content).map_err(Refusal::NoLinearGraph),
        Kind::BondGraph => Ok(bonds::draw(&content)),
    }
}
