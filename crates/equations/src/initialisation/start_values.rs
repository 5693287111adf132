//! Initial values of states that follow from other initial values: those of storage without a state of its own, and of
//! signals (language 9).
//!
//! An initial value of a quantity that the states determine is an equation over the initial values of the states. Its
//! unknowns are storage without a given initial value, and declared states with `guess`. One unknown in one equation
//! with a closed form gets an expression in terms of the parameters. The others are searched for by Newton's method,
//! together with the unknowns of algebraic loops. The remaining equations must hold, otherwise the initial values
//! contradict each other. Initial values are values just after time 0, so inputs have their first values.

use crate::instants::Instant;
use crate::nonlinear::dual::{Point, duals};
use crate::nonlinear::evaluate::{assign, evaluate_all, given_at, guess_unknowns, linearised, loop_parts};
use crate::state_selection::links::Impulses;
use lgm_algebra::expr::{ExprId, Node, SymbolId, SymbolKind, print};
use lgm_model::system::{StartConstraint, StartSearch, StateSystem, StateVariable};
use lgm_numerics::newton::{find_zero, undetermined};
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, six_digits};
use nalgebra::DMatrix;
use num_rational::BigRational;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// The largest relative difference of consistent initial values of dependent storage.
pub const AGREEMENT: f64 = 1e-9;

/// Smaller values are round-off of zero in any unit.
const NOTHING: f64 = 1e-30;

/// A relation with more characters than this is not displayed.
const SHOWN: usize = 120;

/// The number of locations of other initial values that a contradiction shows.
const PLACES: usize = 3;

/// Sets the derived initial values of the states, and compares the rest. Constraints are over all symbols of the
/// system; those over parameters stay in it, to be compared again in runs with other parameters. Returns the states
/// with new initial values.
pub(crate) fn find_starts(
    system: &mut StateSystem,
    impulses: &Impulses<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<usize> {
    let model = impulses.model;
    let constraints = std::mem::take(&mut system.starts.constraints);
    let definitions = Definitions::of(system);
    let behind: Vec<FxHashSet<SymbolId>> = constraints
        .iter()
        .map(|constraint| definitions.behind(system, constraint.follows))
        .collect();
    let constrained: FxHashSet<SymbolId> = behind.iter().flatten().copied().collect();
    let guesses: FxHashSet<SymbolId> = model
        .integrals
        .iter()
        .filter(|integral| integral.is_guess && integral.is_state())
        .map(|integral| integral.symbol)
        .collect();
    let is_free = |at: usize| {
        let state = &system.states[at];
        let declared =
            state.variable == StateVariable::Integral && state.written.is_some() && *state.element == *state.name;
        let open = !state.start_given && (!declared || guesses.contains(&state.symbol));
        open && constrained.contains(&state.symbol)
    };
    let free: Vec<usize> = (0..system.states.len()).filter(|at| is_free(*at)).collect();
    for state in &system.states {
        if guesses.contains(&state.symbol) && !constrained.contains(&state.symbol) {
            diagnostics.push(guess_without_use(&state.name, state.start_span.unwrap_or(state.span)));
        }
    }
    if constraints.is_empty() && impulses.links.ties.is_empty() {
        return Vec::new();
    }
    let mut solved = free.clone();
    let places = system.states.iter().enumerate();
    let mut settling = StartSolver {
        places: places.map(|(at, state)| (state.symbol, at)).collect(),
        system,
        constraints,
        behind,
        free: free.into_iter().collect(),
        used: FxHashSet::default(),
    };
    settling.closed_forms();
    match settling.impulses(impulses) {
        Ok(found) => solved.extend(found),
        Err(fault) => {
            diagnostics.push(settling.not_conserved(&fault));
            return solved;
        }
    }
    if settling.constraints.is_empty() {
        return solved;
    }
    let found = settling.search(diagnostics);
    if let Some(point) = found {
        settling.compare(&point, diagnostics);
    }
    settling.keep();
    solved
}

/// The solution of a constraint with a single unknown.
#[derive(Clone, Copy, Debug)]
struct ClosedForm {
    /// The sensitivity of the constraint to the unknown; positive.
    slope: f64,
    state: usize,
    start: ExprId,
    /// The initial value as a number.
    value: f64,
}

pub(crate) struct StartSolver<'a> {
    pub(crate) system: &'a mut StateSystem,
    pub(crate) constraints: Vec<StartConstraint>,
    /// The symbols that each constraint depends on.
    pub(crate) behind: Vec<FxHashSet<SymbolId>>,
    /// The indices of states by symbol.
    pub(crate) places: FxHashMap<SymbolId, usize>,
    /// States whose initial values are unknown.
    pub(crate) free: BTreeSet<usize>,
    /// Constraints that determined an initial value, and therefore hold.
    pub(crate) used: FxHashSet<usize>,
}

