//! The nodes and branches of a linear graph, with vectors merged.

use crate::content::Content;
use crate::drawing::Source;
use lgm_equations::bond::Origin;
use lgm_explain::causality::{End, Member, Role};
use lgm_model::{BondEnd, Connection, ElementId, Model, NodeId, PathId, PortId, Variable};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A linear graph to be drawn.
#[derive(Debug, Default)]
pub(super) struct Graph {
    pub(super) nodes: Vec<GraphNode>,
    pub(super) branches: Vec<Branch>,
    pub(super) couplers: Vec<Coupler>,
}

/// A node, or a vector of nodes.
#[derive(Debug)]
pub(super) struct GraphNode {
    pub(super) name: String,
    pub(super) domain: Option<Arc<str>>,
    pub(super) width: usize,
}

/// A branch; an end that is `None` is the reference.
#[derive(Debug)]
pub(super) struct Branch {
    pub(super) element: String,
    /// `mass`, `gears.a`.
    pub(super) name: String,
    /// The text at the branch.
    pub(super) label: String,
    pub(super) kind: Arc<str>,
    pub(super) domain: Option<Arc<str>>,
    pub(super) ends: (Option<usize>, Option<usize>),
    pub(super) tree: Option<bool>,
    pub(super) width: usize,
    pub(super) source: Option<Source>,
    pub(super) coupler: Option<usize>,
    /// For storage, true if it has a state.
    pub(super) integral: Option<bool>,
    /// True if the branch is on the path between conflicting sources.
    pub(super) conflict: bool,
    /// The modulating signals of the element.
    pub(super) modulation: Vec<String>,
}

impl Branch {
    /// Returns true for a branch between two nodes.
    pub(super) fn is_between(&self) -> bool {
        self.ends.0.is_some() && self.ends.1.is_some()
    }
}

/// The coupler of two or more branches.
#[derive(Debug)]
pub(super) struct Coupler {
    pub(super) element: String,
    pub(super) text: String,
    pub(super) branches: Vec<usize>,
}

/// Returns the reason why a model has no linear graph: a junction, or a bond that is not between nodes.
pub(crate) fn obstacle(model: &Model) -> Option<String> {
    let of_bond_graph = |node: &&lgm_model::Node| !node.is_graph_node && !is_inside(model, node.path);
    if let Some(junction) = model.graph.nodes.iter().find(of_bond_graph) {
        let name = model.path_name(junction.path);
        return Some(format!(
            "`{name}` is a bond graph junction without a corresponding node"
        ));
    }
    for bond in &model.graph.bonds {
        let name = |end: BondEnd| match end {
            BondEnd::Node(node) => model.path_name(model.graph.nodes[node.index()].path),
            BondEnd::Port(port) => model.element_name(model.graph.ports[port.index()].element),
        };
        if matches!(
            (bond.tail, bond.head),
            (BondEnd::Port(_), BondEnd::Port(_)) | (BondEnd::Node(_), BondEnd::Node(_))
        ) {
            let (tail, head) = (name(bond.tail), name(bond.head));
            return Some(format!("the bond from `{tail}` to `{head}` is not a branch"));
        }
    }
    None
}

/// Returns true for a part of a modal block.
fn is_inside(model: &Model, path: PathId) -> bool {
    let parent = model.paths[path.index()].parent;
    parent.is_some_and(|parent| model.graph.elements.iter().any(|element| element.path == parent))
}

/// The drawn node of each model node.
struct Nodes {
    of_path: FxHashMap<PathId, usize>,
}

impl Nodes {
    /// Returns the drawn node of a node; `None` within a box.
    fn get(&self, content: &Content<'_>, node: NodeId) -> Option<usize> {
        self.of_path.get(&content.model.graph.nodes[node.index()].path).copied()
    }
}

