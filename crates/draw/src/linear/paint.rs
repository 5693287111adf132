//! Creates the drawing of a linear graph from positioned columns.

use super::arcs::{Arc, Arcs};
use super::columns::{BESIDE, CIRCLE, Column, Hang, circle, frame_width, label_width};
use super::graph::{Branch, Graph, GraphNode};
use super::links;
use crate::content::Content;
use crate::drawing::{Anchor, Coupling, Drawing, Edge, Kind, Label, LabelKind, Node, Point, Rail, Rect, Shape};
use crate::metrics::{LINE, SIZE, width};
use crate::wrap::wrap;

/// The length of an arrow.
const ARROW: f64 = 11.0;

/// The margin around the drawing.
pub(super) const MARGIN: f64 = 18.0;

/// The distance between dashed lines of couplers.
const LANE: f64 = 26.0;

/// Returns the text below a rail: a domain, if it has a name.
fn rail_text(graph: &Graph, node: usize) -> &str {
    graph.nodes[node].domain.as_deref().unwrap_or("")
}

/// Widens parts with a single node, so that the name of the domain fits.
pub(super) fn widen(graph: &Graph, columns: &mut [Column], parts: &[usize]) {
    for at in 0..columns.len() {
        let part = parts[columns[at].node];
        let has_neighbour = |other: Option<&Column>| other.is_some_and(|other| parts[other.node] == part);
        if !has_neighbour(at.checked_sub(1).and_then(|at| columns.get(at))) && !has_neighbour(columns.get(at + 1)) {
            let half = width(rail_text(graph, columns[at].node), SIZE) / 2.0 + 12.0;
            let (left, right) = columns[at].lower;
            let middle = (right - left) / 2.0;
            columns[at].lower = (left.max(half - middle), right.max(half + middle));
        }
    }
}

/// The depths of the items below the nodes.
struct Depths {
    /// The depth at which branches to the reference become vertical.
    fan: f64,
    /// The depth of the names.
    names: f64,
    /// The lane of each coupler.
    lanes: Vec<f64>,
    /// The depth of the reference.
    rail: f64,
}

/// A branch to the reference with its position.
struct Line {
    x: f64,
    column: usize,
    hang: Hang,
}

/// Creates an empty drawing.
pub(super) fn empty(content: &Content<'_>) -> Drawing {
    Drawing {
        model: content.model.heading.name.clone(),
        kind: Kind::LinearGraph,
        size: (0.0, 0.0),
        nodes: Vec::new(),
        edges: Vec::new(),
        rails: Vec::new(),
        couplings: Vec::new(),
        signals: Vec::new(),
        frames: Vec::new(),
        labels: Vec::new(),
    }
}

pub(super) fn paint(
    content: &Content<'_>,
    graph: &Graph,
    columns: &[Column],
    arcs: &Arcs,
    parts: &[usize],
    cuts: &[f64],
) -> Drawing {
    let mut drawing = empty(content);
    let lines: Vec<Line> = (columns.iter().enumerate())
        .flat_map(|(at, column)| {
            column.hangs.iter().map(move |hang| Line {
                x: column.x + hang.dx,
                column: at,
                hang: hang.clone(),
            })
        })
        .collect();
    let depths = depths(graph, &lines);
    nodes(graph, columns, &mut drawing);
    for line in &lines {
        hanging(graph, columns, line, &depths, &mut drawing);
    }
    for at in 0..columns.len() {
        if let Some(branch) = arcs.straight_after(at) {
            straight(graph, &columns[at], &columns[at + 1], branch, &mut drawing);
        }
    }
    for arc in &arcs.arcs {
        above(graph, columns, arcs, arc, &mut drawing);
    }
    couplings(graph, &lines, &depths, &mut drawing);
    links::add(graph, cuts, &depths.lanes, &mut drawing);
    rails(graph, columns, parts, &lines, &depths, &mut drawing);
    // In declaration order, independent of the drawing.
    let rank = |edge: &Edge| graph.branches.iter().position(|branch| branch.name == edge.name);
    if graph.branches.len() < 2000 {
        drawing.edges.sort_by_key(rank);
    }
    let left = drawing.left();
    drawing.fit(MARGIN);
    let cuts: Vec<f64> = cuts.iter().map(|cut| cut + MARGIN - left).collect();
    wrap(&mut drawing, &cuts);
    drawing.fit(MARGIN);
    drawing
}

