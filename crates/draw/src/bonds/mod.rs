//! Bond graphs: the chain of junctions and couplers in a row, what leads past it in rows above and below, elements on the free sides.

mod cells;
mod graph;
mod paint;
mod places;
mod route;
mod skeleton;

use crate::content::Content;
use crate::drawing::Drawing;

/// The drawing of a model as a bond graph.
pub(crate) fn draw(content: &Content<'_>) -> Drawing {
    let graph = graph::read(content);
    let skeleton = skeleton::skeleton(&graph);
    let mut cells = cells::cells(&graph, &skeleton);
    let gaps = places::place(&graph, &skeleton, &mut cells);
    paint::paint(content, &graph, &skeleton, &cells, &gaps)
}
