//! Names of modes: their declarations in elements, and their uses. They are not part of the analysis of names, because they occur in few
//! positions: after the arrow of a change, and in the attribute `mode` of an instance.

use crate::Snapshot;
use lgm_elaborate::analysis::DefinitionId;
use lgm_source::{SourceId, Span};
use lgm_syntax::ast::{Element, ElementMode, ExprKind, Instance, Item, Name, Statement, StatementKind};
use lgm_syntax::visit::statements;

/// A location at which a mode is named.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ModeUse<'s> {
    /// The name there.
    pub(crate) span: Span,
    /// The mode.
    pub(crate) mode: &'s ElementMode,
    /// The element of the mode.
    pub(crate) element: &'s Element,
}

impl ModeUse<'_> {
    /// Returns true if the mode is declared here.
    pub(crate) fn declares(&self) -> bool {
        self.span == self.mode.name.span
    }
}

/// Returns the element of a definition.
pub(crate) fn element_of(snapshot: &Snapshot, id: DefinitionId) -> Option<&Element> {
    let name = snapshot.analysis().get(id).name_span;
    let items = &snapshot.compilation().program().ast(name.source)?.items;
    items.iter().find_map(|item| match item {
        Item::Element(element) if element.name.span == name => Some(element),
        _ => None,
    })
}

/// Returns the element around a location of the root text.
pub(crate) fn element_at(snapshot: &Snapshot, at: u32) -> Option<&Element> {
    let items = &snapshot.compilation().program().ast(snapshot.root())?.items;
    items.iter().find_map(|item| match item {
        Item::Element(element) if (element.span.start..=element.span.end).contains(&at) => Some(element),
        _ => None,
    })
}

/// Returns every use of a mode in a text, in text order.
pub(crate) fn uses(snapshot: &Snapshot, source: SourceId) -> Vec<ModeUse<'_>> {
    let Some(ast) = snapshot.compilation().program().ast(source) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for item in &ast.items {
        match item {
            Item::Element(element) => of_element(element, &mut found),
            Item::Component(component) => of_body(snapshot, &component.body, &mut found),
            Item::Model(model) => of_body(snapshot, &model.body, &mut found),
            _ => {}
        }
    }
    found.sort_by_key(|entry| entry.span);
    found
}

/// Returns every use of a mode in all texts; its declaration comes first.
pub(crate) fn uses_of<'s>(snapshot: &'s Snapshot, mode: &ElementMode) -> Vec<ModeUse<'s>> {
    let texts = snapshot.map().iter().map(|entry| entry.0);
    let all = texts.flat_map(|source| uses(snapshot, source));
    let mut found: Vec<ModeUse<'s>> = all.filter(|entry| entry.mode.name.span == mode.name.span).collect();
    found.sort_by_key(|entry| (!entry.declares(), entry.span));
    found
}

/// Returns the use of a mode at a location.
pub(crate) fn mode_at(snapshot: &Snapshot, (source, at): (SourceId, u32)) -> Option<ModeUse<'_>> {
    let holds = |entry: &ModeUse<'_>| (entry.span.start..=entry.span.end).contains(&at);
    uses(snapshot, source).into_iter().find(holds)
}

fn named<'s>(element: &'s Element, name: &Name) -> Option<ModeUse<'s>> {
    let mode = element.modes.iter().find(|mode| mode.name.text == name.text)?;
    Some(ModeUse {
        span: name.span,
        mode,
        element,
    })
}

fn of_element<'s>(element: &'s Element, found: &mut Vec<ModeUse<'s>>) {
    for mode in &element.modes {
        found.push(ModeUse {
            span: mode.name.span,
            mode,
            element,
        });
        found.extend(mode.changes.iter().filter_map(|change| named(element, &change.to)));
    }
}

fn of_body<'s>(snapshot: &'s Snapshot, body: &'s [Statement], found: &mut Vec<ModeUse<'s>>) {
    statements(body, &mut |statement| {
        if let StatementKind::Instance(instance) = &statement.kind {
            found.extend(of_instance(snapshot, instance));
        }
    });
}

/// Returns the mode in `d1 : IdealDiode a -> b, mode = conducting;`
fn of_instance<'s>(snapshot: &'s Snapshot, instance: &Instance) -> Option<ModeUse<'s>> {
    let attribute = instance.attributes.iter().find(|entry| &*entry.name.text == "mode")?;
    let ExprKind::Name(name) = &attribute.value.kind else {
        return None;
    };
    let kind = instance.kind.span;
    let element = snapshot.analysis().at(kind.source, kind.start)?.definition;
    named(element_of(snapshot, element)?, name)
}