impl StartSolver<'_> {
    /// Returns the parameters' values.
    pub(crate) fn parameters(&self) -> FxHashMap<SymbolId, f64> {
        let point = start_point(self.system);
        let entries = self.system.parameters.iter().flat_map(|parameter| &parameter.entries);
        entries.map(|entry| (entry.symbol, point[&entry.symbol].0)).collect()
    }

    /// Returns a constraint as an expression that must be zero, over parameters and states with unknown initial values;
    /// `None` if it depends on anything else.
    fn reduced(&mut self, at: usize) -> Option<ExprId> {
        let system = &mut *self.system;
        let (zero, time) = (system.exprs.zero(), system.time);
        let (places, free, states) = (&self.places, &self.free, &system.states);
        let known = |symbol: SymbolId| match places.get(&symbol) {
            _ if symbol == time => Some(zero),
            Some(at) if !free.contains(at) => Some(states[*at].start),
            _ => None,
        };
        let residual = system
            .exprs
            .sub(self.constraints[at].follows, self.constraints[at].given);
        let residual = system.exprs.substitute(&[residual], known)[0];
        let is_known = |id: ExprId| match system.exprs.node(id) {
            Node::Symbol(symbol) => {
                let kind = system.exprs.symbol_info(*symbol).kind;
                matches!(kind, SymbolKind::Parameter | SymbolKind::State)
            }
            _ => true,
        };
        let known = system.exprs.reachable(&[residual]).into_iter().all(is_known);
        known.then_some(residual)
    }

    /// Solves equations with one unknown while any exist; if an unknown appears in several, the equation that is most
    /// sensitive to it is used.
    fn closed_forms(&mut self) {
        let parameters = self.parameters();
        // The constraints that contain each unknown: they may become solvable, or change, when one of their unknowns is known.
        let mut holding: FxHashMap<SymbolId, Vec<usize>> = FxHashMap::default();
        for (at, constraint) in self.constraints.iter().enumerate() {
            let sides = [constraint.follows, constraint.given];
            for symbol in self.system.exprs.symbols_of(&sides) {
                let place = self.places.get(&symbol);
                if place.is_some_and(|place| self.free.contains(place)) {
                    holding.entry(symbol).or_default().push(at);
                }
            }
        }
        let mut found: Vec<Option<ClosedForm>> = vec![None; self.constraints.len()];
        // Sorted by slope, with ties going to the first: positive doubles are in the order of their bits.
        let mut ranking: BTreeSet<(u64, Reverse<usize>)> = BTreeSet::new();
        let mut changed: Vec<usize> = (0..self.constraints.len()).collect();
        while !self.free.is_empty() {
            for at in changed {
                let now = self.closed_form(at, &parameters);
                if let Some(before) = std::mem::replace(&mut found[at], now) {
                    ranking.remove(&(before.slope.to_bits(), Reverse(at)));
                }
                if let Some(now) = &found[at] {
                    ranking.insert((now.slope.to_bits(), Reverse(at)));
                }
            }
            let Some((_, Reverse(at))) = ranking.pop_last() else {
                return;
            };
            let best = found[at].take().expect("invariant: what is ranked was found");
            self.used.insert(at);
            let entry = &mut self.system.states[best.state];
            (entry.start, entry.start_value, entry.start_given) = (best.start, best.value, true);
            let symbol = entry.symbol;
            self.free.remove(&best.state);
            changed = holding.remove(&symbol).unwrap_or_default();
        }
    }

    /// Returns the initial value from a constraint with one unknown; `None` if the constraint has more, or no closed form with a value.
    fn closed_form(&mut self, at: usize, parameters: &FxHashMap<SymbolId, f64>) -> Option<ClosedForm> {
        let residual = self.reduced(at)?;
        let system = &mut *self.system;
        let symbols = system.exprs.symbols_of(&[residual]);
        let places = symbols.iter().filter_map(|symbol| self.places.get(symbol));
        let mut unknown = places.filter(|place| self.free.contains(place));
        let (Some(&state), None) = (unknown.next(), unknown.next()) else {
            return None;
        };
        let symbol = system.states[state].symbol;
        let start = system.exprs.isolate(residual, symbol)?;
        let slope = system.exprs.differentiate(residual, symbol)?;
        let number = |id: ExprId, own: f64| {
            let of = |other: SymbolId| match other == symbol {
                true => Some(own),
                false => parameters.get(&other).copied(),
            };
            system.exprs.evaluate_unchecked(&[id], &of)[0]
        };
        let value = number(start, f64::NAN);
        let slope = number(slope, value).abs();
        (value.is_finite() && slope.is_finite() && slope > 0.0).then_some(ClosedForm {
            slope,
            state,
            start,
            value,
        })
    }

    /// Searches for the initial values without a closed form. Returns the initial point; `None` if it has no values.
    fn search(&mut self, diagnostics: &mut Vec<Diagnostic>) -> Option<Point> {
        let mut point = start_point(self.system);
        if self.free.is_empty() {
            evaluate_all(self.system, &mut point)?;
            return Some(point);
        }
        let search = StartSearch {
            states: self.free.iter().copied().collect(),
            constraints: self.open_constraints(),
        };
        match solve_starts(&search, self.system, &mut point) {
            Ok(undetermined) if undetermined.is_empty() => {}
            Ok(undetermined) => {
                diagnostics.push(self.not_determined(&search, &undetermined));
                return None;
            }
            Err(at) => {
                diagnostics.push(self.not_found(&search, &at));
                return None;
            }
        }
        for at in &self.free {
            let value = point[&self.system.states[*at].symbol].0;
            let exact = BigRational::from_float(value).expect("invariant: a solution is finite");
            let start = self.system.exprs.number(exact);
            let state = &mut self.system.states[*at];
            (state.start, state.start_value, state.start_given) = (start, value, true);
        }
        for each in &mut self.system.equations.loops {
            if !each.guesses.is_empty() {
                each.guesses = each.unknowns.iter().map(|unknown| point[unknown].0).collect();
            }
        }
        self.system.starts.search = Some(search);
        Some(point)
    }

    /// Returns the constraints that contain an unknown.
    fn open_constraints(&self) -> Vec<StartConstraint> {
        let is_free = |symbol: &SymbolId| self.places.get(symbol).is_some_and(|at| self.free.contains(at));
        let holds = |symbols: &FxHashSet<SymbolId>| symbols.iter().any(is_free);
        let pairs = self.constraints.iter().zip(&self.behind);
        pairs.filter(|pair| holds(pair.1)).map(|pair| pair.0.clone()).collect()
    }

    /// Compares every initial value with the value that follows from the others.
    fn compare(&self, point: &Point, diagnostics: &mut Vec<Diagnostic>) {
        let exprs = &self.system.exprs;
        for (constraint, behind) in self.constraints.iter().zip(&self.behind) {
            let Some(values) = duals(exprs, &[constraint.given, constraint.follows], point) else {
                continue;
            };
            let (given, follows) = (values[0].0, values[1].0);
            // A sum of large terms is accurate to their round-off.
            let terms = self.size_of(constraint.follows, point);
            let size = terms.max(follows.abs()).max(given.abs());
            let agree = (follows - given).abs() <= AGREEMENT * size.max(NOTHING);
            // A state without an initial value was reported elsewhere.
            if agree || !follows.is_finite() || !given.is_finite() {
                continue;
            }
            let name = &constraint.name;
            let (mut is, mut other) = (six_digits(given), six_digits(follows));
            if is == other {
                (is, other) = (given.to_string(), follows.to_string());
            }
            let message = match constraint.is_storage {
                true => {
                    format!("the initial value of `{name}` is {is}, but the elements connected to it require {other}")
                }
                false => format!(
                    "the initial value of the signal `{name}` is {is}, but the other initial values \
                    require {other}"
                ),
            };
            let mut diagnostic = Diagnostic::error(Code::LGM0425, message).label(constraint.span, "this initial value");
            let mut seen = vec![constraint.span];
            for state in &self.system.states {
                if let Some(span) = state.start_span
                    && behind.contains(&state.symbol)
                    && !seen.contains(&span)
                    && seen.len() <= PLACES
                {
                    seen.push(span);
                    let words = format!(
                        "the initial value of `{}` is {} here",
                        state.name,
                        six_digits(state.start_value)
                    );
                    diagnostic = diagnostic.label(span, words);
                }
            }
            let relation = print::text(exprs, constraint.follows);
            if relation.len() <= SHOWN {
                let what = match constraint.is_storage {
                    true => format!("`{name}` has no state of its own: it is {relation}"),
                    false => format!("`{name}` is {relation}"),
                };
                diagnostic = diagnostic.note(what);
            }
            diagnostics.push(diagnostic.help("remove one of these initial values, or make them agree"));
        }
    }

    /// Returns the magnitude of the largest term in sums and products.
    fn size_of(&self, id: ExprId, point: &Point) -> f64 {
        let exprs = &self.system.exprs;
        let parts = exprs.reachable(&[id]);
        let values = duals(exprs, &parts, point).unwrap_or_default();
        let mut sizes: FxHashMap<ExprId, f64> = FxHashMap::default();
        for (part, value) in parts.iter().zip(values) {
            let size = match exprs.node(*part) {
                Node::Sum(terms) => terms.iter().map(|term| sizes[term]).fold(0.0, f64::max),
                Node::Product(factors) => factors.iter().map(|factor| sizes[factor]).product(),
                _ => value.0.abs(),
            };
            sizes.insert(*part, if size.is_finite() { size } else { 0.0 });
        }
        sizes.get(&id).copied().unwrap_or(0.0)
    }

    fn not_determined(&self, search: &StartSearch, undetermined: &[usize]) -> Diagnostic {
        let names: Vec<String> = undetermined
            .iter()
            .map(|at| format!("`{}`", self.system.states[*at].name))
            .collect();
        let message = format!("the given initial values do not determine {}", names.join(" and "));
        let mut diagnostic = Diagnostic::error(Code::LGM0434, message);
        for constraint in search.constraints.iter().take(PLACES) {
            diagnostic = diagnostic.label(constraint.span, "this alone does not determine them");
        }
        let first = &self.system.states[undetermined[0]];
        diagnostic
            .label(first.span, format!("`{}` has no initial value", first.name))
            .help("give `start` to one of them or to another signal")
    }

    fn not_found(&self, search: &StartSearch, at: &[f64]) -> Diagnostic {
        let names: Vec<String> = search
            .states
            .iter()
            .map(|at| format!("`{}`", self.system.states[*at].name))
            .collect();
        let of: Vec<String> = search
            .constraints
            .iter()
            .map(|each| format!("`{}`", each.name))
            .collect();
        let message = format!(
            "no initial value of {} was found that gives {} its initial value",
            names.join(", "),
            of.join(", ")
        );
        let mut diagnostic = Diagnostic::error(Code::LGM0434, message);
        for constraint in search.constraints.iter().take(PLACES) {
            diagnostic = diagnostic.label(constraint.span, "this initial value was not reached");
        }
        let ended = search.states.iter().zip(at);
        let ended = ended.map(|(state, value)| format!("{} = {}", self.system.states[*state].name, six_digits(*value)));
        diagnostic
            .note(format!("the search ended at {}", ended.collect::<Vec<_>>().join(", ")))
            .help(
                "check that a position with this initial value exists, and give the independent state a nearby \
                `guess = ..`",
            )
    }

    /// Keeps the constraints that a run with other parameters must check: those over parameters only.
    fn keep(mut self) {
        self.free.clear();
        let mut kept = Vec::new();
        for at in 0..self.constraints.len() {
            if self.used.contains(&at) {
                continue;
            }
            let Some(residual) = self.reduced(at) else { continue };
            let follows = self.system.exprs.add(residual, self.constraints[at].given);
            kept.push(StartConstraint {
                follows,
                ..self.constraints[at].clone()
            });
        }
        // The search is repeated, and must agree.
        if self.system.starts.search.is_none() {
            self.system.starts.constraints = kept;
        }
    }
}

