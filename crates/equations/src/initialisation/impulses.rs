//! Initial values from conservation: those of storage that shares its momentum or charge with other storage and has no
//! given initial value.
//!
//! Before the run everything is at rest: sources are 0, and so are all momenta and charges. Nonzero initial values and
//! constant sources are modelled as impulses at t = 0: impulses of the sources, and one at each given initial value. A
//! source is constant here to the extent that it depends only on parameters, and on declared states at their initial
//! values. By Kelvin's theorem no motion with these initial values has less energy, and the result does not depend on
//! which storage carries the states.
//!
//! The effect of an impulse follows from the equations of a second model with sources at the storage with given initial
//! values ([`crate::initialisation::impulse_sources`]). An impulse of source k moves state j by the entry `G_jk` of the
//! model's input matrix. Switching on a constant source moves it by the entry for the source's rate. With the given
//! variables `C x + ..`, the impulses solve `(C G) i = given - found`.

use crate::causality::elimination::{Row, add_scaled, find};
use crate::formulation::matrices::Present;
use crate::formulation::shared_arena::SharedArena;
use crate::initialisation::impulse_sources::{Push, pushed};
use crate::initialisation::start_values::StartSolver;
use crate::parameter_values::sampled_at;
use crate::state_selection::links::{Carrier, ImpulseFault, Impulses, Links};
use lgm_algebra::DisjointSets;
use lgm_algebra::expr::{ExprId, Exprs, Gradient, SymbolId, SymbolKind};
use lgm_algebra::{FromExpression, PrimeField, RationalFunctions};
use lgm_model::system::{State, StateSystem};
use lgm_model::{Law, Model, StorageForm};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use rustc_hash::{FxHashMap, FxHashSet};

/// A part of a sum below this fraction of its terms is round-off.
const ROUNDING: f64 = 1e-9;

/// A given initial value: of a state, or of a quantity that the states determine.
struct GivenStart {
    /// The variable in terms of the states.
    value: ExprId,
    start: ExprId,
    /// The coefficients of the variable in terms of the states of storage.
    row: Vec<(usize, ExprId)>,
    push: Push,
    /// The constraint that gives it; none for a state.
    constraint: Option<usize>,
}

/// States whose initial values are solved for together.
#[derive(Default)]
struct Groups {
    /// The group of each state; a separate one if nothing ties the state.
    of: Vec<usize>,
    /// Groups with initial values that must be found.
    open: FxHashSet<usize>,
    /// Open groups with a given initial value, which require a solution.
    given: FxHashSet<usize>,
}

/// The effect of impulses, in terms of the parameters.
struct Response {
    /// For each state, the change caused by each impulse.
    moves: Vec<Vec<(u32, ExprId)>>,
    /// The value of each state caused only by constant sources.
    base: Vec<ExprId>,
    /// For each state, the change caused by a step of each input.
    inputs: Vec<Vec<(u32, ExprId)>>,
}

