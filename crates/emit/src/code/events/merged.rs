//! Equations of several systems in one arena: states are matched by name, inputs by kind.

use lgm_algebra::expr::{ExprId, Exprs, Node, SymbolId, SymbolKind};
use lgm_model::system::{Assignment, Equations, Matrices, Starts, State, StateSystem};
use lgm_model::{Input, Model};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A system over the states and the inputs of several other systems.
pub(super) struct Merged {
    pub(super) system: StateSystem,
    /// The indices of the states by name.
    states: FxHashMap<Arc<str>, usize>,
    /// Inputs before this index are the same in all systems; the remaining inputs belong to the ports of elements with modes.
    declared: usize,
    ports: usize,
}

/// The replacements of another system's expressions.
pub(super) type Copied = FxHashMap<ExprId, ExprId>;

impl Merged {
    /// Starts with the states of a system over the symbols of a model, and one input for each port of elements with modes.
    pub(super) fn new(model: &Model, first: &StateSystem, ports: usize) -> Merged {
        let mut system = StateSystem {
            exprs: model.exprs.clone(),
            time: model.time,
            parameters: model.parameters.clone(),
            states: Vec::new(),
            inputs: model.inputs.clone(),
            input_rates: Vec::new(),
            equations: Equations {
                linear: first.equations.linear,
                ..Equations::default()
            },
            matrices: Matrices::default(),
            starts: Starts::default(),
            ..first.clone()
        };
        let zero = system.exprs.zero();
        for port in 0..ports {
            let name: Arc<str> = format!("offset {}", port + 1).into();
            system.inputs.push(Input {
                symbol: system.exprs.new_symbol(name.clone(), SymbolKind::Input),
                name,
                signal: Some(zero),
                unit: None,
                scale: lgm_model::Scale::SI,
                span: first.states.first().map_or(model.heading.span, |state| state.span),
                is_internal: true,
            });
        }
        let mut merged = Merged {
            declared: model.inputs.len(),
            ports,
            states: FxHashMap::default(),
            system,
        };
        for at in 0..merged.system.inputs.len() {
            merged.add_rate(at);
        }
        let mut copied = merged.known(first, &FxHashMap::default());
        for state in &first.states {
            merged.add_state(state, &first.exprs, &mut copied);
        }
        let constraints = first.starts.constraints.iter().cloned();
        for mut constraint in constraints {
            constraint.given = merged.import(&first.exprs, constraint.given, &mut copied);
            constraint.follows = merged.import(&first.exprs, constraint.follows, &mut copied);
            merged.system.starts.constraints.push(constraint);
        }
        merged
    }

    fn add_rate(&mut self, input: usize) {
        let name = format!("der({})", self.system.inputs[input].name);
        let symbol = self.system.exprs.new_symbol(name, SymbolKind::Input);
        self.system.input_rates.push(symbol);
    }

    fn import(&mut self, from: &Exprs, id: ExprId, copied: &mut Copied) -> ExprId {
        self.system.exprs.import(from, id, copied)
    }

    fn add_state(&mut self, state: &State, from: &Exprs, copied: &mut Copied) {
        if self.states.contains_key(&state.name) {
            return;
        }
        let own = State {
            symbol: self.system.exprs.new_symbol(state.name.clone(), SymbolKind::State),
            start: self.import(from, state.start, copied),
            nominal: state.nominal.map(|nominal| self.import(from, nominal, copied)),
            ..state.clone()
        };
        self.states.insert(state.name.clone(), self.system.states.len());
        self.system.states.push(own);
    }

    /// Returns the index of the state with this name.
    pub(super) fn state(&self, name: &str) -> Option<usize> {
        self.states.get(name).copied()
    }

    /// Adds the missing states of another system.
    pub(super) fn add_states(&mut self, other: &StateSystem) {
        let mut copied = self.known(other, &FxHashMap::default());
        for state in &other.states {
            self.add_state(state, &other.exprs, &mut copied);
        }
    }

    /// Adds a state that is constant in every system.
    pub(super) fn add_still_state(&mut self, name: &Arc<str>, like: Option<&State>) {
        if self.states.contains_key(name) {
            return;
        }
        let Some(like) = like else { return };
        let zero = self.system.exprs.zero();
        let own = State {
            name: name.clone(),
            element: name.clone(),
            symbol: self.system.exprs.new_symbol(name.clone(), SymbolKind::State),
            start: zero,
            start_value: 0.0,
            nominal: None,
            ..like.clone()
        };
        self.states.insert(name.clone(), self.system.states.len());
        self.system.states.push(own);
    }