/// The relative offset of a second guess, which must converge to the same solution.
const SECOND_GUESS: f64 = 1e-3;

/// Solves for the initial values at a point that contains all other values, and enters them with the unknowns of loops.
/// Returns the undetermined states, or the point at which the search ended.
pub(crate) fn solve_starts(
    search: &StartSearch,
    system: &StateSystem,
    point: &mut Point,
) -> Result<Vec<usize>, Vec<f64>> {
    let (unknowns, residuals) = loop_parts(system);
    guess_unknowns(system, &unknowns, point);
    let mut symbols: Vec<SymbolId> = search.states.iter().map(|at| system.states[*at].symbol).collect();
    symbols.extend(unknowns);
    let guess: Vec<f64> = symbols.iter().map(|symbol| point[symbol].0).collect();
    let given: Option<Vec<f64>> = search
        .constraints
        .iter()
        .map(|each| Some(duals(&system.exprs, &[each.given], point)?[0].0))
        .collect();
    let given = given.ok_or_else(|| guess.clone())?;
    let mut roots: Vec<ExprId> = search.constraints.iter().map(|each| each.follows).collect();
    roots.extend(residuals);
    let evaluate = |at: &[f64]| {
        let (mut values, jacobian) = linearised(system, point, &roots, &symbols, at)?;
        for (value, given) in values.iter_mut().zip(&given) {
            *value -= given;
        }
        // The number of equations must equal the number of unknowns; missing ones are trivially satisfied.
        let rows = values.len().max(symbols.len());
        values.resize(rows, 0.0);
        Some((values, jacobian.resize_vertically(rows, 0.0)))
    };
    let found = find_zero(guess, evaluate).map_err(|stuck| stuck.at)?;
    let size = symbols.len();
    let jacobian = |at: &[f64]| evaluate(at).map_or_else(|| DMatrix::zeros(size, size), |found| found.1);
    // If solutions meet, such as at a dead centre, an angle is accurate only to the square root of round-off. A
    // velocity divided by it is undetermined.
    if found.free.is_empty() && undetermined(&found.at, jacobian).is_some() {
        let beside = found
            .at
            .iter()
            .map(|at| at + SECOND_GUESS * at.abs().max(1.0))
            .collect();
        let again = find_zero(beside, evaluate).map_err(|stuck| stuck.at)?;
        let pairs = found.at.iter().zip(&again.at);
        if pairs
            .clone()
            .any(|(a, b)| (a - b).abs() > SECOND_GUESS * a.abs().max(b.abs()).max(1.0))
        {
            return Err(found.at);
        }
    }
    for (symbol, value) in symbols.iter().zip(&found.at) {
        point.insert(*symbol, (*value, 0.0));
    }
    assign(system, point).ok_or_else(|| found.at.clone())?;
    let free = found.free.iter().filter(|at| **at < search.states.len());
    Ok(free.map(|at| search.states[*at]).collect())
}

