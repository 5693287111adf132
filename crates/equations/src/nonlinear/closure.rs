//! Closed kinematic chains: displacements that follow from position equations.
//!
//! `state phi = int(across(rod)), start = -0.3, close = r*sin(theta) + l*sin(phi);` is an integral like any other while
//! the equations are derived: its velocity is that of the graph. Then it ceases to be a state. It becomes the unknown
//! of a loop whose residual is the position equation, solved from the last solution wherever the equations are
//! evaluated. Positions therefore do not drift, and need no stabilisation. This module compares the user's positions
//! with the velocities of the graph.

use lgm_algebra::PrimeField;
use lgm_algebra::expr::{ExprId, Exprs, Gradient, SymbolId, SymbolKind, to_f64};
use lgm_model::system::{AlgebraicLoop, State, StateSystem};
use lgm_model::{Integral, Model};
use lgm_numerics::newton::{LEAP, Linearised, Stuck, find_zero_within, undetermined};
use lgm_numerics::search::{TRIES, closest, is_same, scattered, zeros};
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, six_digits};
use nalgebra::DMatrix;
use rustc_hash::FxHashMap;
use std::f64::consts::{PI, TAU};

/// Rates cancel if their sum is below this fraction of the largest one.
const ROUNDING: f64 = 1e-7;

/// Points at which positions and velocities are compared.
const POINTS: u64 = 6;

/// The maximum number of dependent displacements of a chain whose other positions are searched for.
const SEARCHED: usize = 12;

/// The largest residual of a satisfied position equation, relative to its derivatives; used to test the equation after a whole turn.
const TURNED: f64 = 1e-9;

/// A second position is reported if it is at most this many times farther from the initial values than the first one.
const ABOUT_AS_NEAR: f64 = 1.5;

/// A dependent displacement.
struct Follower {
    unknown: SymbolId,
    name: String,
    residual: ExprId,
    /// Its velocity.
    rate: ExprId,
    guess: f64,
    span: Span,
}

/// Converts the states that close chains to unknowns of loops, which are searched for from their initial values.
/// `columns` are further expressions over the states.
pub(crate) fn close(
    model: &Model,
    system: &mut StateSystem,
    columns: &mut [ExprId],
    diagnostics: &mut Vec<Diagnostic>,
) {
    if model.integrals.iter().all(Integral::is_state) {
        return;
    }
    let followers = take_followers(model, system, columns);
    // Expressions that were affine in the removed displacements now depend on unknowns of a loop.
    system.equations.linear = false;
    system.matrices.symbolic = None;
    system.matrices.numeric = None;
    let chain = Chain::new(system, followers);
    let mut values = chain.starts(system);
    let unknowns: Vec<SymbolId> = chain.followers.iter().map(|follower| follower.unknown).collect();
    let guess: Vec<f64> = chain.followers.iter().map(|follower| follower.guess).collect();
    values.extend(unknowns.iter().copied().zip(guess.iter().copied()));
    let mut closed: FxHashMap<SymbolId, f64> = FxHashMap::default();
    let found = chain.solve(system, &values, guess.clone());
    let positions = chain.positions(system, &values, &guess, found.as_ref().ok());
    match found.map(|at| positions.first().cloned().unwrap_or(at)) {
        Ok(at) => {
            diagnostics.extend(chain.ambiguity(system, &guess, &positions));
            closed = unknowns.iter().copied().zip(at.iter().copied()).collect();
            match undetermined(&at, |at| chain.residuals(system, &values, at).1) {
                Some(first) => diagnostics.push(chain.dead_centre(system, first, &at)),
                None => diagnostics.extend(chain.contradiction(system, &values, &at)),
            }
        }
        Err(stuck) => diagnostics.push(chain.not_closed(system, &values, &stuck, &positions)),
    }
    let loops = chain.loops(system, &closed);
    if let Some(form) = &mut system.equations.mass_form {
        let residuals = loops.iter().map(|each| each.residuals.clone());
        form.residuals.splice(0..0, residuals);
    }
    system.equations.loops.splice(0..0, loops);
}

