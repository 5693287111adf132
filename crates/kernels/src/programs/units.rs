//! The separately computed values: the outputs, and values shared by several of them.
//!
//! Cheap values are recomputed at each use, because storing them costs memory traffic; the others are stored in working memory. Every unit
//! is a small tree over arguments, numbers and stored values.

use super::graph::{Graph, Value, ValueId};

/// Values cheaper than this are recomputed at each use.
const WORTH_KEEPING: u32 = 4;

/// Trees larger than this are cut, to bound the size of bodies.
const LARGEST_UNIT: u32 = 200;

/// The criteria for sharing a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    Nobody,
    Root(u32),
    Value(u32),
    Several,
}

impl Owner {
    fn and(self, other: Owner) -> Owner {
        match (self, other) {
            (Owner::Nobody, owner) | (owner, Owner::Nobody) => owner,
            (a, b) if a == b => a,
            _ => Owner::Several,
        }
    }
}

/// For each value of the graph, returns true if it is stored in working memory.
pub(crate) fn kept(graph: &Graph, roots: &[ValueId]) -> Vec<bool> {
    let count = graph.len();
    let mut kept = vec![false; count];
    for cut in graph.cuts() {
        kept[cut.0 as usize] = true;
    }
    let full = full_costs(graph);
    let mut owner = vec![Owner::Nobody; count];
    for (index, root) in roots.iter().enumerate() {
        let own = &mut owner[root.0 as usize];
        *own = own.and(Owner::Root(index as u32));
    }
    for index in (0..count).rev() {
        if owner[index] == Owner::Nobody {
            // No other value needs it.
            kept[index] = false;
            continue;
        }
        let node = graph.node(ValueId(index as u32));
        if matches!(node, Value::Number(_) | Value::Argument(..)) {
            kept[index] = false;
            continue;
        }
        if owner[index] == Owner::Several && full[index] >= WORTH_KEEPING {
            kept[index] = true;
        }
        let passed = if kept[index] {
            Owner::Value(index as u32)
        } else {
            owner[index]
        };
        for child in node.children() {
            let own = &mut owner[child.0 as usize];
            *own = own.and(passed);
        }
    }
    // Values that are cheap when their operands are stored need not be stored; large ones must be.
    let mut cost = vec![0u32; count];
    let mut size = vec![1u32; count];
    let mut cut = vec![false; count];
    for id in graph.cuts() {
        cut[id.0 as usize] = true;
    }
    for index in 0..count {
        let node = graph.node(ValueId(index as u32));
        cost[index] = own_cost(&node);
        for child in node.children().map(|child| child.0 as usize) {
            if !kept[child] {
                cost[index] = cost[index].saturating_add(cost[child]);
            }
            size[index] = size[index].saturating_add(if kept[child] { 1 } else { size[child] });
        }
        if kept[index] && cost[index] < WORTH_KEEPING && !cut[index] {
            kept[index] = false;
        }
        if size[index] > LARGEST_UNIT && owner[index] != Owner::Nobody {
            kept[index] = true;
        }
    }
    kept
}

/// Returns the cost of each value with all its parts; shared parts count at each occurrence.
fn full_costs(graph: &Graph) -> Vec<u32> {
    let mut costs: Vec<u32> = Vec::with_capacity(graph.len());
    for index in 0..graph.len() {
        let node = graph.node(ValueId(index as u32));
        let children = node.children().map(|child| costs[child.0 as usize]);
        costs.push(children.fold(own_cost(&node), u32::saturating_add));
    }
    costs
}

/// Returns the approximate cost of an operation, in additions.
fn own_cost(node: &Value) -> u32 {
    use super::operation::{Binary, Unary};
    match node {
        Value::Number(_) | Value::Argument(..) => 0,
        Value::Unary(operation, _) if operation.is_library_function() => 20,
        Value::Binary(operation, ..) if operation.is_library_function() => 20,
        Value::Unary(Unary::SquareRoot, _) | Value::Binary(Binary::Divide, ..) => 5,
        _ => 1,
    }
}