/// Searches for the initial values with other values of the parameters, of the initial values of other states, and of
/// the inputs and their rates; returns `None` if they are not found.
pub fn search_starts(
    system: &StateSystem,
    parameters: &[f64],
    (inputs, rates): (&[f64], &[f64]),
    starts: &mut [f64],
) -> Option<()> {
    let Some(search) = &system.starts.search else {
        return Some(());
    };
    let mut point = start_point(system);
    let entries = system.parameters.iter().flat_map(|parameter| &parameter.entries);
    for (entry, value) in entries.zip(parameters) {
        point.insert(entry.symbol, (*value, 0.0));
    }
    for (state, value) in system.states.iter().zip(starts.iter()) {
        point.insert(state.symbol, (*value, 0.0));
    }
    for (k, (value, rate)) in inputs.iter().zip(rates).enumerate() {
        point.insert(system.inputs[k].symbol, (*value, *rate));
        point.insert(system.input_rates[k], (*rate, f64::NAN));
    }
    let undetermined = solve_starts(search, system, &mut point).ok()?;
    for at in &search.states {
        starts[*at] = point[&system.states[*at].symbol].0;
    }
    undetermined.is_empty().then_some(())
}

/// Returns the initial point: parameters, states at their initial values, inputs with the rates of their signals, and time 0.
fn start_point(system: &StateSystem) -> Point {
    let still = vec![0.0; system.inputs.len()];
    let mut point = given_at(
        system,
        &Instant {
            time: 0.0,
            states: system.states.iter().map(|state| state.start_value).collect(),
            inputs: still.clone(),
            rates: still,
        },
    );
    for (input, rate) in system.inputs.iter().zip(&system.input_rates) {
        let signal = input.signal.and_then(|signal| duals(&system.exprs, &[signal], &point));
        if let Some([value]) = signal.as_deref() {
            point.insert(input.symbol, *value);
            point.insert(*rate, (value.1, f64::NAN));
        }
    }
    point
}