impl StartSolver<'_> {
    /// Computes the missing initial values of storage from conservation. Returns the states whose initial values were found.
    pub(crate) fn impulses(&mut self, impulses: &Impulses<'_>) -> Result<Vec<usize>, ImpulseFault> {
        let groups = self.groups(impulses.links);
        if groups.open.is_empty() {
            return Ok(Vec::new());
        }
        let is_open = |at: usize| groups.open.contains(&groups.of[at]);
        let storage: Vec<usize> = (0..self.system.states.len())
            .filter(|at| is_open(*at) && self.is_storage(impulses.links, *at))
            .collect();
        let free: Vec<usize> = storage
            .iter()
            .copied()
            .filter(|at| !self.system.states[*at].start_given)
            .collect();
        let given = match self.given(impulses, &storage) {
            Some(given) => given,
            None => return self.unsolved(&groups, &free),
        };
        let Some(response) = self.response(impulses, &given, &storage) else {
            return self.unsolved(&groups, &free);
        };
        if let Some(input) = self.moved_by_input(&given, &response) {
            // Initial values that follow from the given ones are found by a search, which has the values of inputs.
            if given.len() == storage.len() && free.iter().all(|at| self.free.contains(at)) {
                return Ok(Vec::new());
            }
            return Err(ImpulseFault::Input { states: free, input });
        }
        let Some(starts) = self.solved(impulses, &given, &response, &free) else {
            return self.unsolved(&groups, &free);
        };
        let parameters = self.parameters();
        for (at, start) in free.iter().zip(starts) {
            let of = |symbol: SymbolId| parameters.get(&symbol).copied();
            let value = self.system.exprs.evaluate_unchecked(&[start], &of)[0];
            let state = &mut self.system.states[*at];
            (state.start, state.start_value) = (start, value);
            self.free.remove(at);
        }
        self.used.extend(given.iter().filter_map(|given| given.constraint));
        Ok(free)
    }

    /// Returns the result if the effect of impulses has no closed form: an error if an initial value is given,
    /// otherwise everything stays at rest.
    fn unsolved(&self, groups: &Groups, free: &[usize]) -> Result<Vec<usize>, ImpulseFault> {
        // Initial values determined only by constraints may still be found by a search.
        let is_open = |at: &&usize| groups.given.contains(&groups.of[**at]) && !self.free.contains(at);
        let open: Vec<usize> = free.iter().filter(is_open).copied().collect();
        match open.is_empty() {
            true => Ok(Vec::new()),
            false => Err(ImpulseFault::Unknown { states: open }),
        }
    }

    /// Reports that initial values do not follow by conservation.
    pub(crate) fn not_conserved(&self, fault: &ImpulseFault) -> Diagnostic {
        let (states, because) = match fault {
            ImpulseFault::Unknown { states } => (states, "have no closed form".to_string()),
            ImpulseFault::Input { states, input } => {
                let name = &self.system.inputs[*input].name;
                (states, format!("depend on the initial value of the input `{name}`"))
            }
        };
        let names: Vec<String> = states
            .iter()
            .map(|at| format!("`{}`", self.system.states[*at].name))
            .collect();
        let names = names.join(" and ");
        let message = format!("the initial value of {names} follows from given ones by impulses, and these {because}");
        let mut diagnostic = Diagnostic::error(Code::LGM0434, message);
        for at in states.iter().take(3) {
            let state = &self.system.states[*at];
            diagnostic = diagnostic.label(state.span, format!("`{}` has no initial value", state.name));
        }
        diagnostic.help("give `start` to these variables as well")
    }

    fn is_storage(&self, links: &Links, at: usize) -> bool {
        links.carriers.contains_key(&self.system.states[at].symbol)
    }

    /// Groups the states by their ties: dependent storage, fields, and quantities with given initial values.
    fn groups(&self, links: &Links) -> Groups {
        let count = self.system.states.len();
        let mut sets = DisjointSets::new(count);
        let places = |symbols: &mut dyn Iterator<Item = &SymbolId>| -> Vec<usize> {
            let storage = symbols.filter(|symbol| links.carriers.contains_key(symbol));
            storage.filter_map(|symbol| self.places.get(symbol).copied()).collect()
        };
        let mut ties: Vec<(Vec<usize>, bool)> = Vec::new();
        ties.extend(
            links
                .ties
                .iter()
                .map(|tie| (places(&mut tie.states.iter()), tie.is_driven)),
        );
        let tied = ties.len();
        let open = self
            .behind
            .iter()
            .enumerate()
            .filter(|entry| !self.used.contains(&entry.0));
        ties.extend(open.map(|(_, behind)| (places(&mut behind.iter()), false)));
        for (states, _) in &ties {
            for pair in states.windows(2) {
                sets.join(pair[0], pair[1]);
            }
        }
        let mut groups = Groups {
            of: sets.roots(),
            ..Groups::default()
        };
        let (mut free, mut given, mut driven) = (FxHashSet::default(), FxHashSet::default(), FxHashSet::default());
        for at in (0..count).filter(|at| self.is_storage(links, *at)) {
            match self.system.states[at].start_given {
                true => given.insert(groups.of[at]),
                false => free.insert(groups.of[at]),
            };
        }
        for (number, (states, is_driven)) in ties.iter().enumerate() {
            let Some(first) = states.first() else { continue };
            if number >= tied {
                given.insert(groups.of[*first]);
            }
            if *is_driven {
                driven.insert(groups.of[*first]);
            }
        }
        let open = free
            .iter()
            .copied()
            .filter(|group| given.contains(group) || driven.contains(group));
        groups.open = open.collect();
        groups.given = groups.open.intersection(&given).copied().collect();
        groups
    }

    /// Returns the given initial values in open groups that are independent of each other; `None` if one is nonlinear
    /// in states whose initial values are unknown.
    fn given(&mut self, impulses: &Impulses<'_>, storage: &[usize]) -> Option<Vec<GivenStart>> {
        let mut list = Vec::new();
        let one = self.system.exprs.one();
        for at in storage.iter().copied() {
            let state = &self.system.states[at];
            if !state.start_given {
                continue;
            }
            let push = vec![(impulses.links.carriers[&state.symbol].clone(), one)];
            let (start, symbol) = (state.start, state.symbol);
            list.push(GivenStart {
                value: self.system.exprs.symbol(symbol),
                start,
                row: vec![(at, one)],
                push,
                constraint: None,
            });
        }
        let mut dependent = impulses.links.dependent.iter();
        for at in 0..self.constraints.len() {
            let port = self.constraints[at]
                .is_storage
                .then(|| dependent.next().copied())
                .flatten();
            if self.used.contains(&at) {
                continue;
            }
            let behind = self.behind[at].iter().filter_map(|symbol| self.places.get(symbol));
            let mut in_group = behind.filter(|place| storage.contains(place));
            if in_group.next().is_none() {
                continue;
            }
            let row = self.row_of(self.constraints[at].follows, storage)?;
            let push = match port {
                Some(port) => vec![(Carrier::Port(port), one)],
                None => self.push_along(impulses, &row)?,
            };
            let constraint = &self.constraints[at];
            list.push(GivenStart {
                value: constraint.follows,
                start: constraint.given,
                row,
                push,
                constraint: Some(at),
            });
        }
        self.independent(list)
    }

    /// Returns the coefficients of a variable over the states of open groups, in terms of the parameters; `None` if it
    /// is nonlinear in them.
    fn row_of(&mut self, value: ExprId, storage: &[usize]) -> Option<Vec<(usize, ExprId)>> {
        let symbols: Vec<SymbolId> = storage.iter().map(|at| self.system.states[*at].symbol).collect();
        let value = expanded(self.system, &[value])?[0];
        let exprs = &mut self.system.exprs;
        let row = Gradient::new(exprs, &symbols).row(exprs, value).ok()?;
        let mut found = Vec::new();
        for (column, entry) in row.iter() {
            found.push((storage[*column as usize], self.at_start(*entry, storage)?));
        }
        Some(found)
    }

    /// Returns an expression in terms of the parameters, with states outside open groups at their initial values;
    /// `None` if it contains anything else.
    fn at_start(&mut self, id: ExprId, storage: &[usize]) -> Option<ExprId> {
        let (free, places) = (&self.free, &self.places);
        let system = &mut *self.system;
        let (zero, time, states) = (system.exprs.zero(), system.time, &system.states);
        let known = |symbol: SymbolId| match places.get(&symbol) {
            _ if symbol == time => Some(zero),
            Some(at) if !free.contains(at) && !storage.contains(at) => Some(states[*at].start),
            _ => None,
        };
        let id = system.exprs.substitute(&[id], known)[0];
        let mut symbols = system.exprs.symbols_of(&[id]).into_iter();
        let over_parameters = symbols.all(|symbol| system.exprs.symbol_info(symbol).kind == SymbolKind::Parameter);
        over_parameters.then_some(id)
    }

    /// Returns impulses on the storage in a signal, in the proportions of the signal's coefficients.
    fn push_along(&mut self, impulses: &Impulses<'_>, row: &[(usize, ExprId)]) -> Option<Push> {
        let mut push = Vec::with_capacity(row.len());
        for (at, coefficient) in row {
            let state = self.system.states[*at].clone();
            let carrier = impulses.links.carriers[&state.symbol].clone();
            let factor = self.by_co_energy(impulses.model, &carrier, &state)?;
            push.push((carrier, self.system.exprs.mul(*coefficient, factor)));
        }
        Some(push)
    }

    /// Returns the derivative of a state with respect to the co-energy variable of its port; `None` for a field in
    /// energy variables and for a nonlinear law.
    fn by_co_energy(&mut self, model: &Model, carrier: &Carrier, state: &State) -> Option<ExprId> {
        let exprs = &mut self.system.exprs;
        let Carrier::Port(port) = carrier else {
            return Some(exprs.one());
        };
        if state.variable.is_co_energy() {
            return Some(exprs.one());
        }
        let element = &model.graph.elements[model.graph.ports[port.index()].element.index()];
        match &element.law {
            Law::Storage { value, form, .. } if element.ports.len() == 1 => Some(match form {
                StorageForm::Direct => value.get(0, 0),
                StorageForm::Inverse => {
                    let one = exprs.one();
                    exprs.div(one, value.get(0, 0))
                }
            }),
            _ => None,
        }
    }

    /// Returns the given initial values that are independent; the others are compared at the end.
    fn independent(&mut self, list: Vec<GivenStart>) -> Option<Vec<GivenStart>> {
        let mut sampled = sampled_at(&self.system.exprs, &self.system.parameters, 5);
        let mut field = PrimeField;
        let mut pivots: Vec<(u32, Row<u64>)> = Vec::new();
        let mut kept = Vec::new();
        for given in list {
            let mut row: Row<u64> = Vec::with_capacity(given.row.len());
            for (at, entry) in &given.row {
                let entry = sampled.from_expression(&self.system.exprs, *entry).ok()?;
                if entry != 0 {
                    row.push((*at as u32, entry));
                }
            }
            row.sort_unstable_by_key(|entry| entry.0);
            for (column, pivot) in &pivots {
                if let (Some(here), Some(there)) = (find(&row, *column), find(pivot, *column)) {
                    let factor = lgm_algebra::Field::div(&mut field, &row[here].1, &pivot[there].1);
                    let factor = lgm_algebra::Field::neg(&mut field, &factor);
                    row = add_scaled(&mut field, &row, pivot, &factor, Some(*column), |_| {});
                }
            }
            if let Some((column, _)) = row.first() {
                pivots.push((*column, row));
                kept.push(given);
            }
        }
        Some(kept)
    }

    /// Returns the effect of impulses at given initial values, and of constant sources.
    fn response(&mut self, impulses: &Impulses<'_>, given: &[GivenStart], storage: &[usize]) -> Option<Response> {
        let pushes: Vec<Push> = given.iter().map(|given| given.push.clone()).collect();
        let mut second = pushed(impulses.model, &self.system.exprs, &pushes)?;
        let mut probe = (impulses.formulate)(&second.model)?;
        let names = |system: &StateSystem| system.states.iter().map(|state| state.name.clone()).collect::<Vec<_>>();
        if names(&probe) != names(self.system) {
            return None;
        }
        let rate = |symbol: &SymbolId| {
            let place = probe.inputs.iter().position(|input| input.symbol == *symbol);
            probe.input_rates[place.expect("invariant: the sources of the second model are among its inputs")]
        };
        let mut columns = second.impulses.clone();
        columns.extend(second.constants.iter().map(|entry| rate(&entry.0)));
        let own = self.system.inputs.len();
        columns.extend(&probe.input_rates[..own]);
        let derivatives = probe.equations.derivatives.clone();
        let derivatives = expanded_along(&mut probe, &derivatives, Some(&columns))?;
        let mut copied: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        for (there, here) in probe.states.iter().zip(&self.system.states) {
            let (there, here) = (probe.exprs.symbol(there.symbol), self.system.exprs.symbol(here.symbol));
            copied.insert(there, here);
        }
        let mut gradient = Gradient::new(&mut probe.exprs, &columns);
        let (first, last) = (
            second.impulses.len() as u32,
            (second.impulses.len() + second.constants.len()) as u32,
        );
        let shared = impulses.model.exprs.symbol_count() as u32;
        let count = self.system.states.len();
        let mut response = Response {
            moves: vec![Vec::new(); count],
            base: vec![self.system.exprs.zero(); count],
            inputs: vec![Vec::new(); count],
        };
        let constants = std::mem::take(&mut second.constants);
        for at in storage {
            let row = gradient.row(&mut probe.exprs, derivatives[*at]).ok()?;
            let mut base = Vec::new();
            for (column, entry) in row.iter() {
                let symbols = probe.exprs.symbols_of(&[*entry]);
                // A symbol that exists only in the second formulation is meaningless here.
                let is_state = |symbol: &SymbolId| probe.states.iter().any(|state| state.symbol == *symbol);
                if !symbols.iter().all(|symbol| symbol.0 < shared || is_state(symbol)) {
                    return None;
                }
                let entry = self.system.exprs.import(&probe.exprs, *entry, &mut copied);
                let entry = self.at_start(entry, storage)?;
                match *column {
                    column if column < first => response.moves[*at].push((column, entry)),
                    column if column < last => {
                        let value = constants[(column - first) as usize].1;
                        let arena = &second.model.exprs;
                        let value = self.system.exprs.import(arena, value, &mut FxHashMap::default());
                        base.push(self.system.exprs.mul(entry, value));
                    }
                    column => response.inputs[*at].push((column - last, entry)),
                }
            }
            response.base[*at] = self.system.exprs.sum(base);
        }
        Some(response)
    }

    /// Returns an input whose first value would affect the initial values other than through its step.
    fn moved_by_input(&mut self, given: &[GivenStart], response: &Response) -> Option<usize> {
        let symbols: Vec<SymbolId> = self.system.inputs.iter().map(|input| input.symbol).collect();
        let mut point = self.parameters();
        for state in &self.system.states {
            point.insert(state.symbol, state.start_value);
        }
        point.extend(symbols.iter().map(|symbol| (*symbol, 0.0)));
        for given in given {
            let mut terms: FxHashMap<u32, Vec<ExprId>> = FxHashMap::default();
            let value = expanded(self.system, &[given.value]).map_or(given.value, |list| list[0]);
            let exprs = &mut self.system.exprs;
            if let Ok(row) = Gradient::new(exprs, &symbols).row(exprs, value) {
                for (input, entry) in row.iter() {
                    terms.entry(*input).or_default().push(*entry);
                }
            }
            for (at, factor) in &given.row {
                for (input, entry) in &response.inputs[*at] {
                    let product = self.system.exprs.mul(*factor, *entry);
                    terms.entry(*input).or_default().push(product);
                }
            }
            for (input, list) in terms {
                let of = |symbol: SymbolId| point.get(&symbol).copied();
                let values = self.system.exprs.evaluate_unchecked(&list, &of);
                let size: f64 = values.iter().map(|value| value.abs()).sum();
                if values.iter().sum::<f64>().abs() > ROUNDING * size {
                    return Some(input as usize);
                }
            }
        }
        None
    }

    /// Returns the initial values of the free states, in lowest terms if these are not too large.
    fn solved(
        &mut self,
        impulses: &Impulses<'_>,
        given: &[GivenStart],
        response: &Response,
        free: &[usize],
    ) -> Option<Vec<ExprId>> {
        let mut found = Vec::with_capacity(given.len());
        for given in given {
            let value = expanded(self.system, &[given.value])?[0];
            let (places, states) = (&self.places, &self.system.states);
            let (time, zero) = (self.system.time, self.system.exprs.zero());
            let inputs: FxHashSet<SymbolId> = self.system.inputs.iter().map(|input| input.symbol).collect();
            let known = |symbol: SymbolId| match places.get(&symbol) {
                _ if symbol == time || inputs.contains(&symbol) => Some(zero),
                Some(at) => Some(match response.touches(*at, given) {
                    true => response.base[*at],
                    false => states[*at].start,
                }),
                None => None,
            };
            let value = self.system.exprs.substitute(&[value], known)[0];
            found.push(self.system.exprs.sub(given.start, value));
        }
        let mut rational = RationalFunctions::new(impulses.size_limit, RationalFunctions::DEFAULT_TERMS);
        let first = starts_in(&mut rational, &mut self.system.exprs, (given, &found), response, free);
        if !lgm_algebra::Field::exhausted(&rational) {
            return first;
        }
        let point = sampled_at(&self.system.exprs, &self.system.parameters, 6);
        let mut shared = SharedArena::new(6, point);
        starts_in(&mut shared, &mut self.system.exprs, (given, &found), response, free)
    }
}

