//! Hash-consed expressions for laws and equations.
//!
//! Children are always created before their parents, so ascending [`ExprId`] order is a topological order; every traversal in this module
//! uses that instead of recursion, and none can overflow the stack.
//!
//! AFTER THIS POINT an expression contains no units (all numbers are SI) and no source names (symbols are ids into [`Exprs`]). It contains
//! no structural constants (`const`, `for`, `sum` have been expanded).

mod affine;
mod derivative;
pub mod doubles;
mod exact;
mod fold;
mod guard;
mod isolate;
mod node;
mod precise;
pub mod print;

use indexmap::IndexSet;
use num_bigint::BigInt;
use num_integer::Integer as _;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};
use rustc_hash::{FxBuildHasher, FxHashSet};
use std::sync::{Arc, OnceLock};

pub use affine::Affine;
pub use derivative::{Gradient, GradientRow, NoDerivative};
pub(crate) use exact::square_free;
pub use exact::{in_double_precision, to_f64};
pub use fold::Evaluated;
pub use guard::{End, Guarded};
pub use node::{ExprId, Function, Node, Relation, Symbol, SymbolId, SymbolKind};
pub(crate) use precise::without_rounding;
pub use print::{brief, operations, text};

/// The numeric terms or factors.
enum Numbers {
    None,
    /// Only one number, unchanged.
    One(ExprId),
    /// The sum or product of several numbers.
    Many(BigRational),
}

/// The maximum number of terms or factors that are merged from a sum within a sum, or a product within a product; longer ones stay shared.
/// Adding a sum to itself doubles its length, so a chain of sixty such sums would exceed any memory.
const LONGEST_MERGED: usize = 256;

/// The arena of all expressions and symbols of one compilation.
#[derive(Clone, Debug, Default)]
pub struct Exprs {
    nodes: IndexSet<Node, FxBuildHasher>,
    symbols: Vec<Symbol>,
    /// 0, once it has been requested: most sums need it.
    zero: Option<ExprId>,
    /// The names of outputs, which have no symbols.
    outputs: Vec<Arc<str>>,
    /// The names that look like others in formulas, once they have been requested.
    alike: OnceLock<FxHashSet<Box<str>>>,
}

impl Exprs {
    /// Sets the outputs that appear next to the symbols in formulas.
    pub fn name_outputs(&mut self, names: impl IntoIterator<Item = Arc<str>>) {
        self.outputs = names.into_iter().collect();
    }

    /// Creates a new symbol; two symbols with the same name are distinct.
    pub fn new_symbol(&mut self, name: impl Into<Arc<str>>, kind: SymbolKind) -> SymbolId {
        let id = SymbolId(self.symbols.len() as u32);
        self.symbols.push(Symbol {
            name: name.into(),
            kind,
        });
        id
    }

    /// Returns a symbol's name and kind.
    pub fn symbol_info(&self, id: SymbolId) -> &Symbol {
        &self.symbols[id.0 as usize]
    }

    /// Renames a symbol; all expressions that contain it show the new name.
    pub fn rename(&mut self, id: SymbolId, name: impl Into<Arc<str>>) {
        self.symbols[id.0 as usize].name = name.into();
    }

    /// Returns the number of symbols; ids start at 0.
    pub fn symbol_count(&self) -> usize {
        self.symbols.len()
    }

    /// Returns the node of an id.
    pub fn node(&self, id: ExprId) -> &Node {
        self.nodes
            .get_index(id.0 as usize)
            .expect("invariant: an ExprId belongs to the arena that made it")
    }

    /// Returns all nodes, each after its children.
    pub fn ids(&self) -> impl Iterator<Item = ExprId> {
        (0..self.nodes.len() as u32).map(ExprId)
    }

