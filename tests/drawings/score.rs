//! What makes a drawing hard to read, counted from its data alone.

use lgm::draw::{Drawing, LabelKind, Point, Rect};

/// Counts of one drawing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Score {
    /// Branches, bonds and lines of couplers that cross.
    pub crossings: usize,
    /// Corners of branches and bonds.
    pub bends: usize,
    /// Texts over each other, or over a line, a circle or a node.
    pub overlaps: usize,
    /// Edges of the drawing.
    pub edges: usize,
}

impl std::ops::AddAssign for Score {
    fn add_assign(&mut self, other: Score) {
        self.crossings += other.crossings;
        self.bends += other.bends;
        self.overlaps += other.overlaps;
        self.edges += other.edges;
    }
}

fn turn(a: Point, b: Point, c: Point) -> f64 {
    (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x)
}

/// Whether the insides of two straight lines meet.
fn crosses(a: (Point, Point), b: (Point, Point)) -> bool {
    let apart = |one: f64, two: f64| (one > 1e-6 && two < -1e-6) || (one < -1e-6 && two > 1e-6);
    apart(turn(a.0, a.1, b.0), turn(a.0, a.1, b.1)) && apart(turn(b.0, b.1, a.0), turn(b.0, b.1, a.1))
}

fn pieces(path: &[Point]) -> Vec<(Point, Point)> {
    path.windows(2).map(|pair| (pair[0], pair[1])).collect()
}

/// What a line is called, and its straight pieces.
type Line = (String, Vec<(Point, Point)>);

/// The texts that something lies over, for messages; and the counts.
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
    let crossings = lines.iter().enumerate().map(crossing).sum();
    let bends = drawing.edges.iter().map(|edge| edge.path.len().saturating_sub(2)).sum();
    for signal in &drawing.signals {
        lines.push((format!("signal of {}", signal.element), vec![(signal.from, signal.to)]));
    }
    for rail in &drawing.rails {
        lines.push(("rail".to_string(), vec![(rail.from, rail.to)]));
    }
    for (at, label) in drawing.labels.iter().enumerate() {
        for other in &drawing.labels[at + 1..] {
            if label.at.overlaps(&other.at) {
                found.push(format!("`{}` over `{}`", label.text, other.text));
            }
        }
        for (name, pieces) in &lines {
            // The frame of a coupler lies on its own line.
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
    let counts = Score {
        crossings,
        bends,
        overlaps: found.len(),
        edges: drawing.edges.len(),
    };
    (counts, found)
}
