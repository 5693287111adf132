//! A component separated from its model, with a source at each of its ports.

use super::fault::refused;
use super::outside::cut;
use crate::one_port::elements_and_bonds;
use lgm_algebra::expr::{SymbolId, SymbolKind};
use lgm_model::{Connection, Domain, ElementId, Input, Model, Node, NodeId, PathId, PortId, Variable};
use lgm_source::diagnostic::Diagnostic;
use lgm_source::nearest::did_you_mean;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// A separated component with a source at each of its ports.
#[derive(Clone, Debug)]
pub struct Isolated {
    /// The model of the component.
    pub model: Model,
    /// Variables that moduli depend on and that are constant here, as written in the model, each with true if it has a value.
    pub fixed: Vec<(String, bool)>,
    /// The component's ports.
    pub(super) ports: Vec<Terminal>,
}

/// A scalar port with its source.
#[derive(Clone, Debug)]
pub(super) struct Terminal {
    /// The name in a measurement: `a`, `port[2]`.
    pub(super) name: String,
    /// The entry of a vector port, from 1.
    pub(super) entry: Option<u32>,
    /// The port of the source.
    pub(super) port: PortId,
    /// The across variable, effort or flow.
    pub(super) across: Variable,
    /// The symbol of the given variable.
    pub(super) given: SymbolId,
}

/// The node at a port, its name in measurements, and its entry in a vector.
type End = (NodeId, String, Option<u32>);

/// Separates a component whose ports are open, or any element or modal block, from a model. Several names with commas between them are one
/// component, with ports at the nodes that it shares with other elements.
///
/// `shown` is its name in measurements.
pub fn isolate(model: &Model, component: &str, shown: &str) -> Result<Isolated, Box<Diagnostic>> {
    let names: Vec<&str> = component.split(',').map(str::trim).collect();
    let of_names = names.iter().map(|name| paths_inside(model, name));
    let of_names: Vec<Vec<bool>> = of_names.collect();
    let is_inside = |path: PathId| of_names.iter().any(|is_own| is_own[path.index()]);
    let elements: Vec<ElementId> = (0..model.graph.elements.len() as u32)
        .map(ElementId)
        .filter(|id| is_inside(model.graph.elements[id.index()].path))
        .collect();
    for (name, is_own) in names.iter().zip(&of_names) {
        if !elements
            .iter()
            .any(|id| is_own[model.graph.elements[id.index()].path.index()])
        {
            return Err(unknown(model, name));
        }
    }
    let is_set = names.len() > 1;
    let ports = elements.iter().flat_map(|id| model.ports_of(*id));
    let mut connections = ports.map(|port| &model.graph.ports[port.index()].connection);
    if is_set && connections.any(|connection| matches!(connection, Connection::Bond(_))) {
        return Err(refused(
            format!("`{shown}` contains a bond graph element"),
            "name elements of a linear graph",
        ));
    }
    let attached = |is_wanted: bool| attached(model, &|path| is_inside(path) == is_wanted);
    let (nodes, others) = (attached(true), attached(false));
    let mut rest = model.clone();
    let places = elements_and_bonds(model, &mut rest, &|id| {
        !is_inside(model.graph.elements[id.index()].path)
    });
    let own_node = |node: NodeId| is_inside(model.graph.nodes[node.index()].path) || is_set && nodes.contains(&node);
    let fixed = cut(model, &mut rest, &places, (&is_inside, &own_node));
    let ends = match model.graph.open_ports.is_empty() {
        false => model
            .graph
            .open_ports
            .iter()
            .map(|node| named_node(model, *node))
            .collect(),
        true if is_set => (nodes.intersection(&others))
            .map(|node| named_node(model, *node))
            .collect(),
        true => loose_ends(&mut rest, shown, &own_node)?,
    };
    if ends.is_empty() {
        return Err(refused(
            format!("`{shown}` has no open ports"),
            "name an element, or a component with ports that are bound to nodes",
        ));
    }
    let mut isolated = Isolated {
        model: rest,
        fixed,
        ports: Vec::new(),
    };
    for (node, name, entry) in ends {
        isolated.add_source(node, name, entry)?;
    }
    Ok(isolated)
}

/// Returns the nodes and junctions to which elements with these paths are connected.
fn attached(model: &Model, is_wanted: &dyn Fn(PathId) -> bool) -> BTreeSet<NodeId> {
    let ports = model.graph.ports.iter();
    let ports = ports.filter(|port| is_wanted(model.graph.elements[port.element.index()].path));
    let ends = ports.flat_map(|port| match port.connection {
        Connection::Branch { from, to, .. } => [from, to],
        _ => [None, None],
    });
    ends.flatten().collect()
}

/// Returns true for each path that is the component or a part of it.
fn paths_inside(model: &Model, component: &str) -> Vec<bool> {
    let mut is_own = vec![false; model.paths.len()];
    for at in 0..model.paths.len() {
        // An instance is declared before its parts.
        is_own[at] = match model.paths[at].parent {
            Some(parent) if is_own[parent.index()] => true,
            _ => model.path_name(PathId(at as u32)) == component,
        };
    }
    is_own
}

