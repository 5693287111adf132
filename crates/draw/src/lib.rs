//! Drawings of models: linear graphs and bond graphs, as data ([`Drawing`]) and as SVG, pages, DOT and JSON.
//!
//! Nothing is decided here but places: branches, bonds and strokes are those of the model and of its [`CausalityReport`]. AFTER THIS
//! POINT the entries of vectors are one line with a width, the modes of a modal block are within it, and texts have boxes that no other
//! text overlaps.

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
pub use formats::{Theme, dot, html, html_in, json, play, svg, svg_in};
pub use manner::Manner;
pub use marks::{Line, Marks};

use content::{Boxes, Content};
use lgm_equations::bond::BondGraph;
use lgm_explain::CausalityReport;
use lgm_model::Model;

/// A drawing has at most so many elements, those of modal blocks left out.
pub const MOST: usize = 1500;

/// Why there is no drawing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// There are so many elements, more than [`MOST`].
    TooLarge(usize),
    /// The junctions of a model are those of no linear graph.
    NoLinearGraph(String),
}

/// What the author of a model wrote: a bond graph if there are junctions, or bonds between elements.
pub fn written_as(model: &Model) -> Kind {
    match linear::obstacle(model) {
        None if model.graph.nodes.iter().any(|node| node.is_graph_node) => Kind::LinearGraph,
        _ => Kind::BondGraph,
    }
}

/// The drawing of a model in the manner of books. `graph` is its bond graph, and `report` its causality.
pub fn draw(model: &Model, graph: &BondGraph, report: &CausalityReport, kind: Kind) -> Result<Drawing, Refusal> {
    draw_with(model, graph, report, kind, Manner::default())
}

/// The drawing of a model.
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
