//! Transfer functions in lowest terms, by elimination of the states.
//!
//! The rows `(s I - A) x - (B + s E) u = 0` and `y - C x - (D + s F) u = 0` contain polynomials in s and the parameters. States are
//! eliminated from all rows in an order with little fill-in, and common factors are removed from each row. The remaining row of an output
//! is its differential equation.

use crate::between::states_between;
use lgm_algebra::{
    Field, Polynomial, RationalFunction, RationalFunctions, Row, Variable, eliminate_unknowns, gcd, solve,
};
use lgm_model::system::LinearForm;

/// A numerator and a denominator without a common factor: coefficients of the powers of s, in ascending order.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Quotient {
    pub(super) input: usize,
    pub(super) output: usize,
    pub(super) numerator: Vec<Polynomial>,
    pub(super) denominator: Vec<Polynomial>,
}

/// Returns the transfer functions from the inputs to the outputs, inputs outermost; `None` if the field's allowance is exhausted.
pub(super) fn quotients(
    field: &mut RationalFunctions,
    form: &LinearForm<RationalFunction>,
    s: Variable,
    inputs: &[usize],
    outputs: &[usize],
) -> Option<Vec<Quotient>> {
    let states = states_between(form, inputs, outputs, &RationalFunction::is_zero);
    let system = System {
        form,
        s,
        states: &states,
        inputs,
        outputs,
    };
    let rows = system.rows(field);
    let found = match eliminate_unknowns(field, states.len(), rows).ok()? {
        Some(rows) => system.quotients(field, &rows),
        None if field.exhausted() => return None,
        None => system.solved(field)?,
    };
    (!field.exhausted()).then_some(found)
}

/// The equations between some inputs and outputs.
pub(super) struct System<'a> {
    pub(super) form: &'a LinearForm<RationalFunction>,
    pub(super) s: Variable,
    pub(super) states: &'a [u32],
    pub(super) inputs: &'a [usize],
    pub(super) outputs: &'a [usize],
}

