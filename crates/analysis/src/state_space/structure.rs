//! Structure of a system: controllability, observability, and the order of a minimal realisation.

use super::matrices::StateSpace;
use super::reduction::scaled_gramians;
use crate::prime::{Rows, add_multiple, of_system, product, transposed};
use crate::state_space::zero::poles_with_zeros;
use crate::values::numeric_form;
use lgm_algebra::{Field, PrimeField};
use lgm_model::system::StateSystem;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use nalgebra::DMatrix;

/// The maximum number of states; more take too long.
const MOST: usize = 400;

/// The structure of a system, in the order of its states.
#[derive(Clone, Debug)]
pub struct Structure {
    /// The dimension of the controllable subspace.
    pub controllable: usize,
    /// The dimension of the observable subspace.
    pub observable: usize,
    /// The states of a minimal realisation.
    pub minimal_order: usize,
    /// States with a component in the uncontrollable part.
    pub uncontrollable: Vec<usize>,
    /// States with a component in the unobservable part.
    pub unobservable: Vec<usize>,
    /// The controllability Gramian; none if the system is not stable.
    pub controllability_gramian: Option<DMatrix<f64>>,
    /// The observability Gramian; none if the system is not stable.
    pub observability_gramian: Option<DMatrix<f64>>,
}

/// Computes the structure of a linear system. Ranks are exact for the values of the parameters, because they are computed over a prime
/// field.
pub fn structure(system: &StateSystem) -> Result<Structure, Box<Diagnostic>> {
    let form = numeric_form(system, "structure")?;
    let size = form.a.rows.len();
    if size > MOST {
        let message = format!("the system has {size} states; ranks are limited to {MOST}");
        let fault = Diagnostic::error(Code::LGM0710, message);
        return Err(Box::new(
            fault.help("compile it with fewer sections or modes, or analyse a part of it"),
        ));
    }
    let inputs = system.declared_inputs().count();
    let [a, b, c] = of_system(system, form, inputs);
    let reached = krylov(&transposed(&a, size), transposed(&b, inputs));
    let shown = krylov(&a, c);
    let both = product(&shown, &transposed(&reached, size));
    let minimal_order = echelon(both).len();
    let space = StateSpace::of(form, inputs);
    // Avoids deciding by round-off on the stability of a pole at 0.
    let is_stable = poles_with_zeros(system, &form.a).is_some_and(|poles| poles.iter().all(|pole| pole.re < 0.0));
    let gramians = match is_stable {
        true => scaled_gramians(&space),
        false => None,
    };
    let (reach, show) = match gramians {
        Some((scales, mut reach, mut show)) => {
            for (at, scale) in scales.iter().enumerate() {
                reach.row_mut(at).scale_mut(*scale);
                reach.column_mut(at).scale_mut(*scale);
                show.row_mut(at).scale_mut(1.0 / scale);
                show.column_mut(at).scale_mut(1.0 / scale);
            }
            (Some(reach), Some(show))
        }
        None => (None, None),
    };
    Ok(Structure {
        controllable: reached.len(),
        observable: shown.len(),
        minimal_order,
        uncontrollable: members(&reached, size),
        unobservable: members(&shown, size),
        controllability_gramian: reach,
        observability_gramian: show,
    })
}

/// Rows in echelon form, with the index of each pivot.
#[derive(Default)]
struct Basis {
    rows: Rows,
    pivots: Vec<usize>,
}

impl Basis {
    /// Adds a row; returns its linearly independent part, if any.
    fn add(&mut self, mut row: Vec<u64>) -> Option<Vec<u64>> {
        let mut field = PrimeField;
        for (known, pivot) in self.rows.iter().zip(&self.pivots) {
            if row[*pivot] != 0 {
                let factor = field.neg(&row[*pivot]);
                add_multiple(&mut row, factor, known);
            }
        }
        let pivot = row.iter().position(|value| *value != 0)?;
        let inverse = field.invert(&row[pivot]);
        let scaled: Vec<u64> = row.iter().map(|value| field.mul(value, &inverse)).collect();
        self.rows.push(scaled.clone());
        self.pivots.push(pivot);
        Some(scaled)
    }
}

fn echelon(rows: Rows) -> Rows {
    let mut basis = Basis::default();
    for row in rows {
        basis.add(row);
    }
    basis.rows
}

/// Returns a basis of all `row A^k`.
fn krylov(a: &Rows, start: Rows) -> Rows {
    let mut basis = Basis::default();
    let mut open = start;
    while let Some(row) = open.pop() {
        if let Some(new) = basis.add(row) {
            let next = product(&vec![new], a);
            open.extend(next);
        }
    }
    basis.rows
}

/// Returns the states that have a component in the null space of the rows.
fn members(rows: &Rows, size: usize) -> Vec<usize> {
    // A state has no component in the null space exactly if its unit row is in the span.
    let mut basis = Basis::default();
    for row in rows {
        basis.add(row.clone());
    }
    let is_member = |state: &usize| {
        let mut unit = vec![0; size];
        unit[*state] = 1;
        let mut field = PrimeField;
        for (known, pivot) in basis.rows.iter().zip(&basis.pivots) {
            if unit[*pivot] != 0 {
                let factor = field.neg(&unit[*pivot]);
                add_multiple(&mut unit, factor, known);
            }
        }
        unit.iter().any(|value| *value != 0)
    };
    (0..size).filter(is_member).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_difference_of_two_equal_lags_is_not_reached() {
        let minus = PrimeField.neg(&1);
        let a = vec![vec![minus, 0, 0], vec![0, minus, 0], vec![0, 0, PrimeField.neg(&2)]];
        let b = vec![vec![1, 1, 1]];
        let reached = krylov(&transposed(&a, 3), b);
        assert_eq!(reached.len(), 2);
        assert_eq!(members(&reached, 3), [0, 1]);
    }
}
