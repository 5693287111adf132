//! Where nodes stand: a column for each, with the branches to the reference below it and room for what runs above.

use super::graph::Graph;
use crate::drawing::{Rect, Source};
use crate::metrics::{SIZE, width};

/// The distance of a text from the line that it belongs to.
pub(super) const BESIDE: f64 = 9.0;

/// The radius of the circle of a source.
pub(super) const CIRCLE: f64 = 8.0;

/// How much longer the frame of a coupler is than its text.
pub(super) const FRAME: f64 = 12.0;

/// A branch between a node and the reference.
#[derive(Clone, Debug)]
pub(super) struct Hang {
    pub(super) branch: usize,
    /// Where its line stands, from the node.
    pub(super) dx: f64,
    /// The coupler whose frame stands to the right of it.
    pub(super) owns: Option<usize>,
}

/// A node with what belongs to it.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) node: usize,
    pub(super) hangs: Vec<Hang>,
    pub(super) x: f64,
    /// How far what hangs below reaches to the left and to the right.
    pub(super) lower: (f64, f64),
    /// The same for the node's name and the lines that rise from it.
    pub(super) upper: (f64, f64),
    /// The name, from the node.
    pub(super) label: Rect,
}

/// The width of the text at a branch.
pub(super) fn label_width(graph: &Graph, branch: usize) -> f64 {
    width(&graph.branches[branch].label, SIZE)
}

/// The width of the frame of a coupler.
pub(super) fn frame_width(graph: &Graph, coupler: usize) -> f64 {
    width(&graph.couplers[coupler].text, SIZE) + FRAME
}

/// Columns in their order, not yet at their places.
pub(super) fn columns(graph: &Graph, order: &[usize]) -> Vec<Column> {
    let mut place = vec![0; graph.nodes.len()];
    order.iter().enumerate().for_each(|(at, node)| place[*node] = at);
    let mut hanging: Vec<Vec<usize>> = vec![Vec::new(); graph.nodes.len()];
    for (at, branch) in graph.branches.iter().enumerate() {
        if let (Some(node), None) | (None, Some(node)) = branch.ends {
            hanging[node].push(at);
        }
    }
    // Couplers of branches to the reference have a frame, beside the leftmost of them.
    let mut leftmost: Vec<Option<usize>> = vec![None; graph.couplers.len()];
    let mut columns = Vec::with_capacity(order.len());
    for node in order {
        let mut own = std::mem::take(&mut hanging[*node]);
        own.sort_by_key(|branch| towards(graph, &place, *branch, place[*node]));
        let hangs = own.into_iter().map(|branch| {
            let coupler = graph.branches[branch]
                .coupler
                .filter(|coupler| leftmost[*coupler].is_none());
            if let Some(coupler) = coupler {
                leftmost[coupler] = Some(branch);
            }
            Hang {
                branch,
                dx: 0.0,
                owns: coupler,
            }
        });
        let mut column = Column {
            node: *node,
            hangs: hangs.collect(),
            x: 0.0,
            lower: (0.0, 0.0),
            upper: (0.0, 0.0),
            label: Rect {
                x: 0.0,
                y: 0.0,
                w: 0.0,
                h: 0.0,
            },
        };
        spread(graph, &mut column);
        columns.push(column);
    }
    columns
}

/// Whether a branch is coupled to one on its left (-1), on its right (1) or to none (0).
fn towards(graph: &Graph, place: &[usize], branch: usize, own: usize) -> i64 {
    let Some(coupler) = graph.branches[branch].coupler else {
        return 0;
    };
    let others = graph.couplers[coupler]
        .branches
        .iter()
        .filter(|other| **other != branch);
    let places = others.filter_map(|other| {
        let (from, to) = graph.branches[*other].ends;
        Some(place[from.or(to)?] as i64 - own as i64)
    });
    places.sum::<i64>().signum()
}

/// Puts the branches below a node side by side, the middle one right below the node.
fn spread(graph: &Graph, column: &mut Column) {
    let slot = |hang: &Hang| {
        let branch = &graph.branches[hang.branch];
        let beside = if branch.source.is_some() {
            BESIDE + CIRCLE
        } else {
            BESIDE
        };
        let frame = hang.owns.map_or(0.0, |coupler| frame_width(graph, coupler) + 14.0);
        (beside + label_width(graph, hang.branch)).max(frame)
    };
    let slots: Vec<f64> = column.hangs.iter().map(slot).collect();
    let mut at = 0.0;
    for (hang, slot) in column.hangs.iter_mut().zip(&slots) {
        hang.dx = at;
        at += slot + 16.0;
    }
    let count = column.hangs.len();
    let middle = match count {
        0 => 0.0,
        _ if count % 2 == 1 => column.hangs[count / 2].dx,
        _ => (column.hangs[count / 2 - 1].dx + column.hangs[count / 2].dx) / 2.0,
    };
    column.hangs.iter_mut().for_each(|hang| hang.dx -= middle);
    column.lower = match (column.hangs.first(), column.hangs.last(), slots.last()) {
        (Some(first), Some(last), Some(slot)) => (
            CIRCLE.max(
                -first.dx
                    + if graph.branches[first.branch].source.is_some() {
                        CIRCLE
                    } else {
                        3.0
                    },
            ),
            last.dx + slot,
        ),
        _ => (8.0, 8.0),
    };
}

/// How far the circle of a source reaches from its line.
pub(super) fn circle(source: Option<Source>) -> f64 {
    source.map_or(0.0, |_| CIRCLE)
}
