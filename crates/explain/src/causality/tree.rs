//! The normal tree of a linear graph, derived from its causality: a branch sets its across variable, a link its through variable.

use super::report::{CausalityReport, Member, NormalTree, Role, TreeMember};
use crate::names::Names;
use lgm_equations::bond::{BondGraph, End as GraphEnd};
use lgm_equations::causality::scap::Assignment;
use lgm_equations::causality::words::{list, quantity};
use lgm_model::{BondEnd, Connection, Law, Model, NodeId, PortId, Variable};
use std::collections::VecDeque;

/// The work limit, in examined members, up to which the cuts of branches are listed.
const LOOKS: usize = 20_000_000;

/// A branch of the graph whose rule is not known yet.
struct Edge {
    of: Member,
    name: String,
    ends: (Option<NodeId>, Option<NodeId>),
    is_branch: Option<bool>,
}

/// Returns the tree of a model; `None` if it has no branches.
pub(super) fn tree(
    names: Names<'_>,
    assignment: &Assignment,
    order: &[PortId],
    report: &CausalityReport,
) -> Option<NormalTree> {
    let edges = edges(names, assignment, order, report);
    if !edges.iter().any(|edge| matches!(edge.of, Member::Port(_))) {
        return None;
    }
    let forest = Forest::of(names.model.graph.nodes.len(), &edges);
    let mut looks = 0;
    let rules: Vec<String> = edges
        .iter()
        .map(|edge| rule(names, report, &edges, &forest, edge, &mut looks))
        .collect();
    let name = |node: NodeId| names.node(node);
    let members = edges.iter().zip(rules).map(|(edge, rule)| TreeMember {
        of: edge.of,
        name: edge.name.clone(),
        ends: (edge.ends.0.map(name), edge.ends.1.map(name)),
        gives: gives(names, report, edge),
        is_branch: edge.is_branch,
        rule,
    });
    Some(NormalTree {
        members: members.collect(),
    })
}

/// Returns all branches of the graph in the order of decision, with branches of couplers at the step that assigned their stroke. Also
/// returns bonds at nodes, which act between the node and the reference.
fn edges(names: Names<'_>, assignment: &Assignment, order: &[PortId], report: &CausalityReport) -> Vec<Edge> {
    let Names { model, graph } = names;
    let mut is_decided = vec![false; model.graph.ports.len()];
    order.iter().for_each(|port| is_decided[port.index()] = true);
    let others = (0..model.graph.ports.len() as u32)
        .map(PortId)
        .filter(|port| !is_decided[port.index()]);
    let ports: Vec<PortId> = order.iter().copied().chain(others).collect();
    let mut found = Vec::new();
    for port in ports {
        let Connection::Branch { from, to, .. } = &model.graph.ports[port.index()].connection else {
            continue;
        };
        let across = names.effort_is_across(port).map(|effort| match effort {
            true => Variable::Effort,
            false => Variable::Flow,
        });
        found.push(Edge {
            of: Member::Port(port.index()),
            name: names.port(port),
            ends: (*from, *to),
            is_branch: report.ports[port.index()].taken.map(|taken| Some(taken) != across),
        });
    }
    for (index, bond) in model.graph.bonds.iter().enumerate() {
        for (end, other) in [(bond.tail, bond.head), (bond.head, bond.tail)] {
            let BondEnd::Node(node) = end else { continue };
            if model.graph.nodes[node.index()].is_graph_node {
                let bond = graph.drawn[index];
                found.push(Edge {
                    of: Member::Bond(bond as usize),
                    name: names.bond_end(other),
                    ends: (Some(node), None),
                    is_branch: sets_node(graph, assignment, bond, node),
                });
            }
        }
    }
    found
}

/// Returns the variable that a member sets, with its name in the domain.
fn gives(names: Names<'_>, report: &CausalityReport, edge: &Edge) -> Option<String> {
    let is_branch = edge.is_branch?;
    match edge.of {
        Member::Port(at) => {
            let port = &report.ports[at];
            let is_effort = (port.effort_is_across == Some(true)) == is_branch;
            Some(if is_effort {
                port.words.0.clone()
            } else {
                port.words.1.clone()
            })
        }
        Member::Bond(_) => {
            let domain = names.model.graph.nodes[edge.ends.0?.index()].domain?;
            Some(quantity(&names.model.graph.domains[domain.index()], is_branch))
        }
    }
}

/// Returns true if a bond sets the across variable of a node at its end.
fn sets_node(graph: &BondGraph, assignment: &Assignment, bond: u32, node: NodeId) -> Option<bool> {
    let junction = graph.node_junctions[node.index()];
    let stroke = assignment.strokes[bond as usize]?;
    let imposed = stroke.imposed(&graph.bonds[bond as usize], GraphEnd::Junction(junction));
    Some(imposed == graph.junctions[junction as usize].kind.common())
}

/// The tree, with the path from each node to a root. The reference is the last node.
struct Forest {
    /// The edge towards the root, and the node at its other end.
    up: Vec<Option<(usize, usize)>>,
    depth: Vec<usize>,
    root: Vec<usize>,
}

