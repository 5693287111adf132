//! Marks at the ends of a bond: half an arrow and causal strokes.

use crate::drawing::{Edge, Point, Stroke};

/// A straight line.
pub type Line = (Point, Point);

/// The marks of a bond.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marks {
    /// The short line of the half arrow, from its tip.
    pub barb: Option<Line>,
    /// The strokes, at the tail and at the head.
    pub strokes: Vec<Line>,
}

/// Returns the direction from one point to another.
pub(crate) fn unit(from: Point, to: Point) -> Point {
    let far = from.distance(to).max(1e-9);
    Point::new((to.x - from.x) / far, (to.y - from.y) / far)
}

/// Returns the marks of a bond with this path.
pub(crate) fn marks(path: &[Point], stroke: Option<Stroke>, width: usize) -> Marks {
    let ([first, second, ..], [.., before, last]) = (path, path) else {
        return Marks::default();
    };
    let way = unit(*before, *last);
    // The half arrow is on the side of the flow: below, or on the right.
    let side = match -way.y + way.x {
        sum if sum.abs() < 1e-6 => Point::new(-way.x.abs(), way.y.abs()),
        sum if sum > 0.0 => Point::new(-way.y, way.x),
        _ => Point::new(way.y, -way.x),
    };
    let reach = if width > 1 { 2.0 } else { 0.0 };
    let tip = last.moved(side.x * reach, side.y * reach);
    let barb = tip.moved(-way.x * 11.0 + side.x * 6.5, -way.y * 11.0 + side.y * 6.5);
    let half = if width > 1 { 9.0 } else { 7.5 };
    let bar = |at: &Point, way: Point| {
        let end = |sign: f64| at.moved(-way.y * half * sign, way.x * half * sign);
        (end(1.0), end(-1.0))
    };
    let mut strokes = Vec::new();
    if matches!(stroke, Some(Stroke::Tail | Stroke::Both | Stroke::Contested)) {
        strokes.push(bar(first, unit(*first, *second)));
    }
    if matches!(stroke, Some(Stroke::Head | Stroke::Both | Stroke::Contested)) {
        strokes.push(bar(last, way));
    }
    Marks {
        barb: Some((tip, barb)),
        strokes,
    }
}

/// The distance of the two lines of a vector from its path.
pub(crate) const BESIDE: f64 = 3.0;

impl Edge {
    /// Returns the straight lines of the edge: two next to its path if it represents a vector.
    pub fn lines(&self) -> Vec<Line> {
        let sides: &[f64] = if self.width > 1 { &[BESIDE, -BESIDE] } else { &[0.0] };
        let beside = |pair: &[Point]| {
            let way = unit(pair[0], pair[1]);
            let line = |side: &f64| {
                let moved = |at: Point| at.moved(-way.y * side, way.x * side);
                (moved(pair[0]), moved(pair[1]))
            };
            sides.iter().map(line).collect::<Vec<Line>>()
        };
        self.path.windows(2).flat_map(beside).collect()
    }

    /// Returns the half arrow and the strokes of a bond; empty for a branch.
    pub fn marks(&self) -> Marks {
        match self.stroke {
            Some(_) => marks(&self.path, self.stroke, self.width),
            None => Marks::default(),
        }
    }
}
