//! Laws of the flat model's elements, over the efforts and flows of their ports, absorbing.

use crate::ids::Variable;
use lgm_algebra::expr::{ExprId, Exprs, SymbolId};

/// A matrix of expressions, row by row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matrix {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// Entries, row by row, including zeros.
    pub entries: Vec<ExprId>,
}

impl Matrix {
    /// Returns the entry in a row and a column, both from 0.
    pub fn get(&self, row: usize, column: usize) -> ExprId {
        self.entries[row * self.columns + column]
    }
}

/// The law of an element over its n ports, in absorbing effort and flow. Values of storage depend only on parameters; those of sources,
/// dissipators and couplers may also contain inputs, `time`, measures and integrals.
#[derive(Clone, Debug)]
pub enum Law {
    /// Storage with co-energy variable z (`co_energy` at each port) and its conjugate w.
    ///
    /// A-type with effort = across, and bond `C`: z is the effort. T-type there, and bond `I`: z is the flow.
    Storage {
        /// The variable z of each port.
        co_energy: Variable,
        /// n-by-n value.
        value: Matrix,
        /// The role of the value.
        form: StorageForm,
    },
    /// Dissipator.
    Dissipator(Dissipator),
    /// Source: the variable is given at each port. Values may contain inputs, `time`, parameters, measures and integrals (a controlled
    /// source).
    Source {
        /// The given variable.
        given: Variable,
        /// One value per port.
        values: Vec<ExprId>,
    },
    /// Power-conserving coupler: with x the variable `input` of the first `matrix.columns` ports and y the variable
    /// `output` of the remaining `matrix.rows` ports: `y = matrix x`, `conj(x) = -matrix' conj(y)`.
    ///
    /// `Transformer(r) a, b` in two across-effort domains: x = effort of a, y = effort of b, matrix r. Bond
    /// `TF(m)`: ports out, in (x = effort of out, y = effort of in, matrix m). Bond `GY(r)`: ports out, in, x =
    /// flow of out, y = effort of in, matrix -r (the out port absorbs, so its flow is minus that of its bond).
    Coupler {
        /// x, at the first ports.
        input: Variable,
        /// y, at the last ports.
        output: Variable,
        /// The modulus matrix.
        matrix: Matrix,
    },
    /// Any other law: nonlinear equations over the ports' variables and their integrals.
    Nonlinear(NonlinearLaw),
}

impl Law {
    /// Returns true for a one-port spring, or other storage given by a stiffness, if the stiffness is zero at the values of the parameters.
    /// Its co-energy variable then does not determine its energy variable.
    pub fn is_without_stiffness(&self, exprs: &Exprs, value: &dyn Fn(SymbolId) -> Option<f64>) -> bool {
        match self {
            Law::Storage {
                value: matrix,
                form: StorageForm::Inverse,
                ..
            } if matrix.rows == 1 => {
                let stiffness = exprs.evaluate_f64(&matrix.entries, value);
                stiffness.is_ok_and(|stiffness| stiffness[0] == 0.0)
            }
            _ => false,
        }
    }
}

/// A law that is nonlinear in the variables of its ports.
#[derive(Clone, Debug)]
pub struct NonlinearLaw {
    /// One expression for each port, zero if the law holds: over measured variables of its ports,
    /// [integrals](crate::Integral) of the element, parameters and time.
    pub residuals: Vec<ExprId>,
    /// The symbols of effort and flow of each port, absorbing; all of them are
    /// [measures](crate::Model::measures).
    pub variables: Vec<(SymbolId, SymbolId)>,
    /// The expressions for the effort and the flow of each port from the law.
    pub explicit: Vec<(Closed, Closed)>,
    /// For a port that stores energy: its co-energy variable and the symbol of its energy variable, an integral owned by the element.
    pub storage: Vec<Option<(Variable, SymbolId)>>,
}

/// The expression of one variable of a law.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Closed {
    /// Only as the implicit solution of an equation.
    Not,
    /// In closed form, by inverting the written law.
    Inverse,
    /// As written.
    Direct,
}

/// The role of a storage value in the law.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StorageForm {
    /// `w = value * der(z)`: mass, capacitance, inductance; bond `I(m)`, `C(c)`.
    Direct,
    /// `der(z) = value * w`: stiffness of a T-type.
    Inverse,
}

/// The role of a dissipator's matrices in its law.
#[derive(Clone, Debug)]
pub enum Dissipator {
    /// `effort = R * flow`
    Resistance(Matrix),
    /// `flow = G * effort`
    Conductance(Matrix),
    /// `P * effort + Q * flow = 0`, n equations: any other linear algebraic law.
    Implicit(Matrix, Matrix),
}