/// Removes the states that close chains from the system, and replaces them with unknowns. Returns the dependent displacements.
fn take_followers(model: &Model, system: &mut StateSystem, columns: &mut [ExprId]) -> Vec<Follower> {
    let mut followers: Vec<Follower> = Vec::new();
    let mut replaced: FxHashMap<SymbolId, ExprId> = FxHashMap::default();
    let states = std::mem::take(&mut system.states);
    let derivatives = std::mem::take(&mut system.equations.derivatives);
    let mut places: FxHashMap<u32, u32> = FxHashMap::default();
    let closures: FxHashMap<SymbolId, (ExprId, Span)> = model
        .integrals
        .iter()
        .filter_map(|integral| Some((integral.symbol, integral.closure?)))
        .collect();
    for (place, (state, rate)) in states.into_iter().zip(derivatives).enumerate() {
        let Some((residual, span)) = closures.get(&state.symbol).copied() else {
            places.insert(place as u32, system.states.len() as u32);
            system.states.push(state);
            system.equations.derivatives.push(rate);
            continue;
        };
        let unknown = system.exprs.new_symbol(state.name.clone(), SymbolKind::Assignment);
        replaced.insert(state.symbol, system.exprs.symbol(unknown));
        followers.push(Follower {
            unknown,
            name: state.name.to_string(),
            residual,
            rate,
            guess: state.start_value,
            span,
        });
    }
    let exprs = &mut system.exprs;
    let mut change = |id: &mut ExprId| *id = exprs.substitute(&[*id], |symbol| replaced.get(&symbol).copied())[0];
    for follower in &mut followers {
        change(&mut follower.residual);
        change(&mut follower.rate);
    }
    let assignments = system
        .equations
        .assignments
        .iter_mut()
        .map(|assignment| &mut assignment.value);
    let residuals = system.equations.loops.iter_mut().flat_map(|each| &mut each.residuals);
    assignments
        .chain(residuals)
        .chain(&mut system.equations.derivatives)
        .chain(&mut system.equations.output_values)
        .chain(columns)
        .for_each(&mut change);
    for block in &mut system.equations.rate_blocks {
        let place = |state: &u32| places.get(state).copied();
        block
            .states
            .iter_mut()
            .for_each(|state| *state = state.as_ref().and_then(place));
        block.rows.iter_mut().flatten().for_each(|entry| change(&mut entry.1));
    }
    if let Some(form) = &mut system.equations.mass_form {
        form.keep_states(&places);
        form.expressions_mut().for_each(change);
    }
    followers
}

/// The dependent displacements, and the derivatives of their equations.
struct Chain {
    followers: Vec<Follower>,
    /// Partial derivatives of the residuals with respect to the unknowns, then the states and time.
    rows: Vec<Vec<(u32, ExprId)>>,
    /// Unknowns, states, time.
    columns: Vec<SymbolId>,
    /// The residuals, then their derivatives with respect to the unknowns; a search evaluates them at hundreds of points.
    searched: Vec<ExprId>,
    /// The subexpressions of these.
    reachable: Vec<ExprId>,
}

impl Chain {
    fn new(system: &mut StateSystem, followers: Vec<Follower>) -> Chain {
        let mut columns: Vec<SymbolId> = followers.iter().map(|follower| follower.unknown).collect();
        columns.extend(system.states.iter().map(|state| state.symbol));
        columns.push(system.time);
        let mut gradient = Gradient::new(&mut system.exprs, &columns);
        let rows: Vec<Vec<(u32, ExprId)>> = followers
            .iter()
            .map(|follower| {
                let row = gradient.row(&mut system.exprs, follower.residual);
                row.expect("invariant: equations of position hold no integrals")
                    .to_vec()
            })
            .collect();
        let mut searched: Vec<ExprId> = followers.iter().map(|follower| follower.residual).collect();
        let entries = rows.iter().flatten();
        searched.extend(
            entries
                .filter(|entry| (entry.0 as usize) < followers.len())
                .map(|entry| entry.1),
        );
        Chain {
            reachable: system.exprs.reachable(&searched),
            followers,
            rows,
            columns,
            searched,
        }
    }

