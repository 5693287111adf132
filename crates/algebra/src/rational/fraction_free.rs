//! Linear systems over rational functions without fractions: rows of polynomials, kept free of common factors.

use crate::linear::solve::{Rows, augmented, eliminate_rows, entry};
use crate::linear::sparse::{Sharing, eliminate};
use crate::polynomials::gcd::{gcd, gcd_list};
use crate::polynomials::polynomial::Polynomial;
use crate::rational::rational_function::RationalFunction;
use crate::rational::rational_functions::RationalFunctions;
use crate::row::{Row, Singular};
use std::collections::BTreeSet;

/// Solves one block `A X = B` over rational functions. Rows are first cleared of denominators; elimination is then polynomial arithmetic
/// with the common content of each row removed. Fractions reappear in the unknowns.
pub fn solve_rational_functions(
    field: &mut RationalFunctions,
    matrix: Vec<Row<RationalFunction>>,
    right: Vec<Row<RationalFunction>>,
) -> Result<Vec<Row<RationalFunction>>, Singular> {
    // Polynomials in roots and sines can vanish by their relations, which only the field contains.
    let related = matrix
        .iter()
        .chain(&right)
        .flatten()
        .any(|(_, value)| field.mentions_relations(value));
    if related {
        return eliminate(field, matrix, right, &mut Sharing::nothing());
    }
    let size = matrix.len();
    let mut operations = PolynomialRows { field };
    let mut rows: Vec<Row<Polynomial>> = augmented(matrix, right)
        .into_iter()
        .map(|row| operations.clear_denominators(row))
        .collect();
    let order = eliminate_rows(&mut operations, size, &mut rows)?;
    let mut solution: Vec<Row<RationalFunction>> = vec![Vec::new(); size];
    for (row, column) in order.into_iter().rev() {
        if operations.exhausted() {
            return Ok(vec![Vec::new(); size]);
        }
        solution[column as usize] = operations.unknown(&rows[row as usize], column, size as u32, &solution);
    }
    Ok(solution)
}

/// Eliminates unknowns from equations, which are rows whose sum is zero: the first columns are the unknowns, determined by the same number
/// of rows. Returns the other rows without the unknowns, over the remaining columns (from 0), as polynomials without a common factor.
/// `None` if the allowance is exhausted, or if entries contain roots or sines, whose polynomials can vanish.
pub fn eliminate_unknowns(
    field: &mut RationalFunctions,
    unknowns: usize,
    rows: Vec<Row<RationalFunction>>,
) -> Result<Option<Vec<Row<Polynomial>>>, Singular> {
    if rows.iter().flatten().any(|(_, value)| field.mentions_relations(value)) {
        return Ok(None);
    }
    let mut operations = PolynomialRows { field };
    let mut rows: Vec<Row<Polynomial>> = rows.into_iter().map(|row| operations.clear_denominators(row)).collect();
    eliminate_rows(&mut operations, unknowns, &mut rows)?;
    if operations.exhausted() {
        return Ok(None);
    }
    let rest = rows.split_off(unknowns).into_iter();
    let moved = |row: Row<Polynomial>| row.into_iter().map(|(column, value)| (column - unknowns as u32, value));
    Ok(Some(rest.map(|row| moved(row).collect()).collect()))
}

struct PolynomialRows<'a> {
    field: &'a mut RationalFunctions,
}

