//! A model seen from one domain: impedances and sources replace the networks on the far side of its couplers.

use super::probe::Place;
use super::table::lines;
use super::without::without;
use lgm_algebra::expr::{ExprId, SymbolKind, text};
use lgm_model::{BondEnd, Connection, Dissipator, DomainId, ElementId, Law, Model, NodeId, Port, PortId};
use lgm_model::{JunctionKind, StorageForm, Variable};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::nearest::did_you_mean;
use rustc_hash::FxHashSet;

/// A crossed coupler and its transformed impedance.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The coupler's name.
    pub coupler: String,
    /// The impedance at the near port as a function of the impedance Z at the far port: `r^2*Z`.
    pub rule: String,
    /// The equations of the conversion with their kinds, as in a textbook's table: the impedance Z and the source of the network at the far
    /// port, the laws of the coupler, loop, node, substitution, result, and the source and the impedance at the near port.
    pub lines: Vec<(&'static str, String)>,
}

/// A branch of the domain with its impedance in terms of the parameters, as coefficients of descending powers of s.
#[derive(Clone, Debug, PartialEq)]
pub struct Branch {
    /// The element.
    pub element: ElementId,
    /// The element's name.
    pub name: String,
    /// The ends; `None` is the reference.
    pub ends: (Option<String>, Option<String>),
    /// For a passive element, its kind and its value: C, L or R of the generic law, or the reciprocal.
    pub(crate) part: Option<PassiveElement>,
    /// Numerator and denominator; none for a source.
    pub impedance: Option<(Vec<ExprId>, Vec<ExprId>)>,
    /// For a source, its value, and true if it sets the across variable.
    pub source: Option<(bool, ExprId)>,
}

/// The constitutive law of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::enum_variant_names)] // The field's names.
pub(crate) enum Kind {
    /// `through = C der(across)`
    AType,
    /// `across = L der(through)`
    TType,
    /// `across = R through`
    DType,
}

/// The kind and the value of a passive element of one domain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PassiveElement {
    pub(crate) kind: Kind,
    pub(crate) value: ExprId,
    /// True if the value is the reciprocal of the value in the generic law.
    pub(crate) is_inverse: bool,
}

/// The network on the far side of one coupler: a model without the domain's own elements, and its end nodes.
#[derive(Clone, Debug)]
pub struct Behind {
    /// The coupler.
    pub element: ElementId,
    /// The coupler's port in the domain.
    pub port: PortId,
    /// True if the across variable of the port counts from the second end to the first.
    pub is_flipped: bool,
    /// The coupler's name.
    pub name: String,
    /// The coupler's ends in the domain.
    pub ends: (Option<String>, Option<String>),
    /// The model.
    pub model: Model,
    /// The port in that model.
    pub place: Place,
}

/// A model in one domain, before the networks on the far side of the couplers are reduced.
#[derive(Clone, Debug)]
pub struct Conversion {
    /// The domain's name.
    pub domain: String,
    /// The couplers, the farthest ones first.
    pub steps: Vec<Step>,
    /// The domain's own branches.
    pub branches: Vec<Branch>,
    /// The networks on the far side of the couplers.
    pub behind: Vec<Behind>,
    /// The model, whose arena has the expressions of the branches.
    pub model: Model,
}

fn refused(message: &str, help: &str) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(Code::LGM0718, message).help(help))
}

/// Returns the domain of a port; for a bond attached to a node of a linear graph, the domain of the node.
pub(crate) fn domain_of(model: &Model, port: &Port) -> Option<DomainId> {
    port.domain.or_else(|| {
        let node = &model.graph.nodes[bonded_node(model, port)?.0.index()];
        node.domain.filter(|_| node.is_graph_node)
    })
}

