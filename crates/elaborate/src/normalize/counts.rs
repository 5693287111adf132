//! Counts the parts of a model from the user's perspective: see [`Counts`].
//!
//! In scalars, an n-by-m coupler is one transformer for each nonzero entry, with the output branches in series.

use lgm_model::counts::Counts;
use lgm_model::{Connection, Element, Law, Matrix, Model};
use rustc_hash::{FxHashMap, FxHashSet};

/// Counts a model.
pub(crate) fn counts(model: &Model) -> Counts {
    let mut counts = Counts::default();
    let parents: FxHashMap<u32, usize> = model
        .graph
        .elements
        .iter()
        .enumerate()
        .map(|(at, element)| (element.path.0, at))
        .collect();
    let parent = |path: lgm_model::PathId| model.paths[path.index()].parent;
    let block_of = |element: &Element| parent(element.path).and_then(|path| parents.get(&path.0).copied());
    // The coupler of each block is an element whose path contains others.
    let blocks: FxHashSet<usize> = model.graph.elements.iter().filter_map(block_of).collect();
    let mut kinds: FxHashSet<(usize, &str)> = FxHashSet::default();
    let mut grounded = false;
    for (at, element) in model.graph.elements.iter().enumerate() {
        let ports = &model.graph.ports[element.ports.start as usize..element.ports.end as usize];
        grounded |= ports.iter().any(|port| {
            matches!(
                port.connection,
                Connection::Branch { from: None, .. } | Connection::Branch { to: None, .. }
            )
        });
        let is_source = matches!(element.law, Law::Source { .. });
        let own = |branches: usize| if is_source { 0 } else { branches };
        let groups = ports.len()
            - ports
                .windows(2)
                .filter(|pair| pair[0].entry.is_some() && pair[0].name == pair[1].name && pair[1].entry > pair[0].entry)
                .count();
        match &element.law {
            Law::Coupler { matrix, .. } => {
                let pairs = filled(model, matrix);
                counts.scalar.add(2 * pairs.0, pairs.0, 2 * pairs.0);
                counts.scalar.nodes += pairs.1;
            }
            Law::Storage { value, .. } if is_diagonal(model, value) => {
                counts.scalar.add(ports.len(), ports.len(), ports.len());
            }
            Law::Storage { .. } => counts.scalar.add(ports.len(), 1, ports.len()),
            _ => {
                let scalars = if is_source { ports.len() } else { 1 };
                counts.scalar.add(ports.len(), scalars, own(ports.len()));
            }
        }
        match block_of(element) {
            // The parts of one kind in all modes are one vector element.
            Some(block) => {
                if kinds.insert((block, &element.kind)) {
                    counts.vector.add(1, 1, 1);
                }
            }
            None if blocks.contains(&at) => {
                let external = ports.iter().filter(|port| port.name.as_deref() == Some("port")).count();
                counts.vector.add(2 * external, external, 2 * external);
                counts.written.add(external, 1, 2);
            }
            None => {
                counts.vector.add(groups, 1, own(groups));
                counts.written.add(groups, 1, own(groups));
            }
        }
    }
    let mut paths: FxHashSet<u32> = FxHashSet::default();
    let mut inner: FxHashSet<(u32, &str)> = FxHashSet::default();
    for node in &model.graph.nodes {
        counts.scalar.nodes += 1;
        match parent(node.path).filter(|path| parents.contains_key(&path.0)) {
            Some(block) => {
                if inner.insert((block.0, &model.paths[node.path.index()].name)) {
                    counts.vector.nodes += 1;
                }
            }
            None => {
                if paths.insert(node.path.0) {
                    counts.vector.nodes += 1;
                    counts.written.nodes += 1;
                }
            }
        }
    }
    for count in [&mut counts.scalar, &mut counts.vector, &mut counts.written] {
        count.nodes += usize::from(grounded);
    }
    counts
}

/// Returns the number of nonzero entries, and the number of nodes between entries of one row, which are in series.
fn filled(model: &Model, matrix: &Matrix) -> (usize, usize) {
    let (mut pairs, mut between) = (0, 0);
    for row in 0..matrix.rows {
        let filled = (0..matrix.columns).filter(|column| !model.exprs.is_zero(matrix.get(row, *column)));
        let filled = filled.count();
        pairs += filled;
        between += filled.saturating_sub(1);
    }
    (pairs, between)
}

fn is_diagonal(model: &Model, matrix: &Matrix) -> bool {
    (0..matrix.rows)
        .all(|row| (0..matrix.columns).all(|column| row == column || model.exprs.is_zero(matrix.get(row, column))))
}
