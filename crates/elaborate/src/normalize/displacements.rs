//! Integrals of across variables as sums over storage along a path. Example: in a chain of masses, the displacement of the second mass is
//! the sum of the elongations of the first two springs.
//!
//! T-type storage and declared states `int(across(..))` are edges between nodes. A tree of shortest paths from the reference determines the
//! integral at each node, so that an output such as `int(across(mass))` adds no state.

use super::energy_variables::{Holding, integrated_by, own_integral, start_of_energy};
use lgm_algebra::DisjointSets;
use lgm_algebra::expr::{ExprId, Exprs, Function, Node, SymbolId, SymbolKind, to_f64};
use lgm_model::switching::Target;
use lgm_model::{Connection, Integral, JunctionKind, Law, Measure, Model, NodeId, PortId, Variable};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

/// Longer paths add a state: longer sums are unreadable, and many outputs of a long chain would have a quadratic number
/// of terms.
const LONGEST: usize = 32;

/// A node; none means the reference.
type End = Option<NodeId>;

/// Returns the index of a node, where the reference has index 0.
fn place(end: End) -> usize {
    end.map_or(0, |node| node.index() + 1)
}

/// The owner of the integral of the across variable between two nodes.
struct Edge {
    from: End,
    to: End,
    held: HeldBy,
    /// Its initial value.
    start: ExprId,
}

/// The owner of an integral.
#[derive(Clone, Copy)]
enum HeldBy {
    Storage(PortId),
    State(SymbolId),
}

/// The step from a node to the next node on its path to the root.
#[derive(Clone, Copy)]
struct Step {
    before: End,
    edge: usize,
    depth: usize,
}

/// The forest of shortest paths.
struct Paths {
    edges: Vec<Edge>,
    /// Roots have no entry.
    steps: FxHashMap<End, Step>,
}

/// Replaces integrals in outputs by equal sums of energy variables minus their initial values.
pub(super) fn hold_along_paths(model: &mut Model, holding: &mut Holding) {
    let roots: Vec<ExprId> = model.outputs.iter().map(|output| output.value).collect();
    let calls = model.exprs.reachable(&roots).into_iter();
    let calls: Vec<(ExprId, ExprId)> = calls
        .filter_map(|id| match model.exprs.node(id) {
            Node::Call(Function::Int, list) => Some((id, list[0])),
            _ => None,
        })
        .collect();
    let mut paths = None;
    let mut held: FxHashMap<ExprId, ExprId> = FxHashMap::default();
    for (call, integrand) in calls {
        let Some(nodes) = coefficients(model, holding, integrand) else {
            continue;
        };
        let paths = paths.get_or_insert_with(|| Paths::of(model, holding));
        if let Some(parts) = paths.parts(&mut model.exprs, &nodes)
            && let Some(value) = paths.value(model, holding, parts)
        {
            held.insert(call, value);
        }
    }
    if held.is_empty() {
        return;
    }
    let mut done: FxHashMap<ExprId, ExprId> = FxHashMap::default();
    let exprs = &mut model.exprs;
    for id in exprs.reachable(&roots) {
        let now = match held.get(&id) {
            Some(value) => *value,
            None => {
                let node = exprs.node(id).clone();
                exprs.rebuild(&node, &done)
            }
        };
        done.insert(id, now);
    }
    for output in &mut model.outputs {
        output.value = done[&output.value];
    }
}

/// Returns an integrand as a sum of across variables of nodes relative to the reference; none if it is not such a sum.
fn coefficients(model: &mut Model, holding: &Holding, integrand: ExprId) -> Option<Vec<(NodeId, ExprId)>> {
    let is_variable = |exprs: &Exprs, id: ExprId| match exprs.node(id) {
        Node::Symbol(symbol) => exprs.symbol_info(*symbol).kind != SymbolKind::Parameter,
        Node::Call(Function::Int | Function::Der, _) => true,
        _ => false,
    };
    let form = model.exprs.affine(integrand, &is_variable)?;
    if !model.exprs.is_zero(form.rest) {
        return None;
    }
    let mut sums: Vec<(NodeId, ExprId)> = Vec::new();
    for (atom, coefficient) in form.terms {
        let Node::Symbol(symbol) = model.exprs.node(atom) else {
            return None;
        };
        let (from, to) = ends_of(model, holding.measure(*symbol)?)?;
        let negative = model.exprs.neg(coefficient);
        for (node, part) in [(from, coefficient), (to, negative)] {
            let Some(node) = node else { continue };
            match sums.iter_mut().find(|entry| entry.0 == node) {
                Some(entry) => entry.1 = model.exprs.add(entry.1, part),
                None => sums.push((node, part)),
            }
        }
    }
    sums.retain(|entry| !model.exprs.is_zero(entry.1));
    (!sums.is_empty()).then_some(sums)
}

