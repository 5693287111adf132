//! Who needs whom in a circle.

use lgm_model::PortId;
use rustc_hash::FxHashMap;

/// The strongly connected sets of a relation that are loops: of more than one port, or of a port that needs itself. The ports of a set are
/// in declaration order, and sets in that of their first port.
pub(crate) fn cycles(needs: &FxHashMap<PortId, Vec<PortId>>) -> Vec<Vec<PortId>> {
    let mut ports: Vec<PortId> = needs.keys().copied().collect();
    ports.sort_unstable();
    let place: FxHashMap<PortId, usize> = ports.iter().enumerate().map(|(at, port)| (*port, at)).collect();
    let edges: Vec<Vec<usize>> = ports
        .iter()
        .map(|port| {
            needs[port]
                .iter()
                .filter_map(|other| place.get(other).copied())
                .collect()
        })
        .collect();
    let mut found = Vec::new();
    for set in connected(&edges) {
        let is_loop = set.len() > 1 || edges[set[0]].contains(&set[0]);
        if is_loop {
            let mut set: Vec<PortId> = set.into_iter().map(|at| ports[at]).collect();
            set.sort_unstable();
            found.push(set);
        }
    }
    found.sort_unstable();
    found
}

/// The strongly connected sets of a graph (Tarjan 1972), without recursion.
fn connected(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn of(needs: &[(u32, &[u32])]) -> Vec<Vec<u32>> {
        let ports = |list: &[u32]| list.iter().copied().map(PortId).collect::<Vec<_>>();
        let needs = needs.iter().map(|(port, from)| (PortId(*port), ports(from))).collect();
        let names = |set: Vec<PortId>| set.into_iter().map(|port| port.0).collect();
        cycles(&needs).into_iter().map(names).collect()
    }

    #[test]
    fn chains_are_no_loops() {
        assert_eq!(of(&[(0, &[1]), (1, &[2, 9]), (2, &[])]), Vec::<Vec<u32>>::new());
    }

    #[test]
    fn loops_are_found_once_with_all_their_members() {
        assert_eq!(
            of(&[(4, &[4]), (0, &[1]), (1, &[2]), (2, &[0, 4]), (3, &[0])]),
            [vec![0, 1, 2], vec![4]]
        );
    }

    #[test]
    fn a_loop_inside_another_one_is_the_same_loop() {
        assert_eq!(of(&[(0, &[1, 2]), (1, &[0]), (2, &[3]), (3, &[0])]), [vec![0, 1, 2, 3]]);
    }
}