    /// Returns the number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns true if no node has been built yet.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    fn intern(&mut self, node: Node) -> ExprId {
        ExprId(self.nodes.insert_full(node).0 as u32)
    }

    /// Returns the expression that consists of just this symbol.
    pub fn symbol(&mut self, id: SymbolId) -> ExprId {
        self.intern(Node::Symbol(id))
    }

    /// Returns `pi`.
    pub fn pi(&mut self) -> ExprId {
        self.intern(Node::Pi)
    }

    /// Returns an exact number.
    pub fn number(&mut self, value: BigRational) -> ExprId {
        self.intern(Node::Number(Arc::new(value)))
    }

    /// Returns an integer.
    pub fn integer(&mut self, value: i64) -> ExprId {
        self.number(BigRational::from_integer(BigInt::from(value)))
    }

    /// Returns 0.
    pub fn zero(&mut self) -> ExprId {
        let zero = self.zero.unwrap_or_else(|| self.integer(0));
        self.zero = Some(zero);
        zero
    }

    /// Returns 1.
    pub fn one(&mut self) -> ExprId {
        self.integer(1)
    }

    /// Returns the value of the expression if it is a number.
    pub fn as_number(&self, id: ExprId) -> Option<&BigRational> {
        match self.node(id) {
            Node::Number(value) => Some(value),
            _ => None,
        }
    }

    /// Returns true if the expression is the number 0 as written, not only after simplification.
    pub fn is_zero(&self, id: ExprId) -> bool {
        self.as_number(id).is_some_and(Zero::is_zero)
    }

    /// Returns true if the expression is the number 1 as written.
    pub fn is_one(&self, id: ExprId) -> bool {
        self.as_number(id).is_some_and(One::is_one)
    }

    /// Builds a sum: nested sums are flattened, numbers added up, zeros dropped; the order of the other terms is kept.
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

    /// Returns the terms of a sum, or the factors of a product, without numbers, and the numbers combined. A single number is returned
    /// unchanged, which is the most common case. Nested sums or products are merged up to a length limit.
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
            true => crate::expr::exact::exact_sum(values),
            false => crate::expr::exact::exact_product(values),
        };
        match together {
            Some(number) => (flat, Numbers::Many(number)),
            // The combined value is out of range: all numbers stay separate, and evaluation will report it.
            None => match unmerged {
                Some(parts) => (parts, Numbers::None),
                None => {
                    flat.append(&mut numbers);
                    (flat, Numbers::None)
                }
            },
        }
    }

    /// Builds `a + b`.
    pub fn add(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.sum([a, b])
    }

    /// Builds `a - b`.
    pub fn sub(&mut self, a: ExprId, b: ExprId) -> ExprId {
        let minus = self.neg(b);
        self.sum([a, minus])
    }

    /// Builds `-a`.
    pub fn neg(&mut self, a: ExprId) -> ExprId {
        let minus_one = self.integer(-1);
        self.product([minus_one, a])
    }

    /// Builds a product: nested products are flattened, numbers multiplied, ones dropped, 0 absorbs; the order of the other factors is
    /// kept.
    pub fn product(&mut self, factors: impl IntoIterator<Item = ExprId>) -> ExprId {
        let (mut flat, mut number) = self.flatten(factors, false);
        if flat.iter().filter(|id| self.radicand(**id).is_some()).count() > 1 {
            self.join_roots(&mut flat);
            let numbers = match number {
                Numbers::None => None,
                Numbers::One(id) => Some(id),
                Numbers::Many(value) => Some(self.number(value)),
            };
            (flat, number) = self.flatten(numbers.into_iter().chain(flat), false);
        }
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

    /// Builds `a * b`.
    pub fn mul(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.product([a, b])
    }

    /// Builds `a / b`. The caller has reported a division by the number 0, which is kept as the power `0^-1`.
    pub fn div(&mut self, a: ExprId, b: ExprId) -> ExprId {
        let minus_one = self.integer(-1);
        let inverse = self.power(b, minus_one);
        self.product([a, inverse])
    }

    /// Builds `base ^ exponent`; small integer powers of numbers are evaluated exactly.
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
                if let Some(radicand) = self
                    .radicand(base)
                    .filter(|number| number.is_integer() && !number.is_zero())
                    && let (Some(small), Some(radicand)) = (power.to_i32(), radicand.to_u64())
                    && small.abs() <= 64
                {
                    let whole = BigRational::from_integer(radicand.into()).pow(small.div_euclid(2));
                    let rest = if small.rem_euclid(2) == 0 { 1 } else { radicand };
                    return self.times_root(whole, rest);
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

    /// Builds a function call; `abs`, `sign` and `sqrt` of numbers are evaluated if the result is exact.
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
                    if value.is_integer()
                        && let Some((outside, rest)) = root_of_number(&value)
                        && !outside.is_one()
                    {
                        return self.times_root(outside, rest);
                    }
                }
                _ if value.is_zero()
                    && let Some(found) = function.facts().at_zero =>
                {
                    return self.integer(i64::from(found));
                }
                _ => {}
            }
        }
        if matches!(function, Function::Min | Function::Max)
            && let Some(value) = self.extreme_number(function, &arguments)
        {
            return self.number(value);
        }
        if let [only] = *arguments
            && matches!(function, Function::Sin | Function::Cos | Function::Tan)
            && let Some(part) = self.part_of_turn(only)
            && let Some((outside, rest)) = of_part(function, part)
        {
            return self.times_root(outside, rest);
        }
        if function.is_of_time() && !self.is_time(arguments[arguments.len() - 1]) {
            return self.at_an_instant(function, &arguments);
        }
        self.intern(Node::Call(function, arguments))
    }

    /// Returns the least or the greatest of numbers.
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
        // An arena of copied expressions may contain no symbols.
        let info = self.symbols.get(symbol.0 as usize);
        info.is_none_or(|info| info.kind == SymbolKind::Time)
    }

    /// Evaluates a function of time if the time has been replaced by an expression.
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

    /// Returns an angle in units of pi/12, modulo a full turn; `None` if it is not an integer multiple.
    fn part_of_turn(&self, angle: ExprId) -> Option<usize> {
        let half_turns = match self.node(angle) {
            Node::Pi => &BigRational::one(),
            Node::Product(factors) => match **factors {
                [a, b] if *self.node(b) == Node::Pi => self.as_number(a)?,
                [a, b] if *self.node(a) == Node::Pi => self.as_number(b)?,
                _ => return None,
            },
            _ => return None,
        };
        let parts = half_turns * BigRational::from_integer(12.into());
        let whole = parts.is_integer().then(|| parts.to_integer())?;
        whole.mod_floor(&BigInt::from(24)).to_usize()
    }

    /// Builds a number times the root of a square-free integer.
    fn times_root(&mut self, number: BigRational, radicand: u64) -> ExprId {
        let number = self.number(number);
        if radicand == 1 {
            return number;
        }
        let radicand = self.number(BigRational::from_integer(radicand.into()));
        let root = self.intern(Node::Call(Function::Sqrt, [radicand].into()));
        self.product([number, root])
    }

    /// Returns the number whose root an expression is.
    fn radicand(&self, id: ExprId) -> Option<&BigRational> {
        match self.node(id) {
            Node::Call(Function::Sqrt, list) => self.as_number(list[0]).filter(|number| !number.is_negative()),
            _ => None,
        }
    }

    /// Multiplies the roots of numbers in a product, if there are several: `sqrt(2)*sqrt(3)` is `sqrt(6)`.
    fn join_roots(&mut self, factors: &mut Vec<ExprId>) {
        let radicands: Vec<BigRational> = factors.iter().filter_map(|id| self.radicand(*id).cloned()).collect();
        if radicands.len() < 2 {
            return;
        }
        let Some((outside, rest)) = root_of_number(&radicands.iter().product()) else {
            return;
        };
        let at = factors.iter().position(|id| self.radicand(*id).is_some());
        factors.retain(|id| self.radicand(*id).is_none());
        if rest > 1 {
            let root = self.times_root(BigRational::one(), rest);
            factors.insert(at.unwrap_or(0), root);
        }
        if !outside.is_one() {
            let number = self.number(outside);
            factors.insert(0, number);
        }
    }

    /// Builds a relation of two values; a comparison of two numbers, or of a symbol with itself, is decided immediately.
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

    /// Builds a logical negation.
    pub fn not(&mut self, a: ExprId) -> ExprId {
        self.intern(Node::Not(a))
    }

    /// Builds `if condition then a else b`; a numeric condition is decided immediately.
    pub fn if_else(&mut self, condition: ExprId, a: ExprId, b: ExprId) -> ExprId {
        match self.as_number(condition) {
            Some(value) if value.is_zero() => b,
            Some(_) => a,
            None if self.is_always_within(condition, b) => a,
            None => self.intern(Node::If(condition, a, b)),
        }
    }
}