    /// Returns the replacements of another system's symbols, whose offsets belong to these ports.
    fn known(&mut self, other: &StateSystem, offsets: &FxHashMap<SymbolId, usize>) -> Copied {
        let mut symbols: FxHashMap<SymbolId, SymbolId> = FxHashMap::default();
        symbols.insert(other.time, self.system.time);
        let parameters = self.system.parameters.iter().flat_map(|parameter| &parameter.entries);
        let theirs = other.parameters.iter().flat_map(|parameter| &parameter.entries);
        symbols.extend(theirs.zip(parameters).map(|(theirs, own)| (theirs.symbol, own.symbol)));
        for state in &other.states {
            if let Some(at) = self.state(&state.name) {
                symbols.insert(state.symbol, self.system.states[at].symbol);
            }
        }
        let mut copied = self.symbols(other, &symbols);
        for (at, input) in other.inputs.iter().enumerate() {
            let own = match offsets.get(&input.symbol) {
                Some(port) => self.declared + port,
                None if at < self.declared => at,
                None => self.timed(input, &other.exprs, &mut copied),
            };
            symbols.insert(input.symbol, self.system.inputs[own].symbol);
            if let Some(rate) = other.input_rates.get(at) {
                symbols.insert(*rate, self.system.input_rates[own]);
            }
        }
        self.symbols(other, &symbols)
    }

    fn symbols(&mut self, other: &StateSystem, symbols: &FxHashMap<SymbolId, SymbolId>) -> Copied {
        let mut copied = Copied::default();
        for id in other.exprs.ids() {
            if let Node::Symbol(symbol) = other.exprs.node(id)
                && let Some(own) = symbols.get(symbol)
            {
                copied.insert(id, self.system.exprs.symbol(*own));
            }
        }
        copied
    }

    /// Returns the index of the input for a function of time, which several systems may share.
    fn timed(&mut self, input: &Input, from: &Exprs, copied: &mut Copied) -> usize {
        let signal = input.signal.map(|signal| self.import(from, signal, copied));
        let first = self.declared + self.ports;
        let known = self.system.inputs[first..]
            .iter()
            .position(|known| known.signal == signal && known.name == input.name);
        if let Some(known) = known {
            return first + known;
        }
        let symbol = self.system.exprs.new_symbol(input.name.clone(), SymbolKind::Input);
        self.system.inputs.push(Input {
            symbol,
            signal,
            ..input.clone()
        });
        self.add_rate(self.system.inputs.len() - 1);
        self.system.inputs.len() - 1
    }

    /// Returns the replacements of another system's expressions, and copies the assignments and loops of that system. All of its
    /// states must exist here.
    pub(super) fn take_over(&mut self, other: &StateSystem, offsets: &FxHashMap<SymbolId, usize>) -> Copied {
        let mut copied = self.known(other, offsets);
        let mut places = FxHashMap::default();
        for id in other.exprs.ids() {
            if let Node::Symbol(symbol) = other.exprs.node(id) {
                places.insert(*symbol, id);
            }
        }
        for each in &other.equations.loops {
            let mut own = each.clone();
            for unknown in &mut own.unknowns {
                let name = other.exprs.symbol_info(*unknown).name.clone();
                let symbol = self.system.exprs.new_symbol(name, SymbolKind::Assignment);
                if let Some(id) = places.get(unknown) {
                    copied.insert(*id, self.system.exprs.symbol(symbol));
                }
                *unknown = symbol;
            }
            self.system.equations.loops.push(own);
        }
        for assignment in &other.equations.assignments {
            let value = self.import(&other.exprs, assignment.value, &mut copied);
            let name = other.exprs.symbol_info(assignment.symbol).name.clone();
            let symbol = self.system.exprs.new_symbol(name, SymbolKind::Assignment);
            if let Some(id) = places.get(&assignment.symbol) {
                copied.insert(*id, self.system.exprs.symbol(symbol));
            }
            self.system.equations.assignments.push(Assignment { symbol, value });
        }
        let first = self.system.equations.loops.len() - other.equations.loops.len();
        for at in first..self.system.equations.loops.len() {
            let residuals = std::mem::take(&mut self.system.equations.loops[at].residuals);
            let residuals = residuals
                .into_iter()
                .map(|residual| self.system.exprs.import(&other.exprs, residual, &mut copied));
            let residuals: Vec<ExprId> = residuals.collect();
            self.system.equations.loops[at].residuals = residuals;
        }
        copied
    }
}
