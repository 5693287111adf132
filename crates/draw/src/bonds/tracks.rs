//! The lines of bonds and signals between positioned vertices.

use super::blocks::Item;
use super::cells::{Cell, Hang};
use super::graph::{Bond, Graph};
use super::laid::{Laid, Note, Placed};
use super::route::{Port, Router, Way};
use super::skeleton::{Side, Skeleton};
use crate::drawing::{Point, Rect};
use crate::marks::marks;
use crate::metrics::LINE;
use rustc_hash::FxHashMap;

/// The distance between a text and the end of its bond.
const CLEAR: f64 = 4.0;

/// The offset from the middle at which a line may leave a side.
const BESIDE: f64 = 10.0;

/// The same offset for a vector bond.
const WIDE_BESIDE: f64 = 12.0;

/// The cost of leaving there, close to another bond.
const CLOSE: i64 = 300;

/// The room for a half arrow or a stroke.
const MARK: f64 = 2.2;

/// The distance between the ends of fanned bonds, with room for strokes, and the last fraction of a bond at which it may begin.
const FANNED: f64 = 19.0;
const LATEST: f64 = 0.45;

/// All sides, in the order in which they are tried.
const ALL: [Side; 4] = [Side::Right, Side::Down, Side::Left, Side::Up];

/// Adds the single-bond elements, and the signals, around a junction.
pub(super) fn hangings(local: &Graph, items: &[Item], global: &[usize], cell: &Cell, laid: &mut Laid) {
    let of = |vertex: usize| match items[vertex] {
        Item::Vertex(vertex) | Item::Block(vertex) => vertex,
    };
    for hang in &cell.hangs {
        let here = Rect::around(cell.at, cell.w, cell.h);
        let at = cell.at.moved(hang.at.x, hang.at.y);
        let there = Rect::around(at, hang.w, hang.h);
        let (mut owner, mut end) = (of(cell.vertex), here);
        if let Some((bond, far)) = hang.bond {
            let start = leaving(cell, hang);
            let begin = begin(cell, hang, start);
            let (near, far_end) = (clip(start, at, &here), clip(at, start, &there));
            let begun = start.towards(at, begin);
            let is_later = start.distance(begun) > start.distance(near);
            let mut path = vec![if is_later { begun } else { near }, far_end];
            if local.bonds[bond].tail == far {
                path.reverse();
            }
            laid.placed.push(Placed {
                vertex: of(far),
                at,
                w: hang.w,
                h: hang.h,
            });
            laid.lines.push((global[bond], path));
            (owner, end) = (of(far), there);
        }
        if let Some((text, place, w)) = &hang.signal {
            let middle = cell.at.moved(place.x, place.y);
            let label = Rect::around(middle, *w, LINE);
            let target = end.middle();
            laid.notes.push(Note {
                vertex: owner,
                text: text.clone(),
                at: label,
                arrow: (clip(middle, target, &label), clip(target, middle, &end)),
            });
        }
    }
}

/// Returns the point at which a bond to an element begins: bonds to elements far to the side begin at the near end of a wide text.
fn leaving(cell: &Cell, hang: &Hang) -> Point {
    match hang.side {
        Side::Up | Side::Down => {
            let room = (cell.w / 2.0 - 8.0).max(0.0);
            cell.at.moved((hang.at.x * 0.35).clamp(-room, room), 0.0)
        }
        Side::Left | Side::Right => cell.at,
    }
}

/// Returns the fraction of its length at which a bond above or below begins. The distance from its neighbours and from a bond in the middle
/// is then sufficient.
fn begin(cell: &Cell, hang: &Hang, start: Point) -> f64 {
    if matches!(hang.side, Side::Left | Side::Right) {
        return 0.0;
    }
    let own = cell
        .hangs
        .iter()
        .filter(|other| other.side == hang.side && other.bond.is_some());
    let lines: Vec<(f64, f64)> = own
        .map(|other| (leaving(cell, other).x, cell.at.x + other.at.x))
        .collect();
    let here = (start.x, cell.at.x + hang.at.x);
    let middle = (cell.at.x, cell.at.x);
    let others = lines.iter().filter(|line| (line.1 - here.1).abs() > 1e-6).copied();
    let corridor = (lines.len() > 1 && lines.iter().all(|line| (line.1 - cell.at.x).abs() > 1e-6)).then_some(middle);
    let part = |other: (f64, f64)| {
        let (first, last) = ((here.0 - other.0).abs(), (here.1 - other.1).abs());
        if first >= FANNED || last <= first {
            0.0
        } else {
            (FANNED - first) / (last - first)
        }
    };
    others.chain(corridor).map(part).fold(0.0, f64::max).min(LATEST)
}

/// Returns the point at which the line from the inside of a box to an outside point leaves it, with a margin.
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