    /// Returns the parameters, the states at their initial values, and time 0.
    fn starts(&self, system: &StateSystem) -> FxHashMap<SymbolId, f64> {
        let entries = system.parameters.iter().flat_map(|parameter| &parameter.entries);
        let mut values: FxHashMap<SymbolId, f64> = entries.map(|entry| (entry.symbol, to_f64(&entry.value))).collect();
        values.extend(system.states.iter().map(|state| (state.symbol, state.start_value)));
        values.insert(system.time, 0.0);
        values
    }

    /// Returns the residuals, and their derivatives with respect to the unknowns.
    fn residuals(
        &self,
        system: &StateSystem,
        values: &FxHashMap<SymbolId, f64>,
        at: &[f64],
    ) -> (Vec<f64>, DMatrix<f64>) {
        let count = self.followers.len();
        let mut values = values.clone();
        values.extend(self.columns.iter().copied().zip(at.iter().copied()));
        let value = |symbol| values.get(&symbol).copied();
        let mut found = system.exprs.evaluate_over(&self.reachable, &self.searched, &value);
        let mut partials = found.split_off(count).into_iter();
        let mut jacobian = DMatrix::zeros(count, count);
        for (row, list) in self.rows.iter().enumerate() {
            let columns = list
                .iter()
                .map(|entry| entry.0 as usize)
                .filter(|column| *column < count);
            for (column, partial) in columns.zip(&mut partials) {
                jacobian[(row, column)] = partial;
            }
        }
        (found, jacobian)
    }

    /// Solves for the unknowns at which the residuals are zero.
    fn solve(
        &self,
        system: &StateSystem,
        values: &FxHashMap<SymbolId, f64>,
        guess: Vec<f64>,
    ) -> Result<Vec<f64>, Stuck> {
        let found = find_zero_within(guess, LEAP, |at| self.linearised(system, values, at))?;
        Ok(found.at)
    }

    fn linearised(&self, system: &StateSystem, values: &FxHashMap<SymbolId, f64>, at: &[f64]) -> Linearised {
        let (values, jacobian) = self.residuals(system, values, at);
        let is_finite = values.iter().all(|value| value.is_finite());
        is_finite.then_some((values, jacobian))
    }

    /// Returns the positions of the mechanism found from a guess and from others around it, the nearest to the guess
    /// first; angles are shifted towards it by whole turns.
    fn positions(
        &self,
        system: &StateSystem,
        values: &FxHashMap<SymbolId, f64>,
        guess: &[f64],
        first: Option<&Vec<f64>>,
    ) -> Vec<Vec<f64>> {
        let count = guess.len();
        if count > SEARCHED {
            return Vec::new();
        }
        let evaluate = |at: &[f64]| self.linearised(system, values, at);
        let around = (0..TRIES).map(|attempt| {
            let moved = guess.iter().enumerate();
            moved.map(|(k, at)| at + PI * scattered(k, attempt)).collect()
        });
        let found = zeros(first.cloned().into_iter().chain(around), LEAP, &evaluate);
        let is_closed = |at: &[f64]| {
            let (residuals, jacobian) = self.residuals(system, values, at);
            let sizes = jacobian.row_iter().map(|row| row.amax());
            residuals
                .iter()
                .zip(sizes)
                .all(|(value, size)| value.abs() <= TURNED * size)
        };
        let mut positions: Vec<Vec<f64>> = Vec::new();
        for mut at in found {
            for k in 0..count {
                let known = at[k];
                at[k] -= TAU * ((known - guess[k]) / TAU).round();
                if !is_closed(&at) {
                    at[k] = known;
                }
            }
            if !positions.iter().any(|known| is_same(known, &at)) {
                positions.push(at);
            }
        }
        positions.sort_by(|a, b| distance(guess, a).total_cmp(&distance(guess, b)));
        positions
    }

    /// Warns about a second position that is about as near to the initial values as the chosen one.
    fn ambiguity(&self, system: &StateSystem, guess: &[f64], positions: &[Vec<f64>]) -> Option<Diagnostic> {
        let [taken, other, ..] = positions else { return None };
        let (near, far) = (distance(guess, taken), distance(guess, other));
        (far < ABOUT_AS_NEAR * near).then(|| {
            let first = &self.followers[0];
            Diagnostic::information(
                Code::LGM0435,
                "the chain closes in two positions at about the same distance from its initial values",
            )
            .label(first.span, "both make this zero")
            .note(format!("taken: {}", self.words(system, taken)))
            .note(format!("the other one: {}", self.words(system, other)))
            .help("give the dependent displacements initial values near the intended position")
        })
    }

