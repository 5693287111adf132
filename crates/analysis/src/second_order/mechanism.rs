//! Lagrange's equations of a mechanism: `M(q) v' + C(q, v) v + D v + g(q) = Q(q, u)`, with q' = v.
//!
//! M is the matrix of the kinetic energy, including masses that transformers couple to the velocities that are states. C follows from M by
//! the Christoffel symbols, so that `M' - 2 C` is skew; D contains the terms linear in the velocities. At some points the equations are
//! checked for missing terms.

use super::partition::partition;
use super::{energies, moving};
use crate::eigen::storage::StorageOutputs;
use lgm_algebra::expr::{ExprId, Exprs, Gradient, Node, SymbolId};
use lgm_algebra::{Field, FromExpression, RationalFunction, RationalFunctions, are_equal};
use lgm_equations::{is_large, lowest_terms};
use lgm_model::system::{SparseMatrix, StateSystem};
use lgm_model::{Model, Variable};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Lagrange's equations in terms of the parameters.
#[derive(Clone, Debug)]
pub struct Mechanism {
    /// The arena.
    pub exprs: Exprs,
    /// The velocities, states of the system.
    pub velocities: Vec<Arc<str>>,
    /// The displacement of each velocity; none if no equation depends on it.
    pub displacements: Vec<Option<Arc<str>>>,
    /// M, symmetric.
    pub mass: Vec<Vec<ExprId>>,
    /// C, linear in the velocities.
    pub coriolis: Vec<Vec<ExprId>>,
    /// D.
    pub damping: Vec<Vec<ExprId>>,
    /// g.
    pub potential: Vec<ExprId>,
    /// Q.
    pub forces: Vec<ExprId>,
}

/// The maximum number of velocities; more require too many Christoffel symbols.
const MOST: usize = 12;

/// The largest residual of an identity, relative to its largest term: far above round-off, far below a missing term.
const LEFT_OVER: f64 = 1e-8;

/// The number of points at which the equations are checked.
const TRIED: u32 = 9;

/// The maximum number of term operations for the masses.
const OPERATIONS: u64 = 2_000_000;

fn no_mechanism(note: &str) -> Box<Diagnostic> {
    let fault = Diagnostic::error(
        Code::LGM0715,
        "the equations are not Lagrange's equations of a mechanism",
    );
    let help = "linearise the model with `--equilibrium` or `--at`, or see its equations with `lgm equations`";
    Box::new(fault.note(note.to_string()).help(help))
}

/// The equations over the symbols of states, inputs and parameters, with shared parts expanded.
struct Written {
    exprs: Exprs,
    /// The values of the shared parts of the rates and outputs, and of the equations over masses.
    known: FxHashMap<SymbolId, ExprId>,
}

impl Written {
    fn whole(&mut self, id: ExprId) -> ExprId {
        let known = &self.known;
        self.exprs.substitute(&[id], |symbol| known.get(&symbol).copied())[0]
    }
}

/// Derives Lagrange's equations of a system whose outputs are the outputs of [`with_storage_outputs`](crate::with_storage_outputs). States
/// that are neither velocities nor displacements, such as spring forces, are in g.
pub fn mechanism(
    model: &Model,
    system: &StateSystem,
    storage: &[StorageOutputs],
) -> Result<Mechanism, Box<Diagnostic>> {
    let mut written = Written::of(system);
    let (velocities, mass) = masses(model, system, storage, &mut written)?;
    let displacements = displacements(system, &velocities, &mass, &mut written)?;
    let (mass, rights) = equations(system, &velocities, mass, &mut written)?;
    let mut exprs = written.exprs;
    let symbol = |state: usize| system.states[state].symbol;
    let v: Vec<SymbolId> = velocities.iter().map(|state| symbol(*state)).collect();
    let q: Vec<Option<SymbolId>> = displacements.iter().map(|state| state.map(symbol)).collect();
    let zero = exprs.zero();
    let coriolis = christoffel(&mut exprs, &mass, &v, &q).ok_or_else(|| no_mechanism("M has no derivatives"))?;
    let is_velocity = |symbol: SymbolId| v.contains(&symbol).then_some(zero);
    let inputs = system.inputs.iter().map(|input| input.symbol);
    let given: FxHashSet<SymbolId> = inputs.chain(system.input_rates.iter().copied()).collect();
    let is_input = |symbol: SymbolId| given.contains(&symbol).then_some(zero);
    let mut gradient = Gradient::new(&mut exprs, &v);
    let (mut damping, mut potential, mut forces) = (Vec::new(), Vec::new(), Vec::new());
    for right in &rights {
        let row = gradient
            .row(&mut exprs, *right)
            .map_err(|_| no_mechanism("a force has no derivative"))?;
        let mut list = vec![zero; v.len()];
        for (column, rate) in row.iter() {
            let rest = exprs.substitute(&[*rate], |symbol| is_velocity(symbol).or(is_input(symbol)))[0];
            list[*column as usize] = exprs.neg(rest);
        }
        damping.push(list);
        let at_rest = exprs.substitute(&[*right], is_velocity)[0];
        let unforced = exprs.substitute(&[at_rest], is_input)[0];
        potential.push(exprs.neg(unforced));
        forces.push(exprs.sub(at_rest, unforced));
    }
    let name = |state: usize| system.states[state].name.clone();
    let mut found = Mechanism {
        exprs,
        velocities: velocities.iter().map(|state| name(*state)).collect(),
        displacements: displacements.iter().map(|state| state.map(name)).collect(),
        mass,
        coriolis,
        damping,
        potential,
        forces,
    };
    found.check(system, &rights, &v)?;
    found.shorten();
    Ok(found)
}

