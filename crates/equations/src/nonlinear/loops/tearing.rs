//! Variables of a loop that follow from others of it by a linear relation: two diodes back to back have one voltage between them.

use super::{Resolver, Value};
use lgm_algebra::expr::{ExprId, Exprs, Node, SymbolId};
use lgm_algebra::{Field, FromExpression, RationalFunctions};
use rustc_hash::{FxHashMap, FxHashSet};

/// Term operations that relations may take before they are left alone.
const OPERATIONS: u64 = 100_000;

/// A row of a candidate, reduced by those before it, and the combination of candidates that it is.
struct Reduced<E> {
    row: FxHashMap<usize, E>,
    of: FxHashMap<usize, E>,
}

impl Resolver<'_> {
    /// Defines candidates for tearing by others of them where their rows over the members depend on each other. Says whether any was.
    pub(super) fn relate(&mut self, members: &[SymbolId], candidates: &[SymbolId]) -> bool {
        let place: FxHashMap<SymbolId, usize> = members.iter().enumerate().map(|(k, symbol)| (*symbol, k)).collect();
        let is_candidate: FxHashSet<SymbolId> = candidates.iter().copied().collect();
        let mut field = RationalFunctions::new(OPERATIONS, RationalFunctions::DEFAULT_TERMS);
        let mut basis: Vec<Reduced<<RationalFunctions as Field>::Element>> = Vec::new();
        let mut rests: FxHashMap<usize, ExprId> = FxHashMap::default();
        let mut found: Vec<(SymbolId, ExprId)> = Vec::new();
        for (number, symbol) in candidates.iter().enumerate() {
            let Some((terms, rest)) = self.row_over(*symbol, &place) else {
                continue;
            };
            // What follows from candidates alone has been related before.
            if terms.iter().all(|(symbol, _)| is_candidate.contains(symbol)) {
                continue;
            }
            let mut row = FxHashMap::default();
            for (symbol, coefficient) in terms {
                let Ok(value) = field.from_expression(self.exprs, coefficient) else {
                    return false;
                };
                row.insert(place[&symbol], value);
            }
            let one = field.one();
            let mut own = Reduced {
                row,
                of: FxHashMap::from_iter([(number, one)]),
            };
            for other in &basis {
                let pivot = *other
                    .row
                    .keys()
                    .min()
                    .expect("invariant: rows of the basis are not zero");
                let Some(value) = own.row.get(&pivot).cloned() else {
                    continue;
                };
                let factor = field.div(&value, &other.row[&pivot]);
                subtract(&mut field, &mut own.row, &other.row, &factor);
                subtract(&mut field, &mut own.of, &other.of, &factor);
            }
            if field.exhausted() {
                return false;
            }
            rests.insert(number, rest);
            if !own.row.is_empty() {
                basis.push(own);
                continue;
            }
            // 0 = the combination less its rests, in which this candidate stands once.
            let mut sum = Vec::new();
            let mut entries: Vec<_> = own.of.into_iter().collect();
            entries.sort_by_key(|entry| entry.0);
            for (other, factor) in entries {
                let factor = field.to_expression(self.exprs, &factor);
                let known = self.exprs.mul(factor, rests[&other]);
                sum.push(known);
                if other != number {
                    let variable = self.exprs.symbol(candidates[other]);
                    let term = self.exprs.mul(factor, variable);
                    sum.push(self.exprs.neg(term));
                }
            }
            let value = self.exprs.sum(sum);
            found.push((*symbol, value));
        }
        for (symbol, value) in &found {
            if let Some(definition) = self.map.get_mut(symbol) {
                definition.value = Value::Explicit(*value);
            }
        }
        !found.is_empty()
    }

    /// The members that a definition is an affine function of, with their coefficients, and the rest; none where it is no such function.
    #[allow(clippy::type_complexity)]
    fn row_over(
        &mut self,
        symbol: SymbolId,
        place: &FxHashMap<SymbolId, usize>,
    ) -> Option<(Vec<(SymbolId, ExprId)>, ExprId)> {
        let Value::Explicit(value) = self.map[&symbol].value else {
            return None;
        };
        let is_member =
            |exprs: &Exprs, id: ExprId| matches!(exprs.node(id), Node::Symbol(symbol) if place.contains_key(symbol));
        let form = self.exprs.affine(value, &is_member)?;
        let mut terms = Vec::with_capacity(form.terms.len());
        for (atom, coefficient) in form.terms {
            // A coefficient that holds a member makes a product of them.
            let holds = self.exprs.symbols_of(&[coefficient]);
            match *self.exprs.node(atom) {
                Node::Symbol(symbol) if !holds.iter().any(|held| place.contains_key(held)) => {
                    terms.push((symbol, coefficient));
                }
                _ => return None,
            }
        }
        Some((terms, form.rest))
    }
}

fn subtract<F: Field>(
    field: &mut F,
    from: &mut FxHashMap<usize, F::Element>,
    other: &FxHashMap<usize, F::Element>,
    factor: &F::Element,
) {
    for (column, value) in other {
        let product = field.mul(factor, value);
        let before = from.remove(column).unwrap_or_else(|| field.zero());
        let left = field.sub(&before, &product);
        if !field.is_zero(&left) {
            from.insert(*column, left);
        }
    }
}
