//! A drawing that is wider than a page goes on below, like a river that turns: every second row runs backwards, so that what is cut is
//! joined by a short line at the end of the row.

use crate::drawing::{Anchor, Drawing, Edge, LabelKind, Point, Rail, Rect};

/// A drawing is cut if it is wider than this.
const WIDEST: f64 = 1900.0;

/// How wide rows are to be.
const ROW: f64 = 1600.0;

/// The distance between rows.
const GAP: f64 = 44.0;

/// How far lines of cut edges go out at the end of a row, and how far apart they are.
const OUT: f64 = 14.0;

/// Cuts a drawing at some of the places where that is possible: where no text and no node is.
pub(crate) fn wrap(drawing: &mut Drawing, places: &[f64]) {
    let width = drawing.size.0;
    if width <= WIDEST {
        return;
    }
    let rows = (width / ROW).ceil();
    let row = width / rows;
    // The place nearest to each end of a row.
    let near = |number: f64| {
        let wanted = row * number;
        let apart = |place: &f64| (place - wanted).abs();
        let found = places.iter().copied().min_by(|a, b| apart(a).total_cmp(&apart(b)));
        found.filter(|place| apart(place) < row / 2.0)
    };
    let mut cuts: Vec<f64> = (1..rows as usize).filter_map(|number| near(number as f64)).collect();
    cuts.dedup();
    if cuts.is_empty() {
        return;
    }
    settle_labels(drawing, &cuts);
    let rows = Rows::new(drawing, &cuts);
    rows.apply(drawing);
}

/// Texts at lines over several rows move to the row that they begin in.
fn settle_labels(drawing: &mut Drawing, cuts: &[f64]) {
    let rails = drawing.rails.clone();
    for label in &mut drawing.labels {
        if label.kind == LabelKind::Domain {
            let middle = label.at.middle().x;
            let own = rails.iter().find(|rail| rail.from.x <= middle && middle <= rail.to.x);
            if let Some((from, to)) = own.and_then(|rail| longest_piece(rail, cuts)) {
                label.at.x = (from + to - label.at.w) / 2.0;
            }
        }
        for cut in cuts {
            if label.at.x < *cut && label.at.x + label.at.w > *cut {
                label.at.x = cut - label.at.w - 4.0;
            }
        }
    }
}

/// The longest piece of a rail between cuts.
fn longest_piece(rail: &Rail, cuts: &[f64]) -> Option<(f64, f64)> {
    let inside = cuts
        .iter()
        .copied()
        .filter(|cut| rail.from.x < *cut && *cut < rail.to.x);
    let mut ends: Vec<f64> = [rail.from.x].into_iter().chain(inside).collect();
    ends.push(rail.to.x);
    let pieces = ends.windows(2).map(|pair| (pair[0], pair[1]));
    pieces.max_by(|a, b| (a.1 - a.0).total_cmp(&(b.1 - b.0)))
}

/// The rows of a drawing.
struct Rows {
    /// Left and right end of each row in the whole drawing.
    spans: Vec<(f64, f64)>,
    /// How far each row moves down.
    tops: Vec<f64>,
    /// The width of the widest row.
    width: f64,
}

impl Rows {
    fn new(drawing: &Drawing, cuts: &[f64]) -> Rows {
        let mut ends = vec![0.0];
        ends.extend(cuts);
        ends.push(drawing.size.0);
        let spans: Vec<(f64, f64)> = ends.windows(2).map(|pair| (pair[0], pair[1])).collect();
        let mut rows = Rows {
            tops: vec![0.0; spans.len()],
            width: spans.iter().map(|span| span.1 - span.0).fold(0.0, f64::max),
            spans,
        };
        let mut bottom = 0.0;
        for (row, (top, low)) in rows.heights(drawing).into_iter().enumerate() {
            rows.tops[row] = bottom - top;
            bottom += low - top + GAP;
        }
        rows
    }

    /// From where to where each row reaches in the whole drawing.
    fn heights(&self, drawing: &Drawing) -> Vec<(f64, f64)> {
        let mut heights = vec![(f64::INFINITY, f64::NEG_INFINITY); self.spans.len()];
        let mut see = |row: usize, y: f64| heights[row] = (heights[row].0.min(y), heights[row].1.max(y));
        for label in &drawing.labels {
            let row = self.row(label.at.middle().x);
            see(row, label.at.y);
            see(row, label.at.y + label.at.h);
        }
        let edges = drawing.edges.iter().map(|edge| &edge.path[..]);
        let couplings = drawing.couplings.iter().map(|each| &each.path[..]);
        for pair in edges.chain(couplings).flat_map(|path| path.windows(2)) {
            let (first, last) = (self.row(pair[0].x.min(pair[1].x)), self.row(pair[0].x.max(pair[1].x)));
            for row in first..=last {
                see(row, pair[0].y);
                see(row, pair[1].y);
            }
        }
        for rail in &drawing.rails {
            for row in self.row(rail.from.x)..=self.row(rail.to.x) {
                see(row, rail.from.y + 10.0);
            }
        }
        heights
            .iter_mut()
            .filter(|each| each.0 > each.1)
            .for_each(|each| *each = (0.0, 0.0));
        heights
    }