fn depths(graph: &Graph, lines: &[Line]) -> Depths {
    let widest = lines.iter().map(|line| line.hang.dx.abs()).fold(0.0, f64::max);
    let fan = (0.32 * widest).clamp(20.0, 64.0);
    let names = fan + 46.0;
    // Couplers with adjacent branches share a lane.
    let mut taken: Vec<Vec<(f64, f64)>> = Vec::new();
    let mut lanes = vec![0.0; graph.couplers.len()];
    for (at, coupler) in graph.couplers.iter().enumerate() {
        let own = lines.iter().filter(|line| coupler.branches.contains(&line.hang.branch));
        let xs: Vec<f64> = own.map(|line| line.x).collect();
        let (from, to) = xs.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
            (low.min(*x), high.max(*x))
        });
        // Branches between nodes are linked to the lane afterwards, from any position.
        let is_linked = coupler
            .branches
            .iter()
            .any(|branch| graph.branches[*branch].is_between());
        let (from, to) = match is_linked {
            true => (f64::NEG_INFINITY, f64::INFINITY),
            false => (from, to),
        };
        let to = if from.is_finite() {
            to.max(from + frame_width(graph, at) + 14.0)
        } else {
            to
        };
        let is_free = |lane: &Vec<(f64, f64)>| lane.iter().all(|(a, b)| to < *a || *b < from);
        let lane = taken.iter().position(is_free).unwrap_or_else(|| {
            taken.push(Vec::new());
            taken.len() - 1
        });
        taken[lane].push((from, to));
        lanes[at] = names + 42.0 + LANE * lane as f64;
    }
    let rail = match taken.len() {
        0 => names + 46.0,
        count => names + 42.0 + LANE * (count as f64 - 1.0) + 30.0,
    };
    Depths {
        fan,
        names,
        lanes,
        rail,
    }
}

fn nodes(graph: &Graph, columns: &[Column], drawing: &mut Drawing) {
    for column in columns {
        node(
            &graph.nodes[column.node],
            Point::new(column.x, 0.0),
            column.label,
            drawing,
        );
    }
}

/// Draws a node; the box of its name is relative to the node.
pub(super) fn node(node: &GraphNode, at: Point, name: Rect, drawing: &mut Drawing) {
    drawing.nodes.push(Node {
        id: node.name.clone(),
        label: node.name.clone(),
        at,
        domain: node.domain.clone(),
        shape: Shape::Dot,
        width: node.width,
    });
    drawing.labels.push(Label {
        text: node.name.clone(),
        at: Rect {
            x: name.x + at.x,
            y: name.y + at.y,
            ..name
        },
        anchor: Anchor::Middle,
        kind: LabelKind::Node,
        domain: node.domain.clone(),
        name: node.name.clone(),
        title: match node.width {
            1 => node.name.clone(),
            width => format!("{}, {width} entries", node.name),
        },
    });
}

/// Creates the edge of a branch whose path is given from its first end to its second one.
pub(super) fn edge(graph: &Graph, branch: &Branch, path: Vec<Point>) -> Edge {
    let name = |end: Option<usize>| end.map_or("gnd".to_string(), |node| graph.nodes[node].name.clone());
    Edge {
        element: Some(branch.element.clone()),
        name: branch.name.clone(),
        kind: Some(branch.kind.clone()),
        from: name(branch.ends.0),
        to: name(branch.ends.1),
        domain: branch.domain.clone(),
        tree: branch.tree,
        width: branch.width,
        path,
        radius: 9.0,
        source: branch.source,
        arrow: None,
        circle: None,
        bonds: Vec::new(),
        turned: Vec::new(),
        stroke: None,
        conflict: branch.conflict,
    }
}

