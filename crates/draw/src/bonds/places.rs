//! The positions of cells: columns and rows spaced according to their contents.

use super::cells::Cell;
use super::graph::Graph;
use super::skeleton::{Side, Skeleton};
use std::collections::{BTreeMap, BTreeSet};

/// The minimum length of a bond between two junctions.
const BOND: f64 = 54.0;

/// The distance between two columns without a bond between them.
const APART: f64 = 26.0;

/// The distance between rows, and its increase for each line between them.
const ROWS: f64 = 40.0;
const LINE: f64 = 14.0;

/// The gaps between cells in which lines may run.
#[derive(Clone, Debug, Default)]
pub(super) struct Gaps {
    /// Vertical lines.
    pub(super) xs: Vec<f64>,
    /// Horizontal lines.
    pub(super) ys: Vec<f64>,
    /// The possible cuts of the drawing.
    pub(super) cuts: Vec<f64>,
}

/// Assigns positions to the cells.
pub(super) fn place(graph: &Graph, skeleton: &Skeleton, cells: &mut [Cell]) -> Gaps {
    let columns: BTreeSet<i32> = cells.iter().map(|cell| cell.spot.0).collect();
    let rows: BTreeSet<i32> = cells.iter().map(|cell| cell.spot.1).collect();
    let mut of_column: BTreeMap<i32, Vec<usize>> = BTreeMap::new();
    for (at, cell) in cells.iter().enumerate() {
        of_column.entry(cell.spot.0).or_default().push(at);
    }
    let corners = corners(graph, skeleton);
    // The last item of each row so far: its position, its extent, and half its width if it is a cell.
    let mut last: BTreeMap<i32, (f64, f64, f64)> = BTreeMap::new();
    let mut gaps = Gaps::default();
    let mut before: Option<(f64, f64)> = None;
    for column in &columns {
        let own = &of_column[column];
        let mut x = before.map_or(0.0, |(x, _)| x + 30.0);
        for at in own {
            let cell = &cells[*at];
            x = x.max(match last.get(&cell.spot.1) {
                None => cell.reach[0],
                Some((other, reach, half)) => {
                    let bonded = half + cell.w / 2.0 + BOND + 24.0;
                    other + (reach + cell.reach[0] + APART).max(bonded)
                }
            });
        }
        // A bond that turns into a row has nothing to its left there to collide with.
        let turning = corners.iter().filter(|corner| corner.0 == *column);
        let turning: Vec<i32> = turning.map(|corner| corner.1).collect();
        for (other, reach, _) in turning.iter().filter_map(|row| last.get(row)) {
            x = x.max(other + reach + APART);
        }
        for row in turning {
            last.insert(row, (x, 0.0, 0.0));
        }
        let left = own
            .iter()
            .map(|at| x - cells[*at].reach[0])
            .fold(f64::INFINITY, f64::min);
        if let Some((_, right)) = before {
            gaps.xs.extend([right + 9.0, (right + left) / 2.0, left - 9.0]);
            if left > right + 8.0 {
                gaps.cuts.push((left + right) / 2.0);
            }
        }
        for at in own {
            cells[*at].at.x = x;
            let cell = &cells[*at];
            last.insert(cell.spot.1, (x, cell.reach[1], cell.w / 2.0));
            gaps.xs.extend([x - cell.reach[0] - 9.0, x + cell.reach[1] + 9.0]);
        }
        let right = own
            .iter()
            .map(|at| x + cells[*at].reach[1])
            .fold(f64::NEG_INFINITY, f64::max);
        before = Some((x, before.map_or(right, |(_, known)| known.max(right))));
    }
    rows_of(graph, skeleton, cells, &rows, &mut gaps);
    if let Some((_, right)) = before {
        gaps.xs.extend([right + 12.0, right + 26.0, -14.0, -28.0]);
    }
    gaps
}

/// Returns the corners at which bonds turn from a column into a row.
fn corners(graph: &Graph, skeleton: &Skeleton) -> BTreeSet<(i32, i32)> {
    let mut corners = BTreeSet::new();
    for bond in &skeleton.bonds {
        let (tail, head) = (graph.bonds[*bond].tail, graph.bonds[*bond].head);
        let (Some(sides), Some(a), Some(b)) = (skeleton.sides[*bond], skeleton.spots[tail], skeleton.spots[head])
        else {
            continue;
        };
        let is_upright = |side: Side| matches!(side, Side::Up | Side::Down);
        match (is_upright(sides.0), is_upright(sides.1)) {
            (true, false) => _ = corners.insert((a.0, b.1)),
            (false, true) => _ = corners.insert((b.0, a.1)),
            _ => {}
        }
    }
    corners
}

/// Positions the rows from the top, with room for lines between them.
fn rows_of(graph: &Graph, skeleton: &Skeleton, cells: &mut [Cell], rows: &BTreeSet<i32>, gaps: &mut Gaps) {
    let row_of = |vertex: usize| skeleton.spots[vertex].map_or(0, |spot| spot.1);
    // Bonds without sides run between rows.
    let mut lines: BTreeMap<i32, usize> = BTreeMap::new();
    for bond in skeleton.bonds.iter().filter(|bond| skeleton.sides[**bond].is_none()) {
        let bond = &graph.bonds[*bond];
        *lines.entry(row_of(bond.tail).min(row_of(bond.head))).or_default() += 1;
    }
    let channel = |lines: usize| ROWS + LINE * lines.min(12) as f64;
    let track = |from: f64, to: f64, ys: &mut Vec<f64>| {
        let mut y = from + 10.0;
        while y < to - 6.0 {
            ys.push(y);
            y += LINE - 2.0;
        }
    };
    let mut done: Vec<usize> = Vec::new();
    for row in rows {
        let own: Vec<usize> = (0..cells.len()).filter(|at| cells[*at].spot.1 == *row).collect();
        let room = channel(lines.get(&(row - 1)).copied().unwrap_or(0));
        let mut y = gaps.ys.last().map_or(0.0, |last| last + 60.0);
        for at in &own {
            let cell = &cells[*at];
            y = y.max(cell.reach[2]);
            // Only cells with overlapping columns matter.
            for other in done.iter().map(|at| &cells[*at]) {
                let (left, right) = (other.at.x - other.reach[0] - 8.0, other.at.x + other.reach[1] + 8.0);
                if left < cell.at.x + cell.reach[1] && cell.at.x - cell.reach[0] < right {
                    y = y.max(other.at.y + other.reach[3] + room + cell.reach[2]);
                }
            }
        }
        for at in &own {
            cells[*at].at.y = y;
        }
        gaps.ys.push(y);
        done.extend(own);
    }
    // Lines may run directly above and below any cell, and at some distance.
    for cell in cells.iter() {
        for step in [10.0, 22.0, 34.0] {
            gaps.ys.push(cell.at.y - cell.reach[2] - step);
            gaps.ys.push(cell.at.y + cell.reach[3] + step);
        }
    }
    let first = lines.values().sum::<usize>().min(12) as f64;
    track(-LINE * (first + 2.0), 0.0, &mut gaps.ys);
}
