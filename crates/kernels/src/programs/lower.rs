//! Lowers expressions to values: symbols become positions in the arguments, assignments become their values, powers become multiplications.

use super::graph::{Graph, ValueId};
use super::operation::{Binary, Space, Unary};
use super::walk::{ById, Walk};
use crate::programs::layout::Layout;
use lgm_algebra::expr::{ExprId, Exprs, Function, Node, Relation, to_f64};
use num_rational::BigRational;
use num_traits::{Signed, ToPrimitive};

/// The largest integer power that is expanded into multiplications.
const LARGEST_UNROLLED_POWER: u32 = 16;

/// The maximum number of terms of a sum; longer sums are split.
const LONGEST_SUM: usize = 16;

/// Lowers roots to values of one graph.
pub(crate) fn lower(exprs: &Exprs, layout: &Layout, roots: &[ExprId]) -> (Graph, Vec<ValueId>) {
    let mut lowering = Lowering::new(exprs, layout, roots.len());
    let values = roots.iter().map(|root| lowering.root(*root)).collect();
    (lowering.graph, values)
}

/// Expressions during lowering, with one graph for all.
pub(crate) struct Lowering<'a> {
    pub(crate) exprs: &'a Exprs,
    layout: &'a Layout,
    pub(crate) graph: Graph,
    done: ById<ValueId>,
    walk: Walk<'a>,
    /// The nodes being lowered; empty in between.
    order: Vec<ExprId>,
}

