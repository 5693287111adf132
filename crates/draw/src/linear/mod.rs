//! Linear graphs. Nodes are in a row above the rail of the reference, and branches to the reference are below their nodes. Branches between
//! neighbours are straight, and all others are above the nodes.

mod arcs;
mod columns;
mod graph;
mod graphic;
mod grid;
mod lattice;
mod links;
mod order;
mod paint;
mod places;

use crate::content::Content;
use crate::drawing::Drawing;
use arcs::Arcs;
pub(crate) use graph::obstacle;
use graph::{Graph, read};
use lgm_algebra::DisjointSets;
use order::{Tie, order};

/// The maximum number of times that gaps between columns grow until every text fits.
const GROWTHS: usize = 8;

/// Draws a model as a linear graph; returns the reason if it has junctions, or bonds that are not branches.
pub(crate) fn draw(content: &Content<'_>) -> Result<Drawing, String> {
    let graph = match obstacle(content.model) {
        None => read(content),
        Some(reason) if graphic::has_modes(content) => return Err(reason),
        Some(_) => graphic::read(content)?,
    };
    let lattice = grid::find(&graph).and_then(|spots| lattice::paint(content, &graph, &spots));
    if let Some(drawing) = lattice {
        return Ok(drawing);
    }
    let parts = parts(&graph);
    let order = order(graph.nodes.len(), &parts, &ties(&graph));
    let mut columns = columns::columns(&graph, &order);
    paint::widen(&graph, &mut columns, &parts);
    let arcs = Arcs::new(&graph, &columns);
    places::name_nodes(&graph, &mut columns, &arcs);
    let (mut scale, mut cuts) = (1.0, Vec::new());
    for _ in 0..GROWTHS {
        cuts = places::place(&graph, &mut columns, &arcs, scale, &parts);
        let is_free = |arc: &arcs::Arc| arcs.free(&graph, &columns, arc).is_some();
        if arcs.arcs.iter().all(is_free) {
            break;
        }
        scale *= 1.6;
    }
    Ok(paint::paint(content, &graph, &columns, &arcs, &parts, &cuts))
}

/// Returns the connected part of the graph of each node, without the reference.
fn parts(graph: &Graph) -> Vec<usize> {
    let mut sets = DisjointSets::new(graph.nodes.len());
    for branch in &graph.branches {
        if let (Some(from), Some(to)) = branch.ends {
            sets.join(from, to);
        }
    }
    let roots = sets.roots();
    let mut numbers: Vec<usize> = roots.clone();
    numbers.sort_unstable();
    numbers.dedup();
    roots
        .iter()
        .map(|root| numbers.partition_point(|each| each < root))
        .collect()
}

/// Returns branches and couplers as attractions between nodes.
fn ties(graph: &Graph) -> Vec<Tie> {
    let mut ties = Vec::new();
    for branch in &graph.branches {
        if let (Some(a), Some(b)) = branch.ends
            && a != b
        {
            let (weight, is_line) = (1.0, true);
            ties.push(Tie { a, b, weight, is_line });
        }
    }
    for coupler in &graph.couplers {
        let node = |branch: &usize| {
            let (from, to) = graph.branches[*branch].ends;
            from.or(to)
        };
        let nodes: Vec<usize> = coupler.branches.iter().filter_map(node).collect();
        for pair in nodes.windows(2).filter(|pair| pair[0] != pair[1]) {
            let (weight, is_line) = (0.8, false);
            ties.push(Tie {
                a: pair[0],
                b: pair[1],
                weight,
                is_line,
            });
        }
    }
    ties
}
