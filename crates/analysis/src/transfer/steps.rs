//! The elimination of states behind a differential equation between an input and an output, one step at a time.
//!
//! [`quotients`](super::elimination::quotients) eliminates states in an order with little fill-in. Here the order is that of a derivation by
//! hand: states outside the output equation first, and each from an equation that contains it without a derivative, if there is one.

use super::elimination::System;
use super::functions::Symbols;
use crate::between::states_between;
use lgm_algebra::{Polynomial, RationalFunction, RationalFunctions, Row, Variable, eliminate_unknowns};
use lgm_model::system::StateSystem;
use std::cmp::Reverse;
use std::sync::Arc;

/// A variable with the coefficients of its derivatives, highest first.
pub type Term = (Arc<str>, Vec<String>);

/// One equation: terms in states and the output add up to a term in the input. Its coefficients have no common factor.
#[derive(Clone, Debug)]
pub struct EliminationStep {
    /// The terms on the left.
    pub left: Vec<Term>,
    /// The term on the right.
    pub right: Term,
    /// The origin of the equation; `None` for a state equation or the output equation.
    pub because: Option<Combination>,
}

/// Two equations, numbered from 1, and the state that their combination no longer contains.
#[derive(Clone, Debug)]
pub struct Combination {
    /// The equation that was substituted into.
    pub into: usize,
    /// The equation that gives the state.
    pub by: usize,
    /// The state.
    pub without: Arc<str>,
}

/// An equation as a row whose sum is zero: states, the output, the input.
struct Equation {
    row: Row<Polynomial>,
    /// The equation substituted into, the substituted one, and the eliminated column.
    because: Option<(usize, usize, u32)>,
}

/// Returns the state equations and the output equation between an input and an output, and the equations that follow by eliminating the
/// states; the last one has none. `None` if the coefficients are too long, or contain roots or sines.
pub fn elimination_steps(system: &StateSystem, input: usize, output: usize) -> Option<Vec<EliminationStep>> {
    let mut symbols = Symbols::of(system)?;
    let (inputs, outputs) = ([input], [output]);
    let states = states_between(&symbols.form, &inputs, &outputs, &RationalFunction::is_zero);
    let rows = System {
        form: &symbols.form,
        s: symbols.s,
        states: &states,
        inputs: &inputs,
        outputs: &outputs,
    };
    let rows = rows.rows(&mut symbols.field);
    let rows = eliminate_unknowns(&mut symbols.field, 0, rows).ok()??;
    let start = rows.into_iter().map(|row| Equation { row, because: None });
    let count = states.len() as u32;
    let equations = eliminated(&mut symbols.field, start.collect(), count, symbols.s)?;
    let state = |column: u32| system.states[states[column as usize] as usize].name.clone();
    let mut steps = Vec::with_capacity(equations.len());
    for equation in equations {
        let is_last = |entry: &(u32, Polynomial)| entry.0 > count;
        let (right, mut left): (Vec<_>, Vec<_>) = equation.row.into_iter().partition(is_last);
        left.sort_by_key(|(column, value)| (Reverse(value.degree(symbols.s)), Reverse(*column == count)));
        let is_negative = left
            .first()
            .and_then(|entry| entry.1.coefficients_in(symbols.s).pop())
            .is_some_and(|highest| highest.is_negative());
        let mut term = |name, value: &Polynomial, flips: bool| {
            let value = if flips { value.neg() } else { value.clone() };
            (name, symbols.coefficients(&value))
        };
        let right = right.first().map_or(Polynomial::zero(), |entry| entry.1.clone());
        let right = term(system.inputs[input].name.clone(), &right, !is_negative);
        let name = |column| match column == count {
            true => system.outputs[output].name.clone(),
            false => state(column),
        };
        steps.push(EliminationStep {
            left: (left.iter())
                .map(|(column, value)| term(name(*column), value, is_negative))
                .collect(),
            right,
            because: equation.because.map(|(into, by, column)| Combination {
                into: into + 1,
                by: by + 1,
                without: state(column),
            }),
        });
    }
    Some(steps)
}

/// Eliminates the states from the equations, which are the first columns, and appends each result.
fn eliminated(
    field: &mut RationalFunctions,
    mut equations: Vec<Equation>,
    states: u32,
    s: Variable,
) -> Option<Vec<Equation>> {
    let mut open: Vec<usize> = (0..equations.len()).collect();
    for _ in 0..states {
        let (column, source) = next(&equations, &open, states, s)?;
        open.retain(|at| *at != source);
        for place in &mut open {
            let target = *place;
            if entry(&equations[target].row, column).is_none() {
                continue;
            }
            let row = without(field, column, &equations[source].row, &equations[target].row)?;
            *place = equations.len();
            equations.push(Equation {
                row,
                because: Some((target, source, column)),
            });
        }
    }
    Some(equations)
}

/// Returns the next state to eliminate and the equation that gives it: the simplest by hand.
fn next(equations: &[Equation], open: &[usize], states: u32, s: Variable) -> Option<(u32, usize)> {
    let holding = |column: u32| {
        open.iter()
            .filter(move |at| entry(&equations[**at].row, column).is_some())
    };
    let is_in_output = |column| holding(column).any(|at| entry(&equations[*at].row, states).is_some());
    let candidates = (0..states).flat_map(|column| holding(column).map(move |at| (column, *at)));
    candidates.min_by_key(|(column, at)| {
        let row = &equations[*at].row;
        let order = entry(row, *column).map_or(0, |value| value.degree(s));
        let others = holding(*column).filter(|other| *other != at);
        let length: usize = others.map(|other| equations[*other].row.len()).sum();
        (is_in_output(*column), order, row.len(), length, *column, *at)
    })
}

fn entry(row: &Row<Polynomial>, column: u32) -> Option<&Polynomial> {
    let place = row.binary_search_by_key(&column, |entry| entry.0).ok()?;
    Some(&row[place].1)
}

/// Returns the combination of two rows without a column.
fn without(
    field: &mut RationalFunctions,
    column: u32,
    source: &Row<Polynomial>,
    target: &Row<Polynomial>,
) -> Option<Row<Polynomial>> {
    // The eliminated column comes first.
    let moved = |row: &Row<Polynomial>| {
        let place = |own: u32| match own.cmp(&column) {
            std::cmp::Ordering::Less => own + 1,
            std::cmp::Ordering::Equal => 0,
            std::cmp::Ordering::Greater => own,
        };
        let mut row: Row<RationalFunction> = (row.iter())
            .map(|(own, value)| (place(*own), RationalFunction::from(value.clone())))
            .collect();
        row.sort_unstable_by_key(|entry| entry.0);
        row
    };
    let pair = vec![moved(source), moved(target)];
    let found = eliminate_unknowns(field, 1, pair).ok()??.pop()?;
    let back = |(own, value): (u32, Polynomial)| (own + u32::from(own >= column), value);
    Some(found.into_iter().map(back).collect())
}