/// Creates a router around all positioned items, for lines between these vertices.
fn router(graph: &Graph, laid: &Laid, ends: &[usize]) -> Router {
    let (mut xs, mut ys) = (Vec::new(), Vec::new());
    for place in ends.iter().map(|at| &laid.placed[*at]) {
        for beside in [BESIDE, WIDE_BESIDE] {
            let away = offset(place, beside);
            xs.extend([place.at.x - away, place.at.x, place.at.x + away]);
            ys.extend([place.at.y - beside, place.at.y, place.at.y + beside]);
        }
    }
    let placed = laid.placed.iter().enumerate();
    let mut boxes: Vec<(Rect, Option<usize>)> = placed
        .map(|(at, place)| (place.rect().grown(CLEAR + 2.0), Some(at)))
        .collect();
    boxes.extend(laid.notes.iter().map(|note| (note.at.grown(3.0), None)));
    boxes.extend(laid.frames.iter().map(|frame| (frame.title.grown(2.0), None)));
    let mut lines: Vec<(Point, Point)> = Vec::new();
    for (bond, path) in &laid.lines {
        lines.extend(path.windows(2).map(|pair| (pair[0], pair[1])));
        boxes.extend(rooms(&graph.bonds[*bond], path).into_iter().map(|room| (room, None)));
    }
    lines.extend(laid.notes.iter().map(|note| note.arrow));
    for at in laid.frames.iter().map(|frame| frame.at) {
        let (left, right, top, bottom) = (at.x, at.x + at.w, at.y, at.y + at.h);
        let corner = Point::new;
        lines.extend([
            (corner(left, top), corner(right, top)),
            (corner(left, bottom), corner(right, bottom)),
            (corner(left, top), corner(left, bottom)),
            (corner(right, top), corner(right, bottom)),
        ]);
    }
    Router::new([xs, ys], [laid.gaps.xs.clone(), laid.gaps.ys.clone()], &boxes, &lines)
}

/// Returns the boxes around the half arrow and the strokes of a bond.
fn rooms(bond: &Bond, path: &[Point]) -> Vec<Rect> {
    let marks = marks(path, Some(bond.stroke), bond.width);
    let lines = marks.barb.into_iter().chain(marks.strokes);
    let around = |(a, b): (Point, Point)| {
        Rect {
            x: a.x.min(b.x),
            y: a.y.min(b.y),
            w: (a.x - b.x).abs(),
            h: (a.y - b.y).abs(),
        }
        .grown(MARK)
    };
    lines.map(around).collect()
}

/// Draws the bonds on the grid.
pub(super) fn between(graph: &Graph, local: &Graph, grid: &Skeleton, global: &[usize], laid: &mut Laid) {
    let place_of: FxHashMap<usize, usize> = (laid.placed.iter().enumerate())
        .map(|(at, place)| (place.vertex, at))
        .collect();
    let ends_of = |bond: usize| {
        let info = &graph.bonds[global[bond]];
        Some([*place_of.get(&info.tail)?, *place_of.get(&info.head)?])
    };
    let bonds: Vec<(usize, [usize; 2])> = (grid.bonds.iter())
        .filter_map(|bond| Some((*bond, ends_of(*bond)?)))
        .collect();
    if bonds.is_empty() {
        return;
    }
    let ends: Vec<usize> = bonds.iter().flat_map(|bond| bond.1).collect();
    let mut router = router(graph, laid, &ends);
    let mut order = bonds.clone();
    let spot = |vertex: usize| grid.spots[vertex].unwrap_or_default();
    order.sort_by_key(|(bond, _)| {
        let info = &local.bonds[*bond];
        let (a, b) = (spot(info.tail), spot(info.head));
        ((a.0 - b.0).abs() + (a.1 - b.1).abs(), *bond)
    });
    let mut paths: FxHashMap<usize, Vec<Point>> = FxHashMap::default();
    // Attempts: preferred sides, lines off the middle, shared lines.
    let attempts = [
        (true, false, false),
        (false, false, false),
        (false, true, false),
        (false, true, true),
    ];
    for (as_wanted, beside, may_share) in attempts {
        for (bond, [tail, head]) in &order {
            if paths.contains_key(bond) {
                continue;
            }
            let wanted = grid.sides[*bond].map(|(from, to)| ([from], [to]));
            let (from, to) = match (&wanted, as_wanted) {
                (Some((from, to)), true) => (&from[..], &to[..]),
                (None, true) => continue,
                _ => (&ALL[..], &ALL[..]),
            };
            let drawn = Drawn {
                laid,
                paths: &paths,
                bond: &graph.bonds[global[*bond]],
                ends: [*tail, *head],
            };
            let Some((way, path)) = drawn.best(&router, from, to, beside, may_share) else {
                continue;
            };
            router.take(&way);
            for room in rooms(drawn.bond, &path) {
                router.keep_free(&room);
            }
            paths.insert(*bond, path);
        }
    }
    for (bond, [tail, head]) in bonds {
        let (tail, head) = (&laid.placed[tail], &laid.placed[head]);
        let path = paths
            .remove(&bond)
            .unwrap_or_else(|| clipped(vec![tail.at, head.at], tail, head));
        laid.lines.push((global[bond], path));
    }
}

/// The bond being drawn, and the drawing so far.
struct Drawn<'a> {
    laid: &'a Laid,
    paths: &'a FxHashMap<usize, Vec<Point>>,
    bond: &'a Bond,
    ends: [usize; 2],
}