/// Reads the graph of a model.
pub(super) fn read(content: &Content<'_>) -> Graph {
    let model = content.model;
    let mut graph = Graph::default();
    let mut nodes = Nodes {
        of_path: FxHashMap::default(),
    };
    for (index, node) in model.graph.nodes.iter().enumerate() {
        if content.boxes.of_node(NodeId(index as u32)).is_some() {
            continue;
        }
        let place = *nodes.of_path.entry(node.path).or_insert_with(|| {
            graph.nodes.push(GraphNode {
                name: model.path_name(node.path),
                domain: content.domain(node.domain),
                width: 0,
            });
            graph.nodes.len() - 1
        });
        graph.nodes[place].width += 1;
    }
    branches(content, &nodes, &mut graph);
    couplers(content, &mut graph);
    velocities(content, &nodes, &mut graph);
    graph
}

/// The ends of a port as a branch, and its domain; none if it is within a box.
type Ends = (Option<usize>, Option<usize>);

fn ends(content: &Content<'_>, nodes: &Nodes, port: PortId) -> Option<(Ends, Option<Arc<str>>)> {
    let model = content.model;
    let info = &model.graph.ports[port.index()];
    let outer = |node: Option<NodeId>| node.and_then(|node| nodes.get(content, node));
    let (ends, domain) = match &info.connection {
        Connection::Branch { from, to, .. } => ((outer(*from), outer(*to)), info.domain),
        Connection::Bond(bond) => {
            let bond = &model.graph.bonds[bond.index()];
            let domain = |node: NodeId| model.graph.nodes[node.index()].domain;
            match (bond.tail, bond.head) {
                (BondEnd::Node(node), _) => ((outer(Some(node)), None), domain(node)),
                (_, BondEnd::Node(node)) => ((None, outer(Some(node))), domain(node)),
                _ => return None,
            }
        }
    };
    (ends != (None, None)).then(|| (ends, content.domain(domain)))
}

fn branches(content: &Content<'_>, nodes: &Nodes, graph: &mut Graph) {
    let model = content.model;
    let members = members(content);
    // The entries of a vector port are one branch.
    let mut known: FxHashMap<(ElementId, Option<Arc<str>>, Ends), usize> = FxHashMap::default();
    for (index, info) in model.graph.ports.iter().enumerate() {
        let port = PortId(index as u32);
        let Some((ends, domain)) = ends(content, nodes, port) else {
            continue;
        };
        let tree = members.get(&port).copied().flatten();
        let is_boxed = content.boxes.of_element(info.element).is_some();
        let key = match is_boxed {
            true => (
                info.element,
                Some(Arc::from(content.report.ports[index].name.as_str())),
                ends,
            ),
            false => (info.element, info.name.clone(), ends),
        };
        if let Some(place) = known.get(&key) {
            let branch: &mut Branch = &mut graph.branches[*place];
            branch.width += 1;
            branch.conflict |= content.conflict.ports.contains(&index);
            branch.tree = branch.tree.filter(|known| Some(*known) == tree);
            continue;
        }
        known.insert(key, graph.branches.len());
        let element = content.name(info.element);
        let role = content.report.ports[index].role;
        let source = match (role, content.report.ports[index].effort_is_across) {
            (Role::Source(given), effort_is_across) if !content.is_switched(info.element) => {
                let is_effort = given == Variable::Effort;
                Some(match is_effort == effort_is_across.unwrap_or(true) {
                    true => Source::Across,
                    false => Source::Through,
                })
            }
            _ => None,
        };
        let name = match &info.name {
            Some(_) if is_boxed => content.report.ports[index].name.clone(),
            Some(own) => format!("{element}.{own}"),
            None => element.clone(),
        };
        graph.branches.push(Branch {
            kind: content.kind(info.element),
            label: name.clone(),
            name,
            element,
            domain,
            ends,
            tree,
            width: 1,
            source,
            coupler: None,
            integral: content.is_integral(info.element),
            conflict: content.conflict.ports.contains(&index),
            modulation: content.modulation(info.element),
        });
    }
}

