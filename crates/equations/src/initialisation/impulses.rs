//! Starts that conservation gives: of storage that shares its momentum or charge with other storage, and is given none itself.
//!
//! Before the run everything is at rest: sources are 0, and so are all momenta and charges. What begins at once, the starts that are
//! given and the values of constant sources, is brought about by impulses: of the sources, and at each given start by one that
//! acts on what is given. A source is constant here as far as parameters, and declared states with their starts, make it. By Kelvin's theorem no motion with these starts has less energy; and it does not depend on which storage
//! carries the states.
//!
//! What an impulse does is read from the equations themselves: of a second model with sources at the storage that is given a
//! start ([`crate::initialisation::impulse_sources`]), an impulse of source k moves state j by the entry `G_jk` of its matrix of inputs, and a constant source
//! that is switched on moves it by that of its rate. With the given variables `C x + ..`, the impulses solve `(C G) i = given - found`.

use crate::causality::elimination::{Row, add_scaled, find};
use crate::formulation::matrices::Present;
use crate::formulation::shared_arena::SharedArena;
use crate::initialisation::impulse_sources::{Push, pushed};
use crate::initialisation::start_values::StartSolver;
use crate::state_selection::links::{Carrier, ImpulseFault, Impulses, Links};
use lgm_algebra::DisjointSets;
use lgm_algebra::expr::{ExprId, Exprs, Gradient, SymbolId, SymbolKind};
use lgm_algebra::{FromExpression, PrimeField, RationalFunctions, Sampled};
use lgm_model::system::{State, StateSystem};
use lgm_model::{Law, Model, StorageForm};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use rustc_hash::{FxHashMap, FxHashSet};

/// A part of a sum that is smaller than this, beside what it is made of, is rounding.
const ROUNDING: f64 = 1e-9;

/// A start that is given: of a state, or of what the states determine.
struct Given {
    /// The variable over the states.
    value: ExprId,
    start: ExprId,
    /// The variable by the states of storage.
    row: Vec<(usize, ExprId)>,
    push: Push,
    /// The constraint that says so; none for a state.
    constraint: Option<usize>,
}

/// States whose starts are solved for together.
#[derive(Default)]
struct Groups {
    /// The group of each state; its own where nothing ties it.
    of: Vec<usize>,
    /// Groups with starts that are to be found.
    open: FxHashSet<usize>,
    /// Those of them that a start is given in, for which an answer must be had.
    given: FxHashSet<usize>,
}

/// What impulses do, over the parameters.
struct Response {
    /// For each state, what each impulse moves it by.
    moves: Vec<Vec<(u32, ExprId)>>,
    /// Where constant sources alone bring each state.
    base: Vec<ExprId>,
    /// For each state, what a step of each input moves it by.
    inputs: Vec<Vec<(u32, ExprId)>>,
}

