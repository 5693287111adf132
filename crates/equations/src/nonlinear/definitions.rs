//! Definitions of all measured variables, source values, rates and drifts, over states, inputs and each other.

mod laws;
mod links;
mod quantities;
pub(super) mod ranges;
mod rates;

use super::names::port_variable_name;
use super::prepare::Prepared;
use crate::assembly::assemble::Obstacle;
use crate::assembly::outputs::OutputFault;
use crate::assembly::refusal::Failure;
use crate::assembly::states::StateRequest;
use crate::causality::elimination::Row;
use crate::causality::structure::{measure_columns, port_column};
use crate::formulation::matrices::{Present, is_negative};
use crate::index_reduction::{Reduced, Refusal, Solve, reduce};
use crate::nonlinear::conserved_quantities::{self, Conserved};
use crate::nonlinear::energies::change_states;
use crate::state_selection::links::Links;
use indexmap::IndexMap;
use lgm_algebra::Sharing;
use lgm_algebra::expr::{ExprId, Exprs, Function, Node, SymbolId, SymbolKind};
use lgm_model::system::{StartConstraint, StateSystem};
use lgm_model::{ElementId, Law, Model, PortId, StateChoice};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

/// The elements responsible for a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blame {
    /// An element's law or value.
    Element(ElementId),
    /// A declared integral, by index in the model.
    Integral(usize),
    /// An output.
    Output(usize),
    /// No specific part of the model.
    Model,
}

impl Blame {
    /// Returns the error for an expression without the needed derivative.
    fn no_rate(self, second: bool) -> Failure {
        match self {
            Blame::Output(index) => Failure::Output(OutputFault::SecondRate(index)),
            Blame::Element(id) if second => Failure::Assembly(Obstacle::SecondRate(id)),
            Blame::Element(id) => Failure::Assembly(Obstacle::NoRate(id)),
            Blame::Integral(index) => Failure::Assembly(Obstacle::NoRateOfIntegral(index)),
            Blame::Model => Failure::Assembly(Obstacle::SecondRateInModel),
        }
    }
}

/// The meaning of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// An expression.
    Explicit(ExprId),
    /// The value for which this residual is zero.
    Implicit(ExprId),
}

/// A definition.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Definition {
    pub(crate) value: Value,
    pub(crate) blame: Blame,
    /// The residual of the law, with the symbol instead of its variable. It is given if the solved form has a smaller
    /// domain than the law, or is a root. Loops are better solved with this residual.
    pub(crate) law: Option<ExprId>,
}

/// All definitions that the roots depend on, and the roots.
pub(crate) struct Definitions {
    pub(crate) map: IndexMap<SymbolId, Definition, FxBuildHasher>,
    /// Derivatives of the states, the outputs, then the requested columns.
    pub(crate) roots: Vec<ExprId>,
    pub(crate) states: usize,
    pub(crate) outputs: usize,
    /// Symbols whose rates the rates of states depend on.
    pub(crate) rated: FxHashSet<SymbolId>,
    /// The variables that follow from conserved quantities.
    pub(crate) conserved: FxHashSet<SymbolId>,
    /// The equations of those states that are totals, at the start; the values are the last roots.
    pub(crate) starts: Vec<Option<StartConstraint>>,
    /// The ports of nonlinear storage that has its rate in common with other storage, without a state that is the total of both.
    pub(crate) unshared: Vec<PortId>,
}

/// Rates and drifts whose expressions are still to be written.
#[derive(Clone, Copy)]
enum Waiting {
    /// The rate of a defined symbol.
    Rate(SymbolId, SymbolId),
    /// The drift of the k-th dependent port.
    Drift(SymbolId, usize),
}

