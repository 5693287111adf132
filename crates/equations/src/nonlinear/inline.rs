//! Substitution of definitions at their points of use.

use crate::nonlinear::loops::Resolved;
use lgm_algebra::expr::{ExprId, Exprs, SymbolId};
use rustc_hash::FxHashMap;

/// The largest length of an equation, in characters, up to which its parts are not named.
pub(crate) const READABLE: usize = 400;

/// Substitutes some assignments at their points of use.
pub(crate) fn inlined(exprs: &mut Exprs, resolved: &Resolved, inline: impl Fn(SymbolId) -> bool) -> Resolved {
    // Uses of an assignment come after it, so a part has the same values everywhere.
    let (mut values, mut known) = (FxHashMap::default(), FxHashMap::default());
    let mut kept = resolved.clone();
    kept.assignments.clear();
    for (symbol, value) in &resolved.assignments {
        let value = exprs.substitute_on(&[*value], &mut known, |symbol| values.get(&symbol).copied())[0];
        if inline(*symbol) {
            values.insert(*symbol, value);
        } else {
            kept.assignments.push((*symbol, value));
        }
    }
    let mut change = |list: &mut Vec<ExprId>| {
        *list = exprs.substitute_on(list, &mut known, |symbol| values.get(&symbol).copied());
    };
    for each in &mut kept.loops {
        change(&mut each.residuals);
    }
    change(&mut kept.roots);
    for row in &mut kept.mass {
        let mut list: Vec<ExprId> = row.terms.iter().map(|term| term.1).collect();
        list.push(row.right);
        change(&mut list);
        row.right = list.pop().expect("invariant: the right side was put in");
        row.terms.iter_mut().zip(list).for_each(|(term, id)| term.1 = id);
    }
    kept
}

/// Returns the number of characters of a name and an equals sign. Temporary numbers are assigned at the end, and are short.
pub(crate) fn named_length(exprs: &Exprs, symbol: SymbolId) -> usize {
    exprs.symbol_info(symbol).name.len() + " = ".len()
}