impl StartSolver<'_> {
    /// Gives storage without a start the one that conservation gives it. Returns the states whose starts were found.
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
            // What the given starts determine alone is found by a search, which has the values of inputs.
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

    /// The answer where what impulses do has no closed form: a fault where a start is given, else everything stays at rest.
    fn unsolved(&self, groups: &Groups, free: &[usize]) -> Result<Vec<usize>, ImpulseFault> {
        // What constraints alone determine may still be found by a search.
        let is_open = |at: &&usize| groups.given.contains(&groups.of[**at]) && !self.free.contains(at);
        let open: Vec<usize> = free.iter().filter(is_open).copied().collect();
        match open.is_empty() {
            true => Ok(Vec::new()),
            false => Err(ImpulseFault::Unknown { states: open }),
        }
    }

    /// Says that starts do not follow by conservation.
    pub(crate) fn not_conserved(&self, fault: &ImpulseFault) -> Diagnostic {
        let (states, because) = match fault {
            ImpulseFault::Unknown { states } => (states, "have no closed form".to_string()),
            ImpulseFault::Input { states, input } => {
                let name = &self.system.inputs[*input].name;
                (states, format!("depend on the first value of the input `{name}`"))
            }
        };
        let names: Vec<String> = states
            .iter()
            .map(|at| format!("`{}`", self.system.states[*at].name))
            .collect();
        let names = names.join(" and ");
        let message = format!("the start of {names} follows from given starts by impulses, and these {because}");
        let mut diagnostic = Diagnostic::error(Code::LGM0434, message);
        for at in states.iter().take(3) {
            let state = &self.system.states[*at];
            diagnostic = diagnostic.label(state.span, format!("`{}` has no start", state.name));
        }
        diagnostic.help("give `start` to what is named here too")
    }

    fn is_storage(&self, links: &Links, at: usize) -> bool {
        links.carriers.contains_key(&self.system.states[at].symbol)
    }

    /// The states by what ties them together: dependent storage, fields, and what starts are given for.
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

    /// The starts that are given in open groups, as many as are independent of each other; none where one is not linear in states
    /// whose starts are looked for.
    fn given(&mut self, impulses: &Impulses<'_>, storage: &[usize]) -> Option<Vec<Given>> {
        let mut list = Vec::new();
        let one = self.system.exprs.one();
        for at in storage.iter().copied() {
            let state = &self.system.states[at];
            if !state.start_given {
                continue;
            }
            let push = vec![(impulses.links.carriers[&state.symbol].clone(), one)];
            let (start, symbol) = (state.start, state.symbol);
            list.push(Given {
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
            list.push(Given {
                value: constraint.follows,
                start: constraint.given,
                row,
                push,
                constraint: Some(at),
            });
        }
        self.independent(list)
    }

    /// A variable by the states of open groups, over the parameters; none where it is not linear in them.
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

    /// An expression over the parameters, with states outside of open groups at their starts; none where it holds anything else.
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

    /// Impulses on the storage that a signal is made of, in the proportions of its coefficients.
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

    /// How much a state changes with the co-energy variable of its port; none for a field in energy variables and for a law that
    /// is not linear.
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

    /// The starts without those that others determine: these are compared in the end.
    fn independent(&mut self, list: Vec<Given>) -> Option<Vec<Given>> {
        let entries = self.system.parameters.iter().flat_map(|parameter| &parameter.entries);
        let values = entries.map(|entry| (entry.symbol, PrimeField.reduce(&entry.value)));
        let mut sampled = Sampled::with_given(5, values.collect());
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

    /// What impulses at given starts, and constant sources, do.
    fn response(&mut self, impulses: &Impulses<'_>, given: &[Given], storage: &[usize]) -> Option<Response> {
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
                // A symbol of the second formulation alone means nothing here.
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

    /// An input whose first value the starts would depend on besides what its step moves states by.
    fn moved_by_input(&mut self, given: &[Given], response: &Response) -> Option<usize> {
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

    /// The starts of the free states: in lowest terms where these are not too large.
    fn solved(
        &mut self,
        impulses: &Impulses<'_>,
        given: &[Given],
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
        let entries = self.system.parameters.iter().flat_map(|parameter| &parameter.entries);
        let values = entries.map(|entry| (entry.symbol, PrimeField.reduce(&entry.value)));
        let mut shared = SharedArena::new(6, values.collect());
        starts_in(&mut shared, &mut self.system.exprs, (given, &found), response, free)
    }
}

impl Response {
    /// Whether a state is among those that a given variable is made of.
    fn touches(&self, at: usize, given: &Given) -> bool {
        given.row.iter().any(|entry| entry.0 == at)
    }
}

/// `base + G (C G)^-1 (given - found)` of the free states, over a field.
fn starts_in<F: Present>(
    field: &mut F,
    exprs: &mut Exprs,
    (given, found): (&[Given], &[ExprId]),
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

/// Expressions with the values of assignments in their places; none where they depend on the unknowns of loops.
fn expanded(system: &mut StateSystem, roots: &[ExprId]) -> Option<Vec<ExprId>> {
    expanded_along(system, roots, None)
}

/// The same along some symbols: a loop that these are not in stays as it is.
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
