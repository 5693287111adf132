//! A source at a port, to analyse the network seen from there.

use lgm_algebra::expr::{ExprId, SymbolId, SymbolKind};
use lgm_model::{ElementId, Input, Law, Measure, Model, NodeId, Output, PortId, Variable};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::nearest::did_you_mean;

/// The port of the network.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// The ends of an element, which is removed; for a coupler, one port, and the network at its other ports is removed too.
    Port(PortId),
    /// Two nodes; `None` is the reference.
    Nodes(Option<NodeId>, Option<NodeId>),
}

/// The variable set at the port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Test {
    /// The through variable into the network at the first end; the across variable is measured.
    Through,
    /// The across variable from the first end to the second; the through variable into the network is measured.
    Across,
}

/// A model with a source at the port as its last input, and the measured variable there as its only output.
#[derive(Clone, Debug)]
pub struct Probe {
    /// The model.
    pub model: Model,
    /// The variable set by the source.
    pub test: Test,
}

impl Place {
    /// Parses a port: `spring`, `piston.a`, `x`, or `x,y`.
    pub fn named(model: &Model, words: &str) -> Result<Place, Box<Diagnostic>> {
        let parts: Vec<&str> = words.split(',').map(str::trim).collect();
        if let [a, b] = parts[..] {
            return Ok(Place::Nodes(node(model, a)?, node(model, b)?));
        }
        let ids = (0..model.graph.elements.len() as u32).map(ElementId);
        for id in ids {
            let name = model.element_name(id);
            let ports: Vec<PortId> = model.ports_of(id).collect();
            if name == words {
                return match ports[..] {
                    [port] => Ok(Place::Port(port)),
                    _ => Err(refused(
                        &format!("`{words}` has {} ports; name one of them", ports.len()),
                        "name a port of it, as in `ELEM.PORT`",
                    )),
                };
            }
            for port in ports {
                let named = model.graph.ports[port.index()].name.as_deref();
                if named.is_some_and(|port| format!("{name}.{port}") == words) {
                    return Ok(Place::Port(port));
                }
            }
        }
        Ok(Place::Nodes(node(model, words)?, None))
    }
}

pub(super) fn refused(message: &str, help: &str) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(Code::LGM0718, message).help(help))
}

/// Returns `x`, or `q[1]` for a vector node.
pub(super) fn node_name(model: &Model, node: &lgm_model::Node) -> String {
    let path = model.path_name(node.path);
    match node.entry {
        Some(entry) => format!("{path}[{entry}]"),
        None => path,
    }
}

fn node(model: &Model, name: &str) -> Result<Option<NodeId>, Box<Diagnostic>> {
    if name == "gnd" {
        return Ok(None);
    }
    let is_named = |node: &lgm_model::Node| node.is_graph_node && node_name(model, node) == name;
    if let Some(at) = model.graph.nodes.iter().position(is_named) {
        return Ok(Some(NodeId(at as u32)));
    }
    let fault = Diagnostic::error(
        Code::LGM0718,
        format!("the model has no element and no scalar node `{name}`"),
    );
    let nodes = model
        .graph
        .nodes
        .iter()
        .filter(|node| node.is_graph_node)
        .map(|node| node_name(model, node));
    let elements = (0..model.graph.elements.len() as u32).map(|id| model.element_name(ElementId(id)));
    let names: Vec<String> = nodes.chain(elements).collect();
    Err(Box::new(match did_you_mean(name, names.iter().map(String::as_str)) {
        Some(help) => fault.help(help),
        None => fault.help("name an element, a port of a coupler `ELEM.PORT`, a node, or two nodes `a,b`"),
    }))
}

/// Returns the model with a source at a port, and with outputs for other measured variables after the port's output.
pub fn probe(model: &Model, place: &Place, test: Test, measures: &[SymbolId]) -> Result<Probe, Box<Diagnostic>> {
    let mut changed = model.clone();
    let symbol = changed.exprs.new_symbol("test", SymbolKind::Input);
    let value = changed.exprs.symbol(symbol);
    let at = changed.inputs.iter().take_while(|input| !input.is_internal).count();
    let input = Input {
        name: "test".into(),
        symbol,
        signal: None,
        unit: None,
        scale: lgm_model::Scale::SI,
        span: model.heading.span,
        is_internal: false,
    };
    changed.inputs.insert(at, input);
    let minus = changed.exprs.neg(value);
    let zero = changed.exprs.zero();
    // A source replaces an element. From a to b, the through variable leaves the network at a; from b to a, it enters at a.
    let (port, is_forward) = match *place {
        Place::Port(port) => (port, true),
        Place::Nodes(a, b) => (add_branch(&mut changed, b, a)?, false),
    };
    let across = across_of(&changed, port);
    let (given, other) = match test {
        Test::Through => (across.conjugate(), across),
        Test::Across => (across, across.conjugate()),
    };
    let is_minus_given = is_forward == (test == Test::Through);
    let is_minus_measured = is_forward == (test == Test::Across);
    let own = if is_minus_given { minus } else { value };
    let element = changed.graph.ports[port.index()].element;
    let values = model_ports(&changed, element)
        .map(|other| if other == port { own } else { zero })
        .collect();
    let element = &mut changed.graph.elements[element.index()];
    if let Place::Port(_) = place
        && !matches!(
            element.law,
            Law::Storage { .. } | Law::Dissipator(_) | Law::Source { .. } | Law::Coupler { .. }
        )
    {
        return Err(refused(
            "the element is nonlinear and cannot be removed",
            "name two nodes, or another element",
        ));
    }
    element.law = Law::Source { given, values };
    element.start.clear();
    element.nominal.clear();
    element.start_span = None;
    let value = measured(&mut changed, port, other, is_minus_measured);
    changed.outputs = vec![Output {
        name: "port".into(),
        value,
        written: "port".into(),
        unit: None,
        span: model.heading.span,
    }];
    add_outputs(&mut changed, measures);
    changed.experiment = None;
    changed.start_conditions.clear();
    Ok(Probe { model: changed, test })
}