/// Returns the node at the other end of a port's bond, and true if the bond points to it.
fn bonded_node(model: &Model, port: &Port) -> Option<(NodeId, bool)> {
    let Connection::Bond(bond) = port.connection else {
        return None;
    };
    let bond = &model.graph.bonds[bond.index()];
    match (bond.tail, bond.head) {
        (BondEnd::Node(node), BondEnd::Port(_)) => Some((node, false)),
        (BondEnd::Port(_), BondEnd::Node(node)) => Some((node, true)),
        _ => None,
    }
}

/// Returns true if a variable of a port is its across variable.
pub(crate) fn is_across(model: &Model, port: PortId, variable: Variable) -> bool {
    let domain = domain_of(model, &model.graph.ports[port.index()]);
    let effort_is_across = domain.is_none_or(|domain| model.graph.domains[domain.index()].effort_is_across);
    (variable == Variable::Effort) == effort_is_across
}

/// Returns the parts of a model as seen from one of its domains.
pub fn conversion(model: &Model, domain: &str) -> Result<Conversion, Box<Diagnostic>> {
    let used: FxHashSet<DomainId> = model
        .graph
        .ports
        .iter()
        .filter_map(|port| domain_of(model, port))
        .collect();
    let known = (0..model.graph.domains.len() as u32)
        .map(DomainId)
        .filter(|id| used.contains(id));
    let known: Vec<DomainId> = known.collect();
    let Some(own) = known
        .iter()
        .copied()
        .find(|id| *model.graph.domains[id.index()].name == *domain)
    else {
        let fault = Diagnostic::error(
            Code::LGM0718,
            format!("the model has no elements of the domain `{domain}`"),
        );
        let names: Vec<&str> = known.iter().map(|id| &*model.graph.domains[id.index()].name).collect();
        let help = did_you_mean(domain, names.iter().copied());
        let help = help.unwrap_or_else(|| format!("its domains are {}", names.join(", ")));
        return Err(Box::new(fault.help(help)));
    };
    let mut found = Conversion {
        domain: domain.to_string(),
        steps: Vec::new(),
        branches: Vec::new(),
        behind: Vec::new(),
        model: model.clone(),
    };
    let ids = || (0..model.graph.elements.len() as u32).map(ElementId);
    for id in ids() {
        let ports: Vec<PortId> = model.ports_of(id).collect();
        let inside = |port: &&PortId| domain_of(model, &model.graph.ports[port.index()]) == Some(own);
        match (&ports[..], ports.iter().filter(inside).count()) {
            (_, 0) => {}
            ([port], 1) => found.branches.push(branch(&mut found.model, id, *port)?),
            ([_, _], 1) => {
                let port = *ports
                    .iter()
                    .find(inside)
                    .expect("invariant: one of the ports is inside");
                found.behind.push(behind(model, own, id, port)?);
            }
            ([_, _], _) => return Err(within_domain(model, &known, own, id)),
            _ => {
                let message = format!("`{}` has more than two scalar ports", model.element_name(id));
                return Err(refused(
                    &message,
                    "only couplers with two scalar ports in different domains can be converted",
                ));
            }
        }
    }
    if found.branches.is_empty() {
        return Err(refused(
            &format!("no element of the domain `{domain}` has two ends"),
            "name a domain that has elements other than couplers",
        ));
    }
    found.steps = steps(&mut found.model, own);
    Ok(found)
}

/// Reports an element with two ports that are both in the domain. Only domains without such elements can be converted to.
fn within_domain(model: &Model, known: &[DomainId], own: DomainId, id: ElementId) -> Box<Diagnostic> {
    let (name, domain) = (model.element_name(id), &model.graph.domains[own.index()].name);
    let message =
        format!("`{name}` connects two points within the domain `{domain}`; only other domains are converted");
    let has_none = |domain: &DomainId| {
        (0..model.graph.elements.len() as u32).all(|index| {
            let ports = model.ports_of(ElementId(index));
            ports
                .filter(|port| domain_of(model, &model.graph.ports[port.index()]) == Some(*domain))
                .count()
                < 2
        })
    };
    let others = known.iter().filter(|domain| **domain != own && has_none(domain));
    let others: Vec<String> = others
        .map(|domain| format!("`--to {}`", model.graph.domains[domain.index()].name))
        .collect();
    let help = "refer the network behind it to the other side: divide across variables by the ratio, and multiply \
        through variables by it";
    refused(
        &message,
        &match others.is_empty() {
            true => help.to_string(),
            false => format!("convert to another domain, {}; or {help}", others.join(" or ")),
        },
    )
}