/// Adds velocities that are states because a modulus depends on their integrals: branches of the tree without an element.
fn velocities(content: &Content<'_>, nodes: &Nodes, graph: &mut Graph) {
    let model = content.model;
    for (at, port) in content.report.ports.iter().enumerate().skip(model.graph.ports.len()) {
        let own = content
            .report
            .bonds
            .iter()
            .find_map(|bond| match (bond.tail, bond.head) {
                (End::Junction(junction), End::Port(port)) | (End::Port(port), End::Junction(junction))
                    if port == at =>
                {
                    Some(junction)
                }
                _ => None,
            });
        let origin = own.and_then(|junction| content.graph.junctions.get(junction));
        let (ends, domain) = match origin.map(|junction| junction.origin) {
            Some(Origin::Node(node)) => ((nodes.get(content, node), None), model.graph.nodes[node.index()].domain),
            Some(Origin::Branch(branch)) => match ends(content, nodes, branch) {
                Some((ends, _)) => (ends, model.graph.ports[branch.index()].domain),
                None => continue,
            },
            _ => continue,
        };
        if ends == (None, None) {
            continue;
        }
        let name = format!("velocity of {}", port.name);
        let across = match port.effort_is_across {
            Some(false) => Variable::Flow,
            _ => Variable::Effort,
        };
        graph.branches.push(Branch {
            element: name.clone(),
            name,
            label: "velocity".to_string(),
            kind: Arc::from("a velocity that is a state, because a modulus depends on its integral"),
            domain: content.domain(domain),
            ends,
            tree: port.taken.map(|taken| taken != across),
            width: 1,
            source: None,
            coupler: None,
            integral: None,
            conflict: false,
            modulation: Vec::new(),
        });
    }
}

/// For each port, returns true if it is a branch of the normal tree.
fn members(content: &Content<'_>) -> FxHashMap<PortId, Option<bool>> {
    let members = content.report.tree.iter().flat_map(|tree| &tree.members);
    let sides = content.graph.ports.iter().enumerate();
    let bonds: FxHashMap<usize, PortId> = sides
        .map(|(port, side)| (side.bond as usize, PortId(port as u32)))
        .collect();
    let port = |of: Member| match of {
        Member::Port(port) => Some(PortId(port as u32)),
        Member::Bond(bond) => bonds.get(&bond).copied(),
    };
    members
        .filter_map(|member| Some((port(member.of)?, member.is_branch)))
        .collect()
}

/// Adds elements with several branches. An element with one branch needs no coupler.
pub(super) fn couplers(content: &Content<'_>, graph: &mut Graph) {
    let model = content.model;
    let mut of_element: FxHashMap<String, Vec<usize>> = FxHashMap::default();
    for (at, branch) in graph.branches.iter().enumerate() {
        of_element.entry(branch.element.clone()).or_default().push(at);
    }
    for index in 0..model.graph.elements.len() as u32 {
        let name = content.name(ElementId(index));
        let Some(branches) = of_element.remove(&name) else {
            continue;
        };
        if let [only] = branches[..] {
            graph.branches[only].label = name;
            continue;
        }
        let letters = match content.boxes.of_element(ElementId(index)) {
            Some(_) => String::new(),
            None => content.coupler_letters(ElementId(index)),
        };
        let has_frame = branches.iter().any(|at| {
            let (from, to) = graph.branches[*at].ends;
            from.is_none() || to.is_none()
        });
        for at in &branches {
            if !has_frame && !letters.is_empty() {
                let branch = &mut graph.branches[*at];
                branch.label = format!("{letters} {}", branch.name);
            }
            graph.branches[*at].coupler = Some(graph.couplers.len());
        }
        graph.couplers.push(Coupler {
            text: format!("{letters} {name}").trim().to_string(),
            element: name,
            branches,
        });
    }
}
