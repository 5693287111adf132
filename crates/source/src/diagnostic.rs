//! What the compiler reports: one plain type, shared by the terminal, JSON and the editor.

use crate::Span;
use crate::codes::Code;

/// How bad it is. Only an error stops the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The model has no equations until this is mended.
    Error,
    /// The model has equations, but perhaps not those that were meant.
    Warning,
    /// Something worth knowing about a right model.
    Information,
}

/// A place in the source with a few words about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What is said of the place; may be empty.
    pub message: String,
}

/// A change of the text that mends a fault, beside the words of the help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What it does, as a menu shows it: ``write `spring` ``.
    pub title: String,
    /// What is replaced, and by what; an empty place is one to insert at. They do not overlap.
    pub edits: Vec<(Span, String)>,
}

/// One fault or remark: a stable code, a sentence, places, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Stable code such as `LGM0301`; each has a page of its own.
    pub code: Code,
    /// How bad it is.
    pub severity: Severity,
    /// One sentence, without a full stop at its end, in the user's words.
    pub message: String,
    /// Places; the first is where the fault is, the others are the other parties.
    pub labels: Vec<Label>,
    /// Further sentences.
    pub notes: Vec<String>,
    /// What to write to mend it.
    pub help: Option<String>,
    /// Changes of the text, each of which mends it by itself.
    pub fixes: Box<[Fix]>,
}

impl Diagnostic {
    /// An error without a place yet.
    pub fn error(code: Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(code, Severity::Error, message)
    }

    /// A warning without a place yet.
    pub fn warning(code: Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(code, Severity::Warning, message)
    }

    /// A remark without a place yet.
    pub fn information(code: Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(code, Severity::Information, message)
    }

    fn new(code: Code, severity: Severity, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            code,
            severity,
            message: message.into(),
            labels: Vec::new(),
            notes: Vec::new(),
            help: None,
            fixes: Box::default(),
        }
    }

    /// Adds a place; the first one added is the primary place.
    pub fn label(mut self, span: Span, message: impl Into<String>) -> Diagnostic {
        self.labels.push(Label {
            span,
            message: message.into(),
        });
        self
    }

    /// Adds a further sentence.
    pub fn note(mut self, note: impl Into<String>) -> Diagnostic {
        self.notes.push(note.into());
        self
    }

    /// Says what to write to mend it.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// Adds a change of one place that mends it.
    pub fn fix(self, title: impl Into<String>, span: Span, text: impl Into<String>) -> Diagnostic {
        self.with(Fix {
            title: title.into(),
            edits: vec![(span, text.into())],
        })
    }

    /// Adds a change that mends it.
    pub fn with(mut self, fix: Fix) -> Diagnostic {
        let mut fixes = self.fixes.into_vec();
        fixes.push(fix);
        self.fixes = fixes.into();
        self
    }

    /// Whether this stops the pipeline.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// A value as a message shows it: at most six significant digits.
pub fn six_digits(value: f64) -> String {
    let rounded: f64 = format!("{value:.5e}").parse().unwrap_or(value);
    let size = rounded.abs();
    match rounded == 0.0 || (1e-4..1e9).contains(&size) || !rounded.is_finite() {
        // Without the sign of a zero.
        true => format!("{}", rounded + 0.0),
        false => format!("{rounded:e}"),
    }
}

/// Whether any of them is an error.
pub fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(Diagnostic::is_error)
}

/// Puts diagnostics into source order (errors without a place first) and drops exact repeats.
pub fn in_source_order(diagnostics: &mut Vec<Diagnostic>) {
    diagnostics.sort_by_key(|diagnostic| diagnostic.labels.first().map(|label| label.span));
    diagnostics.dedup();
}

/// A stage stops looking after so many faults: this many errors usually mean that the file is not an lgm file.
pub const MOST_FAULTS: usize = 1000;
