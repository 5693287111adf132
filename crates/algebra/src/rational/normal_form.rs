//! A second way to lowest terms, for expressions that outgrew [`RationalFunctions`](crate::RationalFunctions).
//!
//! This is the one place where another algebra is joined: with the cargo feature `symbolica` it is that library, by
//! default there is none, and nothing is computed here.

#[cfg(feature = "symbolica")]
use super::atoms::Atoms;
use crate::expr::{ExprId, Exprs};

/// Normal forms of the expressions of one arena, which may grow between calls.
#[derive(Clone, Debug, Default)]
pub struct NormalForms {
    #[cfg(feature = "symbolica")]
    atoms: Atoms,
    missed: bool,
}

impl NormalForms {
    /// The expression as a quotient in lowest terms; none where that would be too large to read, and always none by
    /// default. Whatever is no rational function of symbols counts as a symbol.
    pub fn normal_form(&mut self, exprs: &mut Exprs, id: ExprId) -> Option<ExprId> {
        #[cfg(feature = "symbolica")]
        let found = self.atoms.normal_form(exprs, id);
        #[cfg(not(feature = "symbolica"))]
        let found = {
            // The arena and the expression are for those who have another algebra.
            let _ = (exprs, id);
            None
        };
        self.missed |= found.is_none();
        found
    }

    /// Whether there was a normal form for everything that one was asked for; never by default.
    pub fn complete(&self) -> bool {
        cfg!(feature = "symbolica") && !self.missed
    }
}