impl Response {
    /// Returns true if a given variable depends on a state.
    fn touches(&self, at: usize, given: &GivenStart) -> bool {
        given.row.iter().any(|entry| entry.0 == at)
    }
}

/// Returns `base + G (C G)^-1 (given - found)` for the free states, over a field.
fn starts_in<F: Present>(
    field: &mut F,
    exprs: &mut Exprs,
    (given, found): (&[GivenStart], &[ExprId]),
    response: &Response,
    free: &[usize],
) -> Option<Vec<ExprId>> {
    let (mut matrix, mut right) = (Vec::new(), Vec::new());
    for (given, found) in given.iter().zip(found) {
        let mut row: Row<F::Element> = Row::new();
        for (at, factor) in &given.row {
            let factor = field.from_expression(exprs, *factor).ok()?;
            let mut moves = Row::new();
            for (column, entry) in &response.moves[*at] {
                moves.push((*column, field.from_expression(exprs, *entry).ok()?));
            }
            row = add_scaled(field, &row, &moves, &factor, None, |_| {});
        }
        matrix.push(row);
        right.push(vec![(0, field.from_expression(exprs, *found).ok()?)]);
    }
    let impulses = lgm_algebra::solve(field, matrix, right).ok()?;
    let mut starts = Vec::with_capacity(free.len());
    for at in free {
        let mut sum = field.from_expression(exprs, response.base[*at]).ok()?;
        for (column, entry) in &response.moves[*at] {
            if let Some((_, impulse)) = impulses[*column as usize].first() {
                let entry = field.from_expression(exprs, *entry).ok()?;
                let product = field.mul(&entry, impulse);
                sum = field.add(&sum, &product);
            }
        }
        starts.push(field.present(exprs, &sum));
    }
    (!field.exhausted()).then_some(starts)
}