impl Forest {
    fn of(nodes: usize, edges: &[Edge]) -> Forest {
        let mut beside: Vec<Vec<(usize, usize)>> = vec![Vec::new(); nodes + 1];
        for (at, edge) in edges.iter().enumerate().filter(|entry| entry.1.is_branch == Some(true)) {
            let (a, b) = places(edge, nodes);
            beside[a].push((at, b));
            beside[b].push((at, a));
        }
        let mut forest = Forest {
            up: vec![None; nodes + 1],
            depth: vec![usize::MAX; nodes + 1],
            root: vec![0; nodes + 1],
        };
        for root in (0..=nodes).rev() {
            if forest.depth[root] != usize::MAX {
                continue;
            }
            (forest.depth[root], forest.root[root]) = (0, root);
            let mut queue = VecDeque::from([root]);
            while let Some(node) = queue.pop_front() {
                for (edge, next) in &beside[node] {
                    if forest.depth[*next] == usize::MAX {
                        forest.up[*next] = Some((*edge, node));
                        forest.depth[*next] = forest.depth[node] + 1;
                        forest.root[*next] = root;
                        queue.push_back(*next);
                    }
                }
            }
        }
        forest
    }

    /// Returns the branches between two nodes; `None` if the tree does not connect them.
    fn path(&self, mut a: usize, mut b: usize) -> Option<Vec<usize>> {
        if self.root[a] != self.root[b] {
            return None;
        }
        let (mut left, mut right) = (Vec::new(), Vec::new());
        while a != b {
            let (from, found) = match self.depth[a] >= self.depth[b] {
                true => (&mut a, &mut left),
                false => (&mut b, &mut right),
            };
            let (edge, next) = self.up[*from]?;
            found.push(edge);
            *from = next;
        }
        left.extend(right.into_iter().rev());
        Some(left)
    }

    /// Returns the nodes that are connected to their root only through one tree branch.
    fn behind(&self, edge: usize) -> Vec<bool> {
        let mut order: Vec<usize> = (0..self.up.len()).collect();
        order.sort_by_key(|node| self.depth[*node]);
        let mut behind = vec![false; self.up.len()];
        for node in order {
            if let Some((own, next)) = self.up[node] {
                behind[node] = own == edge || behind[next];
            }
        }
        behind
    }
}

fn places(edge: &Edge, reference: usize) -> (usize, usize) {
    let place = |node: Option<NodeId>| node.map_or(reference, NodeId::index);
    (place(edge.ends.0), place(edge.ends.1))
}

/// Returns the rule that placed a member in the tree or outside.
fn rule(
    names: Names<'_>,
    report: &CausalityReport,
    edges: &[Edge],
    forest: &Forest,
    edge: &Edge,
    looks: &mut usize,
) -> String {
    let loops = || closing(names.model, edges, forest, edge);
    let Some(is_branch) = edge.is_branch else {
        return "either: the equations of its coupler loop are solved together".to_string();
    };
    let Member::Port(place) = edge.of else {
        return match is_branch {
            true => "a branch: the bond graph at the bond sets the node".to_string(),
            false => "a link: the node sets the bond graph at the bond".to_string(),
        };
    };
    let port = PortId(place as u32);
    let info = &report.ports[place];
    let effort_is_across = info.effort_is_across == Some(true);
    let is_across = |variable: Variable| effort_is_across == (variable == Variable::Effort);
    let across = names.word(
        port,
        if effort_is_across {
            Variable::Effort
        } else {
            Variable::Flow
        },
    );
    let through = names.word(
        port,
        if effort_is_across {
            Variable::Flow
        } else {
            Variable::Effort
        },
    );
    let conflict = report.conflicts.contains(&place);
    if report.by_hand.contains(&place) {
        let word = if is_branch { "branch" } else { "link" };
        return format!("set by hand: a {word}");
    }
    match (info.role, is_branch) {
        (Role::Source(given), true) if is_across(given) => format!("always a branch: it sets its {across}"),
        (Role::Source(given), false) if !is_across(given) => format!("always a link: it sets its {through}"),
        (Role::Source(given), _) if conflict && is_across(given) => format!("in conflict{}", and(loops())),
        (Role::Source(_), _) if conflict => match cut(names, edges, forest, edge, looks) {
            Some((nodes, links)) => format!("in conflict: without it, only {links} {} {nodes}", connect(&links)),
            None => "in conflict".to_string(),
        },
        (Role::Source(_), _) => "in conflict".to_string(),
        (Role::Storage(co_energy), true) if is_across(co_energy) => {
            "A-type storage: a branch, because it closes no loop with earlier sources and A-type storage".to_string()
        }
        (Role::Storage(co_energy), false) if is_across(co_energy) => match loops() {
            Some(path) => format!("A-type storage, but a link: with {path} it would close a loop of branches"),
            None => format!("A-type storage, but a link: its {across} is already set"),
        },
        (Role::Storage(_), false) => match loops() {
            Some(path) => format!("T-type storage: a link; {path} {} its ends", join(&path)),
            None => "T-type storage: a link".to_string(),
        },
        (Role::Storage(_), true) => match cut(names, edges, forest, edge, looks) {
            Some((nodes, links)) => {
                format!("T-type storage, but a branch: without it only {links} would connect {nodes}")
            }
            None => format!("T-type storage, but a branch: its {through} is already set"),
        },
        (Role::Velocity, true) => {
            format!(
                "no storage: the {across} is a state, because a modulus depends on its integral; a branch before \
                 storage"
            )
        }
        (Role::Velocity, false) => format!("no storage: a modulus depends on the integral of its {across}"),
        (Role::Dissipator, true) => "dissipator: a branch, because it closes no loop with earlier branches".to_string(),
        (Role::Dissipator, false) => match loops() {
            Some(path) => format!("dissipator: a link, because with {path} it would close a loop of branches"),
            None => "dissipator: a link".to_string(),
        },
        (Role::Coupler, _) => coupled(names, report, port, is_branch, (&across, &through)),
    }
}

