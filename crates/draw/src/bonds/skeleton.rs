//! A grid of junctions and couplers: the longest chain in a row, branches and parallel paths in rows above and below.

use super::graph::Graph;
use crate::drawing::Shape;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// The maximum size of a part in which the shortest chain is selected; in larger parts, chains are in declaration order.
const LOOKED: usize = 300;

/// A side of a junction or an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Side {
    Left,
    Right,
    Up,
    Down,
}

/// A position on the grid: column and row.
pub(super) type Spot = (i32, i32);

/// Junctions and elements on the grid, and the single-bond elements next to them.
#[derive(Debug)]
pub(super) struct Skeleton {
    /// The position of each vertex; none for a vertex attached to another one.
    pub(super) spots: Vec<Option<Spot>>,
    /// For each vertex of the grid, the bonds of the elements attached to it.
    pub(super) hanging: Vec<Vec<usize>>,
    /// For bonds of the grid, the sides at which they leave and arrive, tail first.
    pub(super) sides: Vec<Option<(Side, Side)>>,
    /// Bonds of the grid.
    pub(super) bonds: Vec<usize>,
}

/// A grid under construction.
struct Placing<'g> {
    graph: &'g Graph,
    leaving: &'g [usize],
    /// For each vertex, its neighbours on the grid, with bonds.
    near: Vec<Vec<(usize, usize)>>,
    spots: Vec<Option<Spot>>,
    sides: Vec<Option<(Side, Side)>>,
    /// The vertices of the connected part being placed.
    part: Vec<usize>,
}

/// Places a graph on a grid. For each vertex, `leaving` is the number of bonds that lead out of the graph.
pub(super) fn skeleton(graph: &Graph, leaving: &[usize]) -> Skeleton {
    let count = graph.vertices.len();
    let mut degree = leaving.to_vec();
    for bond in &graph.bonds {
        degree[bond.tail] += 1;
        degree[bond.head] += 1;
    }
    let is_end = |vertex: usize| {
        let info = &graph.vertices[vertex];
        degree[vertex] == 1 && leaving[vertex] == 0 && info.size.is_none() && matches!(info.shape, Shape::Element(_))
    };
    let mut hanging: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut near: Vec<Vec<(usize, usize)>> = vec![Vec::new(); count];
    let mut hangs = vec![false; count];
    let mut bonds = Vec::new();
    for (at, bond) in graph.bonds.iter().enumerate() {
        let (tail, head) = (bond.tail, bond.head);
        // Elements cannot be attached to the frame of a component: the bond leads to its contents.
        let is_framed = [tail, head].into_iter().any(|end| graph.vertices[end].size.is_some());
        if is_framed {
            near[tail].push((head, at));
            near[head].push((tail, at));
            bonds.push(at);
        } else if is_end(head) {
            hanging[tail].push(at);
            hangs[head] = true;
        } else if is_end(tail) {
            hanging[head].push(at);
            hangs[tail] = true;
        } else {
            near[tail].push((head, at));
            near[head].push((tail, at));
            bonds.push(at);
        }
    }
    let mut placing = Placing {
        graph,
        leaving,
        near,
        spots: vec![None; count],
        sides: vec![None; graph.bonds.len()],
        part: Vec::new(),
    };
    let mut right = 0;
    // A vertex without neighbours in its component has a bond to the outside, and is placed last.
    let is_alone =
        |vertex: &usize| leaving[*vertex] > 0 && placing.near[*vertex].is_empty() && hanging[*vertex].is_empty();
    let (last, mut order): (Vec<usize>, Vec<usize>) = (0..count).partition(is_alone);
    order.extend(last);
    for vertex in order {
        if hangs[vertex] || placing.spots[vertex].is_some() {
            continue;
        }
        placing.part = placing.walk(vertex, &|_| true).into_iter().map(|step| step.0).collect();
        placing.part.sort_unstable();
        placing.place_part(&hanging);
        let columns = placing.part.iter().filter_map(|vertex| placing.spots[*vertex]);
        let first = columns.clone().map(|spot| spot.0).min().unwrap_or(0);
        let last = columns.map(|spot| spot.0).max().unwrap_or(0);
        for vertex in std::mem::take(&mut placing.part) {
            if let Some(spot) = &mut placing.spots[vertex] {
                spot.0 += right - first;
            }
        }
        right += last - first + 1;
    }
    Skeleton {
        spots: placing.spots,
        hanging,
        sides: placing.sides,
        bonds,
    }
}

