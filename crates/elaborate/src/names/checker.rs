//! What the checks of definitions share: the program, and the faults so far.

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

/// A part that a body names and does not declare.
struct Missing {
    /// Its diagnostic; none if nothing is said of it.
    at: Option<usize>,
    /// The number of places that name it.
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

    /// Returns true if the part was missed in this body before. It is counted then, and what mends the first place mends this one too.
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

    /// Reports a part that nothing declares, once for each body; `None` says nothing of it.
    pub fn miss(&mut self, owner: &Name, name: &'a Name, diagnostic: Option<Diagnostic>) {
        let at = diagnostic.is_some().then_some(self.diagnostics.len());
        self.missing.insert((owner.span, &*name.text), Missing { at, uses: 1 });
        if let Some(diagnostic) = diagnostic {
            self.report(diagnostic);
        }
    }

    /// The faults, those of missing parts with the number of places.
    pub fn into_diagnostics(mut self) -> Vec<Diagnostic> {
        for missing in self.missing.values().filter(|missing| missing.uses > 1) {
            if let Some(diagnostic) = missing.at.and_then(|at| self.diagnostics.get_mut(at)) {
                let note = format!("{} places name it; this is the first", missing.uses);
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

    /// Whether near names are looked for: nobody reads them of very many faults.
    pub fn is_suggesting(&self) -> bool {
        self.diagnostics.len() < 100 && self.missing.len() < 200
    }

    /// Whether further faults are looked for.
    pub fn is_looking(&self) -> bool {
        self.diagnostics.len() < MOST_FAULTS
    }
}
