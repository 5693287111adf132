//! The equations of the graph: nodes and loops of a linear graph over its normal tree, junctions of a bond graph.

use super::report::Rule;
use super::terms::{is_negative, positive};
use super::variables::{Table, place};
use crate::causality::{CausalityReport, Member};
use lgm_algebra::expr::{ExprId, SymbolId};
use lgm_equations::bond::BondGraph;
use lgm_model::{BondEnd, BondId, Connection, JunctionKind, Measure, NodeId, PortId, Variable};
use rustc_hash::{FxHashMap, FxHashSet};

/// An equation without a number.
#[derive(Clone, Debug)]
pub(super) struct Equation {
    pub(super) rule: Rule,
    pub(super) of: String,
    pub(super) left: ExprId,
    pub(super) right: ExprId,
    /// The variable that it is intended to determine.
    pub(super) gives: Option<SymbolId>,
    /// The state whose rate it determines; it determines no other variable.
    pub(super) state: Option<usize>,
    /// The expression whose derivative is the rate of the port's variable; only the derivative itself is printed.
    pub(super) rate_of: Option<ExprId>,
}

impl Equation {
    pub(super) fn new(rule: Rule, of: String, left: ExprId, right: ExprId) -> Equation {
        Equation {
            rule,
            of,
            left,
            right,
            gives: None,
            state: None,
            rate_of: None,
        }
    }
}

/// A link between two nodes; through is positive from the first to the second.
struct Edge {
    name: String,
    ends: [usize; 2],
    across: ExprId,
    through: ExprId,
    is_branch: Option<bool>,
    /// The state, for a velocity without its own inertia.
    velocity: Option<usize>,
}

/// The linear graph with its tree.
struct Tree {
    edges: Vec<Edge>,
    in_tree: Vec<bool>,
    /// For each node, the edge towards its root and the node at its other end; the reference is the last node.
    up: Vec<Option<(usize, usize)>>,
    depth: Vec<usize>,
}

/// Returns all equations of the graph, and registers the measured variables of nodes and junctions in the table.
pub(super) fn graph_equations(table: &mut Table<'_>, graph: &BondGraph, causality: &CausalityReport) -> Vec<Equation> {
    let model = table.names.model;
    let mut is_node = vec![false; model.graph.nodes.len()];
    if let Some(tree) = &causality.tree {
        let touched = tree.members.iter().filter_map(|member| match member.of {
            Member::Port(port) => Some(PortId(port as u32)),
            Member::Bond(_) => None,
        });
        for port in touched {
            if let Connection::Branch { from, to, .. } = &model.graph.ports[port.index()].connection {
                [from, to]
                    .into_iter()
                    .flatten()
                    .for_each(|node| is_node[node.index()] = true);
            }
        }
        for (at, node) in model.graph.nodes.iter().enumerate() {
            is_node[at] |= node.is_graph_node;
        }
    }
    let tree = Tree::new(table, graph, causality, &is_node);
    let mut found = tree.node_equations(table);
    found.extend(tree.loop_equations(table));
    let mut commons: FxHashMap<NodeId, ExprId> = FxHashMap::default();
    for at in 0..model.graph.nodes.len() as u32 {
        let node = NodeId(at);
        let common = match is_node[node.index()] {
            true => Some(tree.across_of(table, node.index())),
            false => junction_equations(table, graph, causality, node, &mut found),
        };
        commons.extend(common.map(|common| (node, common)));
    }
    direct_bonds(table, &mut found);
    for (symbol, measure) in &model.measures {
        let value = match measure {
            Measure::PortEffort(port) => Some(table.port(*port, Variable::Effort)),
            Measure::PortFlow(port) => Some(table.port(*port, Variable::Flow)),
            Measure::BondEffort(bond) => Some(table.bonds[bond.index()][0]),
            Measure::BondFlow(bond) => Some(table.bonds[bond.index()][1]),
            Measure::Common(node) => commons.get(node).copied(),
        };
        if let Some(value) = value {
            table.measured(*symbol, value);
        }
    }
    found
}