    /// Checks that the rate of each position equation is zero for the velocities of the graph.
    fn contradiction(
        &self,
        system: &StateSystem,
        starts: &FxHashMap<SymbolId, f64>,
        closed: &[f64],
    ) -> Option<Diagnostic> {
        let mut worst: Option<(usize, f64)> = None;
        for set in 0..POINTS {
            let mut values = starts.clone();
            for (k, state) in system.states.iter().enumerate() {
                let uniform = (PrimeField.sample(k as u64, set + 900) % 9_973) as f64 / 9_973.0;
                // Positions stay near the start, where the chain can be closed; velocities are arbitrary.
                let reach = if self.is_position(state) {
                    0.02 * set as f64
                } else {
                    1.0
                };
                *values.entry(state.symbol).or_default() += reach * (2.0 * uniform - 1.0);
            }
            let Ok(at) = self.solve(system, &values, closed.to_vec()) else {
                continue;
            };
            values.extend(self.columns.iter().copied().zip(at));
            for assignment in &system.equations.assignments {
                let value = evaluate(&system.exprs, &[assignment.value], &values)[0];
                values.insert(assignment.symbol, value);
            }
            let followers: Vec<ExprId> = self.followers.iter().map(|follower| follower.rate).collect();
            let mut rates = evaluate(&system.exprs, &followers, &values);
            rates.extend(evaluate(&system.exprs, &system.equations.derivatives, &values));
            rates.push(1.0);
            for (row, list) in self.rows.iter().enumerate() {
                let partials: Vec<ExprId> = list.iter().map(|entry| entry.1).collect();
                let partials = evaluate(&system.exprs, &partials, &values);
                let terms = list
                    .iter()
                    .zip(partials)
                    .map(|(entry, partial)| partial * rates[entry.0 as usize]);
                let terms: Vec<f64> = terms.collect();
                let size = terms.iter().map(|term| term.abs()).fold(0.0, f64::max);
                let sum: f64 = terms.iter().sum();
                if sum.abs() > ROUNDING * size && worst.is_none_or(|(_, known)| sum.abs() > known.abs()) {
                    worst = Some((row, sum));
                }
            }
        }
        let (row, rate) = worst?;
        let follower = &self.followers[row];
        Some(
            Diagnostic::error(
                Code::LGM0432,
                format!(
                    "the position equation of `{}` contradicts the velocities of the graph",
                    follower.name
                ),
            )
            .label(follower.span, format!("this would change at a rate of {rate:.3e}"))
            .help(
                "the time derivative of the position equation must follow from the joints: compare its terms with \
                 the transformer entries, and check that the graph closes the chain too",
            ),
        )
    }

    fn words(&self, system: &StateSystem, at: &[f64]) -> String {
        let of = |name: &str, value: f64| format!("{name} = {}", six_digits(value));
        let followers = self
            .followers
            .iter()
            .zip(at)
            .map(|(follower, value)| of(&follower.name, *value));
        let positions = system.states.iter().filter(|state| self.is_position(state));
        let positions = positions.map(|state| of(&state.name, state.start_value));
        positions.chain(followers).collect::<Vec<_>>().join(", ")
    }

