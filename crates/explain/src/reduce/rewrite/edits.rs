//! Edits of a text, location by location.

use super::graph::Remains;
use super::statements::{base, range};
use lgm_syntax::ast::{Declared, Expr, Instance, JunctionDecl, Statement, StatementKind};
use std::ops::Range;

/// Nonoverlapping edits.
#[derive(Default)]
pub(crate) struct Edits {
    list: Vec<(Range<usize>, String)>,
    /// Statements that are completely rewritten.
    done: Vec<Range<usize>>,
}

impl Edits {
    pub(crate) fn replace(&mut self, range: Range<usize>, text: String) {
        let is_inside = |done: &Range<usize>| done.start <= range.start && range.end <= done.end;
        if !self.done.iter().any(is_inside) {
            self.list.push((range, text));
        }
    }

    fn whole(&mut self, text: &str, statement: &Statement, new: String) {
        let range = range(statement.span);
        let range = if new.is_empty() { with_lines(text, range) } else { range };
        self.done.push(range.clone());
        self.list.push((range, new));
    }

    /// Replaces an element by a source of zero.
    pub(super) fn source_of_zero(&mut self, text: &str, statement: &Statement, instance: &Instance, kind: &str) {
        let name = &instance.declared.name.text;
        let slice = |expr: &Expr| &text[range(expr.span)];
        let branches = instance
            .branches
            .iter()
            .map(|(from, to)| format!("{} -> {}", slice(from), slice(to)));
        let branches: Vec<String> = branches.collect();
        let new = format!("{name} : {kind}(0) {};", branches.join(", "));
        self.whole(text, statement, new);
    }

    /// Sets the argument of an element, and its kind if the present kind does not accept such an argument.
    pub(super) fn parameter(&mut self, instance: &Instance, kind: Option<&str>, value: &str) {
        match (kind, &instance.arguments[..]) {
            (None, [only]) => self.replace(range(only.value.span), value.to_string()),
            (kind, arguments) => {
                let start = range(instance.kind.span).start;
                let kind = kind.unwrap_or(&instance.kind.text);
                let end = arguments.last().map(|last| range(last.value.span).end);
                match end {
                    Some(end) => self.replace(start..end, format!("{kind}({value}")),
                    None => self.replace(range(instance.kind.span), format!("{kind}({value})")),
                }
            }
        }
    }

    /// Multiplies an initial value by a ratio.
    pub(super) fn scale_start(&mut self, text: &str, instance: &Instance, ratio: &str) {
        for start in instance
            .attributes
            .iter()
            .filter(|attribute| &*attribute.name.text == "start")
        {
            let range = range(start.value.span);
            let new = format!("({})*({ratio})", &text[range.clone()]);
            self.replace(range, new);
        }
    }

    /// Removes deleted names from a statement that declares or connects them. Returns true if the statement was completely rewritten.
    pub(super) fn structure(&mut self, text: &str, statement: &Statement, remains: &Remains<'_>) -> bool {
        let range = range(statement.span);
        if self.done.contains(&range) {
            return true;
        }
        match &statement.kind {
            StatementKind::Instance(instance) if remains.is_gone(&instance.declared.name.text) => {
                self.whole(text, statement, String::new());
                true
            }
            StatementKind::Node(found) | StatementKind::Zero(found) | StatementKind::One(found) => {
                self.junctions(text, statement, found, remains)
            }
            StatementKind::Chain(ends) => self.chain(text, statement, ends, remains),
            _ => false,
        }
    }

    fn junctions(&mut self, text: &str, statement: &Statement, found: &JunctionDecl, remains: &Remains<'_>) -> bool {
        let is_gone = |name: &&Declared| remains.is_gone(&name.name.text);
        if !found.names.iter().any(|name| is_gone(&name)) {
            return false;
        }
        let rest: Vec<&Declared> = found.names.iter().filter(|name| !is_gone(name)).collect();
        let (Some(first), Some(last)) = (found.names.first(), found.names.last()) else {
            return false;
        };
        match rest.is_empty() {
            true => self.whole(text, statement, String::new()),
            false => {
                let slice = |name: &&Declared| {
                    let end = name.vector.map_or(name.span, |vector| name.span.to(vector));
                    text[range(end)].to_string()
                };
                let names: Vec<String> = rest.iter().map(slice).collect();
                let end = last.vector.map_or(last.span, |vector| last.span.to(vector));
                self.replace(range(first.span.to(end)), names.join(", "));
            }
        }
        true
    }

    fn chain(&mut self, text: &str, statement: &Statement, ends: &[Expr], remains: &Remains<'_>) -> bool {
        let is_gone = |end: &Expr| base(end).is_some_and(|name| remains.is_gone(name));
        if !ends.iter().any(is_gone) {
            return false;
        }
        let pieces = ends.split(|end| is_gone(end)).filter(|piece| piece.len() > 1);
        let pieces = pieces.map(|piece| {
            let names: Vec<&str> = piece.iter().map(|end| &text[range(end.span)]).collect();
            format!("{};", names.join(" -> "))
        });
        let pieces: Vec<String> = pieces.collect();
        self.whole(text, statement, pieces.join("\n"));
        true
    }

    /// Returns the text with all edits applied.
    pub(crate) fn apply(mut self, text: &str) -> String {
        self.list.sort_by_key(|(range, _)| range.start);
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        for (range, new) in self.list {
            if range.start < at {
                continue;
            }
            out.push_str(&text[at..range.start]);
            out.push_str(&new);
            at = range.end;
        }
        out.push_str(&text[at..]);
        out
    }
}

/// Extends a statement by the documentation lines above it, and by its whole line if nothing else is on it.
fn with_lines(text: &str, range: Range<usize>) -> Range<usize> {
    let begin = |at: usize| text[..at].rfind('\n').map_or(0, |end| end + 1);
    let mut start = begin(range.start);
    let end = text[range.end..]
        .find('\n')
        .map_or(text.len(), |end| range.end + end + 1);
    let is_alone = text[start..range.start].trim().is_empty() && text[range.end..end].trim().is_empty();
    if !is_alone {
        return range;
    }
    while start > 0 {
        let above = begin(start - 1);
        if !text[above..start].trim_start().starts_with("///") {
            break;
        }
        start = above;
    }
    start..end
}
