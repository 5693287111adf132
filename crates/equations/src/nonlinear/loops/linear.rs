//! Linear cycles: one equation per unknown.

use lgm_algebra::expr::{ExprId, Exprs};
use lgm_algebra::{Field, FromExpression};

/// One equation of a linear cycle: indices of members with their coefficients, and the right side.
pub(super) type Form = (Vec<(usize, ExprId)>, ExprId);

/// Solves `sum of coefficient * x_j = rest`, one equation per unknown; the error is the row without a pivot, or a value
/// that cannot be computed. With `factorise`, pivots are taken on the diagonal if possible.
#[allow(clippy::type_complexity)]
pub(super) fn solve_forms<F: Field + FromExpression>(
    exprs: &mut Exprs,
    field: &mut F,
    forms: &[Form],
    factorise: bool,
    present: impl Fn(&mut F, &mut Exprs, &F::Element) -> ExprId,
) -> Result<Vec<ExprId>, Result<usize, lgm_algebra::expr::Evaluated>> {
    let (mut matrix, mut right) = (Vec::new(), Vec::new());
    for (terms, rest) in forms {
        let mut row: Vec<(u32, F::Element)> = Vec::with_capacity(terms.len());
        for (place, coefficient) in terms {
            let value = field.from_expression(exprs, *coefficient).map_err(Err)?;
            row.push((*place as u32, value));
        }
        row.sort_by_key(|entry| entry.0);
        row.retain(|entry| !field.is_zero(&entry.1));
        matrix.push(row);
        let value = field.from_expression(exprs, *rest).map_err(Err)?;
        right.push(if field.is_zero(&value) {
            Vec::new()
        } else {
            vec![(0, value)]
        });
    }
    // Every equation determines a different member, and equations of a mass matrix have no other pivots that are safe everywhere.
    let factorised = match factorise {
        true => lgm_algebra::solve_on_diagonal(field, matrix.clone(), right.clone()),
        false => None,
    };
    let solution = match factorised {
        Some(solution) => solution,
        None => lgm_algebra::solve(field, matrix, right).map_err(|singular| Ok(singular.row as usize))?,
    };
    let mut values = Vec::with_capacity(solution.len());
    for row in &solution {
        values.push(match row.first() {
            Some((_, value)) => present(field, exprs, value),
            None => exprs.zero(),
        });
    }
    Ok(values)
}