fn unknown(model: &Model, component: &str) -> Box<Diagnostic> {
    // All instances if the name contains a dot; otherwise only the instances of the model itself.
    let is_deep = component.contains('.');
    let mut names: Vec<String> = Vec::new();
    for element in &model.graph.elements {
        let mut at = Some(element.path);
        while let Some(path) = at {
            at = model.paths[path.index()].parent;
            let name = model.path_name(path);
            if (is_deep || at.is_none()) && !names.contains(&name) {
                names.push(name);
            }
        }
    }
    let message = format!("there is no component `{component}` in `{}`", model.heading.name);
    match did_you_mean(component, names.iter().map(String::as_str)) {
        Some(help) => refused(message, &help),
        None => refused(
            message,
            "name an instance of the model, such as `cell[2]`, or a definition of the file",
        ),
    }
}

fn named_node(model: &Model, node: NodeId) -> End {
    let about = &model.graph.nodes[node.index()];
    let path = &model.paths[about.path.index()];
    (node, indexed(&path.name, &path.indices), about.entry)
}

fn indexed(name: &str, indices: &[i64]) -> String {
    match indices {
        [] => name.to_string(),
        _ => {
            let list: Vec<String> = indices.iter().map(i64::to_string).collect();
            format!("{name}[{}]", list.join(", "))
        }
    }
}

/// Creates nodes for the branches of an element or a modal block, each to the reference.
fn loose_ends(
    model: &mut Model,
    component: &str,
    is_own: &dyn Fn(NodeId) -> bool,
) -> Result<Vec<End>, Box<Diagnostic>> {
    let is_block = model.graph.elements.len() > 1;
    let mut known: FxHashMap<(u32, Option<u32>), NodeId> = FxHashMap::default();
    let mut ends: Vec<End> = Vec::new();
    for at in 0..model.graph.ports.len() {
        let port = &model.graph.ports[at];
        let Connection::Branch { from, to, span } = port.connection else {
            return Err(refused(
                format!("`{component}` is a bond graph element"),
                "its law is already its terminal equation: name a component of a linear graph",
            ));
        };
        let outside = |end: Option<NodeId>| end.filter(|node| !is_own(*node));
        // A block's branch from its own node to the reference is not a port.
        if from.is_some_and(is_own) && outside(to).is_none() {
            continue;
        }
        // Parts of a block share its ports.
        let key = match is_block {
            true => (0, port.entry),
            false => (at as u32, None),
        };
        let node = *known.entry(key).or_insert(NodeId(model.graph.nodes.len() as u32));
        if node.index() == model.graph.nodes.len() {
            let name = match (&port.name, port.entry) {
                (Some(name), Some(entry)) if is_block => format!("{name}[{entry}]"),
                (Some(name), _) => name.to_string(),
                (None, Some(entry)) if is_block => format!("port[{entry}]"),
                (None, _) => component.to_string(),
            };
            ends.push((node, name, port.entry.filter(|_| !is_block)));
            let like = outside(from).or(to).expect("invariant: a branch has an end at a node");
            let like: Node = model.graph.nodes[like.index()].clone();
            model.graph.nodes.push(like);
        }
        // The branch keeps its direction: its tail outside becomes the new node, and its head outside the reference.
        let from = from.filter(|end| is_own(*end)).or(Some(node));
        let to = to.filter(|end| is_own(*end));
        model.graph.ports[at].connection = Connection::Branch { from, to, span };
    }
    Ok(ends)
}

impl Isolated {
    /// Adds a source between a node and the reference; its given variable is decided later.
    fn add_source(&mut self, node: NodeId, name: String, entry: Option<u32>) -> Result<(), Box<Diagnostic>> {
        let model = &mut self.model;
        let about = &model.graph.nodes[node.index()];
        let Some(domain) = about.domain.filter(|_| about.is_graph_node) else {
            return Err(refused(
                format!("the port `{name}` is a junction of a bond graph"),
                "terminal equations require ports that are nodes of a domain: `port a : electrical;`",
            ));
        };
        let across = across_of(&model.graph.domains[domain.index()]);
        let given = model.exprs.new_symbol(format!("given {name}"), SymbolKind::Input);
        let at = model.inputs.iter().take_while(|input| !input.is_internal).count();
        model.inputs.insert(
            at,
            Input {
                name: model.exprs.symbol_info(given).name.clone(),
                symbol: given,
                signal: None,
                unit: None,
                scale: lgm_model::Scale::SI,
                span: model.heading.span,
                is_internal: false,
            },
        );
        let indices = Box::new([self.ports.len() as i64 + 1]);
        let value = model.exprs.symbol(given);
        let port = model.add_source((Some(node), None, Some(domain)), indices, across, vec![value]);
        self.ports.push(Terminal {
            name,
            entry,
            port,
            across,
            given,
        });
        Ok(())
    }
}

fn across_of(domain: &Domain) -> Variable {
    match domain.effort_is_across {
        true => Variable::Effort,
        false => Variable::Flow,
    }
}