/// Returns expressions with assignments expanded; `None` if they depend on the unknowns of loops.
fn expanded(system: &mut StateSystem, roots: &[ExprId]) -> Option<Vec<ExprId>> {
    expanded_along(system, roots, None)
}

/// Does the same, but expands only paths to some symbols: a loop without these symbols stays unchanged.
fn expanded_along(system: &mut StateSystem, roots: &[ExprId], along: Option<&[SymbolId]>) -> Option<Vec<ExprId>> {
    let mut values: FxHashMap<SymbolId, ExprId> = FxHashMap::default();
    let mut known = FxHashMap::default();
    for assignment in &system.equations.assignments {
        let value = [assignment.value];
        let value = system
            .exprs
            .substitute_on(&value, &mut known, |symbol| values.get(&symbol).copied())[0];
        values.insert(assignment.symbol, value);
    }
    let roots = system
        .exprs
        .substitute_on(roots, &mut known, |symbol| values.get(&symbol).copied());
    let mut moving: FxHashSet<SymbolId> = along.into_iter().flatten().copied().collect();
    let mut unknowns: FxHashSet<SymbolId> = FxHashSet::default();
    for each in &system.equations.loops {
        let residuals = system
            .exprs
            .substitute_on(&each.residuals, &mut known, |symbol| values.get(&symbol).copied());
        let mut symbols = system.exprs.symbols_of(&residuals).into_iter();
        if along.is_none() || symbols.any(|symbol| moving.contains(&symbol)) {
            moving.extend(&each.unknowns);
            unknowns.extend(&each.unknowns);
        }
    }
    let mut symbols = system.exprs.symbols_of(&roots).into_iter();
    (!symbols.any(|symbol| unknowns.contains(&symbol))).then_some(roots)
}
