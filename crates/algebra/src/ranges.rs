//! The possible values of expressions for fixed parameters and arbitrary other variables, to find those that may pass through zero.

use crate::expr::{ExprId, Exprs, Function, Node, SymbolId, to_f64};
use num_rational::BigRational;
use num_traits::ToPrimitive;
use rustc_hash::FxHashMap;

/// An interval that contains all values.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Range {
    low: f64,
    high: f64,
    /// True if the expression contains no symbols except parameters.
    is_steady: bool,
}

impl Range {
    fn between(low: f64, high: f64) -> Range {
        Range {
            low,
            high,
            is_steady: false,
        }
    }

    fn anything() -> Range {
        Range::between(f64::NEG_INFINITY, f64::INFINITY)
    }

    fn point(value: f64) -> Range {
        let range = match value.is_nan() {
            true => Range::anything(),
            false => Range::between(value, value),
        };
        Range {
            is_steady: true,
            ..range
        }
    }

    fn excludes_zero(self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }

    fn plus(self, other: Range) -> Range {
        Range::between(self.low + other.low, self.high + other.high)
    }

    fn times(self, other: Range) -> Range {
        let ends = [
            times(self.low, other.low),
            times(self.low, other.high),
            times(self.high, other.low),
            times(self.high, other.high),
        ];
        let low = ends.into_iter().fold(f64::INFINITY, f64::min);
        Range::between(low, ends.into_iter().fold(f64::NEG_INFINITY, f64::max))
    }

    fn inverse(self) -> Range {
        match self.excludes_zero() {
            true => Range::between(self.high.recip(), self.low.recip()),
            false => Range::anything(),
        }
    }

    fn size(self) -> Range {
        let largest = self.high.max(-self.low);
        Range::between(self.low.max(-self.high).max(0.0), largest)
    }

    /// Applies an increasing function to the range.
    fn through(self, function: fn(f64) -> f64) -> Range {
        Range::between(function(self.low), function(self.high))
    }

    fn power(self, exponent: &BigRational) -> Range {
        let Some(whole) = exponent.is_integer().then(|| exponent.numer().to_i32()).flatten() else {
            // A root has values of one sign, for nonnegative arguments.
            let exponent = to_f64(exponent);
            let base = Range::between(self.low.max(0.0), self.high.max(0.0));
            let (a, b) = (base.low.powf(exponent), base.high.powf(exponent));
            return Range::between(a.min(b), a.max(b));
        };
        let base = if whole < 0 { self.inverse() } else { self };
        let whole = whole.saturating_abs();
        let base = if whole % 2 == 0 { base.size() } else { base };
        Range::between(base.low.powi(whole), base.high.powi(whole))
    }

    fn call(function: Function, arguments: &[Range]) -> Range {
        let first = arguments.first().copied().unwrap_or(Range::anything());
        match function {
            Function::Sin | Function::Cos => Range::between(-1.0, 1.0),
            Function::Tanh => first.through(f64::tanh),
            Function::Atan => first.through(f64::atan),
            Function::Sinh => first.through(f64::sinh),
            Function::Asinh => first.through(f64::asinh),
            Function::Exp => first.through(f64::exp),
            Function::Cosh => first.size().through(f64::cosh),
            Function::Abs => first.size(),
            Function::Sqrt => Range::between(first.low.max(0.0).sqrt(), first.high.max(0.0).sqrt()),
            Function::Min | Function::Max => {
                let bound = if function == Function::Min { f64::min } else { f64::max };
                let all = arguments.iter().map(|range| (range.low, range.high));
                let (low, high) = all
                    .reduce(|a, b| (bound(a.0, b.0), bound(a.1, b.1)))
                    .unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
                Range::between(low, high)
            }
            Function::Tan | Function::Asin | Function::Acos | Function::Atan2 => Range::anything(),
            Function::Log | Function::Sign | Function::Floor => Range::anything(),
            Function::Step | Function::Pulse | Function::Ramp => Range::anything(),
            Function::Int | Function::Der => Range::anything(),
        }
    }
}

/// Multiplies bounds; zero times an unbounded value is zero.
fn times(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 { 0.0 } else { a * b }
}

/// The ranges of the expressions of one arena.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranges {
    parameters: FxHashMap<SymbolId, f64>,
    known: FxHashMap<ExprId, Range>,
}

