//! What each name in the texts stands for, whatever faults they have: what an editor goes by.
//!
//! Names are resolved in the syntax trees alone, without values: of a statement with a fault, the names keep their meaning
//! that could be read. A name of the standard library, of an import, or of the text itself stands for one [`Definition`].

mod declaring;
mod definitions;
mod resolving;

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

/// All items of a program, with the places of their files and their own.
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
        unit: None,
        of: None,
        within: None,
    })
}
