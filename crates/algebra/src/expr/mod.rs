//! One hash-consed expression for laws and equations.
//!
//! Children are always created before their parents, so ascending [`ExprId`] order is a topological
//! order; every traversal in this room uses that instead of recursion, and none can overflow the stack.
//!
//! AFTER THIS POINT an expression holds no unit (all numbers are SI), no source name (symbols are ids
//! into [`Exprs`]) and no structural constant (`const`, `for`, `sum` have been expanded).

mod affine;
mod derivative;
pub mod doubles;
mod exact;
mod fold;
mod guard;
mod isolate;
mod node;
pub mod print;

use indexmap::IndexSet;
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};
use rustc_hash::{FxBuildHasher, FxHashSet};
use std::sync::{Arc, OnceLock};

pub use affine::Affine;
pub use derivative::{Gradient, GradientRow, NoDerivative};
pub use exact::to_f64;
pub use fold::Evaluated;
pub use guard::{End, Guarded};
pub use node::{ExprId, Function, Node, Relation, Symbol, SymbolId, SymbolKind};
pub use print::{brief, operations, text};

/// The numbers among terms or factors.
enum Numbers {
    None,
    /// Only one, as it stands.
    One(ExprId),
    /// Their sum or product.
    Many(BigRational),
}

/// How many terms of sums within a sum, or factors of products within a product, are merged with it; beyond, they are
/// shared as they are. A sum of a sum with itself doubles, and sixty of them in a chain have more terms than any memory.
const LONGEST_MERGED: usize = 256;

/// The arena of all expressions and symbols of one compilation.
#[derive(Clone, Debug, Default)]
pub struct Exprs {
    nodes: IndexSet<Node, FxBuildHasher>,
    symbols: Vec<Symbol>,
    /// 0, once it was asked for: most sums look for it.
    zero: Option<ExprId>,
    /// The names of outputs, which have no symbols.
    outputs: Vec<Arc<str>>,
    /// The names that others look like in formulas, once they were asked for.
    alike: OnceLock<FxHashSet<Box<str>>>,
}

impl Exprs {
    /// Says which outputs stand beside the symbols in formulas.
    pub fn name_outputs(&mut self, names: impl IntoIterator<Item = Arc<str>>) {
        self.outputs = names.into_iter().collect();
    }

    /// Makes a new symbol; two symbols of one name are two symbols.
    pub fn new_symbol(&mut self, name: impl Into<Arc<str>>, kind: SymbolKind) -> SymbolId {
        let id = SymbolId(self.symbols.len() as u32);
        self.symbols.push(Symbol {
            name: name.into(),
            kind,
        });
        id
    }

    /// A symbol's name and kind.
    pub fn symbol_info(&self, id: SymbolId) -> &Symbol {
        &self.symbols[id.0 as usize]
    }

    /// Gives a symbol another name; all expressions that hold it show that one.
    pub fn rename(&mut self, id: SymbolId, name: impl Into<Arc<str>>) {
        self.symbols[id.0 as usize].name = name.into();
    }

    /// How many symbols there are; ids run from 0.
    pub fn symbol_count(&self) -> usize {
        self.symbols.len()
    }

    /// The node behind an id.
    pub fn node(&self, id: ExprId) -> &Node {
        self.nodes
            .get_index(id.0 as usize)
            .expect("invariant: an ExprId belongs to the arena that made it")
    }

