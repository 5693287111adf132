//! Diagnostics on standard error or as JSON, and the exit code that follows from them.

use super::Outcome;
use super::disk::WriteFault;
use crate::diagnostic::{Diagnostic, Severity, has_errors, render};
use crate::source::SourceMap;
use serde_json::{Value, json};
use std::io::{IsTerminal, Write};

/// Prints diagnostics to standard error, in colour where a person looks at it and has not asked for none.
pub(super) fn print(map: &SourceMap, diagnostics: &[Diagnostic]) {
    let wants_color = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let mut stream = std::io::stderr().lock();
    let text = render(map, diagnostics, wants_color && stream.is_terminal());
    // There is nobody left to tell where standard error itself is closed.
    let _ = stream.write_all(text.as_bytes());
}

/// The exit code that diagnostics ask for.
pub(super) fn outcome(diagnostics: &[Diagnostic]) -> Outcome {
    let is_misuse = |diagnostic: &Diagnostic| diagnostic.is_error() && diagnostic.code.starts_with("LGM090");
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
                    let (line, column) = map.line_column(label.span.source, label.span.start);
                    let (end_line, end_column) = map.line_column(label.span.source, label.span.end);
                    json!({
                        "file": map.get(label.span.source).name,
                        "line": line,
                        "column": column,
                        "end_line": end_line,
                        "end_column": end_column,
                        "message": label.message,
                    })
                })
                .collect();
            json!({
                "code": diagnostic.code,
                "severity": severity,
                "message": diagnostic.message,
                "labels": labels,
                "notes": diagnostic.notes,
                "help": diagnostic.help,
            })
        })
        .collect();
    json!({ "diagnostics": list })
}
