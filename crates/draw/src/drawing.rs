//! A drawing as data: where everything lies, and what it stands for. Lengths are in pixels of a picture at its natural size; y points
//! down.

use lgm_model::JunctionKind;
use std::sync::Arc;

/// A place.
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
    /// A place.
    pub fn new(x: f64, y: f64) -> Point {
        Point { x, y }
    }

    /// Moved by this much.
    pub fn moved(self, dx: f64, dy: f64) -> Point {
        Point::new(self.x + dx, self.y + dy)
    }

    /// The distance to another place.
    pub fn distance(self, other: Point) -> f64 {
        (self.x - other.x).hypot(self.y - other.y)
    }

    /// The place that lies this far on the way to another, from 0 to 1.
    pub fn towards(self, other: Point, part: f64) -> Point {
        Point::new(self.x + (other.x - self.x) * part, self.y + (other.y - self.y) * part)
    }
}

impl Rect {
    /// The rectangle of this size around a place.
    pub fn around(at: Point, w: f64, h: f64) -> Rect {
        Rect {
            x: at.x - w / 2.0,
            y: at.y - h / 2.0,
            w,
            h,
        }
    }

    /// Its middle.
    pub fn middle(&self) -> Point {
        Point::new(self.x + self.w / 2.0, self.y + self.h / 2.0)
    }

    /// Whether two rectangles have more than their edges in common.
    pub fn overlaps(&self, other: &Rect) -> bool {
        self.x < other.x + other.w
            && other.x < self.x + self.w
            && self.y < other.y + other.h
            && other.y < self.y + self.h
    }

    /// Larger by this much on every side.
    pub fn grown(&self, by: f64) -> Rect {
        Rect {
            x: self.x - by,
            y: self.y - by,
            w: self.w + 2.0 * by,
            h: self.h + 2.0 * by,
        }
    }

    /// Whether a straight line from a to b runs through the inside.
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

/// What is drawn.
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
    /// What is drawn.
    pub kind: Kind,
    /// Width and height; everything lies between 0 and these.
    pub size: (f64, f64),
    /// Nodes of a linear graph; junctions and elements of a bond graph.
    pub nodes: Vec<Node>,
    /// Branches or bonds.
    pub edges: Vec<Edge>,
    /// Reference nodes: a rail for each part of a linear graph that hangs together.
    pub rails: Vec<Rail>,
    /// What couples branches of a linear graph.
    pub couplings: Vec<Coupling>,
    /// Dashed arrows of signals that act on elements.
    pub signals: Vec<Signal>,
    /// Components.
    pub frames: Vec<Frame>,
    /// All texts.
    pub labels: Vec<Label>,
}

/// A node, a junction or an element.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its name in the model; of a junction that belongs to a branch, `1(spring)`.
    pub id: String,
    /// What is written at it.
    pub label: String,
    /// Its middle.
    pub at: Point,
    /// Its domain.
    pub domain: Option<Arc<str>>,
    /// How it is drawn.
    pub shape: Shape,
    /// How many scalars it stands for: 1, or the width of a vector.
    pub width: usize,
}

/// How a node is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// The dot of a node.
    Dot,
    /// The digit of a junction.
    Junction(JunctionKind),
    /// The letters of an element; of storage, whether it is in integral causality.
    Element(Option<bool>),
}

/// Where effort acts on a bond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stroke {
    /// At the end that the half arrow points away from.
    Tail,
    /// At the end that the half arrow points at.
    Head,
    /// The bond is one of several in a vector, which have it at different ends.
    Both,
    /// At both ends: a source wants it at one, and what is set already at the other.
    Contested,
    /// Nowhere: it lies in a loop that is solved as a whole.
    Open,
}

/// What a branch does that can be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// It sets its across variable.
    Across,
    /// It sets its through variable.
    Through,
}

/// A branch or a bond.
#[derive(Clone, Debug)]
pub struct Edge {
    /// The element that it belongs to; none for a bond between junctions.
    pub element: Option<String>,
    /// The element and its port: `mass`, `gears.a`; of a bond between junctions empty.
    pub name: String,
    /// The name of the element's definition.
    pub kind: Option<Arc<str>>,
    /// The node that it comes from; `gnd` is the reference.
    pub from: String,
    /// The node that it goes to.
    pub to: String,
    /// Its domain.
    pub domain: Option<Arc<str>>,
    /// Whether it is a branch of the normal tree; none where a loop of couplers leaves both, and for bonds.
    pub tree: Option<bool>,
    /// How many scalars it stands for.
    pub width: usize,
    /// The line, corner by corner, along its orientation.
    pub path: Vec<Point>,
    /// How far corners are rounded.
    pub radius: f64,
    /// Whether it is a source.
    pub source: Option<Source>,
    /// Of a branch, the point of its arrow and where that points; of a bond none, as it is half an arrow at its end.
    pub arrow: Option<(Point, Point)>,
    /// Of a source branch, the middle of its circle.
    pub circle: Option<Point>,
    /// The bonds of the report that it stands for.
    pub bonds: Vec<usize>,
    /// Those of the bonds that are drawn against the direction that the model gives them.
    pub turned: Vec<usize>,
    /// Where effort acts; none for branches.
    pub stroke: Option<Stroke>,
    /// Whether it lies between sources that contradict each other.
    pub conflict: bool,
}

/// A reference node.
#[derive(Clone, Debug)]
pub struct Rail {
    /// Its domain.
    pub domain: Option<Arc<str>>,
    /// Its left end.
    pub from: Point,
    /// Its right end.
    pub to: Point,
}

/// Branches of one coupler.
#[derive(Clone, Debug)]
pub struct Coupling {
    /// The element.
    pub element: String,
    /// The dashed line between its branches.
    pub path: Vec<Point>,
    /// Where the line meets a branch.
    pub joints: Vec<Point>,
}

/// A signal that acts on an element.
#[derive(Clone, Debug)]
pub struct Signal {
    /// The element.
    pub element: String,
    /// The element or the node that is measured; none where the signal is a text.
    pub from: Option<String>,
    /// The line, corner by corner, to the element.
    pub path: Vec<Point>,
}

/// The frame of a component.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The component's name.
    pub name: String,
    /// Its box.
    pub at: Rect,
}

/// What a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelKind {
    /// The name of a node.
    Node,
    /// The name of a branch.
    Branch,
    /// The letters and the name of an element; of storage, whether it is in integral causality.
    Element(Option<bool>),
    /// The digit and the name of a junction.
    Junction,
    /// The letters and the name of a coupler, in a frame.
    Coupler,
    /// The domain of a reference node.
    Domain,
    /// What a signal is.
    Signal,
    /// The modulus or the parameter of an element.
    Value,
    /// The numbers of a bond.
    Number,
    /// The name of a component.
    Component,
}

/// From where a text runs within its box, which is as wide as the text in a wide font.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// From the left.
    Start,
    /// From the middle.
    Middle,
    /// To the right.
    End,
}

/// A text.
#[derive(Clone, Debug)]
pub struct Label {
    /// The text.
    pub text: String,
    /// Where it stands; it fills the box.
    pub at: Rect,
    /// From where it runs.
    pub anchor: Anchor,
    /// What it is.
    pub kind: LabelKind,
    /// Its domain.
    pub domain: Option<Arc<str>>,
    /// The element or the node that it names.
    pub name: String,
    /// More to be said of it, for those who point at it.
    pub title: String,
}

impl Drawing {
    /// Applies a function to every place.
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

    /// The least x of everything.
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

    /// Moves everything so that it begins at the margin, and finds the size.
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
