//! Expressions to values: symbols become places in the arguments, assignments their values, powers multiplications.

use super::graph::{Graph, ValueId};
use super::operation::{Binary, Space, Unary};
use crate::equations::StateSystem;
use crate::expr::{ExprId, Exprs, Function, Node, Relation, SymbolId, to_f64};
use num_rational::BigRational;
use num_traits::{Signed, ToPrimitive};
use rustc_hash::FxHashMap;

/// Integer powers up to this size are multiplications.
const LARGEST_UNROLLED_POWER: u32 = 16;

/// Sums of more terms are split.
const LONGEST_SUM: usize = 16;

/// Where the numbers of symbols are found in [`Arguments`](super::Arguments).
#[derive(Clone, Debug, Default)]
pub struct Layout {
    places: FxHashMap<SymbolId, (Space, u32)>,
    /// Symbols that stand for expressions.
    values: FxHashMap<SymbolId, ExprId>,
}

impl Layout {
    /// The layout that all kernels of a system have.
    pub fn new(system: &StateSystem) -> Layout {
        let mut layout = Layout::default();
        layout.places.insert(system.time, (Space::Time, 0));
        let entries = system.parameters.iter().flat_map(|parameter| &parameter.entries);
        layout.place(Space::Parameters, entries.map(|entry| entry.symbol));
        layout.place(Space::States, system.states.iter().map(|state| state.symbol));
        layout.place(Space::Inputs, system.inputs.iter().map(|input| input.symbol));
        layout.place(Space::Rates, system.input_rates.iter().copied());
        let unknowns = system.loops.iter().flat_map(|entry| &entry.unknowns);
        layout.place(Space::Unknowns, unknowns.copied());
        for assignment in &system.assignments {
            layout.values.insert(assignment.symbol, assignment.value);
        }
        layout
    }

    fn place(&mut self, space: Space, symbols: impl Iterator<Item = SymbolId>) {
        for (index, symbol) in symbols.enumerate() {
            self.places.insert(symbol, (space, index as u32));
        }
    }

    /// Where a symbol's number is; none for assignments and for symbols of other systems.
    pub fn place_of(&self, symbol: SymbolId) -> Option<(Space, u32)> {
        self.places.get(&symbol).copied()
    }

    /// The expression that a symbol stands for, where it is assigned.
    pub fn value_of(&self, symbol: SymbolId) -> Option<ExprId> {
        self.values.get(&symbol).copied()
    }
}

/// Lowers roots to values of one graph.
pub(crate) fn lower(exprs: &Exprs, layout: &Layout, roots: &[ExprId]) -> (Graph, Vec<ValueId>) {
    let mut lowering = Lowering::new(exprs, layout);
    let values = roots.iter().map(|root| lowering.root(*root)).collect();
    (lowering.graph, values)
}

/// Expressions on their way to values, one graph for all.
pub(crate) struct Lowering<'a> {
    pub(crate) exprs: &'a Exprs,
    layout: &'a Layout,
    pub(crate) graph: Graph,
    done: FxHashMap<ExprId, ValueId>,
    order: Vec<ExprId>,
}

