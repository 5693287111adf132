//! The numbers of bonds, beside their lines.

use crate::drawing::{Anchor, Drawing, Edge, Label, LabelKind, Point, Rect};
use crate::marks::{BESIDE, Line};
use crate::metrics::{SMALL, width};

/// The height of the box of a number.
const HIGH: f64 = 12.0;

/// The parts of a line at which a number may stand.
const PARTS: [f64; 7] = [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8];

/// Its distances from the line.
const AWAY: [f64; 3] = [0.0, 5.0, 12.0];

/// Writes the numbers of all bonds, as `lgm causality` counts them, where there is room. A bond without room beside it stays without.
pub(super) fn write(drawing: &mut Drawing) {
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
    for edge in &drawing.edges {
        let text = text(&edge.bonds);
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
            title: format!("bond from {} to {}", edge.from, edge.to),
        });
    }
}

/// Numbers from 1; three or more in a row as the first and the last.
fn text(bonds: &[usize]) -> String {
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

/// Boxes beside the pieces of a line, those in the middle of the longest piece first.
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
            // As near to the line as the corners of the box allow.
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
