//! A model seen from one domain: what lies behind its couplers as impedances and sources.

use super::probe::Place;
use super::without::without;
use lgm_algebra::expr::{ExprId, SymbolKind, text};
use lgm_model::{BondEnd, Connection, Dissipator, DomainId, ElementId, Law, Model, NodeId, Port, PortId};
use lgm_model::{JunctionKind, StorageForm, Variable};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::nearest::did_you_mean;
use rustc_hash::FxHashSet;

/// A coupler that is gone through, and what it makes of the impedance behind it.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Its name.
    pub coupler: String,
    /// The impedance in front of it over the one behind it, Z: `r^2*Z`.
    pub rule: String,
}

/// A branch of the domain with its impedance over the parameters, as coefficients of descending powers of s.
#[derive(Clone, Debug, PartialEq)]
pub struct Branch {
    /// The element.
    pub element: ElementId,
    /// The element's name.
    pub name: String,
    /// Its ends; none is the reference.
    pub ends: (Option<String>, Option<String>),
    /// For a passive element what it is, and its value: C, L or R of the generic law, or 1 over it.
    pub(crate) part: Option<Part>,
    /// Numerator and denominator; none for a source.
    pub impedance: Option<(Vec<ExprId>, Vec<ExprId>)>,
    /// For a source, whether it gives the across variable, and its value.
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
pub(crate) struct Part {
    pub(crate) kind: Kind,
    pub(crate) value: ExprId,
    /// True if the value is 1 over that of the generic law.
    pub(crate) is_inverse: bool,
}

/// The network behind one coupler: a model without the domain's own elements, and the ends from which it is seen.
#[derive(Clone, Debug)]
pub struct Behind {
    /// The coupler.
    pub element: ElementId,
    /// Its port in the domain.
    pub port: PortId,
    /// True if the across variable of the port counts from the second end to the first.
    pub is_flipped: bool,
    /// The coupler's name.
    pub name: String,
    /// Its ends in the domain.
    pub ends: (Option<String>, Option<String>),
    /// The model.
    pub model: Model,
    /// The place in that model.
    pub place: Place,
}

/// A model in one domain, before what is behind the couplers is computed.
#[derive(Clone, Debug)]
pub struct Conversion {
    /// The domain's name.
    pub domain: String,
    /// The couplers, those that are farthest away first.
    pub steps: Vec<Step>,
    /// The domain's own branches.
    pub branches: Vec<Branch>,
    /// The networks behind its couplers.
    pub behind: Vec<Behind>,
    /// The model, whose arena has the expressions of the branches.
    pub model: Model,
}

fn refused(message: &str, help: &str) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(Code::LGM0718, message).help(help))
}

/// The domain of a port; of a bond's end at a node of a linear graph, that of the node.
pub(crate) fn domain_of(model: &Model, port: &Port) -> Option<DomainId> {
    port.domain.or_else(|| {
        let node = &model.graph.nodes[bonded_node(model, port)?.0.index()];
        node.domain.filter(|_| node.is_graph_node)
    })
}

/// The node at the other end of a port's bond, and whether the bond leads to it.
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

/// The parts of a model as they are seen from one of its domains.
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
                    "couplers with two scalar ports are converted, which join two domains",
                ));
            }
        }
    }
    if found.branches.is_empty() {
        return Err(refused(
            &format!("no element of the domain `{domain}` has two ends"),
            "name a domain that has elements beside couplers",
        ));
    }
    found.steps = steps(&mut found.model, own);
    Ok(found)
}

/// An element with two ports, both of them in the domain. Domains that have no such element can be converted to.
fn within_domain(model: &Model, known: &[DomainId], own: DomainId, id: ElementId) -> Box<Diagnostic> {
    let (name, domain) = (model.element_name(id), &model.graph.domains[own.index()].name);
    let message =
        format!("`{name}` joins two places of the domain `{domain}`, and what lies within the domain is not converted");
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
    let help = "write what is behind it over the variables of its other side: across variables over, and through variables times, \
                its ratio";
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
        // The flow of a bond that leads to a junction of one flow is that of the junction; its port has the negative of it.
        Some((kind, node, true)) if kind.kind == JunctionKind::One => Ok((None, Some(node))),
        Some((_, node, _)) => Ok((Some(node), None)),
        None => Err(refused(
            "the model has bonds between elements in this domain",
            "conversion takes branches and bonds at the nodes of a linear graph",
        )),
    }
}

/// An element of the domain as a branch.
pub(super) fn branch(model: &mut Model, id: ElementId, port: PortId) -> Result<Branch, Box<Diagnostic>> {
    let (from, to) = ends(model, port)?;
    let effort_is_across = is_across(model, port, Variable::Effort);
    let is_across = |variable: Variable| (variable == Variable::Effort) == effort_is_across;
    let exprs = &mut model.exprs;
    let (one, zero) = (exprs.one(), exprs.zero());
    let mut source = None;
    let mut part = None;
    let mut of = |kind: Kind, value: ExprId, is_inverse: bool| {
        part = Some(Part {
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
            let message = format!("`{}` has a law that is not linear", model.element_name(id));
            return Err(refused(&message, "conversion takes linear elements"));
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

/// The model without what the domain has beside one coupler.
fn behind(model: &Model, own: DomainId, coupler: ElementId, port: PortId) -> Result<Behind, Box<Diagnostic>> {
    if !matches!(model.graph.elements[coupler.index()].law, Law::Coupler { .. }) {
        let message = format!("`{}` is no coupler without losses", model.element_name(coupler));
        return Err(refused(&message, "conversion takes transformers and gyrators"));
    }
    // A bond has no ends of its own: what it leads to is seen from its node.
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

/// The couplers on the ways out of a domain, the farthest first, with what each makes of the impedance behind it.
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
        });
    }
    steps
}

/// The impedance that a coupler shows for the one behind it, across over through on both sides.
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
    // Both signs have one square.
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
        // Across by across, as in a transformer.
        (true, true) if is_y_near => exprs.mul(square, z),
        (true, true) => exprs.div(z, square),
        (false, false) if is_y_near => exprs.div(z, square),
        (false, false) => exprs.mul(square, z),
        // Across by through, as in a gyrator.
        (false, true) => exprs.div(square, z),
        (true, false) => {
            let one = exprs.one();
            let product = exprs.mul(square, z);
            exprs.div(one, product)
        }
    };
    text(&model.exprs, value)
}