struct Builder<'a, F: Present> {
    model: &'a Model,
    field: &'a mut F,
    exprs: Exprs,
    reduced: Reduced<F::Element>,
    time: SymbolId,
    definitions: IndexMap<SymbolId, Definition, FxBuildHasher>,
    /// The variable of each co-energy column: the chosen state.
    states: Vec<ExprId>,
    /// The rates of the co-energies of independent storage.
    co_energy_rates: Vec<SymbolId>,
    /// The values of the sources and of the ports of nonlinear laws.
    sources: Vec<ExprId>,
    /// Symbols of the requested drifts.
    drifts: Vec<Option<SymbolId>>,
    /// Rates of symbols.
    rates: FxHashMap<SymbolId, ExprId>,
    /// Rates of constants that are switched on at the start: during the run these rates stay 0, and so do their own rates.
    switched: FxHashSet<SymbolId>,
    /// Symbols whose rates are used by laws rather than only by outputs.
    rated: FxHashSet<SymbolId>,
    /// Symbols that are rates already.
    of_first_order: FxHashSet<SymbolId>,
    /// The output being read: it may use rates of rates.
    asking: Option<Blame>,
    waiting: Vec<Waiting>,
    /// Energy variables that are not states, as defined.
    followed: FxHashMap<SymbolId, ExprId>,
    /// The co-energies of independent storage in terms of the states and sources, if energy variables are states; otherwise empty.
    co_energies: Vec<Row<F::Element>>,
    /// The states that are totals, in terms of the variables that they determine.
    totals: Vec<ExprId>,
}

/// Returns the outputs that add a state: one for each integrand without a state that equals its integral.
///
/// A state equals `int(e)` if e is exactly the expression or variable whose integral a declared state is.
pub(crate) fn added_outputs(model: &Model) -> Vec<usize> {
    added_integrands(model).into_iter().map(|entry| entry.1).collect()
}

/// Returns the integrands of states added for outputs, each with the output that gives it its name.
fn added_integrands(model: &Model) -> Vec<(ExprId, usize)> {
    let mut added: Vec<(ExprId, usize)> = Vec::new();
    let states = model.integrals.iter().filter(|integral| integral.holds(integral.rate));
    let mut held: FxHashSet<ExprId> = states.map(|integral| integral.rate).collect();
    for (index, output) in model.outputs.iter().enumerate() {
        for id in model.exprs.reachable(&[output.value]) {
            if let Node::Call(Function::Int, list) = model.exprs.node(id)
                && held.insert(list[0])
            {
                added.push((list[0], index));
            }
        }
    }
    added
}

impl Definitions {
    /// Returns the number of nodes of the largest definition as written, and of all of them with shared parts counted once.
    pub(crate) fn sizes(&self, exprs: &Exprs) -> (u64, usize) {
        let values = self.map.values().map(|definition| match definition.value {
            Value::Explicit(id) | Value::Implicit(id) => id,
        });
        let all: Vec<ExprId> = values.chain(self.roots.iter().copied()).collect();
        let sizes = exprs.written_sizes(&all);
        let largest = all.iter().map(|id| sizes[id]).max().unwrap_or(0);
        (largest, exprs.reachable(&all).len())
    }

    /// Returns the symbols that expressions depend on, through the definitions.
    pub(crate) fn behind(&self, exprs: &Exprs, roots: &[ExprId]) -> FxHashSet<SymbolId> {
        let mut waiting = exprs.symbols_of(roots);
        let mut seen: FxHashSet<SymbolId> = waiting.iter().copied().collect();
        while let Some(symbol) = waiting.pop() {
            let Some(definition) = self.map.get(&symbol) else {
                continue;
            };
            let (Value::Explicit(value) | Value::Implicit(value)) = definition.value;
            let behind = exprs.symbols_of(&[value]).into_iter();
            waiting.extend(behind.filter(|symbol| seen.insert(*symbol)));
        }
        seen
    }

