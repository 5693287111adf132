//! The variables of a derivation, which belong to ports and to drawn bonds, with the names from the equations.

use crate::names::Names;
use lgm_algebra::expr::{ExprId, Exprs, Function, Node, SymbolId, SymbolKind, to_f64};
use lgm_equations::{StateSystem, port_variable_name};
use lgm_model::{BondEnd, Connection, Law, PortId, Variable};
use rustc_hash::{FxHashMap, FxHashSet};

/// The reason why no derivation exists.
pub(super) type Reason = String;

/// The source of a symbol's value when a step is checked.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reading {
    /// A variable of a port, negated if the flag is set.
    Port(PortId, Variable, bool),
    /// The rate of such a variable.
    PortRate(PortId, Variable, bool),
    State(usize),
    StateRate(usize),
    Input(usize),
    InputRate(usize),
    /// An unknown of the loops of the system.
    LoopUnknown(usize),
    Number(f64),
    Time,
    Output(usize),
    /// The value follows from an equation that contains the symbol.
    Told,
}

/// Returns the index of effort and flow in pairs.
pub(super) fn place(variable: Variable) -> usize {
    match variable {
        Variable::Effort => 0,
        Variable::Flow => 1,
    }
}

/// The variables, in an arena that also contains the equations of the system.
pub(super) struct Table<'a> {
    pub(super) names: Names<'a>,
    pub(super) system: &'a StateSystem,
    pub(super) exprs: Exprs,
    /// Effort and flow of each port, positive when absorbing power.
    pub(super) ports: Vec<[ExprId; 2]>,
    /// Effort and flow of each drawn bond, from tail to head.
    pub(super) bonds: Vec<[ExprId; 2]>,
    /// The state of each port of storage that has one.
    pub(super) state_of: FxHashMap<PortId, usize>,
    /// The rate of each state.
    pub(super) rates: Vec<SymbolId>,
    /// The variables to be eliminated.
    pub(super) unknowns: FxHashSet<SymbolId>,
    pub(super) readings: FxHashMap<SymbolId, Reading>,
    /// Rates of co-energy variables that are not states, by port.
    pub(super) port_rates: FxHashMap<PortId, SymbolId>,
    /// Ports of sources whose variable is an input or zero.
    pub(super) placed: FxHashSet<PortId>,
    /// The expressions that represent the symbols of the model.
    leaves: FxHashMap<SymbolId, ExprId>,
    copied: FxHashMap<ExprId, ExprId>,
}