    /// All nodes, each after those that it is made of.
    pub fn ids(&self) -> impl Iterator<Item = ExprId> {
        (0..self.nodes.len() as u32).map(ExprId)
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether nothing has been built yet.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    fn intern(&mut self, node: Node) -> ExprId {
        ExprId(self.nodes.insert_full(node).0 as u32)
    }

    /// The expression that is just this symbol.
    pub fn symbol(&mut self, id: SymbolId) -> ExprId {
        self.intern(Node::Symbol(id))
    }

    /// `pi`
    pub fn pi(&mut self) -> ExprId {
        self.intern(Node::Pi)
    }

    /// An exact number.
    pub fn number(&mut self, value: BigRational) -> ExprId {
        self.intern(Node::Number(Arc::new(value)))
    }

    /// An integer.
    pub fn integer(&mut self, value: i64) -> ExprId {
        self.number(BigRational::from_integer(BigInt::from(value)))
    }

    /// 0
    pub fn zero(&mut self) -> ExprId {
        let zero = self.zero.unwrap_or_else(|| self.integer(0));
        self.zero = Some(zero);
        zero
    }

    /// 1
    pub fn one(&mut self) -> ExprId {
        self.integer(1)
    }

    /// The number that the expression is, if it is a number.
    pub fn as_number(&self, id: ExprId) -> Option<&BigRational> {
        match self.node(id) {
            Node::Number(value) => Some(value),
            _ => None,
        }
    }

    /// Whether the expression is the number 0 as written (not: simplifies to it).
    pub fn is_zero(&self, id: ExprId) -> bool {
        self.as_number(id).is_some_and(Zero::is_zero)
    }

    /// Whether the expression is the number 1 as written.
    pub fn is_one(&self, id: ExprId) -> bool {
        self.as_number(id).is_some_and(One::is_one)
    }

    /// A sum: flattened, numbers added up, zeros dropped; the order of the other terms is kept.
    pub fn sum(&mut self, terms: impl IntoIterator<Item = ExprId>) -> ExprId {
        let (mut flat, number) = self.flatten(terms, true);
        let number = match number {
            Numbers::None if flat.is_empty() => Some(self.zero()),
            Numbers::None => None,
            Numbers::One(id) => Some(id),
            Numbers::Many(value) => Some(self.number(value)),
        };
        if let Some(id) = number
            && (flat.is_empty() || !self.is_zero(id))
        {
            flat.push(id);
        }
        if flat.len() == 1 {
            return flat[0];
        }
        self.intern(Node::Sum(flat.into()))
    }

    /// The terms of a sum, or the factors of a product, without the numbers among them, and these taken together. A number
    /// that is alone is not computed with: most numbers are. Sums within a sum, and products within a product, are merged
    /// with it up to a length.
    fn flatten(&self, parts: impl IntoIterator<Item = ExprId>, is_sum: bool) -> (Vec<ExprId>, Numbers) {
        let parts: Vec<ExprId> = parts.into_iter().collect();
        let within = |part: &ExprId| match self.node(*part) {
            Node::Sum(list) if is_sum => Some(list),
            Node::Product(list) if !is_sum => Some(list),
            _ => None,
        };
        let is_merged = parts.iter().any(|part| within(part).is_some());
        let (mut flat, unmerged) = match is_merged {
            false => (parts, None),
            true => {
                let mut all = Vec::new();
                let mut merged = 0;
                for part in &parts {
                    match within(part) {
                        Some(list) if merged + list.len() <= LONGEST_MERGED => {
                            merged += list.len();
                            all.extend_from_slice(list);
                        }
                        _ => all.push(*part),
                    }
                }
                (all, Some(parts))
            }
        };
        let mut numbers = Vec::new();
        flat.retain(|id| match self.node(*id) {
            Node::Number(_) => {
                numbers.push(*id);
                false
            }
            _ => true,
        });
        if let [] | [_] = numbers[..] {
            return (flat, numbers.pop().map_or(Numbers::None, Numbers::One));
        }
        let values = numbers.iter().filter_map(|id| self.as_number(*id));
        let together = match is_sum {
            true => crate::expr::exact::exact_sum(values, crate::expr::exact::LONGEST_FOLDED),
            false => crate::expr::exact::exact_product(values, crate::expr::exact::LONGEST_FOLDED),
        };
        match together {
            Some(number) => (flat, Numbers::Many(number)),
            // Together they are out of range: all stay as they are, and their value is found to be so.
            None => match unmerged {
                Some(parts) => (parts, Numbers::None),
                None => {
                    flat.append(&mut numbers);
                    (flat, Numbers::None)
                }
            },
        }
    }

    /// `a + b`
    pub fn add(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.sum([a, b])
    }

    /// `a - b`
    pub fn sub(&mut self, a: ExprId, b: ExprId) -> ExprId {
        let minus = self.neg(b);
        self.sum([a, minus])
    }

    /// `-a`
    pub fn neg(&mut self, a: ExprId) -> ExprId {
        let minus_one = self.integer(-1);
        self.product([minus_one, a])
    }

    /// A product: flattened, numbers multiplied, ones dropped, 0 absorbs; the order of the other factors is kept.
    pub fn product(&mut self, factors: impl IntoIterator<Item = ExprId>) -> ExprId {
        let (mut flat, number) = self.flatten(factors, false);
        let number = match number {
            Numbers::None if flat.is_empty() => Some(self.one()),
            Numbers::None => None,
            Numbers::One(id) => Some(id),
            Numbers::Many(value) => Some(self.number(value)),
        };
        if let Some(id) = number {
            if self.is_zero(id) {
                return id;
            }
            if flat.is_empty() || !self.is_one(id) {
                flat.insert(0, id);
            }
        }
        if flat.len() == 1 {
            return flat[0];
        }
        self.intern(Node::Product(flat.into()))
    }

    /// `a * b`
    pub fn mul(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.product([a, b])
    }

    /// `a / b`; the caller has reported a division by the number 0 (kept as the power `0^-1`).
    pub fn div(&mut self, a: ExprId, b: ExprId) -> ExprId {
        let minus_one = self.integer(-1);
        let inverse = self.power(b, minus_one);
        self.product([a, inverse])
    }

    /// `base ^ exponent`: numbers to small integer powers are evaluated exactly.
    pub fn power(&mut self, base: ExprId, exponent: ExprId) -> ExprId {
        if let Some(power) = self.as_number(exponent) {
            if power.is_zero() {
                return self.one();
            }
            if power.is_one() {
                return base;
            }
            if power.is_integer() {
                let power = power.to_integer();
                if let (Some(value), Some(small)) = (self.as_number(base), power.to_i32())
                    && small.abs() <= 4096
                    && !(value.is_zero() && small < 0)
                    && crate::expr::exact::length(value) * u64::from(small.unsigned_abs())
                        <= crate::expr::exact::LONGEST_FOLDED
                {
                    let value = value.pow(small);
                    return self.number(value);
                }
                if let Node::Power(inner, inner_power) = *self.node(base)
                    && let Some(inner_power) = self.as_number(inner_power)
                    && inner_power.is_integer()
                {
                    let product = inner_power * BigRational::from_integer(power);
                    let product = self.number(product);
                    return self.power(inner, product);
                }
            }
        }
        self.intern(Node::Power(base, exponent))
    }

    /// A function of the language; `abs`, `sign` and `sqrt` of numbers are evaluated where exact.
    pub fn call(&mut self, function: Function, arguments: impl IntoIterator<Item = ExprId>) -> ExprId {
        let arguments: Box<[ExprId]> = arguments.into_iter().collect();
        if let [only] = *arguments
            && let Some(value) = self.as_number(only).cloned()
        {
            match function {
                Function::Abs => return self.number(value.abs()),
                Function::Sign => return self.number(value.signum()),
                Function::Floor => return self.number(value.floor()),
                Function::Sqrt if !value.is_negative() => {
                    let root = BigRational::new(value.numer().sqrt(), value.denom().sqrt());
                    if &root * &root == value {
                        return self.number(root);
                    }
                }
                Function::Sin
                | Function::Tan
                | Function::Asin
                | Function::Atan
                | Function::Sinh
                | Function::Tanh
                | Function::Asinh
                    if value.is_zero() =>
                {
                    return self.zero();
                }
                Function::Cos | Function::Cosh | Function::Exp if value.is_zero() => return self.one(),
                _ => {}
            }
        }
        if matches!(function, Function::Min | Function::Max)
            && let Some(value) = self.extreme_number(function, &arguments)
        {
            return self.number(value);
        }
        if let [only] = *arguments
            && matches!(function, Function::Sin | Function::Cos)
            && let Some(quarter) = self.quarter_turns(only)
        {
            let value = [0, 1, 0, -1][(quarter + usize::from(function == Function::Cos)) % 4];
            return self.integer(value);
        }
        if function.is_of_time() && !self.is_time(arguments[arguments.len() - 1]) {
            return self.at_an_instant(function, &arguments);
        }
        self.intern(Node::Call(function, arguments))
    }

    /// The least or the greatest of numbers.
    fn extreme_number(&self, function: Function, arguments: &[ExprId]) -> Option<BigRational> {
        let numbers: Option<Vec<&BigRational>> = arguments.iter().map(|id| self.as_number(*id)).collect();
        let numbers = numbers?.into_iter();
        let found = match function {
            Function::Min => numbers.min(),
            _ => numbers.max(),
        };
        found.cloned()
    }

    fn is_time(&self, id: ExprId) -> bool {
        let Node::Symbol(symbol) = self.node(id) else {
            return false;
        };
        // An arena that expressions are copied to may know no symbols.
        let info = self.symbols.get(symbol.0 as usize);
        info.is_none_or(|info| info.kind == SymbolKind::Time)
    }

    /// A function of time where the time has been replaced by something else.
    fn at_an_instant(&mut self, function: Function, arguments: &[ExprId]) -> ExprId {
        let (zero, one) = (self.zero(), self.one());
        let (begin, now) = (arguments[0], arguments[arguments.len() - 1]);
        let begun = self.relation(Relation::LessEqual, begin, now);
        match function {
            Function::Step => self.if_else(begun, one, zero),
            Function::Pulse => {
                let end = self.add(begin, arguments[1]);
                let lasts = self.relation(Relation::Less, now, end);
                let is_on = self.relation(Relation::And, begun, lasts);
                self.if_else(is_on, one, zero)
            }
            _ => {
                let since = self.sub(now, begin);
                self.call(Function::Max, [since, zero])
            }
        }
    }

    /// How many times pi/2 an angle is, less whole turns, where it is a whole number of them: there sine and cosine are
    /// exact.
    fn quarter_turns(&self, angle: ExprId) -> Option<usize> {
        let quarters = match self.node(angle) {
            Node::Pi => BigRational::from_integer(2.into()),
            Node::Product(factors) => match **factors {
                [a, b] if *self.node(b) == Node::Pi => self.as_number(a)? * BigRational::from_integer(2.into()),
                [a, b] if *self.node(a) == Node::Pi => self.as_number(b)? * BigRational::from_integer(2.into()),
                _ => return None,
            },
            _ => return None,
        };
        let four = BigRational::from_integer(4.into());
        let rest = &quarters - (&quarters / &four).floor() * &four;
        if rest.is_integer() { rest.to_usize() } else { None }
    }

    /// A relation of two values; a comparison of two numbers, or of a symbol with itself, is decided at once.
    pub fn relation(&mut self, relation: Relation, a: ExprId, b: ExprId) -> ExprId {
        if a == b && matches!(self.node(a), Node::Symbol(_)) {
            match relation {
                Relation::Less | Relation::Greater => return self.zero(),
                Relation::LessEqual | Relation::GreaterEqual => return self.one(),
                _ => {}
            }
        }
        if let (Some(a), Some(b)) = (self.as_number(a), self.as_number(b)) {
            let holds = match relation {
                Relation::Less => Some(a < b),
                Relation::LessEqual => Some(a <= b),
                Relation::Greater => Some(a > b),
                Relation::GreaterEqual => Some(a >= b),
                _ => None,
            };
            if let Some(holds) = holds {
                return self.integer(i64::from(holds));
            }
        }
        self.intern(Node::Relation(relation, a, b))
    }

    /// Logical negation.
    pub fn not(&mut self, a: ExprId) -> ExprId {
        self.intern(Node::Not(a))
    }

    /// `if condition then a else b`; a condition that is a number is decided at once.
    pub fn if_else(&mut self, condition: ExprId, a: ExprId, b: ExprId) -> ExprId {
        match self.as_number(condition) {
            Some(value) if value.is_zero() => b,
            Some(_) => a,
            None if self.is_always_within(condition, b) => a,
            None => self.intern(Node::If(condition, a, b)),
        }
    }
}