/// Returns the nodes between which an across variable is measured.
fn ends_of(model: &Model, measure: Measure) -> Option<(End, End)> {
    let (port, variable) = match measure {
        Measure::Common(node) => {
            let about = &model.graph.nodes[node.index()];
            let is_effort = model.graph.domains[about.domain?.index()].effort_is_across;
            let is_across = (about.kind == JunctionKind::Zero) == is_effort;
            return is_across.then_some((Some(node), None));
        }
        Measure::PortEffort(port) => (port, Variable::Effort),
        Measure::PortFlow(port) => (port, Variable::Flow),
        Measure::BondEffort(_) | Measure::BondFlow(_) => return None,
    };
    let about = &model.graph.ports[port.index()];
    let is_across = model.graph.domains[about.domain?.index()].effort_is_across == (variable == Variable::Effort);
    match about.connection {
        Connection::Branch { from, to, .. } if is_across => Some((from, to)),
        _ => None,
    }
}

impl Paths {
    /// Returns the shortest paths from the reference, and between nodes that no storage connects to it. Ties are broken by the names of
    /// elements.
    fn of(model: &mut Model, holding: &Holding) -> Paths {
        let edges = edges(model, holding);
        let mut beside: FxHashMap<End, Vec<usize>> = FxHashMap::default();
        for (at, edge) in edges.iter().enumerate() {
            beside.entry(edge.from).or_default().push(at);
            beside.entry(edge.to).or_default().push(at);
        }
        let mut steps: FxHashMap<End, Step> = FxHashMap::default();
        let mut seen: FxHashSet<End> = FxHashSet::default();
        for root in std::iter::once(None).chain(edges.iter().map(|edge| edge.from)) {
            if !seen.insert(root) {
                continue;
            }
            let mut waiting = VecDeque::from([(root, 0)]);
            while let Some((node, depth)) = waiting.pop_front() {
                for &edge in beside.get(&node).into_iter().flatten() {
                    let other = if edges[edge].from == node {
                        edges[edge].to
                    } else {
                        edges[edge].from
                    };
                    if seen.insert(other) {
                        let depth = depth + 1;
                        let before = node;
                        steps.insert(other, Step { before, edge, depth });
                        waiting.push_back((other, depth));
                    }
                }
            }
        }
        Paths { edges, steps }
    }

    /// Returns the coefficient of each edge in the integral of a sum of across variables of nodes.
    fn parts(&self, exprs: &mut Exprs, nodes: &[(NodeId, ExprId)]) -> Option<Vec<(usize, ExprId)>> {
        let mut parts: Vec<(usize, ExprId)> = Vec::new();
        let mut add =
            |exprs: &mut Exprs, edge: usize, coefficient: ExprId| match parts.iter_mut().find(|part| part.0 == edge) {
                Some(part) => part.1 = exprs.add(part.1, coefficient),
                None => parts.push((edge, coefficient)),
            };
        if let [(a, coefficient), (b, other)] = nodes
            && exprs.neg(*other) == *coefficient
        {
            for (edge, is_forward) in self.between(Some(*a), Some(*b))? {
                add(exprs, edge, if is_forward { *coefficient } else { *other });
            }
        } else {
            for (node, coefficient) in nodes {
                let negative = exprs.neg(*coefficient);
                for (edge, is_forward) in self.between(Some(*node), None)? {
                    add(exprs, edge, if is_forward { *coefficient } else { negative });
                }
            }
        }
        parts.retain(|part| !exprs.is_zero(part.1));
        (parts.len() <= LONGEST).then_some(parts)
    }

