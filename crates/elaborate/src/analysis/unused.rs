//! Unused values of the root text.

use super::{Analysis, DefinitionId, DefinitionKind};
use crate::program::Program;
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_syntax::ast::{Item, Statement, StatementKind};
use lgm_syntax::visit::statements;
use rustc_hash::FxHashSet;

impl DefinitionKind {
    /// Returns the word for a definition that has a purpose only if something uses it.
    pub fn of_use(self) -> Option<&'static str> {
        use DefinitionKind::*;
        Some(match self {
            Parameter | Formal | StructuralFormal => "parameter",
            Constant => "constant",
            Function => "function",
            Table => "table",
            Input => "input",
            Signal => "signal",
            Index => "index",
            _ => return None,
        })
    }
}

impl Analysis {
    /// Returns the unused definitions of the root text. In a file without models, functions and constants are for other files.
    pub fn unused(&self, program: &Program) -> Vec<DefinitionId> {
        let Some(root) = program.files.get(program.root) else {
            return Vec::new();
        };
        let used: FxHashSet<DefinitionId> = self
            .uses
            .iter()
            .filter(|entry| !entry.declares)
            .map(|entry| entry.definition)
            .collect();
        let starting = starting(&root.ast.items);
        let is_for_others = program.models().next().is_none();
        let ids = (0..self.definitions.len() as u32).map(DefinitionId);
        ids.filter(|id| {
            let definition = self.get(*id);
            let is_offered = is_for_others && definition.within.is_none();
            definition.name_span.source == root.source
                && !used.contains(id)
                && !starting.contains(&definition.name_span)
                && !is_offered
                && definition.kind.of_use().is_some()
        })
        .collect()
    }

    /// Returns the warnings about unused parameters, constants, functions and tables. A modal block may obtain parameters from a table, and
    /// inputs, signals and indices are often prepared for later: these are not reported.
    pub fn warnings(&self, program: &Program) -> Vec<Diagnostic> {
        let unused = self.unused(program).into_iter().map(|id| self.get(id));
        unused
            .filter(|definition| {
                let within = definition.within.map(|within| self.get(within).kind);
                within != Some(DefinitionKind::Modal) && !is_for_later(definition.kind)
            })
            .map(|definition| {
                let word = definition.kind.of_use().unwrap_or_default();
                let message = format!("nothing uses the {word} `{}`", definition.name);
                Diagnostic::warning(Code::LGM0156, message)
                    .label(definition.name_span, "unused")
                    .help("remove it, or write it where its value is meant to act")
            })
            .collect()
    }
}

fn is_for_later(kind: DefinitionKind) -> bool {
    matches!(
        kind,
        DefinitionKind::Input | DefinitionKind::Signal | DefinitionKind::Index
    )
}

/// Returns the names of signals with an initial value, which determines initial values of states even if no expression uses the signal.
fn starting(items: &[Item]) -> FxHashSet<Span> {
    let mut found = FxHashSet::default();
    let mut note = |statement: &Statement| {
        if let StatementKind::Signal(signal) = &statement.kind
            && !signal.attributes.is_empty()
        {
            found.insert(signal.declared.name.span);
        }
    };
    for item in items {
        match item {
            Item::Component(component) => statements(&component.body, &mut note),
            Item::Model(model) => statements(&model.body, &mut note),
            _ => {}
        }
    }
    found
}
