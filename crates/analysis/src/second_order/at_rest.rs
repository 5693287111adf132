//! Second-order equations of a mechanism near an equilibrium, from its Lagrange equations: `M(q0) x'' + D x' + (dg/dq - dQ/dq) x = dQ/du u`.
//!
//! Where the mechanism is at rest, the terms with C and the derivatives of M vanish exactly. Matrices that are linearised before they are
//! solved stay short.

use super::{SecondOrder, coordinate, mechanism};
use crate::eigen::storage::StorageOutputs;
use crate::values::parameter_values;
use lgm_algebra::expr::{ExprId, Exprs, Gradient, SymbolId};
use lgm_equations::{is_large, lowest_terms};
use lgm_model::Model;
use lgm_model::system::{OperatingPoint, StateSystem};
use rustc_hash::FxHashMap;

/// The largest difference from the numeric linearisation, relative to the largest term of a row.
const LEFT_OVER: f64 = 1e-8;

/// Derives the second-order equations at the equilibrium of `linear`, the linearisation of `system`. `None` if the equations are not those
/// of a mechanism at rest, or if they are too long.
pub fn mechanism_at_rest(
    model: &Model,
    system: &StateSystem,
    linear: &StateSystem,
    storage: &[StorageOutputs],
) -> Option<SecondOrder> {
    let point = linear.linearized_at.as_ref()?;
    let is_same = system.exprs.len() <= linear.exprs.len()
        && system
            .exprs
            .ids()
            .all(|id| system.exprs.node(id) == linear.exprs.node(id));
    if !is_same || system.equations.linear {
        return None;
    }
    let mut system = system.clone();
    system.exprs = linear.exprs.clone();
    let found = mechanism(model, &system, storage).ok()?;
    let place = |name: &str| system.states.iter().position(|state| &*state.name == name);
    let velocities: Vec<usize> = found.velocities.iter().map(|name| place(name)).collect::<Option<_>>()?;
    if velocities.iter().any(|state| point.states[*state].value != 0.0) {
        return None;
    }
    let mut near = Near {
        exprs: found.exprs,
        at: values(&system, point),
        is_short: true,
    };
    let exprs = &mut near.exprs;
    let net: Vec<ExprId> = (found.potential.iter().zip(&found.forces))
        .map(|(potential, force)| exprs.sub(*potential, *force))
        .collect();
    let symbols: Vec<SymbolId> = system.states.iter().map(|state| state.symbol).collect();
    let by_states = near.jacobian(&net, &symbols)?;
    let own: Vec<SymbolId> = velocities.iter().map(|state| symbols[*state]).collect();
    // Every other state follows the displacements: its rate is linear in the velocities alone.
    let rates = near.other_rates(&system, &velocities);
    let of_rates = near.jacobian(&rates, &symbols)?;
    let mut stiffness = vec![vec![near.exprs.zero(); own.len()]; own.len()];
    for (state, rate) in of_rates
        .iter()
        .enumerate()
        .filter(|entry| !velocities.contains(&entry.0))
    {
        let is_read = by_states.iter().any(|row| !near.exprs.is_zero(row[state]));
        let mut others = (0..symbols.len()).filter(|other| !velocities.contains(other));
        if is_read && others.any(|other| !near.exprs.is_zero(rate[other])) {
            return None;
        }
        for (row, list) in stiffness.iter_mut().enumerate() {
            for (entry, velocity) in list.iter_mut().zip(&velocities) {
                let term = near.exprs.mul(by_states[row][state], rate[*velocity]);
                *entry = near.exprs.add(*entry, term);
            }
        }
    }
    let declared: Vec<SymbolId> = system.declared_inputs().map(|input| input.symbol).collect();
    let input = near.jacobian(&found.forces, &declared)?;
    let input_derivative = near.jacobian(&found.forces, &system.input_rates[..declared.len()])?;
    let driven = near.jacobian(&rates, &declared)?;
    if driven.iter().flatten().any(|entry| !near.exprs.is_zero(*entry)) {
        return None;
    }
    let (mass, damping) = (near.matrix(&found.mass), near.matrix(&found.damping));
    let stiffness = near.matrix(&stiffness);
    let [gyroscopic, circulatory] = [&damping, &stiffness].map(|rows| near.skew(rows));
    let nothing = vec![vec![near.exprs.zero(); declared.len()]; own.len()];
    let is_sound = agrees(linear, &near.exprs, [&mass, &damping, &by_states], &velocities);
    (near.is_short && is_sound).then(|| SecondOrder {
        coordinates: velocities.iter().map(|state| coordinate(&system, *state)).collect(),
        exprs: near.exprs,
        mass,
        damping,
        stiffness,
        gyroscopic,
        circulatory,
        input,
        input_integral: nothing,
        input_derivative,
    })
}

