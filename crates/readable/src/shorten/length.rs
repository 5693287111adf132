//! The length of an expression: its operations first.

use lgm_algebra::expr::{ExprId, Exprs, Node, operations, text};
use num_bigint::BigInt;
use rustc_hash::FxHashMap;
use std::cmp::Ordering;

/// Operations, and digits of long numbers; then the unevenness of symbol uses, which preserves symmetry; then
/// characters. Only as much is counted as a comparison needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Length {
    operations: u64,
    id: ExprId,
}

impl Length {
    pub(super) fn of(exprs: &Exprs, id: ExprId) -> Length {
        Length {
            operations: operations(exprs, id).saturating_add(long_digits(exprs, id)),
            id,
        }
    }

    pub(super) fn is_less(self, exprs: &Exprs, than: Length) -> bool {
        let by_characters = || {
            let [own, other] = [self.id, than.id].map(|id| text(exprs, id).len());
            own.cmp(&other)
        };
        self.id != than.id && self.plainness(exprs, than).then_with(by_characters).is_lt()
    }

    /// Returns true if it is smaller, regardless of the number of characters.
    pub(super) fn is_plainer(self, exprs: &Exprs, than: Length) -> bool {
        self.id != than.id && self.plainness(exprs, than).is_lt()
    }

    fn plainness(self, exprs: &Exprs, than: Length) -> Ordering {
        let by_evenness = || unevenness(exprs, self.id).cmp(&unevenness(exprs, than.id));
        self.operations.cmp(&than.operations).then_with(by_evenness)
    }
}

/// The savings of another form: operations and, for equal numbers of operations, characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Saved {
    pub(super) operations: i64,
    pub(super) characters: i64,
}

/// Numbers up to this number of significant digits count as one; each further digit counts as an operation. A person
/// keeps decimals separate if their common denominator would turn them into long integers.
const DIGITS: u64 = 4;

/// Returns the number of digits beyond those of short numbers.
fn long_digits(exprs: &Exprs, root: ExprId) -> u64 {
    let significant = |value: &BigInt| value.magnitude().to_string().trim_end_matches('0').len() as u64;
    let beyond = |id: ExprId| match exprs.node(id) {
        Node::Number(value) => {
            let digits = significant(value.numer()) + significant(value.denom());
            // A whole number has the denominator 1, which is not written.
            (digits - u64::from(value.is_integer())).saturating_sub(DIGITS)
        }
        _ => 0,
    };
    exprs.reachable(&[root]).into_iter().map(beyond).sum()
}

/// Returns the difference between the uses of the most and of the least frequent symbol.
fn unevenness(exprs: &Exprs, root: ExprId) -> u64 {
    // From the whole down: how often each part is written.
    let mut written: FxHashMap<ExprId, u64> = FxHashMap::default();
    written.insert(root, 1);
    let (mut most, mut least) = (0, u64::MAX);
    for id in exprs.reachable(&[root]).into_iter().rev() {
        let times = written.get(&id).copied().unwrap_or(0);
        let node = exprs.node(id);
        if matches!(node, Node::Symbol(_)) {
            most = most.max(times);
            least = least.min(times);
        }
        for child in node.children() {
            let all = written.entry(child).or_default();
            *all = all.saturating_add(times);
        }
    }
    most.saturating_sub(least)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lgm_algebra::expr::SymbolKind;

    #[test]
    fn what_is_symmetric_is_shorter_than_what_is_not() {
        let mut exprs = Exprs::default();
        let mut symbol = |name: &str| {
            let symbol = exprs.new_symbol(name, SymbolKind::Parameter);
            exprs.symbol(symbol)
        };
        let (a, b, c) = (symbol("a"), symbol("b"), symbol("c"));
        let products = [exprs.mul(a, b), exprs.mul(b, c), exprs.mul(c, a)];
        let even = exprs.sum(products);
        let others = [exprs.mul(a, b), exprs.mul(b, b), exprs.mul(c, a)];
        let uneven = exprs.sum(others);
        assert_eq!(operations(&exprs, even), operations(&exprs, uneven));
        assert!(Length::of(&exprs, even).is_less(&exprs, Length::of(&exprs, uneven)));
        let factored = exprs.add(b, c);
        let factored = exprs.mul(a, factored);
        assert!(Length::of(&exprs, factored).is_less(&exprs, Length::of(&exprs, even)));
    }

    #[test]
    fn long_integers_are_longer_than_short_fractions() {
        let mut exprs = Exprs::default();
        let mut symbol = |name: &str| {
            let symbol = exprs.new_symbol(name, SymbolKind::Parameter);
            exprs.symbol(symbol)
        };
        let (a, b) = (symbol("a"), symbol("b"));
        let mut fraction = |above: i64, below: i64, of: ExprId| {
            let (above, below) = (exprs.integer(above), exprs.integer(below));
            let whole = exprs.mul(above, of);
            exprs.div(whole, below)
        };
        let apart = [fraction(1000, 563, a), fraction(2500, 441, b)];
        let together = [fraction(441_000, 1, a), fraction(1_407_500, 1, b)];
        let apart = exprs.sum(apart);
        let above = exprs.sum(together);
        let below = exprs.integer(248_283);
        let together = exprs.div(above, below);
        assert!(Length::of(&exprs, apart).is_less(&exprs, Length::of(&exprs, together)));
    }
}
