//! Expressions in the shorter of two forms: as they were built, and over one denominator in lowest terms.

mod collect;
mod fourier;
mod written;

use crate::simplification::angles;
use lgm_algebra::expr::{ExprId, Exprs, text};
use lgm_algebra::{Field, FromExpression, RationalFunctions};
use rustc_hash::FxHashMap;

/// Trees of more nodes than this are not brought to lowest terms, nor written as a text to measure them.
pub(crate) const LARGE: u64 = 4_000;

/// Lowest terms of more nodes than this are not rewritten.
const WRITTEN: u64 = 16_000;

/// Lowest terms of so few nodes are rewritten whatever was rewritten before.
const SHORT: u64 = 200;

/// How many nodes of longer ones are rewritten in one system, so that it takes no longer than it has to.
const EFFORT: u64 = 250_000;

/// Systems of more equations than this are not read through: theirs stay as they are, all of them alike, so that what repeats in
/// them goes on to repeat.
const READ: usize = 500;

/// Term operations for the lowest terms of one equation.
const OPERATIONS: u64 = 400_000;

/// What is done to expressions that people read; names are tried one by one, and most expressions stay the same meanwhile.
pub(crate) struct Shortening {
    /// Whether anybody reads the equations.
    is_read: bool,
    /// Whether coefficients are in lowest terms, so that these may be looked for in the whole; nothing is done otherwise.
    cancelled: bool,
    /// How many nodes of long expressions may still be rewritten; none where nothing is.
    effort: Option<u64>,
    /// The expressions that were looked at, and their shorter forms.
    known: FxHashMap<ExprId, ExprId>,
}

impl Shortening {
    /// For this many equations.
    pub(crate) fn new(cancelled: bool, equations: usize) -> Shortening {
        Shortening {
            is_read: true,
            cancelled,
            effort: (equations <= READ).then_some(EFFORT),
            known: FxHashMap::default(),
        }
    }

    /// For equations that are evaluated only.
    pub(crate) fn unread() -> Shortening {
        Shortening {
            is_read: false,
            ..Shortening::new(false, 0)
        }
    }

    /// Whether anybody reads the equations, so that it matters how long they are.
    pub(crate) fn is_read(&self) -> bool {
        self.is_read
    }

    /// The expression in its shorter form.
    pub(crate) fn shortest(&mut self, exprs: &mut Exprs, id: ExprId) -> ExprId {
        if !self.cancelled {
            return id;
        }
        match self.known.get(&id) {
            Some(short) => *short,
            None => {
                let short = shorter(exprs, id, self.effort.as_mut());
                self.known.insert(id, short);
                short
            }
        }
    }
}

/// An expression as a person would write it, where that is shorter than in lowest terms.
fn shorter(exprs: &mut Exprs, id: ExprId, effort: Option<&mut u64>) -> ExprId {
    let Some(lowest) = over_one_denominator(exprs, id) else {
        return id;
    };
    let mut best = in_lowest_terms(exprs, id, lowest);
    let Some(effort) = effort else { return best };
    let size = exprs.written_size(&[lowest]);
    let cost = if size <= SHORT { 0 } else { size };
    if size > WRITTEN || cost > *effort {
        return best;
    }
    *effort -= cost;
    if let Some(written) = written::by_hand(exprs, lowest)
        && !is_large(exprs, written)
        && (is_large(exprs, best) || text(exprs, written).len() < text(exprs, best).len())
    {
        best = written;
    }
    best
}

/// Whether an expression written out is too long for anybody to read.
pub fn is_large(exprs: &Exprs, id: ExprId) -> bool {
    exprs.is_written_beyond(id, LARGE)
}

/// An expression in the shorter of its two forms: as it was built, and over one denominator in lowest terms.
pub fn lowest_terms(exprs: &mut Exprs, id: ExprId) -> ExprId {
    match over_one_denominator(exprs, id) {
        Some(lowest) => in_lowest_terms(exprs, id, lowest),
        None => id,
    }
}

/// The lowest terms of an expression, unless that takes too much.
fn over_one_denominator(exprs: &mut Exprs, id: ExprId) -> Option<ExprId> {
    if is_large(exprs, id) {
        return None;
    }
    let mut field = RationalFunctions::new(OPERATIONS, RationalFunctions::DEFAULT_TERMS);
    let value = field.from_expression(exprs, id).ok()?;
    (!field.exhausted()).then(|| field.to_expression(exprs, &value))
}

/// The shorter one of an expression and of its lowest terms.
fn in_lowest_terms(exprs: &mut Exprs, id: ExprId, lowest: ExprId) -> ExprId {
    let lowest = angles::joined(exprs, lowest);
    let joined = angles::joined(exprs, id);
    let id = match text(exprs, joined).len() < text(exprs, id).len() {
        true => joined,
        false => id,
    };
    if !is_large(exprs, lowest) && text(exprs, lowest).len() <= text(exprs, id).len() {
        lowest
    } else {
        id
    }
}