impl Placing<'_> {
    /// Returns vertices in the order of a walk from one vertex, each with its predecessor.
    fn walk(&self, from: usize, may: &dyn Fn(usize) -> bool) -> Vec<(usize, usize)> {
        let mut seen = vec![false; self.near.len()];
        let mut queue = VecDeque::from([(from, from)]);
        let mut met = Vec::new();
        seen[from] = true;
        while let Some((vertex, before)) = queue.pop_front() {
            met.push((vertex, before));
            for (next, _) in &self.near[vertex] {
                if !seen[*next] && may(*next) {
                    seen[*next] = true;
                    queue.push_back((*next, vertex));
                }
            }
        }
        met
    }

    /// Returns the path from the start of a walk to a visited vertex.
    fn way(met: &[(usize, usize)], to: usize) -> Vec<usize> {
        let before: FxHashMap<usize, usize> = met.iter().copied().collect();
        let mut way = vec![to];
        let mut at = to;
        while let Some(next) = before.get(&at).copied().filter(|next| *next != at) {
            way.push(next);
            at = next;
        }
        way.reverse();
        way
    }

    fn place_part(&mut self, hanging: &[Vec<usize>]) {
        // Power enters on the left, from the first declared source.
        let source = |vertex: &usize| {
            let own = hanging[*vertex].iter();
            let far = own.map(|bond| self.graph.bonds[*bond].other(*vertex));
            let own = self.graph.vertices[*vertex].is_source().then_some(*vertex);
            far.filter(|far| self.graph.vertices[*far].is_source()).chain(own).min()
        };
        let with_source = self.part.iter().filter_map(|vertex| Some((source(vertex)?, *vertex)));
        // Power enters a component from outside.
        let leads_out = self.part.iter().find(|vertex| self.leaving[**vertex] > 0).copied();
        let first = with_source.min().map(|each| each.1);
        let first = leads_out.or(first).or(self.part.first().copied());
        let Some(first) = first else {
            return;
        };
        let met = self.walk(first, &|_| true);
        let far = met.last().map_or(first, |step| step.0);
        let back = self.walk(far, &|_| true);
        let other = back.last().map_or(first, |step| step.0);
        let (length, longest) = (Placing::way(&met, far).len(), Placing::way(&back, other));
        let mut spine = match longest.len() > length + 1 {
            true => longest,
            false => Placing::way(&met, far),
        };
        // The end nearer to the source is on the left.
        let steps = |to: usize| Placing::way(&met, to).len();
        if let (Some(left), Some(right)) = (spine.first(), spine.last())
            && steps(*left) > steps(*right)
        {
            spine.reverse();
        }
        for (at, vertex) in spine.iter().enumerate() {
            self.spots[*vertex] = Some((at as i32, 0));
        }
        for pair in spine.windows(2) {
            self.set_sides(pair[0], pair[1], Side::Right, Side::Left);
        }
        while let Some(ear) = self.next_ear() {
            self.place_ear(&ear);
        }
    }

    /// Sets the sides of the first bond between two vertices.
    fn set_sides(&mut self, a: usize, b: usize, at_a: Side, at_b: Side) {
        let own = self.near[a].iter().filter(|(next, _)| *next == b);
        let free = own.map(|(_, bond)| *bond).find(|bond| self.sides[*bond].is_none());
        if let Some(bond) = free {
            let is_forward = self.graph.bonds[bond].tail == a;
            self.sides[bond] = Some(if is_forward { (at_a, at_b) } else { (at_b, at_a) });
        }
    }

    /// Returns the shortest chain of unplaced vertices that leads away from a placed vertex and, if possible, to another one.
    fn next_ear(&self) -> Option<Ear> {
        let is_open = |vertex: usize| self.spots[vertex].is_none();
        let begins = |vertex: &&usize| {
            is_open(**vertex) && self.near[**vertex].iter().any(|(next, _)| self.spots[*next].is_some())
        };
        let begins = self.part.iter().filter(begins);
        let looked = if self.part.len() > LOOKED { 1 } else { LOOKED };
        let ears = begins.take(looked).filter_map(|first| self.ear(*first));
        ears.min_by_key(|ear| ear.chain.len())
    }

    /// Returns the chain that starts with a vertex next to a placed one.
    fn ear(&self, first: usize) -> Option<Ear> {
        let is_open = |vertex: usize| self.spots[vertex].is_none();
        let met = self.walk(first, &is_open);
        let placed = |vertex: usize| {
            let own = self.near[vertex].iter().filter(|(next, _)| self.spots[*next].is_some());
            own.map(|(next, _)| *next)
        };
        let from = placed(first).min_by_key(|vertex| self.spots[*vertex])?;
        let ends = met.iter().flat_map(|(vertex, _)| {
            let others = placed(*vertex).filter(|end| *end != from);
            others.map(|end| (*vertex, end))
        });
        // To the nearest end; a chain without an end is as long as possible.
        let (last, to) = match ends.clone().next() {
            Some((vertex, end)) => (vertex, Some(end)),
            None => (met.last()?.0, None),
        };
        let chain = Placing::way(&met, last);
        Some(Ear { from, chain, to })
    }

    fn at(&self, spot: Spot) -> Option<usize> {
        self.part
            .iter()
            .copied()
            .find(|vertex| self.spots[*vertex] == Some(spot))
    }

    fn place_ear(&mut self, ear: &Ear) {
        let mut ear = ear.clone();
        let column = |placing: &Placing<'_>, vertex: usize| placing.spots[vertex].unwrap_or_default();
        if let Some(to) = ear.to
            && column(self, to).0 < column(self, ear.from).0
        {
            ear.chain.reverse();
            (ear.from, ear.to) = (to, Some(ear.from));
        }
        let count = ear.chain.len() as i32;
        let (left, row) = column(self, ear.from);
        let start = match ear.to.map(|to| column(self, to)) {
            None => left,
            Some((right, other)) => {
                let between = right - left + 1;
                if count > between || (right == left && other != row) {
                    let missing = (count - between).max(1);
                    self.insert_columns(left + 1, missing);
                }
                let right = ear.to.map_or(right, |to| column(self, to).0);
                let between = right - left + 1;
                match between - count {
                    0 | 1 => left,
                    room => left + room / 2,
                }
            }
        };
        let (start, row, is_turned) = self.best_row(&ear, start, count, row);
        if is_turned {
            ear.chain.reverse();
        }
        for (at, vertex) in ear.chain.iter().enumerate() {
            self.spots[*vertex] = Some((start + at as i32, row));
        }
        for pair in ear.chain.windows(2) {
            self.set_sides(pair[0], pair[1], Side::Right, Side::Left);
        }
        let (first, last) = (ear.chain.first(), ear.chain.last());
        match (is_turned, first, last) {
            (false, Some(first), _) => self.join(ear.from, *first, Side::Left),
            (true, _, Some(last)) => self.join(ear.from, *last, Side::Right),
            _ => {}
        }
        if let (Some(last), Some(to)) = (last, ear.to) {
            self.join(to, *last, Side::Right);
        }
    }

    /// Sets the sides of the bond between a placed vertex and the end of a chain in another row.
    fn join(&mut self, placed: usize, end: usize, outer: Side) {
        let (Some(a), Some(b)) = (self.spots[placed], self.spots[end]) else {
            return;
        };
        let (away, back) = if b.1 > a.1 {
            (Side::Down, Side::Up)
        } else {
            (Side::Up, Side::Down)
        };
        if a.1 == b.1 {
            let (own, other) = if b.0 > a.0 {
                (Side::Right, Side::Left)
            } else {
                (Side::Left, Side::Right)
            };
            self.set_sides(placed, end, own, other);
        } else if a.0 == b.0 {
            self.set_sides(placed, end, away, back);
        } else {
            self.set_sides(placed, end, away, outer);
        }
    }

    fn insert_columns(&mut self, from: i32, count: i32) {
        for vertex in &self.part {
            if let Some(spot) = &mut self.spots[*vertex]
                && spot.0 >= from
            {
                spot.0 += count;
            }
        }
    }

    /// Returns the nearest row with room for a chain, the column in which it begins, and whether it runs to the left.
    fn best_row(&self, ear: &Ear, start: i32, count: i32, row: i32) -> (i32, i32, bool) {
        let rows = self
            .part
            .iter()
            .filter_map(|vertex| self.spots[*vertex])
            .map(|spot| spot.1);
        let (low, high) = (rows.clone().min().unwrap_or(0) - 1, rows.max().unwrap_or(0) + 1);
        let ends = [Some(ear.from), ear.to].into_iter().flatten();
        let ends: Vec<Spot> = ends.filter_map(|end| self.spots[end]).collect();
        let mut best: Option<(i32, i32, i32, bool)> = None;
        for tried in low..=high {
            for (begin, is_turned) in begins(ear, start, count) {
                let mut columns = begin..begin + count;
                if ends.iter().any(|end| end.1 == tried) || columns.any(|column| self.at((column, tried)).is_some()) {
                    continue;
                }
                let mut cost = (tried - row).abs() * 4 + i32::from(tried < row) + 2 * i32::from(is_turned);
                // The path to the row: straight up or down, then along the row.
                let near = if is_turned { begin + count - 1 } else { begin };
                cost += 5 * (near - start).abs() * i32::from(ear.to.is_none());
                for end in &ends {
                    let corner = (end.0, tried);
                    let is_in_way = near != end.0 && ear.to.is_none() && self.at(corner).is_some();
                    cost += (tried - end.1).abs() * 2 + 12 * i32::from(is_in_way);
                    let between = (end.1.min(tried) + 1)..end.1.max(tried);
                    cost += 12 * between.filter(|each| self.at((end.0, *each)).is_some()).count() as i32;
                    cost += 6 * self.uses(*end, tried > end.1);
                }
                if best.is_none_or(|known| cost < known.0) {
                    best = Some((cost, begin, tried, is_turned));
                }
            }
        }
        best.map_or((start, high, false), |(_, begin, row, is_turned)| {
            (begin, row, is_turned)
        })
    }

    /// Returns the number of bonds that leave a position upwards or downwards.
    fn uses(&self, spot: Spot, down: bool) -> i32 {
        let Some(vertex) = self.at(spot) else {
            return 0;
        };
        let wanted = if down { Side::Down } else { Side::Up };
        let own = self.near[vertex].iter().filter(|(_, bond)| {
            let is_tail = self.graph.bonds[*bond].tail == vertex;
            self.sides[*bond].is_some_and(|(tail, head)| if is_tail { tail == wanted } else { head == wanted })
        });
        own.count() as i32
    }
}

/// A chain from a placed vertex, optionally to another one.
#[derive(Clone, Debug)]
struct Ear {
    from: usize,
    chain: Vec<usize>,
    to: Option<usize>,
}

/// Returns the possible starting columns of a chain, and whether it runs to the left from there, which is allowed for a dead end.
fn begins(ear: &Ear, start: i32, count: i32) -> Vec<(i32, bool)> {
    match ear.to {
        Some(_) => vec![(start, false)],
        None => vec![
            (start, false),
            (start - count + 1, true),
            (start + 1, false),
            (start - count, true),
        ],
    }
}
