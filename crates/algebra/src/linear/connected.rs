//! Strongly connected sets of graphs.

const NEW: u32 = u32::MAX;

/// The strongly connected sets of a graph; a set comes after all that it leads to (Tarjan 1972), without recursion. `next` gives the k-th node,
/// from 0, that a node leads to, and none behind the last one.
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
