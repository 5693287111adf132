//! Definitions and the places that name them.

use lgm_source::{SourceId, Span};
use lgm_syntax::ast::Name;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A definition, by its place in [`Analysis::definitions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DefinitionId(pub u32);

/// What is defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefinitionKind {
    /// `model M { .. }`
    Model,
    /// `component C(..) { .. }`
    Component,
    /// `element E(..) : d { .. }`
    Element,
    /// `modal B(..) : d { .. }`
    Modal,
    /// `domain d { .. }`
    Domain,
    /// A parameter of an element, a component or a modal block.
    Formal,
    /// A structural parameter of one of these: `const N`.
    StructuralFormal,
    /// `param m = 2 [kg];`
    Parameter,
    /// `const N = 4;`
    Constant,
    /// `input F [N] = 1;`
    Input,
    /// `output v = ..;`
    Output,
    /// `signal e = ..;`
    Signal,
    /// `state z = int(..);`
    State,
    /// `discrete hits = 0;`
    Discrete,
    /// `node x : translational;`
    Node,
    /// `zero J;` or `one A;`
    Junction,
    /// `port p, n : electrical;`
    Port,
    /// `spring : Spring(k) x -> gnd;`
    Instance,
    /// The index of a `for`, a `sum` or a `mode`, or the unknown of a `root`.
    Index,
}

/// A definition.
#[derive(Clone, Debug)]
pub struct Definition {
    /// Its name.
    pub name: Arc<str>,
    /// What is defined.
    pub kind: DefinitionKind,
    /// Its name, where it is declared.
    pub name_span: Span,
    /// The whole definition: an item, a statement, a formal's name.
    pub span: Span,
    /// Its `///` lines.
    pub doc: Option<Arc<str>>,
    /// Where the unit is written that it is declared with.
    pub unit: Option<Span>,
    /// Of an instance, what it is one of; of a node or a port, its domain.
    pub of: Option<DefinitionId>,
    /// The item that it is declared in.
    pub within: Option<DefinitionId>,
}

/// A place where a name stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    /// The name.
    pub span: Span,
    /// What it stands for.
    pub definition: DefinitionId,
    /// Whether it is declared here.
    pub declares: bool,
}

/// What each name in the texts stands for.
#[derive(Clone, Debug, Default)]
pub struct Analysis {
    /// All definitions: those of the standard library that are loaded, of imports, and of the root text.
    pub definitions: Vec<Definition>,
    /// All uses and declarations, in the order of their places.
    pub uses: Vec<Use>,
    /// What is declared in each item, by name, but for outputs.
    pub(super) members: Vec<FxHashMap<Arc<str>, DefinitionId>>,
    /// Outputs of each item: their names are a space of their own (language 9).
    pub(super) outputs: Vec<FxHashMap<Arc<str>, DefinitionId>>,
    /// Domains, elements, components, modal blocks and models, by their places in the program.
    pub(super) items: FxHashMap<(u32, u32), DefinitionId>,
}

impl Analysis {
    /// A definition.
    pub fn get(&self, id: DefinitionId) -> &Definition {
        &self.definitions[id.0 as usize]
    }

    /// The name at a byte of a text, or the one that ends there.
    pub fn at(&self, source: SourceId, offset: u32) -> Option<Use> {
        let holds =
            |entry: &&Use| entry.span.source == source && entry.span.start <= offset && offset <= entry.span.end;
        let end = self
            .uses
            .partition_point(|entry| (entry.span.source, entry.span.start) <= (source, offset));
        self.uses[..end].iter().rev().take(2).find(holds).copied()
    }

    /// Every place that a definition is named at, its declarations among them.
    pub fn uses_of(&self, id: DefinitionId) -> impl Iterator<Item = &Use> {
        self.uses.iter().filter(move |entry| entry.definition == id)
    }

    /// What is declared in an item; of an instance, in what it is one of.
    pub fn members(&self, id: DefinitionId) -> Vec<DefinitionId> {
        let item = match self.get(id).kind {
            DefinitionKind::Instance => self.get(id).of,
            _ => Some(id),
        };
        let mut list: Vec<DefinitionId> = item
            .map(|item| {
                let values = self.members[item.0 as usize].values();
                values.chain(self.outputs[item.0 as usize].values()).copied().collect()
            })
            .unwrap_or_default();
        list.sort_unstable();
        list
    }

    /// The member of an item, or of an instance, that has a name.
    pub fn member(&self, id: DefinitionId, name: &str) -> Option<DefinitionId> {
        let item = match self.get(id).kind {
            DefinitionKind::Instance => self.get(id).of?,
            _ => id,
        };
        self.members[item.0 as usize].get(name).copied()
    }

    /// The item whose text holds a byte; behind the last statement of an item that is not closed yet, that item.
    pub fn item_at(&self, source: SourceId, offset: u32) -> Option<DefinitionId> {
        let before = self.items.values().copied().filter(|id| {
            let span = self.get(*id).span;
            span.source == source && span.start <= offset
        });
        before.max_by_key(|id| self.get(*id).span.start)
    }

    pub(super) fn declare(&mut self, definition: Definition) -> DefinitionId {
        let id = DefinitionId(self.definitions.len() as u32);
        self.uses.push(Use {
            span: definition.name_span,
            definition: id,
            declares: true,
        });
        self.definitions.push(definition);
        self.members.push(FxHashMap::default());
        self.outputs.push(FxHashMap::default());
        id
    }

    pub(super) fn named(&mut self, name: &Name, definition: DefinitionId) {
        self.uses.push(Use {
            span: name.span,
            definition,
            declares: false,
        });
    }
}
