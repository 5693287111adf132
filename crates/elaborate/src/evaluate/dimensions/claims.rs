//! The compared dimensions: the sides of a comparison, or a quantity and its requirement.

use crate::context::values::DimId;
use lgm_source::Span;
use lgm_syntax::ast::Expr;

/// One side of a comparison of dimensions.
#[derive(Clone, Copy)]
pub(crate) struct Side<'a> {
    pub dim: DimId,
    pub span: Span,
    /// The expression, if the side is a separate one.
    pub expr: Option<&'a Expr>,
}

impl<'a> Side<'a> {
    pub fn of(expr: &'a Expr, dim: DimId) -> Side<'a> {
        Side {
            dim,
            span: expr.span,
            expr: Some(expr),
        }
    }
}

/// A quantity and its requirement.
#[derive(Clone, Copy)]
pub(crate) struct Claim<'a> {
    pub dim: DimId,
    pub wanted: DimId,
    /// The expression in which to search for a number, if any.
    pub expr: Option<&'a Expr>,
}

impl<'a> Claim<'a> {
    pub fn of(side: Side<'a>, wanted: DimId) -> Claim<'a> {
        Claim {
            dim: side.dim,
            wanted,
            expr: side.expr,
        }
    }

    /// Returns the claim of a value that should be dimensionless.
    pub fn pure(dim: DimId, expr: Option<&'a Expr>) -> Claim<'a> {
        Claim {
            dim,
            wanted: DimId::NONE,
            expr,
        }
    }
}
