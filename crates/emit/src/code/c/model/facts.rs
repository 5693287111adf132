//! The inputs from which the files of a model are written, and the model equations as function bodies.

use super::names::Names;
use crate::code::c::common::Common;
use crate::code::c::dialect::C;
use crate::code::c::loops::Pattern;
use crate::code::dialect::Operation;
use crate::code::events::Changing;
use crate::code::subject::Subject;
use lgm_kernels::program::Program;

/// For models with more states than this, the Jacobian is a list of entries instead of a matrix.
const MOST_IN_MATRIX: usize = 32;

/// The inputs from which the files of a model are written.
pub(in crate::code::c) struct Model<'a> {
    pub(in crate::code::c) subject: &'a Subject<'a>,
    pub(in crate::code::c) c: C<'a>,
    pub(in crate::code::c) names: &'a Names<'a>,
    pub(in crate::code::c) common: &'a Common,
    pub(in crate::code::c) changing: Changing<'a>,
    /// The maximum number of iterations on the algebraic loops.
    pub(in crate::code::c) iterations: u64,
    /// The length of fixed steps.
    pub(in crate::code::c) step: Option<f64>,
    /// Programs of a run that share working memory with the model.
    pub(in crate::code::c) further: Vec<&'a Program>,
    /// True if the package contains a run, which follows the loops of the model.
    pub(in crate::code::c) has_run: bool,
}

/// The equations as bodies of functions.
#[derive(Default)]
pub(super) struct Bodies {
    /// Tables and functions that all other functions use.
    pub(super) statics: String,
    /// Functions that public ones call.
    pub(super) parts: String,
    /// Lines that compute derived parameters.
    pub(super) derived: String,
    pub(super) starts: String,
    pub(super) constraints: Option<String>,
    pub(super) rates: String,
    pub(super) outputs: String,
    /// The equations of rates and outputs in the modelling language.
    pub(super) equations: [String; 2],
    /// Functions that run blocks between fixed steps.
    pub(super) blocks: String,
    /// The Jacobian of a model without loops.
    pub(super) jacobian: String,
    /// The entries of the Jacobian.
    pub(super) pattern: Option<Pattern>,
    pub(super) operations: Vec<Operation>,
    /// Working memory in the model; 0 if functions have their own.
    pub(super) scratch: usize,
}

impl Bodies {
    pub(super) fn takes(&mut self, operations: &[Operation]) {
        for operation in operations {
            if !self.operations.contains(operation) {
                self.operations.push(*operation);
            }
        }
    }
}

/// The parameters of a C function that is evaluated at a point.
pub(super) const POINT: &str = "real t, const real x[], const real u[] LGM_DU(, const real du[])";

impl Model<'_> {
    pub(super) fn has_loops(&self) -> bool {
        self.subject.unknowns() > 0
    }

    /// True if the functions read the inputs together with the discrete variables from the model.
    pub(super) fn keeps_inputs(&self) -> bool {
        self.names.formulas.is_none() && !self.subject.discretes.is_empty()
    }

    pub(super) fn has_jacobian(&self) -> bool {
        !self.common.several && !self.subject.states.is_empty()
    }

    pub(super) fn is_dense(&self) -> bool {
        self.names.formulas.is_some() && self.subject.states.len() <= MOST_IN_MATRIX
    }

    /// Returns `const lgm_model *model` if a call does not modify the model.
    pub(super) fn instance(&self) -> &'static str {
        match self.has_loops() || self.names.formulas.is_none() {
            true => "lgm_model *model",
            false => "const lgm_model *model",
        }
    }

    /// Returns the result type of functions that may have no solution.
    pub(super) fn result(&self) -> &'static str {
        if self.has_loops() { "int" } else { "void" }
    }

    /// Returns the argument for the Jacobian.
    pub(super) fn jacobian_argument(&self) -> &'static str {
        if self.is_dense() {
            "real jacobian[][LGM_STATES]"
        } else {
            "real entries[]"
        }
    }
}
