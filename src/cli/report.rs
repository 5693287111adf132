//! Diagnostics on standard error or as JSON, and the exit code that follows from them.

use super::files::disk::WriteFault;
use super::outcome::Outcome;
use crate::rendering::render;
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, Severity, has_errors};
use lgm_source::{SourceMap, Span};
use serde_json::{Value, json};
use std::io::{IsTerminal, Write};

/// Prints diagnostics to standard error, in colour where a person looks at it and has not asked for none.
pub(super) fn print(map: &SourceMap, diagnostics: &[Diagnostic]) {
    let mut stream = std::io::stderr().lock();
    let is_seen = stream.is_terminal();
    let mut text = render(map, diagnostics, wants_color() && is_seen);
    // Tools that read standard error know the codes; a person may not know of the pages.
    if is_seen && let Some(pointer) = pointer(diagnostics) {
        text.push_str(&pointer);
    }
    // If standard error itself is closed, there is nowhere left to report this.
    let _ = stream.write_all(text.as_bytes());
}

/// Reports to a person that all is well; a tool knows it from the exit code, and reads nothing.
pub(super) fn say_without_faults() {
    let mut stream = std::io::stderr().lock();
    if stream.is_terminal() {
        let _ = stream.write_all(b"no faults found\n");
    }
}

/// Whether the user has left colours on.
pub(super) fn wants_color() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// A line that says where more is said of the first error.
fn pointer(diagnostics: &[Diagnostic]) -> Option<String> {
    let first = diagnostics.iter().find(|diagnostic| diagnostic.is_error())?;
    Some(format!("For more: lgm explain {}\n", first.code))
}

/// The exit code that diagnostics ask for.
pub(super) fn outcome(diagnostics: &[Diagnostic]) -> Outcome {
    let is_misuse = |diagnostic: &Diagnostic| diagnostic.is_error() && diagnostic.code.is_of_command_line();
    if diagnostics.iter().any(is_misuse) {
        Outcome::Misuse
    } else if has_errors(diagnostics) {
        Outcome::Failure
    } else {
        Outcome::Success
    }
}

/// The exit code after a result was written, or was not.
pub(super) fn after_writing(map: &SourceMap, written: Result<(), WriteFault>) -> Outcome {
    match written {
        Ok(()) | Err(WriteFault::NobodyListens) => Outcome::Success,
        Err(WriteFault::Failed(diagnostic)) => {
            print(map, std::slice::from_ref(&diagnostic));
            outcome(&[diagnostic])
        }
    }
}

/// A place as tools read it; nulls where a diagnostic has none.
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

/// Diagnostics as tools read them; lines and columns count from 1, in characters.
pub(super) fn as_json(map: &SourceMap, diagnostics: &[Diagnostic]) -> Value {
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
            // The place of the first label, so that a tool that shows one place need not look further.
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

/// A diagnostic of the command line as a whole.
pub(super) fn misuse(code: Code, message: String, help: &str) -> Diagnostic {
    Diagnostic::error(code, message).help(help)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lgm_source::codes::Code;

    #[test]
    fn the_pointer_names_the_first_error_and_stays_away_without_one() {
        let warning = Diagnostic::warning(Code::LGM0702, "a pole");
        let error = Diagnostic::error(Code::LGM0301, "two sources");
        assert_eq!(pointer(std::slice::from_ref(&warning)), None);
        assert_eq!(
            pointer(&[warning, error]).as_deref(),
            Some("For more: lgm explain LGM0301\n")
        );
    }
}
