//! Wraps a drawing that is wider than a page. Every second row runs backwards, so that cut lines are joined by a short line at the end of
//! the row. In drawings with components, all rows run to the right, because components with equal structure are drawn alike; cut lines are
//! joined between the rows.

use crate::drawing::{Anchor, Drawing, Edge, LabelKind, Point, Rail, Rect};

/// The maximum width of an uncut drawing in pixels: in a text block of 16 cm, its 13-pixel letters are printed at 6 points.
const WIDEST: f64 = 980.0;

/// The width of rows in pixels.
const ROW: f64 = 860.0;

/// The distance between rows in pixels.
const GAP: f64 = 44.0;

/// The distance between rows with lines between them, and between two such lines.
const WIDE_GAP: f64 = 84.0;
const LANE: f64 = 9.0;

/// The distance that a cut may move for each line that it spares.
const CUT: f64 = 120.0;

/// The extent of the lines of cut edges beyond the end of a row, and the distance between them.
const OUT: f64 = 14.0;

/// Cuts a drawing at some of the given places, which contain no text and no node.
pub(crate) fn wrap(drawing: &mut Drawing, places: &[f64]) {
    let width = drawing.size.0;
    if width <= WIDEST {
        return;
    }
    let rows = (width / ROW).ceil();
    let row = width / rows;
    // The place nearest to each end of a row, with a preference for places that cut few lines.
    let lines: Vec<(f64, f64)> = (drawing.edges.iter().map(|edge| &edge.path))
        .chain(drawing.signals.iter().map(|signal| &signal.path))
        .flat_map(|path| path.windows(2))
        .map(|pair| (pair[0].x.min(pair[1].x), pair[0].x.max(pair[1].x)))
        .collect();
    let near = |number: f64| {
        let wanted = row * number;
        let apart = |place: &f64| (place - wanted).abs();
        let cut = |place: &f64| lines.iter().filter(|line| line.0 < *place && *place < line.1).count();
        let cost = |place: &f64| apart(place) + CUT * cut(place) as f64;
        let near = places.iter().copied().filter(|place| apart(place) < row / 2.0);
        near.min_by(|a, b| cost(a).total_cmp(&cost(b)))
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

/// Moves texts of lines that span several rows to the row in which the line begins.
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

/// Returns the longest piece of a rail between cuts.
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
    /// The left and right end of each row in the whole drawing.
    spans: Vec<(f64, f64)>,
    /// The vertical shift of each row.
    tops: Vec<f64>,
    /// The lowest point of each shifted row.
    bottoms: Vec<f64>,
    /// True if every second row runs backwards.
    turns: bool,
    /// The width of the widest row.
    width: f64,
}

/// The lines that are cut at the end of each row.
struct Lanes {
    /// The number of lines drawn so far.
    taken: Vec<usize>,
    /// The heights of all cut lines, filled while they are counted.
    heights: Vec<Vec<f64>>,
}

impl Lanes {
    /// Returns the lanes of the next line at the end of a row and at the beginning of the row below. To avoid crossings, the upper line
    /// goes around the others at its end, and they go around it where it arrives.
    fn next(&mut self, row: usize, height: f64) -> (usize, usize) {
        let own = self.taken[row];
        self.taken[row] += 1;
        let all = &mut self.heights[row];
        if all.len() <= own {
            all.push(height);
        }
        let below = all
            .iter()
            .enumerate()
            .filter(|(at, y)| (**y, *at) > (height, own))
            .count();
        (below, all.len() - 1 - below)
    }
}

impl Rows {
    fn new(drawing: &Drawing, cuts: &[f64]) -> Rows {
        let mut ends = vec![0.0];
        ends.extend(cuts);
        ends.push(drawing.size.0);
        let spans: Vec<(f64, f64)> = ends.windows(2).map(|pair| (pair[0], pair[1])).collect();
        let mut rows = Rows {
            tops: vec![0.0; spans.len()],
            bottoms: vec![0.0; spans.len()],
            turns: drawing.frames.is_empty(),
            width: spans.iter().map(|span| span.1 - span.0).fold(0.0, f64::max),
            spans,
        };
        let mut bottom = 0.0;
        for (row, (top, low)) in rows.heights(drawing).into_iter().enumerate() {
            rows.tops[row] = bottom - top;
            rows.bottoms[row] = bottom + low - top;
            bottom += low - top + if rows.turns { GAP } else { WIDE_GAP };
        }
        rows
    }

    /// Returns the vertical extent of each row in the whole drawing.
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
        let signals = drawing.signals.iter().map(|each| &each.path[..]);
        for frame in &drawing.frames {
            let row = self.row(frame.at.middle().x);
            see(row, frame.at.y);
            see(row, frame.at.y + frame.at.h);
        }
        for pair in edges.chain(couplings).chain(signals).flat_map(|path| path.windows(2)) {
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

    /// Returns true if a row runs to the right.
    fn runs_on(&self, row: usize) -> bool {
        !self.turns || row.is_multiple_of(2)
    }

    /// Converts a point of the whole drawing to its position in this row.
    fn moved(&self, row: usize, at: Point) -> Point {
        let inside = at.x - self.spans[row].0;
        let x = if self.runs_on(row) { inside } else { self.width - inside };
        Point::new(x, at.y + self.tops[row])
    }

    fn apply(&self, drawing: &mut Drawing) {
        let mut lanes = Lanes {
            taken: vec![0; self.spans.len()],
            heights: self.heights_of_cuts(drawing),
        };
        let edges: Vec<Vec<Point>> = drawing
            .edges
            .iter()
            .map(|edge| self.cut_edge(edge, &mut lanes))
            .collect();
        let rails: Vec<Rail> = drawing.rails.iter().flat_map(|rail| self.cut_rail(rail)).collect();
        let couplings: Vec<Vec<Point>> = (drawing.couplings.iter())
            .map(|each| self.cut_path(&each.path, &mut lanes))
            .collect();
        let signals: Vec<Vec<Point>> = (drawing.signals.iter())
            .map(|each| self.cut_path(&each.path, &mut lanes))
            .collect();
        // Positions are mapped below as if in the whole drawing; finished items are inserted afterwards.
        for label in &mut drawing.labels {
            label.anchor = match label.anchor {
                Anchor::Start if !self.runs_on(self.row(label.at.middle().x)) => Anchor::End,
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
            // An arrow and its target are in the same row.
            edge.arrow = arrow.map(|(at, to)| {
                let row = self.row(at.x);
                (self.moved(row, at), self.moved(row, to))
            });
        }
        drawing.rails = rails;
        for (coupling, path) in drawing.couplings.iter_mut().zip(couplings) {
            coupling.path = path;
        }
        for (signal, path) in drawing.signals.iter_mut().zip(signals) {
            signal.path = path;
        }
    }

    /// For each row, returns the heights at which lines are cut at its end, in the order in which they are cut below.
    fn heights_of_cuts(&self, drawing: &Drawing) -> Vec<Vec<f64>> {
        let mut lanes = Lanes {
            taken: vec![0; self.spans.len()],
            heights: vec![Vec::new(); self.spans.len()],
        };
        let edges = drawing.edges.iter().map(|edge| &edge.path);
        let couplings = drawing.couplings.iter().map(|each| &each.path);
        let signals = drawing.signals.iter().map(|each| &each.path);
        for path in edges.chain(couplings).chain(signals) {
            self.cut_path(path, &mut lanes);
        }
        lanes.heights
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

    fn cut_edge(&self, edge: &Edge, lanes: &mut Lanes) -> Vec<Point> {
        self.cut_path(&edge.path, lanes)
    }

    /// Continues a line in the next row wherever it is cut.
    fn cut_path(&self, path: &[Point], lanes: &mut Lanes) -> Vec<Point> {
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
                let upper = row.min(next);
                let (first, last) = lanes.next(upper, cut.y);
                let first = if self.turns { lanes.taken[upper] - 1 } else { first };
                let (out, back) = (OUT * (1 + first) as f64, OUT * (1 + last) as f64);
                let lane = self.bottoms[upper] + 10.0 + LANE * first as f64;
                let (above, below) = (cut.y + self.tops[upper], cut.y + self.tops[upper + 1]);
                let mut bend = match (self.turns, upper.is_multiple_of(2)) {
                    // Even rows end on the right, where the next one begins.
                    (true, true) => vec![Point::new(self.width + out, above), Point::new(self.width + out, below)],
                    (true, false) => vec![Point::new(-out, above), Point::new(-out, below)],
                    (false, _) => vec![
                        Point::new(self.spans[upper].1 - self.spans[upper].0 + out, above),
                        Point::new(self.spans[upper].1 - self.spans[upper].0 + out, lane),
                        Point::new(-back, lane),
                        Point::new(-back, below),
                    ],
                };
                if next < row {
                    bend.reverse();
                }
                found.extend(bend);
                row = next;
            }
            found.push(self.moved(row, to));
        }
        found.dedup_by(|a, b| a.distance(*b) < 1e-9);
        found
    }
}
