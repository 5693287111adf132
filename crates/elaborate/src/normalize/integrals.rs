//! Integrals that storage holds: `int(through(c))` of a capacitor is its charge, `int(across(s))` of a spring its displacement.
//!
//! Each is the energy variable of the storage, which counts from the start that the storage is given, and which its law gives over
//! its co-energy: so no state is added for it, in whatever equations, and no start is taken off. Other integrals count from 0 when
//! the run begins; where one of them measures what a storage holds that begins elsewhere, a remark says so.

use lgm_algebra::expr::{ExprId, Function, Node, SymbolId, SymbolKind};
use lgm_algebra::{Field, FromExpression, RationalFunctions, solve};
use lgm_model::{
    BondEnd, Connection, Dissipator, ElementId, Law, Matrix, Measure, Model, NodeId, PortId, StateChoice, StorageForm,
    Variable,
};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use rustc_hash::{FxHashMap, FxHashSet};

/// Puts the energy variables of storage in the places of integrals that these are, and returns remarks on other integrals of
/// outputs that measure storage whose displacement, charge or momentum begins elsewhere than at 0.
pub(crate) fn hold_integrals(model: &mut Model) -> Vec<Diagnostic> {
    let mut roots: Vec<ExprId> = model.outputs.iter().map(|output| output.value).collect();
    roots.extend(model.switching.expressions());
    let modes = model.switching.elements.iter().flat_map(|switched| &switched.modes);
    let laws = modes.map(|mode| &mode.law);
    for law in model.elements.iter().map(|element| &element.law).chain(laws) {
        match law {
            Law::Source { values, .. } => roots.extend(values),
            Law::Coupler { matrix, .. } => roots.extend(&matrix.entries),
            Law::Dissipator(Dissipator::Resistance(matrix) | Dissipator::Conductance(matrix)) => {
                roots.extend(&matrix.entries);
            }
            Law::Dissipator(Dissipator::Implicit(a, b)) => roots.extend(a.entries.iter().chain(&b.entries)),
            Law::Nonlinear(law) => roots.extend(&law.residuals),
            Law::Storage { .. } => {}
        }
    }
    let integrands: Vec<ExprId> = (model.exprs.reachable(&roots).into_iter())
        .filter_map(|id| integrand_of(model, id))
        .collect();
    if integrands.is_empty() {
        return Vec::new();
    }
    let mut holding = Holding::of(model);
    let mut held: FxHashMap<ExprId, ExprId> = FxHashMap::default();
    // Those that linear laws give: a source takes no energy variable that may turn out to be no state.
    let mut linear: FxHashMap<ExprId, ExprId> = FxHashMap::default();
    let mut starts: FxHashMap<ExprId, ExprId> = FxHashMap::default();
    for integrand in integrands {
        let Some((port, negative)) = holding.port_of(model, integrand) else {
            continue;
        };
        let signed = |model: &mut Model, id: ExprId| if negative { model.exprs.neg(id) } else { id };
        if let Some(energy) = holding.energy(model, port) {
            let energy = signed(model, energy);
            held.insert(integrand, energy);
            let element = &model.elements[model.ports[port.index()].element.index()];
            if matches!(element.law, Law::Storage { .. }) {
                linear.insert(integrand, energy);
            }
        }
        if let Some(start) = start_of_energy(model, port) {
            starts.insert(integrand, signed(model, start));
        }
    }
    replace(model, &held, &linear, &starts);
    remarks(model, &holding)
}

/// What stands in an integral.
fn integrand_of(model: &Model, id: ExprId) -> Option<ExprId> {
    match model.exprs.node(id) {
        Node::Call(Function::Int, list) => Some(list[0]),
        _ => None,
    }
}

/// The storage ports of a model by what they integrate.
struct Holding {
    measures: FxHashMap<SymbolId, Measure>,
    symbols: FxHashMap<Measure, SymbolId>,
    /// Storage that integrates what is measured across two nodes, or at one against the reference.
    branches: FxHashMap<(Option<NodeId>, Option<NodeId>), Vec<PortId>>,
}

