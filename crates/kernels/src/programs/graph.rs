//! Computations as a graph of values: every node is an operation on doubles, and equal nodes are merged.
//!
//! Children come before their parents. Values are simplified during construction; this changes results by no more than round-off.

use super::operation::{Binary, Space, Unary};
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

/// A value of a [`Graph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ValueId(pub(crate) u32);

/// One node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Value {
    /// A number, as its bits.
    Number(u64),
    /// An argument of the kernel.
    Argument(Space, u32),
    /// An operation on one value.
    Unary(Unary, ValueId),
    /// An operation on two values.
    Binary(Binary, ValueId, ValueId),
    /// The second value if the first is not 0, otherwise the third.
    Select(ValueId, ValueId, ValueId),
}

impl Value {
    /// Returns the operands of the node.
    pub(crate) fn children(&self) -> impl Iterator<Item = ValueId> + use<> {
        let list = match *self {
            Value::Number(_) | Value::Argument(..) => [None; 3],
            Value::Unary(_, a) => [Some(a), None, None],
            Value::Binary(_, a, b) => [Some(a), Some(b), None],
            Value::Select(a, b, c) => [Some(a), Some(b), Some(c)],
        };
        list.into_iter().flatten()
    }
}

/// A graph of values with shared parts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    nodes: IndexSet<Value, FxBuildHasher>,
    /// For each value, true if it depends on more than parameters.
    varies: Vec<bool>,
    /// Values that are computed separately.
    cuts: Vec<ValueId>,
}

