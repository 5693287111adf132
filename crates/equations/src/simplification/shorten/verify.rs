//! Whether two forms of an expression are equal, by values at random points.

use lgm_algebra::expr::{ExprId, Exprs, SymbolId};
use lgm_algebra::{FromExpression, PrimeField, Sampled};

/// Points modulo a prime.
const SEEDS: [u64; 2] = [0x5eed_0001, 0x5eed_0002];

/// Points in doubles, for identities of functions that values modulo a prime know nothing of.
const POINTS: u64 = 4;

/// How far two values may be apart, for one of 1.
const TOLERANCE: f64 = 1e-7;

/// Whether both have the same values: modulo a prime, where an accident is as good as impossible; or else in doubles.
pub(super) fn are_equal(exprs: &Exprs, a: ExprId, b: ExprId) -> bool {
    let same = |seed: &u64| {
        let mut field = Sampled::new(*seed);
        let value = |field: &mut Sampled, id| field.from_expression(exprs, id).ok();
        let (a, b) = (value(&mut field, a), value(&mut field, b));
        a.is_some() && a == b
    };
    SEEDS.iter().all(same) || are_near(exprs, a, b)
}

/// The same in doubles. A point where either has no value says nothing.
fn are_near(exprs: &Exprs, a: ExprId, b: ExprId) -> bool {
    let mut compared = 0;
    for point in 1..=POINTS * 4 {
        let value = |symbol: SymbolId| {
            let random = PrimeField.sample(u64::from(symbol.0), point);
            // Between 0.5 and 1.5, where most functions have values.
            Some(0.5 + (random % 1_000_003) as f64 / 1_000_003.0)
        };
        let [a, b] = exprs.evaluate_unchecked(&[a, b], &value)[..] else {
            return false;
        };
        if !a.is_finite() || !b.is_finite() {
            continue;
        }
        if (a - b).abs() > TOLERANCE * (1.0 + a.abs()) {
            return false;
        }
        compared += 1;
        if compared == POINTS {
            break;
        }
    }
    compared > 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use lgm_algebra::expr::{Function, SymbolKind};

    #[test]
    fn other_values_are_seen_and_identities_are_known() {
        let mut exprs = Exprs::default();
        let mut symbol = |name: &str| {
            let symbol = exprs.new_symbol(name, SymbolKind::Parameter);
            exprs.symbol(symbol)
        };
        let (a, b) = (symbol("a"), symbol("b"));
        let (sum, difference) = (exprs.add(a, b), exprs.sub(a, b));
        let product = exprs.mul(sum, difference);
        let two = exprs.integer(2);
        let squares = [exprs.power(a, two), exprs.power(b, two)];
        let of_squares = exprs.sub(squares[0], squares[1]);
        assert!(are_equal(&exprs, product, of_squares));
        assert!(!are_equal(&exprs, product, sum));
        let twice = exprs.mul(two, a);
        let sine_of_twice = exprs.call(Function::Sin, [twice]);
        let (sine, cosine) = (exprs.call(Function::Sin, [a]), exprs.call(Function::Cos, [a]));
        let product = exprs.product([two, sine, cosine]);
        assert!(are_equal(&exprs, sine_of_twice, product));
        let wrong = exprs.mul(sine, cosine);
        assert!(!are_equal(&exprs, sine_of_twice, wrong));
    }
}