/// Returns the model with only two outputs, both as in the full model: the through variable into the network at the first end of a port,
/// and the across variable from the first end to the second.
pub fn observe(model: &Model, place: &Place) -> Result<Model, Box<Diagnostic>> {
    let mut changed = model.clone();
    let (port, is_forward) = match *place {
        Place::Port(port) => (port, true),
        Place::Nodes(a, b) => (add_branch(&mut changed, b, a)?, false),
    };
    let across = across_of(&changed, port);
    if let Place::Nodes(..) = place {
        // The measuring branch carries no flow.
        let zero = changed.exprs.zero();
        let element = changed.graph.ports[port.index()].element;
        changed.graph.elements[element.index()].law = Law::Source {
            given: across.conjugate(),
            values: vec![zero],
        };
    }
    changed.outputs.clear();
    for (name, variable, is_minus) in [
        ("through", across.conjugate(), is_forward),
        ("across", across, !is_forward),
    ] {
        let value = measured(&mut changed, port, variable, is_minus);
        changed.outputs.push(Output {
            name: name.into(),
            value,
            written: name.into(),
            unit: None,
            span: model.heading.span,
        });
    }
    changed.experiment = None;
    Ok(changed)
}

/// Returns the variable of a port that is its across variable.
fn across_of(model: &Model, port: PortId) -> Variable {
    let domain = model.graph.ports[port.index()].domain;
    match domain.is_none_or(|domain| model.graph.domains[domain.index()].effort_is_across) {
        true => Variable::Effort,
        false => Variable::Flow,
    }
}

/// Returns the value of a port's variable, or its negative, as an expression of the model.
fn measured(model: &mut Model, port: PortId, variable: Variable, is_minus: bool) -> ExprId {
    let measure = match variable {
        Variable::Effort => Measure::PortEffort(port),
        Variable::Flow => Measure::PortFlow(port),
    };
    let known = model
        .measures
        .iter()
        .find(|known| known.1 == measure)
        .map(|known| known.0);
    let symbol = known.unwrap_or_else(|| {
        let symbol = model.exprs.new_symbol("port", SymbolKind::Measure);
        model.measures.push((symbol, measure));
        symbol
    });
    let value = model.exprs.symbol(symbol);
    match is_minus {
        true => model.exprs.neg(value),
        false => value,
    }
}

/// Adds outputs for the measured variables.
fn add_outputs(model: &mut Model, measures: &[SymbolId]) {
    for (at, symbol) in measures.iter().enumerate() {
        let name = format!("measure{at}");
        let output = Output {
            name: name.as_str().into(),
            value: model.exprs.symbol(*symbol),
            written: name.as_str().into(),
            unit: None,
            span: model.heading.span,
        };
        model.outputs.push(output);
    }
}

fn model_ports(model: &Model, element: ElementId) -> impl Iterator<Item = PortId> + use<> {
    model.ports_of(element)
}

/// Adds a branch between two nodes of one domain.
fn add_branch(model: &mut Model, from: Option<NodeId>, to: Option<NodeId>) -> Result<PortId, Box<Diagnostic>> {
    let domain = |node: Option<NodeId>| node.and_then(|node| model.graph.nodes[node.index()].domain);
    let (first, second) = (domain(from), domain(to));
    let domain = match (first, second) {
        _ if from == to => {
            return Err(refused(
                "the two ends of a port must be different",
                "name two nodes, as in `a,b`",
            ));
        }
        (Some(a), Some(b)) if a != b => {
            return Err(refused(
                "the two nodes belong to different domains",
                "name two nodes of one domain",
            ));
        }
        (None, None) => return Err(refused("the nodes have no domain", "name nodes of a linear graph")),
        (a, b) => a.or(b),
    };
    Ok(model.add_source((from, to, domain), Box::new([]), Variable::Effort, Vec::new()))
}
