//! The types of the answers: data independent of any protocol.

use lgm_elaborate::analysis::DefinitionId;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Severity;
use lgm_source::{SourceId, Span};

/// A change of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The replaced range; empty to insert.
    pub span: Span,
    /// The new text.
    pub text: String,
}

/// An error, a warning or a remark with its location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The location; none for diagnostics without one, such as for a file without a model.
    pub span: Option<Span>,
    /// Its code; a hint has none, and the terminal does not print it.
    pub code: Option<Code>,
    /// The severity.
    pub severity: Severity,
    /// The message with its label, notes and help, one per line.
    pub message: String,
    /// Related locations, each with its message; in order along a causal path.
    pub related: Vec<(Span, String)>,
    /// True if it is only a hint.
    pub is_hint: bool,
    /// True if the text can be shown faded because it is unused.
    pub is_unused: bool,
}

/// The hover text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hover {
    /// The range that the hover describes.
    pub span: Span,
    /// Markdown.
    pub markdown: String,
}

/// The kind of thing that a name represents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NameKind {
    /// A model.
    Model,
    /// A component.
    Component,
    /// An element, or a modal block.
    Element,
    /// A domain.
    Domain,
    /// A module of the standard library, or a file.
    Module,
    /// A parameter, a constant or a formal.
    Parameter,
    /// An input.
    Input,
    /// An output.
    Output,
    /// A signal.
    Signal,
    /// A declared state or a discrete variable.
    State,
    /// A mode of an element.
    Mode,
    /// A node or a junction.
    Node,
    /// A port.
    Port,
    /// An element or a component of a body.
    Instance,
    /// An index of a loop or a sum.
    Index,
    /// A function of the language.
    Function,
    /// A keyword.
    Keyword,
    /// A unit.
    Unit,
}

/// A candidate at a location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The name as listed.
    pub label: String,
    /// Its kind.
    pub kind: NameKind,
    /// A short description: its unit, or its parameters.
    pub detail: Option<String>,
    /// The documentation in Markdown, if no text declares the item.
    pub documentation: Option<&'static str>,
    /// The declared item, if any: [`crate::Snapshot::documentation`] returns its documentation, which takes longer than
    /// the list.
    pub definition: Option<DefinitionId>,
    /// The required import, if the text does not contain it.
    pub import: Option<Edit>,
    /// The inserted text, as a snippet of the protocol (`${1:k}`); plain if it contains no `$`.
    pub insert: String,
    /// The replaced range.
    pub replace: Span,
}

/// The possible completions at a location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completions {
    /// The list, with the expected items first.
    pub list: Vec<Completion>,
    /// True if the list is truncated, so that another letter requires a new list.
    pub is_incomplete: bool,
}

/// A definition with its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its name.
    pub name: String,
    /// A short description.
    pub detail: Option<String>,
    /// Its kind.
    pub kind: NameKind,
    /// The whole definition.
    pub span: Span,
    /// The location of its name.
    pub name_span: Span,
    /// Its declarations.
    pub children: Vec<Symbol>,
}

/// The formal parameters of an item, and the current one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The complete text: `Spring(k [N/m])`.
    pub label: String,
    /// The formal parameters, as byte ranges of the label.
    pub formals: Vec<std::ops::Range<usize>>,
    /// The current one.
    pub active: Option<usize>,
    /// Markdown.
    pub documentation: Option<String>,
}

/// The kind of a hint, so that each can be turned off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HintKind {
    /// The causality of a storage element, and its states.
    Causality,
    /// The value of a parameter that depends on others.
    Value,
    /// The domain and the width of a node that declares neither.
    Domain,
}

/// A text that an editor inserts between the words of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// The location, as a byte of the root text.
    pub at: u32,
    /// The kind of the hint.
    pub kind: HintKind,
    /// The displayed text.
    pub text: String,
    /// Its hover text, as Markdown.
    pub tooltip: String,
}

/// A change that fixes or improves something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// The title in a menu.
    pub title: String,
    /// The code of the fixed problem; a hint has none.
    pub code: Option<Code>,
    /// True if it fixes a problem or a hint; others rearrange valid text.
    pub is_fix: bool,
    /// The changes.
    pub edits: Vec<Edit>,
}

/// A part of the text with a link: a quoted import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The part.
    pub span: Span,
    /// The target of the link.
    pub target: SourceId,
}

/// The kind of a part of the text, for highlighting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colored {
    /// The part, within one line.
    pub span: Span,
    /// The kind of name; words, numbers and comments are left to the grammar of the editor.
    pub kind: NameKind,
    /// True if the name is declared here.
    pub declares: bool,
}
