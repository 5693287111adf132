//! Equilibria at which a slope is infinite: an orifice without flow. A search comes near to them, and the slopes that it finds there
//! are those of its rounding.

use crate::linearize::linearization::{Fault, Linearization};
use lgm_algebra::expr::{ExprId, SymbolId};
use lgm_numerics::search::scattered;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use rustc_hash::FxHashMap;

/// How well a search finds a value, as a share of it.
const FOUND: f64 = 1e-8;

/// A slope that changes so much within that, as a share of the terms of its equation, is no slope of the equations.
const SAME: f64 = 0.05;

impl Linearization<'_> {
    /// Refuses a point whose slopes change within the rounding of the search that found it.
    pub(super) fn slopes_are_settled(&mut self, roots: &[ExprId]) -> Result<(), Fault> {
        let columns = self.columns();
        let rows = self.rows(roots, &columns)?;
        let states = self.system.states.iter().map(|state| state.symbol);
        let found: Vec<SymbolId> = states.chain(self.roots.unknowns.iter().copied()).collect();
        let entries: Vec<ExprId> = rows.iter().flat_map(|row| row.iter().map(|entry| entry.1)).collect();
        let slopes = |moved: &FxHashMap<SymbolId, f64>| {
            let value = |symbol: SymbolId| moved.get(&symbol).copied().or_else(|| self.point.value(symbol));
            self.system.exprs.evaluate_unchecked(&entries, &value)
        };
        let here = slopes(&FxHashMap::default());
        // The size of each equation's terms, and the row and the column's value of each entry.
        let mut terms: Vec<f64> = self.evaluate(roots).iter().map(|value| value.abs()).collect();
        let mut places = Vec::with_capacity(entries.len());
        for (row, list) in rows.iter().enumerate() {
            for (column, _) in list.iter() {
                let size = self.point.value(columns[*column as usize]).unwrap_or(0.0).abs();
                terms[row] += (here[places.len()] * size).abs();
                places.push((row, size));
            }
        }
        for set in 0..3 {
            let beside = found.iter().enumerate().map(|(at, symbol)| {
                let value = self.point.value(*symbol).unwrap_or(0.0);
                (*symbol, value * (1.0 + FOUND * scattered(at, set)))
            });
            let there = slopes(&beside.collect());
            let differs = |at: &usize| {
                let (row, size) = places[*at];
                (there[*at] - here[*at]).abs() * size > SAME * terms[row]
            };
            if let Some(at) = (0..entries.len()).find(differs) {
                return Err(self.infinite_slope(places[at].0));
            }
        }
        Ok(())
    }

    fn infinite_slope(&self, row: usize) -> Fault {
        Box::new(
            Diagnostic::error(
                Code::LGM0703,
                format!("{} has an infinite slope at the equilibrium", self.row_name(row)),
            )
            .label(self.model.span, "in this model")
            .note(format!("the equilibrium is near {}", self.state_words()))
            .help("let an orifice at rest be laminar, or choose a point with flow by `--at` and `--linearize`"),
        )
    }
}
