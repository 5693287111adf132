//! The order of definitions that depend on each other.

/// Returns the strongly connected components of a graph given by the dependencies of each node, dependencies first (Tarjan 1972).
pub(super) fn components(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    const NEW: usize = usize::MAX;
    let count = edges.len();
    let (mut index, mut low) = (vec![NEW; count], vec![0; count]);
    let mut on_stack = vec![false; count];
    let (mut stack, mut found) = (Vec::new(), Vec::new());
    let mut next = 0;
    for start in 0..count {
        if index[start] != NEW {
            continue;
        }
        let mut calls: Vec<(usize, usize)> = vec![(start, 0)];
        while let Some((node, position)) = calls.pop() {
            if position == 0 {
                index[node] = next;
                low[node] = next;
                next += 1;
                stack.push(node);
                on_stack[node] = true;
            }
            if let Some(&other) = edges[node].get(position) {
                calls.push((node, position + 1));
                if index[other] == NEW {
                    calls.push((other, 0));
                } else if on_stack[other] {
                    low[node] = low[node].min(index[other]);
                }
                continue;
            }
            if let Some((parent, _)) = calls.last() {
                low[*parent] = low[*parent].min(low[node]);
            }
            if low[node] == index[node] {
                let mut component = Vec::new();
                while let Some(member) = stack.pop() {
                    on_stack[member] = false;
                    component.push(member);
                    if member == node {
                        break;
                    }
                }
                component.sort_unstable();
                found.push(component);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_come_after_what_they_depend_on() {
        // 0 -> 1 -> 2 -> 1, 2 -> 3, and 4 alone.
        let edges = vec![vec![1], vec![2], vec![1, 3], vec![], vec![]];
        assert_eq!(components(&edges), [vec![3], vec![1, 2], vec![0], vec![4]]);
    }
}
