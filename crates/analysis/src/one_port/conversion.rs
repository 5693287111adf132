//! A model seen from one domain: what lies behind its couplers as impedances and sources.

use super::probe::Place;
use lgm_algebra::expr::{ExprId, SymbolId, SymbolKind, text};
use lgm_model::{BondEnd, Connection, Dissipator, DomainId, ElementId, Law, Measure, Model, NodeId, PortId};
use lgm_model::{StorageForm, Variable};
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
    /// The element's name.
    pub name: String,
    /// Its ends; none is the reference.
    pub ends: (Option<String>, Option<String>),
    /// Numerator and denominator; none for a source.
    pub impedance: Option<(Vec<ExprId>, Vec<ExprId>)>,
    /// For a source, whether it gives the across variable, and its value.
    pub source: Option<(bool, ExprId)>,
}

/// What is behind one coupler: a model without the domain's own elements, and the ends from which it is seen.
#[derive(Clone, Debug)]
pub struct Behind {
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
    /// What is behind its couplers.
    pub behind: Vec<Behind>,
    /// The model, whose arena has the expressions of the branches.
    pub model: Model,
}

fn refused(message: &str, help: &str) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(Code::LGM0718, message).help(help))
}

/// The parts of a model as they are seen from one of its domains.
pub fn conversion(model: &Model, domain: &str) -> Result<Conversion, Box<Diagnostic>> {
    let used: FxHashSet<DomainId> = model.ports.iter().filter_map(|port| port.domain).collect();
    let known = (0..model.domains.len() as u32)
        .map(DomainId)
        .filter(|id| used.contains(id));
    let known: Vec<DomainId> = known.collect();
    let Some(own) = known
        .iter()
        .copied()
        .find(|id| *model.domains[id.index()].name == *domain)
    else {
        let fault = Diagnostic::error(
            Code::LGM0718,
            format!("the model has no elements of the domain `{domain}`"),
        );
        let names: Vec<&str> = known.iter().map(|id| &*model.domains[id.index()].name).collect();
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
    let ids = || (0..model.elements.len() as u32).map(ElementId);
    for id in ids() {
        let ports: Vec<PortId> = model.ports_of(id).collect();
        let inside = |port: &&PortId| model.ports[port.index()].domain == Some(own);
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
            _ => {
                let message = format!("`{}` joins more than two scalar ports", model.element_name(id));
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

fn end_name(model: &Model, node: Option<NodeId>) -> Option<String> {
    node.map(|node| model.path_name(model.nodes[node.index()].path))
}

fn ends(model: &Model, port: PortId) -> Result<(Option<NodeId>, Option<NodeId>), Box<Diagnostic>> {
    match &model.ports[port.index()].connection {
        Connection::Branch { from, to, .. } => Ok((*from, *to)),
        Connection::Bond(_) => Err(refused(
            "the model has bonds in this domain",
            "conversion takes branches of a linear graph",
        )),
    }
}

/// An element of the domain as a branch.
fn branch(model: &mut Model, id: ElementId, port: PortId) -> Result<Branch, Box<Diagnostic>> {
    let (from, to) = ends(model, port)?;
    let domain = model.ports[port.index()].domain;
    let effort_is_across = domain.is_none_or(|domain| model.domains[domain.index()].effort_is_across);
    let is_across = |variable: Variable| (variable == Variable::Effort) == effort_is_across;
    let exprs = &mut model.exprs;
    let (one, zero) = (exprs.one(), exprs.zero());
    let mut source = None;
    let impedance = match &model.elements[id.index()].law {
        Law::Storage { co_energy, value, form } => {
            let value = value.entries[0];
            // across/through: 1/(C s) of an A-type, L s of a T-type.
            Some(match (is_across(*co_energy), form) {
                (true, StorageForm::Direct) => (vec![one], vec![value, zero]),
                (true, StorageForm::Inverse) => (vec![value], vec![one, zero]),
                (false, StorageForm::Direct) => (vec![value, zero], vec![one]),
                (false, StorageForm::Inverse) => (vec![one, zero], vec![value]),
            })
        }
        Law::Dissipator(Dissipator::Resistance(matrix)) => Some(match effort_is_across {
            true => (vec![matrix.entries[0]], vec![one]),
            false => (vec![one], vec![matrix.entries[0]]),
        }),
        Law::Dissipator(Dissipator::Conductance(matrix)) => Some(match effort_is_across {
            true => (vec![one], vec![matrix.entries[0]]),
            false => (vec![matrix.entries[0]], vec![one]),
        }),
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
        name: model.element_name(id),
        ends: (end_name(model, from), end_name(model, to)),
        impedance,
        source,
    })
}

/// The model without what the domain has beside one coupler.
fn behind(model: &Model, own: DomainId, coupler: ElementId, port: PortId) -> Result<Behind, Box<Diagnostic>> {
    if !matches!(model.elements[coupler.index()].law, Law::Coupler { .. }) {
        let message = format!("`{}` is no coupler without losses", model.element_name(coupler));
        return Err(refused(&message, "conversion takes transformers and gyrators"));
    }
    let (from, to) = ends(model, port)?;
    let is_removed = |id: ElementId| {
        let touches = model
            .ports_of(id)
            .any(|port| model.ports[port.index()].domain == Some(own));
        id != coupler && touches
    };
    Ok(Behind {
        name: model.element_name(coupler),
        ends: (end_name(model, from), end_name(model, to)),
        model: without(model, &is_removed)?,
        place: Place::Nodes(from, to),
    })
}

/// The model without some of its elements.
fn without(model: &Model, is_removed: &dyn Fn(ElementId) -> bool) -> Result<Model, Box<Diagnostic>> {
    let mut rest = model.clone();
    let mut places: Vec<Option<PortId>> = vec![None; model.ports.len()];
    let mut owners: Vec<Option<ElementId>> = vec![None; model.elements.len()];
    (rest.elements, rest.ports) = (Vec::new(), Vec::new());
    for (index, element) in model.elements.iter().enumerate() {
        let id = ElementId(index as u32);
        if is_removed(id) {
            continue;
        }
        let own = ElementId(rest.elements.len() as u32);
        owners[index] = Some(own);
        let first = rest.ports.len() as u32;
        for port in model.ports_of(id) {
            places[port.index()] = Some(PortId(rest.ports.len() as u32));
            let mut port = model.ports[port.index()].clone();
            port.element = own;
            rest.ports.push(port);
        }
        let mut element = element.clone();
        element.ports = first..rest.ports.len() as u32;
        rest.elements.push(element);
    }
    let mut gone: FxHashSet<SymbolId> = FxHashSet::default();
    rest.measures.clear();
    for (symbol, measure) in &model.measures {
        let moved = match *measure {
            Measure::PortEffort(port) => places[port.index()].map(Measure::PortEffort),
            Measure::PortFlow(port) => places[port.index()].map(Measure::PortFlow),
            other => Some(other),
        };
        match moved {
            Some(measure) => rest.measures.push((*symbol, measure)),
            None => {
                gone.insert(*symbol);
            }
        }
    }
    for bond in &mut rest.bonds {
        for end in [&mut bond.tail, &mut bond.head] {
            if let BondEnd::Port(port) = end {
                let message = "an element of the domain is joined by bonds";
                let moved = places[port.index()];
                *port = moved.ok_or_else(|| refused(message, "conversion takes branches of a linear graph"))?;
            }
        }
    }
    rest.outputs.clear();
    rest.start_conditions.clear();
    let depends = |roots: &[ExprId]| model.exprs.symbols_of(roots).iter().any(|symbol| gone.contains(symbol));
    rest.signals.retain(|signal| !depends(&[signal.value]));
    let count = rest.integrals.len();
    rest.integrals.retain_mut(|integral| {
        let owner = integral.owner.map(|owner| owners[owner.index()]);
        if let Some(moved) = owner {
            integral.owner = moved;
        }
        owner != Some(None) && !depends(&[integral.rate])
    });
    let is_controlled = rest.elements.iter().any(|element| match &element.law {
        Law::Source { values, .. } => depends(values),
        Law::Coupler { matrix, .. } => depends(&matrix.entries),
        Law::Nonlinear(law) => depends(&law.residuals),
        _ => false,
    });
    if is_controlled || rest.integrals.len() < count && !gone.is_empty() {
        return Err(refused(
            "what is behind a coupler is controlled by variables of the domain",
            "conversion takes networks that act on each other by couplers alone",
        ));
    }
    Ok(rest)
}

/// The couplers on the ways out of a domain, the farthest first, with what each makes of the impedance behind it.
fn steps(model: &mut Model, own: DomainId) -> Vec<Step> {
    let mut found: Vec<(usize, ElementId, PortId)> = Vec::new();
    let mut reached = vec![(own, 0)];
    let mut at = 0;
    while at < reached.len() {
        let (domain, distance) = reached[at];
        at += 1;
        for index in 0..model.elements.len() as u32 {
            let id = ElementId(index);
            let ports: Vec<PortId> = model.ports_of(id).collect();
            let [a, b] = ports[..] else { continue };
            let of = |port: PortId| model.ports[port.index()].domain;
            if !matches!(model.elements[id.index()].law, Law::Coupler { .. }) || found.iter().any(|step| step.1 == id) {
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

/// What a coupler makes of the impedance behind it, across over through on both sides.
fn rule(model: &mut Model, id: ElementId, near: PortId) -> String {
    let first = PortId(model.elements[id.index()].ports.start);
    let is_across = |model: &Model, port: PortId, variable: Variable| {
        let domain = model.ports[port.index()].domain;
        let effort_is_across = domain.is_none_or(|domain| model.domains[domain.index()].effort_is_across);
        (variable == Variable::Effort) == effort_is_across
    };
    let Law::Coupler { input, output, matrix } = model.elements[id.index()].law.clone() else {
        return String::new();
    };
    let last = PortId(first.0 + 1);
    let (x, y) = (is_across(model, first, input), is_across(model, last, output));
    let exprs = &mut model.exprs;
    let z = exprs.new_symbol("Z", SymbolKind::Parameter);
    let z = exprs.symbol(z);
    let two = exprs.integer(2);
    let square = exprs.power(matrix.entries[0], two);
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