impl Tree {
    fn new(table: &mut Table<'_>, graph: &BondGraph, causality: &CausalityReport, is_node: &[bool]) -> Tree {
        let edges = edges(table, graph, causality, is_node);
        let reference = is_node.len();
        let mut group: Vec<usize> = (0..=reference).collect();
        let mut in_tree = vec![false; edges.len()];
        // Members that may be branches or links join the tree unless they close a loop.
        for wanted in [Some(true), None, Some(false)] {
            for (at, edge) in edges.iter().enumerate().filter(|entry| entry.1.is_branch == wanted) {
                let [a, b] = edge.ends.map(|end| group[end]);
                if a != b {
                    in_tree[at] = true;
                    group.iter_mut().filter(|each| **each == a).for_each(|each| *each = b);
                }
            }
        }
        let mut tree = Tree {
            edges,
            in_tree,
            up: vec![None; reference + 1],
            depth: vec![usize::MAX; reference + 1],
        };
        tree.hang();
        tree
    }

    /// Connects every part of the tree to its root, which is the reference if the part contains it.
    fn hang(&mut self) {
        let mut beside: Vec<Vec<(usize, usize)>> = vec![Vec::new(); self.up.len()];
        for (at, edge) in self.edges.iter().enumerate().filter(|entry| self.in_tree[entry.0]) {
            beside[edge.ends[0]].push((at, edge.ends[1]));
            beside[edge.ends[1]].push((at, edge.ends[0]));
        }
        for root in (0..self.up.len()).rev() {
            if self.depth[root] != usize::MAX {
                continue;
            }
            self.depth[root] = 0;
            let mut waiting = vec![root];
            while let Some(node) = waiting.pop() {
                for (edge, next) in &beside[node] {
                    if self.depth[*next] == usize::MAX {
                        self.up[*next] = Some((*edge, node));
                        self.depth[*next] = self.depth[node] + 1;
                        waiting.push(*next);
                    }
                }
            }
        }
    }

    /// Returns the through variables at each node except the roots: inflow minus outflow.
    fn node_equations(&self, table: &mut Table<'_>) -> Vec<Equation> {
        let mut at_node: Vec<Vec<usize>> = vec![Vec::new(); self.up.len()];
        for (at, edge) in self
            .edges
            .iter()
            .enumerate()
            .filter(|entry| entry.1.ends[0] != entry.1.ends[1])
        {
            edge.ends.iter().for_each(|end| at_node[*end].push(at));
        }
        let mut found = Vec::new();
        // The reference comes last, and is a root.
        for (node, beside) in at_node.iter().enumerate().take(self.up.len() - 1) {
            let Some((branch, _)) = self.up[node] else { continue };
            let mut terms = Vec::new();
            for edge in beside {
                let through = self.edges[*edge].through;
                terms.push(match self.edges[*edge].ends[1] == node {
                    true => through,
                    false => table.exprs.neg(through),
                });
            }
            let left = added(table, terms);
            let zero = table.exprs.zero();
            let name = table.names.node(NodeId(node as u32));
            let mut equation = Equation::new(Rule::Node, name, left, zero);
            equation.gives = table.as_variable(self.edges[branch].through);
            equation.state = self.edges[branch].velocity;
            found.push(equation);
        }
        found
    }

    /// Returns the loop that each link closes with branches of the tree.
    fn loop_equations(&self, table: &mut Table<'_>) -> Vec<Equation> {
        let mut found = Vec::new();
        for (at, edge) in self.edges.iter().enumerate().filter(|entry| !self.in_tree[entry.0]) {
            let mut terms = self.between(table, edge.ends[0], edge.ends[1]);
            terms.push(table.exprs.neg(self.edges[at].across));
            let left = added(table, terms);
            let zero = table.exprs.zero();
            let mut equation = Equation::new(Rule::Loop, edge.name.clone(), left, zero);
            equation.gives = table.as_variable(edge.across);
            found.push(equation);
        }
        found
    }