fn end_name(model: &Model, node: Option<NodeId>) -> Option<String> {
    node.map(|node| model.path_name(model.graph.nodes[node.index()].path))
}

pub(super) fn ends(model: &Model, port: PortId) -> Result<(Option<NodeId>, Option<NodeId>), Box<Diagnostic>> {
    let port = &model.graph.ports[port.index()];
    if let Connection::Branch { from, to, .. } = &port.connection {
        return Ok((*from, *to));
    }
    let found = bonded_node(model, port).map(|(node, is_head)| (&model.graph.nodes[node.index()], node, is_head));
    match found.filter(|found| found.0.is_graph_node) {
        // The flow of a bond that leads to a junction of one flow is the flow of the junction; the bond's port has the negative flow.
        Some((kind, node, true)) if kind.kind == JunctionKind::One => Ok((None, Some(node))),
        Some((_, node, _)) => Ok((Some(node), None)),
        None => Err(refused(
            "the model has bonds between elements in this domain",
            "conversion requires branches and bonds at the nodes of a linear graph",
        )),
    }
}

/// Converts an element of the domain to a branch.
pub(super) fn branch(model: &mut Model, id: ElementId, port: PortId) -> Result<Branch, Box<Diagnostic>> {
    let (from, to) = ends(model, port)?;
    let effort_is_across = is_across(model, port, Variable::Effort);
    let is_across = |variable: Variable| (variable == Variable::Effort) == effort_is_across;
    let exprs = &mut model.exprs;
    let (one, zero) = (exprs.one(), exprs.zero());
    let mut source = None;
    let mut part = None;
    let mut of = |kind: Kind, value: ExprId, is_inverse: bool| {
        part = Some(PassiveElement {
            kind,
            value,
            is_inverse,
        });
        let whole = match kind {
            Kind::AType => (vec![one], vec![value, zero]),
            Kind::TType => (vec![value, zero], vec![one]),
            Kind::DType => (vec![value], vec![one]),
        };
        Some(match (is_inverse, kind) {
            (false, _) => whole,
            (true, Kind::AType) => (vec![value], vec![one, zero]),
            (true, Kind::TType) => (vec![one, zero], vec![value]),
            (true, Kind::DType) => (vec![one], vec![value]),
        })
    };
    let impedance = match &model.graph.elements[id.index()].law {
        Law::Storage { co_energy, value, form } => {
            let kind = if is_across(*co_energy) {
                Kind::AType
            } else {
                Kind::TType
            };
            of(kind, value.entries[0], *form == StorageForm::Inverse)
        }
        Law::Dissipator(Dissipator::Resistance(matrix)) => of(Kind::DType, matrix.entries[0], !effort_is_across),
        Law::Dissipator(Dissipator::Conductance(matrix)) => of(Kind::DType, matrix.entries[0], effort_is_across),
        Law::Source { given, values } => {
            source = Some((is_across(*given), values[0]));
            None
        }
        _ => {
            let message = format!("`{}` has a nonlinear law", model.element_name(id));
            return Err(refused(&message, "conversion requires linear elements"));
        }
    };
    Ok(Branch {
        element: id,
        part,
        name: model.element_name(id),
        ends: (end_name(model, from), end_name(model, to)),
        impedance,
        source,
    })
}

