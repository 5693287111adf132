//! Sums of products of matrices and vectors. Scalars commute; matrices keep their order.

use lgm_algebra::expr::{ExprId, Exprs, SymbolId};

/// A named matrix in a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Factor {
    /// The index of the matrix.
    pub(super) matrix: usize,
    pub(super) transposed: bool,
    pub(super) inverse: bool,
    /// True for the time derivative of the matrix.
    pub(super) rate: bool,
}

/// A scalar times matrices.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Product {
    pub(super) scalar: ExprId,
    pub(super) factors: Vec<Factor>,
}

/// A product times a vector, which is represented by the symbol of its first entry.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Term {
    pub(super) product: Product,
    pub(super) vector: SymbolId,
}

/// A sum of terms.
pub(super) type Sum = Vec<Term>;

/// Returns `factor*sum`.
pub(super) fn times(exprs: &mut Exprs, factor: &Product, sum: &Sum) -> Sum {
    let term = |term: &Term| Term {
        product: Product {
            scalar: exprs.mul(factor.scalar, term.product.scalar),
            factors: [&factor.factors[..], &term.product.factors].concat(),
        },
        vector: term.vector,
    };
    sum.iter().map(term).collect()
}

/// Returns `-sum`.
pub(super) fn negated(exprs: &mut Exprs, sum: &Sum) -> Sum {
    let minus = Product {
        scalar: exprs.integer(-1),
        factors: Vec::new(),
    };
    times(exprs, &minus, sum)
}

/// Combines terms with the same matrices and the same vector.
pub(super) fn collected(exprs: &mut Exprs, sum: Sum) -> Sum {
    let mut found: Sum = Vec::with_capacity(sum.len());
    for term in sum {
        let is_like = |known: &&mut Term| known.vector == term.vector && known.product.factors == term.product.factors;
        match found.iter_mut().find(is_like) {
            Some(known) => known.product.scalar = exprs.add(known.product.scalar, term.product.scalar),
            None => found.push(term),
        }
    }
    found.retain(|term| !exprs.is_zero(term.product.scalar));
    found
}

/// Splits a sum by its vectors, in the order of their first terms.
pub(super) fn by_vector(sum: &Sum) -> Vec<(SymbolId, Vec<Product>)> {
    let mut found: Vec<(SymbolId, Vec<Product>)> = Vec::new();
    for term in sum {
        match found.iter_mut().find(|known| known.0 == term.vector) {
            Some(known) => known.1.push(term.product.clone()),
            None => found.push((term.vector, vec![term.product.clone()])),
        }
    }
    found
}