/// Returns "joins", or "join" for several branches.
fn join(path: &str) -> &'static str {
    match path.contains(" and ") {
        true => "join",
        false => "joins",
    }
}

/// Returns "connects", or "connect" for several branches.
fn connect(branches: &str) -> &'static str {
    match branches.contains(" and ") {
        true => "connect",
        false => "connects",
    }
}

fn and(path: Option<String>) -> String {
    path.map_or(String::new(), |path| format!(": it closes a loop with {path}"))
}

/// Returns the branches with which a link closes a loop.
fn closing(model: &Model, edges: &[Edge], forest: &Forest, edge: &Edge) -> Option<String> {
    let (a, b) = places(edge, model.graph.nodes.len());
    let path = forest.path(a, b)?;
    let names: Vec<String> = path.iter().map(|at| edges[*at].name.clone()).collect();
    (!names.is_empty()).then(|| list(&names))
}

/// Returns the nodes beyond a branch, and the links that also lead there. `None` if one of these members may also be a branch.
fn cut(names: Names<'_>, edges: &[Edge], forest: &Forest, edge: &Edge, looks: &mut usize) -> Option<(String, String)> {
    *looks += edges.len() + forest.up.len();
    if *looks > LOOKS {
        return None;
    }
    let reference = names.model.graph.nodes.len();
    let own = edges.iter().position(|other| std::ptr::eq(other, edge))?;
    let behind = forest.behind(own);
    let crosses = |other: &&Edge| {
        let (a, b) = places(other, reference);
        !std::ptr::eq(*other, edge) && behind[a] != behind[b]
    };
    if edges.iter().filter(crosses).any(|other| other.is_branch.is_none()) {
        return None;
    }
    let links: Vec<String> = edges.iter().filter(crosses).map(|other| other.name.clone()).collect();
    let nodes = (0..reference).filter(|at| behind[*at]);
    let nodes: Vec<String> = nodes.map(|at| names.node(NodeId(at as u32))).collect();
    (!links.is_empty() && !nodes.is_empty()).then(|| (list(&nodes), list(&links)))
}

/// Returns the rule of a coupler's port, from its other ports.
fn coupled(
    names: Names<'_>,
    report: &CausalityReport,
    port: PortId,
    is_branch: bool,
    (across, through): (&str, &str),
) -> String {
    let model = names.model;
    let id = model.graph.ports[port.index()].element;
    let Law::Coupler { input, output, matrix } = &model.graph.elements[id.index()].law else {
        return String::new();
    };
    let word = if is_branch { "a branch" } else { "a link" };
    let gives = if is_branch { across } else { through };
    let others: Vec<PortId> = model.ports_of(id).filter(|other| *other != port).collect();
    let [other] = others[..] else {
        return format!("coupler: {word} here, because it sets the {gives}");
    };
    let is_scalar = matrix.rows == 1 && matrix.columns == 1;
    let across_of = |port: PortId| {
        names.effort_is_across(port).map(|effort| match effort {
            true => Variable::Effort,
            false => Variable::Flow,
        })
    };
    let (Some(own), Some(far), true) = (across_of(port), across_of(other), is_scalar) else {
        return format!("coupler: {word} here, because it sets the {gives}");
    };
    let Some(taken) = report.ports[other.index()].taken else {
        return format!("coupler: {word} here, because it sets the {gives}");
    };
    let far_word = if taken == far { "a link" } else { "a branch" };
    // The pairs of tied across variables on the two sides.
    let first = PortId(model.graph.elements[id.index()].ports.start);
    let (a, b) = if port == first {
        (*input, *output)
    } else {
        (*output, *input)
    };
    let is_transformer = (own == a) == (far == b);
    let name = names.port(other);
    match is_transformer {
        true => format!("transformer: one port is a branch, the other a link; {name} is {far_word}"),
        false => format!("gyrator: both ports are branches, or both links; {name} is {far_word}"),
    }
}
