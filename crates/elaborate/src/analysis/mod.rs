//! The meaning of each name in the texts, even with errors: the basis of editor features.
//!
//! Names are resolved only in the syntax trees, without values. The readable names of a faulty statement keep their meanings. A name of the
//! standard library, of an import, or of the text itself refers to one [`Definition`].

mod declaring;
mod definitions;
mod resolving;
mod unused;

pub use definitions::{Analysis, Definition, DefinitionId, DefinitionKind, Use};

use crate::program::Program;
use declaring::Declaring;
use lgm_syntax::ast::Item;
use resolving::Resolving;

impl Analysis {
    /// Resolves the names of a program.
    pub fn of(program: &Program) -> Analysis {
        let mut found = Analysis::default();
        for (file, item, at) in items(program) {
            if let Some(definition) = of_item(item) {
                let id = found.declare(definition);
                found.items.insert((file, at), id);
            }
        }
        for (file, item, at) in items(program) {
            if let Some(id) = found.items.get(&(file, at)).copied() {
                Declaring {
                    found: &mut found,
                    program,
                    item: id,
                }
                .item(item);
            }
        }
        for (file, item, at) in items(program) {
            if let Some(id) = found.items.get(&(file, at)).copied() {
                let mut resolving = Resolving {
                    found: &mut found,
                    program,
                    item: id,
                    indices: Vec::new(),
                    in_experiment: false,
                };
                resolving.item(item);
            }
        }
        found.uses.sort_by_key(|entry| (entry.span, !entry.declares));
        found.uses.dedup_by_key(|entry| entry.span);
        found
    }
}

/// Returns all items of a program, with the indices of their files and their own indices.
fn items(program: &Program) -> impl Iterator<Item = (u32, &Item, u32)> {
    let files = program.files.iter().enumerate();
    files.flat_map(|(file, content)| {
        let list = content.ast.items.iter().enumerate();
        list.map(move |(at, item)| (file as u32, item, at as u32))
    })
}

fn of_item(item: &Item) -> Option<Definition> {
    let (kind, name, span, doc) = match item {
        Item::Import(_) => return None,
        Item::Function(function) => (DefinitionKind::Function, &function.name, function.span, &function.doc),
        Item::Const(constant) => (
            DefinitionKind::Constant,
            &constant.assigned.name,
            constant.span,
            &constant.doc,
        ),
        Item::Domain(domain) => (DefinitionKind::Domain, &domain.name, domain.span, &domain.doc),
        Item::Element(element) => (DefinitionKind::Element, &element.name, element.span, &element.doc),
        Item::Component(component) => (
            DefinitionKind::Component,
            &component.name,
            component.span,
            &component.doc,
        ),
        Item::Modal(modal) => (DefinitionKind::Modal, &modal.name, modal.span, &modal.doc),
        Item::Model(model) => (DefinitionKind::Model, &model.name, model.span, &model.doc),
    };
    Some(Definition {
        name: name.text.clone(),
        kind,
        name_span: name.span,
        span,
        doc: doc.clone(),
        unit: match item {
            Item::Const(constant) => constant.assigned.unit.as_ref().map(|unit| unit.span),
            _ => None,
        },
        of: None,
        within: None,
    })
}