impl Written {
    fn of(system: &StateSystem) -> Written {
        let mut written = Written {
            exprs: system.exprs.clone(),
            known: FxHashMap::default(),
        };
        let of_form = system.equations.mass_form.iter().flat_map(|form| &form.assignments);
        for assignment in system.equations.assignments.iter().chain(of_form) {
            let value = written.whole(assignment.value);
            written.known.insert(assignment.symbol, value);
        }
        written
    }
}

/// A matrix as rows.
type Matrix = Vec<Vec<ExprId>>;

/// Returns the states that are velocities, and M: `J' m J` summed over all storage, where J expresses the co-energy variables in the
/// velocities.
fn masses(
    model: &Model,
    system: &StateSystem,
    storage: &[StorageOutputs],
    written: &mut Written,
) -> Result<(Vec<usize>, Matrix), Box<Diagnostic>> {
    let symbols: Vec<SymbolId> = system.states.iter().map(|state| state.symbol).collect();
    let mut gradient = Gradient::new(&mut written.exprs, &symbols);
    let mut field = RationalFunctions::new(OPERATIONS, RationalFunctions::DEFAULT_TERMS);
    let too_long = || no_mechanism("the masses are too long to write out");
    let mut c = SparseMatrix {
        rows: vec![Vec::new(); system.outputs.len()],
        columns: symbols.len(),
    };
    for each in storage {
        for output in each.first..each.first + each.ports {
            let value = written.whole(system.equations.output_values[output]);
            let row = gradient.row(&mut written.exprs, value);
            let row = row.map_err(|_| no_mechanism("a velocity has no derivative"))?;
            for (column, rate) in row.iter() {
                let rate = lowest_terms(&mut written.exprs, *rate);
                let rate = field.from_expression(&written.exprs, rate).map_err(|_| too_long())?;
                c.rows[output].push((*column, rate));
            }
        }
    }
    let moving = moving(model, &c, storage);
    let parts = partition(model, system);
    let is_velocity = |state: &usize| {
        let is_moving = moving.get(&(*state as u32)) == Some(&Variable::Flow);
        let is_own = system.states[*state].variable.is_co_energy() && parts.x.contains(state);
        parts.p.contains(state) || is_moving && is_own
    };
    let velocities: Vec<usize> = (0..symbols.len()).filter(is_velocity).collect();
    if velocities.is_empty() || velocities.len() > MOST {
        let note = format!(
            "there are {} velocities of inertias, but only 1 to {MOST} are supported",
            velocities.len()
        );
        return Err(no_mechanism(&note));
    }
    if let Some(state) = velocities
        .iter()
        .find(|state| !system.states[**state].variable.is_co_energy())
    {
        let note = format!(
            "`{}` is not the velocity of a linear inertia",
            system.states[*state].name
        );
        return Err(no_mechanism(&note));
    }
    let rows = energies(
        model,
        &mut field,
        (&written.exprs, None),
        (&c, storage),
        (&velocities, None),
    )?;
    if field.exhausted() {
        return Err(too_long());
    }
    let exprs = &mut written.exprs;
    let mut entry = |value: &RationalFunction| {
        let id = field.to_expression(exprs, value);
        lowest_terms(exprs, id)
    };
    let rows = rows.iter().map(|row| row.iter().map(&mut entry).collect()).collect();
    Ok((velocities, rows))
}

