//! The equations in blocks, as data: vectors of variables whose names differ in their indices alone, and the matrices between
//! them.

use crate::sparse::SparseMatrix;
use lgm_algebra::expr::ExprId;

/// The equations of a system in blocks.
#[derive(Clone, Debug, Default)]
pub struct BlockForm {
    /// All vectors: of states, then of sources, inputs and outputs.
    pub vectors: Vec<BlockVector>,
    /// Matrices that are larger than 1 by 1 and no identity, each once.
    pub matrices: Vec<BlockMatrix>,
    /// One for each vector of states of storage.
    pub equations: Vec<BlockEquation>,
    /// One for each variable of the graph that the value of a controlled source is written with.
    pub measured: Vec<BlockEquation>,
    /// One for each vector of outputs.
    pub outputs: Vec<BlockEquation>,
}

/// A vector with a name, or a single variable.
#[derive(Clone, Debug)]
pub struct BlockVector {
    /// `bar.v` where its entries are `bar.v[1]`, `bar.v[2]`, ..; of a single variable, its own name or value.
    pub name: String,
    /// The entries as texts of the language.
    pub entries: Vec<String>,
    /// Whether the entries are variables, whose names say where they belong; the values of sources are not.
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
    /// Rates of vectors; of an output the output itself.
    pub left: Vec<BlockTerm>,
    /// Vectors of states and sources.
    pub right: Vec<BlockTerm>,
}

/// A matrix times a vector.
#[derive(Clone, Copy, Debug)]
pub struct BlockTerm {
    /// Whether it is subtracted.
    pub negative: bool,
    /// What the vector is multiplied by.
    pub factor: BlockFactor,
    /// The vector in [`BlockForm::vectors`].
    pub vector: usize,
    /// Whether its time derivative is meant.
    pub rate: bool,
}

/// What a vector is multiplied by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockFactor {
    /// The identity.
    One,
    /// A single number or expression.
    Scalar(ExprId),
    /// A matrix in [`BlockForm::matrices`], or its transpose.
    Matrix(usize, bool),
}
