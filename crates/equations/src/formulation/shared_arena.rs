//! Shared expressions in a separate arena, next to the arena of the equations.

use lgm_algebra::expr::{Evaluated, ExprId, Exprs, SymbolId};
use lgm_algebra::{BlockSolution, Field, FromExpression, NormalForms, Row, Sampled, Shared, SharedExpressions};
use rustc_hash::FxHashMap;

/// A [`SharedExpressions`] that reads expressions of one arena and writes its elements back into it, each copied once.
///
/// The field extends its own arena while assembly extends that of the equations, so ids of one arena are meaningless in the other.
#[derive(Clone, Debug)]
pub(crate) struct SharedArena {
    field: SharedExpressions,
    read: FxHashMap<ExprId, ExprId>,
    written: FxHashMap<ExprId, ExprId>,
    normal_forms: NormalForms,
}

impl SharedArena {
    /// Creates the field, and a point at which no pivot should vanish.
    ///
    /// The arena of the field is empty at first. Symbols are identified only by their ids there, so that solving one of
    /// the many cycles of a large model does not copy the whole.
    pub(crate) fn new(seed: u64, given: Sampled) -> SharedArena {
        SharedArena {
            field: SharedExpressions::with_given(Exprs::default(), seed, given),
            read: FxHashMap::default(),
            written: FxHashMap::default(),
            normal_forms: NormalForms::default(),
        }
    }

    /// Returns the field with pivots that, if possible, also do not pass zero while all symbols except these parameters change.
    pub(crate) fn along_motions(self, parameters: FxHashMap<SymbolId, f64>) -> SharedArena {
        SharedArena {
            field: self.field.along_motions(parameters),
            ..self
        }
    }

    /// Copies an element into the arena of the equations, in lowest terms if possible.
    pub(crate) fn export(&mut self, exprs: &mut Exprs, value: &Shared) -> ExprId {
        let shared = exprs.import(&self.field.exprs, value.expression, &mut self.written);
        self.normal_forms.normal_form(exprs, shared).unwrap_or(shared)
    }

    /// Returns true if all exported elements are in lowest terms.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.normal_forms.complete()
    }
}

impl Field for SharedArena {
    type Element = Shared;

    fn zero(&self) -> Shared {
        self.field.zero()
    }
    fn one(&self) -> Shared {
        self.field.one()
    }
    fn is_zero(&self, a: &Shared) -> bool {
        self.field.is_zero(a)
    }
    fn add(&mut self, a: &Shared, b: &Shared) -> Shared {
        self.field.add(a, b)
    }
    fn sub(&mut self, a: &Shared, b: &Shared) -> Shared {
        self.field.sub(a, b)
    }
    fn mul(&mut self, a: &Shared, b: &Shared) -> Shared {
        self.field.mul(a, b)
    }
    fn neg(&mut self, a: &Shared) -> Shared {
        self.field.neg(a)
    }
    fn invert(&mut self, a: &Shared) -> Shared {
        self.field.invert(a)
    }
    fn div(&mut self, a: &Shared, b: &Shared) -> Shared {
        self.field.div(a, b)
    }
    fn pivot_cost(&self, a: &Shared) -> f64 {
        self.field.pivot_cost(a)
    }
    fn may_vanish(&self, a: &Shared) -> bool {
        self.field.may_vanish(a)
    }
    fn solve_block(&mut self, matrix: Vec<Row<Shared>>, right: Vec<Row<Shared>>) -> BlockSolution<Shared> {
        self.field.solve_block(matrix, right)
    }
}

impl FromExpression for SharedArena {
    fn from_expression(&mut self, exprs: &Exprs, id: ExprId) -> Result<Shared, Evaluated> {
        let here = self.field.exprs.import(exprs, id, &mut self.read);
        self.field.read(here)
    }
}
