//! Definitions and their uses.

use lgm_source::{SourceId, Span};
use lgm_syntax::ast::Name;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The index of a definition in [`Analysis::definitions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DefinitionId(pub u32);

/// The kind of a definition.
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
    /// `const N = 4;`, in a model or outside.
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
    /// `function f(x) = ..;`
    Function,
    /// `table t = [[0, 1], [2, 3]];`
    Table,
    /// The index of a `for`, a `sum` or a `mode`, or the unknown of a `root`.
    Index,
}

/// A definition.
#[derive(Clone, Debug)]
pub struct Definition {
    /// Its name.
    pub name: Arc<str>,
    /// Its kind.
    pub kind: DefinitionKind,
    /// The location of its name in the declaration.
    pub name_span: Span,
    /// The whole definition: an item, a statement, the name of a formal parameter.
    pub span: Span,
    /// Its `///` lines.
    pub doc: Option<Arc<str>>,
    /// The location of its declared unit.
    pub unit: Option<Span>,
    /// For an instance, its definition; for a node or a port, its domain.
    pub of: Option<DefinitionId>,
    /// The item that it is declared in.
    pub within: Option<DefinitionId>,
}

/// A use of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    /// The name.
    pub span: Span,
    /// Its meaning.
    pub definition: DefinitionId,
    /// True if the name is declared here.
    pub declares: bool,
}

/// The meaning of each name in the texts.
#[derive(Clone, Debug, Default)]
pub struct Analysis {
    /// All definitions: those of the standard library that are loaded, of imports, and of the root text.
    pub definitions: Vec<Definition>,
    /// All uses and declarations, in order of their locations.
    pub uses: Vec<Use>,
    /// The declarations in each item by name, except outputs.
    pub(super) members: Vec<FxHashMap<Arc<str>, DefinitionId>>,
    /// Outputs of each item: their names are a separate namespace (language 9).
    pub(super) outputs: Vec<FxHashMap<Arc<str>, DefinitionId>>,
    /// All items except imports, by their indices in the program.
    pub(super) items: FxHashMap<(u32, u32), DefinitionId>,
}

impl Analysis {
    /// Returns a definition.
    pub fn get(&self, id: DefinitionId) -> &Definition {
        &self.definitions[id.0 as usize]
    }

    /// Returns the name at a byte of a text, or the name that ends there.
    pub fn at(&self, source: SourceId, offset: u32) -> Option<Use> {
        let holds =
            |entry: &&Use| entry.span.source == source && entry.span.start <= offset && offset <= entry.span.end;
        let end = self
            .uses
            .partition_point(|entry| (entry.span.source, entry.span.start) <= (source, offset));
        self.uses[..end].iter().rev().take(2).find(holds).copied()
    }

    /// Returns all uses of a definition, including its declarations.
    pub fn uses_of(&self, id: DefinitionId) -> impl Iterator<Item = &Use> {
        self.uses.iter().filter(move |entry| entry.definition == id)
    }

    /// Returns the declarations in an item; for an instance, those in its definition.
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

    /// Returns the member of an item or an instance with this name.
    pub fn member(&self, id: DefinitionId, name: &str) -> Option<DefinitionId> {
        let item = match self.get(id).kind {
            DefinitionKind::Instance => self.get(id).of?,
            _ => id,
        };
        self.members[item.0 as usize].get(name).copied()
    }

    /// Returns the item that contains a byte of the text; after the last statement of an unclosed item, that item.
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