impl<'a> Table<'a> {
    /// Creates the variables of a model; `independent` lists the storage with its own states, in their order.
    pub(super) fn new(
        names: Names<'a>,
        system: &'a StateSystem,
        independent: &[PortId],
        co_energy: impl Fn(PortId) -> Option<Variable>,
    ) -> Result<Table<'a>, Reason> {
        let mut exprs = system.exprs.clone();
        let zero = exprs.zero();
        let mut table = Table {
            names,
            system,
            exprs,
            ports: vec![[zero; 2]; names.model.graph.ports.len()],
            bonds: vec![[zero; 2]; names.model.graph.bonds.len()],
            state_of: FxHashMap::default(),
            rates: Vec::new(),
            unknowns: FxHashSet::default(),
            readings: FxHashMap::default(),
            port_rates: FxHashMap::default(),
            placed: FxHashSet::default(),
            leaves: FxHashMap::default(),
            copied: FxHashMap::default(),
        };
        table.read_system();
        for (at, port) in independent.iter().enumerate() {
            let state = system.states.get(at);
            if state.is_none_or(|state| state.is_total()) {
                return Err("its states are totals of several storage elements".to_string());
            }
            table.state_of.insert(*port, at);
        }
        table.make_ports(&co_energy);
        table.read_model(independent.len())?;
        table.place_sources()?;
        table.make_bonds();
        Ok(table)
    }

    /// Reads the symbols of the system.
    fn read_system(&mut self) {
        let system = self.system;
        // Several symbols may have the name of the same rate.
        let mut named: FxHashMap<_, Vec<SymbolId>> = FxHashMap::default();
        for symbol in (0..self.exprs.symbol_count() as u32).map(SymbolId) {
            let name = self.exprs.symbol_info(symbol).name.clone();
            named.entry(name).or_default().push(symbol);
        }
        self.readings.insert(system.time, Reading::Time);
        for entry in system.parameters.iter().flat_map(|parameter| &parameter.entries) {
            self.readings
                .insert(entry.symbol, Reading::Number(to_f64(&entry.value)));
        }
        for (at, input) in system.inputs.iter().enumerate() {
            self.readings.insert(input.symbol, Reading::Input(at));
            self.readings.insert(system.input_rates[at], Reading::InputRate(at));
        }
        for (at, state) in system.states.iter().enumerate() {
            let name = format!("der({})", state.name);
            let mut rates = named.get(&*name).cloned().unwrap_or_default();
            if rates.is_empty() {
                rates.push(self.exprs.new_symbol(name, SymbolKind::Measure));
            }
            self.readings.insert(state.symbol, Reading::State(at));
            self.readings
                .extend(rates.iter().map(|rate| (*rate, Reading::StateRate(at))));
            self.rates.push(rates[0]);
        }
        let unknowns = system.equations.loops.iter().flat_map(|each| &each.unknowns);
        for (at, symbol) in unknowns.enumerate() {
            self.readings.insert(*symbol, Reading::LoopUnknown(at));
        }
    }

    /// Creates the variables of the ports. The variable of an input source is the input; the co-energy of storage is its state if that is
    /// the co-energy.
    fn make_ports(&mut self, co_energy: &impl Fn(PortId) -> Option<Variable>) {
        let model = self.names.model;
        let of_loops: FxHashMap<_, _> = (self.system.equations.loops.iter())
            .flat_map(|each| &each.unknowns)
            .map(|symbol| (self.exprs.symbol_info(*symbol).name.to_string(), *symbol))
            .collect();
        for at in 0..model.graph.ports.len() as u32 {
            let port = PortId(at);
            for variable in [Variable::Effort, Variable::Flow] {
                let negated = variable == Variable::Flow && self.is_tail(port);
                let name = port_variable_name(model, port, variable);
                let state = self.state_of.get(&port).copied();
                let state = state.filter(|state| {
                    co_energy(port) == Some(variable) && self.system.states[*state].variable.is_co_energy()
                });
                let symbol = match (state, of_loops.get(&name)) {
                    (Some(state), _) => {
                        self.ports[port.index()][place(variable)] = self.exprs.symbol(self.system.states[state].symbol);
                        continue;
                    }
                    (None, Some(symbol)) if !negated => *symbol,
                    _ => {
                        let symbol = self.exprs.new_symbol(name, SymbolKind::Measure);
                        self.readings.insert(symbol, Reading::Port(port, variable, negated));
                        self.unknowns.insert(symbol);
                        symbol
                    }
                };
                let value = self.exprs.symbol(symbol);
                self.ports[port.index()][place(variable)] = if negated { self.exprs.neg(value) } else { value };
            }
            let element = &model.graph.elements[model.graph.ports[port.index()].element.index()];
            if element.is_velocity()
                && let Some(co_energy) = co_energy(port)
            {
                self.ports[port.index()][place(co_energy.conjugate())] = self.exprs.zero();
            }
        }
    }

    /// Returns true if a port is at the tail of its bond, so that it delivers the bond's flow.
    fn is_tail(&self, port: PortId) -> bool {
        match self.names.model.graph.ports[port.index()].connection {
            Connection::Bond(bond) => self.names.model.graph.bonds[bond.index()].tail == BondEnd::Port(port),
            Connection::Branch { .. } => false,
        }
    }

    fn make_bonds(&mut self) {
        let model = self.names.model;
        for (at, bond) in model.graph.bonds.iter().enumerate() {
            self.bonds[at] = match (bond.tail, bond.head) {
                (BondEnd::Port(port), _) => {
                    let [effort, flow] = self.ports[port.index()];
                    [effort, self.exprs.neg(flow)]
                }
                (_, BondEnd::Port(port)) => self.ports[port.index()],
                (BondEnd::Node(_), BondEnd::Node(_)) => {
                    let name = format!("{}->{}", self.names.bond_end(bond.tail), self.names.bond_end(bond.head));
                    ["e", "f"].map(|letter| {
                        let symbol = self.exprs.new_symbol(format!("{name}.{letter}"), SymbolKind::Measure);
                        self.readings.insert(symbol, Reading::Told);
                        self.unknowns.insert(symbol);
                        self.exprs.symbol(symbol)
                    })
                }
            };
        }
    }

    /// Reads the symbols of the model that are not measurements.
    fn read_model(&mut self, independent: usize) -> Result<(), Reason> {
        let (model, system) = (self.names.model, self.system);
        self.leaves.insert(model.time, self.exprs.symbol(system.time));
        for (own, other) in model.parameters.iter().zip(&system.parameters) {
            for (own, other) in own.entries.iter().zip(&other.entries) {
                self.leaves.insert(own.symbol, self.exprs.symbol(other.symbol));
            }
        }
        for (own, other) in model.inputs.iter().zip(&system.inputs) {
            self.leaves.insert(own.symbol, self.exprs.symbol(other.symbol));
        }
        let mut states = system.states.iter().skip(independent);
        for integral in &model.integrals {
            if !integral.is_state() {
                return Err("its displacements follow from the equations of closed chains".to_string());
            }
            if let Some(state) = states.next() {
                self.leaves.insert(integral.symbol, self.exprs.symbol(state.symbol));
            }
        }
        Ok(())
    }

    /// Defines a measured variable of the model.
    pub(super) fn measured(&mut self, symbol: SymbolId, value: ExprId) {
        self.leaves.insert(symbol, value);
    }

    /// Converts an expression of the model to the variables here.
    pub(super) fn carried(&mut self, root: ExprId) -> Result<ExprId, Reason> {
        let from = &self.names.model.exprs;
        for id in from.reachable(&[root]) {
            match from.node(id) {
                Node::Symbol(symbol) if !self.copied.contains_key(&id) => {
                    let name = &from.symbol_info(*symbol).name;
                    let here = self.leaves.get(symbol).copied();
                    let here =
                        here.ok_or_else(|| format!("`{name}` is neither a state nor a variable of an element"))?;
                    self.copied.insert(id, here);
                }
                Node::Call(Function::Int, list) => {
                    let held = self.held_integral(list[0]);
                    let written = lgm_algebra::expr::brief(from, id);
                    let held = held.ok_or_else(|| format!("`{written}` is the state of another element"))?;
                    self.copied.insert(id, held);
                }
                Node::Call(Function::Der, _) => {
                    let written = lgm_algebra::expr::brief(from, id);
                    return Err(format!("the rate `{written}` is required"));
                }
                _ => {}
            }
        }
        Ok(self.exprs.import(from, root, &mut self.copied))
    }

    /// Returns the integral of an expression as the state that stores it, minus its initial value.
    fn held_integral(&mut self, rate: ExprId) -> Option<ExprId> {
        let model = self.names.model;
        let integral = model.integrals.iter().find(|integral| integral.holds(rate))?;
        let state = *self.leaves.get(&integral.symbol)?;
        let symbol = *self.exprs.symbols_of(&[state]).first()?;
        let start = self.system.states.iter().find(|own| own.symbol == symbol)?.start;
        Some(self.exprs.sub(state, start))
    }

    /// Returns the variable of a port.
    pub(super) fn port(&self, port: PortId, variable: Variable) -> ExprId {
        self.ports[port.index()][place(variable)]
    }

    /// Returns the rate of a state.
    pub(super) fn state_rate(&mut self, state: usize) -> ExprId {
        self.exprs.symbol(self.rates[state])
    }

    /// Returns the rate of a port's co-energy variable: the rate of the state, or a separate variable.
    pub(super) fn port_rate(&mut self, port: PortId, co_energy: Variable) -> ExprId {
        if let Some(state) = self.state_of.get(&port).copied()
            && self.system.states[state].variable.is_co_energy()
        {
            return self.state_rate(state);
        }
        let negated = co_energy == Variable::Flow && self.is_tail(port);
        let symbol = match self.port_rates.get(&port) {
            Some(symbol) => *symbol,
            None => {
                let name = port_variable_name(self.names.model, port, co_energy);
                let symbol = self.exprs.new_symbol(format!("der({name})"), SymbolKind::Measure);
                self.readings
                    .insert(symbol, Reading::PortRate(port, co_energy, negated));
                self.unknowns.insert(symbol);
                self.port_rates.insert(port, symbol);
                symbol
            }
        };
        let value = self.exprs.symbol(symbol);
        if negated { self.exprs.neg(value) } else { value }
    }

    /// Returns the variables of an expression that must be eliminated, in the order of their ids.
    pub(super) fn unknowns_of(&self, roots: &[ExprId]) -> Vec<SymbolId> {
        let mut found = self.exprs.symbols_of(roots);
        found.retain(|symbol| self.unknowns.contains(symbol));
        found
    }

    /// Returns the single variable that an expression equals, negated or not.
    pub(super) fn as_variable(&self, id: ExprId) -> Option<SymbolId> {
        match self.exprs.node(id) {
            Node::Symbol(symbol) => Some(*symbol),
            Node::Product(list) => match **list {
                [factor, inner] if self.exprs.as_number(factor).is_some() => match self.exprs.node(inner) {
                    Node::Symbol(symbol) => Some(*symbol),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        }
    }

    /// Replaces the variable of each source whose value is a plain input or zero by that value.
    fn place_sources(&mut self) -> Result<(), Reason> {
        let model = self.names.model;
        for element in &model.graph.elements {
            let Law::Source { given, values } = &element.law else {
                continue;
            };
            for (port, value) in element.ports.clone().map(PortId).zip(values) {
                let is_plain = match model.exprs.node(*value) {
                    Node::Symbol(symbol) => self.leaves.contains_key(symbol),
                    Node::Product(list) => {
                        matches!(**list, [a, b] if model.exprs.as_number(a).is_some()
                        && matches!(model.exprs.node(b), Node::Symbol(symbol) if self.leaves.contains_key(symbol)))
                    }
                    _ => model.exprs.is_zero(*value),
                };
                if is_plain
                    && self
                        .as_variable(self.port(port, *given))
                        .is_some_and(|own| self.unknowns.contains(&own))
                {
                    let value = self.carried(*value)?;
                    if let Some(own) = self.as_variable(self.port(port, *given)) {
                        self.unknowns.remove(&own);
                    }
                    self.ports[port.index()][place(*given)] = value;
                    self.placed.insert(port);
                }
            }
        }
        Ok(())
    }
}