impl Drawn<'_> {
    /// Returns the path whose half arrow and strokes touch the fewest lines; ties go to the cheapest.
    fn best(
        &self,
        router: &Router,
        from: &[Side],
        to: &[Side],
        beside: bool,
        may_share: bool,
    ) -> Option<(Way, Vec<Point>)> {
        let (tail, head) = (&self.laid.placed[self.ends[0]], &self.laid.placed[self.ends[1]]);
        let away = if self.bond.width > 1 { WIDE_BESIDE } else { BESIDE };
        let tried = |from: &[Side], to: &[Side], beside: bool| {
            let beside = beside.then_some(away);
            let from = ports(tail, self.ends[0], from, beside);
            let to = ports(head, self.ends[1], to, beside);
            let way = router.find(&from, &to, may_share)?;
            let path = clipped(way.corners.clone(), tail, head);
            Some((self.touched(&path), way.cost, way, path))
        };
        let mut best = tried(from, to, beside)?;
        if best.0 > 0 {
            for (a, b) in ALL.iter().flat_map(|a| ALL.iter().map(move |b| ([*a], [*b]))) {
                for beside in [false, true] {
                    if let Some(other) = tried(&a, &b, beside)
                        && (other.0, other.1) < (best.0, best.1)
                    {
                        best = other;
                    }
                }
            }
        }
        Some((best.2, best.3))
    }

    /// Returns the number of line segments in the space for the marks.
    fn touched(&self, path: &[Point]) -> usize {
        let own = rooms(self.bond, path);
        let lines = self.laid.lines.iter().map(|line| &line.1).chain(self.paths.values());
        let pieces = lines.flat_map(|path| path.windows(2));
        let touched = |pair: &[Point]| own.iter().filter(|room| room.is_crossed(pair[0], pair[1])).count();
        pieces.map(touched).sum()
    }
}

/// Clips a line at the edges of its two boxes.
fn clipped(mut path: Vec<Point>, from: &Placed, to: &Placed) -> Vec<Point> {
    let count = path.len();
    let (first, last) = (path[0], path[count - 1]);
    path[0] = clip(first, path[1], &from.rect());
    path[count - 1] = clip(last, path[count - 2], &to.rect());
    path
}

/// Returns the lines of signals from the measured element to the modulated one.
pub(super) fn signals(graph: &Graph, laid: &Laid) -> Vec<(usize, usize, Vec<Point>)> {
    let place_of: FxHashMap<usize, usize> = (laid.placed.iter().enumerate())
        .map(|(at, place)| (place.vertex, at))
        .collect();
    let mut links: Vec<[usize; 2]> = Vec::new();
    for (vertex, info) in graph.vertices.iter().enumerate() {
        for from in &info.modulated_by {
            if let (Some(from), Some(to)) = (place_of.get(from), place_of.get(&vertex)) {
                links.push([*from, *to]);
            }
        }
    }
    if links.is_empty() {
        return Vec::new();
    }
    let ends: Vec<usize> = links.iter().flatten().copied().collect();
    let mut router = router(graph, laid, &ends);
    let mut found = Vec::new();
    for [a, b] in links {
        let (from, to) = (&laid.placed[a], &laid.placed[b]);
        let attempt = |beside: bool, may_share: bool| {
            let beside = beside.then_some(BESIDE);
            let (starts, ends) = (ports(from, a, &ALL, beside), ports(to, b, &ALL, beside));
            router.find(&starts, &ends, may_share)
        };
        let way = attempt(false, false)
            .or_else(|| attempt(true, false))
            .or_else(|| attempt(true, true));
        let path = match way {
            Some(way) => {
                router.take(&way);
                way.corners
            }
            None => vec![from.at, to.at],
        };
        found.push((from.vertex, to.vertex, clipped(path, from, to)));
    }
    found
}

/// Returns the offset from the middle of a cell at which a line may leave it.
fn offset(place: &Placed, beside: f64) -> f64 {
    (place.w / 2.0 - 3.0).clamp(beside, 16.0)
}

/// Returns the ports of a cell at these sides: in the middle, or next to it.
fn ports(place: &Placed, owner: usize, sides: &[Side], beside: Option<f64>) -> Vec<Port> {
    let mut ports = vec![Port {
        owner,
        at: place.at,
        sides: sides.to_vec(),
        cost: 0,
    }];
    let Some(beside) = beside else {
        return ports;
    };
    for sign in [-1.0, 1.0] {
        let mut add = |at: Point, own: [Side; 2], cost: i64| {
            let sides: Vec<Side> = sides.iter().copied().filter(|side| own.contains(side)).collect();
            if !sides.is_empty() {
                ports.push(Port { owner, at, sides, cost });
            }
        };
        add(
            place.at.moved(sign * offset(place, beside), 0.0),
            [Side::Up, Side::Down],
            0,
        );
        add(place.at.moved(0.0, sign * beside), [Side::Left, Side::Right], CLOSE);
    }
    ports
}
