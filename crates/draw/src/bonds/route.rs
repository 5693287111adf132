//! Right-angled lines between junctions: the shortest path around all obstacles with few bends and crossings.

use super::skeleton::Side;
use crate::drawing::{Point, Rect};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The cost of a corner and of a crossing, in pixels of length.
const BEND: i64 = 40;
const CROSSING: i64 = 150;

/// The cost of a step along another bond if no other path exists.
const SHARED: i64 = 2000;

/// The minimum distance between lines.
const NARROW: f64 = 8.0;

/// The straight length at the ends of a bond, for the half arrow and the stroke.
const STRAIGHT: f64 = 14.0;

/// The maximum number of grid points that a search examines.
const LOOKS: usize = 400_000;

/// Grid lines along which bonds may run, and their obstacles.
#[derive(Debug)]
pub(super) struct Router {
    xs: Vec<f64>,
    ys: Vec<f64>,
    /// For the step to the right, or down, from each crossing of grid lines: whether it is blocked, and by whose box.
    blocked: [Vec<Obstacle>; 2],
    /// The number of lines that cross each step.
    crossed: [Vec<u8>; 2],
    /// Boxes that belong to an owner.
    owned: FxHashMap<usize, Rect>,
    /// The corners and crossings of other bonds.
    visited: Vec<bool>,
}

/// The obstacles of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Obstacle {
    Free,
    /// Only the box of this owner.
    Of(usize),
    /// Another bond runs along it.
    Taken,
    Closed,
}

/// A possible path of a line.
#[derive(Clone, Debug)]
pub(super) struct Way {
    /// The steps, as positions with directions.
    keys: Vec<usize>,
    pub(super) cost: i64,
    pub(super) corners: Vec<Point>,
}

/// The possible ends of a bond.
#[derive(Clone, Debug)]
pub(super) struct Port {
    pub(super) owner: usize,
    pub(super) at: Point,
    pub(super) sides: Vec<Side>,
    /// The cost of using this end.
    pub(super) cost: i64,
}

/// Returns the lines through ports, and the other lines that keep their distance from these.
fn sorted(mut ports: Vec<f64>, mut others: Vec<f64>) -> Vec<f64> {
    ports.sort_by(f64::total_cmp);
    ports.dedup_by(|a, b| (*a - *b).abs() < 1.0);
    others.sort_by(f64::total_cmp);
    let mut all = ports.clone();
    let mut last = f64::NEG_INFINITY;
    for value in others {
        let at = ports.partition_point(|port| *port < value);
        let near = [at.checked_sub(1).and_then(|at| ports.get(at)), ports.get(at)];
        let is_near = near.into_iter().flatten().any(|port| (port - value).abs() < NARROW);
        if !is_near && value - last >= NARROW {
            all.push(value);
            last = value;
        }
    }
    all.sort_by(f64::total_cmp);
    all
}

impl Router {
    /// Creates a router over lines through ports and other lines. Bonds may enter only the boxes of their own ends.
    pub(super) fn new(
        [port_xs, port_ys]: [Vec<f64>; 2],
        [xs, ys]: [Vec<f64>; 2],
        boxes: &[(Rect, Option<usize>)],
        lines: &[(Point, Point)],
    ) -> Router {
        let (xs, ys) = (sorted(port_xs, xs), sorted(port_ys, ys));
        let count = xs.len() * ys.len();
        let mut router = Router {
            blocked: [vec![Obstacle::Free; count], vec![Obstacle::Free; count]],
            crossed: [vec![0; count], vec![0; count]],
            owned: boxes
                .iter()
                .filter_map(|(rect, owner)| Some(((*owner)?, *rect)))
                .collect(),
            visited: vec![false; count],
            xs,
            ys,
        };
        for (rect, owner) in boxes {
            router.block(rect, *owner);
        }
        for (a, b) in lines {
            router.cross(*a, *b);
        }
        router
    }

    fn place(&self, column: usize, row: usize) -> usize {
        row * self.xs.len() + column
    }

    fn point(&self, place: usize) -> Point {
        let columns = self.xs.len();
        Point::new(self.xs[place % columns], self.ys[place / columns])
    }

