//! Strongly connected components and disjoint sets.

const NEW: u32 = u32::MAX;

/// Returns the strongly connected components of a graph, each after all components that it leads to (Tarjan 1972), without recursion.
/// `next` returns the k-th node, from 0, that a node leads to, and `None` after the last one.
pub fn strongly_connected(nodes: usize, next: impl Fn(usize, usize) -> Option<usize>) -> Vec<Vec<usize>> {
    let mut number = vec![NEW; nodes];
    let mut low = vec![0u32; nodes];
    let mut is_open = vec![false; nodes];
    let (mut open, mut sets, mut count) = (Vec::new(), Vec::new(), 0);
    let mut path: Vec<(usize, usize)> = Vec::new();
    for start in 0..nodes {
        if number[start] != NEW {
            continue;
        }
        path.push((start, 0));
        while let Some((at, place)) = path.last_mut() {
            let at = *at;
            if *place == 0 {
                (number[at], low[at]) = (count, count);
                count += 1;
                open.push(at);
                is_open[at] = true;
            }
            if let Some(to) = next(at, *place) {
                *place += 1;
                if number[to] == NEW {
                    path.push((to, 0));
                } else if is_open[to] {
                    low[at] = low[at].min(number[to]);
                }
                continue;
            }
            path.pop();
            if let Some((before, _)) = path.last() {
                low[*before] = low[*before].min(low[at]);
            }
            if low[at] == number[at] {
                let from = open.iter().rposition(|each| *each == at);
                let set = open.split_off(from.expect("invariant: an open node is on the list"));
                set.iter().for_each(|each| is_open[*each] = false);
                sets.push(set);
            }
        }
    }
    sets
}

/// Disjoint sets of positions that are joined pair by pair (union-find). The first position represents a set.
#[derive(Clone, Debug, Default)]
pub struct DisjointSets {
    /// For each position, an earlier one in its set, or itself for the first one.
    above: Vec<u32>,
}

impl DisjointSets {
    /// Creates one set for each of `places` positions.
    pub fn new(places: usize) -> DisjointSets {
        let mut sets = DisjointSets::default();
        sets.grow(places);
        sets
    }

    /// Adds positions in separate sets, up to this number.
    pub fn grow(&mut self, places: usize) {
        self.above
            .extend(self.above.len() as u32..places.max(self.above.len()) as u32);
    }

    /// Returns the first position in the set of a position.
    pub fn root(&mut self, mut at: usize) -> usize {
        while self.above[at] as usize != at {
            // Path halving keeps the trees flat without recursion.
            self.above[at] = self.above[self.above[at] as usize];
            at = self.above[at] as usize;
        }
        at
    }

    /// Joins the sets of two positions.
    pub fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.above[a.max(b)] = a.min(b) as u32;
    }

    /// Returns, for each position, the first position in its set.
    pub fn roots(mut self) -> Vec<usize> {
        (0..self.above.len()).map(|at| self.root(at)).collect()
    }
}