impl Holding {
    fn of(model: &Model) -> Holding {
        let mut holding = Holding {
            measures: model.measures.iter().copied().collect(),
            symbols: model.measures.iter().map(|entry| (entry.1, entry.0)).collect(),
            branches: FxHashMap::default(),
        };
        for (index, port) in model.ports.iter().enumerate() {
            let id = PortId(index as u32);
            let (Connection::Branch { from, to, .. }, Some(domain)) = (&port.connection, port.domain) else {
                continue;
            };
            let across = match model.domains[domain.index()].effort_is_across {
                true => Variable::Effort,
                false => Variable::Flow,
            };
            if integrated_by(model, id) == Some(across) {
                let ends = ((*from).min(*to), (*from).max(*to));
                holding.branches.entry(ends).or_default().push(id);
            }
        }
        holding
    }

    /// The storage port whose energy variable is the integral of an expression, and whether with the other sign.
    fn port_of(&self, model: &Model, integrand: ExprId) -> Option<(PortId, bool)> {
        let (symbol, negative) = match model.exprs.node(integrand) {
            Node::Symbol(symbol) => (*symbol, false),
            Node::Product(list) => match (&**list, model.exprs.as_number(list[0])) {
                ([_, other], Some(number)) if *number == num_rational::BigRational::from_integer((-1).into()) => {
                    match model.exprs.node(*other) {
                        Node::Symbol(symbol) => (*symbol, true),
                        _ => return None,
                    }
                }
                _ => return None,
            },
            _ => return None,
        };
        let (port, variable, outwards) = match *self.measures.get(&symbol)? {
            Measure::PortEffort(port) => (port, Variable::Effort, false),
            Measure::PortFlow(port) => (port, Variable::Flow, false),
            Measure::Common(_) => return None,
            Measure::BondEffort(bond) => (end_of(model, bond.index())?.0, Variable::Effort, false),
            Measure::BondFlow(bond) => {
                let (port, is_tail) = end_of(model, bond.index())?;
                (port, Variable::Flow, is_tail)
            }
        };
        (integrated_by(model, port) == Some(variable)).then_some((port, negative != outwards))
    }

    /// The energy variable of a storage port over what is measured; none of a field that is not inverted here.
    fn energy(&mut self, model: &mut Model, port: PortId) -> Option<ExprId> {
        let id = model.ports[port.index()].element;
        let element = model.elements[id.index()].clone();
        let at = (port.0 - element.ports.start) as usize;
        match &element.law {
            Law::Nonlinear(_) => own_integral(model, port).map(|(_, integral)| model.exprs.symbol(integral)),
            Law::Storage { co_energy, value, form } => {
                let row = match form {
                    StorageForm::Direct => (0..value.columns).map(|column| value.get(at, column)).collect(),
                    StorageForm::Inverse => inverse_row(model, value, at)?,
                };
                let mut terms = Vec::with_capacity(row.len());
                for (factor, port) in row.into_iter().zip(model.ports_of(id)) {
                    if !model.exprs.is_zero(factor) {
                        let variable = self.measured(model, port, *co_energy);
                        terms.push(model.exprs.mul(factor, variable));
                    }
                }
                Some(model.exprs.sum(terms))
            }
            _ => None,
        }
    }

    /// The symbol of a port's variable; it is measured from now on.
    fn measured(&mut self, model: &mut Model, port: PortId, variable: Variable) -> ExprId {
        let measure = match variable {
            Variable::Effort => Measure::PortEffort(port),
            Variable::Flow => Measure::PortFlow(port),
        };
        let symbol = *self.symbols.entry(measure).or_insert_with(|| {
            let name = format!("{variable:?} of port {}", port.0);
            let symbol = model.exprs.new_symbol(name, SymbolKind::Measure);
            model.measures.push((symbol, measure));
            symbol
        });
        self.measures.insert(symbol, measure);
        model.exprs.symbol(symbol)
    }

    /// The storage that integrates a measured variable of an expression, its own or that of another element in the same place.
    fn beside(&self, model: &Model, integrand: ExprId) -> Vec<PortId> {
        let mut found = Vec::new();
        for symbol in model.exprs.symbols_of(&[integrand]) {
            let ends = match self.measures.get(&symbol) {
                Some(Measure::Common(node)) => (None, Some(*node)),
                Some(Measure::PortEffort(port) | Measure::PortFlow(port)) => {
                    let about = &model.ports[port.index()];
                    let is_effort = self.measures[&symbol] == Measure::PortEffort(*port);
                    let variable = if is_effort { Variable::Effort } else { Variable::Flow };
                    if integrated_by(model, *port) == Some(variable) {
                        found.push(*port);
                        continue;
                    }
                    let (Connection::Branch { from, to, .. }, Some(domain)) = (&about.connection, about.domain) else {
                        continue;
                    };
                    if model.domains[domain.index()].effort_is_across != is_effort {
                        continue;
                    }
                    ((*from).min(*to), (*from).max(*to))
                }
                _ => continue,
            };
            found.extend(self.branches.get(&ends).into_iter().flatten());
        }
        found
    }
}

