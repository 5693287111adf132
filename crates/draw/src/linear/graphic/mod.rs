//! The linear graph of a model with junctions and bonds. The junctions determine which across variables can occur together. If these are
//! potential differences between nodes, a graph exists, and the elements are its branches; otherwise there is none.

mod realize;
mod space;

use super::graph::{Branch, Graph, GraphNode, couplers};
use crate::content::Content;
use crate::drawing::Source;
use lgm_equations::bond::Origin;
use lgm_explain::causality::{End, Role};
use lgm_model::{DomainId, ElementId, JunctionKind, PortId, Variable};
use realize::{Cut, Ends, realize};
use space::{kernel, reduce, small};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The maximum number of bonds of a part that is examined.
const MOST: usize = 400;

/// A connected part of the junctions, with their bonds.
#[derive(Default)]
struct JunctionGroup {
    junctions: Vec<usize>,
    bonds: Vec<usize>,
    /// Ports with the indices of their bonds within the part.
    ports: Vec<(usize, usize)>,
    domain: Option<DomainId>,
    /// True if effort is the across variable.
    effort_is_across: bool,
}

/// Reads the graph of a model with junctions; returns the reason if there is none.
pub(super) fn read(content: &Content<'_>) -> Result<Graph, String> {
    let mut graph = Graph::default();
    let mut found: Vec<(usize, Branch)> = Vec::new();
    for part in parts(content) {
        add_part(content, &part, &mut graph, &mut found)?;
    }
    found.sort_by_key(|branch| branch.0);
    graph.branches = found.into_iter().map(|branch| branch.1).collect();
    couplers(content, &mut graph);
    Ok(graph)
}

/// Returns the connected parts of the junction structure, in the order of their first junctions.
fn parts(content: &Content<'_>) -> Vec<JunctionGroup> {
    let report = content.report;
    let mut part_of: Vec<usize> = (0..report.junctions.len()).collect();
    for bond in &report.bonds {
        if let (End::Junction(a), End::Junction(b)) = (bond.tail, bond.head) {
            let (a, b) = (part_of[a], part_of[b]);
            part_of
                .iter_mut()
                .filter(|part| **part == a.max(b))
                .for_each(|part| *part = a.min(b));
        }
    }
    let mut parts: BTreeMap<usize, JunctionGroup> = BTreeMap::new();
    for (junction, part) in part_of.iter().enumerate() {
        parts.entry(*part).or_default().junctions.push(junction);
    }
    for (at, bond) in report.bonds.iter().enumerate() {
        let ends = [bond.tail, bond.head];
        let junction = ends.into_iter().find_map(|end| match end {
            End::Junction(junction) => Some(junction),
            End::Port(_) => None,
        });
        let Some(part) = junction.and_then(|junction| parts.get_mut(&part_of[junction])) else {
            continue;
        };
        for end in ends {
            if let End::Port(port) = end {
                part.ports.push((port, part.bonds.len()));
            }
        }
        part.bonds.push(at);
    }
    let mut parts: Vec<JunctionGroup> = parts.into_values().collect();
    for part in &mut parts {
        let of_junction = part.junctions.iter().find_map(|junction| {
            match content.graph.junctions.get(*junction).map(|junction| junction.origin)? {
                Origin::Node(node) => content.model.graph.nodes[node.index()].domain,
                _ => None,
            }
        });
        let of_port = part
            .ports
            .iter()
            .find_map(|(port, _)| content.model.graph.ports.get(*port)?.domain);
        part.domain = of_junction.or(of_port);
        // Without a domain, effort is assumed to be the across variable, like a voltage.
        part.effort_is_across = part
            .domain
            .is_none_or(|domain| content.model.graph.domains[domain.index()].effort_is_across);
    }
    parts
}

/// Returns the names of the ports of a part, for a message.
fn list(content: &Content<'_>, part: &JunctionGroup) -> String {
    let names: Vec<String> = (part.ports.iter().take(4))
        .map(|(port, _)| format!("`{}`", content.report.ports[*port].name))
        .collect();
    let more = part.ports.len().saturating_sub(names.len());
    match more {
        0 => names.join(", "),
        _ => format!("{} and {more} more", names.join(", ")),
    }
}