impl<'a> Lowering<'a> {
    pub(crate) fn new(exprs: &'a Exprs, layout: &'a Layout) -> Lowering<'a> {
        Lowering {
            exprs,
            layout,
            graph: Graph::default(),
            done: FxHashMap::default(),
            order: Vec::new(),
        }
    }

    /// The value of an expression that was lowered.
    pub(crate) fn value(&self, id: ExprId) -> ValueId {
        self.done[&id]
    }

    /// All that was lowered, each after what it is made of; an assigned symbol comes after its value.
    pub(crate) fn order(&self) -> &[ExprId] {
        &self.order
    }

    /// Lowers an expression with all that it is made of.
    pub(crate) fn root(&mut self, root: ExprId) -> ValueId {
        let mut stack = vec![root];
        while let Some(id) = stack.last().copied() {
            if self.done.contains_key(&id) {
                stack.pop();
                continue;
            }
            let waiting = stack.len();
            match self.exprs.node(id) {
                Node::Symbol(symbol) => stack.extend(self.layout.value_of(*symbol)),
                node => stack.extend(node.children()),
            }
            let done = &self.done;
            let mut at = waiting;
            while at < stack.len() {
                if done.contains_key(&stack[at]) {
                    stack.swap_remove(at);
                } else {
                    at += 1;
                }
            }
            if stack.len() == waiting {
                let value = self.node(id);
                self.done.insert(id, value);
                self.order.push(id);
                stack.pop();
            }
        }
        self.done[&root]
    }

    /// The value of a node whose children have theirs.
    fn node(&mut self, id: ExprId) -> ValueId {
        match self.exprs.node(id) {
            Node::Number(value) => self.graph.number(to_f64(value)),
            Node::Pi => self.graph.number(std::f64::consts::PI),
            Node::Symbol(symbol) => match self.layout.value_of(*symbol) {
                Some(value) => self.done[&value],
                None => {
                    let (space, index) = self.layout.place_of(*symbol).unwrap_or_else(|| {
                        let name = &self.exprs.symbol_info(*symbol).name;
                        panic!("invariant: `{name}` is a symbol of the system")
                    });
                    self.graph.argument(space, index)
                }
            },
            Node::Sum(list) => {
                let terms: Vec<ValueId> = list.iter().map(|child| self.done[child]).collect();
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
                    let (base, exponent) = (self.done[base], self.done[exponent]);
                    self.graph.binary(Binary::Power, base, exponent)
                }
            },
            Node::Call(function, list) => self.call(*function, list),
            Node::Relation(relation, a, b) => {
                let (a, b) = (self.done[a], self.done[b]);
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
            Node::Not(a) => self.graph.unary(Unary::Not, self.done[a]),
            Node::If(condition, a, b) => {
                let (condition, a, b) = (self.done[condition], self.done[a], self.done[b]);
                self.graph.select(condition, a, b)
            }
        }
    }

    /// From left to right, as people and `Exprs::evaluate_f64` do.
    fn chain(&mut self, operation: Binary, values: &[ValueId]) -> ValueId {
        let mut values = values.iter().copied();
        let mut result = values.next().unwrap_or_else(|| self.graph.number(f64::NAN));
        for value in values {
            result = self.graph.binary(operation, result, value);
        }
        result
    }

    /// A sum as a tree where it is long: partial sums of one shape then become a loop.
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

    /// A product over one denominator; factors that only parameters decide are put together first, so that they are one
    /// number for everything that holds them.
    fn product(&mut self, list: &[ExprId]) -> ValueId {
        // Above and below, steady and varying.
        let mut parts: [[Vec<ValueId>; 2]; 2] = Default::default();
        for child in list {
            let (value, below) = match self.exprs.node(*child) {
                Node::Power(base, exponent) => match self.exprs.as_number(*exponent) {
                    Some(exponent) if exponent.is_negative() => (self.power(*base, &-exponent), 1),
                    _ => (self.done[child], 0),
                },
                _ => (self.done[child], 0),
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

    /// A power with a positive number as exponent.
    fn power(&mut self, base: ExprId, exponent: &BigRational) -> ValueId {
        let base = self.done[&base];
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
        let arguments: Vec<ValueId> = list.iter().map(|child| self.done[child]).collect();
        let x = arguments[0];
        let unary = match function {
            Function::Sin => Unary::Sin,
            Function::Cos => Unary::Cos,
            Function::Tan => Unary::Tan,
            Function::Asin => Unary::Asin,
            Function::Acos => Unary::Acos,
            Function::Atan => Unary::Atan,
            Function::Sinh => Unary::Sinh,
            Function::Cosh => Unary::Cosh,
            Function::Tanh => Unary::Tanh,
            Function::Exp => Unary::Exp,
            Function::Log => Unary::Log,
            Function::Sqrt => Unary::SquareRoot,
            Function::Abs => Unary::Absolute,
            Function::Sign => Unary::Sign,
            Function::Floor => Unary::Floor,
            Function::Atan2 => return self.graph.binary(Binary::Atan2, x, arguments[1]),
            Function::Min => return self.chain(Binary::Minimum, &arguments),
            Function::Max => return self.chain(Binary::Maximum, &arguments),
            Function::Step => {
                let time = self.graph.argument(Space::Time, 0);
                return self.graph.binary(Binary::LessEqual, x, time);
            }
            Function::Pulse => {
                let time = self.graph.argument(Space::Time, 0);
                let end = self.graph.binary(Binary::Add, x, arguments[1]);
                let begun = self.graph.binary(Binary::LessEqual, x, time);
                let lasts = self.graph.binary(Binary::Less, time, end);
                return self.graph.binary(Binary::And, begun, lasts);
            }
            Function::Ramp => {
                let time = self.graph.argument(Space::Time, 0);
                let zero = self.graph.number(0.0);
                let since = self.graph.binary(Binary::Subtract, time, x);
                return self.graph.binary(Binary::Maximum, since, zero);
            }
            // Measures are gone from every system; alone in an expression they have no value.
            Function::Int | Function::Der => return self.graph.number(f64::NAN),
        };
        self.graph.unary(unary, x)
    }
}