impl<'a> Lowering<'a> {
    /// Creates a lowering for approximately `roots` roots.
    pub(crate) fn new(exprs: &'a Exprs, layout: &'a Layout, roots: usize) -> Lowering<'a> {
        Lowering {
            exprs,
            layout,
            graph: Graph::default(),
            done: ById::new(exprs, roots),
            walk: Walk::new(exprs, layout, roots),
            order: Vec::new(),
        }
    }

    /// Returns the value of an expression that was lowered.
    fn value(&self, id: ExprId) -> ValueId {
        self.done
            .get(id)
            .expect("invariant: parts are lowered before what they are parts of")
    }

    /// Reads an argument instead of an expression that has not been lowered yet.
    pub(crate) fn replace(&mut self, id: ExprId, space: Space, index: u32) {
        let value = self.graph.argument(space, index);
        self.walk.pass(id);
        self.done.insert(id, value);
    }

    /// Returns the function that changes sign when a relation or a sign changes.
    pub(crate) fn crossing(&mut self, id: ExprId) -> ValueId {
        match self.exprs.node(id) {
            Node::Relation(_, a, b) => {
                let (a, b) = (self.root(*a), self.root(*b));
                self.graph.binary(Binary::Subtract, a, b)
            }
            Node::Call(_, list) => self.root(list[0]),
            _ => unreachable!("invariant: a condition is a relation or a call"),
        }
    }

    /// Lowers an expression with all its parts.
    pub(crate) fn root(&mut self, root: ExprId) -> ValueId {
        let mut order = std::mem::take(&mut self.order);
        self.walk.to(root, &mut order);
        for id in order.drain(..) {
            let value = self.node(id);
            self.done.insert(id, value);
        }
        self.order = order;
        self.value(root)
    }

    /// Returns the value of a node whose children have values.
    fn node(&mut self, id: ExprId) -> ValueId {
        match self.exprs.node(id) {
            Node::Number(value) => self.graph.number(to_f64(value)),
            Node::Pi => self.graph.number(std::f64::consts::PI),
            Node::Symbol(symbol) => match self.layout.value_of(*symbol) {
                Some(value) => self.value(value),
                None => {
                    let (space, index) = self.layout.place_of(*symbol).unwrap_or_else(|| {
                        let name = &self.exprs.symbol_info(*symbol).name;
                        panic!("invariant: `{name}` is a symbol of the system")
                    });
                    self.graph.argument(space, index)
                }
            },
            Node::Sum(list) => {
                let mut terms: Vec<ValueId> = list.iter().map(|child| self.value(*child)).collect();
                self.graph.join_exponentials(&mut terms);
                self.long_sum(terms)
            }
            Node::Product(list) => self.product(list),
            Node::Power(base, exponent) => match self.exprs.as_number(*exponent) {
                Some(exponent) if exponent.is_negative() => {
                    let below = self.power(*base, &-exponent);
                    let one = self.graph.number(1.0);
                    self.graph.binary(Binary::Divide, one, below)
                }
                Some(exponent) => self.power(*base, exponent),
                None => {
                    let (base, exponent) = (self.value(*base), self.value(*exponent));
                    self.graph.binary(Binary::Power, base, exponent)
                }
            },
            Node::Call(function, list) => self.call(*function, list),
            Node::Relation(relation, a, b) => {
                let (a, b) = (self.value(*a), self.value(*b));
                let (operation, a, b) = match relation {
                    Relation::Less => (Binary::Less, a, b),
                    Relation::LessEqual => (Binary::LessEqual, a, b),
                    Relation::Greater => (Binary::Less, b, a),
                    Relation::GreaterEqual => (Binary::LessEqual, b, a),
                    Relation::Equal => (Binary::Equal, a, b),
                    Relation::NotEqual => (Binary::NotEqual, a, b),
                    Relation::And => (Binary::And, a, b),
                    Relation::Or => (Binary::Or, a, b),
                };
                self.graph.binary(operation, a, b)
            }
            Node::Not(a) => self.graph.unary(Unary::Not, self.value(*a)),
            Node::If(condition, a, b) => {
                let (condition, a, b) = (self.value(*condition), self.value(*a), self.value(*b));
                self.graph.select(condition, a, b)
            }
        }
    }

    /// Combines values from left to right, like `Exprs::evaluate_f64`.
    fn chain(&mut self, operation: Binary, values: &[ValueId]) -> ValueId {
        let mut values = values.iter().copied();
        let mut result = values.next().unwrap_or_else(|| self.graph.number(f64::NAN));
        for value in values {
            result = self.graph.binary(operation, result, value);
        }
        result
    }

    /// Lowers a long sum as a tree: partial sums of the same shape then become a loop.
    fn long_sum(&mut self, mut terms: Vec<ValueId>) -> ValueId {
        while terms.len() > LONGEST_SUM {
            let parts = terms.chunks(LONGEST_SUM);
            let parts: Vec<&[ValueId]> = parts.collect();
            let mut sums = Vec::with_capacity(parts.len());
            for part in parts {
                let sum = self.chain(Binary::Add, part);
                self.graph.cut(sum);
                sums.push(sum);
            }
            terms = sums;
        }
        self.chain(Binary::Add, &terms)
    }

    /// Lowers a product over one denominator. Factors that depend only on parameters are combined first, so that they are one number for
    /// all expressions that contain them.
    fn product(&mut self, list: &[ExprId]) -> ValueId {
        // Numerator and denominator, each constant and varying.
        let mut parts: [[Vec<ValueId>; 2]; 2] = Default::default();
        for child in list {
            let (value, below) = match self.exprs.node(*child) {
                Node::Power(base, exponent) => match self.exprs.as_number(*exponent) {
                    Some(exponent) if exponent.is_negative() => (self.power(*base, &-exponent), 1),
                    _ => (self.value(*child), 0),
                },
                _ => (self.value(*child), 0),
            };
            let varies = usize::from(self.graph.varies(value));
            parts[below][varies].push(value);
        }
        let [[steady, varying], [steady_below, varying_below]] = parts;
        let mut factor = None;
        if !steady.is_empty() || !steady_below.is_empty() {
            factor = Some(self.quotient(&steady, &steady_below));
        }
        if varying.is_empty() && varying_below.is_empty() {
            return factor.unwrap_or_else(|| self.graph.number(1.0));
        }
        let above: Vec<ValueId> = factor.into_iter().chain(varying).collect();
        self.quotient(&above, &varying_below)
    }

    fn quotient(&mut self, above: &[ValueId], below: &[ValueId]) -> ValueId {
        let top = match above {
            [] => self.graph.number(1.0),
            _ => self.chain(Binary::Multiply, above),
        };
        match below {
            [] => top,
            _ => {
                let bottom = self.chain(Binary::Multiply, below);
                self.graph.binary(Binary::Divide, top, bottom)
            }
        }
    }

    /// Lowers a power with a positive number as exponent.
    fn power(&mut self, base: ExprId, exponent: &BigRational) -> ValueId {
        let base = self.value(base);
        let whole = exponent.trunc().to_integer().to_u32();
        let rest = exponent.fract();
        let is_half = *rest.numer() == 1.into() && *rest.denom() == 2.into();
        match whole {
            Some(whole) if whole <= LARGEST_UNROLLED_POWER && (exponent.is_integer() || is_half) => {
                let root = is_half.then(|| self.graph.unary(Unary::SquareRoot, base));
                match (root, whole) {
                    (Some(root), 0) => root,
                    (Some(root), _) => {
                        let power = self.graph.power(base, whole);
                        self.graph.binary(Binary::Multiply, power, root)
                    }
                    (None, _) => self.graph.power(base, whole),
                }
            }
            _ => {
                let exponent = self.graph.number(to_f64(exponent));
                self.graph.binary(Binary::Power, base, exponent)
            }
        }
    }

    fn call(&mut self, function: Function, list: &[ExprId]) -> ValueId {
        let arguments: Vec<ValueId> = list.iter().map(|child| self.value(*child)).collect();
        let x = arguments[0];
        if let Some(unary) = Unary::of(function) {
            return self.graph.unary(unary, x);
        }
        if let Some(binary) = Binary::of(function) {
            return self.chain(binary, &arguments);
        }
        match function {
            Function::Step => self.graph.binary(Binary::LessEqual, x, arguments[1]),
            Function::Pulse => {
                let time = arguments[2];
                let end = self.graph.binary(Binary::Add, x, arguments[1]);
                let begun = self.graph.binary(Binary::LessEqual, x, time);
                let lasts = self.graph.binary(Binary::Less, time, end);
                self.graph.binary(Binary::And, begun, lasts)
            }
            Function::Ramp => {
                let zero = self.graph.number(0.0);
                let since = self.graph.binary(Binary::Subtract, arguments[1], x);
                self.graph.binary(Binary::Maximum, since, zero)
            }
            // `int` and `der` have been removed from every system; in a separate expression they have no value.
            Function::Int | Function::Der => self.graph.number(f64::NAN),
            other => unreachable!("invariant: {other:?} is an operation"),
        }
    }
}
