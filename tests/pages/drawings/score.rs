//! Readability defects of a drawing, counted from its data alone.

use lgm::draw::{Drawing, LabelKind, Point, Rect};

/// The distance below which a line is next to a mark.
const NEAR: f64 = 2.0;

/// Counts of one drawing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Score {
    /// Crossing branches and bonds.
    pub crossings: usize,
    /// Dashed lines of couplers that cross them or each other.
    pub linked: usize,
    /// Corners of branches and bonds.
    pub bends: usize,
    /// Texts that overlap each other, a line, a circle or a node.
    pub overlaps: usize,
    /// Lines through a half arrow or next to a stroke of another bond.
    pub marked: usize,
    /// Edges of the drawing.
    pub edges: usize,
}

impl std::ops::AddAssign for Score {
    fn add_assign(&mut self, other: Score) {
        self.crossings += other.crossings;
        self.linked += other.linked;
        self.bends += other.bends;
        self.overlaps += other.overlaps;
        self.marked += other.marked;
        self.edges += other.edges;
    }
}

fn turn(a: Point, b: Point, c: Point) -> f64 {
    (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x)
}

/// Returns true if the interiors of two line segments intersect.
fn crosses(a: (Point, Point), b: (Point, Point)) -> bool {
    let apart = |one: f64, two: f64| (one > 1e-6 && two < -1e-6) || (one < -1e-6 && two > 1e-6);
    apart(turn(a.0, a.1, b.0), turn(a.0, a.1, b.1)) && apart(turn(b.0, b.1, a.0), turn(b.0, b.1, a.1))
}

/// The distance of a point from a line segment.
fn away(at: Point, (a, b): (Point, Point)) -> f64 {
    let (dx, dy) = (b.x - a.x, b.y - a.y);
    let part = ((at.x - a.x) * dx + (at.y - a.y) * dy) / (dx * dx + dy * dy).max(1e-9);
    at.distance(a.towards(b, part.clamp(0.0, 1.0)))
}

/// The distance of two line segments.
fn apart(a: (Point, Point), b: (Point, Point)) -> f64 {
    match crosses(a, b) {
        true => 0.0,
        false => [away(a.0, b), away(a.1, b), away(b.0, a), away(b.1, a)]
            .into_iter()
            .fold(f64::INFINITY, f64::min),
    }
}

/// Lines through or right next to a half arrow or a stroke of another bond; and coupler lines through a node.
fn marked(drawing: &Drawing) -> Vec<String> {
    let mut found = Vec::new();
    for (at, edge) in drawing.edges.iter().enumerate() {
        let marks = edge.marks();
        for mark in marks.barb.into_iter().chain(marks.strokes) {
            let others = drawing.edges.iter().enumerate().filter(|(other, _)| *other != at);
            let others = others.map(|(_, other)| (format!("{} -> {}", other.from, other.to), &other.path));
            let signals = drawing
                .signals
                .iter()
                .map(|signal| (format!("signal of {}", signal.element), &signal.path));
            for (name, path) in others.chain(signals) {
                if pieces(path).into_iter().any(|piece| apart(piece, mark) < NEAR) {
                    found.push(format!("{name} lies at a mark of {} -> {}", edge.from, edge.to));
                }
            }
        }
    }
    for node in drawing.nodes.iter().filter(|node| node.shape == lgm::draw::Shape::Dot) {
        let radius = if node.width > 1 { 7.4 } else { 4.2 };
        for coupling in &drawing.couplings {
            if pieces(&coupling.path)
                .into_iter()
                .any(|piece| away(node.at, piece) < radius)
            {
                found.push(format!(
                    "the line of coupler {} passes through the node {}",
                    coupling.element, node.id
                ));
            }
        }
    }
    found
}

fn pieces(path: &[Point]) -> Vec<(Point, Point)> {
    path.windows(2).map(|pair| (pair[0], pair[1])).collect()
}

/// The name of a line, and its straight segments.
type Line = (String, Vec<(Point, Point)>);

/// The overlapped texts, for messages; and the counts.
pub fn score(drawing: &Drawing) -> (Score, Vec<String>) {
    let mut found = Vec::new();
    let mut lines: Vec<Line> = Vec::new();
    for edge in &drawing.edges {
        lines.push((edge.name.clone(), pieces(&edge.path)));
    }
    for coupling in &drawing.couplings {
        lines.push((format!("coupler {}", coupling.element), pieces(&coupling.path)));
    }
    let crossing = |(at, one): (usize, &Line)| {
        let others = lines[at + 1..].iter().flat_map(|other| &other.1);
        let crossed = others.filter(|b| one.1.iter().any(|a| crosses(*a, **b)));
        crossed.count()
    };
    let all: usize = lines.iter().enumerate().map(crossing).sum();
    let edges = &lines[..drawing.edges.len()];
    let crossed = |(at, one): (usize, &Line)| {
        let others = edges[at + 1..].iter().flat_map(|other| &other.1);
        others.filter(|b| one.1.iter().any(|a| crosses(*a, **b))).count()
    };
    let crossings = edges.iter().enumerate().map(crossed).sum();
    let bends = drawing.edges.iter().map(|edge| edge.path.len().saturating_sub(2)).sum();
    for signal in &drawing.signals {
        lines.push((format!("signal of {}", signal.element), pieces(&signal.path)));
    }
    for rail in &drawing.rails {
        lines.push(("rail".to_string(), vec![(rail.from, rail.to)]));
    }
    // A vector is drawn as two lines along its path.
    let vectors = drawing.edges.iter().filter(|edge| edge.width > 1);
    let doubled: Vec<Line> = vectors.map(|edge| (edge.name.clone(), edge.lines())).collect();
    for (at, label) in drawing.labels.iter().enumerate() {
        for other in &drawing.labels[at + 1..] {
            if label.at.overlaps(&other.at) {
                found.push(format!("`{}` over `{}`", label.text, other.text));
            }
        }
        for (name, pieces) in lines.iter().chain(&doubled) {
            // The frame of a coupler contains its own line.
            let is_own = label.kind == LabelKind::Coupler && *name == format!("coupler {}", label.title);
            if !is_own && pieces.iter().any(|(a, b)| label.at.is_crossed(*a, *b)) {
                found.push(format!("`{}` over the line of {name}", label.text));
            }
        }
        for edge in &drawing.edges {
            if edge
                .circle
                .is_some_and(|at| Rect::around(at, 16.0, 16.0).overlaps(&label.at))
            {
                found.push(format!("`{}` over the circle of {}", label.text, edge.name));
            }
        }
        let is_dot = |node: &&lgm::draw::Node| node.shape == lgm::draw::Shape::Dot;
        for node in drawing.nodes.iter().filter(is_dot) {
            if Rect::around(node.at, 8.0, 8.0).overlaps(&label.at) {
                found.push(format!("`{}` over the node {}", label.text, node.id));
            }
        }
        let (w, h) = drawing.size;
        let Rect { x, y, w: wide, h: high } = label.at;
        if x < 0.0 || y < 0.0 || x + wide > w || y + high > h {
            found.push(format!("`{}` outside", label.text));
        }
    }
    let overlaps = found.len();
    let marked = marked(drawing);
    let counts = Score {
        crossings,
        linked: all - crossings,
        bends,
        overlaps,
        marked: marked.len(),
        edges: drawing.edges.len(),
    };
    found.extend(marked);
    (counts, found)
}
