//! Strongly connected sets of graphs.

/// The strongly connected sets of a graph, given the nodes that each node leads to (Tarjan 1972), without recursion.
pub fn strongly_connected(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    const NEW: usize = usize::MAX;
    let mut number = vec![NEW; edges.len()];
    let mut low = vec![0; edges.len()];
    let mut is_open = vec![false; edges.len()];
    let (mut open, mut sets, mut count) = (Vec::new(), Vec::new(), 0);
    for start in 0..edges.len() {
        if number[start] != NEW {
            continue;
        }
        let mut path = vec![(start, 0)];
        while let Some((at, next)) = path.last_mut() {
            let at = *at;
            if *next == 0 {
                (number[at], low[at]) = (count, count);
                count += 1;
                open.push(at);
                is_open[at] = true;
            }
            if let Some(&to) = edges[at].get(*next) {
                *next += 1;
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
                let set = open.split_off(from.expect("invariant: what is open is on the list"));
                set.iter().for_each(|each| is_open[*each] = false);
                sets.push(set);
            }
        }
    }
    sets
}
