//! Exact derivatives of shared expressions: whole rows of partial derivatives, sparse.
//!
//! Derivatives of `abs`, `sign`, `min`, `max`, `floor`, `if`, relations and steps are derivatives of the active branch; the event search
//! handles the instants at which the branch changes.

use super::Exprs;
use crate::expr::{ExprId, Function, Node, SymbolId};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Nonzero partial derivatives of an expression with their columns, which ascend.
pub type GradientRow = Rc<[(u32, ExprId)]>;

/// An `int` or `der` call depends on a variable, so the expression has no derivative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoDerivative;

/// Rows of partial derivatives with respect to chosen symbols, one column each, cached for shared subexpressions.
///
/// The cost is proportional to the size of the expressions plus the number of entries in the rows: a graph of n equations with few
/// variables each costs O(n), even if the equations share many parts.
#[derive(Clone, Debug)]
pub struct Gradient {
    symbols: FxHashMap<SymbolId, GradientRow>,
    rows: FxHashMap<ExprId, GradientRow>,
    nothing: GradientRow,
}

impl Gradient {
    /// Creates a gradient whose columns are these symbols in order.
    pub fn new(exprs: &mut Exprs, columns: &[SymbolId]) -> Gradient {
        let one = exprs.one();
        let rows = columns.iter().enumerate();
        Gradient {
            symbols: rows
                .map(|(column, symbol)| (*symbol, GradientRow::from([(column as u32, one)])))
                .collect(),
            rows: FxHashMap::default(),
            nothing: GradientRow::from([]),
        }
    }

    /// Defines a symbol as a value, as an assignment does: its row becomes the row of the value.
    ///
    /// Call this before requesting the row of any expression that contains the symbol.
    pub fn define(&mut self, exprs: &mut Exprs, symbol: SymbolId, value: ExprId) -> Result<(), NoDerivative> {
        let row = self.row(exprs, value)?;
        self.symbols.insert(symbol, row);
        Ok(())
    }

    /// Adds a column for a symbol to the chosen ones; the columns of all symbols must be distinct.
    ///
    /// Call this before requesting the row of any expression that contains the symbol.
    pub fn hold(&mut self, exprs: &mut Exprs, symbol: SymbolId, column: u32) {
        let one = exprs.one();
        self.symbols.insert(symbol, GradientRow::from([(column, one)]));
    }

    /// Returns the partial derivatives of an expression.
    pub fn row(&mut self, exprs: &mut Exprs, root: ExprId) -> Result<GradientRow, NoDerivative> {
        let mut stack = vec![root];
        while let Some(id) = stack.last().copied() {
            if self.rows.contains_key(&id) {
                stack.pop();
                continue;
            }
            let waiting = stack.len();
            let missing = |child: &ExprId| !self.rows.contains_key(child);
            stack.extend(exprs.node(id).children().filter(missing));
            if stack.len() == waiting {
                let row = self.node_row(exprs, id)?;
                self.rows.insert(id, row);
                stack.pop();
            }
        }
        Ok(self.rows[&root].clone())
    }

    /// Returns the row of a node whose children already have rows.
    fn node_row(&self, exprs: &mut Exprs, id: ExprId) -> Result<GradientRow, NoDerivative> {
        if let Node::Symbol(symbol) = exprs.node(id) {
            return Ok(self.symbols.get(symbol).unwrap_or(&self.nothing).clone());
        }
        let is_constant = |child: ExprId| self.rows[&child].is_empty();
        if exprs.node(id).children().all(is_constant) {
            return Ok(self.nothing.clone());
        }
        let node = exprs.node(id).clone();
        let row = match &node {
            Node::Sum(list) => {
                let entries = list.iter().flat_map(|child| self.rows[child].iter().copied());
                merged(exprs, entries.collect())
            }
            Node::Product(list) => {
                let mut entries = Vec::new();
                for (position, child) in list.iter().enumerate() {
                    for (column, rate) in self.rows[child].iter() {
                        let mut factors = list.to_vec();
                        factors[position] = *rate;
                        entries.push((*column, exprs.product(factors)));
                    }
                }
                merged(exprs, entries)
            }
            _ => {
                let mut columns: Vec<u32> = node
                    .children()
                    .flat_map(|child| self.rows[&child].iter().map(|entry| entry.0))
                    .collect();
                columns.sort_unstable();
                columns.dedup();
                let zero = exprs.zero();
                let mut entries = Vec::with_capacity(columns.len());
                for column in columns {
                    let rate_of = |child: ExprId| {
                        let row = &self.rows[&child];
                        row.binary_search_by_key(&column, |entry| entry.0)
                            .map_or(zero, |at| row[at].1)
                    };
                    let rate = exprs.node_rate(id, &node, &rate_of).ok_or(NoDerivative)?;
                    if rate != zero {
                        entries.push((column, rate));
                    }
                }
                entries
            }
        };
        Ok(row.into())
    }
}

/// Merges entries by column; entries of the same column are added up in order.
fn merged(exprs: &mut Exprs, mut entries: Vec<(u32, ExprId)>) -> Vec<(u32, ExprId)> {
    entries.sort_by_key(|entry| entry.0);
    let mut row = Vec::with_capacity(entries.len());
    for same in entries.chunk_by(|a, b| a.0 == b.0) {
        let rate = match same {
            [only] => only.1,
            _ => exprs.sum(same.iter().map(|entry| entry.1)),
        };
        if !exprs.is_zero(rate) {
            row.push((same[0].0, rate));
        }
    }
    row
}