impl Graph {
    pub(crate) fn node(&self, id: ValueId) -> Value {
        *self
            .nodes
            .get_index(id.0 as usize)
            .expect("invariant: a ValueId belongs to the graph that made it")
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns true if a value depends on more than parameters, and so may change between two calls of a run.
    pub(crate) fn varies(&self, id: ValueId) -> bool {
        self.varies[id.0 as usize]
    }

    /// Requests a separate computation of a value, so that it may become a lane among others of its shape.
    pub(crate) fn cut(&mut self, id: ValueId) {
        self.cuts.push(id);
    }

    pub(crate) fn cuts(&self) -> &[ValueId] {
        &self.cuts
    }

    fn intern(&mut self, node: Value) -> ValueId {
        let (index, new) = self.nodes.insert_full(node);
        if new {
            let varies = match node {
                Value::Number(_) | Value::Argument(Space::Parameters, _) => false,
                Value::Argument(..) => true,
                _ => node.children().any(|child| self.varies(child)),
            };
            self.varies.push(varies);
        }
        ValueId(index as u32)
    }

    pub(crate) fn number(&mut self, value: f64) -> ValueId {
        self.intern(Value::Number(value.to_bits()))
    }

    pub(crate) fn argument(&mut self, space: Space, index: u32) -> ValueId {
        self.intern(Value::Argument(space, index))
    }

    /// Returns the value as a number if it is one.
    pub(crate) fn as_number(&self, id: ValueId) -> Option<f64> {
        match self.node(id) {
            Value::Number(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    fn is_number(&self, id: ValueId, number: f64) -> bool {
        self.as_number(id) == Some(number)
    }

    /// Returns the operand of a negation.
    fn negated(&self, id: ValueId) -> Option<ValueId> {
        match self.node(id) {
            Value::Unary(Unary::Negate, inner) => Some(inner),
            _ => None,
        }
    }

    pub(crate) fn unary(&mut self, operation: Unary, a: ValueId) -> ValueId {
        if let Some(value) = self.as_number(a) {
            return self.number(operation.apply(value));
        }
        if operation == Unary::Negate
            && let Some(inner) = self.negated(a)
        {
            return inner;
        }
        self.intern(Value::Unary(operation, a))
    }

    pub(crate) fn negate(&mut self, a: ValueId) -> ValueId {
        self.unary(Unary::Negate, a)
    }

    pub(crate) fn binary(&mut self, operation: Binary, a: ValueId, b: ValueId) -> ValueId {
        if let (Some(x), Some(y)) = (self.as_number(a), self.as_number(b)) {
            return self.number(operation.apply(x, y));
        }
        match operation {
            Binary::Add => self.add(a, b),
            Binary::Subtract => {
                let minus = self.negate(b);
                self.add(a, minus)
            }
            Binary::Multiply => self.multiply(a, b),
            Binary::Divide => self.divide(a, b),
            _ => self.intern(Value::Binary(operation, a, b)),
        }
    }

    fn add(&mut self, a: ValueId, b: ValueId) -> ValueId {
        if self.is_number(a, 0.0) {
            return b;
        }
        if self.is_number(b, 0.0) {
            return a;
        }
        match (self.negated(a), self.negated(b)) {
            (Some(x), Some(y)) => {
                let sum = self.add(x, y);
                self.negate(sum)
            }
            (None, Some(y)) => self.intern(Value::Binary(Binary::Subtract, a, y)),
            (Some(x), None) => self.intern(Value::Binary(Binary::Subtract, b, x)),
            (None, None) => self.intern(Value::Binary(Binary::Add, a, b)),
        }
    }

    /// Moves a sign outside, so that values that differ only in sign are computed once.
    fn unsigned(&mut self, id: ValueId, negative: &mut bool) -> ValueId {
        if let Some(inner) = self.negated(id) {
            *negative = !*negative;
            return inner;
        }
        match self.as_number(id) {
            Some(number) if number < 0.0 => {
                *negative = !*negative;
                self.number(-number)
            }
            _ => id,
        }
    }

    fn multiply(&mut self, a: ValueId, b: ValueId) -> ValueId {
        let mut negative = false;
        let a = self.unsigned(a, &mut negative);
        let b = self.unsigned(b, &mut negative);
        let product = if self.is_number(a, 1.0) {
            b
        } else if self.is_number(b, 1.0) {
            a
        } else {
            // Numbers first; otherwise the order is kept, so that repeated equations keep the same shape.
            let (a, b) = if self.as_number(b).is_some() { (b, a) } else { (a, b) };
            self.intern(Value::Binary(Binary::Multiply, a, b))
        };
        if negative { self.negate(product) } else { product }
    }

    fn divide(&mut self, a: ValueId, b: ValueId) -> ValueId {
        let mut negative = false;
        let a = self.unsigned(a, &mut negative);
        let b = self.unsigned(b, &mut negative);
        let quotient = if self.is_number(b, 1.0) {
            a
        } else {
            self.intern(Value::Binary(Binary::Divide, a, b))
        };
        if negative { self.negate(quotient) } else { quotient }
    }

    /// Joins the terms `m*exp(x)` and `-m` of a sum to `m*expm1(x)`. Near 0, their difference is dominated by round-off: the current of a
    /// diode would be a staircase, and a run with small voltages would follow its steps.
    pub(crate) fn join_exponentials(&mut self, terms: &mut Vec<ValueId>) {
        let mut at = 0;
        while at < terms.len() {
            let pair = self.exponential(terms[at]).and_then(|(factor, exponent)| {
                let counterpart = self.negate(factor);
                let other = terms.iter().position(|term| *term == counterpart)?;
                Some((factor, exponent, other))
            });
            let Some((factor, exponent, other)) = pair else {
                at += 1;
                continue;
            };
            let difference = self.unary(Unary::ExpMinusOne, exponent);
            terms[at.min(other)] = self.multiply(factor, difference);
            terms.remove(at.max(other));
            at = 0;
        }
    }

    /// Returns the factor and the exponent of a value of the form `m*exp(x)`.
    fn exponential(&mut self, id: ValueId) -> Option<(ValueId, ValueId)> {
        let exponent = |graph: &Graph, id: ValueId| match graph.node(id) {
            Value::Unary(Unary::Exp, exponent) => Some(exponent),
            _ => None,
        };
        match self.node(id) {
            Value::Unary(Unary::Exp, exponent) => Some((self.number(1.0), exponent)),
            Value::Unary(Unary::Negate, inner) => {
                let (factor, exponent) = self.exponential(inner)?;
                Some((self.negate(factor), exponent))
            }
            Value::Binary(Binary::Multiply, a, b) => match (exponent(self, a), exponent(self, b)) {
                (_, Some(exponent)) => Some((a, exponent)),
                (Some(exponent), None) => Some((b, exponent)),
                (None, None) => None,
            },
            _ => None,
        }
    }

    pub(crate) fn select(&mut self, condition: ValueId, a: ValueId, b: ValueId) -> ValueId {
        match self.as_number(condition) {
            Some(number) if number != 0.0 => a,
            Some(_) => b,
            None if a == b => a,
            None => self.intern(Value::Select(condition, a, b)),
        }
    }

    /// Computes `base^exponent` for a positive exponent, by squaring: 5 takes three multiplications.
    pub(crate) fn power(&mut self, base: ValueId, exponent: u32) -> ValueId {
        let mut square = base;
        let mut rest = exponent;
        let mut product = None;
        while rest > 0 {
            if rest & 1 == 1 {
                product = Some(match product {
                    Some(product) => self.binary(Binary::Multiply, product, square),
                    None => square,
                });
            }
            rest >>= 1;
            if rest > 0 {
                square = self.binary(Binary::Multiply, square, square);
            }
        }
        product.unwrap_or_else(|| self.number(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exponential_less_its_factor_is_one_operation() {
        let mut graph = Graph::default();
        let [x, other] = [0, 1].map(|index| graph.argument(Space::States, index));
        let factor = graph.argument(Space::Parameters, 0);
        let exponential = graph.unary(Unary::Exp, x);
        let difference = graph.unary(Unary::ExpMinusOne, x);

        let minus_one = graph.number(-1.0);
        let mut terms = vec![minus_one, other, exponential];
        graph.join_exponentials(&mut terms);
        assert_eq!(terms, [difference, other]);

        let (above, below) = (graph.multiply(factor, exponential), graph.negate(factor));
        let mut terms = vec![above, other, below];
        graph.join_exponentials(&mut terms);
        assert_eq!(terms, [graph.multiply(factor, difference), other]);

        // One minus an exponential, and other expressions.
        let (one, negative) = (graph.number(1.0), graph.negate(exponential));
        let mut terms = vec![one, negative];
        graph.join_exponentials(&mut terms);
        assert_eq!(terms, [graph.negate(difference)]);
        let mut terms = vec![one, exponential];
        graph.join_exponentials(&mut terms);
        assert_eq!(terms, [one, exponential]);
    }
}
