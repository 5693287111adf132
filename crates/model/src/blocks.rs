//! The equations in blocks, as data: vectors of variables whose names differ only in their indices, and the matrices between them.

use crate::sparse::SparseMatrix;
use lgm_algebra::expr::ExprId;

/// The equations of a system in blocks.
#[derive(Clone, Debug, Default)]
pub struct BlockForm {
    /// All vectors: of states, then of sources, inputs and outputs.
    pub vectors: Vec<BlockVector>,
    /// Distinct matrices larger than 1 by 1, except the identity.
    pub matrices: Vec<BlockMatrix>,
    /// One for each vector of states of storage.
    pub equations: Vec<BlockEquation>,
    /// One for each graph variable in the value of a controlled source.
    pub measured: Vec<BlockEquation>,
    /// One for each vector of outputs.
    pub outputs: Vec<BlockEquation>,
}

/// A vector with a name, or a single variable.
#[derive(Clone, Debug)]
pub struct BlockVector {
    /// `bar.v` if its entries are `bar.v[1]`, `bar.v[2]`, ..; for a single variable, its name or value.
    pub name: String,
    /// The entries in the syntax of the language.
    pub entries: Vec<String>,
    /// True if the entries are variables, whose names identify their owners; false for the values of sources.
    pub is_variable: bool,
}

/// A matrix with a name.
#[derive(Clone, Debug)]
pub struct BlockMatrix {
    /// The element whose matrix it is, or a letter and a number.
    pub name: String,
    /// Its entries.
    pub entries: SparseMatrix<ExprId>,
}

/// `sum of left = sum of right`.
#[derive(Clone, Debug)]
pub struct BlockEquation {
    /// Rates of vectors; for an output, the output itself.
    pub left: Vec<BlockTerm>,
    /// Vectors of states and sources.
    pub right: Vec<BlockTerm>,
}

/// A matrix times a vector.
#[derive(Clone, Debug)]
pub struct BlockTerm {
    /// True if it is subtracted.
    pub negative: bool,
    /// The factor of the vector.
    pub factor: BlockFactor,
    /// The vector in [`BlockForm::vectors`].
    pub vector: usize,
    /// True if the factor multiplies the time derivative of the vector.
    pub rate: bool,
}

/// A scalar times matrices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockProduct {
    /// The scalar.
    pub scalar: ExprId,
    /// True if the sign of the scalar is that of the whole sum, and is not written here.
    pub is_negated: bool,
    /// The matrices in [`BlockForm::matrices`], each with true if it is transposed, and true if it is inverted.
    pub factors: Vec<(usize, bool, bool)>,
}

/// The factor of a vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockFactor {
    /// The identity.
    One,
    /// A single number or expression.
    Scalar(ExprId),
    /// A matrix in [`BlockForm::matrices`], or its transpose.
    Matrix(usize, bool),
    /// A sum of products of such matrices.
    Sum(Vec<BlockProduct>),
}