impl Exprs {
    /// Returns the derivative of an expression with respect to a symbol. Steps are constant between their jumps. `None` if an `int` or
    /// `der` call depends on the symbol.
    pub fn differentiate(&mut self, root: ExprId, symbol: SymbolId) -> Option<ExprId> {
        let row = Gradient::new(self, &[symbol]).row(self, root).ok()?;
        Some(match row.first() {
            Some(entry) => entry.1,
            None => self.zero(),
        })
    }

    /// Builds `if condition then a else b`, or just `a` if both are equal.
    fn choose(&mut self, condition: ExprId, a: ExprId, b: ExprId) -> ExprId {
        if a == b { a } else { self.if_else(condition, a, b) }
    }

    /// Returns the rate of a node from the rates of its children, for nodes other than leaves, sums and products; `None` for `int` and
    /// `der`.
    fn node_rate(&mut self, id: ExprId, node: &Node, rate_of: &dyn Fn(ExprId) -> ExprId) -> Option<ExprId> {
        Some(match node {
            Node::Relation(..) | Node::Not(_) => self.zero(),
            Node::Number(_) | Node::Pi | Node::Symbol(_) | Node::Sum(_) | Node::Product(_) => {
                unreachable!("invariant: leaves, sums and products have rows of their own rules")
            }
            Node::Power(base, exponent) => {
                self.power_rate(id, (*base, rate_of(*base)), (*exponent, rate_of(*exponent)))
            }
            Node::If(_, a, _) if self.as_guarded(id).is_some() => self.guarded_rate(id, rate_of(*a)),
            Node::If(condition, a, b) => self.choose(*condition, rate_of(*a), rate_of(*b)),
            Node::Call(function, list) => match self.outer_derivative(id, *function, list[0]) {
                Some(outer) => self.mul(outer, rate_of(list[0])),
                None => return self.call_rate(*function, list, rate_of),
            },
        })
    }

    /// Returns the rate of `base^exponent`, which is `id`; base and exponent are given with their rates.
    fn power_rate(&mut self, id: ExprId, base: (ExprId, ExprId), exponent: (ExprId, ExprId)) -> ExprId {
        let ((base, base_rate), (exponent, exponent_rate)) = (base, exponent);
        let minus_one = self.integer(-1);
        let less = self.sum([exponent, minus_one]);
        let lower = self.power(base, less);
        let by_base = self.product([exponent, lower, base_rate]);
        if self.is_zero(exponent_rate) {
            return by_base;
        }
        let logarithm = self.call(Function::Log, [base]);
        let by_exponent = self.product([id, logarithm, exponent_rate]);
        self.sum([by_base, by_exponent])
    }

    fn square(&mut self, x: ExprId) -> ExprId {
        let two = self.integer(2);
        self.power(x, two)
    }

    /// Returns the derivative of the one-argument function call `id` with respect to its argument; `None` for functions of several
    /// arguments, `int` and `der`.
    fn outer_derivative(&mut self, id: ExprId, function: Function, x: ExprId) -> Option<ExprId> {
        let one = self.one();
        Some(match function {
            Function::Sin => self.call(Function::Cos, [x]),
            Function::Cos => {
                let sine = self.call(Function::Sin, [x]);
                self.neg(sine)
            }
            Function::Tan => {
                let square = self.square(id);
                self.add(one, square)
            }
            Function::Asin | Function::Acos => {
                let square = self.square(x);
                let inner = self.sub(one, square);
                let root = self.call(Function::Sqrt, [inner]);
                let rate = self.div(one, root);
                if function == Function::Asin {
                    rate
                } else {
                    self.neg(rate)
                }
            }
            Function::Atan => {
                let square = self.square(x);
                let inner = self.add(one, square);
                self.div(one, inner)
            }
            Function::Sinh => self.call(Function::Cosh, [x]),
            Function::Cosh => self.call(Function::Sinh, [x]),
            Function::Tanh => {
                let square = self.square(id);
                self.sub(one, square)
            }
            Function::Asinh => {
                let square = self.square(x);
                let inner = self.add(one, square);
                let root = self.call(Function::Sqrt, [inner]);
                self.div(one, root)
            }
            Function::Exp => id,
            Function::Log => self.div(one, x),
            Function::Sqrt => {
                let two = self.integer(2);
                let twice = self.mul(two, id);
                self.div(one, twice)
            }
            Function::Abs => self.call(Function::Sign, [x]),
            Function::Sign | Function::Floor | Function::Step | Function::Pulse => self.zero(),
            Function::Ramp | Function::Atan2 | Function::Min | Function::Max | Function::Int | Function::Der => {
                return None;
            }
        })
    }

    /// Returns the rate of a call with several arguments; `None` for `int` and `der`.
    fn call_rate(&mut self, function: Function, list: &[ExprId], rate_of: &dyn Fn(ExprId) -> ExprId) -> Option<ExprId> {
        let x = list[0];
        match function {
            Function::Ramp => {
                let begun = self.call(Function::Step, [x, list[1]]);
                let since = self.sub(rate_of(list[1]), rate_of(x));
                Some(self.mul(begun, since))
            }
            Function::Atan2 => {
                let y = list[1];
                let (xx, yy) = (self.square(x), self.square(y));
                let norm = self.add(xx, yy);
                let (a, b) = (self.mul(y, rate_of(x)), self.mul(x, rate_of(y)));
                let top = self.sub(a, b);
                Some(self.div(top, norm))
            }
            Function::Min | Function::Max => {
                let mut rate = rate_of(x);
                let mut best = x;
                for &next in &list[1..] {
                    let (low, high) = if function == Function::Min {
                        (next, best)
                    } else {
                        (best, next)
                    };
                    let takes_next = self.relation(super::Relation::Less, low, high);
                    rate = self.choose(takes_next, rate_of(next), rate);
                    best = self.if_else(takes_next, next, best);
                }
                Some(rate)
            }
            _ => None,
        }
    }
}
