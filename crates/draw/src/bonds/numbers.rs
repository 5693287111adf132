//! The numbers of bonds, next to their lines.

use crate::drawing::{Anchor, Drawing, Edge, Label, LabelKind, Point, Rect};
use crate::marks::{BESIDE, Line};
use crate::metrics::{SMALL, width};

/// The height of the box of a number.
const HIGH: f64 = 12.0;

/// The positions along a line at which a number may be placed, in order of preference.
const PARTS: [f64; 7] = [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8];

/// The distances of a number from the line, in order of preference.
const AWAY: [f64; 3] = [0.0, 5.0, 12.0];

/// Returns the number of each drawn bond: from 1 to n, from left to right and from top to bottom.
pub(super) fn in_order(drawing: &Drawing) -> Vec<String> {
    let corner = |edge: usize| {
        let path = drawing.edges[edge].path.iter();
        path.fold((f64::INFINITY, f64::INFINITY), |corner, point| {
            (corner.0.min(point.x), corner.1.min(point.y))
        })
    };
    let mut order: Vec<usize> = (0..drawing.edges.len()).collect();
    order.sort_by(|a, b| {
        let (a, b) = (corner(*a), corner(*b));
        a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
    });
    let mut numbers = vec![String::new(); order.len()];
    for (number, edge) in order.into_iter().enumerate() {
        numbers[edge] = (number + 1).to_string();
    }
    numbers
}

/// Returns the numbers of the bonds of each line in the causality report.
pub(super) fn of_report(drawing: &Drawing) -> Vec<String> {
    drawing.edges.iter().map(|edge| in_report(&edge.bonds)).collect()
}

/// Writes the numbers of bonds if there is room. A bond without room gets no number.
pub(super) fn write(drawing: &mut Drawing, numbers: Vec<String>) {
    let mut taken: Vec<Rect> = drawing.labels.iter().map(|label| label.at).collect();
    let mut lines: Vec<Line> = drawing.edges.iter().flat_map(Edge::lines).collect();
    for signal in &drawing.signals {
        lines.extend(signal.path.windows(2).map(|pair| (pair[0], pair[1])));
    }
    for marks in drawing.edges.iter().map(Edge::marks) {
        lines.extend(marks.barb.into_iter().chain(marks.strokes));
    }
    for at in drawing.frames.iter().map(|frame| frame.at) {
        let corners = [(0.0, 0.0), (at.w, 0.0), (at.w, at.h), (0.0, at.h), (0.0, 0.0)]
            .map(|(x, y)| Point::new(at.x + x, at.y + y));
        lines.extend(corners.windows(2).map(|pair| (pair[0], pair[1])));
    }
    for (edge, text) in drawing.edges.iter().zip(numbers) {
        let w = width(&text, SMALL);
        let is_free = |at: &Rect| {
            let room = at.grown(0.5);
            !taken.iter().any(|other| other.overlaps(&room)) && !lines.iter().any(|(a, b)| room.is_crossed(*a, *b))
        };
        let Some(at) = places(edge, w).into_iter().find(is_free) else {
            continue;
        };
        taken.push(at);
        drawing.labels.push(Label {
            text,
            at,
            anchor: Anchor::Middle,
            kind: LabelKind::Number,
            domain: None,
            name: edge.element.clone().unwrap_or_default(),
            title: format!(
                "bond from {} to {}, {} of lgm causality --bonds",
                edge.from,
                edge.to,
                in_report(&edge.bonds)
            ),
        });
    }
}

/// Returns the numbers of bonds in the causality report, which counts the bonds of all junctions and all entries; consecutive numbers as
/// `first..last`.
fn in_report(bonds: &[usize]) -> String {
    let mut sorted = bonds.to_vec();
    sorted.sort_unstable();
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for bond in sorted {
        match runs.last_mut() {
            Some(run) if run.1 + 1 == bond => run.1 = bond,
            _ => runs.push((bond, bond)),
        }
    }
    let run = |(from, to): (usize, usize)| match to - from {
        0 => format!("{}", from + 1),
        1 => format!("{},{}", from + 1, to + 1),
        _ => format!("{}..{}", from + 1, to + 1),
    };
    runs.into_iter().map(run).collect::<Vec<_>>().join(",")
}

/// Returns boxes next to the pieces of a line, beginning at the middle of the longest piece.
fn places(edge: &Edge, w: f64) -> Vec<Rect> {
    let mut pieces: Vec<Line> = edge.path.windows(2).map(|pair| (pair[0], pair[1])).collect();
    let length = |piece: &Line| piece.0.distance(piece.1);
    pieces.sort_by(|a, b| length(b).total_cmp(&length(a)));
    let mut found = Vec::new();
    let beside = if edge.width > 1 { BESIDE } else { 0.0 };
    for away in AWAY.map(|away| away + beside) {
        for (from, to) in &pieces {
            let far = from.distance(*to).max(1e-9);
            let across = Point::new(-(to.y - from.y) / far, (to.x - from.x) / far);
            // Above, or on the left: the half arrow is on the other side.
            let sign = if across.y > 1e-6 || (across.y.abs() <= 1e-6 && across.x > 0.0) {
                -1.0
            } else {
                1.0
            };
            // As close to the line as the corners of the box allow.
            let reach = (across.x.abs() * w + across.y.abs() * HIGH) / 2.0 + 2.5 + away;
            for side in [sign, -sign] {
                for part in PARTS {
                    let middle = from
                        .towards(*to, part)
                        .moved(across.x * side * reach, across.y * side * reach);
                    found.push(Rect::around(middle, w, HIGH));
                }
            }
        }
    }
    found
}
