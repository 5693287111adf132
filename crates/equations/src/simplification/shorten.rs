//! The form of every expression that is shown: of the forms that are equal, the one of fewest operations.
//!
//! The forms are: as it was built, over one denominator in lowest terms, and as a person would write it ([`written`]). Texts, formulas,
//! JSON and the comments of code all show what is decided here. Each form is compared with what it stands for before it is taken
//! ([`are_equal`]). The work is bounded by counts, and what is beyond them stays as it was.

mod collect;
mod differences;
mod fourier;
mod length;
mod names;
mod numbers;
mod parts;
mod terms;
mod written;

use crate::simplification::angles;
use length::Length;
use lgm_algebra::expr::{ExprId, Exprs};
use lgm_algebra::{Field, FromExpression, RationalFunctions, are_equal, settled_on};
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
    /// Parts of expressions, with what stands inside of functions in lowest terms.
    settled: FxHashMap<ExprId, ExprId>,
}

impl Shortening {
    /// For this many equations.
    pub(crate) fn new(cancelled: bool, equations: usize) -> Shortening {
        Shortening {
            is_read: true,
            cancelled,
            effort: (equations <= READ).then_some(EFFORT),
            known: FxHashMap::default(),
            settled: FxHashMap::default(),
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

    /// True if there are so few of them that a person reads them through.
    pub(crate) fn is_read_through(&self) -> bool {
        self.effort.is_some()
    }

    /// The expression in its shortest form.
    pub(crate) fn shortest(&mut self, exprs: &mut Exprs, id: ExprId) -> ExprId {
        self.known_or(exprs, id, |this, exprs| {
            let Some(lowest) = over_one_denominator(exprs, id) else {
                return id;
            };
            let best = in_lowest_terms(exprs, id, lowest);
            this.written(exprs, best, lowest)
        })
    }

    /// The same of an expression that is in lowest terms, but for what stands inside of its functions.
    pub(crate) fn of_lowest_terms(&mut self, exprs: &mut Exprs, id: ExprId) -> ExprId {
        if self.effort.is_none() {
            return id;
        }
        self.known_or(exprs, id, |this, exprs| this.written(exprs, id, id))
    }

    /// The form that was found before, or else the one that is found now.
    fn known_or(
        &mut self,
        exprs: &mut Exprs,
        id: ExprId,
        find: impl FnOnce(&mut Self, &mut Exprs) -> ExprId,
    ) -> ExprId {
        if !self.cancelled {
            return id;
        }
        if let Some(short) = self.known.get(&id) {
            return *short;
        }
        let settled = match self.effort.is_some() && !is_large(exprs, id) {
            true => settled_on(exprs, id, &mut self.settled, &|_| false),
            false => id,
        };
        // A change inside of a function may cancel outside.
        let found = match settled == id {
            true => Some(find(self, exprs)).filter(|found| are_equal(exprs, id, *found)),
            false => Some(self.shortest(exprs, settled)),
        };
        let found = found.unwrap_or(id);
        self.known.insert(id, found);
        found
    }

    /// The shorter one of the best form so far and of the one that a person would write.
    fn written(&mut self, exprs: &mut Exprs, best: ExprId, lowest: ExprId) -> ExprId {
        let Some(effort) = self.effort.as_mut() else {
            return best;
        };
        let size = exprs.written_size(&[lowest]);
        let cost = if size <= SHORT { 0 } else { size };
        if size > WRITTEN || cost > *effort {
            return best;
        }
        *effort -= cost;
        let Some(mut written) = written::by_hand(exprs, lowest).filter(|id| !is_large(exprs, *id)) else {
            return best;
        };
        if let Some(flows) =
            differences::of_differences(exprs, lowest).filter(|flows| is_shorter(exprs, *flows, written))
        {
            written = flows;
        }
        // An expression as it was built stays unless it is longer. The signs of lowest terms are by the order of declarations.
        let is_better = match best == lowest {
            true => !is_plainer(exprs, best, written),
            false => is_large(exprs, best) || is_shorter(exprs, written, best),
        };
        if is_better { written } else { best }
    }
}

/// True if an expression has fewer operations than another one, or as many and is more symmetric.
fn is_plainer(exprs: &Exprs, id: ExprId, than: ExprId) -> bool {
    Length::of(exprs, id).is_plainer(exprs, Length::of(exprs, than))
}

/// True if an expression is shorter than another one.
pub(crate) fn is_shorter(exprs: &Exprs, id: ExprId, than: ExprId) -> bool {
    id != than && Length::of(exprs, id).is_less(exprs, Length::of(exprs, than))
}

/// Whether an expression written out is too long for anybody to read.
pub fn is_large(exprs: &Exprs, id: ExprId) -> bool {
    exprs.is_written_beyond(id, LARGE)
}

/// An expression in its shortest form, by itself.
pub fn lowest_terms(exprs: &mut Exprs, id: ExprId) -> ExprId {
    Shortening::new(true, 1).shortest(exprs, id)
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
    let id = match is_shorter(exprs, joined, id) {
        true => joined,
        false => id,
    };
    if !is_large(exprs, lowest) && !is_shorter(exprs, id, lowest) {
        lowest
    } else {
        id
    }
}