impl System<'_> {
    /// Returns the index of a state among the kept states.
    fn place(&self, state: u32) -> Option<u32> {
        self.states.binary_search(&state).ok().map(|place| place as u32)
    }

    /// Returns `constant + s*rate`, negated, in the columns of the inputs, which begin at `first`.
    fn input_columns(
        &self,
        field: &mut RationalFunctions,
        constant: &[(u32, RationalFunction)],
        rate: &[(u32, RationalFunction)],
        first: u32,
    ) -> Row<RationalFunction> {
        let get = |row: &[(u32, RationalFunction)], input: usize| {
            let place = row.binary_search_by_key(&(input as u32), |entry| entry.0).ok();
            place.map_or(RationalFunction::zero(), |place| row[place].1.clone())
        };
        let mut row = Vec::new();
        for (at, input) in self.inputs.iter().enumerate() {
            let moving = field.mul(&get(rate, *input), &RationalFunction::variable(self.s));
            let sum = field.add(&get(constant, *input), &moving);
            if !sum.is_zero() {
                row.push((first + at as u32, field.neg(&sum)));
            }
        }
        row
    }

    /// Returns `s I - A`, one row per state.
    fn matrix(&self, field: &mut RationalFunctions) -> Vec<Row<RationalFunction>> {
        let mut rows = Vec::with_capacity(self.states.len());
        for (at, state) in self.states.iter().enumerate() {
            let mut row: Row<RationalFunction> = Vec::new();
            let mut own = RationalFunction::variable(self.s);
            for (column, value) in &self.form.a.rows[*state as usize] {
                match self.place(*column) {
                    Some(place) if place as usize == at => own = field.sub(&own, value),
                    Some(place) if !value.is_zero() => row.push((place, field.neg(value))),
                    _ => {}
                }
            }
            row.push((at as u32, own));
            row.sort_unstable_by_key(|entry| entry.0);
            rows.push(row);
        }
        rows
    }

    /// Returns all rows; the columns of the states are followed by the columns of the outputs and of the inputs.
    pub(super) fn rows(&self, field: &mut RationalFunctions) -> Vec<Row<RationalFunction>> {
        let first_output = self.states.len() as u32;
        let first_input = first_output + self.outputs.len() as u32;
        let mut rows = self.matrix(field);
        for (row, state) in rows.iter_mut().zip(self.states) {
            let (b, e) = (&self.form.b.rows[*state as usize], &self.form.e.rows[*state as usize]);
            row.extend(self.input_columns(field, b, e, first_input));
        }
        for (at, output) in self.outputs.iter().enumerate() {
            let mut row: Row<RationalFunction> = Vec::new();
            for (column, value) in &self.form.c.rows[*output] {
                if let Some(place) = self.place(*column).filter(|_| !value.is_zero()) {
                    row.push((place, field.neg(value)));
                }
            }
            row.push((first_output + at as u32, RationalFunction::one()));
            let (d, f) = (&self.form.d.rows[*output], &self.form.f.rows[*output]);
            row.extend(self.input_columns(field, d, f, first_input));
            rows.push(row);
        }
        rows
    }

    /// Divides the rows of outputs without states, each of the form `p y + q_1 u_1 + .. = 0`.
    fn quotients(&self, field: &mut RationalFunctions, rows: &[Row<Polynomial>]) -> Vec<Quotient> {
        let mut found = Vec::with_capacity(self.inputs.len() * self.outputs.len());
        for (at_input, input) in self.inputs.iter().enumerate() {
            for (at, (row, output)) in rows.iter().zip(self.outputs).enumerate() {
                let entry = |column: usize| {
                    let place = row.binary_search_by_key(&(column as u32), |entry| entry.0).ok();
                    place.map_or(Polynomial::zero(), |place| row[place].1.clone())
                };
                let (numerator, denominator) = (entry(self.outputs.len() + at_input).neg(), entry(at));
                let common = gcd(&numerator, &denominator, &mut field.budget);
                let numerator = field.budget.quotient(&numerator, &common);
                let denominator = field.budget.quotient(&denominator, &common);
                found.push(with_sign(self.s, [*input, *output], &numerator, &denominator));
            }
        }
        found
    }

    /// Computes the quotients by solving for the states in the field's own operations, which include the relations of roots and sines.
    fn solved(&self, field: &mut RationalFunctions) -> Option<Vec<Quotient>> {
        let matrix = self.matrix(field);
        let mut right = Vec::with_capacity(matrix.len());
        for state in self.states {
            let (b, e) = (&self.form.b.rows[*state as usize], &self.form.e.rows[*state as usize]);
            let row = self.input_columns(field, b, e, 0).into_iter();
            right.push(
                row.map(|(column, value)| (column, field.neg(&value)))
                    .collect::<Vec<_>>(),
            );
        }
        let solution = solve(field, matrix, right).ok()?;
        let mut found = Vec::new();
        for (at, input) in self.inputs.iter().enumerate() {
            for output in self.outputs {
                let (d, f) = (&self.form.d.rows[*output], &self.form.f.rows[*output]);
                let direct = self.input_columns(field, d, f, 0);
                let mut sum = RationalFunction::zero();
                if let Some((_, value)) = direct.iter().find(|entry| entry.0 as usize == at) {
                    sum = field.neg(value);
                }
                for (column, value) in &self.form.c.rows[*output] {
                    let Some(place) = self.place(*column) else { continue };
                    let row = &solution[place as usize];
                    if let Some((_, state)) = row.iter().find(|entry| entry.0 as usize == at) {
                        let product = field.mul(value, state);
                        sum = field.add(&sum, &product);
                    }
                }
                let (numerator, denominator) = sum.into_parts();
                found.push(with_sign(self.s, [*input, *output], &numerator, &denominator));
            }
        }
        Some(found)
    }
}

/// Returns the quotient as coefficients of powers of s, with a positive first term in the denominator's highest coefficient.
pub(super) fn with_sign(
    s: Variable,
    [input, output]: [usize; 2],
    numerator: &Polynomial,
    denominator: &Polynomial,
) -> Quotient {
    let coefficients = |polynomial: &Polynomial| polynomial.coefficients_in(s);
    let (numerator, denominator) = (coefficients(numerator), coefficients(denominator));
    let is_negative = denominator.last().is_some_and(Polynomial::is_negative);
    let signed = |list: Vec<Polynomial>| match is_negative {
        true => list.iter().map(Polynomial::neg).collect(),
        false => list,
    };
    Quotient {
        input,
        output,
        numerator: signed(numerator),
        denominator: signed(denominator),
    }
}