    /// Returns the edges on the path from one node to another, each with its direction: forward if the path goes from its tail to its head.
    fn between(&self, mut from: End, mut to: End) -> Option<Vec<(usize, bool)>> {
        let mut path = Vec::new();
        while from != to {
            if path.len() == LONGEST {
                return None;
            }
            let (up, down) = (self.steps.get(&from), self.steps.get(&to));
            let depth = |step: Option<&Step>| step.map_or(0, |step| step.depth);
            if depth(up) >= depth(down) {
                let step = up?;
                path.push((step.edge, self.edges[step.edge].from == from));
                from = step.before;
            } else {
                let step = down?;
                path.push((step.edge, self.edges[step.edge].to == to));
                to = step.before;
            }
        }
        Some(path)
    }

    /// Returns the sum over the energy variables of edges, each minus its initial value.
    fn value(&self, model: &mut Model, holding: &mut Holding, parts: Vec<(usize, ExprId)>) -> Option<ExprId> {
        let mut terms = Vec::with_capacity(parts.len());
        for (edge, coefficient) in parts {
            let Edge { held, start, .. } = self.edges[edge];
            let energy = match held {
                HeldBy::Storage(port) => holding.energy(model, port)?,
                HeldBy::State(symbol) => model.exprs.symbol(symbol),
            };
            let gained = model.exprs.sub(energy, start);
            terms.push(model.exprs.mul(coefficient, gained));
        }
        Some(model.exprs.sum(terms))
    }
}