/// The element's port at an end of a bond, and whether it is the tail.
fn end_of(model: &Model, bond: usize) -> Option<(PortId, bool)> {
    let bond = &model.bonds[bond];
    match (bond.tail, bond.head) {
        (BondEnd::Node(_), BondEnd::Port(port)) => Some((port, false)),
        (BondEnd::Port(port), BondEnd::Node(_)) => Some((port, true)),
        _ => None,
    }
}

/// The variable whose integral the element at a port holds.
fn integrated_by(model: &Model, port: PortId) -> Option<Variable> {
    let element = &model.elements[model.ports[port.index()].element.index()];
    match &element.law {
        Law::Storage { co_energy, .. } => Some(co_energy.conjugate()),
        Law::Nonlinear(_) => own_integral(model, port).map(|found| found.0),
        _ => None,
    }
}

/// The integral that a law of its own holds at a port, of an effort or a flow: an energy variable, or one beside losses.
fn own_integral(model: &Model, port: PortId) -> Option<(Variable, SymbolId)> {
    let id = model.ports[port.index()].element;
    let element = &model.elements[id.index()];
    let Law::Nonlinear(law) = &element.law else { return None };
    let at = (port.0 - element.ports.start) as usize;
    if let Some((co_energy, energy)) = law.storage[at] {
        return Some((co_energy.conjugate(), energy));
    }
    let (effort, flow) = law.variables[at];
    let mut own = model.integrals.iter().filter(|integral| integral.owner == Some(id));
    own.find_map(|integral| match model.exprs.node(integral.rate) {
        Node::Symbol(symbol) if *symbol == effort => Some((Variable::Effort, integral.symbol)),
        Node::Symbol(symbol) if *symbol == flow => Some((Variable::Flow, integral.symbol)),
        _ => None,
    })
}

/// A row of the inverse of a stiffness.
fn inverse_row(model: &mut Model, value: &Matrix, row: usize) -> Option<Vec<ExprId>> {
    let mut field = RationalFunctions::default();
    let (mut matrix, mut right) = (Vec::new(), Vec::new());
    for i in 0..value.rows {
        let mut entries = Vec::new();
        for j in 0..value.columns {
            entries.push((j as u32, field.from_expression(&model.exprs, value.get(i, j)).ok()?));
        }
        entries.retain(|entry| !field.is_zero(&entry.1));
        matrix.push(entries);
        right.push(vec![(i as u32, field.one())]);
    }
    let inverse = solve(&mut field, matrix, right).ok()?.swap_remove(row);
    let mut found = vec![model.exprs.zero(); value.columns];
    for (column, entry) in inverse {
        found[column as usize] = field.to_expression(&mut model.exprs, &entry);
    }
    (!field.exhausted()).then_some(found)
}

/// Where the energy variable of a storage port starts, as far as a start is given that is not 0.
fn start_of_energy(model: &mut Model, port: PortId) -> Option<ExprId> {
    let id = model.ports[port.index()].element;
    let element = model.elements[id.index()].clone();
    let at = (port.0 - element.ports.start) as usize;
    let starts = |symbol: SymbolId| {
        let integral = model.integrals.iter().find(|integral| integral.symbol == symbol);
        integral.and_then(|integral| integral.start)
    };
    let start = match &element.law {
        Law::Nonlinear(_) => starts(own_integral(model, port)?.1)?,
        Law::Storage { value, form, .. } => match (element.state_choice, form) {
            (StateChoice::Energy, _) => element.start.get(at).copied().flatten()?,
            (StateChoice::CoEnergy, form) => {
                let row = match form {
                    StorageForm::Direct => (0..value.columns).map(|column| value.get(at, column)).collect(),
                    StorageForm::Inverse => inverse_row(model, value, at)?,
                };
                let mut terms = Vec::new();
                for (factor, start) in row.into_iter().zip(&element.start) {
                    terms.push(model.exprs.mul(factor, (*start)?));
                }
                model.exprs.sum(terms)
            }
        },
        _ => return None,
    };
    (!model.exprs.is_zero(start)).then_some(start)
}

