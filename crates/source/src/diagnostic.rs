//! Diagnostics: one plain type shared by the terminal, JSON output and the editor.

use crate::Span;
use crate::codes::Code;

/// The severity. Only an error stops the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The model has no equations until this is fixed.
    Error,
    /// The model has equations, but perhaps not the intended ones.
    Warning,
    /// A remark on a correct model.
    Information,
}

/// A location in the source with a short text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The location.
    pub span: Span,
    /// The text of the label; may be empty.
    pub message: String,
}

/// A change of the text that fixes a problem, in addition to the help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// The title in a menu: ``write `spring` ``.
    pub title: String,
    /// The replaced ranges and their new texts; an empty range is an insertion. They do not overlap.
    pub edits: Vec<(Span, String)>,
}

/// An error, a warning or a remark: a stable code, a message, locations, and a suggested fix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The stable code, such as `LGM0301`; each code has its own page.
    pub code: Code,
    /// The severity.
    pub severity: Severity,
    /// One sentence, without a full stop at its end, in the user's words.
    pub message: String,
    /// Locations; the first is the location of the error, the others are related.
    pub labels: Vec<Label>,
    /// Further sentences.
    pub notes: Vec<String>,
    /// The suggested fix.
    pub help: Option<String>,
    /// Changes of the text, each of which is a complete fix.
    pub fixes: Box<[Fix]>,
}

impl Diagnostic {
    /// Returns an error without a location.
    pub fn error(code: Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(code, Severity::Error, message)
    }

    /// Returns a warning without a location.
    pub fn warning(code: Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(code, Severity::Warning, message)
    }

    /// Returns a remark without a location.
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

    /// Adds a location; the first location is the primary one.
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

    /// Adds a suggested fix.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// Adds a change of one location that fixes the problem.
    pub fn fix(self, title: impl Into<String>, span: Span, text: impl Into<String>) -> Diagnostic {
        self.with(Fix {
            title: title.into(),
            edits: vec![(span, text.into())],
        })
    }

    /// Adds a change that fixes the problem.
    pub fn with(mut self, fix: Fix) -> Diagnostic {
        let mut fixes = self.fixes.into_vec();
        fixes.push(fix);
        self.fixes = fixes.into();
        self
    }

    /// Returns true if the diagnostic stops the pipeline.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// Returns a value as shown in messages: at most six significant digits.
pub fn six_digits(value: f64) -> String {
    let rounded: f64 = format!("{value:.5e}").parse().unwrap_or(value);
    let size = rounded.abs();
    match rounded == 0.0 || (1e-4..1e9).contains(&size) || !rounded.is_finite() {
        // Removes the sign of a zero.
        true => format!("{}", rounded + 0.0),
        false => format!("{rounded:e}"),
    }
}

/// Returns true if any diagnostic is an error.
pub fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(Diagnostic::is_error)
}

/// Sorts diagnostics into source order (errors without a location first) and removes exact duplicates.
pub fn in_source_order(diagnostics: &mut Vec<Diagnostic>) {
    diagnostics.sort_by_key(|diagnostic| diagnostic.labels.first().map(|label| label.span));
    diagnostics.dedup();
}

/// The number of errors after which a stage stops: this usually means that the file is not an lgm file.
pub const MOST_FAULTS: usize = 1000;
