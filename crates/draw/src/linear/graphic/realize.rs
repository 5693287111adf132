//! Constructs the graph with a given set of cuts, if one exists: the algorithm of Tutte (1960). The cut space is given by a basis over two
//! elements, a set of edges for each vector. A cut of the basis leaves *bridges* when its edges are removed. Each bridge is attached to the
//! edges of the cut in segments: the edges of a segment end at the same node. Bridges whose segments never cover the cut together are on
//! different sides of it.

use std::collections::{BTreeMap, BTreeSet};

/// Edges of a cut.
pub(super) type Cut = BTreeSet<usize>;

/// The nodes at the two ends of each edge.
pub(super) type Ends = BTreeMap<usize, (usize, usize)>;

/// Returns the graph with these cuts as a basis, each with its own edge; `None` if no such graph exists. All cuts are connected through
/// common edges.
pub(super) fn realize(cuts: &[Cut]) -> Option<Ends> {
    let mut in_cuts: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, cut) in cuts.iter().enumerate() {
        for edge in cut {
            in_cuts.entry(*edge).or_default().push(at);
        }
    }
    let Some(three) = in_cuts.values().find(|own| own.len() > 2) else {
        // Each cut contains the edges at one node; an edge in only one cut ends at an additional node.
        let last = cuts.len();
        let ends = |own: &Vec<usize>| (own[0], own.get(1).copied().unwrap_or(last));
        return Some(in_cuts.iter().map(|(edge, own)| (*edge, ends(own))).collect());
    };
    // An edge ends at two nodes, so not all three cuts can contain the edges at one node each.
    let (cut, bridges) = three.iter().find_map(|at| {
        let bridges = bridges(cuts, *at);
        (bridges.len() > 1).then_some((*at, bridges))
    })?;
    let cut = &cuts[cut];
    let mut parts = Vec::new();
    for bridge in &bridges {
        let own: BTreeSet<usize> = bridge.iter().flat_map(|at| &cuts[*at]).copied().collect();
        let around: BTreeSet<usize> = own.difference(cut).copied().collect();
        let mut smaller: Vec<Cut> = bridge.iter().map(|at| cuts[*at].clone()).collect();
        smaller.push(cut.clone());
        parts.push(JoinedBridges::of(&realize(&smaller)?, cut, &around)?);
    }
    let sides = sides(&parts, cut)?;
    let [first, second] = sides.map(|side| joined(&parts, &side, cut));
    let (first, second) = (first?, second?);
    // Each side numbers its nodes independently.
    let shift = first.count;
    let mut ends: Ends = first.inner.clone();
    ends.extend(
        second
            .inner
            .iter()
            .map(|(edge, (a, b))| (*edge, (a + shift, b + shift))),
    );
    ends.extend(
        cut.iter()
            .map(|edge| (*edge, (first.end[edge], second.end[edge] + shift))),
    );
    Some(ends)
}

/// Returns the groups of other cuts that are connected by edges outside one cut.
fn bridges(cuts: &[Cut], without: usize) -> Vec<Vec<usize>> {
    let mut groups: Vec<(BTreeSet<usize>, Vec<usize>)> = Vec::new();
    for (at, cut) in cuts.iter().enumerate().filter(|(at, _)| *at != without) {
        let mut edges: BTreeSet<usize> = cut.difference(&cuts[without]).copied().collect();
        let mut members = vec![at];
        groups.retain(|(other, own)| {
            let is_apart = other.is_disjoint(&edges);
            if !is_apart {
                edges.extend(other);
                members.extend(own);
            }
            is_apart
        });
        groups.push((edges, members));
    }
    groups.into_iter().map(|group| group.1).collect()
}

/// One or several joined bridges as a graph, with the ends of the cut's edges.
#[derive(Clone, Debug, Default)]
struct JoinedBridges {
    /// The edges within.
    inner: Ends,
    /// The node of each edge of the cut.
    end: BTreeMap<usize, usize>,
    /// The upper bound of the node numbers.
    count: usize,
}