/// Splits the root of a number into a number times the root of a square-free integer; `None` for numbers that are too long.
fn root_of_number(value: &BigRational) -> Option<(BigRational, u64)> {
    let (outside, factors) = square_free(value)?;
    let rest = factors.into_iter().try_fold(1u64, u64::checked_mul)?;
    Some((outside, rest))
}

/// Returns the sine, cosine or tangent of a multiple of pi/12 if it is a number times one root.
fn of_part(function: Function, part: usize) -> Option<(BigRational, u64)> {
    let number = |above: i64, below: i64| BigRational::new(above.into(), below.into());
    let sine = |part: usize| {
        let sign = if part % 24 < 12 { 1 } else { -1 };
        let part = part % 12;
        Some(match part.min(12 - part) {
            0 => (number(0, 1), 1),
            2 => (number(sign, 2), 1),
            3 => (number(sign, 2), 2),
            4 => (number(sign, 2), 3),
            6 => (number(sign, 1), 1),
            _ => return None,
        })
    };
    match function {
        Function::Sin => sine(part),
        Function::Cos => sine(part + 6),
        _ => {
            let ((above, root), (below, other)) = (sine(part)?, sine(part + 6)?);
            if below.is_zero() {
                return None;
            }
            // Both roots are integers without common factors, except the factor 2.
            let (square, rest) = if root == other { (1, 1) } else { (other, root * other) };
            Some((above / below / number(square as i64, 1), rest))
        }
    }
}
