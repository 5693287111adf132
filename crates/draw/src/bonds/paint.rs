//! The drawing of a bond graph whose cells stand.

use super::cells::{Cell, HIGH, Hang};
use super::graph::{Graph, Vertex};
use super::places::Gaps;
use super::route::{Port, Router};
use super::skeleton::{Side, Skeleton};
use crate::content::Content;
use crate::drawing::{Anchor, Drawing, Edge, Kind, Label, LabelKind, Node, Point, Rect, Shape, Signal};
use crate::metrics::LINE;
use crate::wrap::wrap;

/// The distance between a text and the end of its bond.
const CLEAR: f64 = 4.0;

/// How far above and below the middle a line may leave a side.
const BESIDE: f64 = 8.0;

/// What it costs to leave there, close to another bond.
const CLOSE: i64 = 300;

/// The margin around everything.
const MARGIN: f64 = 18.0;

pub(super) fn paint(content: &Content<'_>, graph: &Graph, skeleton: &Skeleton, cells: &[Cell], gaps: &Gaps) -> Drawing {
    let mut drawing = Drawing {
        model: content.model.name.clone(),
        kind: Kind::BondGraph,
        size: (0.0, 0.0),
        nodes: Vec::new(),
        edges: Vec::new(),
        rails: Vec::new(),
        couplings: Vec::new(),
        signals: Vec::new(),
        labels: Vec::new(),
    };
    for cell in cells {
        vertex(&graph.vertices[cell.vertex], cell.at, cell.w, &mut drawing);
        for hang in &cell.hangs {
            hanging(graph, cell, hang, &mut drawing);
        }
    }
    between(graph, skeleton, cells, gaps, &mut drawing);
    drawing.edges.sort_by_key(|edge| edge.bonds.first().copied());
    let left = drawing.labels.iter().map(|label| label.at.x);
    let paths = drawing.edges.iter().flat_map(|edge| &edge.path).map(|at| at.x);
    let left = left.chain(paths).fold(f64::INFINITY, f64::min);
    drawing.fit(MARGIN);
    let cuts: Vec<f64> = gaps.cuts.iter().map(|cut| cut + MARGIN - left).collect();
    wrap(&mut drawing, &cuts);
    drawing.fit(MARGIN);
    drawing
}

/// A junction or an element with its text.
fn vertex(vertex: &Vertex, at: Point, w: f64, drawing: &mut Drawing) {
    drawing.nodes.push(Node {
        id: vertex.id.clone(),
        label: vertex.text.clone(),
        at,
        domain: vertex.domain.clone(),
        shape: vertex.shape,
        width: vertex.width,
    });
    drawing.labels.push(Label {
        text: vertex.text.clone(),
        at: Rect::around(at, w, HIGH),
        anchor: Anchor::Middle,
        kind: match vertex.shape {
            Shape::Junction(_) => LabelKind::Junction,
            Shape::Element(integral) => LabelKind::Element(integral),
            Shape::Dot => LabelKind::Node,
        },
        domain: vertex.domain.clone(),
        name: vertex.id.clone(),
        title: vertex.title.clone(),
    });
}

/// The edge of a bond.
fn edge(graph: &Graph, bond: usize, path: Vec<Point>) -> Edge {
    let info = &graph.bonds[bond];
    Edge {
        element: info.element.clone(),
        name: info.name.clone(),
        kind: info.kind.clone(),
        from: graph.vertices[info.tail].id.clone(),
        to: graph.vertices[info.head].id.clone(),
        domain: info.domain.clone(),
        tree: None,
        width: info.width,
        path,
        radius: 6.0,
        source: None,
        arrow: None,
        circle: None,
        bonds: info.bonds.clone(),
        stroke: Some(info.stroke),
        conflict: info.conflict,
    }
}

