//! The possible imports from the standard library, and the change that adds an import.

use crate::program::LIBRARY;
use crate::program::Program;
use crate::program::defining::{Kind, defined_name};
use lgm_source::diagnostic::Fix;
use lgm_source::{SourceId, SourceMap, Span};
use lgm_syntax::ast::Item;
use rustc_hash::FxHashMap;
use std::sync::Arc;

impl Program {
    /// Returns the importable module of the standard library that defines a kind.
    pub(crate) fn module_with(&self, kind: &str) -> Option<&'static str> {
        self.importable.get_or_init(importable).get(kind).copied()
    }

    /// Returns the kinds in importable modules of the standard library, each with its module.
    pub fn importable_kinds(&self) -> impl Iterator<Item = (&str, &'static str)> {
        let kinds = self.importable.get_or_init(importable);
        kinds.iter().map(|(kind, module)| (&**kind, *module))
    }

    /// Returns the change of a text that imports a module: after the last import, or before the first item.
    pub(crate) fn import_of(&self, module: &str, map: &SourceMap, source: SourceId) -> Option<Fix> {
        Some(Fix {
            title: format!("import `{module}`"),
            edits: vec![self.importing(module, map, source)?],
        })
    }

    /// Returns the location and the text of an import of a module or a quoted path.
    pub fn importing(&self, target: &str, map: &SourceMap, source: SourceId) -> Option<(Span, String)> {
        let items = &self.ast(source)?.items;
        let last = items.iter().rev().find_map(|item| match item {
            Item::Import(import) => Some(import.span),
            _ => None,
        });
        let (at, text) = match last {
            Some(span) => (span.end, format!("\nimport {target};")),
            None => {
                // Before the `///` lines of the first item, which belong to it.
                let before = &map.get(source).text[..items.first()?.span().start as usize];
                let mut start = before.rfind('\n').map_or(0, |end| end + 1);
                let above = before[..start].split_inclusive('\n').rev();
                start -= above
                    .take_while(|line| line.starts_with("///"))
                    .map(str::len)
                    .sum::<usize>();
                (start as u32, format!("import {target};\n\n"))
            }
        };
        Some((Span::new(source, at as usize, at as usize), text))
    }
}

/// Returns the definitions of importable modules: elements, components and modal blocks.
fn importable() -> FxHashMap<Arc<str>, &'static str> {
    let mut kinds = FxHashMap::default();
    for module in LIBRARY.iter().filter(|module| !module.prelude) {
        // Only names are taken from this tree; its locations belong to no source.
        let (ast, _) = lgm_syntax::parse(SourceId(0), module.text);
        let names = ast.items.iter().filter_map(defined_name);
        kinds.extend(
            names
                .filter(|entry| entry.1 == Kind::Definition)
                .map(|entry| (entry.0.text.clone(), module.name)),
        );
    }
    kinds
}