/// Returns the states whose rates are the velocities; the masses depend on no other states.
fn displacements(
    system: &StateSystem,
    velocities: &[usize],
    mass: &[Vec<ExprId>],
    written: &mut Written,
) -> Result<Vec<Option<usize>>, Box<Diagnostic>> {
    let roots: Vec<ExprId> = mass.iter().flatten().copied().collect();
    let parameters = system.parameters.iter().flat_map(|parameter| &parameter.entries);
    let parameters: FxHashSet<SymbolId> = parameters.map(|entry| entry.symbol).collect();
    let mut depends = written.exprs.symbols_of(&roots);
    depends.retain(|symbol| !parameters.contains(symbol));
    let mut displaced: FxHashMap<SymbolId, usize> = FxHashMap::default();
    for (at, rate) in system.equations.derivatives.iter().enumerate() {
        let rate = written.whole(*rate);
        if let Node::Symbol(velocity) = written.exprs.node(rate) {
            // If a velocity has several integrals, M depends on the relevant one.
            let is_needed = depends.contains(&system.states[at].symbol);
            match displaced.contains_key(velocity) && !is_needed {
                true => {}
                false => _ = displaced.insert(*velocity, at),
            }
        }
    }
    let of = |state: &usize| displaced.get(&system.states[*state].symbol).copied();
    let found: Vec<Option<usize>> = velocities.iter().map(of).collect();
    let is_displacement = |symbol: &SymbolId| found.iter().flatten().any(|at| system.states[*at].symbol == *symbol);
    match depends.iter().find(|symbol| !is_displacement(symbol)) {
        Some(symbol) => {
            let name = written.exprs.symbol_info(*symbol).name.clone();
            let note = match system.equations.loops.iter().any(|each| each.unknowns.contains(symbol)) {
                true => {
                    format!("M depends on `{name}`, which is determined by the position equation of a closed chain")
                }
                false => format!("M depends on `{name}`, whose rate is not one of the velocities"),
            };
            Err(no_mechanism(&note))
        }
        None => Ok(found),
    }
}

/// Returns M, and the product of M and the accelerations.
///
/// Equations over masses that contain these masses, or multiples of them, are used unchanged. Otherwise M is multiplied by the rates.
fn equations(
    system: &StateSystem,
    velocities: &[usize],
    mut mass: Matrix,
    written: &mut Written,
) -> Result<(Matrix, Vec<ExprId>), Box<Diagnostic>> {
    let mut rights = Vec::with_capacity(velocities.len());
    for (row, state) in velocities.iter().enumerate() {
        let found = match row_of_form(system, velocities, *state, written) {
            Some((own, right)) => right_of_row(&mut mass[row], &own, right, row, &mut written.exprs),
            None => None,
        };
        let right = match found {
            Some(right) => right,
            None => {
                let mut terms = Vec::with_capacity(velocities.len());
                for (column, other) in velocities.iter().enumerate() {
                    let rate = written.whole(system.equations.derivatives[*other]);
                    terms.push(written.exprs.mul(mass[row][column], rate));
                }
                written.exprs.sum(terms)
            }
        };
        let right = lowest_terms(&mut written.exprs, right);
        if is_large(&written.exprs, right) {
            return Err(no_mechanism("the forces are too long to write out"));
        }
        rights.push(right);
    }
    let unknowns: FxHashSet<SymbolId> = system.equations.unknowns().collect();
    let symbols = written.exprs.symbols_of(&rights);
    match symbols.iter().find(|symbol| unknowns.contains(symbol)) {
        Some(symbol) => Err(no_mechanism(&format!(
            "the forces depend on `{}`, which follows from an equation that has no closed solution",
            written.exprs.symbol_info(*symbol).name
        ))),
        None => Ok((mass, rights)),
    }
}

/// Returns a state's equation in mass-matrix form: the coefficients of all accelerations, and the right-hand side.
fn row_of_form(
    system: &StateSystem,
    velocities: &[usize],
    state: usize,
    written: &mut Written,
) -> Option<(Vec<ExprId>, ExprId)> {
    let equation = &system.equations.mass_form.as_ref()?.equations[state];
    let mut own = vec![written.exprs.zero(); velocities.len()];
    for (column, factor) in &equation.terms {
        let place = velocities.iter().position(|other| *other == *column as usize)?;
        own[place] = written.whole(*factor);
    }
    Some((own, written.whole(equation.right)))
}

/// Returns the right-hand side of a row of M from an equation that is a multiple of it; `None` if it is not. If masses are equal, the form
/// in the equation is kept.
fn right_of_row(
    mass: &mut Vec<ExprId>,
    own: &[ExprId],
    right: ExprId,
    diagonal: usize,
    exprs: &mut Exprs,
) -> Option<ExprId> {
    let (wanted, given) = (mass[diagonal], own[diagonal]);
    if exprs.is_zero(given) {
        return None;
    }
    for (entry, other) in mass.iter().zip(own) {
        let (one, two) = (exprs.mul(*entry, given), exprs.mul(*other, wanted));
        if !are_equal(exprs, one, two) {
            return None;
        }
    }
    if are_equal(exprs, wanted, given) {
        *mass = own.to_vec();
        return Some(right);
    }
    let ratio = exprs.div(wanted, given);
    Some(exprs.mul(right, ratio))
}

