//! What an editor asks of a model, answered as plain data: no protocol, no files, no threads.
//!
//! A [`Snapshot`] is one root text as it is now, with all that it imports. It answers whatever state the text is in: what needs
//! equations is left out where there are none, and everything else goes by the names in what could be read.
//!
//! Places are [`Span`]s of bytes; [`Snapshot::map`] has the texts, and [`lgm_source::Source::position`] turns offsets into lines and columns
//! of whatever encoding.

mod actions;
mod completion;
mod facts;
mod hints;
mod hover;
mod navigation;
mod problems;
mod symbols;
#[cfg(test)]
mod tests;

use lgm_compilation::{Compilation, Request};
use lgm_elaborate::analysis::Analysis;
use lgm_equations::Options;
use lgm_model::system::StateSystem;
use lgm_source::cancellation::Cancellation;
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, Severity};
use lgm_source::{SourceId, SourceMap, Sources, Span};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// One root text as it is now, with all that it imports.
#[derive(Debug)]
pub struct Snapshot {
    compilation: Compilation,
    analysis: OnceLock<Analysis>,
    diagnostics: OnceLock<Vec<Diagnostic>>,
}

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
    /// Its code.
    pub code: Code,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, with what is said of the place, further sentences and the help, one per line.
    pub message: String,
    /// Other places, each with its words: along a causal path in order.
    pub related: Vec<(Span, String)>,
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
    /// A declared state.
    State,
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
    /// Markdown.
    pub documentation: Option<String>,
    /// What is written, as a snippet of the protocol (`${1:k}`); plain if it holds no `$`.
    pub insert: String,
    /// What it replaces.
    pub replace: Span,
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
    /// The code of what it mends.
    pub code: Option<Code>,
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

impl Snapshot {
    /// Reads a root text and what it imports. The path, if it has one, says where its imports lie.
    pub fn new(
        files: &dyn Sources,
        path: Option<PathBuf>,
        name: &str,
        text: &str,
        cancellation: Cancellation,
    ) -> Snapshot {
        let mut map = SourceMap::default();
        let root = map.add(name, text, path);
        let request = Request {
            // As `lgm check`: numbers find every singular value, in time in proportion to the model.
            equations: Options {
                symbolic: false,
                ..Options::default()
            },
            cancellation,
            ..Request::default()
        };
        Snapshot {
            compilation: Compilation::new(files, map, root, request),
            analysis: OnceLock::new(),
            diagnostics: OnceLock::new(),
        }
    }

    /// What each name stands for.
    pub(crate) fn analysis(&self) -> &Analysis {
        self.analysis.get_or_init(|| Analysis::of(self.compilation.program()))
    }

    /// Everything that was found on the way to the equations.
    pub(crate) fn diagnostics(&self) -> &[Diagnostic] {
        self.diagnostics.get_or_init(|| self.compilation.diagnostics())
    }

    /// All texts: the root, what it imports, and the standard library, whose texts have no path.
    pub fn map(&self) -> &SourceMap {
        self.compilation.map()
    }

    /// The root text.
    pub fn root(&self) -> SourceId {
        self.compilation.root()
    }

    /// The text that was read from a path.
    pub fn source_of(&self, path: &Path) -> Option<SourceId> {
        let is_it = |entry: &(SourceId, &lgm_source::Source)| entry.1.path.as_deref() == Some(path);
        self.map().iter().find(is_it).map(|entry| entry.0)
    }

    /// Every fault and remark, of the root and of what it imports: the same as the terminal prints.
    pub fn problems(&self) -> Vec<Problem> {
        problems::problems(self)
    }

    /// What is known of the place.
    pub fn hover(&self, at: (SourceId, u32)) -> Option<Hover> {
        hover::hover(self, at)
    }

    /// What can be written at a byte of the root text.
    pub fn completions(&self, at: u32) -> Vec<Completion> {
        completion::completions(self, at)
    }

    /// The formals of what is being written at a byte of the root text.
    pub fn signature(&self, at: u32) -> Option<Signature> {
        completion::signature(self, at)
    }

    /// Where the name at the place is declared: its name there.
    pub fn definition(&self, at: (SourceId, u32)) -> Option<Span> {
        navigation::definition(self, at)
    }

    /// Every place that means what the name at the place means, its declaration first if that is wanted.
    pub fn references(&self, at: (SourceId, u32), with_declaration: bool) -> Vec<Span> {
        navigation::references(self, at, with_declaration)
    }

    /// The name at the place, if it can be given another one.
    pub fn renamed_name(&self, at: (SourceId, u32)) -> Result<Span, String> {
        navigation::renamed_name(self, at)
    }

    /// The changes that give what the name at the place means another name, or why that cannot be.
    pub fn rename(&self, at: (SourceId, u32), new: &str) -> Result<Vec<Edit>, String> {
        navigation::rename(self, at, new)
    }

    /// What the root text declares.
    pub fn symbols(&self) -> Vec<Symbol> {
        symbols::symbols(self)
    }

    /// The parts of the root text that can be folded away: bodies, and comments of several lines.
    pub fn folds(&self) -> Vec<Span> {
        symbols::folds(self)
    }

    /// For a byte of the root text, the parts that hold it, the smallest first.
    pub fn selections(&self, at: u32) -> Vec<Span> {
        symbols::selections(self, at)
    }

    /// What the names in the root text are, in the order of the text.
    pub fn colors(&self) -> Vec<Colored> {
        symbols::colors(self)
    }

    /// States and causality of elements, and values of derived parameters.
    pub fn hints(&self) -> Vec<Hint> {
        hints::hints(self)
    }

    /// Changes that mend what is wrong in a part of the root text.
    pub fn actions(&self, span: Span) -> Vec<Action> {
        actions::actions(self, span)
    }

    /// The root text in the form of `lgm fmt`; none if it has faults that stop that.
    pub fn formatted(&self) -> Option<String> {
        let text = &self.map().get(self.root()).text;
        lgm_syntax::format(self.root(), text).ok()
    }

    /// Quoted imports of the root text.
    pub fn links(&self) -> Vec<Link> {
        symbols::links(self)
    }

    /// The equations of the model over its parameters; none if it has faults, or so many elements that making them takes long.
    pub fn system(&self) -> Option<&StateSystem> {
        facts::symbolic(self)
    }

    /// What the answers are made from, for those who need a stage of it.
    pub fn compilation(&self) -> &Compilation {
        &self.compilation
    }

    /// The names of the models in the root text, in its order.
    pub fn models(&self) -> Vec<Span> {
        symbols::models(self)
    }
}