/// Returns each junction as equations of the across variables of its bonds, in the order of the bonds.
fn equations(content: &Content<'_>, part: &JunctionGroup) -> Vec<Vec<i64>> {
    let report = content.report;
    let mut rows = Vec::new();
    for junction in &part.junctions {
        let here = End::Junction(*junction);
        let bonds = part.bonds.iter().enumerate();
        let own = bonds.filter_map(|(place, bond)| {
            let bond = &report.bonds[*bond];
            match (bond.head == here, bond.tail == here) {
                (true, false) => Some((place, 1)),
                (false, true) => Some((place, -1)),
                _ => None,
            }
        });
        let own: Vec<(usize, i64)> = own.collect();
        let common = report.junctions[*junction].kind.common();
        let mut row = vec![0; part.bonds.len()];
        if (common == Variable::Effort) == part.effort_is_across {
            for pair in own.windows(2) {
                let mut row = row.clone();
                (row[pair[0].0], row[pair[1].0]) = (1, -1);
                rows.push(row);
            }
        } else {
            own.iter().for_each(|(place, sign)| row[*place] = *sign);
            rows.push(row);
        }
    }
    rows
}

/// A junction whose common variable is the across variable.
struct Potential {
    name: String,
    /// The index of one of its bonds within the part.
    bond: usize,
    /// True for a node of branches.
    is_node: bool,
}

/// Returns all such junctions, the nodes of branches first.
fn potentials(content: &Content<'_>, part: &JunctionGroup) -> Vec<Potential> {
    let report = content.report;
    let across = if part.effort_is_across {
        JunctionKind::Zero
    } else {
        JunctionKind::One
    };
    let own = part
        .junctions
        .iter()
        .filter(|junction| report.junctions[**junction].kind == across);
    let mut found: Vec<Potential> = own
        .filter_map(|junction| {
            let here = End::Junction(*junction);
            let origin = content.graph.junctions.get(*junction).map(|junction| junction.origin);
            let Some(Origin::Node(node)) = origin else {
                return None;
            };
            let mut bonds = part.bonds.iter();
            Some(Potential {
                name: report.junctions[*junction].name.clone(),
                bond: bonds.position(|bond| report.bonds[*bond].tail == here || report.bonds[*bond].head == here)?,
                is_node: content.model.graph.nodes[node.index()].is_graph_node,
            })
        })
        .collect();
    found.sort_by_key(|potential| !potential.is_node);
    found
}

fn add_part(
    content: &Content<'_>,
    part: &JunctionGroup,
    graph: &mut Graph,
    found: &mut Vec<(usize, Branch)>,
) -> Result<(), String> {
    if part.bonds.len() > MOST {
        return Err(format!(
            "more than {MOST} bonds are connected, too many to search for a linear graph"
        ));
    }
    let names = potentials(content, part);
    let solutions = kernel(&equations(content, part), part.bonds.len());
    // If all junctions can be nodes, all of them are; otherwise the nodes of branches are, or the junctions that can be found.
    let of_branches = names.iter().filter(|name| name.is_node).count();
    let tried = [names.len(), of_branches, 0]
        .into_iter()
        .find_map(|kept| Tried::of(part, &names, kept, &solutions));
    let tried = tried.ok_or_else(|| {
        format!(
            "the junctions between {} do not correspond to a graph",
            list(content, part)
        )
    })?;
    let own = tried.names();
    let mut places: BTreeMap<usize, usize> = BTreeMap::new();
    for node in tried.nodes().into_iter().filter(|node| *node != tried.reference) {
        places.insert(node, graph.nodes.len());
        graph.nodes.push(GraphNode {
            name: own
                .get(&node)
                .cloned()
                .unwrap_or_else(|| format!("node {}", graph.nodes.len() + 1)),
            domain: content.domain(part.domain),
            width: 1,
        });
    }
    for (at, (port, _)) in part.ports.iter().enumerate() {
        let ends = tried
            .ends
            .get(&at)
            .map(|(a, b)| (places.get(a).copied(), places.get(b).copied()));
        let ends = ends.ok_or_else(|| {
            format!(
                "the junctions leave no across variable for `{}`",
                content.report.ports[*port].name
            )
        })?;
        found.push((*port, branch(content, part, *port, ends)));
    }
    Ok(())
}

/// A graph of a connected part.
struct Tried {
    /// The nodes of each port, followed by the nodes of the junctions that are nodes: the across variable counts from first to second.
    ends: Ends,
    /// The ports and junctions of the tree.
    tree: Vec<usize>,
    /// The common variables of junctions in terms of the tree's common variables.
    known: Vec<(String, Vec<i64>)>,
    reference: usize,
}

