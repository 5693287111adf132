//! Diagnostics for a terminal, with the source lines that they point to.

use lgm_source::diagnostic::{Diagnostic, Label, MOST_FAULTS, Severity};
use lgm_source::{SourceId, SourceMap, Span};

/// Maximum number of rendered diagnostics: a faulty generated text can have a million.
const RENDERED: usize = 100;

/// Renders diagnostics for a terminal, at most the first hundred.
pub fn render(sources: &SourceMap, diagnostics: &[Diagnostic], color: bool) -> String {
    render_each(sources, diagnostics, |cache, diagnostic, out| {
        render_one(cache, diagnostic, color, out);
    })
}

/// Renders diagnostics like [`render`], but remarks without an excerpt of the source.
pub fn render_briefly(sources: &SourceMap, diagnostics: &[Diagnostic], color: bool) -> String {
    render_each(sources, diagnostics, |cache, diagnostic, out| {
        match diagnostic.severity {
            Severity::Information => render_remark(sources, diagnostic, out),
            Severity::Error | Severity::Warning => render_one(cache, diagnostic, color, out),
        }
    })
}

/// Renders the first hundred diagnostics, and the number of further ones.
fn render_each(
    sources: &SourceMap,
    diagnostics: &[Diagnostic],
    one: impl Fn(&mut RenderCache<'_>, &Diagnostic, &mut Vec<u8>),
) -> String {
    let mut out = Vec::new();
    let shown = &diagnostics[..diagnostics.len().min(RENDERED)];
    // Each text is split into lines once, not once per diagnostic.
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
        one(&mut cache, diagnostic, &mut out);
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

/// Length in bytes above which a line is shown in part.
const LONGEST_LINE: usize = 400;
/// Visible length of a long line on each side of the location, in bytes.
const AROUND: usize = 40;

/// Returns true if a location is in a line that is too long to be shown in full.
fn is_far_out(sources: &SourceMap, span: Span) -> bool {
    let source = sources.get(span.source);
    [span.start, span.end]
        .iter()
        .any(|at| source.line_at(*at).len() > LONGEST_LINE)
}

/// Formats a location in a long line: its position, a few words on either side, and the text of its label.
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

/// Shortens a message that quotes a very long text by removing the middle.
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

/// Renders a remark with its location, but without source lines.
fn render_remark(sources: &SourceMap, remark: &Diagnostic, out: &mut Vec<u8>) {
    let mut brief = remark.clone();
    if let Some(label) = brief.labels.first() {
        let (line, column) = sources.line_column(label.span.source, label.span.start);
        let name = &sources.get(label.span.source).name;
        brief.message = format!("{} ({name}:{line}:{column})", remark.message);
        brief.labels.clear();
    }
    render_plain(sources, &brief, out);
}

/// Renders a diagnostic without source lines, if it has no location or its lines are too long.
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
        .with_code(diagnostic.code.as_str())
        .with_message(shortened(&diagnostic.message));
    // The text with the error comes first, and each text is shown from top to bottom, so that no text appears twice.
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