    /// Reports a chain that was not closed: another position that closes it, or the closest approach.
    fn not_closed(
        &self,
        system: &StateSystem,
        values: &FxHashMap<SymbolId, f64>,
        stuck: &Stuck,
        positions: &[Vec<f64>],
    ) -> Diagnostic {
        let (row, value) = stuck.worst.unwrap_or((0, f64::NAN));
        let ended = |row: usize, value: f64, at: &[f64]| {
            let follower = &self.followers[row];
            let fault = Diagnostic::error(Code::LGM0431, "the chain does not close at the initial values").label(
                follower.span,
                format!("no value of `{}` was found that makes this zero", follower.name),
            );
            fault.note(format!(
                "it is {} at the end of the search from the initial values: {}",
                six_digits(value),
                self.words(system, at)
            ))
        };
        if let Some(position) = positions.first() {
            return ended(row, value, &stuck.at)
                .note(format!(
                    "from another initial guess it closes at {}",
                    self.words(system, position)
                ))
                .help(
                    "use these values, or others closer to the intended position, as the `start` of the dependent \
                    displacements",
                );
        }
        let evaluate = |at: &[f64]| self.linearised(system, values, at);
        let others = self.free_positions(system);
        match closest(&stuck.at, &evaluate) {
            Some(nearest) => {
                let follower = &self.followers[nearest.row];
                Diagnostic::error(Code::LGM0431, "the chain cannot be closed at the initial values")
                    .label(
                        follower.span,
                        format!(
                            "this does not reach zero: its smallest magnitude is {}",
                            six_digits(nearest.value)
                        ),
                    )
                    .note(format!("that is at {}", self.words(system, &nearest.at)))
                    .note(format!(
                        "{TRIES} other guesses for the dependent displacements do not close it either"
                    ))
                    .help(match others.is_empty() {
                        true => "change the lengths so that the links reach each other".to_string(),
                        false => format!(
                            "change the lengths so that the links reach each other, or start {others} at a position \
                             where they do"
                        ),
                    })
            }
            None => ended(row, value, &stuck.at).help(
                "give the displacements initial values closer to a position of the mechanism, and check its lengths",
            ),
        }
    }

    /// Names the displacements that determine the others.
    fn free_positions(&self, system: &StateSystem) -> String {
        let positions = system.states.iter().filter(|state| self.is_position(state));
        let names = positions.map(|state| format!("`{}`", state.name));
        names.collect::<Vec<_>>().join(", ")
    }

    /// Returns true if a position equation contains the state.
    fn is_position(&self, state: &State) -> bool {
        let mut entries = self.rows.iter().flatten();
        entries.any(|entry| self.columns[entry.0 as usize] == state.symbol)
    }

    fn dead_centre(&self, system: &StateSystem, first: usize, at: &[f64]) -> Diagnostic {
        let follower = &self.followers[first];
        Diagnostic::error(
            Code::LGM0433,
            format!(
                "the mechanism starts at a dead centre: the other displacements do not determine `{}`",
                follower.name
            ),
        )
        .label(
            follower.span,
            "the derivative with respect to the dependent displacements is singular",
        )
        .note(format!("at {}", self.words(system, at)))
        .help("start the mechanism next to this position, or make another displacement the dependent one")
    }

    /// Returns the loops: equations with a common unknown form one loop.
    fn loops(self, system: &StateSystem, closed: &FxHashMap<SymbolId, f64>) -> Vec<AlgebraicLoop> {
        let count = self.followers.len();
        let mut group: Vec<usize> = (0..count).collect();
        for (row, list) in self.rows.iter().enumerate() {
            for column in list
                .iter()
                .map(|entry| entry.0 as usize)
                .filter(|column| *column < count)
            {
                let (from, to) = (group[column].max(group[row]), group[column].min(group[row]));
                group
                    .iter_mut()
                    .filter(|each| **each == from)
                    .for_each(|each| *each = to);
            }
        }
        debug_assert!(system.equations.mass_matrix.is_none());
        let mut loops = Vec::new();
        for number in 0..count {
            let members = || (0..count).filter(|k| group[*k] == number).map(|k| &self.followers[k]);
            let unknowns: Vec<SymbolId> = members().map(|follower| follower.unknown).collect();
            if !unknowns.is_empty() {
                let guess = |follower: &Follower| closed.get(&follower.unknown).copied().unwrap_or(follower.guess);
                loops.push(AlgebraicLoop {
                    unknowns,
                    residuals: members().map(|follower| follower.residual).collect(),
                    linear: false,
                    owners: Vec::new(),
                    rated: Vec::new(),
                    guesses: members().map(guess).collect(),
                });
            }
        }
        loops
    }
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    let squares = a.iter().zip(b).map(|(a, b)| (a - b).powi(2));
    squares.sum::<f64>().sqrt()
}

fn evaluate(exprs: &Exprs, roots: &[ExprId], values: &FxHashMap<SymbolId, f64>) -> Vec<f64> {
    exprs.evaluate_unchecked(roots, &|symbol| values.get(&symbol).copied())
}