/// Computes `C_ij = sum_k (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) v_k/2`.
fn christoffel(
    exprs: &mut Exprs,
    mass: &[Vec<ExprId>],
    v: &[SymbolId],
    q: &[Option<SymbolId>],
) -> Option<Vec<Vec<ExprId>>> {
    let count = v.len();
    let known: Vec<SymbolId> = q.iter().flatten().copied().collect();
    let column = |at: usize| q[at].and_then(|symbol| known.iter().position(|other| *other == symbol));
    let mut gradient = Gradient::new(exprs, &known);
    let mut rates = Vec::with_capacity(count * count);
    for entry in mass.iter().flatten() {
        rates.push(gradient.row(exprs, *entry).ok()?);
    }
    let rate = |row: usize, other: usize, by: usize| {
        let by = column(by)? as u32;
        let row = &rates[row * count + other];
        row.iter().find(|entry| entry.0 == by).map(|entry| entry.1)
    };
    let two = exprs.integer(2);
    let mut found = Vec::with_capacity(count);
    for i in 0..count {
        let mut list = Vec::with_capacity(count);
        for j in 0..count {
            let mut terms = Vec::new();
            for (k, velocity) in v.iter().enumerate() {
                let velocity = exprs.symbol(*velocity);
                let parts = [rate(i, j, k), rate(i, k, j), rate(j, k, i)];
                for (at, part) in parts.into_iter().enumerate() {
                    let Some(part) = part else { continue };
                    let term = exprs.mul(part, velocity);
                    terms.push(if at == 2 { exprs.neg(term) } else { term });
                }
            }
            let sum = exprs.sum(terms);
            list.push(exprs.div(sum, two));
        }
        found.push(list);
    }
    Some(found)
}

impl Mechanism {
    /// Checks at some points that M is symmetric and that no force is missing.
    fn check(&mut self, system: &StateSystem, rights: &[ExprId], v: &[SymbolId]) -> Result<(), Box<Diagnostic>> {
        let count = v.len();
        let parameters = crate::values::parameter_values(system);
        let matrices = [&self.mass, &self.coriolis, &self.damping];
        let mut roots: Vec<ExprId> = matrices.into_iter().flatten().flatten().copied().collect();
        roots.extend(self.potential.iter().chain(&self.forces).chain(rights));
        let mut checked = 0;
        for point in 1..=TRIED {
            let value = |symbol: SymbolId| {
                // Fractional parts of multiples of an irrational number are evenly distributed.
                let place = (f64::from(symbol.0 + 1) * 0.618_033_988_749_894_9 * f64::from(point)).fract();
                parameters.get(&symbol).copied().or(Some(place - 0.35))
            };
            let found = self.exprs.evaluate_unchecked(&roots, &value);
            if found.iter().any(|value| !value.is_finite()) {
                continue;
            }
            checked += 1;
            let (matrices, lists) = found.split_at(3 * count * count);
            let entry = |matrix: usize, row: usize, column: usize| matrices[(matrix * count + row) * count + column];
            for row in 0..count {
                let mut terms = vec![lists[row], -lists[count + row], lists[2 * count + row]];
                for (column, velocity) in v.iter().enumerate() {
                    let speed = value(*velocity).unwrap_or(0.0);
                    terms.extend([entry(1, row, column) * speed, entry(2, row, column) * speed]);
                    let skew = entry(0, row, column) - entry(0, column, row);
                    if skew.abs() > LEFT_OVER * (entry(0, row, row).abs() + entry(0, column, column).abs()) {
                        return Err(no_mechanism("the mass matrix is not symmetric"));
                    }
                }
                let largest = terms.iter().map(|value| value.abs()).fold(0.0, f64::max);
                if terms.iter().sum::<f64>().abs() > LEFT_OVER * largest {
                    return Err(no_mechanism(
                        "some forces are neither inertial forces nor linear in the velocities",
                    ));
                }
            }
        }
        match checked {
            0 => Err(no_mechanism("the equations have no finite values at the points tried")),
            _ => Ok(()),
        }
    }

    fn shorten(&mut self) {
        let exprs = &mut self.exprs;
        let matrices = self
            .mass
            .iter_mut()
            .chain(&mut self.coriolis)
            .chain(&mut self.damping)
            .flatten();
        for id in matrices.chain(&mut self.potential).chain(&mut self.forces) {
            *id = lowest_terms(exprs, *id);
        }
    }
}
