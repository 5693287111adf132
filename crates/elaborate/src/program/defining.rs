//! The tables of definitions: each name refers to one item, and the user's items replace those of the standard library.

use super::{ItemRef, Program};
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_syntax::ast::{Item, Name};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Returns the name of a definition or a domain; true for a domain.
pub(super) fn defined_name(item: &Item) -> Option<(&Name, Kind)> {
    match item {
        Item::Element(element) => Some((&element.name, Kind::Definition)),
        Item::Component(component) => Some((&component.name, Kind::Definition)),
        Item::Modal(modal) => Some((&modal.name, Kind::Definition)),
        Item::Domain(domain) => Some((&domain.name, Kind::Domain)),
        Item::Function(function) => Some((&function.name, Kind::Function)),
        Item::Const(constant) => Some((&constant.assigned.name, Kind::Constant)),
        Item::Import(_) | Item::Model(_) => None,
    }
}

/// The namespaces of items.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Definition,
    Domain,
    Function,
    Constant,
}

impl Kind {
    fn words(self) -> &'static str {
        match self {
            Kind::Definition => "definition",
            Kind::Domain => "domain",
            Kind::Function => "function",
            Kind::Constant => "constant",
        }
    }
}

impl Program {
    /// Fills the tables of definitions of a program.
    pub(super) fn define(&mut self, diagnostics: &mut Vec<Diagnostic>) {
        let program = self;
        let mut models: FxHashMap<Arc<str>, Span> = FxHashMap::default();
        for (file_index, file) in program.files.iter().enumerate() {
            for (item_index, item) in file.ast.items.iter().enumerate() {
                if let Item::Model(model) = item
                    && file_index == program.root
                    && let Some(first) = models.insert(model.name.text.clone(), model.name.span)
                {
                    diagnostics.push(twice(&model.name, first, "model"));
                }
                let Some((name, kind)) = defined_name(item) else {
                    continue;
                };
                let at = ItemRef {
                    file: file_index as u32,
                    item: item_index as u32,
                };
                let table = match (file.library, kind) {
                    (true, Kind::Domain) => &mut program.library_domains,
                    (true, Kind::Definition) => &mut program.library,
                    (true, Kind::Function) => &mut program.library_functions,
                    (true, Kind::Constant) => &mut program.library_constants,
                    (false, Kind::Domain) => &mut program.user_domains,
                    (false, Kind::Definition) => &mut program.user,
                    (false, Kind::Function) => &mut program.user_functions,
                    (false, Kind::Constant) => &mut program.user_constants,
                };
                if let Some(first) = table.insert(name.text.clone(), at) {
                    let other = defined_name(&program.files[first.file as usize].ast.items[first.item as usize]);
                    let span = other.map_or(name.span, |entry| entry.0.span);
                    diagnostics.push(twice(name, span, kind.words()));
                }
            }
        }
        for (table, library) in [
            (&program.user, &program.library),
            (&program.user_domains, &program.library_domains),
        ] {
            let mut shadowing: Vec<ItemRef> = table
                .iter()
                .filter(|entry| library.contains_key(entry.0))
                .map(|entry| *entry.1)
                .collect();
            shadowing.sort_unstable_by_key(|at| (at.file, at.item));
            for at in shadowing {
                let item = &program.files[at.file as usize].ast.items[at.item as usize];
                let Some((name, _)) = defined_name(item) else {
                    continue;
                };
                let of_library = library[&name.text];
                let other = &program.files[of_library.file as usize].ast.items[of_library.item as usize];
                let mut diagnostic = Diagnostic::information(
                    Code::LGM0106,
                    format!("`{}` here replaces the one of the standard library", name.text),
                )
                .label(name.span, "this definition is used");
                if let Some((other, _)) = defined_name(other) {
                    diagnostic = diagnostic.label(other.span, "it replaces this definition");
                }
                diagnostics.push(diagnostic);
            }
        }
    }
}

fn twice(name: &Name, first: Span, what: &str) -> Diagnostic {
    Diagnostic::error(Code::LGM0107, format!("the {what} `{}` is declared twice", name.text))
        .label(name.span, "declared again here")
        .label(first, "first declared here")
        .help("rename one of the two")
}