/// Replaces integrals in outputs and in the values of sources. What changes with time in a law, as a displacement in a modulus, stays
/// an integral, counted from the start of the storage too.
fn replace(
    model: &mut Model,
    held: &FxHashMap<ExprId, ExprId>,
    linear: &FxHashMap<ExprId, ExprId>,
    starts: &FxHashMap<ExprId, ExprId>,
) {
    let mut whole: FxHashMap<ExprId, ExprId> = FxHashMap::default();
    let mut sources: FxHashMap<ExprId, ExprId> = FxHashMap::default();
    let mut shifted: FxHashMap<ExprId, ExprId> = FxHashMap::default();
    let Model { exprs, .. } = model;
    let mut by = |roots: &[ExprId], done: &mut FxHashMap<ExprId, ExprId>, held: &FxHashMap<ExprId, ExprId>| {
        for id in exprs.reachable(roots) {
            if done.contains_key(&id) {
                continue;
            }
            let node = exprs.node(id).clone();
            let now = match &node {
                Node::Call(Function::Int, list) => match (held.get(&list[0]), starts.get(&list[0])) {
                    (Some(energy), _) => *energy,
                    (_, Some(start)) => exprs.add(id, *start),
                    _ => id,
                },
                _ => exprs.rebuild(&node, done),
            };
            done.insert(id, now);
        }
        roots.iter().map(|root| done[root]).collect::<Vec<ExprId>>()
    };
    for output in &mut model.outputs {
        output.value = by(&[output.value], &mut whole, held)[0];
    }
    for value in model.switching.expressions_mut() {
        *value = by(&[*value], &mut whole, held)[0];
    }
    let none = FxHashMap::default();
    let modes = model
        .switching
        .elements
        .iter_mut()
        .flat_map(|switched| &mut switched.modes);
    let laws = modes.map(|mode| &mut mode.law);
    for law in model.elements.iter_mut().map(|element| &mut element.law).chain(laws) {
        match law {
            Law::Source { values, .. } => *values = by(values, &mut sources, linear),
            Law::Coupler { matrix, .. }
            | Law::Dissipator(Dissipator::Resistance(matrix) | Dissipator::Conductance(matrix)) => {
                matrix.entries = by(&matrix.entries, &mut shifted, &none);
            }
            Law::Dissipator(Dissipator::Implicit(a, b)) => {
                a.entries = by(&a.entries, &mut shifted, &none);
                b.entries = by(&b.entries, &mut shifted, &none);
            }
            Law::Nonlinear(law) => law.residuals = by(&law.residuals, &mut shifted, &none),
            Law::Storage { .. } => {}
        }
    }
}

/// Says which integrals of outputs count from 0 beside storage that does not begin there.
fn remarks(model: &mut Model, holding: &Holding) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for output in model.outputs.clone() {
        let integrals = model.exprs.reachable(&[output.value]).into_iter();
        let integrands: Vec<ExprId> = integrals.filter_map(|id| integrand_of(model, id)).collect();
        let mut reported: FxHashSet<ElementId> = FxHashSet::default();
        let beside: Vec<PortId> = (integrands.into_iter())
            .flat_map(|integrand| holding.beside(model, integrand))
            .collect();
        for port in beside {
            let id = model.ports[port.index()].element;
            if start_of_energy(model, port).is_none() || !reported.insert(id) {
                continue;
            }
            let element = model.element_name(id);
            let message = format!("`{}` counts from 0, where `{element}` starts elsewhere", output.name);
            let start = model.elements[id.index()].start_span.unwrap_or(model.element_span(id));
            let measure = match integrated_by(model, port).is_some_and(|variable| is_across(model, port, variable)) {
                true => "across",
                false => "through",
            };
            let help = format!(
                "write `int({measure}({element}))` for what `{element}` holds, from its start; or declare `state q = int(..), start = ..;`"
            );
            found.push(
                Diagnostic::information(Code::LGM0438, message)
                    .label(output.span, "the integral in this begins at 0")
                    .label(start, format!("`{element}` starts here"))
                    .help(help),
            );
        }
    }
    found
}

/// Whether a variable of a port is its across variable.
fn is_across(model: &Model, port: PortId, variable: Variable) -> bool {
    let domain = model.ports[port.index()].domain;
    domain.is_some_and(|domain| model.domains[domain.index()].effort_is_across == (variable == Variable::Effort))
}
