//! Merges adjacent junctions of the same kind, as in textbooks: they share the common variable, and the other variables add up.

use super::graph::{Bond, Graph};
use crate::drawing::Shape;
use lgm_source::Span;
use rustc_hash::FxHashMap;

/// Merges adjacent junctions of the same kind within a component. At most one of them has a name of its own, which is kept.
pub(super) fn unite(graph: &mut Graph) {
    let everywhere = Everywhere::of(graph);
    let mut stands_for: Vec<usize> = (0..graph.vertices.len()).collect();
    let mut named: Vec<bool> = graph.vertices.iter().map(|vertex| vertex.text.len() > 1).collect();
    for bond in graph.bonds.iter().filter(|bond| everywhere.unites(graph, bond)) {
        let (a, b) = (root(&stands_for, bond.tail), root(&stands_for, bond.head));
        let (stays, goes) = match (named[a], named[b]) {
            (true, true) => continue,
            (true, false) => (a, b),
            (false, true) => (b, a),
            (false, false) => (a.min(b), a.max(b)),
        };
        stands_for[goes] = stays;
        named[stays] |= named[goes];
    }
    let roots: Vec<usize> = (0..stands_for.len()).map(|vertex| root(&stands_for, vertex)).collect();
    // A flow or effort may circulate in a loop of junctions, which a single junction cannot show. A loop has at least as many bonds as
    // junctions.
    let mut excess = vec![0_isize; roots.len()];
    for vertex in &roots {
        excess[*vertex] -= 1;
    }
    for bond in graph.bonds.iter().filter(|bond| roots[bond.tail] == roots[bond.head]) {
        excess[roots[bond.tail]] += 1;
    }
    let of_trees = roots.iter().enumerate();
    let of_trees = of_trees.map(|(vertex, stays)| if excess[*stays] < 0 { *stays } else { vertex });
    let of_trees: Vec<usize> = of_trees.collect();
    graph.unite(&of_trees);
}

/// Returns the junction that represents another one.
fn root(stands_for: &[usize], mut vertex: usize) -> usize {
    while stands_for[vertex] != vertex {
        vertex = stands_for[vertex];
    }
    vertex
}

/// Returns true if a bond joins two junctions of the same kind in one component and shows no other information.
fn is_between_like(graph: &Graph, bond: &Bond) -> bool {
    let (tail, head) = (&graph.vertices[bond.tail], &graph.vertices[bond.head]);
    matches!(tail.shape, Shape::Junction(_))
        && tail.shape == head.shape
        && tail.home == head.home
        && [tail, head]
            .iter()
            .all(|end| end.width == bond.width && end.signals.is_empty())
        && !bond.contested
        && !bond.conflict
}

/// Pairs of declarations: components of the same definition merge a pair in all instances or in none, so that they look alike.
struct Everywhere {
    pairs: FxHashMap<(Span, Span), usize>,
    instances: FxHashMap<Span, usize>,
}

impl Everywhere {
    fn of(graph: &Graph) -> Everywhere {
        let (mut pairs, mut instances) = (FxHashMap::default(), FxHashMap::default());
        for vertex in 0..graph.vertices.len() {
            if let Some(place) = declared(graph, vertex) {
                *instances.entry(place).or_default() += 1;
            }
        }
        for pair in (graph.bonds.iter())
            .filter(|bond| is_between_like(graph, bond))
            .filter_map(|bond| pair(graph, bond))
        {
            *pairs.entry(pair).or_default() += 1;
        }
        Everywhere { pairs, instances }
    }

    fn unites(&self, graph: &Graph, bond: &Bond) -> bool {
        let is_everywhere = |pair: (Span, Span)| {
            let count = self.pairs.get(&pair);
            [pair.0, pair.1].iter().all(|place| self.instances.get(place) == count)
        };
        is_between_like(graph, bond) && pair(graph, bond).is_none_or(is_everywhere)
    }
}

/// Returns the declaration of a junction within a component.
fn declared(graph: &Graph, vertex: usize) -> Option<Span> {
    let info = &graph.vertices[vertex];
    let is_within = !info.home.is_empty() && matches!(info.shape, Shape::Junction(_));
    info.declared.filter(|_| is_within)
}

fn pair(graph: &Graph, bond: &Bond) -> Option<(Span, Span)> {
    let (a, b) = (declared(graph, bond.tail)?, declared(graph, bond.head)?);
    Some((a.min(b), a.max(b)))
}
