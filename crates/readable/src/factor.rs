//! Factors of terms, in an order that does not depend on the order of declarations.

use lgm_algebra::expr::{ExprId, Exprs, Function, Node, SymbolId};
use num_traits::Signed;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::convert::Infallible;

/// A factor in sort order: symbols by name, then functions, then sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Factor {
    class: u8,
    /// The first letters of a name.
    letters: u64,
    /// A number computed from its names and its form.
    form: u64,
    pub(crate) id: ExprId,
}

impl Factor {
    pub(crate) fn new(exprs: &Exprs, id: ExprId) -> Factor {
        let (class, letters) = match exprs.node(id) {
            Node::Symbol(symbol) => (0, letters(&exprs.symbol_info(*symbol).name)),
            Node::Sum(_) => (SUM, 0),
            _ => (1, 0),
        };
        Factor {
            class,
            letters,
            form: form(exprs, id),
            id,
        }
    }

    pub(crate) fn is_sum(self) -> bool {
        self.class == SUM
    }

    /// Returns its position when written: symbols in the order of their declaration, then functions, then sums.
    pub(crate) fn place(self, exprs: &Exprs) -> (u8, u32) {
        match exprs.node(self.id) {
            Node::Symbol(SymbolId(number)) => (0, *number),
            _ => (self.class, self.id.0),
        }
    }
}

/// The class of sums.
const SUM: u8 = 2;

fn letters(name: &str) -> u64 {
    let mut first = [0; 8];
    first.iter_mut().zip(name.bytes()).for_each(|(to, byte)| *to = byte);
    u64::from_be_bytes(first)
}

/// Combines numbers of one kind into one number, identical on every machine and well distributed: sums of such numbers
/// represent sums of terms.
fn mixed(kind: u64, parts: impl IntoIterator<Item = u64>) -> u64 {
    parts.into_iter().fold(spread(kind), |sum, part| spread(sum ^ part))
}

fn spread(x: u64) -> u64 {
    let x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// Returns the number of a name.
fn named(kind: u64, name: &str) -> u64 {
    mixed(kind, name.bytes().map(u64::from))
}

/// Expressions with at most this many nodes are traversed without caching their parts.
const SHORT: u32 = 48;

/// Returns a number that is equal for expressions that differ only in the order of their terms and factors.
fn form(exprs: &Exprs, root: ExprId) -> u64 {
    if let Some(found) = short_form(exprs, root, &Cell::new(SHORT)) {
        return found;
    }
    let found = exprs.fold(&[root], |id, _, of: &dyn Fn(ExprId) -> u64| {
        Ok::<_, Infallible>(combined(exprs, id, of))
    });
    let Ok(found) = found;
    found[0]
}

/// Returns the same number, or `None` if the expression has more nodes than `left`.
fn short_form(exprs: &Exprs, id: ExprId, left: &Cell<u32>) -> Option<u64> {
    left.set(left.get().checked_sub(1)?);
    let is_cut = Cell::new(false);
    let found = combined(exprs, id, &|part| match is_cut.get() {
        true => 0,
        false => short_form(exprs, part, left).unwrap_or_else(|| {
            is_cut.set(true);
            0
        }),
    });
    (!is_cut.get()).then_some(found)
}

/// Combines the numbers of the parts of an expression into its own number.
fn combined(exprs: &Exprs, id: ExprId, of: &dyn Fn(ExprId) -> u64) -> u64 {
    let any_order = |list: &[ExprId]| {
        list.iter()
            .fold(0, |sum: u64, part| sum.wrapping_add(spread(of(*part))))
    };
    match exprs.node(id) {
        Node::Number(value) => {
            let digits = value.numer().magnitude().iter_u64_digits();
            let digits = digits.chain([u64::from(value.is_negative())]);
            mixed(0, digits.chain(value.denom().magnitude().iter_u64_digits()))
        }
        Node::Pi => spread(1),
        Node::Symbol(symbol) => named(2, &exprs.symbol_info(*symbol).name),
        Node::Sum(list) => mixed(3, [any_order(list)]),
        Node::Product(list) => mixed(4, [any_order(list)]),
        Node::Call(function @ (Function::Min | Function::Max), list) => {
            mixed(named(5, function.name()), [any_order(list)])
        }
        Node::Call(function, list) => mixed(named(5, function.name()), list.iter().map(|part| of(*part))),
        Node::Power(a, b) => mixed(6, [of(*a), of(*b)]),
        Node::Relation(relation, a, b) => mixed(7, [*relation as u64, of(*a), of(*b)]),
        Node::Not(a) => mixed(8, [of(*a)]),
        Node::If(condition, a, b) => mixed(9, [of(*condition), of(*a), of(*b)]),
    }
}

/// Powers of factors, without zeros.
pub(crate) type Powers = BTreeMap<Factor, i32>;

/// Multiplies by a power of a factor.
pub(crate) fn multiply(powers: &mut Powers, factor: Factor, exponent: i32) {
    let sum = powers.entry(factor).or_insert(0);
    *sum += exponent;
    if *sum == 0 {
        powers.remove(&factor);
    }
}

/// Returns powers in the order in which they are written.
pub(crate) fn as_written(exprs: &Exprs, powers: &Powers) -> Vec<(Factor, i32)> {
    let mut list: Vec<(Factor, i32)> = powers.iter().map(|each| (*each.0, *each.1)).collect();
    list.sort_by_key(|each| each.0.place(exprs));
    list
}