impl Tried {
    /// Returns the graph in which the first junctions are nodes; `None` if no such graph exists.
    fn of(part: &JunctionGroup, names: &[Potential], kept: usize, solutions: &[Vec<i64>]) -> Option<Tried> {
        let ports = part.ports.len();
        let count = ports + kept;
        // Ports first, then the common variables of junctions.
        let columns: Vec<usize> = (part.ports.iter().map(|port| port.1))
            .chain(names.iter().map(|name| name.bond))
            .collect();
        let mut rows: Vec<Vec<i64>> = solutions
            .iter()
            .map(|row| columns.iter().map(|column| row[*column]).collect())
            .collect();
        let tree = reduce(&mut rows, count);
        let free: Vec<bool> = (0..columns.len())
            .map(|at| rows[tree.len()..].iter().any(|row| row[at] != 0))
            .collect();
        rows.truncate(tree.len());
        if has_factor(&rows, count) {
            return None;
        }
        let cuts: Vec<Cut> = rows
            .iter()
            .map(|row| (0..count).filter(|at| row[*at] != 0).collect())
            .collect();
        let ends = match cuts.is_empty() {
            true => Ends::new(),
            false => realize(&cuts)?,
        };
        let (mut ends, groups) = oriented(&rows, &tree, count, ends)?;
        let known = (names.iter().enumerate())
            .filter(|(at, _)| !free[ports + at])
            .map(|(at, name)| {
                (
                    name.name.clone(),
                    rows.iter().map(|row| small(row[ports + at])).collect(),
                )
            })
            .collect();
        let mut tried = Tried {
            ends: ends.clone(),
            tree,
            known,
            reference: 0,
        };
        // The reference is the node to which most junctions refer; ties go to a node with many branches.
        let touching = |node: usize, from: usize| {
            let own = ends.range(from..).filter(|(_, (a, b))| *a == node || *b == node);
            own.count()
        };
        let mut best = None;
        for node in tried.nodes() {
            tried.reference = node;
            let worth = (touching(node, ports), tried.names().len(), touching(node, 0));
            if best.is_none_or(|(known, _)| worth > known) {
                best = Some((worth, node));
            }
        }
        let reference = best.map_or(0, |best| best.1);
        // A group may be reversed as a whole: junctions are measured against the reference.
        for group in groups {
            let weight = |edge: &usize| if *edge >= ports { 100 } else { 1 };
            let leads = |end: usize| -> usize {
                let own = group
                    .iter()
                    .filter(|edge| [ends[*edge].0, ends[*edge].1][end] == reference);
                own.map(weight).sum()
            };
            if leads(0) > leads(1) {
                for edge in &group {
                    if let Some((a, b)) = ends.get_mut(edge) {
                        std::mem::swap(a, b);
                    }
                }
            }
        }
        (tried.ends, tried.reference) = (ends, reference);
        Some(tried)
    }

    fn nodes(&self) -> BTreeSet<usize> {
        self.ends.values().flat_map(|(a, b)| [*a, *b]).collect()
    }

    /// Returns the names of nodes whose potential is the common variable of a junction.
    fn names(&self) -> BTreeMap<usize, String> {
        let potentials = potential(&self.ends, &self.tree, self.reference);
        let name = |(node, own): (&usize, &Vec<i64>)| {
            let negative: Vec<i64> = own.iter().map(|part| -part).collect();
            let is_zero = own.iter().all(|part| *part == 0);
            let found = self.known.iter().find(|(_, sum)| sum == own || *sum == negative);
            found.filter(|_| !is_zero).map(|(name, _)| (*node, name.clone()))
        };
        potentials.iter().filter_map(name).collect()
    }
}

/// Returns true if an entry is neither 0, 1 nor -1.
fn has_factor(rows: &[Vec<i64>], count: usize) -> bool {
    rows.iter()
        .any(|row| row[..count].iter().any(|value| small(*value).abs() > 1))
}

/// Orients the ends so that the across variable counts from first to second, and returns the groups of edges whose orientations depend on
/// each other. `None` if no graph has these signs.
fn oriented(rows: &[Vec<i64>], tree: &[usize], count: usize, ends: Ends) -> Option<(Ends, Vec<Vec<usize>>)> {
    let mut groups = Vec::new();
    let mut directions: Vec<Option<i64>> = vec![None; count];
    for start in 0..count {
        if directions[start].is_some() || !ends.contains_key(&start) {
            continue;
        }
        directions[start] = Some(1);
        let mut open = vec![start];
        let mut group = vec![start];
        while let Some(at) = open.pop() {
            for link in (0..count).filter(|link| !tree.contains(link) && ends.contains_key(link)) {
                for (row, branch) in tree.iter().enumerate() {
                    let sign = small(rows[row][link]);
                    if sign == 0 || (*branch != at && link != at) {
                        continue;
                    }
                    // Along the path through the tree from its first to its second end.
                    let along = along(&ends, tree, link, *branch)?;
                    let (from, to) = if at == link { (link, *branch) } else { (*branch, link) };
                    let wanted = directions[from]? * along * sign;
                    match directions[to] {
                        Some(known) if known != wanted => return None,
                        Some(_) => {}
                        None => {
                            directions[to] = Some(wanted);
                            open.push(to);
                            group.push(to);
                        }
                    }
                }
            }
        }
        groups.push(group);
    }
    let turned =
        |(edge, (a, b)): (usize, (usize, usize))| (edge, if directions[edge] == Some(-1) { (b, a) } else { (a, b) });
    Some((ends.into_iter().map(turned).collect(), groups))
}

