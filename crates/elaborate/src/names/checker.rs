//! The shared data of the checks of definitions: the program, and the errors so far.

use crate::program::Program;
use lgm_source::diagnostic::{Diagnostic, MOST_FAULTS};
use lgm_source::{SourceMap, Span};
use lgm_syntax::ast::Name;
use rustc_hash::FxHashMap;

pub(crate) struct Checker<'a> {
    pub program: &'a Program,
    pub sources: &'a SourceMap,
    pub diagnostics: Vec<Diagnostic>,
    missing: FxHashMap<(Span, &'a str), Missing>,
}

/// An undeclared part that a body names.
struct Missing {
    /// Its diagnostic, if any.
    at: Option<usize>,
    /// The number of its uses.
    uses: usize,
}

impl<'a> Checker<'a> {
    pub fn new(program: &'a Program, sources: &'a SourceMap) -> Checker<'a> {
        Checker {
            program,
            sources,
            diagnostics: Vec::new(),
            missing: FxHashMap::default(),
        }
    }

    /// Returns true if the missing part was already reported in this body, and counts this use. A fix of the first use also fixes this one.
    pub fn is_missed_again(&mut self, owner: &Name, name: &'a Name) -> bool {
        let Some(known) = self.missing.get_mut(&(owner.span, &*name.text)) else {
            return false;
        };
        known.uses += 1;
        if let Some(diagnostic) = known.at.and_then(|at| self.diagnostics.get_mut(at)) {
            for fix in &mut diagnostic.fixes {
                let text = fix.edits.first().map(|edit| edit.1.clone());
                fix.edits.extend(text.map(|text| (name.span, text)));
            }
        }
        true
    }

    /// Reports an undeclared part, once for each body; `None` only records it.
    pub fn miss(&mut self, owner: &Name, name: &'a Name, diagnostic: Option<Diagnostic>) {
        let at = diagnostic.is_some().then_some(self.diagnostics.len());
        self.missing.insert((owner.span, &*name.text), Missing { at, uses: 1 });
        if let Some(diagnostic) = diagnostic {
            self.report(diagnostic);
        }
    }

    /// Returns the errors; errors for missing parts include the number of uses.
    pub fn into_diagnostics(mut self) -> Vec<Diagnostic> {
        for missing in self.missing.values().filter(|missing| missing.uses > 1) {
            if let Some(diagnostic) = missing.at.and_then(|at| self.diagnostics.get_mut(at)) {
                let note = format!("it is used in {} places; this is the first", missing.uses);
                diagnostic.notes.push(note);
            }
        }
        self.diagnostics
    }

    pub fn report(&mut self, diagnostic: Diagnostic) {
        if self.is_looking() {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Returns true if suggestions are searched for, which is useless for a large number of errors.
    pub fn is_suggesting(&self) -> bool {
        self.diagnostics.len() < 100 && self.missing.len() < 200
    }

    /// Returns true if the search for errors continues.
    pub fn is_looking(&self) -> bool {
        self.diagnostics.len() < MOST_FAULTS
    }
}