/// Returns all owners of the integral of an across variable with a known initial value, sorted by name.
fn edges(model: &mut Model, holding: &Holding) -> Vec<Edge> {
    let assigned: FxHashSet<Target> = model
        .switching
        .blocks
        .iter()
        .flat_map(|block| block.assignments.iter().map(|assignment| assignment.target))
        .collect();
    let switched: FxHashSet<_> = model
        .switching
        .elements
        .iter()
        .map(|switched| switched.element)
        .collect();
    let places = model.integrals.iter().enumerate();
    let places: FxHashMap<SymbolId, usize> = places.map(|(at, integral)| (integral.symbol, at)).collect();
    let mut unmoved = Unmoved::of(model);
    let entries = model.parameters.iter().flat_map(|parameter| &parameter.entries);
    let values: FxHashMap<SymbolId, f64> = entries.map(|entry| (entry.symbol, to_f64(&entry.value))).collect();
    let mut found: Vec<(String, Edge)> = Vec::new();
    for index in 0..model.graph.ports.len() {
        let port = PortId(index as u32);
        let element = model.graph.ports[index].element;
        let own = own_integral(model, port);
        let is_assigned = assigned.contains(&Target::Storage(port))
            || own.is_some_and(|(_, symbol)| assigned.contains(&Target::State(symbol)));
        // For storage with several ports, the displacement of one port is a sum over all ports.
        if is_assigned || switched.contains(&element) || model.graph.elements[element.index()].ports.len() > 1 {
            continue;
        }
        let law = &model.graph.elements[element.index()].law;
        if law.is_without_stiffness(&model.exprs, &|symbol| values.get(&symbol).copied()) {
            continue;
        }
        let Some(variable) = integrated_by(model, port) else {
            continue;
        };
        let measure = match variable {
            Variable::Effort => Measure::PortEffort(port),
            Variable::Flow => Measure::PortFlow(port),
        };
        let Some((from, to)) = ends_of(model, measure) else {
            continue;
        };
        let start = match given_start(model, &places, port) {
            Some(true) => start_of_energy(model, port).unwrap_or_else(|| model.exprs.zero()),
            None if unmoved.has(from, to) => model.exprs.zero(),
            _ => continue,
        };
        let held = HeldBy::Storage(port);
        found.push((model.element_name(element), Edge { from, to, held, start }));
    }
    for at in 0..model.integrals.len() {
        let integral = &model.integrals[at];
        let is_plain = integral.owner.is_none() && !integral.is_guess && integral.closure.is_none();
        let symbol = integral.symbol;
        let Node::Symbol(measured) = model.exprs.node(integral.rate) else {
            continue;
        };
        let Some((from, to)) = holding.measure(*measured).and_then(|measure| ends_of(model, measure)) else {
            continue;
        };
        if is_plain && !assigned.contains(&Target::State(symbol)) {
            let start = integral.start.unwrap_or_else(|| model.exprs.zero());
            let name = model.exprs.symbol_info(symbol).name.to_string();
            let held = HeldBy::State(symbol);
            found.push((name, Edge { from, to, held, start }));
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found.into_iter().map(|entry| entry.1).collect()
}

/// Returns `Some(true)` if the initial value of the energy variable of a storage port is known, `Some(false)` if it is only guessed, and
/// none if it is not given.
fn given_start(model: &Model, places: &FxHashMap<SymbolId, usize>, port: PortId) -> Option<bool> {
    let element = &model.graph.elements[model.graph.ports[port.index()].element.index()];
    let Law::Nonlinear(_) = element.law else {
        let given = |start: &Option<ExprId>| start.is_some();
        return match element.start.iter().any(given) {
            true => Some(element.start.iter().all(given)),
            false => None,
        };
    };
    let (_, symbol) = own_integral(model, port)?;
    let integral = &model.integrals[*places.get(&symbol)?];
    integral.start.map(|_| !integral.is_guess && integral.closure.is_none())
}

/// The storage ports without their own initial value that start at 0, even if other storage does not.
enum Unmoved {
    All,
    None,
    /// Between nodes of one group, which A-type storage, dissipators and across sources join, so that no sum of through variables couples
    /// this storage to other storage.
    Within(DisjointSets),
}

impl Unmoved {
    fn of(model: &Model) -> Unmoved {
        let is_given = |start: ExprId| !model.exprs.is_zero(start);
        let of_elements = model
            .graph
            .elements
            .iter()
            .flat_map(|element| element.start.iter().flatten());
        let of_integrals = model.integrals.iter().flat_map(|integral| &integral.start);
        let is_solved = |integral: &Integral| integral.is_guess || integral.closure.is_some();
        if model.start_conditions.is_empty()
            && !model.integrals.iter().any(is_solved)
            && !of_elements.chain(of_integrals).any(|start| is_given(*start))
        {
            return Unmoved::All;
        }
        let mut groups = DisjointSets::new(model.graph.nodes.len() + 1);
        for element in &model.graph.elements {
            let joins = match &element.law {
                Law::Source { values, .. } => {
                    let symbols = model.exprs.symbols_of(values);
                    let mut kinds = symbols.into_iter().map(|symbol| model.exprs.symbol_info(symbol).kind);
                    // A controlled source may couple any storage elements.
                    if kinds.any(|kind| matches!(kind, SymbolKind::Measure | SymbolKind::State)) {
                        return Unmoved::None;
                    }
                    true
                }
                Law::Nonlinear(_) if element.ports.len() > 1 => return Unmoved::None,
                Law::Dissipator(_) => element.ports.len() == 1,
                Law::Storage { .. } => true,
                // A law of only one variable is a source.
                Law::Nonlinear(law) => {
                    let symbols = model.exprs.symbols_of(&law.residuals);
                    let (effort, flow) = law.variables[0];
                    symbols.contains(&effort) && symbols.contains(&flow) || law.storage[0].is_some()
                }
                Law::Coupler { .. } => false,
            };
            for port in element.ports.clone().map(PortId).filter(|_| joins) {
                if let Connection::Branch { from, to, .. } = model.graph.ports[port.index()].connection
                    && !is_of_through(model, port, &element.law)
                {
                    groups.join(place(from), place(to));
                }
            }
        }
        Unmoved::Within(groups)
    }

    fn has(&mut self, from: End, to: End) -> bool {
        match self {
            Unmoved::All => true,
            Unmoved::None => false,
            Unmoved::Within(groups) => groups.root(place(from)) == groups.root(place(to)),
        }
    }
}

/// Returns true if the law at a port is a through source, or storage that integrates its across variable.
fn is_of_through(model: &Model, port: PortId, law: &Law) -> bool {
    let Some(domain) = model.graph.ports[port.index()].domain else {
        return true;
    };
    let across = match model.graph.domains[domain.index()].effort_is_across {
        true => Variable::Effort,
        false => Variable::Flow,
    };
    match law {
        Law::Source { given, .. } => *given != across,
        _ => integrated_by(model, port) == Some(across),
    }
}
