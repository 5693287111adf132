//! The positions of columns, with enough distance for the branches below, the lines above and the texts between.

use super::arcs::Arcs;
use super::columns::{Column, label_width};
use super::graph::Graph;
use crate::drawing::Rect;
use crate::metrics::{LINE, SIZE, width};

/// Puts the names of nodes next to the lines that rise from them.
pub(super) fn name_nodes(graph: &Graph, columns: &mut [Column], arcs: &Arcs) {
    for (at, column) in columns.iter_mut().enumerate() {
        let w = width(&graph.nodes[column.node].name, SIZE);
        let risers = arcs.rises(at);
        let x = match risers {
            None => -w / 2.0,
            Some((left, _)) => left - 6.0 - w,
        };
        column.label = Rect {
            x,
            y: -9.0 - LINE,
            w,
            h: LINE,
        };
        let right = risers.map_or(w / 2.0, |risers| risers.1);
        column.upper = ((-x).max(8.0), right.max(8.0));
    }
}

/// Positions the columns. `parts` marks the beginning of each part of the graph; gaps grow with `scale`. Returns positions between columns
/// that only lines cross.
pub(super) fn place(graph: &Graph, columns: &mut [Column], arcs: &Arcs, scale: f64, parts: &[usize]) -> Vec<f64> {
    let mut cuts = Vec::new();
    for at in 0..columns.len() {
        if at == 0 {
            columns[0].x = columns[0].lower.0.max(columns[0].upper.0);
            continue;
        }
        let left = columns[at].lower.0.max(columns[at].upper.0);
        let before = &columns[at - 1];
        let mut room = before.lower.1.max(before.upper.1) + 12.0 * scale;
        if let Some(branch) = arcs.straight_after(at - 1) {
            let branch_room = label_width(graph, branch) + 26.0;
            room = room.max(before.upper.1 + branch_room).max(60.0);
        }
        if parts[columns[at].node] != parts[before.node] {
            room += 22.0;
        }
        let mut x = before.x + room + 12.0 + left;
        for (from, wide) in arcs.ending(graph, at) {
            x = x.max(columns[from].x + wide);
        }
        columns[at].x = x;
        cuts.push(x - left - 6.0);
    }
    cuts
}
