//! Directions of half arrows by textbook convention: out of sources, into storage and dissipators, through couplers and branches away from
//! the sources. Also removes junctions that carry no information. Reversing an arrow changes the sign of one variable of its bond. This
//! variable is recorded for each port, so that moduli and values have the signs of the drawn arrows.

use super::graph::{Graph, Role};
use crate::drawing::Shape;
use lgm_model::{JunctionKind, Variable};
use lgm_source::Span;
use rustc_hash::FxHashSet;
use std::collections::VecDeque;

/// Returns the bonds at each vertex.
fn bonds_at(graph: &Graph) -> Vec<Vec<usize>> {
    let mut at = vec![Vec::new(); graph.vertices.len()];
    for (bond, info) in graph.bonds.iter().enumerate() {
        at[info.tail].push(bond);
        at[info.head].push(bond);
    }
    at
}

/// Returns the distance of each vertex from the first source of its connected part, in bonds.
fn distances(graph: &Graph, at: &[Vec<usize>]) -> Vec<usize> {
    let mut far = vec![usize::MAX; graph.vertices.len()];
    let sources = (0..far.len()).filter(|vertex| graph.vertices[*vertex].is_source());
    for source in sources {
        if far[source] != usize::MAX {
            continue;
        }
        far[source] = 0;
        let mut queue = VecDeque::from([source]);
        while let Some(vertex) = queue.pop_front() {
            for bond in &at[vertex] {
                let next = graph.bonds[*bond].other(vertex);
                if far[next] == usize::MAX {
                    far[next] = far[vertex] + 1;
                    queue.push_back(next);
                }
            }
        }
    }
    far
}

/// Returns the variable that the bonds of a junction do not share.
fn not_common(kind: JunctionKind) -> Variable {
    match kind {
        JunctionKind::Zero => Variable::Flow,
        JunctionKind::One => Variable::Effort,
    }
}

/// Reverses one bond of an element. The common variable of its junction keeps its sign.
fn turn_alone(graph: &mut Graph, bond: usize) {
    let info = &graph.bonds[bond];
    let junction = [info.tail, info.head]
        .into_iter()
        .find_map(|end| match graph.vertices[end].shape {
            Shape::Junction(kind) => Some(kind),
            _ => None,
        });
    // The bond between two elements had no junction; the inserted one is a 0-junction.
    let changes = not_common(junction.unwrap_or(JunctionKind::Zero));
    graph.bonds[bond].turn(changes);
}

/// Reverses all half arrows against the textbook convention.
pub(super) fn power_through(graph: &mut Graph) {
    let at = bonds_at(graph);
    let far = distances(graph, &at);
    for (vertex, own) in at.iter().enumerate() {
        if graph.vertices[vertex].role == Role::Branch {
            turn_branch(graph, vertex, own, &far);
        }
    }
    for (vertex, own) in at.iter().enumerate() {
        match graph.vertices[vertex].role {
            Role::Source(_) => {
                for bond in own
                    .iter()
                    .filter(|bond| graph.bonds[**bond].head == vertex)
                    .copied()
                    .collect::<Vec<_>>()
                {
                    turn_alone(graph, bond);
                }
            }
            Role::Sink => {
                for bond in own
                    .iter()
                    .filter(|bond| graph.bonds[**bond].tail == vertex)
                    .copied()
                    .collect::<Vec<_>>()
                {
                    turn_alone(graph, bond);
                }
            }
            Role::Coupler => turn_coupler(graph, vertex, &at, &far),
            Role::Branch | Role::Other => {}
        }
    }
}

/// Points a branch between two nodes away from the sources. A branch with a source of the variable that its bonds do not share points along
/// the source.
fn turn_branch(graph: &mut Graph, vertex: usize, own: &[usize], far: &[usize]) {
    let Shape::Junction(kind) = graph.vertices[vertex].shape else {
        return;
    };
    let [a, b, c] = own else {
        return;
    };
    let is_element = |bond: &&usize| {
        matches!(
            graph.vertices[graph.bonds[**bond].other(vertex)].shape,
            Shape::Element(_)
        )
    };
    let (elements, nodes): (Vec<usize>, Vec<usize>) = [a, b, c].into_iter().partition(|bond| is_element(bond));
    let ([element], [first, second]) = (&elements[..], &nodes[..]) else {
        return;
    };
    let turns = match graph.vertices[graph.bonds[*element].other(vertex)].role {
        Role::Source(given) => given == not_common(kind) && graph.bonds[*element].tail == vertex,
        _ => {
            let (from, to) = match graph.bonds[*first].head == vertex {
                true => (*first, *second),
                false => (*second, *first),
            };
            far[graph.bonds[to].other(vertex)] < far[graph.bonds[from].other(vertex)]
        }
    };
    if turns {
        // The common variable changes its sign everywhere at the junction, and nothing changes beyond its nodes.
        for bond in own {
            graph.bonds[*bond].turn(match kind {
                JunctionKind::Zero => Variable::Effort,
                JunctionKind::One => Variable::Flow,
            });
        }
    }
}

/// Directs power into a coupler at the port nearer to the first source, unless its arrows already point through it.
fn turn_coupler(graph: &mut Graph, vertex: usize, at: &[Vec<usize>], far: &[usize]) {
    let [first, second] = at[vertex][..] else {
        return;
    };
    let is_in = |graph: &Graph, bond: usize| graph.bonds[bond].head == vertex;
    if is_in(graph, first) != is_in(graph, second) {
        return;
    }
    let near = |bond: usize| far[graph.bonds[bond].other(vertex)];
    let (into, out) = if near(second) < near(first) {
        (second, first)
    } else {
        (first, second)
    };
    if !is_in(graph, into) {
        turn_alone(graph, into);
    }
    if is_in(graph, out) {
        turn_alone(graph, out);
    }
}

/// Removes plain junctions with two bonds through which power passes. Components of the same definition keep the same junctions.
pub(super) fn pass_through(graph: &mut Graph) {
    let at = bonds_at(graph);
    let measured: FxHashSet<usize> = graph
        .vertices
        .iter()
        .flat_map(|vertex| &vertex.modulated_by)
        .copied()
        .collect();
    let passes = |vertex: usize| {
        let info = &graph.vertices[vertex];
        let [first, second] = at[vertex][..] else {
            return false;
        };
        let (first, second) = (&graph.bonds[first], &graph.bonds[second]);
        let is_plain =
            matches!(info.shape, Shape::Junction(_)) && !measured.contains(&vertex) && info.signals.is_empty();
        let is_through = (first.head == vertex) != (second.head == vertex);
        let is_whole = first.width == info.width && second.width == info.width;
        let is_agreed = first.stroke == second.stroke && !first.contested && !second.contested;
        is_plain && is_through && is_whole && is_agreed && first.other(vertex) != second.other(vertex)
    };
    let mut found: Vec<usize> = (0..graph.vertices.len()).filter(|vertex| passes(*vertex)).collect();
    // If one instance of a definition must keep a junction, all instances keep it.
    let place = |vertex: usize| {
        let info = &graph.vertices[vertex];
        info.declared
            .filter(|_| !info.home.is_empty() && matches!(info.shape, Shape::Junction(_)))
    };
    let kept: FxHashSet<Span> = (0..graph.vertices.len())
        .filter(|vertex| found.binary_search(vertex).is_err())
        .filter_map(place)
        .collect();
    found.retain(|vertex| place(*vertex).is_none_or(|place| !kept.contains(&place)));
    graph.join(&found);
}
