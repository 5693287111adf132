//! What the checks of definitions share: the program, and the faults so far.

use crate::program::Program;
use lgm_source::SourceMap;
use lgm_source::diagnostic::{Diagnostic, MOST_FAULTS};

pub(crate) struct Checker<'a> {
    pub program: &'a Program,
    pub sources: &'a SourceMap,
    pub diagnostics: Vec<Diagnostic>,
}

impl Checker<'_> {
    pub fn report(&mut self, diagnostic: Diagnostic) {
        if self.is_looking() {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Whether near names are looked for: nobody reads them of very many faults.
    pub fn is_suggesting(&self) -> bool {
        self.diagnostics.len() < 100
    }

    /// Whether further faults are looked for.
    pub fn is_looking(&self) -> bool {
        self.diagnostics.len() < MOST_FAULTS
    }
}
