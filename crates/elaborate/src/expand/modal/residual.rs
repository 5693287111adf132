//! The static contribution of the omitted modes: a compliance, and for blocks with losses a resistance.
//!
//! The total is a function of two positions that the block defines, `compliance(x, y)` and `resistance(x, y)` (`conductance(x, y)` for the
//! dual); the contribution of the kept modes is removed. For a port over a span the mean
//! is used, by Gauss quadrature, which is exact for polynomials up to degree 7 on both sides of x = y.

use crate::context::modal::ModalBlock;
use crate::context::values::Scalar;
use crate::evaluate::modal::residual::{Kept, kept_compliance, kept_resistance};
use crate::expand::Expansion;
use crate::expand::modal::{ModeValues, ResidualValues};
use crate::modal_rules::Shape;
use crate::syntax_queries::argument;
use lgm_algebra::expr::ExprId;
use lgm_model::Matrix;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;

impl<'a> Expansion<'_, 'a> {
    /// Returns the values of the residual, requested by `residual = true`, at all pairs of ports.
    pub(crate) fn residual_values(
        &mut self,
        block: &ModalBlock<'a>,
        values: &[ModeValues<'a>],
        shapes: &Matrix,
    ) -> Option<ResidualValues> {
        let span = argument(block.instance, "residual").map_or(block.instance.kind.span, |expr| expr.span);
        let rules = block.rules.clone();
        let (compliance, resistance) = (rules.shape("compliance"), rules.shape(rules.resistance()));
        if compliance.is_none() && resistance.is_none() {
            let diagnostic = Diagnostic::error(Code::LGM0446, "this modal block has no static compliance")
                .label(span, "it is used here")
                .label(block.modal.name.span, "no `compliance(x, y)` in this block")
                .help(
                    "define `compliance(x, y) = ..;`: the displacement at x under a unit force at y, without \
                    rigid-body motion",
                );
            self.report(diagnostic);
            return None;
        }
        let expr = |entry: Option<Scalar>| entry.map(|scalar| scalar.expr);
        let mut matrix = |shape: Option<&Shape<'a>>, kept: &dyn Fn(&ModeValues<'a>) -> Option<Kept>| {
            let Some(shape) = shape else {
                return Some(None);
            };
            let kept: Vec<(usize, Kept)> = values
                .iter()
                .enumerate()
                .filter_map(|(k, mode)| Some((k, kept(mode)?)))
                .collect();
            let n = block.ports.len();
            let mut entries = vec![self.arena.exprs.zero(); n * n];
            for row in 0..n {
                for column in row..n {
                    let whole = self.averaged(block, shape, &block.ports[row], &block.ports[column], span)?;
                    let parts: Vec<(ExprId, ExprId, Kept)> = kept
                        .iter()
                        .map(|(k, kept)| (shapes.get(row, *k), shapes.get(column, *k), *kept))
                        .collect();
                    let value = self.less_kept(whole, &parts);
                    entries[row * n + column] = value;
                    entries[column * n + row] = value;
                }
            }
            Some(Some(Matrix {
                rows: n,
                columns: n,
                entries,
            }))
        };
        let compliance = matrix(compliance, &|mode| kept_compliance(expr(mode.restoring)))?;
        let resistance = matrix(resistance, &|mode| {
            kept_resistance(&rules, expr(mode.restoring), expr(mode.dissipation), expr(mode.loss))
        })?;
        let exprs = &self.arena.exprs;
        Some(ResidualValues {
            compliance,
            // A block without losses has no omitted losses.
            resistance: resistance.filter(|matrix| !matrix.entries.iter().all(|entry| exprs.is_zero(*entry))),
        })
    }
}