    /// Returns the ports of nonlinear storage whose rate affects the rates of states, without a conserved quantity as
    /// the state. `sources` are source ports with their values.
    fn unshared<'s>(
        &self,
        prepared: &Prepared,
        exprs: &Exprs,
        behind: &FxHashSet<SymbolId>,
        sources: impl Iterator<Item = (&'s PortId, &'s ExprId)>,
    ) -> Vec<PortId> {
        let Prepared { model, causality, .. } = prepared;
        let is_among = |id: ExprId, set: &FxHashSet<SymbolId>| matches!(exprs.node(id), Node::Symbol(symbol) if set.contains(symbol));
        let unshared = sources.filter(|(port, given)| match links::follows(model, causality, **port) {
            true => is_among(**given, behind),
            false => conserved_quantities::gives_co_energy(model, **port) && is_among(**given, &self.rated),
        });
        unshared.map(|entry| *entry.0).collect()
    }

    /// Reduces the graph and builds all definitions. The given `columns` of the junction structure become roots as well.
    pub(crate) fn build<F: Present>(
        prepared: &Prepared,
        states: StateRequest,
        field: &mut F,
        system: &mut StateSystem,
        columns: &[u32],
    ) -> Result<(Definitions, Links), Failure> {
        let Prepared {
            model,
            graph,
            causality,
            ..
        } = prepared;
        let signed = measure_columns(model, graph, &causality.structure);
        let mut wanted: Vec<u32> = signed.iter().map(|signed| signed.column).collect();
        let conjugates = wanted.len();
        for port in &causality.independent {
            let variable = causality.solved[port.index()].expect("invariant: causality assigns every storage");
            wanted.push(port_column(*port, variable));
        }
        let others = wanted.len();
        wanted.extend(columns);
        let asked = wanted.len();
        wanted.extend(links::followers(prepared));
        let mut reduced = reduced(prepared, field, &wanted, conjugates)?;
        for (row, signed) in reduced.wanted.iter_mut().zip(&signed) {
            if signed.negative {
                row.iter_mut().for_each(|entry| entry.1 = field.neg(&entry.1));
            }
        }
        let choice_of = |port: &PortId| {
            let element = &model.graph.elements[model.graph.ports[port.index()].element.index()];
            states.choice_of(element) == StateChoice::Energy
        };
        let is_energy: Vec<bool> = reduced.independent.iter().map(choice_of).collect();
        let co_energies = change_states(model, field, &mut reduced, &is_energy)?;
        let mut quantities = conserved_quantities::find(prepared, field, &mut system.exprs, &reduced);
        conserved_quantities::take_places(prepared, system, &reduced, &mut quantities);
        let followers = reduced.wanted.split_off(asked);
        let totals = quantities.iter().map(|quantity| quantity.state).collect();
        let links = links::links(prepared, system, &reduced, &followers, &totals);
        let drifts = vec![None; reduced.known.drifts];
        let mut builder = Builder {
            model,
            field,
            exprs: std::mem::take(&mut system.exprs),
            reduced,
            time: model.time,
            definitions: IndexMap::default(),
            states: Vec::new(),
            co_energy_rates: Vec::new(),
            sources: Vec::new(),
            drifts,
            rates: FxHashMap::default(),
            switched: FxHashSet::default(),
            rated: FxHashSet::default(),
            of_first_order: FxHashSet::default(),
            asking: None,
            waiting: Vec::new(),
            followed: FxHashMap::default(),
            co_energies,
            totals: Vec::new(),
        };
        let found = builder.define(prepared, system, &quantities, &is_energy, conjugates, others);
        let given: Vec<ExprId> = builder.sources;
        let (exprs, map, reduced) = (builder.exprs, builder.definitions, builder.reduced);
        let (mut rated, rates) = (builder.rated, builder.rates);
        let totals = builder.totals;
        system.exprs = exprs;
        let roots = found?;
        conserved_quantities::close_starts(model, system, &mut quantities, &totals);
        let starts = roots[roots.len() - quantities.len()..].iter().zip(&quantities);
        let mut definitions = Definitions {
            starts: starts
                .map(|(root, quantity)| quantity.start_constraint(*root))
                .collect(),
            map,
            roots,
            states: system.states.len(),
            outputs: model.outputs.len(),
            rated: FxHashSet::default(),
            conserved: quantities.iter().map(|quantity| quantity.variable).collect(),
            unshared: Vec::new(),
        };
        if rated.is_empty() {
            return Ok((definitions, links));
        }
        let behind = definitions.behind(&system.exprs, &definitions.roots[..definitions.states]);
        let exprs = &system.exprs;
        let is_behind = |id: ExprId| matches!(exprs.node(id), Node::Symbol(symbol) if behind.contains(symbol));
        // A jump moves a state only if the rate of a state depends on the rate of the jumping symbol: if conserved
        // quantities are the states, it moves none.
        rated.retain(|symbol| rates.get(symbol).is_some_and(|rate| is_behind(*rate)));
        definitions.rated = rated;
        definitions.unshared = definitions.unshared(prepared, exprs, &behind, reduced.sources.iter().zip(&given));
        Ok((definitions, links))
    }
}

