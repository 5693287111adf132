//! A drawing as data: the position and the meaning of every item. Lengths are in pixels at the natural size of the picture; y points down.

use lgm_model::JunctionKind;
use std::sync::Arc;

/// A point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// To the right.
    pub x: f64,
    /// Down.
    pub y: f64,
}

/// A rectangle with sides along the axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rect {
    /// Left.
    pub x: f64,
    /// Top.
    pub y: f64,
    /// Width.
    pub w: f64,
    /// Height.
    pub h: f64,
}

impl Point {
    /// Creates a point.
    pub fn new(x: f64, y: f64) -> Point {
        Point { x, y }
    }

    /// Returns the point moved by this offset.
    pub fn moved(self, dx: f64, dy: f64) -> Point {
        Point::new(self.x + dx, self.y + dy)
    }

    /// Returns the distance to another point.
    pub fn distance(self, other: Point) -> f64 {
        (self.x - other.x).hypot(self.y - other.y)
    }

    /// Returns the point at a fraction of the way to another point, from 0 to 1.
    pub fn towards(self, other: Point, part: f64) -> Point {
        Point::new(self.x + (other.x - self.x) * part, self.y + (other.y - self.y) * part)
    }
}

impl Rect {
    /// Returns the rectangle of this size around a point.
    pub fn around(at: Point, w: f64, h: f64) -> Rect {
        Rect {
            x: at.x - w / 2.0,
            y: at.y - h / 2.0,
            w,
            h,
        }
    }

    /// Returns the middle of the rectangle.
    pub fn middle(&self) -> Point {
        Point::new(self.x + self.w / 2.0, self.y + self.h / 2.0)
    }

    /// Returns true if two rectangles share more than their edges.
    pub fn overlaps(&self, other: &Rect) -> bool {
        self.x < other.x + other.w
            && other.x < self.x + self.w
            && self.y < other.y + other.h
            && other.y < self.y + self.h
    }

    /// Returns the rectangle enlarged by this amount on every side.
    pub fn grown(&self, by: f64) -> Rect {
        Rect {
            x: self.x - by,
            y: self.y - by,
            w: self.w + 2.0 * by,
            h: self.h + 2.0 * by,
        }
    }

    /// Returns true if the line segment from a to b runs through the inside.
    pub fn is_crossed(&self, a: Point, b: Point) -> bool {
        let (mut from, mut to) = (0.0f64, 1.0f64);
        for (start, end, low, high) in [(a.x, b.x, self.x, self.x + self.w), (a.y, b.y, self.y, self.y + self.h)] {
            let way = end - start;
            if way.abs() < 1e-9 {
                if start <= low || start >= high {
                    return false;
                }
                continue;
            }
            let (first, second) = ((low - start) / way, (high - start) / way);
            from = from.max(first.min(second));
            to = to.min(first.max(second));
        }
        from + 1e-9 < to
    }
}

/// The kind of a drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Nodes and oriented branches.
    LinearGraph,
    /// Junctions, elements and half arrows.
    BondGraph,
}

/// A drawing.
#[derive(Clone, Debug)]
pub struct Drawing {
    /// The model's name.
    pub model: Arc<str>,
    /// The kind of the drawing.
    pub kind: Kind,
    /// Width and height; all items are between 0 and these.
    pub size: (f64, f64),
    /// Nodes of a linear graph; junctions and elements of a bond graph.
    pub nodes: Vec<Node>,
    /// Branches or bonds.
    pub edges: Vec<Edge>,
    /// Reference nodes: a rail for each connected part of a linear graph.
    pub rails: Vec<Rail>,
    /// The couplers of a linear graph.
    pub couplings: Vec<Coupling>,
    /// Dashed arrows of signals that modulate elements.
    pub signals: Vec<Signal>,
    /// Components.
    pub frames: Vec<Frame>,
    /// All texts.
    pub labels: Vec<Label>,
}

/// A node, a junction or an element.
#[derive(Clone, Debug)]
pub struct Node {
    /// The name in the model; `1(spring)` for a junction that belongs to a branch.
    pub id: String,
    /// The text at the node.
    pub label: String,
    /// The middle of the node.
    pub at: Point,
    /// The domain.
    pub domain: Option<Arc<str>>,
    /// The shape.
    pub shape: Shape,
    /// The number of scalars: 1, or the width of a vector.
    pub width: usize,
}