    /// Returns the columns and rows whose steps may touch a rectangle.
    fn around(&self, rect: &Rect) -> (std::ops::Range<usize>, std::ops::Range<usize>) {
        let range = |values: &[f64], low: f64, high: f64| {
            let first = values.partition_point(|value| *value < low).saturating_sub(1);
            first..values.partition_point(|value| *value <= high).min(values.len())
        };
        (
            range(&self.xs, rect.x, rect.x + rect.w),
            range(&self.ys, rect.y, rect.y + rect.h),
        )
    }

    fn steps(&self, column: usize, row: usize) -> [Option<(Point, Point)>; 2] {
        let at = Point::new(self.xs[column], self.ys[row]);
        let right = self.xs.get(column + 1).map(|x| (at, Point::new(*x, at.y)));
        let down = self.ys.get(row + 1).map(|y| (at, Point::new(at.x, *y)));
        [right, down]
    }

    fn block(&mut self, rect: &Rect, owner: Option<usize>) {
        let (columns, rows) = self.around(rect);
        for row in rows {
            for column in columns.clone() {
                let place = self.place(column, row);
                for (way, step) in self.steps(column, row).into_iter().enumerate() {
                    if let Some((a, b)) = step
                        && rect.is_crossed(a, b)
                    {
                        let known = &mut self.blocked[way][place];
                        *known = match (*known, owner) {
                            (Obstacle::Free, Some(owner)) => Obstacle::Of(owner),
                            (Obstacle::Of(before), Some(owner)) if before == owner => Obstacle::Of(owner),
                            _ => Obstacle::Closed,
                        };
                    }
                }
            }
        }
    }

    /// Blocks a rectangle for further lines.
    pub(super) fn keep_free(&mut self, rect: &Rect) {
        self.block(rect, None);
    }

    /// Counts a line at the steps that it crosses.
    fn cross(&mut self, a: Point, b: Point) {
        let rect = Rect {
            x: a.x.min(b.x),
            y: a.y.min(b.y),
            w: (a.x - b.x).abs(),
            h: (a.y - b.y).abs(),
        };
        let (columns, rows) = self.around(&rect.grown(3.0));
        for row in rows {
            for column in columns.clone() {
                let place = self.place(column, row);
                for (way, step) in self.steps(column, row).into_iter().enumerate() {
                    let Some((from, to)) = step else {
                        continue;
                    };
                    if meet(a, b, from, to) {
                        let known = &mut self.crossed[way][place];
                        *known = known.saturating_add(1);
                    }
                    let is_along = match way {
                        0 => (a.y - b.y).abs() < 1.0 && (a.y - from.y).abs() < 3.0,
                        _ => (a.x - b.x).abs() < 1.0 && (a.x - from.x).abs() < 3.0,
                    };
                    // No line runs along the bond of an element.
                    if is_along && rect.grown(1.0).is_crossed(from, to) {
                        self.blocked[way][place] = Obstacle::Taken;
                    }
                }
            }
        }
    }