    fn row(&self, x: f64) -> usize {
        self.spans.partition_point(|span| span.1 <= x).min(self.spans.len() - 1)
    }

    /// A place of the whole drawing as one of this row.
    fn moved(&self, row: usize, at: Point) -> Point {
        let inside = at.x - self.spans[row].0;
        let x = if row.is_multiple_of(2) {
            inside
        } else {
            self.width - inside
        };
        Point::new(x, at.y + self.tops[row])
    }

    fn apply(&self, drawing: &mut Drawing) {
        let mut lanes = vec![0usize; self.spans.len()];
        let edges: Vec<Vec<Point>> = drawing
            .edges
            .iter()
            .map(|edge| self.cut_edge(edge, &mut lanes))
            .collect();
        let rails: Vec<Rail> = drawing.rails.iter().flat_map(|rail| self.cut_rail(rail)).collect();
        let couplings: Vec<Vec<Point>> = (drawing.couplings.iter())
            .map(|each| self.cut_path(&each.path, &mut lanes))
            .collect();
        // Both are mapped below, as if they lay in the whole drawing: what is done is put in their place afterwards.
        for label in &mut drawing.labels {
            label.anchor = match label.anchor {
                Anchor::Start if !self.row(label.at.middle().x).is_multiple_of(2) => Anchor::End,
                other => other,
            };
        }
        let directions: Vec<_> = drawing.edges.iter().map(|edge| edge.arrow).collect();
        drawing.map(&|at| self.moved(self.row(at.x), at), &|at| {
            let middle = self.moved(self.row(at.middle().x), at.middle());
            Rect::around(middle, at.w, at.h)
        });
        for (edge, (path, arrow)) in drawing.edges.iter_mut().zip(edges.into_iter().zip(directions)) {
            edge.path = path;
            // An arrow and what it points to lie in the same row.
            edge.arrow = arrow.map(|(at, to)| {
                let row = self.row(at.x);
                (self.moved(row, at), self.moved(row, to))
            });
        }
        drawing.rails = rails;
        for (coupling, path) in drawing.couplings.iter_mut().zip(couplings) {
            coupling.path = path;
        }
    }

    fn cut_rail(&self, rail: &Rail) -> Vec<Rail> {
        let (first, last) = (self.row(rail.from.x), self.row(rail.to.x - 1e-6));
        let piece = |row: usize| {
            let (left, right) = self.spans[row];
            let from = Point::new(rail.from.x.max(left + 4.0), rail.from.y);
            let to = Point::new(rail.to.x.min(right - 4.0), rail.to.y);
            let (from, to) = (self.moved(row, from), self.moved(row, to));
            let (from, to) = if from.x < to.x { (from, to) } else { (to, from) };
            Rail {
                domain: rail.domain.clone(),
                from,
                to,
            }
        };
        let long = |piece: &Rail| piece.to.x - piece.from.x > 16.0;
        (first..=last).map(piece).filter(long).collect()
    }

    fn cut_edge(&self, edge: &Edge, lanes: &mut [usize]) -> Vec<Point> {
        self.cut_path(&edge.path, lanes)
    }

    /// A line that goes on in the next row where it is cut.
    fn cut_path(&self, path: &[Point], lanes: &mut [usize]) -> Vec<Point> {
        let Some(first) = path.first() else {
            return Vec::new();
        };
        let mut row = self.row(first.x);
        let mut found = vec![self.moved(row, *first)];
        for pair in path.windows(2) {
            let (from, to) = (pair[0], pair[1]);
            loop {
                let (left, right) = self.spans[row];
                let (at, next) = if to.x > right && row + 1 < self.spans.len() {
                    (right, row + 1)
                } else if to.x < left && row > 0 {
                    (left, row - 1)
                } else {
                    break;
                };
                let part = (at - from.x) / (to.x - from.x);
                let cut = from.towards(to, part.clamp(0.0, 1.0));
                // Even rows end on the right, where the next one begins.
                let upper = row.min(next);
                let out = OUT * (1 + lanes[upper]) as f64;
                lanes[upper] += 1;
                let edge = if upper.is_multiple_of(2) {
                    self.width + out
                } else {
                    -out
                };
                found.push(Point::new(edge, cut.y + self.tops[row]));
                found.push(Point::new(edge, cut.y + self.tops[next]));
                row = next;
            }
            found.push(self.moved(row, to));
        }
        found.dedup_by(|a, b| a.distance(*b) < 1e-9);
        found
    }
}
