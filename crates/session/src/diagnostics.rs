//! Diagnostics for programs: as an error, and as JSON.

use lgm_source::diagnostic::{Diagnostic, Severity};
use lgm_source::{SourceMap, Span};
use serde_json::{Value, json};
use std::fmt;

/// The reason why no result exists: diagnostics, including at least one error, and the source texts that they point into.
#[derive(Clone, Debug)]
pub struct Faults {
    /// The texts.
    pub map: SourceMap,
    /// All diagnostics, warnings included.
    pub diagnostics: Vec<Diagnostic>,
}

impl fmt::Display for Faults {
    /// Writes a line for each error: its location, its code and its message.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let errors = self.diagnostics.iter().filter(|diagnostic| diagnostic.is_error());
        for (at, error) in errors.enumerate() {
            if at > 0 {
                writeln!(formatter)?;
            }
            if let Some(label) = error.labels.first() {
                let (line, column) = self.map.line_column(label.span.source, label.span.start);
                write!(formatter, "{}:{line}:{column}: ", self.map.get(label.span.source).name)?;
            }
            write!(formatter, "[{}] {}", error.code, error.message)?;
        }
        Ok(())
    }
}

impl std::error::Error for Faults {}

/// Returns a location as JSON, with nulls if a diagnostic has no location.
fn place(map: &SourceMap, span: Option<Span>) -> Value {
    let Some(span) = span else {
        return json!({ "file": null, "line": null, "column": null, "end_line": null, "end_column": null });
    };
    let (line, column) = map.line_column(span.source, span.start);
    let (end_line, end_column) = map.line_column(span.source, span.end);
    json!({
        "file": map.get(span.source).name,
        "line": line,
        "column": column,
        "end_line": end_line,
        "end_column": end_column,
    })
}

/// Returns diagnostics as JSON. Lines and columns count from 1, in characters.
pub fn as_json(map: &SourceMap, diagnostics: &[Diagnostic]) -> Value {
    let list: Vec<Value> = diagnostics
        .iter()
        .map(|diagnostic| {
            let severity = match diagnostic.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Information => "information",
            };
            let labels: Vec<Value> = diagnostic
                .labels
                .iter()
                .map(|label| {
                    let mut value = place(map, Some(label.span));
                    value["message"] = json!(label.message);
                    value
                })
                .collect();
            // The location of the first label, for tools that show a single location.
            let mut value = place(map, diagnostic.labels.first().map(|label| label.span));
            value["code"] = json!(diagnostic.code.as_str());
            value["severity"] = json!(severity);
            value["message"] = json!(diagnostic.message);
            value["labels"] = json!(labels);
            value["notes"] = json!(diagnostic.notes);
            value["help"] = json!(diagnostic.help);
            value
        })
        .collect();
    json!({ "diagnostics": list })
}