    /// Returns the across variables of the branches from one node to another.
    fn between(&self, table: &mut Table<'_>, mut from: usize, mut to: usize) -> Vec<ExprId> {
        let (mut first, mut last) = (Vec::new(), Vec::new());
        while from != to {
            let is_first = self.depth[from] >= self.depth[to];
            let node = if is_first { &mut from } else { &mut to };
            let Some((edge, next)) = self.up[*node] else { break };
            // True if the branch is traversed in its drawn direction.
            let is_along = (self.edges[edge].ends[0] == *node) == is_first;
            let across = self.edges[edge].across;
            let term = if is_along { across } else { table.exprs.neg(across) };
            *node = next;
            match is_first {
                true => first.push(term),
                false => last.push(term),
            }
        }
        first.extend(last.into_iter().rev());
        first
    }

    /// Returns the across variable of a node against the root of its part.
    fn across_of(&self, table: &mut Table<'_>, mut node: usize) -> ExprId {
        let mut terms = Vec::new();
        while let Some((edge, next)) = self.up[node] {
            let across = self.edges[edge].across;
            terms.push(match self.edges[edge].ends[0] == node {
                true => across,
                false => table.exprs.neg(across),
            });
            node = next;
        }
        table.exprs.sum(terms)
    }
}

/// Returns a sum that is zero, with positive terms first.
fn added(table: &mut Table<'_>, mut terms: Vec<ExprId>) -> ExprId {
    terms.retain(|term| !table.exprs.is_zero(*term));
    if terms.iter().all(|term| is_negative(&table.exprs, *term)) {
        terms.iter_mut().for_each(|term| *term = table.exprs.neg(*term));
    }
    terms.sort_by_key(|term| is_negative(&table.exprs, *term));
    table.exprs.sum(terms)
}

/// Returns the branches of ports in the order in which causality was decided, and bonds at nodes.
fn edges(table: &mut Table<'_>, graph: &BondGraph, causality: &CausalityReport, is_node: &[bool]) -> Vec<Edge> {
    let model = table.names.model;
    let reference = model.graph.nodes.len();
    let end = |node: &Option<NodeId>| node.map_or(reference, NodeId::index);
    let members = causality.tree.iter().flat_map(|tree| &tree.members);
    let mut found = Vec::new();
    let mut bonds: FxHashMap<(usize, String), Option<bool>> = FxHashMap::default();
    let mut ports: Vec<(PortId, usize, Option<bool>)> = Vec::new();
    for (order, member) in members.enumerate() {
        match member.of {
            Member::Port(at) => ports.push((PortId(at as u32), order, member.is_branch)),
            Member::Bond(at) => {
                let node = member.ends.0.clone().unwrap_or_default();
                bonds.insert((at, node), member.is_branch);
            }
        }
    }
    // Equations are in declaration order, independent of the order of decisions.
    ports.sort_by_key(|entry| entry.0);
    for (port, _, is_branch) in ports {
        let info = &model.graph.ports[port.index()];
        let Connection::Branch { from, to, .. } = &info.connection else {
            continue;
        };
        let effort_is_across = table.names.effort_is_across(port) == Some(true);
        let (across, through) = match effort_is_across {
            true => (Variable::Effort, Variable::Flow),
            false => (Variable::Flow, Variable::Effort),
        };
        let is_velocity = model.graph.elements[info.element.index()].is_velocity();
        found.push(Edge {
            name: table.names.port(port),
            ends: [end(from), end(to)],
            across: table.port(port, across),
            through: table.port(port, through),
            is_branch,
            velocity: table.state_of.get(&port).copied().filter(|_| is_velocity),
        });
    }
    for (at, bond) in model.graph.bonds.iter().enumerate() {
        for (is_tail, own, other) in [(true, bond.tail, bond.head), (false, bond.head, bond.tail)] {
            let BondEnd::Node(node) = own else { continue };
            if !is_node[node.index()] {
                continue;
            }
            let common = place(model.graph.nodes[node.index()].kind.common());
            let place = (graph.drawn[at] as usize, table.names.node(node));
            // The other variable of the bond leaves the node at its tail, and enters at its head.
            let leaving = table.bonds[at][1 - common];
            found.push(Edge {
                name: table.names.bond_end(other),
                ends: [node.index(), reference],
                across: table.bonds[at][common],
                through: if is_tail { leaving } else { table.exprs.neg(leaving) },
                is_branch: bonds.get(&place).copied().flatten(),
                velocity: None,
            });
        }
    }
    found
}