/// Returns the direction in which the tree path between the ends of a link runs along a branch: 1 along it, -1 against it.
fn along(ends: &Ends, tree: &[usize], link: usize, branch: usize) -> Option<i64> {
    let (first, _) = ends[&link];
    let mut side = BTreeSet::from([first]);
    let others: Vec<(usize, usize)> = tree
        .iter()
        .filter(|at| **at != branch)
        .filter_map(|at| ends.get(at).copied())
        .collect();
    loop {
        let before = side.len();
        for (a, b) in &others {
            if side.contains(a) || side.contains(b) {
                side.extend([*a, *b]);
            }
        }
        if side.len() == before {
            break;
        }
    }
    let (a, b) = ends.get(&branch)?;
    match (side.contains(a), side.contains(b)) {
        (true, false) => Some(1),
        (false, true) => Some(-1),
        _ => None,
    }
}

/// Returns the potential of each node against a reference, as a sum of across variables of the tree.
fn potential(ends: &Ends, tree: &[usize], reference: usize) -> BTreeMap<usize, Vec<i64>> {
    let mut known = BTreeMap::from([(reference, vec![0; tree.len()])]);
    let mut open = vec![reference];
    while let Some(node) = open.pop() {
        for (at, branch) in tree.iter().enumerate() {
            let Some((a, b)) = ends.get(branch) else {
                continue;
            };
            let (next, sign) = match (*a == node, *b == node) {
                (true, false) => (*b, -1),
                (false, true) => (*a, 1),
                _ => continue,
            };
            if !known.contains_key(&next) {
                let mut sum = known[&node].clone();
                sum[at] += sign;
                known.insert(next, sum);
                open.push(next);
            }
        }
    }
    known
}

/// Creates the branch of a port.
fn branch(
    content: &Content<'_>,
    part: &JunctionGroup,
    port: usize,
    (from, to): (Option<usize>, Option<usize>),
) -> Branch {
    let (model, info) = (content.model, &content.report.ports[port]);
    let across = if part.effort_is_across {
        Variable::Effort
    } else {
        Variable::Flow
    };
    let own = model.graph.ports.get(port).map(|own| own.element);
    let side = content.graph.ports.get(port);
    // The across variable of the element is the negative of its bond's if the bond was drawn in this direction.
    let sign = side.map_or(1, |side| {
        if part.effort_is_across {
            side.effort_sign
        } else {
            side.flow_sign
        }
    });
    let velocity = format!("velocity of {}", info.name);
    let name = if own.is_some() { info.name.clone() } else { velocity };
    let of_element = |element: ElementId| (content.name(element), content.kind(element));
    let (element, kind) = own.map_or_else(|| (name.clone(), Arc::from("velocity")), of_element);
    Branch {
        element,
        label: name.clone(),
        name,
        kind,
        domain: content.domain(part.domain),
        ends: if sign < 0 { (to, from) } else { (from, to) },
        tree: info.taken.map(|taken| taken != across),
        width: 1,
        source: match info.role {
            Role::Source(given) if given == across => Some(Source::Across),
            Role::Source(_) => Some(Source::Through),
            _ => None,
        },
        coupler: None,
        integral: own.and_then(|element| content.is_integral(element)),
        conflict: content.conflict.ports.contains(&port),
        modulation: own.map_or(Vec::new(), |element| content.modulation(element)),
    }
}

/// Returns true if a port of the model belongs to a modal block.
pub(super) fn has_modes(content: &Content<'_>) -> bool {
    let ports = (0..content.model.graph.ports.len() as u32).map(PortId);
    let element = |port: PortId| content.model.graph.ports[port.index()].element;
    ports
        .into_iter()
        .any(|port| content.boxes.of_element(element(port)).is_some())
}
