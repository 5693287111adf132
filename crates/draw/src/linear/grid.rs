//! Detects graphs whose nodes form a grid, possibly with chains that lead out of it, and finds the position of each node.

use super::graph::Graph;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The column and the row of each node.
pub(super) type Spots = Vec<(i64, i64)>;

/// The minimum numbers of rows and columns of a grid, and of both together.
const LEAST: usize = 2;
const TOGETHER: usize = 5;

/// Finds the grid that the nodes of a graph form; `None` if they form another shape, or if couplers join branches.
pub(super) fn find(graph: &Graph) -> Option<Spots> {
    if !graph.couplers.is_empty() {
        return None;
    }
    let mut near: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); graph.nodes.len()];
    for branch in &graph.branches {
        if let (Some(a), Some(b)) = branch.ends {
            if a == b {
                return None;
            }
            near[a].insert(b);
            near[b].insert(a);
        }
    }
    let all = near.clone();
    let out = strip_chains(&mut near);
    let mut spots = core(&near, &all)?;
    for (node, at) in out.into_iter().rev() {
        put_outside(&mut spots, node, at)?;
    }
    (0..graph.nodes.len()).map(|node| spots.get(&node).copied()).collect()
}

/// Removes nodes with one neighbour repeatedly; returns them with that neighbour in the order of removal.
fn strip_chains(near: &mut [BTreeSet<usize>]) -> Vec<(usize, usize)> {
    let mut gone = Vec::new();
    while let Some(node) = (0..near.len()).find(|node| near[*node].len() == 1) {
        let Some(at) = near[node].pop_first() else {
            break;
        };
        near[at].remove(&node);
        gone.push((node, at));
        // In a chain, each of the last two nodes is the other's neighbour.
        if near[at].is_empty() {
            break;
        }
    }
    gone
}

/// Returns the number of steps from a node to each other node.
fn distances(near: &[BTreeSet<usize>], from: usize) -> Vec<Option<usize>> {
    let mut far = vec![None; near.len()];
    far[from] = Some(0);
    let mut queue = VecDeque::from([from]);
    while let Some(node) = queue.pop_front() {
        for next in &near[node] {
            if far[*next].is_none() {
                far[*next] = far[node].map(|steps| steps + 1);
                queue.push_back(*next);
            }
        }
    }
    far
}

/// Returns the positions of the nodes of a complete grid: two corners of one side determine all positions.
fn core(near: &[BTreeSet<usize>], all: &[BTreeSet<usize>]) -> Option<BTreeMap<usize, (i64, i64)>> {
    let nodes: Vec<usize> = (0..near.len()).filter(|node| !near[*node].is_empty()).collect();
    let corners: Vec<usize> = nodes.iter().copied().filter(|node| near[*node].len() == 2).collect();
    let first = *corners.first()?;
    let from_first = distances(near, first);
    // No node is separate from the grid.
    if nodes.iter().any(|node| from_first[*node].is_none()) || (0..all.len()).any(|node| all[node].is_empty()) {
        return None;
    }
    // The first declared neighbour is next to the first corner.
    let beside = *near[first].first()?;
    let tried = corners.iter().skip(1).filter_map(|second| {
        let columns = from_first[*second]? + 1;
        let rows = nodes.len() / columns;
        if columns * rows != nodes.len() || columns.min(rows) < LEAST || columns + rows < TOGETHER {
            return None;
        }
        let from_second = distances(near, *second);
        let mut spots = BTreeMap::new();
        for node in &nodes {
            let (a, b, last) = (
                from_first[*node]? as i64,
                from_second[*node]? as i64,
                columns as i64 - 1,
            );
            let (column, row) = (a - b + last, a + b - last);
            if column % 2 != 0 || row % 2 != 0 || column < 0 || row < 0 {
                return None;
            }
            spots.insert(*node, (column / 2, row / 2));
        }
        let is_in = |spot: &(i64, i64)| spot.0 < columns as i64 && spot.1 < rows as i64;
        let distinct: BTreeSet<(i64, i64)> = spots.values().copied().filter(is_in).collect();
        let is_step = |a: (i64, i64), b: (i64, i64)| (a.0 - b.0).abs() + (a.1 - b.1).abs() == 1;
        let fits = nodes
            .iter()
            .all(|node| near[*node].iter().all(|next| is_step(spots[node], spots[next])));
        (distinct.len() == nodes.len() && fits).then_some(spots)
    });
    let mut found: Vec<BTreeMap<usize, (i64, i64)>> = tried.collect();
    found.sort_by_key(|spots| spots[&beside].1);
    found.into_iter().next()
}

/// Puts a node next to its neighbour, outside the grid.
fn put_outside(spots: &mut BTreeMap<usize, (i64, i64)>, node: usize, at: usize) -> Option<()> {
    let (column, row) = *spots.get(&at)?;
    let free = [(-1, 0), (1, 0), (0, -1), (0, 1)]
        .into_iter()
        .map(|(dx, dy)| (column + dx, row + dy));
    let taken: BTreeSet<(i64, i64)> = spots.values().copied().collect();
    let spot = free.into_iter().find(|spot| !taken.contains(spot))?;
    spots.insert(node, spot);
    Some(())
}
