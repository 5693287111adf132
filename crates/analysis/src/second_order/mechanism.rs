//! Lagrange's equations of a mechanism: `M(q) v' + C(q, v) v + D v + g(q) = Q(q, u)`, with q' = v.
//!
//! They are read off the equations with masses on the left. C follows from M by Christoffel's symbols, so that `M' - 2 C` is skew; D is what is
//! linear in the velocities. At random points it is checked that nothing is left over.

use super::partition::partition;
use lgm_algebra::expr::{ExprId, Exprs, Gradient, Node, SymbolId};
use lgm_equations::lowest_terms;
use lgm_model::Model;
use lgm_model::system::{MassForm, StateSystem};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Lagrange's equations over the parameters.
#[derive(Clone, Debug)]
pub struct Mechanism {
    /// The arena.
    pub exprs: Exprs,
    /// The velocities, states of the system.
    pub velocities: Vec<Arc<str>>,
    /// The displacement of each; none where nothing depends on it.
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

/// More velocities than this have too many symbols of Christoffel.
const MOST: usize = 12;

/// Tolerance of a residual beside its largest term.
const LEFT_OVER: f64 = 1e-8;

fn no_mechanism(note: &str) -> Box<Diagnostic> {
    let fault = Diagnostic::error(
        Code::LGM0715,
        "the equations are not Lagrange's equations of a mechanism",
    );
    let help = "linearise the model with `--equilibrium` or `--at`, or read its equations from `lgm equations`";
    Box::new(fault.note(note.to_string()).help(help))
}

/// Velocities with their displacements.
struct Motions {
    velocities: Vec<usize>,
    displacements: Vec<Option<usize>>,
}

/// Lagrange's equations of a system that has masses on the left. States that are neither velocities nor displacements, as the forces of springs,
/// stand in g.
pub fn mechanism(model: &Model, system: &StateSystem) -> Result<Mechanism, Box<Diagnostic>> {
    let form = system.mass_form.as_ref();
    let form = form.ok_or_else(|| no_mechanism("no masses depend on each other or on displacements"))?;
    let mut exprs = system.exprs.clone();
    let known = assigned(&mut exprs, form);
    let whole = |exprs: &mut Exprs, id: ExprId| exprs.substitute(&[id], |symbol| known.get(&symbol).copied())[0];
    let motions = motions(model, system, form, &mut exprs, &known)?;
    let places: FxHashMap<usize, usize> = motions
        .velocities
        .iter()
        .enumerate()
        .map(|(at, state)| (*state, at))
        .collect();
    let count = places.len();
    let zero = exprs.zero();
    let mut mass = vec![vec![zero; count]; count];
    let mut rights = Vec::with_capacity(count);
    for (row, state) in motions.velocities.iter().enumerate() {
        let equation = &form.equations[*state];
        for (column, factor) in &equation.terms {
            let Some(column) = places.get(&(*column as usize)) else {
                return Err(no_mechanism("a rate that is no acceleration stands beside masses"));
            };
            mass[row][*column] = whole(&mut exprs, *factor);
        }
        rights.push(whole(&mut exprs, equation.right));
    }
    let symbol = |state: usize| system.states[state].symbol;
    let v: Vec<SymbolId> = motions.velocities.iter().map(|state| symbol(*state)).collect();
    let q: Vec<Option<SymbolId>> = motions.displacements.iter().map(|state| state.map(symbol)).collect();
    let coriolis = christoffel(&mut exprs, &mass, &v, &q).ok_or_else(|| no_mechanism("M has no derivatives"))?;
    let is_velocity = |symbol: SymbolId| v.contains(&symbol).then_some(zero);
    let is_input = |symbol: SymbolId| system.inputs.iter().any(|input| input.symbol == symbol).then_some(zero);
    let mut gradient = Gradient::new(&mut exprs, &v);
    let (mut damping, mut potential, mut forces) = (Vec::new(), Vec::new(), Vec::new());
    for right in &rights {
        let row = gradient
            .row(&mut exprs, *right)
            .map_err(|_| no_mechanism("a force has no derivative"))?;
        let mut list = vec![zero; count];
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
    let mut found = Mechanism {
        exprs,
        velocities: motions
            .velocities
            .iter()
            .map(|state| system.states[*state].name.clone())
            .collect(),
        displacements: motions
            .displacements
            .iter()
            .map(|at| at.map(|at| system.states[at].name.clone()))
            .collect(),
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

/// The values of the named parts, each over symbols that are not named parts themselves.
fn assigned(exprs: &mut Exprs, form: &MassForm) -> FxHashMap<SymbolId, ExprId> {
    let mut known: FxHashMap<SymbolId, ExprId> = FxHashMap::default();
    for assignment in &form.assignments {
        let value = exprs.substitute(&[assignment.value], |symbol| known.get(&symbol).copied())[0];
        known.insert(assignment.symbol, value);
    }
    known
}

/// States whose rates are other states are displacements of these.
fn motions(
    model: &Model,
    system: &StateSystem,
    form: &MassForm,
    exprs: &mut Exprs,
    known: &FxHashMap<SymbolId, ExprId>,
) -> Result<Motions, Box<Diagnostic>> {
    let velocities = partition(model, system).p;
    let mut displaced: FxHashMap<SymbolId, usize> = FxHashMap::default();
    for (at, equation) in form.equations.iter().enumerate() {
        let right = exprs.substitute(&[equation.right], |symbol| known.get(&symbol).copied())[0];
        let is_own = matches!(equation.terms[..], [(state, factor)] if state as usize == at && exprs.is_one(factor));
        if let (Node::Symbol(symbol), true) = (exprs.node(right), is_own) {
            displaced.entry(*symbol).or_insert(at);
        }
    }
    let all = velocities
        .iter()
        .map(|state| displaced.get(&system.states[*state].symbol).copied());
    let displacements: Vec<Option<usize>> = all.collect();
    if velocities.is_empty() || velocities.len() > MOST {
        return Err(no_mechanism("there are from 1 to 12 velocities of inertias"));
    }
    Ok(Motions {
        velocities,
        displacements,
    })
}

/// `C_ij = sum_k (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) v_k/2`
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
    /// Checks at some points that M is symmetric and that all forces are there.
    fn check(&mut self, system: &StateSystem, rights: &[ExprId], v: &[SymbolId]) -> Result<(), Box<Diagnostic>> {
        let count = v.len();
        let parameters = crate::values::parameter_values(system);
        let mut roots: Vec<ExprId> = self
            .mass
            .iter()
            .chain(&self.coriolis)
            .chain(&self.damping)
            .flatten()
            .copied()
            .collect();
        roots.extend(self.potential.iter().chain(&self.forces).chain(rights));
        for point in 1..=3 {
            let value = |symbol: SymbolId| {
                // Fractions of multiples of an irrational number lie everywhere.
                let place = (f64::from(symbol.0 + 1) * 0.618_033_988_749_894_9 * f64::from(point)).fract();
                parameters.get(&symbol).copied().or(Some(place - 0.35))
            };
            let found = self.exprs.evaluate_unchecked(&roots, &value);
            let (matrices, lists) = found.split_at(3 * count * count);
            let entry = |matrix: usize, row: usize, column: usize| matrices[(matrix * count + row) * count + column];
            let largest = found.iter().map(|value| value.abs()).fold(0.0, f64::max);
            for row in 0..count {
                let mut left = lists[row] - lists[count + row] + lists[2 * count + row];
                for (column, velocity) in v.iter().enumerate().take(count) {
                    let speed = value(*velocity).unwrap_or(0.0);
                    left += (entry(1, row, column) + entry(2, row, column)) * speed;
                    let skew = entry(0, row, column) - entry(0, column, row);
                    if skew.is_nan() || skew.abs() > LEFT_OVER * largest {
                        return Err(no_mechanism("the masses are not symmetric"));
                    }
                }
                if left.is_nan() || left.abs() > LEFT_OVER * largest {
                    return Err(no_mechanism(
                        "some forces are no inertial forces, and not linear in the velocities",
                    ));
                }
            }
        }
        Ok(())
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