impl PolynomialRows<'_> {
    fn least_common_multiple(&mut self, a: &Polynomial, b: &Polynomial) -> Polynomial {
        if a == b || b.is_one() {
            return a.clone();
        }
        if a.is_one() {
            return b.clone();
        }
        let budget = &mut self.field.budget;
        let common = gcd(a, b, budget);
        let rest = budget.quotient(b, &common);
        budget.mul(a, &rest)
    }

    fn clear_denominators(&mut self, row: Row<RationalFunction>) -> Row<Polynomial> {
        let mut common = Polynomial::one();
        for (_, value) in &row {
            common = self.least_common_multiple(&common, &value.denominator);
        }
        let budget = &mut self.field.budget;
        let row = row
            .into_iter()
            .map(|(column, value)| {
                let factor = budget.quotient(&common, &value.denominator);
                (column, budget.mul(&value.numerator, &factor))
            })
            .collect();
        self.without_content(row)
    }

    fn without_content(&mut self, mut row: Row<Polynomial>) -> Row<Polynomial> {
        if row.iter().any(|entry| entry.1.is_one()) {
            return row;
        }
        let budget = &mut self.field.budget;
        let content = gcd_list(row.iter().map(|entry| entry.1.clone()).collect(), budget);
        if !content.is_one() && !content.is_zero() {
            for (_, value) in &mut row {
                *value = budget.quotient(value, &content);
            }
        }
        row
    }

    /// Returns the unknown of a pivot from the unknowns of later pivots.
    fn unknown(
        &mut self,
        row: &Row<Polynomial>,
        column: u32,
        size: u32,
        solution: &[Row<RationalFunction>],
    ) -> Row<RationalFunction> {
        let pivot = &row[entry(row, column)].1;
        let first_side = row.partition_point(|entry| entry.0 < size);
        let known: Vec<&(u32, Polynomial)> = row[..first_side].iter().filter(|entry| entry.0 != column).collect();
        let mut sides: BTreeSet<u32> = row[first_side..].iter().map(|entry| entry.0 - size).collect();
        for (other, _) in &known {
            sides.extend(solution[*other as usize].iter().map(|entry| entry.0));
        }
        let mut result = Vec::with_capacity(sides.len());
        for side in sides {
            let values: Vec<(&Polynomial, &RationalFunction)> = known
                .iter()
                .filter_map(|(other, factor)| {
                    let values = &solution[*other as usize];
                    let place = values.binary_search_by_key(&side, |entry| entry.0).ok()?;
                    Some((factor, &values[place].1))
                })
                .collect();
            let own_side = row
                .binary_search_by_key(&(side + size), |entry| entry.0)
                .ok()
                .map(|place| &row[place].1);
            match self.quotient_of_sum(own_side, &values, pivot) {
                Some(value) if !value.is_zero() => result.push((side, value)),
                Some(_) => {}
                None => return Vec::new(),
            }
        }
        result
    }

    /// Computes `(side - sum of factor*value)/pivot`; `None` if the budget is exhausted.
    fn quotient_of_sum(
        &mut self,
        side: Option<&Polynomial>,
        values: &[(&Polynomial, &RationalFunction)],
        pivot: &Polynomial,
    ) -> Option<RationalFunction> {
        let mut common = Polynomial::one();
        for (_, value) in values {
            common = self.least_common_multiple(&common, &value.denominator);
        }
        let budget = &mut self.field.budget;
        // Common factors of the pivot and all numerators are removed before multiplication; in a chain of unknowns this is usually the
        // whole pivot.
        let mut numerators: Vec<Polynomial> = values.iter().map(|(_, value)| value.numerator.clone()).collect();
        let mut list = numerators.clone();
        list.extend(side.cloned());
        list.push(pivot.clone());
        let shared = gcd_list(list, budget);
        let pivot = budget.quotient(pivot, &shared);
        let mut top = match side {
            Some(side) => {
                let side = budget.quotient(side, &shared);
                budget.mul(&side, &common)
            }
            None => Polynomial::zero(),
        };
        for ((factor, value), numerator) in values.iter().zip(&mut numerators) {
            let scale = budget.quotient(&common, &value.denominator);
            let numerator = budget.quotient(numerator, &shared);
            let product = budget.mul(factor, &numerator);
            top = top.sub(&budget.mul(&product, &scale));
        }
        if budget.exhausted() {
            return None;
        }
        // The pivot usually divides the numerator, as in Cramer's rule.
        if let Some(quotient) = budget.divide(&top, &pivot) {
            return Some(self.field.quotient(&quotient, &common)).filter(|_| !self.exhausted());
        }
        let shared = gcd(&top, &pivot, budget);
        let (top, pivot) = (budget.quotient(&top, &shared), budget.quotient(&pivot, &shared));
        let shared = gcd(&top, &common, budget);
        let (top, common) = (budget.quotient(&top, &shared), budget.quotient(&common, &shared));
        let bottom = budget.mul(&pivot, &common);
        (!budget.exhausted()).then(|| RationalFunction::reduced(top, bottom))
    }
}

impl Rows for PolynomialRows<'_> {
    type Element = Polynomial;

    fn cost(&self, pivot: &Polynomial) -> f64 {
        if pivot.is_constant() {
            0.0
        } else {
            pivot.term_count() as f64
        }
    }
    fn combine(&mut self, target: Row<Polynomial>, source: &Row<Polynomial>, column: u32) -> Row<Polynomial> {
        let pivot = &source[entry(source, column)].1;
        let own = &target[entry(&target, column)].1;
        let budget = &mut self.field.budget;
        let common = gcd(pivot, own, budget);
        let (up, down) = (budget.quotient(pivot, &common), budget.quotient(own, &common));
        let mut result = Vec::with_capacity(target.len() + source.len());
        let (mut i, mut j) = (0, 0);
        while i < target.len() || j < source.len() {
            let left = target.get(i).map_or(u32::MAX, |entry| entry.0);
            let right = source.get(j).map_or(u32::MAX, |entry| entry.0);
            let at = left.min(right);
            let mut value = Polynomial::zero();
            if left == at {
                if at != column {
                    value = budget.mul(&target[i].1, &up);
                }
                i += 1;
            }
            if right == at {
                if at != column {
                    value = value.sub(&budget.mul(&source[j].1, &down));
                }
                j += 1;
            }
            if !value.is_zero() {
                result.push((at, value));
            }
        }
        if budget.exhausted() {
            return result;
        }
        self.without_content(result)
    }
    fn exhausted(&self) -> bool {
        self.field.budget.exhausted()
    }
}
