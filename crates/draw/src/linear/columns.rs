//! The columns of nodes, each with the branches to the reference below it and space for arcs above.

use super::graph::Graph;
use crate::drawing::{Rect, Source};
use crate::metrics::{SIZE, width};

/// The distance of a text from its line.
pub(super) const BESIDE: f64 = 9.0;

/// The radius of the circle of a source.
pub(super) const CIRCLE: f64 = 8.0;

/// The length of a coupler's frame beyond its text.
pub(super) const FRAME: f64 = 12.0;

/// A branch between a node and the reference.
#[derive(Clone, Debug)]
pub(super) struct Hang {
    pub(super) branch: usize,
    /// The horizontal offset of the line from the node.
    pub(super) dx: f64,
    /// The coupler whose frame is to the right of the branch.
    pub(super) owns: Option<usize>,
}

/// A node with its branches and texts.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) node: usize,
    pub(super) hangs: Vec<Hang>,
    pub(super) x: f64,
    /// The extent below the node, to the left and to the right.
    pub(super) lower: (f64, f64),
    /// The extent of the node's name and of the lines that rise from it.
    pub(super) upper: (f64, f64),
    /// The box of the name, relative to the node.
    pub(super) label: Rect,
}

/// Returns the width of the text at a branch.
pub(super) fn label_width(graph: &Graph, branch: usize) -> f64 {
    width(&graph.branches[branch].label, SIZE)
}

/// Returns the width of the frame of a coupler.
pub(super) fn frame_width(graph: &Graph, coupler: usize) -> f64 {
    width(&graph.couplers[coupler].text, SIZE) + FRAME
}

/// Returns the columns in order, without positions.
pub(super) fn columns(graph: &Graph, order: &[usize]) -> Vec<Column> {
    let mut place = vec![0; graph.nodes.len()];
    order.iter().enumerate().for_each(|(at, node)| place[*node] = at);
    let mut hanging: Vec<Vec<usize>> = vec![Vec::new(); graph.nodes.len()];
    for (at, branch) in graph.branches.iter().enumerate() {
        if let (Some(node), None) | (None, Some(node)) = branch.ends {
            hanging[node].push(at);
        }
    }
    // Couplers of branches to the reference have a frame, next to the leftmost of these branches.
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

/// Returns the direction of the branches to which a branch is coupled: left (-1), right (1) or none (0).
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

/// Distributes the branches below a node, with the middle one directly below the node.
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

/// Returns the extent of the circle of a source from its line.
pub(super) fn circle(source: Option<Source>) -> f64 {
    source.map_or(0.0, |_| CIRCLE)
}
