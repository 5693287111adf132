//! The parameters of merged elements.

use super::parameters::{inverse, shortest, with_other};
use super::report::{Merge, MergeKind};
use lgm_algebra::expr::{ExprId, Exprs};
use lgm_model::PortId;
use rustc_hash::FxHashMap;

/// Sets the parameters of the kept elements from all elements merged with them. Dependent storage adds to the value of its element; storage
/// in the same field is combined in parallel.
pub(super) fn total(exprs: &mut Exprs, merges: &mut [Merge]) {
    let mut together: FxHashMap<PortId, ExprId> = FxHashMap::default();
    for merge in merges.iter().filter(|merge| merge.kind == MergeKind::Dependent) {
        let sum = together.get(&merge.kept).copied().unwrap_or(merge.before);
        together.insert(merge.kept, with_other(exprs, sum, merge.gain, merge.own));
    }
    for whole in together.values_mut() {
        *whole = shortest(exprs, *whole);
    }
    for merge in merges.iter_mut() {
        match (merge.kind, together.get(&merge.kept).copied()) {
            (MergeKind::Dependent, whole) => merge.after = whole.unwrap_or(merge.before),
            (MergeKind::Conserved, whole) => {
                merge.before = whole.unwrap_or(merge.before);
                let (mine, other) = (inverse(exprs, merge.before), inverse(exprs, merge.own));
                let sum = with_other(exprs, mine, merge.gain, other);
                let whole = inverse(exprs, sum);
                merge.after = shortest(exprs, whole);
                together.insert(merge.kept, merge.after);
            }
        }
    }
}
