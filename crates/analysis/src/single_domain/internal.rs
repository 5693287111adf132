//! The network at a port in state space, for networks that are not ladders or whose inner variables are outputs.

use super::names::sum;
use crate::between::states_between;
use crate::values::decimal;
use lgm_algebra::expr::{ExprId, Exprs, text};
use lgm_equations::lowest_terms;
use lgm_model::system::{LinearForm, SparseMatrix, StateSystem};

/// `z' = A z + B u`, `y = C z + D u + F u'` with `z = x - E u`, in terms of the parameters or as numbers. The last input is the variable
/// set at the port, and the first output is the port's other variable.
pub(super) struct Internal {
    exprs: Exprs,
    a: Vec<Vec<(u32, ExprId)>>,
    b: Vec<Vec<(u32, ExprId)>>,
    c: Vec<Vec<(u32, ExprId)>>,
    d: Vec<Vec<(u32, ExprId)>>,
    f: Vec<Vec<(u32, ExprId)>>,
    /// The input that is set at the port.
    test: u32,
}

/// Fractions with more characters than this are written as decimals.
const LONG: usize = 20;

/// The value of an element at the port, and its reciprocal.
pub(super) type Value = (String, String);

impl Internal {
    /// Derives the equations of a system; `None` if it has no matrices.
    pub(super) fn new(system: &StateSystem, is_numeric: bool) -> Option<Internal> {
        let mut exprs = system.exprs.clone();
        let form: LinearForm<ExprId> = match (&system.matrices.symbolic, is_numeric) {
            (Some(form), false) => form.clone(),
            _ => {
                let numeric = system.matrices.numeric.as_ref()?;
                crate::values::try_map(numeric, |value| Some(decimal(&mut exprs, *value)))?
            }
        };
        let count = system.declared_inputs().count();
        let inputs: Vec<usize> = (0..count).collect();
        let outputs: Vec<usize> = (0..system.outputs.len()).collect();
        let states = states_between(&form, &inputs, &outputs, &|id| exprs.is_zero(*id));
        let kept = |row: &[(u32, ExprId)]| -> Vec<(u32, ExprId)> {
            let moved = row.iter().filter_map(|(column, value)| {
                let place = states.binary_search(column).ok()?;
                Some((place as u32, *value))
            });
            moved.collect()
        };
        let rows = |matrix: &SparseMatrix<ExprId>| -> Vec<Vec<(u32, ExprId)>> {
            states
                .iter()
                .map(|state| matrix.rows[*state as usize].clone())
                .collect()
        };
        let a: Vec<_> = rows(&form.a).iter().map(|row| kept(row)).collect();
        let c: Vec<_> = form.c.rows.iter().map(|row| kept(row)).collect();
        let e = rows(&form.e);
        let mut added = |direct: &[Vec<(u32, ExprId)>], through: &[Vec<(u32, ExprId)>]| {
            let pairs = direct.iter().zip(through);
            pairs
                .map(|(direct, through)| with_rates(&mut exprs, direct, through, &e))
                .collect::<Vec<_>>()
        };
        let b = added(&rows(&form.b), &a);
        let d = added(&form.d.rows, &c);
        Some(Internal {
            a,
            b,
            c,
            d,
            f: form.f.rows.clone(),
            exprs,
            test: count.checked_sub(1)? as u32,
        })
    }

    /// The number of states.
    pub(super) fn order(&self) -> usize {
        self.a.len()
    }

    /// Formats an expression; a long fraction becomes a decimal.
    fn written(&self, id: ExprId) -> String {
        let shown = text(&self.exprs, id);
        match self.exprs.as_number(id) {
            Some(number) if shown.len() > LONG => crate::values::in_digits(number),
            _ => shown,
        }
    }

    fn value(&mut self, row: &[(u32, ExprId)]) -> Option<Value> {
        let value = row.iter().find(|entry| entry.0 == self.test)?.1;
        if self.exprs.is_zero(value) {
            return None;
        }
        let one = self.exprs.one();
        let inverse = self.exprs.div(one, value);
        let inverse = lowest_terms(&mut self.exprs, inverse);
        Some((self.written(value), self.written(inverse)))
    }

    /// Returns the direct response of the port, the factor of the set variable; `None` if it is 0.
    pub(super) fn direct(&mut self) -> Option<Value> {
        let row = self.d[0].clone();
        self.value(&row)
    }

    /// Returns the factor of the set variable's rate; `None` if it is 0.
    pub(super) fn rate(&mut self) -> Option<Value> {
        let row = self.f[0].clone();
        self.value(&row)
    }

    fn terms(&self, row: &[(u32, ExprId)], names: &[String]) -> Vec<(String, String)> {
        let term = |(column, value): &(u32, ExprId)| (text(&self.exprs, *value), names[*column as usize].clone());
        row.iter().map(term).collect()
    }

    /// Formats the rate of a state in terms of the names of states and inputs; the set variable is the last input.
    pub(super) fn state_rate(&self, state: usize, states: &[String], inputs: &[String]) -> String {
        let mut terms = self.terms(&self.a[state], states);
        terms.extend(self.terms(&self.b[state], inputs));
        sum(terms)
    }

    /// Formats an output. The port's output omits the direct parts of the set variable, which are separate elements.
    pub(super) fn output(&self, output: usize, states: &[String], inputs: &[String]) -> String {
        let is_shown = |entry: &&(u32, ExprId)| output > 0 || entry.0 != self.test;
        let of = |row: &[(u32, ExprId)]| row.iter().filter(is_shown).copied().collect::<Vec<_>>();
        let mut terms = self.terms(&self.c[output], states);
        terms.extend(self.terms(&of(&self.d[output]), inputs));
        let rates: Vec<String> = inputs.iter().map(|name| format!("der({name})")).collect();
        terms.extend(self.terms(&of(&self.f[output]), &rates));
        sum(terms)
    }
}

/// Formats a row with `through E` added.
fn with_rates(
    exprs: &mut Exprs,
    direct: &[(u32, ExprId)],
    through: &[(u32, ExprId)],
    e: &[Vec<(u32, ExprId)>],
) -> Vec<(u32, ExprId)> {
    let mut row = direct.to_vec();
    for (state, factor) in through {
        for (input, rate) in &e[*state as usize] {
            let product = exprs.mul(*factor, *rate);
            match row.iter_mut().find(|entry| entry.0 == *input) {
                Some(entry) => entry.1 = exprs.add(entry.1, product),
                None => row.push((*input, product)),
            }
        }
    }
    for entry in &mut row {
        entry.1 = lowest_terms(exprs, entry.1);
    }
    row.retain(|entry| !exprs.is_zero(entry.1));
    row.sort_unstable_by_key(|entry| entry.0);
    row
}
