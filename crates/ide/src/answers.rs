//! What the answers are made of: data without the types of any protocol.

use lgm_elaborate::analysis::DefinitionId;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Severity;
use lgm_source::{SourceId, Span};

/// A change of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What is replaced; empty to insert.
    pub span: Span,
    /// What is put there.
    pub text: String,
}

/// A fault or a remark, at its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where it is; none if it is about no place, such as a file without a model.
    pub span: Option<Span>,
    /// Its code; a hint has none, and the terminal does not print it.
    pub code: Option<Code>,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, with what is said of the place, further sentences and the help, one per line.
    pub message: String,
    /// Other places, each with its words: along a causal path in order.
    pub related: Vec<(Span, String)>,
    /// Whether it is no more than a hint.
    pub is_hint: bool,
    /// Whether the place can be shown faded, for it has no use.
    pub is_unused: bool,
}

/// What is shown of the place under the pointer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hover {
    /// What it is about.
    pub span: Span,
    /// Markdown.
    pub markdown: String,
}

/// What kind of thing a name stands for.
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
    /// A word of the language.
    Keyword,
    /// A unit.
    Unit,
}

/// Something that can be written at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The name as it is listed.
    pub label: String,
    /// What it is.
    pub kind: NameKind,
    /// A few words beside it: its unit, or its parameters.
    pub detail: Option<String>,
    /// Markdown, of what no text declares.
    pub documentation: Option<&'static str>,
    /// What it stands for if a text declares it: [`crate::Snapshot::documentation`] has the words, which take longer than the list.
    pub definition: Option<DefinitionId>,
    /// The import that it needs besides, where the text has none.
    pub import: Option<Edit>,
    /// What is written, as a snippet of the protocol (`${1:k}`); plain if it holds no `$`.
    pub insert: String,
    /// What it replaces.
    pub replace: Span,
}

/// What can be written at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completions {
    /// The list, what is expected first in front.
    pub list: Vec<Completion>,
    /// Whether there is more, so that another letter needs another list.
    pub is_incomplete: bool,
}

/// A definition, its parts within it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its name.
    pub name: String,
    /// A few words beside it.
    pub detail: Option<String>,
    /// What it is.
    pub kind: NameKind,
    /// The whole definition.
    pub span: Span,
    /// Its name in it.
    pub name_span: Span,
    /// What is declared in it.
    pub children: Vec<Symbol>,
}

/// What the formals of a thing are, and which one is being written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The whole: `Spring(k [N/m])`.
    pub label: String,
    /// The formals, as bytes of the label.
    pub formals: Vec<std::ops::Range<usize>>,
    /// Which of them is being written.
    pub active: Option<usize>,
    /// Markdown.
    pub documentation: Option<String>,
}

/// What a hint is about, so that each kind can be turned off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HintKind {
    /// The causality of a storage element, and its states.
    Causality,
    /// The value of a parameter that follows from others.
    Value,
    /// The domain and the width of a node that declares neither.
    Domain,
}

/// A word between the text's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// Where, a byte of the root text.
    pub at: u32,
    /// What it is about.
    pub kind: HintKind,
    /// What is shown there.
    pub text: String,
    /// What is shown of it under the pointer, as Markdown.
    pub tooltip: String,
}

/// A change that mends or improves something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// What it does, as a menu shows it.
    pub title: String,
    /// The code of what it mends; a hint has none.
    pub code: Option<Code>,
    /// Whether it mends a fault or a hint; others rearrange what is sound.
    pub is_fix: bool,
    /// The changes.
    pub edits: Vec<Edit>,
}

/// A part of the text that leads somewhere: a quoted import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The part.
    pub span: Span,
    /// The text that it leads to.
    pub target: SourceId,
}

/// What a part of the text is, for its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colored {
    /// The part, within one line.
    pub span: Span,
    /// What it names; words, numbers and comments are the grammar's of the editor.
    pub kind: NameKind,
    /// Whether it is declared here.
    pub declares: bool,
}