impl JoinedBridges {
    /// Removes the node whose edges form the cut from a graph.
    fn of(ends: &Ends, cut: &Cut, around: &BTreeSet<usize>) -> Option<JoinedBridges> {
        let count = ends.values().map(|(a, b)| 1 + *a.max(b)).max()?;
        let first = cut.first()?;
        let (a, b) = *ends.get(first)?;
        let is_star = |node: usize| {
            let leaves = |(edge, (a, b)): (&usize, &(usize, usize))| (*a == node || *b == node) == cut.contains(edge);
            ends.iter().all(leaves)
        };
        let star = [a, b].into_iter().find(|node| is_star(*node))?;
        let end = cut.iter().map(|edge| {
            let (a, b) = ends[edge];
            (*edge, if a == star { b } else { a })
        });
        Some(JoinedBridges {
            end: end.collect(),
            inner: ends
                .iter()
                .filter(|(edge, _)| around.contains(edge))
                .map(|(edge, ends)| (*edge, *ends))
                .collect(),
            count,
        })
    }

    /// Returns the edges of the cut that end at the same node, for each node.
    fn segments(&self) -> BTreeMap<usize, BTreeSet<usize>> {
        let mut segments: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for (edge, node) in &self.end {
            segments.entry(*node).or_default().insert(*edge);
        }
        segments
    }

    /// Returns nodes of two bridges whose segments together are the whole cut, so that they may be one node on the same side.
    fn meeting(&self, other: &JoinedBridges, cut: &Cut) -> Option<(usize, usize)> {
        let others = other.segments();
        self.segments().into_iter().find_map(|(node, own)| {
            let covers = |rest: &BTreeSet<usize>| cut.iter().all(|edge| own.contains(edge) || rest.contains(edge));
            others
                .iter()
                .find(|(_, rest)| covers(rest))
                .map(|(other, _)| (node, *other))
        })
    }

    /// Joins both bridges on the same side of the cut.
    fn with(&self, other: &JoinedBridges, (here, there): (usize, usize)) -> JoinedBridges {
        let moved = |node: usize| if node == there { here } else { node + self.count };
        let mut all = self.clone();
        all.inner
            .extend(other.inner.iter().map(|(edge, (a, b))| (*edge, (moved(*a), moved(*b)))));
        for (edge, node) in &other.end {
            // An edge that ends at the common node here may end elsewhere there.
            if self.end.get(edge) == Some(&here) {
                all.end.insert(*edge, moved(*node));
            }
        }
        all.count += other.count;
        all
    }
}

/// Distributes bridges between the two sides so that incompatible ones are on different sides; `None` if that is impossible.
fn sides(parts: &[JoinedBridges], cut: &Cut) -> Option<[Vec<usize>; 2]> {
    let mut side: Vec<Option<bool>> = vec![None; parts.len()];
    for start in 0..parts.len() {
        if side[start].is_some() {
            continue;
        }
        side[start] = Some(false);
        let mut open = vec![start];
        while let Some(at) = open.pop() {
            for other in (0..parts.len()).filter(|other| *other != at) {
                if parts[at].meeting(&parts[other], cut).is_some() {
                    continue;
                }
                match side[other] {
                    None => {
                        side[other] = side[at].map(|side| !side);
                        open.push(other);
                    }
                    known if known == side[at] => return None,
                    Some(_) => {}
                }
            }
        }
    }
    let on = |wanted: bool| (0..parts.len()).filter(|at| side[*at] == Some(wanted)).collect();
    Some([on(false), on(true)])
}

