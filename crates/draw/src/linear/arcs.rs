//! Branches between two nodes: straight between neighbours, and above the nodes otherwise, with shorter branches below longer ones.

use super::columns::{Column, label_width};
use super::graph::Graph;
use crate::drawing::Point;

/// The height of the lowest line above the nodes, and the distance between lines.
const LOWEST: f64 = 46.0;
const PITCH: f64 = 38.0;

/// The distance between lines that rise from a node.
const RISER: f64 = 10.0;

/// A branch that runs above the nodes.
#[derive(Clone, Debug)]
pub(super) struct Arc {
    pub(super) branch: usize,
    /// The column indices of the ends, the left one first.
    pub(super) span: (usize, usize),
    /// The level of the line, from 0.
    pub(super) track: usize,
    /// The horizontal offsets of the risers from the nodes.
    pub(super) offsets: (f64, f64),
}

/// All branches between nodes.
#[derive(Clone, Debug, Default)]
pub(super) struct Arcs {
    pub(super) arcs: Vec<Arc>,
    /// The branch that runs straight from a column to the next one.
    straight: Vec<Option<usize>>,
    /// The leftmost and the rightmost line that rises from a column.
    risers: Vec<Option<(f64, f64)>>,
}

impl Arcs {
    /// Determines the course of each branch.
    pub(super) fn new(graph: &Graph, columns: &[Column]) -> Arcs {
        let mut place = vec![0; graph.nodes.len()];
        columns
            .iter()
            .enumerate()
            .for_each(|(at, column)| place[column.node] = at);
        let mut arcs = Arcs {
            arcs: Vec::new(),
            straight: vec![None; columns.len()],
            risers: vec![None; columns.len()],
        };
        for (branch, info) in graph.branches.iter().enumerate() {
            let (Some(from), Some(to)) = info.ends else {
                continue;
            };
            let (from, to) = (place[from].min(place[to]), place[from].max(place[to]));
            if to == from + 1 && arcs.straight[from].is_none() {
                arcs.straight[from] = Some(branch);
                continue;
            }
            arcs.arcs.push(Arc {
                branch,
                span: (from, to),
                track: 0,
                offsets: (0.0, 0.0),
            });
        }
        arcs.find_tracks();
        arcs.find_offsets(columns.len());
        arcs
    }

    /// Assigns levels to the lines. Short ones run low, nested lines run below their enclosing line, and no two overlapping lines share a
    /// level.
    fn find_tracks(&mut self) {
        self.arcs.sort_by_key(|arc| {
            let length = arc.span.1 - arc.span.0;
            // From a node to itself: above all passing lines.
            (if length == 0 { usize::MAX } else { length }, arc.branch)
        });
        for at in 0..self.arcs.len() {
            let (from, to) = self.arcs[at].span;
            let mut taken = Vec::new();
            let mut least = 0;
            for other in &self.arcs[..at] {
                let (a, b) = other.span;
                let is_inside = from <= a && b <= to;
                if (from < b && a < to) || from == to {
                    taken.push(other.track);
                    if is_inside || from == to {
                        least = least.max(other.track + 1);
                    }
                }
            }
            while taken.contains(&least) {
                least += 1;
            }
            self.arcs[at].track = least;
        }
    }

    fn find_offsets(&mut self, count: usize) {
        // At each column: whether the arc goes to the right, and the index of the arc.
        let mut ends: Vec<Vec<(bool, usize)>> = vec![Vec::new(); count];
        for (at, arc) in self.arcs.iter().enumerate() {
            ends[arc.span.0].push((true, at));
            ends[arc.span.1].push((false, at));
        }
        for (column, own) in ends.iter_mut().enumerate() {
            // From the left: first the arcs to the left, low ones first, then the arcs to the right, high ones first.
            own.sort_by_key(|(right, at)| {
                let track = self.arcs[*at].track as i64;
                (*right, if *right { -track } else { track }, *at)
            });
            // A branch back to its node goes up on the left and comes down on the right.
            let middle = (own.len() as f64 - 1.0) / 2.0;
            for (number, (right, at)) in own.iter().enumerate() {
                let offset = (number as f64 - middle) * RISER;
                let arc = &mut self.arcs[*at];
                let is_loop = arc.span.0 == arc.span.1;
                match *right != is_loop {
                    true => arc.offsets.0 = offset,
                    false => arc.offsets.1 = offset,
                }
                let known = self.risers[column].get_or_insert((offset, offset));
                *known = (known.0.min(offset), known.1.max(offset));
            }
        }
    }

    /// Returns the leftmost and the rightmost line that rises from a column.
    pub(super) fn rises(&self, column: usize) -> Option<(f64, f64)> {
        self.risers[column]
    }

    /// Returns the branch that runs straight from this column to the next one.
    pub(super) fn straight_after(&self, column: usize) -> Option<usize> {
        self.straight[column]
    }

    /// For each branch above the nodes that ends at a column, returns its first column and the minimum distance from there.
    pub(super) fn ending(&self, graph: &Graph, column: usize) -> Vec<(usize, f64)> {
        let own = self
            .arcs
            .iter()
            .filter(|arc| arc.span.1 == column && arc.span.0 < column);
        own.map(|arc| {
            let wide = label_width(graph, arc.branch) + 34.0 + arc.offsets.0 - arc.offsets.1;
            (arc.span.0, wide)
        })
        .collect()
    }

    /// Returns the height of a level.
    pub(super) fn height(track: usize) -> f64 {
        -(LOWEST + PITCH * track as f64)
    }

    /// Returns the corners of an arc, from left to right.
    pub(super) fn path(arc: &Arc, columns: &[Column]) -> Vec<Point> {
        let (a, b) = (columns[arc.span.0].x, columns[arc.span.1].x);
        let (left, right) = (a + arc.offsets.0, b + arc.offsets.1);
        let y = Arcs::height(arc.track);
        let mut path = vec![
            Point::new(a, 0.0),
            Point::new(left, -16.0),
            Point::new(left, y),
            Point::new(right, y),
            Point::new(right, -16.0),
            Point::new(b, 0.0),
        ];
        if left == a {
            path.remove(1);
        }
        if right == b {
            let last = path.len() - 2;
            path.remove(last);
        }
        path
    }

    /// Returns the middle of a free stretch for the text of an arc, near the arc's own middle; `None` if no stretch is wide enough.
    pub(super) fn free(&self, graph: &Graph, columns: &[Column], arc: &Arc) -> Option<f64> {
        let left = columns[arc.span.0].x + arc.offsets.0;
        let right = columns[arc.span.1].x + arc.offsets.1;
        let wanted = label_width(graph, arc.branch) + 8.0;
        let middle = (left + right) / 2.0;
        if arc.span.0 == arc.span.1 {
            return Some(middle);
        }
        let mut stops = vec![left + 8.0, right - 8.0];
        for other in &self.arcs {
            let ends = [(other.span.0, other.offsets.0), (other.span.1, other.offsets.1)];
            for (column, offset) in ends {
                let x = columns[column].x + offset;
                if other.track > arc.track && x > left && x < right {
                    stops.push(x);
                }
            }
        }
        stops.sort_by(f64::total_cmp);
        let gaps = stops.windows(2).filter(|pair| pair[1] - pair[0] >= wanted);
        let near = gaps.map(|pair| middle.clamp(pair[0] + wanted / 2.0, pair[1] - wanted / 2.0));
        near.min_by(|a, b| (a - middle).abs().total_cmp(&(b - middle).abs()))
    }
}