/// An element with one bond, or a signal.
fn hanging(graph: &Graph, cell: &Cell, hang: &Hang, drawing: &mut Drawing) {
    let here = Rect::around(cell.at, cell.w, HIGH);
    let at = cell.at.moved(hang.at.x, hang.at.y);
    let there = Rect::around(at, hang.w, HIGH);
    let mut owner = graph.vertices[cell.vertex].id.clone();
    let mut end = here;
    if let Some((bond, far)) = hang.bond {
        vertex(&graph.vertices[far], at, hang.w, drawing);
        let start = leaving(cell, hang);
        let mut path = vec![clip(start, at, &here), clip(at, start, &there)];
        if graph.bonds[bond].tail == far {
            path.reverse();
        }
        drawing.edges.push(edge(graph, bond, path));
        owner = graph.vertices[far].id.clone();
        end = there;
    }
    if let Some((text, place, w)) = &hang.signal {
        let middle = cell.at.moved(place.x, place.y);
        let label = Rect::around(middle, *w, LINE);
        let target = end.middle();
        drawing.signals.push(Signal {
            element: owner.clone(),
            from: clip(middle, target, &label),
            to: clip(target, middle, &end),
        });
        drawing.labels.push(Label {
            text: text.clone(),
            at: label,
            anchor: Anchor::Middle,
            kind: LabelKind::Signal,
            domain: None,
            name: owner,
            title: format!("depends on {text}"),
        });
    }
}

/// Where a bond to an element leaves: bonds to elements far to the side begin at that end of a wide text.
fn leaving(cell: &Cell, hang: &Hang) -> Point {
    match hang.side {
        Side::Up | Side::Down => {
            let room = (cell.w / 2.0 - 8.0).max(0.0);
            cell.at.moved((hang.at.x * 0.35).clamp(-room, room), 0.0)
        }
        Side::Left | Side::Right => cell.at,
    }
}

/// Where the line from the inside of a box to a place outside leaves it, with some air.
fn clip(from: Point, to: Point, rect: &Rect) -> Point {
    let rect = rect.grown(CLEAR);
    let (dx, dy) = (to.x - from.x, to.y - from.y);
    let part = |way: f64, low: f64, high: f64| match way {
        way if way > 1e-9 => high / way,
        way if way < -1e-9 => low / way,
        _ => f64::INFINITY,
    };
    let x = part(dx, rect.x - from.x, rect.x + rect.w - from.x);
    let y = part(dy, rect.y - from.y, rect.y + rect.h - from.y);
    from.towards(to, x.min(y).clamp(0.0, 1.0))
}

/// Bonds between junctions and couplers.
fn between(graph: &Graph, skeleton: &Skeleton, cells: &[Cell], gaps: &Gaps, drawing: &mut Drawing) {
    let mut cell_of = vec![None; graph.vertices.len()];
    cells
        .iter()
        .enumerate()
        .for_each(|(at, cell)| cell_of[cell.vertex] = Some(at));
    let (mut xs, mut ys) = (Vec::new(), Vec::new());
    for cell in cells {
        xs.extend([cell.at.x - offset(cell), cell.at.x, cell.at.x + offset(cell)]);
        ys.extend([cell.at.y - BESIDE, cell.at.y, cell.at.y + BESIDE]);
    }
    let owners: Vec<(String, usize)> = cells
        .iter()
        .enumerate()
        .map(|(at, cell)| (graph.vertices[cell.vertex].id.clone(), at))
        .collect();
    let owner = |text: &str, middle: Point| {
        let own = owners
            .iter()
            .find(|(id, at)| id == text && cells[*at].at.distance(middle) < 1.0);
        own.map(|each| each.1)
    };
    let boxes: Vec<(Rect, Option<usize>)> = (drawing.nodes.iter().map(|node| (&node.id, node.at)))
        .zip(drawing.labels.iter().filter(|label| label.kind != LabelKind::Signal))
        .map(|((id, at), label)| (label.at.grown(CLEAR + 2.0), owner(id, at)))
        .chain(
            drawing
                .labels
                .iter()
                .filter(|label| label.kind == LabelKind::Signal)
                .map(|label| (label.at.grown(3.0), None)),
        )
        .collect();
    let lines: Vec<(Point, Point)> = (drawing.edges.iter().map(|edge| (edge.path[0], edge.path[1])))
        .chain(drawing.signals.iter().map(|signal| (signal.from, signal.to)))
        .collect();
    let mut router = Router::new([xs, ys], [gaps.xs.clone(), gaps.ys.clone()], &boxes, &lines);
    let mut paths = find_paths(graph, skeleton, cells, &cell_of, &mut router);
    for bond in &skeleton.bonds {
        let info = &graph.bonds[*bond];
        let (Some(a), Some(b)) = (cell_of[info.tail], cell_of[info.head]) else {
            continue;
        };
        let (tail, head) = (&cells[a], &cells[b]);
        let mut path = paths[*bond].take().unwrap_or_else(|| vec![tail.at, head.at]);
        let count = path.len();
        let boxes = [tail, head].map(|cell| Rect::around(cell.at, cell.w, HIGH));
        let (first, last) = (path[0], path[count - 1]);
        path[0] = clip(first, path[1], &boxes[0]);
        path[count - 1] = clip(last, path[count - 2], &boxes[1]);
        drawing.edges.push(edge(graph, *bond, path));
    }
}