/// The shape of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// The dot of a node.
    Dot,
    /// The digit of a junction.
    Junction(JunctionKind),
    /// The letters of an element; for storage, true if it is in integral causality.
    Element(Option<bool>),
}

/// The end of a bond at which effort acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stroke {
    /// The end that the half arrow points away from.
    Tail,
    /// The end that the half arrow points to.
    Head,
    /// Both ends: the bond represents a vector whose entries have it at different ends.
    Both,
    /// Both ends: a source requires it at one, but it is already set at the other.
    Contested,
    /// Neither end: the bond is in a loop that is solved as a whole.
    Open,
}

/// The visible role of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The source sets its across variable.
    Across,
    /// The source sets its through variable.
    Through,
}

/// A branch or a bond.
#[derive(Clone, Debug)]
pub struct Edge {
    /// The element of the branch; none for a bond between junctions.
    pub element: Option<String>,
    /// The element and its port: `mass`, `gears.a`; empty for a bond between junctions.
    pub name: String,
    /// The name of the element's definition.
    pub kind: Option<Arc<str>>,
    /// The node at the start; `gnd` is the reference.
    pub from: String,
    /// The node at the end.
    pub to: String,
    /// The domain.
    pub domain: Option<Arc<str>>,
    /// True for a branch of the normal tree; none if a loop of couplers leaves this open, and for bonds.
    pub tree: Option<bool>,
    /// The number of scalars.
    pub width: usize,
    /// The corners of the line, in the direction of the edge.
    pub path: Vec<Point>,
    /// The radius of rounded corners.
    pub radius: f64,
    /// The kind of source, if it is one.
    pub source: Option<Source>,
    /// For a branch, the point and the direction of its arrow; none for a bond, which has a half arrow at its end.
    pub arrow: Option<(Point, Point)>,
    /// For a source branch, the centre of its circle.
    pub circle: Option<Point>,
    /// The bonds of the report that the line represents.
    pub bonds: Vec<usize>,
    /// The bonds that are drawn against their direction in the model.
    pub turned: Vec<usize>,
    /// The end at which effort acts; none for branches.
    pub stroke: Option<Stroke>,
    /// True if the edge is on the path between conflicting sources.
    pub conflict: bool,
}

/// A reference node.
#[derive(Clone, Debug)]
pub struct Rail {
    /// The domain.
    pub domain: Option<Arc<str>>,
    /// The left end.
    pub from: Point,
    /// The right end.
    pub to: Point,
}

/// The coupled branches of one coupler.
#[derive(Clone, Debug)]
pub struct Coupling {
    /// The element.
    pub element: String,
    /// The dashed line between the branches.
    pub path: Vec<Point>,
    /// The intersection of the line with a branch.
    pub joints: Vec<Point>,
}

/// A signal that modulates an element.
#[derive(Clone, Debug)]
pub struct Signal {
    /// The element.
    pub element: String,
    /// The measured element or node; none if the signal is a text.
    pub from: Option<String>,
    /// The corners of the line to the element.
    pub path: Vec<Point>,
}

/// The frame of a component.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The component's name.
    pub name: String,
    /// The frame's box.
    pub at: Rect,
}

/// The kind of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelKind {
    /// The name of a node.
    Node,
    /// The name of a branch.
    Branch,
    /// The letters and the name of an element; for storage, true if it is in integral causality.
    Element(Option<bool>),
    /// The digit and the name of a junction.
    Junction,
    /// The letters and the name of a coupler, in a frame.
    Coupler,
    /// The domain of a reference node.
    Domain,
    /// The kind of a signal.
    Signal,
    /// The modulus or the parameter of an element.
    Value,
    /// The numbers of a bond.
    Number,
    /// The name of a component.
    Component,
}

/// The alignment of a text within its box, which is as wide as the text in a wide font.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// At the left edge.
    Start,
    /// Centred.
    Middle,
    /// At the right edge.
    End,
}

/// A text.
#[derive(Clone, Debug)]
pub struct Label {
    /// The text.
    pub text: String,
    /// The box that the text fills.
    pub at: Rect,
    /// The alignment.
    pub anchor: Anchor,
    /// The kind of text.
    pub kind: LabelKind,
    /// The domain.
    pub domain: Option<Arc<str>>,
    /// The element or the node that the text names.
    pub name: String,
    /// The tooltip.
    pub title: String,
}