/// Adds the equations of a junction; returns its common variable.
fn junction_equations(
    table: &mut Table<'_>,
    graph: &BondGraph,
    causality: &CausalityReport,
    node: NodeId,
    found: &mut Vec<Equation>,
) -> Option<ExprId> {
    let model = table.names.model;
    let kind = model.graph.nodes[node.index()].kind;
    let bonds: Vec<(BondId, bool)> = (model.graph.bonds.iter().enumerate())
        .flat_map(|(at, bond)| {
            let id = BondId(at as u32);
            let ends = [(bond.tail, false), (bond.head, true)];
            ends.into_iter()
                .filter(move |entry| entry.0 == BondEnd::Node(node))
                .map(move |entry| (id, entry.1))
        })
        .collect();
    let junction = graph.node_junctions[node.index()] as usize;
    let set_by = causality.junctions.get(junction).and_then(|junction| junction.set_by);
    let setter = bonds
        .iter()
        .find(|bond| Some(graph.drawn[bond.0.index()] as usize) == set_by);
    let setter = setter.or(bonds.first())?.0;
    let common = place(kind.common());
    let name = junction_name(table, node, kind);
    let given = table.bonds[setter.index()][common];
    let mut seen: FxHashSet<BondId> = FxHashSet::default();
    let mut terms = Vec::new();
    for (bond, is_head) in &bonds {
        let own = table.bonds[bond.index()];
        if *bond != setter && seen.insert(*bond) {
            found.push(equal(table, &name, own[common], given));
        }
        terms.push(match is_head {
            true => own[1 - common],
            false => table.exprs.neg(own[1 - common]),
        });
    }
    let left = added(table, terms);
    let zero = table.exprs.zero();
    let mut sum = Equation::new(Rule::Junction, name, left, zero);
    sum.gives = table.as_variable(table.bonds[setter.index()][1 - common]);
    found.push(sum);
    Some(given)
}

/// Formats `1-junction A`.
fn junction_name(table: &Table<'_>, node: NodeId, kind: JunctionKind) -> String {
    let digit = match kind {
        JunctionKind::Zero => 0,
        JunctionKind::One => 1,
    };
    format!("{digit}-junction {}", table.names.node(node))
}

/// Adds the equations of direct bonds: two elements at the ends of one bond share its effort and its flow.
fn direct_bonds(table: &mut Table<'_>, found: &mut Vec<Equation>) {
    let model = table.names.model;
    for (at, bond) in model.graph.bonds.iter().enumerate() {
        let (BondEnd::Port(tail), BondEnd::Port(head)) = (bond.tail, bond.head) else {
            continue;
        };
        let name = format!("bond {} -> {}", table.names.port(tail), table.names.port(head));
        for variable in [0, 1] {
            let (left, right) = (table.ports[head.index()][variable], table.bonds[at][variable]);
            found.push(equal(table, &name, left, right));
        }
    }
}

/// Builds `left = right`, with the variable to be replaced on the left.
fn equal(table: &mut Table<'_>, of: &str, left: ExprId, right: ExprId) -> Equation {
    let (left, right) = positive(&mut table.exprs, left, right);
    let mut equation = Equation::new(Rule::Junction, of.to_string(), left, right);
    equation.gives = table.as_variable(left).filter(|own| table.unknowns.contains(own));
    equation
}