/// Returns the model without the domain's elements, except one coupler.
fn behind(model: &Model, own: DomainId, coupler: ElementId, port: PortId) -> Result<Behind, Box<Diagnostic>> {
    if !matches!(model.graph.elements[coupler.index()].law, Law::Coupler { .. }) {
        let message = format!("`{}` is not a lossless coupler", model.element_name(coupler));
        return Err(refused(&message, "conversion requires transformers and gyrators"));
    }
    // A bond has no end nodes: the network on its far side is attached to its node.
    let (from, to, is_flipped) = match (ends(model, port)?, &model.graph.ports[port.index()].connection) {
        ((None, to), Connection::Bond(_)) => (to, None, true),
        ((from, to), _) => (from, to, false),
    };
    let is_removed = |id: ElementId| {
        let mut ports = model.ports_of(id);
        id != coupler && ports.any(|port| domain_of(model, &model.graph.ports[port.index()]) == Some(own))
    };
    Ok(Behind {
        element: coupler,
        port,
        is_flipped,
        name: model.element_name(coupler),
        ends: (end_name(model, from), end_name(model, to)),
        model: without(model, own, &is_removed)?,
        place: Place::Nodes(from, to),
    })
}

/// Returns the couplers on the paths out of a domain, the farthest first, each with the transformed impedance.
fn steps(model: &mut Model, own: DomainId) -> Vec<Step> {
    let mut found: Vec<(usize, ElementId, PortId)> = Vec::new();
    let mut reached = vec![(own, 0)];
    let mut at = 0;
    while at < reached.len() {
        let (domain, distance) = reached[at];
        at += 1;
        for index in 0..model.graph.elements.len() as u32 {
            let id = ElementId(index);
            let ports: Vec<PortId> = model.ports_of(id).collect();
            let [a, b] = ports[..] else { continue };
            let of = |port: PortId| domain_of(model, &model.graph.ports[port.index()]);
            if !matches!(model.graph.elements[id.index()].law, Law::Coupler { .. })
                || found.iter().any(|step| step.1 == id)
            {
                continue;
            }
            for (near, far) in [(a, b), (b, a)] {
                if of(near) == Some(domain)
                    && let Some(next) = of(far).filter(|far| *far != domain)
                {
                    found.push((distance, id, near));
                    if reached.iter().all(|known| known.0 != next) {
                        reached.push((next, distance + 1));
                    }
                    break;
                }
            }
        }
    }
    found.sort_by_key(|step| std::cmp::Reverse(step.0));
    let mut steps = Vec::with_capacity(found.len());
    for (_, id, near) in found {
        steps.push(Step {
            coupler: model.element_name(id),
            rule: rule(model, id, near),
            lines: lines(model, id, near, is_across),
        });
    }
    steps
}

/// Returns the impedance at the near port of a coupler in terms of the far one, across over through on both sides.
fn rule(model: &mut Model, id: ElementId, near: PortId) -> String {
    let first = PortId(model.graph.elements[id.index()].ports.start);
    let Law::Coupler { input, output, matrix } = model.graph.elements[id.index()].law.clone() else {
        return String::new();
    };
    let last = PortId(first.0 + 1);
    let (x, y) = (is_across(model, first, input), is_across(model, last, output));
    let exprs = &mut model.exprs;
    let z = exprs.new_symbol("Z", SymbolKind::Parameter);
    let z = exprs.symbol(z);
    let two = exprs.integer(2);
    // Both signs have the same square.
    let (m, minus) = (matrix.entries[0], exprs.neg(matrix.entries[0]));
    let shorter = if text(exprs, minus).len() < text(exprs, m).len() {
        minus
    } else {
        m
    };
    let square = exprs.power(shorter, two);
    // y = m x, and the conjugate of x is -m times the conjugate of y.
    let is_y_near = near != first;
    let value = match (x, y) {
        // Across to across: a transformer.
        (true, true) if is_y_near => exprs.mul(square, z),
        (true, true) => exprs.div(z, square),
        (false, false) if is_y_near => exprs.div(z, square),
        (false, false) => exprs.mul(square, z),
        // Across to through: a gyrator.
        (false, true) => exprs.div(square, z),
        (true, false) => {
            let one = exprs.one();
            let product = exprs.mul(square, z);
            exprs.div(one, product)
        }
    };
    text(&model.exprs, value)
}