impl Drawing {
    /// Applies a function to every position.
    pub(crate) fn map(&mut self, moved: &dyn Fn(Point) -> Point, boxed: &dyn Fn(Rect) -> Rect) {
        self.nodes.iter_mut().for_each(|node| node.at = moved(node.at));
        for edge in &mut self.edges {
            edge.path.iter_mut().for_each(|at| *at = moved(*at));
            edge.arrow = edge.arrow.map(|(at, to)| (moved(at), moved(to)));
            edge.circle = edge.circle.map(moved);
        }
        for rail in &mut self.rails {
            (rail.from, rail.to) = (moved(rail.from), moved(rail.to));
        }
        for coupling in &mut self.couplings {
            let all = coupling.path.iter_mut().chain(&mut coupling.joints);
            all.for_each(|at| *at = moved(*at));
        }
        let signals = self.signals.iter_mut().flat_map(|signal| &mut signal.path);
        signals.for_each(|at| *at = moved(*at));
        self.frames.iter_mut().for_each(|frame| frame.at = boxed(frame.at));
        self.labels.iter_mut().for_each(|label| label.at = boxed(label.at));
    }

    /// Returns the least x of all items.
    pub(crate) fn left(&self) -> f64 {
        let labels = self.labels.iter().map(|label| label.at.x);
        let frames = self.frames.iter().map(|frame| frame.at.x);
        let rails = self.rails.iter().map(|rail| rail.from.x);
        let edges = self.edges.iter().flat_map(|edge| &edge.path);
        let paths = edges.chain(self.signals.iter().flat_map(|signal| &signal.path));
        let nodes = self.nodes.iter().map(|node| &node.at);
        let all = labels.chain(frames).chain(rails);
        all.chain(paths.chain(nodes).map(|at| at.x))
            .fold(f64::INFINITY, f64::min)
    }

    /// Moves all items so that the drawing begins at the margin, and computes the size.
    pub(crate) fn fit(&mut self, margin: f64) {
        let mut low = Point::new(f64::INFINITY, f64::INFINITY);
        let mut high = Point::new(f64::NEG_INFINITY, f64::NEG_INFINITY);
        let mut see = |at: Point| {
            low = Point::new(low.x.min(at.x), low.y.min(at.y));
            high = Point::new(high.x.max(at.x), high.y.max(at.y));
        };
        self.nodes.iter().for_each(|node| see(node.at));
        self.edges.iter().flat_map(|edge| &edge.path).for_each(|at| see(*at));
        for rail in &self.rails {
            see(rail.from);
            see(rail.to);
        }
        self.couplings
            .iter()
            .flat_map(|each| &each.path)
            .for_each(|at| see(*at));
        self.signals
            .iter()
            .flat_map(|signal| &signal.path)
            .for_each(|at| see(*at));
        let frames = self.frames.iter().map(|frame| frame.at);
        for at in self.labels.iter().map(|label| label.at).chain(frames) {
            see(Point::new(at.x, at.y));
            see(Point::new(at.x + at.w, at.y + at.h));
        }
        if low.x > high.x {
            (low, high) = (Point::new(0.0, 0.0), Point::new(0.0, 0.0));
        }
        let (dx, dy) = (margin - low.x, margin - low.y);
        self.map(&|at| at.moved(dx, dy), &|at| Rect {
            x: at.x + dx,
            y: at.y + dy,
            ..at
        });
        self.size = (high.x - low.x + 2.0 * margin, high.y - low.y + 2.0 * margin);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_along_an_edge_crosses_nothing() {
        let rect = Rect {
            x: 0.0,
            y: 0.0,
            w: 10.0,
            h: 4.0,
        };
        let at = Point::new;
        assert!(rect.is_crossed(at(-1.0, 2.0), at(11.0, 2.0)));
        assert!(rect.is_crossed(at(5.0, 1.0), at(6.0, 2.0)));
        assert!(!rect.is_crossed(at(-1.0, 4.0), at(11.0, 4.0)));
        assert!(!rect.is_crossed(at(-5.0, 2.0), at(0.0, 2.0)));
        assert!(!rect.is_crossed(at(9.0, -2.0), at(13.0, 2.0)));
    }
}
