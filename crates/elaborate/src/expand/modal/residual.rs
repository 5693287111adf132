//! What the modes left out add at rest: a static compliance, and for blocks with losses a resistance.
//!
//! The whole of it is a function of two positions that the block defines, `compliance(x, y)` and `resistance(x, y)`
//! (`conductance(x, y)` of the dual); the part of the modes that are kept is taken away. Of a port over a span the mean counts,
//! by Gauss's rule, which is exact for polynomials up to the seventh degree on either side of x = y.

use crate::context::modal::Block;
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
    /// The values of the residual that `residual = true` asks for at all pairs of ports.
    pub(crate) fn residual_values(
        &mut self,
        block: &Block<'a>,
        values: &[ModeValues<'a>],
        shapes: &Matrix,
    ) -> Option<ResidualValues> {
        let span = argument(block.instance, "residual").map_or(block.instance.kind.span, |expr| expr.span);
        let rules = block.rules.clone();
        let (compliance, resistance) = (rules.shape("compliance"), rules.shape(rules.resistance()));
        if compliance.is_none() && resistance.is_none() {
            let diagnostic = Diagnostic::error(Code::LGM0446, "this modal block has no static compliance")
                .label(span, "it is needed here")
                .label(block.modal.name.span, "no `compliance(x, y)` in this block")
                .help("define `compliance(x, y) = ..;`: the displacement at x by a force of 1 at y, rigid-body motion aside");
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
            // A block without losses has none left out.
            resistance: resistance.filter(|matrix| !matrix.entries.iter().all(|entry| exprs.is_zero(*entry))),
        })
    }
}
