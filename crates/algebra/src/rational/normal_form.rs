//! A second method for lowest terms, for expressions that are too large for [`RationalFunctions`](crate::RationalFunctions).
//!
//! This module connects another computer algebra library: `symbolica`, if the cargo feature of that name is enabled. By default there is
//! none, and nothing is computed here.

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
    /// Returns the expression as a quotient in lowest terms; `None` if that would be too large to read, and always `None` by default.
    /// Expressions that are not rational functions of symbols count as symbols.
    pub fn normal_form(&mut self, exprs: &mut Exprs, id: ExprId) -> Option<ExprId> {
        #[cfg(feature = "symbolica")]
        let found = self.atoms.normal_form(exprs, id);
        #[cfg(not(feature = "symbolica"))]
        let found = {
            // The arena and the expression are used only with another algebra library.
            let _ = (exprs, id);
            None
        };
        self.missed |= found.is_none();
        found
    }

    /// Returns true if every request for a normal form succeeded; never true by default.
    pub fn complete(&self) -> bool {
        cfg!(feature = "symbolica") && !self.missed
    }
}