    /// Returns the cheapest path between two ports; `None` if there is none. The path runs along other bonds only if `may_share` is set.
    pub(super) fn find(&self, from: &[Port], to: &[Port], may_share: bool) -> Option<Way> {
        let owners = [from.first()?.owner, to.first()?.owner];
        // For each position with a direction (right, down, left, up): its lowest cost, and its predecessor.
        let mut known: FxHashMap<usize, (i64, Option<usize>)> = FxHashMap::default();
        let mut goals: Vec<(usize, usize)> = Vec::new();
        for port in to {
            let place = self.at(port.at)?;
            goals.extend(port.sides.iter().map(|side| (place, (direction(*side) + 2) % 4)));
        }
        let ends: Vec<Point> = to.iter().map(|port| port.at).collect();
        // A lower bound of the remaining length, which directs the search.
        let rest = |place: usize| {
            let at = self.point(place);
            let far = |end: &Point| (end.x - at.x).abs() + (end.y - at.y).abs();
            ends.iter().map(far).fold(f64::INFINITY, f64::min).floor() as i64
        };
        let mut queue = BinaryHeap::new();
        for port in from {
            let place = self.at(port.at)?;
            for side in &port.sides {
                let key = place * 4 + direction(*side);
                known.insert(key, (port.cost, None));
                queue.push(Reverse((port.cost + rest(place), port.cost, key)));
            }
        }
        // If space is tight, corners may be close to the ends.
        let straight = if may_share { 0.0 } else { STRAIGHT };
        let mut looks = 0;
        while let Some(Reverse((_, cost, key))) = queue.pop() {
            let (least, before) = known[&key];
            if cost > least {
                continue;
            }
            looks += 1;
            if looks > LOOKS {
                return None;
            }
            let (place, heading) = (key / 4, key % 4);
            if before.is_some() && goals.contains(&(place, heading)) {
                return Some(self.way(key, cost, &known));
            }
            // A bond leaves its ends straight.
            let is_start = before.is_none() || self.is_inside(place, owners, straight);
            for turn in if is_start { 0..1 } else { 0..4 } {
                let next_heading = (heading + turn) % 4;
                if turn == 2 {
                    continue;
                }
                let Some((next, mut step_cost)) = self.step(place, next_heading, [from, to], may_share) else {
                    continue;
                };
                // No line crosses a half arrow or a stroke.
                let is_crossing = step_cost >= CROSSING && (is_start || self.is_inside(next, owners, straight));
                step_cost += if is_crossing { CROSSING * 10 } else { 0 };
                let bend = if turn == 0 { 0 } else { BEND };
                let corner = i64::from(turn != 0 && self.visited[place]) * CROSSING * 4;
                let next_key = next * 4 + next_heading;
                let all = cost + step_cost + bend + corner;
                if known.get(&next_key).is_none_or(|known| all < known.0) {
                    known.insert(next_key, (all, Some(key)));
                    queue.push(Reverse((all + rest(next), all, next_key)));
                }
            }
        }
        None
    }

    /// Returns the position of a point on the grid lines.
    fn at(&self, at: Point) -> Option<usize> {
        let nearest = |values: &[f64], value: f64| {
            let at = values.partition_point(|each| *each < value - 1.5);
            let apart = |place: &usize| (values[*place] - value).abs();
            let near = (at..values.len().min(at + 3)).min_by(|a, b| apart(a).total_cmp(&apart(b)));
            near.filter(|place| apart(place) < 1.5)
        };
        Some(self.place(nearest(&self.xs, at.x)?, nearest(&self.ys, at.y)?))
    }

    /// Returns true if a position is in the box of one of the owners, or near it.
    fn is_inside(&self, place: usize, owners: [usize; 2], around: f64) -> bool {
        let at = self.point(place);
        let holds = |rect: Rect| at.x > rect.x && at.x < rect.x + rect.w && at.y > rect.y && at.y < rect.y + rect.h;
        let own = owners.iter().filter_map(|owner| self.owned.get(owner));
        own.map(|rect| rect.grown(around)).any(holds)
    }

    /// Returns the target and the cost of a step; `None` if it is blocked.
    fn step(&self, place: usize, heading: usize, ports: [&[Port]; 2], may_share: bool) -> Option<(usize, i64)> {
        let columns = self.xs.len();
        let (column, row) = (place % columns, place / columns);
        let (next, way, key) = match heading {
            0 if column + 1 < columns => (place + 1, 0, place),
            1 if row + 1 < self.ys.len() => (place + columns, 1, place),
            2 if column > 0 => (place - 1, 0, place - 1),
            3 if row > 0 => (place - columns, 1, place - columns),
            _ => return None,
        };
        let mut cost = 0;
        match self.blocked[way][key] {
            Obstacle::Free => {}
            Obstacle::Of(owner) if enters(self.point(place), self.point(next), owner, ports) => {}
            Obstacle::Taken if may_share => cost = SHARED,
            Obstacle::Of(_) | Obstacle::Taken | Obstacle::Closed => return None,
        }
        let length = self.point(place).distance(self.point(next)).round() as i64;
        Some((next, cost + length + CROSSING * i64::from(self.crossed[way][key])))
    }