/// Returns the values at the point, in terms of the parameters.
fn values(system: &StateSystem, point: &OperatingPoint) -> FxHashMap<SymbolId, ExprId> {
    let states = system.states.iter().map(|state| state.symbol).zip(&point.states);
    let inputs = system.inputs.iter().map(|input| input.symbol).zip(&point.inputs);
    states
        .chain(inputs)
        .map(|(symbol, value)| (symbol, value.expression))
        .collect()
}

/// Expressions at the point.
struct Near {
    exprs: Exprs,
    at: FxHashMap<SymbolId, ExprId>,
    is_short: bool,
}

impl Near {
    /// Returns the rates of all states that are not velocities, with shared parts expanded; 0 for velocities.
    fn other_rates(&mut self, system: &StateSystem, velocities: &[usize]) -> Vec<ExprId> {
        let mut known: FxHashMap<SymbolId, ExprId> = FxHashMap::default();
        for assignment in &system.equations.assignments {
            let value = self
                .exprs
                .substitute(&[assignment.value], |symbol| known.get(&symbol).copied())[0];
            known.insert(assignment.symbol, value);
        }
        let mut rates = system.equations.derivatives.clone();
        velocities.iter().for_each(|state| rates[*state] = self.exprs.zero());
        self.exprs.substitute(&rates, |symbol| known.get(&symbol).copied())
    }

    /// Returns an expression at the point in its shortest form.
    fn value(&mut self, id: ExprId) -> ExprId {
        let (at, exprs) = (&self.at, &mut self.exprs);
        let value = exprs.substitute(&[id], |symbol| at.get(&symbol).copied())[0];
        if is_large(exprs, value) {
            self.is_short = false;
            return value;
        }
        lowest_terms(exprs, value)
    }

    fn matrix(&mut self, rows: &[Vec<ExprId>]) -> Vec<Vec<ExprId>> {
        rows.iter()
            .map(|row| row.iter().map(|id| self.value(*id)).collect())
            .collect()
    }

    /// Returns the derivatives of expressions at the point.
    fn jacobian(&mut self, roots: &[ExprId], symbols: &[SymbolId]) -> Option<Vec<Vec<ExprId>>> {
        let mut gradient = Gradient::new(&mut self.exprs, symbols);
        let mut found = Vec::with_capacity(roots.len());
        for root in roots {
            let row = gradient.row(&mut self.exprs, *root).ok()?;
            let mut list = vec![self.exprs.zero(); symbols.len()];
            for (column, value) in row.iter() {
                list[*column as usize] = self.value(*value);
            }
            found.push(list);
        }
        Some(found)
    }

    /// Returns the skew part of a square matrix.
    fn skew(&mut self, rows: &[Vec<ExprId>]) -> Vec<Vec<ExprId>> {
        let two = self.exprs.integer(2);
        let mut found = vec![vec![self.exprs.zero(); rows.len()]; rows.len()];
        for (row, list) in found.iter_mut().enumerate() {
            for (column, entry) in list.iter_mut().enumerate().filter(|entry| entry.0 != row) {
                let difference = self.exprs.sub(rows[row][column], rows[column][row]);
                let half = self.exprs.div(difference, two);
                *entry = lowest_terms(&mut self.exprs, half);
            }
        }
        found
    }
}

/// Returns true if `M A = -(dg - dQ)` holds for the numeric matrix A of the linearisation, which is derived without the masses.
fn agrees(
    linear: &StateSystem,
    exprs: &Exprs,
    [mass, damping, by_states]: [&[Vec<ExprId>]; 3],
    velocities: &[usize],
) -> bool {
    let Some(form) = &linear.matrices.numeric else {
        return false;
    };
    let parameters = parameter_values(linear);
    let number = |id: ExprId| exprs.evaluate_unchecked(&[id], &|symbol| parameters.get(&symbol).copied())[0];
    (0..velocities.len()).all(|row| {
        let masses: Vec<f64> = mass[row].iter().map(|id| number(*id)).collect();
        (0..linear.states.len()).all(|column| {
            let rate = |at: usize| form.a.get(velocities[at], column).copied().unwrap_or(0.0);
            let mut terms: Vec<f64> = masses.iter().enumerate().map(|(at, mass)| mass * rate(at)).collect();
            terms.push(number(by_states[row][column]));
            terms.extend(
                velocities
                    .iter()
                    .position(|own| *own == column)
                    .map(|at| number(damping[row][at])),
            );
            let largest = terms.iter().map(|term| term.abs()).fold(0.0, f64::max);
            let scale = largest.max(masses[row].abs() * 1e-6);
            terms.iter().sum::<f64>().abs() <= LEFT_OVER * scale
        })
    })
}
