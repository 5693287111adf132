//! Definitions that completion and signatures examine.

use crate::Snapshot;
use lgm_elaborate::analysis::{Definition, DefinitionId, DefinitionKind};
use lgm_syntax::ast::{ExprKind, Item};
use rustc_hash::FxHashSet;

/// Returns all kinds of instances that are visible from the root text. User definitions override library definitions of the same name.
pub(crate) fn kinds(snapshot: &Snapshot) -> Vec<DefinitionId> {
    let analysis = snapshot.analysis();
    let program = snapshot.compilation().program();
    let is_kind = |definition: &Definition| {
        matches!(
            definition.kind,
            DefinitionKind::Element | DefinitionKind::Component | DefinitionKind::Modal
        )
    };
    let of_library = |definition: &Definition| program.is_library(definition.name_span.source);
    let all = || analysis.definitions.iter().zip(0..).filter(|entry| is_kind(entry.0));
    let own: FxHashSet<&str> = all()
        .filter(|entry| !of_library(entry.0))
        .map(|entry| &*entry.0.name)
        .collect();
    all()
        .filter(|(definition, _)| !(of_library(definition) && own.contains(&*definition.name)))
        .map(|(_, at)| DefinitionId(at))
        .collect()
}

/// Returns the functions and constants outside of models.
pub(super) fn outside(snapshot: &Snapshot) -> impl Iterator<Item = DefinitionId> {
    let definitions = snapshot.analysis().definitions.iter().zip(0..);
    let values = definitions.filter(|(definition, _)| {
        let is_value = matches!(definition.kind, DefinitionKind::Function | DefinitionKind::Constant);
        is_value && definition.within.is_none()
    });
    values.map(|(_, at)| DefinitionId(at))
}

pub(super) fn is_formal(kind: DefinitionKind) -> bool {
    matches!(kind, DefinitionKind::Formal | DefinitionKind::StructuralFormal)
}

/// Returns the formal parameters of an item, in order.
pub(super) fn formals(snapshot: &Snapshot, id: DefinitionId) -> Vec<DefinitionId> {
    let analysis = snapshot.analysis();
    let mut list = analysis.members(id);
    list.retain(|member| is_formal(analysis.get(*member).kind));
    list.sort_by_key(|member| analysis.get(*member).name_span);
    list
}

/// Returns the name of the domain of an element or a modal block; none if it has none, or several.
pub(crate) fn domain_of(snapshot: &Snapshot, kind: &Definition) -> Option<String> {
    let items = &snapshot.compilation().program().ast(kind.name_span.source)?.items;
    items
        .iter()
        .find_map(|item| match item {
            Item::Element(element) if element.name.span == kind.name_span => element.domain.as_ref(),
            Item::Modal(modal) if modal.name.span == kind.name_span => modal.domain.as_ref(),
            _ => None,
        })
        .map(|domain| domain.text.to_string())
}

/// Returns true if a branch of this kind can end at a node: their domains agree, or at least one is not given.
pub(super) fn fits(snapshot: &Snapshot, kind: Option<DefinitionId>, node: DefinitionId) -> bool {
    let analysis = snapshot.analysis();
    let wanted = kind.and_then(|kind| domain_of(snapshot, analysis.get(kind)));
    let found = analysis.get(node).of.map(|of| analysis.get(of));
    match (wanted, found) {
        (Some(wanted), Some(found)) if found.kind == DefinitionKind::Domain => *found.name == *wanted,
        _ => true,
    }
}

/// The meaning of the brackets after the name of a node or a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Scalar,
    /// Several nodes, one of which needs an index.
    Array,
    /// One node with several entries.
    Vector,
}

pub(super) fn shape(snapshot: &Snapshot, node: DefinitionId) -> Shape {
    let name = snapshot.analysis().get(node).name_span;
    let mut rest = snapshot.map().get(name.source).text[name.end as usize..].trim_start();
    let mut found = Shape::Scalar;
    while let Some((_, behind)) = rest.strip_prefix('[').and_then(|inside| inside.split_once(']')) {
        found = Shape::Array;
        rest = behind.trim_start();
    }
    let is_vector = rest
        .strip_prefix("vector")
        .is_some_and(|rest| !rest.starts_with(char::is_alphanumeric));
    if is_vector { Shape::Vector } else { found }
}

/// Returns true if a node can be bound to a port: their domains agree, or at least one is not given.
pub(super) fn fits_port(snapshot: &Snapshot, port: Option<DefinitionId>, node: DefinitionId) -> bool {
    let analysis = snapshot.analysis();
    let domain = |id: DefinitionId| analysis.get(id).of.map(|of| &*analysis.get(of).name);
    let Some(port) = port else { return true };
    let is_same = match (domain(port), domain(node)) {
        (Some(wanted), Some(found)) => wanted == found,
        _ => true,
    };
    is_same && (shape(snapshot, port) == Shape::Vector) == (shape(snapshot, node) == Shape::Vector)
}

/// Returns the ports of an item, in order.
pub(super) fn ports(snapshot: &Snapshot, id: DefinitionId) -> Vec<DefinitionId> {
    let analysis = snapshot.analysis();
    let mut list = analysis.members(id);
    list.retain(|member| analysis.get(*member).kind == DefinitionKind::Port);
    list.sort_by_key(|member| analysis.get(*member).name_span);
    list
}

/// Returns the names that the modal block around a location defines: `mass`, `wave`.
pub(super) fn assigned_in_modal(snapshot: &Snapshot, at: u32) -> Vec<&str> {
    let ast = snapshot.compilation().program().ast(snapshot.root());
    let items = ast.map_or(&[][..], |ast| &ast.items);
    let holding = items.iter().find_map(|item| match item {
        Item::Modal(modal) if (modal.span.start..=modal.span.end).contains(&at) => Some(modal),
        _ => None,
    });
    let lefts = holding.into_iter().flat_map(|modal| &modal.equations);
    // Excludes the variable that is being assigned.
    let others = lefts.filter(|equation| !(equation.span.start..=equation.span.end).contains(&at));
    others
        .filter_map(|equation| match &equation.left.kind {
            ExprKind::Name(name) => Some(&*name.text),
            _ => None,
        })
        .collect()
}
