//! The form of every displayed expression: of all equal forms, the one with the fewest operations.
//!
//! The forms are: as built, over one denominator in lowest terms, and as a person would write it ([`written`]). Texts,
//! formulas, JSON and the comments of code all use the form chosen here. Each form is checked for equality with the
//! original before it is used ([`are_equal`]). The work is bounded by counts, and the rest stays unchanged.

mod collect;
mod differences;
mod fourier;
mod length;
mod names;
mod numbers;
mod parts;
mod terms;
mod written;

use crate::angles;
use length::Length;
use lgm_algebra::expr::{ExprId, Exprs};
use lgm_algebra::{Field, FromExpression, RationalFunctions, are_equal, settled_on};
use rustc_hash::FxHashMap;

/// Trees with more nodes than this are not brought to lowest terms, nor written as text to measure them.
pub const LARGE: u64 = 4_000;

/// Lowest terms with more nodes than this are not rewritten.
const WRITTEN: u64 = 16_000;

/// The number of nodes up to which lowest terms are always rewritten.
const SHORT: u64 = 200;

/// The number of nodes of longer expressions that are rewritten in one system, which bounds the time.
const EFFORT: u64 = 250_000;

/// Systems with more equations than this are not simplified: their equations stay similar, and repetitions remain.
const READ: usize = 500;

/// The maximum number of term operations for the lowest terms of one equation.
const OPERATIONS: u64 = 400_000;

/// The rewriting of displayed expressions; names are tried one by one, and most expressions stay the same meanwhile.
pub struct Shortening {
    /// True if the equations will be displayed.
    is_read: bool,
    /// True if coefficients are in lowest terms, so that these may be searched for in the whole; nothing is done
    /// otherwise.
    cancelled: bool,
    /// The remaining number of nodes of long expressions to rewrite; none if none are rewritten.
    effort: Option<u64>,
    /// The expressions that were examined, and their shorter forms.
    known: FxHashMap<ExprId, ExprId>,
    /// Parts of expressions, with the arguments of functions in lowest terms.
    settled: FxHashMap<ExprId, ExprId>,
}

impl Shortening {
    /// Creates the state for a system with this number of equations.
    pub fn new(cancelled: bool, equations: usize) -> Shortening {
        Shortening {
            is_read: true,
            cancelled,
            effort: (equations <= READ).then_some(EFFORT),
            known: FxHashMap::default(),
            settled: FxHashMap::default(),
        }
    }

    /// Creates the state for equations that are evaluated but not displayed.
    pub fn unread() -> Shortening {
        Shortening {
            is_read: false,
            ..Shortening::new(false, 0)
        }
    }

    /// Returns true if the equations will be displayed, so that their length matters.
    pub fn is_read(&self) -> bool {
        self.is_read
    }

    /// Returns true if the equations are few enough to be read in full.
    pub fn is_read_through(&self) -> bool {
        self.effort.is_some()
    }

    /// Returns the expression in its shortest form.
    pub fn shortest(&mut self, exprs: &mut Exprs, id: ExprId) -> ExprId {
        self.known_or(exprs, id, |this, exprs| {
            let Some(lowest) = over_one_denominator(exprs, id) else {
                return id;
            };
            let best = in_lowest_terms(exprs, id, lowest);
            this.written(exprs, best, lowest)
        })
    }

    /// Returns the shortest form of an expression that is in lowest terms, except for the arguments of its functions.
    pub fn of_lowest_terms(&mut self, exprs: &mut Exprs, id: ExprId) -> ExprId {
        if self.effort.is_none() {
            return id;
        }
        self.known_or(exprs, id, |this, exprs| this.written(exprs, id, id))
    }

    /// Returns the cached form, or computes and caches it.
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
        // A change inside a function may cancel outside.
        let found = match settled == id {
            true => Some(find(self, exprs)).filter(|found| are_equal(exprs, id, *found)),
            false => Some(self.shortest(exprs, settled)),
        };
        let found = found.unwrap_or(id);
        self.known.insert(id, found);
        found
    }

    /// Returns the shorter of the best form so far and the form that a person would write.
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
        // The original form stays unless it is longer. The signs of lowest terms follow the order of declarations.
        let is_better = match best == lowest {
            true => !is_plainer(exprs, best, written),
            false => is_large(exprs, best) || is_shorter(exprs, written, best),
        };
        if is_better { written } else { best }
    }
}

/// Returns true if an expression has fewer operations than another one, or the same number and more symmetry.
fn is_plainer(exprs: &Exprs, id: ExprId, than: ExprId) -> bool {
    Length::of(exprs, id).is_plainer(exprs, Length::of(exprs, than))
}

/// Returns true if an expression is shorter than another one.
pub fn is_shorter(exprs: &Exprs, id: ExprId, than: ExprId) -> bool {
    id != than && Length::of(exprs, id).is_less(exprs, Length::of(exprs, than))
}

/// Returns true if a written-out expression is too long to read.
pub fn is_large(exprs: &Exprs, id: ExprId) -> bool {
    exprs.is_written_beyond(id, LARGE)
}

/// Returns an expression in its shortest form.
pub fn lowest_terms(exprs: &mut Exprs, id: ExprId) -> ExprId {
    Shortening::new(true, 1).shortest(exprs, id)
}

/// Returns the lowest terms of an expression, unless that takes too many operations.
fn over_one_denominator(exprs: &mut Exprs, id: ExprId) -> Option<ExprId> {
    if is_large(exprs, id) {
        return None;
    }
    let mut field = RationalFunctions::new(OPERATIONS, RationalFunctions::DEFAULT_TERMS);
    let value = field.from_expression(exprs, id).ok()?;
    (!field.exhausted()).then(|| field.to_expression(exprs, &value))
}

/// Returns the shorter one of an expression and its lowest terms.
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