/// Puts marks at a point of a line with this direction: an arrow, and for a source a circle before it.
pub(super) fn mark(edge: &mut Edge, at: Point, (dx, dy): (f64, f64)) {
    let ahead = if edge.source.is_some() { CIRCLE + ARROW } else { 0.0 };
    edge.circle = edge.source.map(|_| at);
    let base = at.moved(dx * (ahead - ARROW / 2.0), dy * (ahead - ARROW / 2.0));
    edge.arrow = Some((base, base.moved(dx * ARROW, dy * ARROW)));
}

pub(super) fn label(branch: &Branch, at: Rect, anchor: Anchor) -> Label {
    Label {
        text: branch.label.clone(),
        at,
        anchor,
        kind: LabelKind::Branch,
        domain: branch.domain.clone(),
        name: branch.element.clone(),
        title: title(branch),
    }
}

/// Returns the tooltip of a branch.
fn title(branch: &Branch) -> String {
    let mut text = format!("{}: {}", branch.name, branch.kind);
    if branch.width > 1 {
        text.push_str(&format!(", {} entries", branch.width));
    }
    match branch.integral {
        Some(true) => text.push_str(", integral causality"),
        Some(false) => text.push_str(", derivative causality"),
        None => {}
    }
    if !branch.modulation.is_empty() {
        text.push_str(&format!(", depends on {}", branch.modulation.join(", ")));
    }
    text
}

/// Draws a branch to the reference.
fn hanging(graph: &Graph, columns: &[Column], line: &Line, depths: &Depths, drawing: &mut Drawing) {
    let branch = &graph.branches[line.hang.branch];
    let top = Point::new(columns[line.column].x, 0.0);
    let mut path = vec![top];
    if line.hang.dx != 0.0 {
        path.push(Point::new(line.x, depths.fan));
    }
    path.push(Point::new(line.x, depths.rail));
    let is_down = branch.ends.1.is_none();
    if !is_down {
        path.reverse();
    }
    let mut edge = edge(graph, branch, path);
    edge.radius = 22.0;
    mark(
        &mut edge,
        Point::new(line.x, depths.names),
        (0.0, if is_down { 1.0 } else { -1.0 }),
    );
    drawing.edges.push(edge);
    let x = line.x + BESIDE + circle(branch.source);
    drawing.labels.push(label(
        branch,
        Rect {
            x,
            y: depths.names - LINE / 2.0,
            w: label_width(graph, line.hang.branch),
            h: LINE,
        },
        Anchor::Start,
    ));
}

/// Draws a branch between two neighbours.
fn straight(graph: &Graph, left: &Column, right: &Column, at: usize, drawing: &mut Drawing) {
    let branch = &graph.branches[at];
    let (a, b) = (Point::new(left.x, 0.0), Point::new(right.x, 0.0));
    let forward = branch.ends.0 == Some(left.node);
    let mut edge = edge(graph, branch, if forward { vec![a, b] } else { vec![b, a] });
    // The name of the right node is above the line.
    let (from, to) = (left.x + left.upper.1, right.x - right.upper.0);
    let w = label_width(graph, at);
    let middle = ((left.x + right.x) / 2.0).clamp(from + 6.0 + w / 2.0, (to - 6.0 - w / 2.0).max(from + 6.0 + w / 2.0));
    mark(
        &mut edge,
        Point::new(middle, 0.0),
        (if forward { 1.0 } else { -1.0 }, 0.0),
    );
    let y = -6.0 - circle(branch.source);
    drawing.edges.push(edge);
    drawing.labels.push(label(
        branch,
        Rect {
            x: middle - w / 2.0,
            y: y - LINE,
            w,
            h: LINE,
        },
        Anchor::Middle,
    ));
}