/// Reduces the graph over a field, with unchanged storage laws. The columns from `others` on are not requested by the model.
fn reduced<F: Present>(
    prepared: &Prepared,
    field: &mut F,
    wanted: &[u32],
    others: usize,
) -> Result<Reduced<F::Element>, Refusal> {
    let (extent, sharing) = (Solve::Conjugates, Sharing::nothing());
    let found = reduce(
        &prepared.model,
        &prepared.causality,
        field,
        wanted,
        extent,
        sharing,
        usize::MAX,
    );
    found.map_err(|refusal| match refusal {
        Refusal::Undetermined(index) if index >= others => Refusal::UndeterminedColumn(wanted[index]),
        other => other,
    })
}

impl<F: Present> Builder<'_, F> {
    /// Creates a symbol for the rate of every state, so that rates may be used before they are known, and for every
    /// co-energy. Returns the symbols of the states, and those of the variables of storage.
    fn symbols_of_rates(
        &mut self,
        system: &StateSystem,
        quantities: &[Conserved<F::Element>],
        is_energy: &[bool],
    ) -> (Vec<SymbolId>, Vec<SymbolId>) {
        let mut derivatives = Vec::with_capacity(system.states.len());
        for state in &system.states {
            let symbol = self
                .exprs
                .new_symbol(format!("der({})", state.name), SymbolKind::Assignment);
            let rate = self.exprs.symbol(symbol);
            self.rates.insert(state.symbol, rate);
            self.of_first_order.insert(symbol);
            derivatives.push(symbol);
        }
        for (input, rate) in system.inputs.iter().zip(&system.input_rates) {
            let is_constant = |signal: ExprId| !self.exprs.symbols_of(&[signal]).contains(&self.time);
            if input.is_internal && input.signal.is_some_and(is_constant) {
                self.switched.insert(*rate);
            }
            let rate = self.exprs.symbol(*rate);
            self.rates.insert(input.symbol, rate);
        }
        let storage = self.reduced.known.storage;
        let mut own: Vec<SymbolId> = derivatives[..storage].to_vec();
        let states = system.states[..storage].iter();
        let mut variables: Vec<SymbolId> = states.map(|state| state.symbol).collect();
        for quantity in quantities {
            let name = format!("der({})", self.exprs.symbol_info(quantity.variable).name);
            let symbol = self.exprs.new_symbol(name, SymbolKind::Assignment);
            let rate = self.exprs.symbol(symbol);
            self.rates.insert(quantity.variable, rate);
            self.of_first_order.insert(symbol);
            own[quantity.state] = symbol;
            variables[quantity.state] = quantity.variable;
        }
        self.states = variables.into_iter().map(|symbol| self.exprs.symbol(symbol)).collect();
        for k in 0..storage {
            let symbol = if is_energy[k] {
                let name = format!("rate of the co-energy variable of {}", system.states[k].element);
                self.exprs.new_symbol(name, SymbolKind::Assignment)
            } else {
                own[k]
            };
            self.of_first_order.insert(symbol);
            self.co_energy_rates.push(symbol);
        }
        (derivatives, own)
    }

    /// Defines the rates of declared integrals, then of those added for outputs, which states hold from here on.
    fn define_integrals(
        &mut self,
        system: &StateSystem,
        derivatives: &[SymbolId],
        held: &mut FxHashMap<ExprId, (ExprId, ExprId)>,
    ) -> Result<(), Failure> {
        let model = self.model;
        let first = self.reduced.known.storage;
        for (index, integral) in model.integrals.iter().enumerate() {
            let value = self.without_calls(integral.rate, held, Blame::Integral(index))?;
            self.insert(
                derivatives[first + index],
                Value::Explicit(value),
                Blame::Integral(index),
            );
        }
        let first = first + model.integrals.len();
        let zero = self.exprs.zero();
        let added = added_integrands(model);
        for (k, (integrand, _)) in added.iter().enumerate() {
            let symbol = self.exprs.symbol(system.states[first + k].symbol);
            held.insert(*integrand, (symbol, zero));
        }
        for (k, (integrand, output)) in added.iter().enumerate() {
            let value = self.without_calls(*integrand, held, Blame::Output(*output))?;
            self.insert(derivatives[first + k], Value::Explicit(value), Blame::Output(*output));
        }
        Ok(())
    }

    /// Defines everything and returns the roots.
    fn define(
        &mut self,
        prepared: &Prepared,
        system: &StateSystem,
        quantities: &[Conserved<F::Element>],
        is_energy: &[bool],
        conjugates: usize,
        others: usize,
    ) -> Result<Vec<ExprId>, Failure> {
        let model = self.model;
        let (derivatives, own) = self.symbols_of_rates(system, quantities, is_energy);
        let mut held: FxHashMap<ExprId, (ExprId, ExprId)> = FxHashMap::default();
        for (integral, state) in model.integrals.iter().zip(&system.states[self.reduced.known.storage..]) {
            if integral.holds(integral.rate) {
                let symbol = self.exprs.symbol(state.symbol);
                held.insert(integral.rate, (symbol, state.start));
            }
        }
        self.source_values(prepared, &held)?;
        // Measured variables are defined before their rates are used.
        for (index, (symbol, _)) in model.measures.iter().enumerate() {
            let row = self.reduced.wanted[index].clone();
            let value = self.row(&row)?;
            self.insert(*symbol, Value::Explicit(value), Blame::Model);
        }
        for (symbol, of) in &prepared.rates {
            let value = self.rate(*of, Blame::Model)?;
            self.of_first_order.insert(*symbol);
            self.insert(*symbol, Value::Explicit(value), Blame::Model);
        }
        self.nonlinear_laws(prepared)?;
        self.totals = self.define_conserved(system, quantities, &derivatives)?;
        for (k, symbol) in own.iter().enumerate() {
            let blame = Blame::Element(model.graph.ports[self.reduced.independent[k].index()].element);
            if is_energy[k] {
                let row = self.reduced.wanted[conjugates + k].clone();
                let value = self.row(&row)?;
                self.insert(*symbol, Value::Explicit(value), blame);
            }
            let law = self.reduced.rates[k].clone();
            let law = self.row(&law)?;
            self.insert(self.co_energy_rates[k], Value::Implicit(law), blame);
        }
        self.define_integrals(system, &derivatives, &mut held)?;
        let mut roots: Vec<ExprId> = derivatives.iter().map(|symbol| self.exprs.symbol(*symbol)).collect();
        self.write_waiting()?;
        for (index, output) in model.outputs.iter().enumerate() {
            self.asking = Some(Blame::Output(index));
            let value = self.without_calls(output.value, &held, Blame::Output(index))?;
            roots.push(value);
            self.write_waiting()?;
        }
        self.asking = None;
        for index in others..self.reduced.wanted.len() {
            let row = self.reduced.wanted[index].clone();
            let value = self.row(&row)?;
            roots.push(value);
        }
        roots.extend(quantities.iter().map(|quantity| self.states[quantity.state]));
        self.write_waiting()?;
        Ok(roots)
    }

    /// Writes all requested rates.
    fn write_waiting(&mut self) -> Result<(), Failure> {
        while let Some(waiting) = self.waiting.pop() {
            self.write(waiting)?;
        }
        Ok(())
    }

    fn insert(&mut self, symbol: SymbolId, value: Value, blame: Blame) {
        let law = None;
        self.definitions.insert(symbol, Definition { value, blame, law });
    }

    /// Returns the values of sources: unchanged expressions if they contain no measured variable, otherwise symbols.
    fn source_values(
        &mut self,
        prepared: &Prepared,
        held: &FxHashMap<ExprId, (ExprId, ExprId)>,
    ) -> Result<(), Failure> {
        let model = self.model;
        for port in self.reduced.sources.clone() {
            let id = model.graph.ports[port.index()].element;
            let element = &model.graph.elements[id.index()];
            let at = (port.0 - element.ports.start) as usize;
            let given = prepared.causality.solved[port.index()]
                .expect("invariant: causality assigns every source")
                .conjugate();
            let name = port_variable_name(model, port, given);
            let value = match &element.law {
                Law::Source { values, .. } => {
                    let value = self.without_calls(values[at], held, Blame::Element(id))?;
                    let symbols = self.exprs.symbols_of(&[value]);
                    let measured = symbols.iter().any(|symbol| {
                        let kind = self.exprs.symbol_info(*symbol).kind;
                        matches!(kind, SymbolKind::Measure | SymbolKind::Assignment)
                    });
                    if measured {
                        let symbol = self.exprs.new_symbol(name, SymbolKind::Assignment);
                        self.insert(symbol, Value::Explicit(value), Blame::Element(id));
                        self.exprs.symbol(symbol)
                    } else {
                        value
                    }
                }
                // The law itself is processed when the measured variables are known.
                _ => {
                    let symbol = self.exprs.new_symbol(name, SymbolKind::Assignment);
                    self.exprs.symbol(symbol)
                }
            };
            self.sources.push(value);
        }
        Ok(())
    }

    /// Returns a row over the columns of reduction as an expression.
    fn row(&mut self, row: &Row<F::Element>) -> Result<ExprId, Failure> {
        let mut terms = Vec::with_capacity(row.len());
        for (column, value) in row {
            let variable = self.column(*column)?;
            let coefficient = self.field.present(&mut self.exprs, value);
            terms.push(self.exprs.mul(coefficient, variable));
        }
        // Positive terms come before negative ones, as in a textbook.
        terms.sort_by_key(|term| is_negative(&self.exprs, *term));
        Ok(self.exprs.sum(terms))
    }

    /// Returns the variable of a column.
    fn column(&mut self, column: u32) -> Result<ExprId, Failure> {
        let known = self.reduced.known;
        if column < known.source(0) {
            return Ok(self.states[column as usize]);
        }
        if column < known.source_rate(0) {
            return Ok(self.sources[(column - known.source(0)) as usize]);
        }
        if column < known.drift(0) {
            let k = (column - known.source_rate(0)) as usize;
            let blame = Blame::Element(self.model.graph.ports[self.reduced.sources[k].index()].element);
            return self.rate(self.sources[k], blame);
        }
        if column >= known.rate(0) {
            let symbol = self.co_energy_rates[(column - known.rate(0)) as usize];
            return Ok(self.exprs.symbol(symbol));
        }
        let k = (column - known.drift(0)) as usize;
        let symbol = match self.drifts[k] {
            Some(symbol) => symbol,
            None => {
                let symbol = self
                    .exprs
                    .new_symbol("drift (of a co-energy variable)", SymbolKind::Assignment);
                self.drifts[k] = Some(symbol);
                self.of_first_order.insert(symbol);
                self.waiting.push(Waiting::Drift(symbol, k));
                symbol
            }
        };
        Ok(self.exprs.symbol(symbol))
    }
}