impl Ranges {
    /// Creates ranges for these values of the parameters; all other symbols may have any value.
    pub(super) fn new(parameters: FxHashMap<SymbolId, f64>) -> Ranges {
        Ranges {
            parameters,
            known: FxHashMap::default(),
        }
    }

    /// Returns true if an expression depends on symbols other than parameters.
    pub(super) fn changes(&mut self, exprs: &Exprs, id: ExprId) -> bool {
        !self.range(exprs, id).is_steady
    }

    /// Returns true if an expression varies, and its range contains zero.
    pub(super) fn may_vanish(&mut self, exprs: &Exprs, id: ExprId) -> bool {
        let range = self.range(exprs, id);
        !range.is_steady && !range.excludes_zero()
    }

    fn range(&mut self, exprs: &Exprs, root: ExprId) -> Range {
        let mut stack = vec![root];
        while let Some(id) = stack.last().copied() {
            if self.known.contains_key(&id) {
                stack.pop();
                continue;
            }
            let node = exprs.node(id);
            let depth = stack.len();
            stack.extend(node.children().filter(|child| !self.known.contains_key(child)));
            if stack.len() == depth {
                stack.pop();
                let range = self.of_node(exprs, node);
                self.known.insert(id, range);
            }
        }
        self.known[&root]
    }

    /// Returns the range of a node whose children's ranges are known.
    fn of_node(&self, exprs: &Exprs, node: &Node) -> Range {
        let of = |id: &ExprId| self.known[id];
        let range = match node {
            Node::Number(number) => Range::point(to_f64(number)),
            Node::Pi => Range::point(std::f64::consts::PI),
            Node::Symbol(symbol) => match self.parameters.get(symbol) {
                Some(value) => Range::point(*value),
                None => Range::anything(),
            },
            Node::Sum(list) => list.iter().map(of).fold(Range::point(0.0), Range::plus),
            Node::Product(list) => list.iter().map(of).fold(Range::point(1.0), Range::times),
            Node::Power(base, exponent) => match exprs.as_number(*exponent) {
                Some(number) => of(base).power(number),
                None if of(base).low > 0.0 => Range::between(0.0, f64::INFINITY),
                None => Range::anything(),
            },
            Node::Call(function, list) => {
                let arguments: Vec<Range> = list.iter().map(of).collect();
                Range::call(*function, &arguments)
            }
            Node::If(_, a, b) => {
                let (a, b) = (of(a), of(b));
                Range::between(a.low.min(b.low), a.high.max(b.high))
            }
            Node::Relation(..) | Node::Not(_) => Range::anything(),
        };
        let is_steady = match node {
            Node::Symbol(_) => range.is_steady,
            Node::Call(Function::Int | Function::Der, _) => false,
            _ => node.children().all(|child| of(&child).is_steady),
        };
        match range.low.is_nan() || range.high.is_nan() {
            true => Range {
                is_steady,
                ..Range::anything()
            },
            false => Range { is_steady, ..range },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::SymbolKind;

    #[test]
    fn what_may_vanish_and_what_may_not() {
        let mut exprs = Exprs::default();
        let q = exprs.new_symbol("q", SymbolKind::State);
        let m = exprs.new_symbol("m", SymbolKind::Parameter);
        let (q, m_symbol) = (exprs.symbol(q), m);
        let m = exprs.symbol(m_symbol);
        let mut ranges = Ranges::new(std::iter::once((m_symbol, 2.0)).collect());
        let cosine = exprs.call(Function::Cos, vec![q]);
        let two = exprs.integer(2);
        let square = exprs.power(cosine, two);
        let positive = exprs.add(square, m);
        let shifted = exprs.add(cosine, m);
        let length = exprs.add(q, m);
        let grows = exprs.call(Function::Exp, vec![q]);
        let quotient = exprs.div(grows, positive);
        for (id, expected) in [
            (q, true),
            (cosine, true),
            (square, true),
            (length, true),
            (positive, false),
            (shifted, false),
            (m, false),
            (two, false),
            // Its range begins at zero, as the range of a long chain of such values would by underflow.
            (quotient, true),
        ] {
            assert_eq!(ranges.may_vanish(&exprs, id), expected, "{id:?}");
        }
        assert!(ranges.changes(&exprs, positive) && !ranges.changes(&exprs, m));
    }
}