/// Draws a branch above the nodes.
fn above(graph: &Graph, columns: &[Column], arcs: &Arcs, arc: &Arc, drawing: &mut Drawing) {
    let branch = &graph.branches[arc.branch];
    let mut path = Arcs::path(arc, columns);
    let forward = branch.ends.0 == Some(columns[arc.span.0].node);
    if !forward {
        path.reverse();
    }
    let mut edge = edge(graph, branch, path);
    let left = columns[arc.span.0].x + arc.offsets.0;
    let right = columns[arc.span.1].x + arc.offsets.1;
    let x = arcs.free(graph, columns, arc).unwrap_or((left + right) / 2.0);
    let y = Arcs::height(arc.track);
    mark(&mut edge, Point::new(x, y), (if forward { 1.0 } else { -1.0 }, 0.0));
    drawing.edges.push(edge);
    let w = label_width(graph, arc.branch);
    drawing.labels.push(label(
        branch,
        Rect {
            x: x - w / 2.0,
            y: y - 6.0 - circle(branch.source) - LINE,
            w,
            h: LINE,
        },
        Anchor::Middle,
    ));
}

/// Draws the dashed lines between branches of couplers.
fn couplings(graph: &Graph, lines: &[Line], depths: &Depths, drawing: &mut Drawing) {
    for (at, coupler) in graph.couplers.iter().enumerate() {
        let own = lines.iter().filter(|line| coupler.branches.contains(&line.hang.branch));
        let own: Vec<&Line> = own.collect();
        let Some(owner) = own.iter().find(|line| line.hang.owns == Some(at)) else {
            continue;
        };
        let y = depths.lanes[at];
        let joints: Vec<Point> = own.iter().map(|line| Point::new(line.x, y)).collect();
        let last = joints.iter().map(|at| at.x).fold(owner.x, f64::max);
        let w = frame_width(graph, at);
        let last = last.max(owner.x + 8.0 + w / 2.0);
        drawing.couplings.push(Coupling {
            element: coupler.element.clone(),
            path: vec![Point::new(owner.x, y), Point::new(last, y)],
            joints,
        });
        // Between two parallel branches in the middle, otherwise next to the first.
        let next = (lines.iter().map(|line| line.x))
            .filter(|x| *x > owner.x + 1.0)
            .fold(last, f64::min);
        let middle = ((owner.x + next) / 2.0).max(owner.x + 8.0 + w / 2.0);
        drawing.labels.push(Label {
            text: coupler.text.clone(),
            at: Rect::around(Point::new(middle, y), w, LINE + 4.0),
            anchor: Anchor::Middle,
            kind: LabelKind::Coupler,
            domain: None,
            name: coupler.element.clone(),
            title: coupler.element.clone(),
        });
    }
}

fn rails(graph: &Graph, columns: &[Column], parts: &[usize], lines: &[Line], depths: &Depths, drawing: &mut Drawing) {
    let mut at = 0;
    while at < columns.len() {
        let part = parts[columns[at].node];
        let end = (at..columns.len()).find(|other| parts[columns[*other].node] != part);
        let end = end.unwrap_or(columns.len());
        let own = lines.iter().filter(|line| (at..end).contains(&line.column));
        let xs: Vec<f64> = own.map(|line| line.x).collect();
        let text = rail_text(graph, columns[at].node);
        let domain = graph.nodes[columns[at].node].domain.clone();
        let w = width(text, SIZE);
        let (from, to) = match (xs.first(), xs.last()) {
            (Some(first), Some(last)) => {
                let (from, to) = (first - 16.0, last + 16.0);
                let lack = (w + 8.0 - (to - from)).max(0.0) / 2.0;
                drawing.rails.push(Rail {
                    domain: domain.clone(),
                    from: Point::new(from - lack, depths.rail),
                    to: Point::new(to + lack, depths.rail),
                });
                (from, to)
            }
            _ => (columns[at].x, columns[end - 1].x),
        };
        if !text.is_empty() {
            let under = if xs.is_empty() { 12.0 } else { depths.rail + 13.0 };
            let middle = Point::new((from + to) / 2.0, under + LINE / 2.0);
            drawing.labels.push(Label {
                text: text.to_string(),
                at: Rect::around(middle, w, LINE),
                anchor: Anchor::Middle,
                kind: LabelKind::Domain,
                domain,
                name: "gnd".to_string(),
                title: format!("reference, {text}"),
            });
        }
        at = end;
    }
}
