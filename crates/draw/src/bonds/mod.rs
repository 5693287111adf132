//! Bond graphs: the main chain of junctions and couplers in a row, parallel paths in rows above and below, elements on the free sides.
//! Components have frames, and each is placed as a single item in its row.

mod blocks;
mod cells;
mod direction;
mod graph;
mod laid;
mod level;
mod numbers;
mod paint;
mod places;
mod route;
mod skeleton;
mod tracks;
mod unite;
mod values;

use crate::content::Content;
use crate::drawing::Drawing;

/// Draws a model as a bond graph.
pub(crate) fn draw(content: &Content<'_>) -> Drawing {
    let mut graph = graph::read(content);
    if !content.manner.own_directions {
        direction::power_through(&mut graph);
    }
    if !content.manner.all_junctions {
        direction::pass_through(&mut graph);
        unite::unite(&mut graph);
    }
    if content.manner.values {
        values::write(content, &mut graph);
    }
    let blocks = blocks::Blocks::of(content, &graph);
    let laid = level::Layouts::default().level(&graph, &blocks, 0);
    paint::paint(content, &graph, &blocks, &laid)
}