    /// Reconstructs a path from its last step.
    fn way(&self, last: usize, cost: i64, known: &FxHashMap<usize, (i64, Option<usize>)>) -> Way {
        let mut keys = vec![last];
        let mut at = last;
        while let Some(before) = known.get(&at).and_then(|each| each.1) {
            keys.push(before);
            at = before;
        }
        keys.reverse();
        let mut corners: Vec<Point> = Vec::new();
        for at in keys.iter().map(|key| self.point(key / 4)) {
            if let [.., a, b] = corners[..]
                && ((a.x - b.x).abs() < 0.5 && (b.x - at.x).abs() < 0.5
                    || (a.y - b.y).abs() < 0.5 && (b.y - at.y).abs() < 0.5)
            {
                corners.pop();
            }
            corners.push(at);
        }
        Way { keys, cost, corners }
    }

    /// Marks the steps of a path as taken.
    pub(super) fn take(&mut self, way: &Way) {
        let columns = self.xs.len();
        for pair in way.keys.windows(2) {
            let (a, b) = (pair[0] / 4, pair[1] / 4);
            let (low, direction) = (a.min(b), usize::from(a.abs_diff(b) >= columns));
            // No other line runs along a taken step, and crossing it has a cost.
            self.blocked[direction][low] = Obstacle::Taken;
            self.visited[a] = true;
            self.visited[b] = true;
        }
        let places: Vec<Point> = way.keys.iter().map(|key| self.point(key / 4)).collect();
        // Not at the ends, which no line crosses.
        for three in places.windows(3) {
            let is_across = |a: Point, b: Point| (a.y - b.y).abs() < 0.5;
            self.mark_crossed(three[1], is_across(three[0], three[1]));
            self.mark_crossed(three[1], is_across(three[1], three[2]));
        }
    }

    /// Increases the cost of steps across a taken one.
    fn mark_crossed(&mut self, at: Point, is_across: bool) {
        let Some(place) = self.at(at) else {
            return;
        };
        let columns = self.xs.len();
        let (column, row) = (place % columns, place / columns);
        let (way, second) = match is_across {
            true => (1, (row > 0).then(|| place.saturating_sub(columns))),
            false => (0, (column > 0).then(|| place.saturating_sub(1))),
        };
        for each in [Some(place), second].into_iter().flatten() {
            let known = &mut self.crossed[way][each];
            *known = (*known).max(1);
        }
    }
}

/// Returns true if a step is between a port of this owner and the side of the port.
fn enters(a: Point, b: Point, owner: usize, ports: [&[Port]; 2]) -> bool {
    let fits = |port: &Port, side: &Side| {
        let (x, y) = (port.at.x, port.at.y);
        let along = |first: f64, second: f64, line: f64| (first - line).abs() < 1.5 && (second - line).abs() < 1.5;
        match side {
            Side::Left => along(a.y, b.y, y) && a.x.max(b.x) < x + 1.5,
            Side::Right => along(a.y, b.y, y) && a.x.min(b.x) > x - 1.5,
            Side::Up => along(a.x, b.x, x) && a.y.max(b.y) < y + 1.5,
            Side::Down => along(a.x, b.x, x) && a.y.min(b.y) > y - 1.5,
        }
    };
    let own = ports.into_iter().flatten().filter(|port| port.owner == owner);
    own.into_iter()
        .any(|port| port.sides.iter().any(|side| fits(port, side)))
}

fn direction(side: Side) -> usize {
    match side {
        Side::Right => 0,
        Side::Down => 1,
        Side::Left => 2,
        Side::Up => 3,
    }
}

/// Returns true if two line segments have a point in common.
fn meet(a: Point, b: Point, c: Point, d: Point) -> bool {
    let turn = |p: Point, q: Point, r: Point| (q.x - p.x) * (r.y - p.y) - (q.y - p.y) * (r.x - p.x);
    let (one, two) = (turn(a, b, c), turn(a, b, d));
    let (three, four) = (turn(c, d, a), turn(c, d, b));
    one * two <= 0.0 && three * four <= 0.0 && !(one == 0.0 && two == 0.0)
}