/// Joins the bridges of one side. A node between two others is joined to the first before the second is, so that the remaining nodes can
/// still be joined.
fn joined(parts: &[JoinedBridges], side: &[usize], cut: &Cut) -> Option<JoinedBridges> {
    let Some((first, rest)) = side.split_first() else {
        // All edges of the cut end at one node.
        return Some(JoinedBridges {
            inner: Ends::new(),
            end: cut.iter().map(|edge| (*edge, 0)).collect(),
            count: 1,
        });
    };
    let mut known = parts[*first].clone();
    let mut rest = rest.to_vec();
    while !rest.is_empty() {
        let (place, next) = (0..rest.len()).find_map(|place| {
            let nodes = known.meeting(&parts[rest[place]], cut)?;
            let next = known.with(&parts[rest[place]], nodes);
            let mut others = rest.iter().enumerate().filter(|(at, _)| *at != place);
            let can_follow = others.all(|(_, other)| next.meeting(&parts[*other], cut).is_some());
            can_follow.then_some((place, next))
        })?;
        rest.remove(place);
        known = next;
    }
    Some(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the cut that each branch of a tree makes in a connected graph.
    fn cuts(edges: &[(usize, usize)]) -> Vec<Cut> {
        let nodes = edges.iter().map(|(a, b)| 1 + a.max(b)).max().unwrap_or(0);
        let mut root: Vec<usize> = (0..nodes).collect();
        let mut tree = Vec::new();
        for (at, (a, b)) in edges.iter().enumerate() {
            let (from, to) = (root[*a], root[*b]);
            if from != to {
                root.iter_mut()
                    .filter(|each| **each == from)
                    .for_each(|each| *each = to);
                tree.push(at);
            }
        }
        let cut = |without: &usize| -> Cut {
            let mut side = BTreeSet::from([edges[*without].0]);
            for _ in 0..nodes {
                for at in tree.iter().filter(|at| *at != without) {
                    let (a, b) = edges[*at];
                    if side.contains(&a) || side.contains(&b) {
                        side.extend([a, b]);
                    }
                }
            }
            let is_cut = |edge: &(usize, usize)| side.contains(&edge.0) != side.contains(&edge.1);
            (0..edges.len()).filter(|at| is_cut(&edges[*at])).collect()
        };
        tree.iter().map(cut).collect()
    }

    /// Returns every sum of cuts, so that two bases can be compared.
    fn space(cuts: &[Cut]) -> BTreeSet<Cut> {
        let mut all = BTreeSet::from([Cut::new()]);
        for cut in cuts {
            let more: Vec<Cut> = all
                .iter()
                .map(|known| known.symmetric_difference(cut).copied().collect())
                .collect();
            all.extend(more);
        }
        all
    }

    #[test]
    fn a_graph_is_found_again_from_its_cuts() {
        // A deterministic sequence of graphs with up to 7 nodes, all of them connected and without bridges.
        let mut state = 7u64;
        let mut draw = |below: usize| {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 33) as usize % below
        };
        for _ in 0..400 {
            let nodes = 3 + draw(5);
            let mut edges: Vec<(usize, usize)> = (0..nodes).map(|node| (node, (node + 1) % nodes)).collect();
            for _ in 0..draw(6) {
                let (a, b) = (draw(nodes), draw(nodes));
                if a != b {
                    edges.push((a, b));
                }
            }
            let known = cuts(&edges);
            let found = realize(&known).unwrap_or_else(|| panic!("{edges:?}"));
            let again: Vec<(usize, usize)> = (0..edges.len()).map(|at| found[&at]).collect();
            assert_eq!(space(&cuts(&again)), space(&known), "{edges:?} as {again:?}");
        }
    }

    #[test]
    fn the_circuits_of_a_complete_graph_of_five_nodes_are_the_cuts_of_none() {
        // K5 is not planar: its circuits are not the cuts of a graph.
        let tree = [(0, 1), (0, 2), (0, 3), (0, 4)];
        let links = [(1, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4)];
        let circuit = |(at, (a, b)): (usize, &(usize, usize))| Cut::from([a - 1, b - 1, tree.len() + at]);
        let circuits: Vec<Cut> = links.iter().enumerate().map(circuit).collect();
        assert!(realize(&circuits).is_none());
    }
}
