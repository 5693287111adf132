//! The order of nodes: neighbours in the graph are close to each other, and few branches overlap. Without a gain, nodes stay in declaration
//! order, so that a small edit changes little.

use std::collections::VecDeque;

/// The forces that pull two nodes together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tie {
    pub(super) a: usize,
    pub(super) b: usize,
    pub(super) weight: f64,
    /// True if the line between the two is drawn above the nodes.
    pub(super) is_line: bool,
}

/// The cost of a crossing, in units of length.
const CROSSING: f64 = 6.0;

/// The work limit up to which crossings are counted while nodes are moved.
const WORK: usize = 4_000_000;

/// The maximum number of nodes for moving them one by one.
const MOVED: usize = 400;

/// Returns the order of nodes, part by part. `part_of` is the connected part of each node.
pub(super) fn order(count: usize, part_of: &[usize], ties: &[Tie]) -> Vec<usize> {
    let declared: Vec<usize> = (0..count).collect();
    let mut best = by_parts(&declared, part_of);
    let mut least = cost(&best, ties, true);
    let walked = by_parts(&walk(count, ties), part_of);
    let other = cost(&walked, ties, true);
    if other < least {
        (best, least) = (walked, other);
    }
    if count <= MOVED {
        improve(&mut best, &mut least, part_of, ties);
    }
    reversed_if_late(best)
}

/// Returns the order with the nodes of a part next to each other, parts sorted by the middle of their nodes.
fn by_parts(order: &[usize], part_of: &[usize]) -> Vec<usize> {
    let parts = part_of.iter().max().map_or(0, |last| last + 1);
    let mut sums = vec![(0.0f64, 0.0f64); parts];
    for (at, node) in order.iter().enumerate() {
        let sum = &mut sums[part_of[*node]];
        *sum = (sum.0 + at as f64, sum.1 + 1.0);
    }
    let middle = |part: usize| sums[part].0 / sums[part].1.max(1.0);
    let mut sorted = order.to_vec();
    sorted.sort_by(|a, b| {
        let (a, b) = (part_of[*a], part_of[*b]);
        middle(a).total_cmp(&middle(b)).then(a.cmp(&b))
    });
    sorted
}

/// Returns nodes in the order of a walk through the graph, from a peripheral node.
fn walk(count: usize, ties: &[Tie]) -> Vec<usize> {
    let mut neighbours: Vec<Vec<usize>> = vec![Vec::new(); count];
    for tie in ties {
        neighbours[tie.a].push(tie.b);
        neighbours[tie.b].push(tie.a);
    }
    let from = |start: usize, seen: &mut Vec<bool>| {
        let mut queue = VecDeque::from([start]);
        let mut met = Vec::new();
        seen[start] = true;
        while let Some(node) = queue.pop_front() {
            met.push(node);
            let mut next: Vec<usize> = neighbours[node].iter().copied().filter(|other| !seen[*other]).collect();
            next.sort_unstable_by_key(|other| (neighbours[*other].len(), *other));
            next.dedup();
            for other in next {
                seen[other] = true;
                queue.push_back(other);
            }
        }
        met
    };
    let (mut looked, mut seen) = (vec![false; count], vec![false; count]);
    let mut all = Vec::new();
    for node in 0..count {
        if !seen[node] {
            let far = *from(node, &mut looked).last().unwrap_or(&node);
            all.extend(from(far, &mut seen));
        }
    }
    all
}

/// Returns the lengths of the lines plus the cost of crossings.
fn cost(order: &[usize], ties: &[Tie], with_crossings: bool) -> f64 {
    let mut place = vec![0usize; order.len()];
    for (at, node) in order.iter().enumerate() {
        place[*node] = at;
    }
    let span = |tie: &Tie| (place[tie.a].min(place[tie.b]), place[tie.a].max(place[tie.b]));
    let mut sum: f64 = 0.0;
    for tie in ties {
        let (from, to) = span(tie);
        sum += tie.weight * (to - from) as f64;
    }
    if with_crossings {
        let long = ties.iter().filter(|tie| tie.is_line).map(span);
        let long: Vec<(usize, usize)> = long.filter(|(from, to)| to - from > 1).collect();
        if long.len() * long.len() <= WORK {
            for (at, a) in long.iter().enumerate() {
                let crosses = |b: &&(usize, usize)| {
                    (a.0 < b.0 && b.0 < a.1 && a.1 < b.1) || (b.0 < a.0 && a.0 < b.1 && b.1 < a.1)
                };
                sum += CROSSING * long[at + 1..].iter().filter(crosses).count() as f64;
            }
        }
    }
    sum
}

/// Moves single nodes within their part, and whole parts, while that reduces the cost.
fn improve(order: &mut Vec<usize>, least: &mut f64, part_of: &[usize], ties: &[Tie]) {
    let count = order.len();
    let lines = ties.iter().filter(|tie| tie.is_line).count();
    let with_crossings = count * count * (ties.len() + lines * lines) <= WORK * 20;
    if !with_crossings {
        *least = cost(order, ties, false);
    }
    let reach = if count * count * ties.len() <= WORK * 10 {
        count
    } else {
        8
    };
    for _ in 0..6 {
        let before = *least;
        for node in 0..count {
            let at = order.iter().position(|each| *each == node).unwrap_or(0);
            for to in at.saturating_sub(reach)..(at + reach + 1).min(count) {
                if to == at || part_of[order[to]] != part_of[node] {
                    continue;
                }
                let mut moved = order.clone();
                moved.remove(at);
                moved.insert(to, node);
                let now = cost(&moved, ties, with_crossings);
                if now + 1e-9 < *least {
                    (*order, *least) = (moved, now);
                    break;
                }
            }
        }
        move_parts(order, least, part_of, ties, with_crossings);
        if *least + 1e-9 >= before {
            break;
        }
    }
}

/// Reverses parts, and exchanges neighbouring ones.
fn move_parts(order: &mut Vec<usize>, least: &mut f64, part_of: &[usize], ties: &[Tie], with_crossings: bool) {
    let runs = |order: &[usize]| {
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for at in 0..order.len() {
            match runs.last_mut() {
                Some(run) if part_of[order[run.0]] == part_of[order[at]] => run.1 = at + 1,
                _ => runs.push((at, at + 1)),
            }
        }
        runs
    };
    let count = runs(order).len();
    for first in 0..count {
        let mut tried = Vec::new();
        let all = runs(order);
        let (from, to) = all[first];
        let mut turned = order.clone();
        turned[from..to].reverse();
        tried.push(turned);
        for (start, end) in all[first + 1..count.min(first + 12).max(first + 1)].iter().copied() {
            let mut exchanged = order[..from].to_vec();
            exchanged.extend(&order[start..end]);
            exchanged.extend(&order[from..start]);
            exchanged.extend(&order[end..]);
            tried.push(exchanged);
        }
        for moved in tried {
            let now = cost(&moved, ties, with_crossings);
            if now + 1e-9 < *least {
                (*order, *least) = (moved, now);
                break;
            }
        }
    }
}

/// Reverses the order if that puts earlier declarations on the left.
fn reversed_if_late(order: Vec<usize>) -> Vec<usize> {
    let middle = (order.len() as f64 - 1.0) / 2.0;
    let slope: f64 = (order.iter().enumerate())
        .map(|(at, node)| (at as f64 - middle) * (*node as f64 - middle))
        .sum();
    match slope < 0.0 {
        true => order.into_iter().rev().collect(),
        false => order,
    }
}
