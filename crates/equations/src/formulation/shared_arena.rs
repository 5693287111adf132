//! Shared expressions with an arena of their own, beside the arena of the equations.

use lgm_algebra::expr::{Evaluated, ExprId, Exprs, SymbolId};
use lgm_algebra::{Block, Field, FromExpression, NormalForms, Row, Shared, SharedExpressions};
use rustc_hash::FxHashMap;

/// [`SharedExpressions`] that reads expressions of one arena and writes its elements back into it, each copied once.
///
/// The field grows its own arena while assembly grows that of the equations, so ids of one mean nothing in the other.
#[derive(Clone, Debug)]
pub(crate) struct SharedArena {
    field: SharedExpressions,
    read: FxHashMap<ExprId, ExprId>,
    written: FxHashMap<ExprId, ExprId>,
    normal_forms: NormalForms,
}

impl SharedArena {
    /// The field, for symbols some of which have values modulo the prime at which no pivot should vanish.
    ///
    /// Its own arena is empty at first: symbols are known there by their ids alone, and one cycle of a large model, of many
    /// that are solved each by itself, does not copy the whole.
    pub(crate) fn new(seed: u64, given: FxHashMap<SymbolId, u64>) -> SharedArena {
        SharedArena {
            field: SharedExpressions::with_given(Exprs::default(), seed, given),
            read: FxHashMap::default(),
            written: FxHashMap::default(),
            normal_forms: NormalForms::default(),
        }
    }

    /// The field whose pivots, too, do not pass zero while all symbols but these parameters change, as far as that can be had.
    pub(crate) fn along_motions(self, parameters: FxHashMap<SymbolId, f64>) -> SharedArena {
        SharedArena {
            field: self.field.along_motions(parameters),
            ..self
        }
    }

    /// Copies an element into the arena of the equations, in lowest terms where there is a way to these.
    pub(crate) fn export(&mut self, exprs: &mut Exprs, value: &Shared) -> ExprId {
        let shared = exprs.import(&self.field.exprs, value.expression, &mut self.written);
        self.normal_forms.normal_form(exprs, shared).unwrap_or(shared)
    }

    /// Whether everything that was exported is in lowest terms.
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
    fn solve_block(&mut self, matrix: Vec<Row<Shared>>, right: Vec<Row<Shared>>) -> Block<Shared> {
        self.field.solve_block(matrix, right)
    }
}

impl FromExpression for SharedArena {
    fn from_expression(&mut self, exprs: &Exprs, id: ExprId) -> Result<Shared, Evaluated> {
        let here = self.field.exprs.import(exprs, id, &mut self.read);
        self.field.read(here)
    }
}
