//! Which values are computed for themselves: the outputs, and what several of them share.
//!
//! What is cheap is computed again where it is needed, since keeping it costs memory traffic; the rest is kept in working
//! memory. Every unit is a small tree over arguments, numbers and kept values.

use super::graph::{Graph, Value, ValueId};

/// What costs less than this is computed anew by each that needs it.
const WORTH_KEEPING: u32 = 4;

/// Larger trees are cut, so that no body grows beyond bounds.
const LARGEST_UNIT: u32 = 200;

/// What decides whether a value is shared.
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

/// For each value of the graph, whether it is kept in working memory.
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
            // Nothing needs it.
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
    // What is cheap once the values below it are kept need not be kept too; what is large must be.
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

/// The cost of each value with all that it is made of, shared parts counted each time.
fn full_costs(graph: &Graph) -> Vec<u32> {
    let mut costs: Vec<u32> = Vec::with_capacity(graph.len());
    for index in 0..graph.len() {
        let node = graph.node(ValueId(index as u32));
        let children = node.children().map(|child| costs[child.0 as usize]);
        costs.push(children.fold(own_cost(&node), u32::saturating_add));
    }
    costs
}

/// About how many additions an operation takes.
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
