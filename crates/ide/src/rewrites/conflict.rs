//! Sources that set the same variable: elements added to one of them, or removed, to resolve the conflict.

use super::layout::Layout;
use super::parts::{Form, LibraryElement, part, source_form};
use crate::completion::{domain_of, kinds};
use crate::trial::changed;
use crate::{Action, Edit, Snapshot};
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_syntax::ast::{Instance, Statement, StatementKind};

/// No changes are offered for more sources than this: each offer takes one compilation.
const MOST_SOURCES: usize = 4;

/// Returns the offers for a conflict, the most likely first: a compliance, a measurement, a removal.
pub(super) fn offers(snapshot: &Snapshot, layout: &Layout<'_>, diagnostic: &Diagnostic) -> Vec<Action> {
    let mut sources: Vec<Source> = Vec::new();
    for label in diagnostic
        .labels
        .iter()
        .filter(|label| label.span.source == snapshot.root())
    {
        let source = Source::at(snapshot, layout, label.span);
        sources.extend(source.filter(|new| sources.iter().all(|old| old.statement.span != new.statement.span)));
    }
    sources.truncate(MOST_SOURCES);
    let giving_way = sources.iter().map(|source| source.giving_way(snapshot, layout));
    let measured = sources.iter().map(|source| source.measured(snapshot, layout));
    let removed = sources.iter().map(|source| Some(source.removed(layout)));
    let all = giving_way.chain(measured).chain(removed);
    let tried = all.flatten().filter(|(_, edits)| agrees(snapshot, edits));
    let action = |(title, edits)| Action {
        title,
        code: Some(Code::LGM0301),
        is_fix: true,
        edits,
    };
    tried.map(action).collect()
}

/// Returns true if the changed text has fewer errors, and no more conflicts at their locations.
fn agrees(snapshot: &Snapshot, edits: &[Edit]) -> bool {
    let errors = |of: &Snapshot, is_wanted: fn(&&Diagnostic) -> bool| {
        let errors = of.diagnostics().iter().filter(|fault| fault.is_error());
        errors.filter(is_wanted).count()
    };
    let is_conflict: fn(&&Diagnostic) -> bool = |fault| fault.code == Code::LGM0301;
    changed(snapshot, edits).is_some_and(|trial| {
        errors(&trial, |_| true) < errors(snapshot, |_| true)
            && errors(&trial, is_conflict) < errors(snapshot, is_conflict)
    })
}

/// A source with one branch that a statement of the root text declares.
struct Source<'s> {
    statement: &'s Statement,
    instance: &'s Instance,
    form: Form,
    domain: String,
}

impl<'s> Source<'s> {
    fn at(snapshot: &'s Snapshot, layout: &Layout<'s>, place: Span) -> Option<Source<'s>> {
        let statement = layout.statement_at(place.start)?;
        let StatementKind::Instance(instance) = &statement.kind else {
            return None;
        };
        if !instance.declared.brackets.is_empty() || instance.declared.vector.is_some() || instance.branches.len() != 1
        {
            return None;
        }
        let analysis = snapshot.analysis();
        let mut all = kinds(snapshot).into_iter().map(|id| analysis.get(id));
        let kind = all.find(|kind| *kind.name == *instance.kind.text)?;
        let domain = domain_of(snapshot, kind)?;
        let form = source_form(snapshot, kind)?;
        Some(Source {
            statement,
            instance,
            form,
            domain,
        })
    }

    fn name(&self) -> &str {
        &self.instance.declared.name.text
    }

    /// Inserts a dissipator in series with a source of the across variable, or in parallel with a source of the through variable.
    fn giving_way(&self, snapshot: &Snapshot, layout: &Layout) -> Option<(String, Vec<Edit>)> {
        let LibraryElement { name: kind, unit, .. } = part(snapshot, &self.domain, Form::Dissipator)?;
        let value = unit.map_or("1".to_string(), |unit| format!("1 {unit}"));
        let (from, to) = self.instance.branches.first()?;
        let (from, to) = (layout.words(from.span), layout.words(to.span));
        let own = self.name();
        let element = layout.fresh(&format!("{own}_{}", kind.to_lowercase()));
        if self.form == Form::ThroughSource {
            let line = format!("{element} : {kind}({value}) {from} -> {to};");
            let title = format!("put a `{kind}` in parallel with `{own}`");
            return Some((title, vec![layout.behind(self.statement, &[line])]));
        }
        // The end that is not the reference moves to a new node.
        let end = match from {
            "gnd" => &self.instance.branches[0].1,
            _ => &self.instance.branches[0].0,
        };
        let node = layout.fresh(&format!("{own}_inner"));
        let lines = [
            format!("node {node} : {};", self.domain),
            format!("{element} : {kind}({value}) {node} -> {};", layout.words(end.span)),
        ];
        let moved = Edit {
            span: end.span,
            text: node,
        };
        let title = format!("put a `{kind}` in series with `{own}`");
        Some((title, vec![moved, layout.behind(self.statement, &lines)]))
    }

    /// Replaces the source by a zero source of the other variable, so that the other sources set the variable, and adds an output of this
    /// variable.
    fn measured(&self, snapshot: &Snapshot, layout: &Layout) -> Option<(String, Vec<Edit>)> {
        let (other, measure) = match self.form {
            Form::AcrossSource => (Form::ThroughSource, "across"),
            _ => (Form::AcrossSource, "through"),
        };
        let LibraryElement { name: kind, unit, .. } = part(snapshot, &self.domain, other)?;
        let value = unit.map_or("0".to_string(), |unit| format!("0 {unit}"));
        let own = self.name();
        let (from, _) = self.instance.branches.first()?;
        let written = Span {
            end: from.span.start,
            ..self.instance.kind.span
        };
        let output = layout.fresh(&format!("{own}_{measure}"));
        let edits = vec![
            Edit {
                span: written,
                text: format!("{kind}({value}) "),
            },
            layout.behind(self.statement, &[format!("output {output} = {measure}({own});")]),
        ];
        Some((
            format!("make `{own}` an output: measure its variable instead of setting it"),
            edits,
        ))
    }

    /// Returns the text without the source.
    fn removed(&self, layout: &Layout) -> (String, Vec<Edit>) {
        (
            format!("remove `{}`", self.name()),
            vec![layout.removed(self.statement.span)],
        )
    }
}
