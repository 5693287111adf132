//! What is compared in dimension: the sides of a comparison, and what a quantity should be.

use crate::context::values::DimId;
use lgm_source::Span;
use lgm_syntax::ast::Expr;

/// One side of a comparison of dimensions.
#[derive(Clone, Copy)]
pub(crate) struct Side<'a> {
    pub dim: DimId,
    pub span: Span,
    /// The words, where the side is an expression of its own.
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

/// What a quantity is, and what it should be.
#[derive(Clone, Copy)]
pub(crate) struct Claim<'a> {
    pub dim: DimId,
    pub wanted: DimId,
    /// The words, where there are any to look for a number in.
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

    /// Of what should be a pure number.
    pub fn pure(dim: DimId, expr: Option<&'a Expr>) -> Claim<'a> {
        Claim {
            dim,
            wanted: DimId::NONE,
            expr,
        }
    }
}
