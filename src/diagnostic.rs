//! What the compiler tells a person: one plain type, shared by the terminal, JSON and the editor.

use crate::source::{SourceId, SourceMap, Span};

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

/// One fault or remark: a stable code, a sentence, places, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Stable code such as `LGM0301`; each has a page of its own.
    pub code: &'static str,
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
}

impl Diagnostic {
    /// An error without a place yet.
    pub fn error(code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(code, Severity::Error, message)
    }

    /// A warning without a place yet.
    pub fn warning(code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(code, Severity::Warning, message)
    }

    /// A remark without a place yet.
    pub fn information(code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(code, Severity::Information, message)
    }

    fn new(code: &'static str, severity: Severity, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            code,
            severity,
            message: message.into(),
            labels: Vec::new(),
            notes: Vec::new(),
            help: None,
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

/// The most faults that one stage looks for: whoever reads a thousand has a text of another kind before him, and each
/// fault takes memory.
pub const MOST_FAULTS: usize = 1000;

/// Nobody reads more than this many at once, and a faulty generated text can have a million.
const RENDERED: usize = 100;

/// Renders diagnostics as a person reads them in a terminal, at most the first hundred.
pub fn render(sources: &SourceMap, diagnostics: &[Diagnostic], color: bool) -> String {
    let mut out = Vec::new();
    let shown = &diagnostics[..diagnostics.len().min(RENDERED)];
    // Each text is split into lines once, not once a diagnostic.
    let texts: std::collections::BTreeSet<SourceId> = shown
        .iter()
        .flat_map(|diagnostic| &diagnostic.labels)
        .map(|label| label.span.source)
        .collect();
    let mut cache = RenderCache {
        sources,
        texts: texts
            .into_iter()
            .map(|id| (id, ariadne::Source::from(sources.get(id).text.to_string())))
            .collect(),
    };
    for diagnostic in shown {
        render_one(&mut cache, diagnostic, color, &mut out);
    }
    let left = diagnostics.len() - shown.len();
    if left > 0 {
        let least = if diagnostics.len() >= MOST_FAULTS {
            "at least "
        } else {
            ""
        };
        out.extend_from_slice(format!("... and {least}{left} more\n").as_bytes());
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// A line longer than this is shown in part: nobody reads a million letters to find one.
const LONGEST_LINE: usize = 400;
/// What is shown of a long line on either side of the place.
const AROUND: usize = 40;

/// Whether a place lies in a line that is too long to be shown whole.
fn is_far_out(sources: &SourceMap, span: Span) -> bool {
    let source = sources.get(span.source);
    [span.start, span.end]
        .iter()
        .any(|at| source.line_at(*at).len() > LONGEST_LINE)
}

/// One place of a long line: its position, a few words on either side, and what is said of it.
fn place_in_long_line(sources: &SourceMap, label: &Label) -> String {
    let source = sources.get(label.span.source);
    let (line, column) = sources.line_column(label.span.source, label.span.start);
    let whole = source.line_at(label.span.start);
    let start = label.span.start as usize;
    let end = (label.span.end as usize).clamp(start, whole.end.max(start));
    let down = |mut at: usize| {
        while !source.text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let from = down(start.saturating_sub(AROUND).max(whole.start));
    let marked_to = down(end.min(start + AROUND));
    let to = down((marked_to + AROUND).min(whole.end.max(marked_to)));
    let before = format!(
        "{}{}",
        if from > whole.start { ".." } else { "" },
        &source.text[from..start]
    );
    let marks = source.text[start..marked_to].chars().count().max(1);
    format!(
        "  at {}:{line}:{column}\n    {before}{}{}\n    {}{} {}\n",
        source.name,
        &source.text[start..to],
        if to < whole.end { ".." } else { "" },
        " ".repeat(before.chars().count()),
        "^".repeat(marks),
        shortened(&label.message),
    )
}

/// Words that quote something very long, without its middle.
fn shortened(words: &str) -> std::borrow::Cow<'_, str> {
    const SHOWN: usize = 200;
    if words.len() <= 3 * SHOWN {
        return words.into();
    }
    let down = |mut at: usize| {
        while !words.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    format!("{} .. {}", &words[..down(SHOWN)], &words[down(words.len() - SHOWN)..]).into()
}

/// The form without a drawing: for what has no place, and for places in lines that are too long to be drawn.
fn render_plain(sources: &SourceMap, diagnostic: &Diagnostic, out: &mut Vec<u8>) {
    let word = match diagnostic.severity {
        Severity::Error => "Error",
        Severity::Warning => "Warning",
        Severity::Information => "Advice",
    };
    let message = shortened(&diagnostic.message);
    out.extend_from_slice(format!("[{}] {word}: {message}\n", diagnostic.code).as_bytes());
    for label in &diagnostic.labels {
        out.extend_from_slice(place_in_long_line(sources, label).as_bytes());
    }
    for note in &diagnostic.notes {
        out.extend_from_slice(format!("  Note: {}\n", shortened(note)).as_bytes());
    }
    if let Some(help) = &diagnostic.help {
        out.extend_from_slice(format!("  Help: {}\n", shortened(help)).as_bytes());
    }
}

fn render_one(cache: &mut RenderCache<'_>, diagnostic: &Diagnostic, color: bool, out: &mut Vec<u8>) {
    use ariadne::{Config, IndexType, Report, ReportKind};
    let kind = match diagnostic.severity {
        Severity::Error => ReportKind::Error,
        Severity::Warning => ReportKind::Warning,
        Severity::Information => ReportKind::Advice,
    };
    let far_out = |label: &Label| is_far_out(cache.sources, label.span);
    let Some(first) = diagnostic
        .labels
        .first()
        .filter(|_| !diagnostic.labels.iter().any(far_out))
    else {
        return render_plain(cache.sources, diagnostic, out);
    };
    let range = |span: Span| (span.source, span.start as usize..span.end as usize);
    let mut report = Report::build(kind, range(first.span))
        .with_config(Config::default().with_color(color).with_index_type(IndexType::Byte))
        .with_code(diagnostic.code)
        .with_message(shortened(&diagnostic.message));
    // The text of the fault first, and each text from its top to its end, so that no text is shown twice.
    let mut labels: Vec<&Label> = diagnostic.labels.iter().collect();
    labels.sort_by_key(|label| (label.span.source != first.span.source, label.span));
    for label in labels {
        let mut shown = ariadne::Label::new(range(label.span));
        if !label.message.is_empty() {
            shown = shown.with_message(shortened(&label.message));
        }
        report = report.with_label(shown);
    }
    for note in &diagnostic.notes {
        report = report.with_note(shortened(note));
    }
    if let Some(help) = &diagnostic.help {
        report = report.with_help(shortened(help));
    }
    report
        .finish()
        .write(cache, &mut *out)
        .expect("invariant: writing to memory does not fail");
}

struct RenderCache<'a> {
    sources: &'a SourceMap,
    texts: std::collections::BTreeMap<SourceId, ariadne::Source<String>>,
}

impl ariadne::Cache<SourceId> for RenderCache<'_> {
    type Storage = String;

    fn fetch(&mut self, id: &SourceId) -> Result<&ariadne::Source<String>, impl std::fmt::Debug> {
        self.texts.get(id).ok_or("no such source")
    }

    fn display<'b>(&self, id: &'b SourceId) -> Option<impl std::fmt::Display + 'b> {
        Some(self.sources.get(*id).name.clone())
    }
}