/// The lines of bonds between cells: first of those that get the sides that they want, the short ones first; then of the others.
fn find_paths(
    graph: &Graph,
    skeleton: &Skeleton,
    cells: &[Cell],
    cell_of: &[Option<usize>],
    router: &mut Router,
) -> Vec<Option<Vec<Point>>> {
    let mut order = skeleton.bonds.clone();
    order.sort_by_key(|bond| {
        let info = &graph.bonds[*bond];
        let spot = |vertex: usize| skeleton.spots[vertex].unwrap_or_default();
        let (a, b) = (spot(info.tail), spot(info.head));
        ((a.0 - b.0).abs() + (a.1 - b.1).abs(), *bond)
    });
    let all = [Side::Right, Side::Down, Side::Left, Side::Up];
    let mut paths: Vec<Option<Vec<Point>>> = vec![None; graph.bonds.len()];
    // Whether sides are as wanted, whether lines may leave beside the middle, and whether they may share their way.
    let attempts = [
        (true, false, false),
        (false, false, false),
        (false, true, false),
        (false, true, true),
    ];
    for (as_wanted, beside, may_share) in attempts {
        for bond in &order {
            let info = &graph.bonds[*bond];
            let (Some(a), Some(b), None) = (cell_of[info.tail], cell_of[info.head], &paths[*bond]) else {
                continue;
            };
            let wanted = skeleton.sides[*bond].map(|(from, to)| ([from], [to]));
            let (from, to) = match (&wanted, as_wanted) {
                (Some((from, to)), true) => (&from[..], &to[..]),
                (None, true) => continue,
                _ => (&all[..], &all[..]),
            };
            let (from, to) = (ports(&cells[a], a, from, beside), ports(&cells[b], b, to, beside));
            paths[*bond] = router.route(&from, &to, may_share);
        }
    }
    paths
}

/// How far beside the middle of a cell a line may leave it.
fn offset(cell: &Cell) -> f64 {
    (cell.w / 2.0 - 3.0).clamp(6.0, 16.0)
}

/// The ports of a cell at these sides: in the middle, or beside it.
fn ports(cell: &Cell, owner: usize, sides: &[Side], beside: bool) -> Vec<Port> {
    let mut ports = vec![Port {
        owner,
        at: cell.at,
        sides: sides.to_vec(),
        cost: 0,
    }];
    if !beside {
        return ports;
    }
    for sign in [-1.0, 1.0] {
        let mut add = |at: Point, own: [Side; 2], cost: i64| {
            let sides: Vec<Side> = sides.iter().copied().filter(|side| own.contains(side)).collect();
            if !sides.is_empty() {
                ports.push(Port { owner, at, sides, cost });
            }
        };
        add(cell.at.moved(sign * offset(cell), 0.0), [Side::Up, Side::Down], 0);
        add(cell.at.moved(0.0, sign * BESIDE), [Side::Left, Side::Right], CLOSE);
    }
    ports
}
