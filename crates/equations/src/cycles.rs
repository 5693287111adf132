//! The dependencies in a cycle.

use lgm_algebra::strongly_connected;
use lgm_model::PortId;
use rustc_hash::FxHashMap;

/// Returns the strongly connected components of a relation that are loops: several ports, or one port that depends on
/// itself. The ports of a component are in declaration order, and components are ordered by their first port.
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
    for set in strongly_connected(edges.len(), |port, place| edges[port].get(place).copied()) {
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
