//! Problems as listed by an editor.

use crate::{Problem, Snapshot};
use lgm_elaborate::analysis::{Analysis, Definition, DefinitionId, DefinitionKind};
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, Label, Severity};
use lgm_source::{Encoding, SourceMap, Span};
use rustc_hash::FxHashSet;

/// Returns every error, warning and remark of the root text and its imports. For a root text without errors, it also returns unused
/// declarations and shadowed names.
pub(crate) fn problems(snapshot: &Snapshot) -> Vec<Problem> {
    let mut found: Vec<Problem> = snapshot.diagnostics().iter().map(problem).collect();
    let faults = snapshot.diagnostics().iter();
    found.extend(faults.filter_map(|diagnostic| at_instance(snapshot, diagnostic)));
    // Seemingly unused items may be used in an unreadable part.
    if !snapshot.diagnostics().iter().any(Diagnostic::is_error) {
        found.extend(names(snapshot));
    }
    found
}

/// Repeats the error of a component at the instance in the root text that causes it.
fn at_instance(snapshot: &Snapshot, diagnostic: &Diagnostic) -> Option<Problem> {
    let (first, others) = diagnostic.labels.split_first()?;
    let made = |label: &&Label| label.span.source == snapshot.root() && label.message.starts_with("in the instance");
    let instance = others.iter().rfind(made).filter(|_| diagnostic.is_error())?;
    let mut found = problem(diagnostic);
    found.span = Some(instance.span);
    found.related.retain(|(span, _)| *span != instance.span);
    found.related.insert(0, (first.span, first.message.clone()));
    Some(found)
}

/// Returns problems for unused names of the root text, and for indices that shadow a value.
fn names(snapshot: &Snapshot) -> Vec<Problem> {
    let analysis = snapshot.analysis();
    let unused: FxHashSet<DefinitionId> = unused(snapshot).into_iter().collect();
    let diagnostics = snapshot.diagnostics().iter();
    let warned: FxHashSet<Span> = diagnostics
        .filter(|known| known.code == Code::LGM0156)
        .filter_map(|known| known.labels.first().map(|label| label.span))
        .collect();
    let ids = (0..analysis.definitions.len() as u32).map(DefinitionId);
    ids.filter(|id| {
        let name = analysis.get(*id).name_span;
        name.source == snapshot.root() && !warned.contains(&name)
    })
    .filter_map(|id| match unused.contains(&id) {
        true => without_use(analysis.get(id)),
        false => hiding(analysis, analysis.get(id)),
    })
    .collect()
}

/// Returns the unused definitions of the root text.
pub(crate) fn unused(snapshot: &Snapshot) -> Vec<DefinitionId> {
    snapshot.analysis().unused(snapshot.compilation().program())
}

fn without_use(definition: &Definition) -> Option<Problem> {
    let what = definition.kind.of_use()?;
    Some(Problem {
        is_unused: true,
        ..hint(definition, format!("nothing uses the {what} `{}`", definition.name))
    })
}

/// Reports an index that shadows a value of the enclosing scope.
fn hiding(analysis: &Analysis, definition: &Definition) -> Option<Problem> {
    use DefinitionKind::*;
    let item = definition.within.filter(|_| definition.kind == Index)?;
    let hidden = analysis.get(analysis.member(item, &definition.name)?);
    let is_value = matches!(
        hidden.kind,
        Parameter | Constant | Formal | StructuralFormal | Input | Signal | State | Discrete
    );
    is_value.then(|| Problem {
        related: vec![(hidden.name_span, "hidden here".to_string())],
        ..hint(
            definition,
            format!("the index `{}` shadows the value of the same name", definition.name),
        )
    })
}

fn hint(definition: &Definition, message: String) -> Problem {
    Problem {
        span: Some(definition.name_span),
        code: None,
        severity: Severity::Information,
        message,
        related: Vec::new(),
        is_hint: true,
        is_unused: false,
    }
}

/// Returns the syntax errors of a text, each with its line and its message.
pub fn syntax_faults(text: &str) -> Vec<(u32, String)> {
    let mut map = SourceMap::default();
    let source = map.add("", text, None);
    let (_, faults) = lgm_source::stack::deep(|| lgm_syntax::parse(source, text));
    let faults = faults.iter().filter(|fault| fault.is_error());
    faults
        .filter_map(|fault| {
            let problem = problem(fault);
            let line = map.get(source).position(problem.span?.start, Encoding::Utf8).0;
            Some((line, problem.message))
        })
        .collect()
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
        code: Some(diagnostic.code),
        severity: diagnostic.severity,
        message: lines.join("\n"),
        related: others.map(|label| (label.span, label.message.clone())).collect(),
        is_hint: false,
        is_unused: diagnostic.code == Code::LGM0156,
    }
}
