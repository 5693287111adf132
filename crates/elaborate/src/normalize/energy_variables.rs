//! Energy variables of storage, such as the displacement of a spring or the charge of a capacitor, with their initial values.

use lgm_algebra::expr::{ExprId, Node, SymbolId, SymbolKind};
use lgm_algebra::{Field, FromExpression, RationalFunctions, solve};
use lgm_model::{BondEnd, Connection, Law, Matrix, Measure, Model, NodeId, PortId, StateChoice, StorageForm, Variable};
use rustc_hash::FxHashMap;

/// The storage ports of a model by their integrands.
pub(super) struct Holding {
    measures: FxHashMap<SymbolId, Measure>,
    symbols: FxHashMap<Measure, SymbolId>,
    /// Storage that integrates a variable measured between two nodes, or between a node and the reference.
    branches: FxHashMap<(Option<NodeId>, Option<NodeId>), Vec<PortId>>,
}

impl Holding {
    pub(super) fn of(model: &Model) -> Holding {
        let mut holding = Holding {
            measures: model.measures.iter().copied().collect(),
            symbols: model.measures.iter().map(|entry| (entry.1, entry.0)).collect(),
            branches: FxHashMap::default(),
        };
        for (index, port) in model.graph.ports.iter().enumerate() {
            let id = PortId(index as u32);
            let (Connection::Branch { from, to, .. }, Some(domain)) = (&port.connection, port.domain) else {
                continue;
            };
            let across = match model.graph.domains[domain.index()].effort_is_across {
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

    /// Returns the storage port whose energy variable is the integral of an expression; true if with the opposite sign.
    pub(super) fn port_of(&self, model: &Model, integrand: ExprId) -> Option<(PortId, bool)> {
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

    /// Returns the variable that a symbol measures.
    pub(super) fn measure(&self, symbol: SymbolId) -> Option<Measure> {
        self.measures.get(&symbol).copied()
    }

    /// Returns the energy variable of a storage port in terms of the measured variable; none for a field whose matrix is not inverted here.
    pub(super) fn energy(&mut self, model: &mut Model, port: PortId) -> Option<ExprId> {
        let id = model.graph.ports[port.index()].element;
        let element = model.graph.elements[id.index()].clone();
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

    /// Returns the symbol of a port's variable, which becomes a measure of the model.
    pub(super) fn measured(&mut self, model: &mut Model, port: PortId, variable: Variable) -> ExprId {
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

    /// Returns the storage that integrates a measured variable of an expression, its own or that of another element between the same nodes.
    pub(super) fn beside(&self, model: &Model, integrand: ExprId) -> Vec<PortId> {
        let mut found = Vec::new();
        for symbol in model.exprs.symbols_of(&[integrand]) {
            let ends = match self.measures.get(&symbol) {
                Some(Measure::Common(node)) => (None, Some(*node)),
                Some(Measure::PortEffort(port) | Measure::PortFlow(port)) => {
                    let about = &model.graph.ports[port.index()];
                    let is_effort = self.measures[&symbol] == Measure::PortEffort(*port);
                    let variable = if is_effort { Variable::Effort } else { Variable::Flow };
                    if integrated_by(model, *port) == Some(variable) {
                        found.push(*port);
                        continue;
                    }
                    let (Connection::Branch { from, to, .. }, Some(domain)) = (&about.connection, about.domain) else {
                        continue;
                    };
                    if model.graph.domains[domain.index()].effort_is_across != is_effort {
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

/// Returns the element's port at an end of a bond; true if it is the tail.
pub(super) fn end_of(model: &Model, bond: usize) -> Option<(PortId, bool)> {
    let bond = &model.graph.bonds[bond];
    match (bond.tail, bond.head) {
        (BondEnd::Node(_), BondEnd::Port(port)) => Some((port, false)),
        (BondEnd::Port(port), BondEnd::Node(_)) => Some((port, true)),
        _ => None,
    }
}

/// Returns the variable that the element at a port integrates.
pub(super) fn integrated_by(model: &Model, port: PortId) -> Option<Variable> {
    let element = &model.graph.elements[model.graph.ports[port.index()].element.index()];
    match &element.law {
        Law::Storage { co_energy, .. } => Some(co_energy.conjugate()),
        Law::Nonlinear(_) => own_integral(model, port).map(|found| found.0),
        _ => None,
    }
}

/// Returns the integral of an effort or a flow in a nonlinear law at a port: an energy variable, possibly with losses.
pub(super) fn own_integral(model: &Model, port: PortId) -> Option<(Variable, SymbolId)> {
    let id = model.graph.ports[port.index()].element;
    let element = &model.graph.elements[id.index()];
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

/// Returns a row of the inverse of a stiffness.
pub(super) fn inverse_row(model: &mut Model, value: &Matrix, row: usize) -> Option<Vec<ExprId>> {
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

/// Returns the initial value of a storage port's energy variable, if a nonzero one is given.
pub(super) fn start_of_energy(model: &mut Model, port: PortId) -> Option<ExprId> {
    let id = model.graph.ports[port.index()].element;
    let element = model.graph.elements[id.index()].clone();
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

/// Returns true if a variable of a port is its across variable.
pub(super) fn is_across(model: &Model, port: PortId, variable: Variable) -> bool {
    let domain = model.graph.ports[port.index()].domain;
    domain.is_some_and(|domain| model.graph.domains[domain.index()].effort_is_across == (variable == Variable::Effort))
}
