//! Faults and remarks, as an editor lists them.

use crate::{Problem, Snapshot};
use lgm_source::diagnostic::Diagnostic;

/// Every fault and remark, of the root and of what it imports.
pub(crate) fn problems(snapshot: &Snapshot) -> Vec<Problem> {
    snapshot.diagnostics().iter().map(problem).collect()
}

fn problem(diagnostic: &Diagnostic) -> Problem {
    let first = diagnostic.labels.first();
    let mut lines = vec![diagnostic.message.clone()];
    lines.extend(
        first
            .map(|label| label.message.clone())
            .filter(|words| !words.is_empty()),
    );
    lines.extend(diagnostic.notes.iter().cloned());
    lines.extend(diagnostic.help.iter().map(|help| format!("Help: {help}")));
    let others = diagnostic.labels.iter().skip(1);
    Problem {
        span: first.map(|label| label.span),
        code: diagnostic.code,
        severity: diagnostic.severity,
        message: lines.join("\n"),
        related: others.map(|label| (label.span, label.message.clone())).collect(),
        is_unused: false,
    }
}