/// The definitions of a system's symbols.
pub(crate) struct Definitions {
    /// Values of assignments.
    assigned: FxHashMap<SymbolId, ExprId>,
    /// The loops that unknowns belong to.
    unknowns: FxHashMap<SymbolId, usize>,
}

impl Definitions {
    pub(crate) fn of(system: &StateSystem) -> Definitions {
        let assignments = system.equations.assignments.iter();
        let loops = system.equations.loops.iter().enumerate();
        let unknowns = loops.flat_map(|(number, each)| each.unknowns.iter().map(move |unknown| (*unknown, number)));
        Definitions {
            assigned: assignments
                .map(|assignment| (assignment.symbol, assignment.value))
                .collect(),
            unknowns: unknowns.collect(),
        }
    }

    /// Returns all symbols that an expression depends on, through assignments and loops.
    pub(crate) fn behind(&self, system: &StateSystem, root: ExprId) -> FxHashSet<SymbolId> {
        let mut found: FxHashSet<SymbolId> = FxHashSet::default();
        let mut open = system.exprs.symbols_of(&[root]);
        while let Some(symbol) = open.pop() {
            if !found.insert(symbol) {
                continue;
            }
            if let Some(value) = self.assigned.get(&symbol) {
                open.extend(system.exprs.symbols_of(&[*value]));
            }
            if let Some(number) = self.unknowns.get(&symbol) {
                open.extend(system.exprs.symbols_of(&system.equations.loops[*number].residuals));
            }
        }
        found
    }
}

fn guess_without_use(name: &str, span: lgm_source::Span) -> Diagnostic {
    Diagnostic::error(
        Code::LGM0434,
        format!("nothing determines the initial value of `{name}`"),
    )
    .label(span, "this guess does not lead to an initial value")
    .help(
        "write `start = ..` instead, or give a signal that depends on it an initial value: `signal x = .., \
            start = ..;`",
    )
}
