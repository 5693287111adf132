//! Statements of the root text, and lines inserted before and after them with the same indentation.

use crate::symbols::body_of;
use crate::{Edit, Snapshot};
use lgm_source::words::has_word;
use lgm_source::{SourceId, Span};
use lgm_syntax::ast::{Item, Statement};
use lgm_syntax::visit::child_statements;

/// The root text for line-based changes.
pub(super) struct Layout<'s> {
    text: &'s str,
    source: SourceId,
    items: &'s [Item],
    snapshot: &'s Snapshot,
}

impl<'s> Layout<'s> {
    pub(super) fn new(snapshot: &'s Snapshot) -> Layout<'s> {
        let source = snapshot.root();
        let ast = snapshot.compilation().program().ast(source);
        Layout {
            text: &snapshot.map().get(source).text,
            source,
            items: ast.map_or(&[], |ast| &ast.items),
            snapshot,
        }
    }

    pub(super) fn words(&self, span: Span) -> &'s str {
        &self.text[span.start as usize..span.end as usize]
    }

    /// Returns the statements of the compiled model, without those in loops and conditions.
    pub(super) fn of_model(&self) -> &'s [Statement] {
        let span = self.snapshot.compilation().model().map(|model| model.heading.span);
        let model = self.items.iter().find_map(|item| match item {
            Item::Model(model) if Some(model.name.span) == span => Some(&model.body),
            _ => None,
        });
        model.map_or(&[], |body| body)
    }

    /// Returns all bodies of the text: those of its items, and of the loops and conditions in them.
    pub(super) fn bodies(&self) -> impl Iterator<Item = &'s [Statement]> {
        fn gather<'s>(body: &'s [Statement], all: &mut Vec<&'s [Statement]>) {
            all.push(body);
            for statement in body {
                child_statements(statement, &mut |inner| gather(inner, all));
            }
        }
        let mut all = Vec::new();
        self.items.iter().for_each(|item| gather(body_of(item), &mut all));
        all.into_iter()
    }

    /// Returns the innermost statement around a location, in any body.
    pub(super) fn statement_at(&self, at: u32) -> Option<&'s Statement> {
        fn within(body: &[Statement], at: u32) -> Option<&Statement> {
            let here = body
                .iter()
                .find(|statement| (statement.span.start..=statement.span.end).contains(&at))?;
            let mut deeper = None;
            child_statements(here, &mut |body| deeper = deeper.or_else(|| within(body, at)));
            Some(deeper.unwrap_or(here))
        }
        self.items.iter().find_map(|item| within(body_of(item), at))
    }

    /// Returns a name that is unused in the text: the requested one, possibly with a number.
    pub(super) fn fresh(&self, wanted: &str) -> String {
        let numbered = (2..).map(|number| format!("{wanted}_{number}"));
        std::iter::once(wanted.to_string())
            .chain(numbered)
            .find(|name| !has_word(self.text, name))
            .unwrap_or_default()
    }

    /// Returns the start of a statement's line, with its `///` lines; none if other text precedes the statement on its line.
    fn line_of(&self, whole: Span) -> Option<usize> {
        let first_of = |at: usize| self.text[..at].rfind('\n').map_or(0, |end| end + 1);
        let mut start = first_of(whole.start as usize);
        let before = &self.text[start..whole.start as usize];
        if !before.trim().is_empty() {
            return None;
        }
        while start > 0 {
            let above = first_of(start - 1);
            if !self.text[above..start].trim_start().starts_with("///") {
                break;
            }
            start = above;
        }
        Some(start)
    }

    fn indent_of(&self, statement: &Statement) -> &'s str {
        let at = statement.span.start as usize;
        let line = &self.text[self.text[..at].rfind('\n').map_or(0, |end| end + 1)..];
        &line[..line.len() - line.trim_start().len()]
    }

    fn newline(&self) -> &'static str {
        if self.text.contains("\r\n") { "\r\n" } else { "\n" }
    }

    /// Inserts lines before a statement.
    pub(super) fn before(&self, statement: &Statement, lines: &[String]) -> Edit {
        let (indent, newline) = (self.indent_of(statement), self.newline());
        let (at, text) = match self.line_of(statement.span) {
            Some(start) => {
                let line = |line: &String| format!("{indent}{line}{newline}");
                (start, lines.iter().map(line).collect())
            }
            // In the middle of a line, a comment must not absorb the text after it.
            None => {
                let line = |line: &String| format!("{newline}{indent}{line}");
                let all: String = lines.iter().map(line).collect();
                (statement.span.start as usize, format!("{all}{newline}{indent}"))
            }
        };
        Edit {
            span: Span::new(self.source, at, at),
            text,
        }
    }

    /// Inserts lines after a statement.
    pub(super) fn behind(&self, statement: &Statement, lines: &[String]) -> Edit {
        let (indent, newline) = (self.indent_of(statement), self.newline());
        let rest = &self.text[statement.span.end as usize..];
        let closes = rest.len() - rest.trim_start().len();
        let end = match rest.trim_start().starts_with(';') {
            true => statement.span.end as usize + closes + 1,
            false => statement.span.end as usize,
        };
        let line = |line: &String| format!("{newline}{indent}{line}");
        Edit {
            span: Span::new(self.source, end, end),
            text: lines.iter().map(line).collect(),
        }
    }

    /// Returns the end of the parenthesis that opens at a location.
    pub(super) fn opening(&self, at: usize) -> Option<usize> {
        let rest = &self.text[at..];
        let blank = rest.len() - rest.trim_start().len();
        rest.trim_start().starts_with('(').then_some(at + blank + 1)
    }

    /// Moves a statement before another one above it: with its line and its `///` lines, or without them if it shares its line.
    pub(super) fn moved(&self, statement: &Statement, before: &Statement) -> Option<[Edit; 2]> {
        if before.span.start >= statement.span.start {
            return None;
        }
        self.moved_lines(statement, before)
            .or_else(|| self.moved_words(statement, before))
    }

    /// Moves only the words of a statement; none if `///` lines belong to it.
    fn moved_words(&self, statement: &Statement, before: &Statement) -> Option<[Edit; 2]> {
        let start = statement.span.start as usize;
        let own_line = self.text[..start].rfind('\n').map_or(0, |end| end + 1);
        if self.line_of(statement.span).is_some_and(|line| line != own_line) {
            return None;
        }
        let (words, end) = (self.words(statement.span), statement.span.end as usize);
        let (target, text) = match self.line_of(before.span) {
            Some(line) => (line, format!("{}{words}{}", self.indent_of(before), self.newline())),
            None => (before.span.start as usize, format!("{words} ")),
        };
        // The spaces after it are moved too, or at the end of a line those before it.
        let behind = self.text[end..].len() - self.text[end..].trim_start_matches([' ', '\t']).len();
        let is_last = self.text[end + behind..].starts_with(['\n', '\r']);
        let front = self.text[..start].trim_end_matches([' ', '\t']).len();
        let gone = match is_last {
            true => Span::new(self.source, front, end),
            false => Span::new(self.source, start, end + behind),
        };
        Some([
            Edit {
                span: Span::new(self.source, target, target),
                text,
            },
            Edit {
                span: gone,
                text: String::new(),
            },
        ])
    }

    /// Removes a statement or an item, with its lines if they contain nothing else.
    pub(super) fn removed(&self, whole: Span) -> Edit {
        let span = self.lines_of(whole).unwrap_or_else(|| {
            let end = whole.end as usize;
            let rest = &self.text[end..];
            let behind = rest.trim_start();
            let closed = behind.strip_prefix(';').unwrap_or(behind);
            let next = closed.trim_start_matches([' ', '\t']);
            Span::new(self.source, whole.start as usize, self.text.len() - next.len())
        });
        Edit {
            span,
            text: String::new(),
        }
    }

    /// Returns the lines of a statement, including its `///` lines and a comment after it; none if it shares them.
    fn lines_of(&self, whole: Span) -> Option<Span> {
        let start = self.line_of(whole)?;
        let behind = &self.text[whole.end as usize..];
        let end = behind.find('\n').map_or(behind.len(), |at| at + 1);
        let rest = behind[..end].trim_start().trim_start_matches(';').trim();
        let is_alone = rest.is_empty() || rest.starts_with("//");
        is_alone.then(|| Span::new(self.source, start, whole.end as usize + end))
    }

    /// Moves a statement with its lines; none if it shares them with other text.
    fn moved_lines(&self, statement: &Statement, before: &Statement) -> Option<[Edit; 2]> {
        let (lines, target) = (self.lines_of(statement.span)?, self.line_of(before.span)?);
        if target > lines.start as usize {
            return None;
        }
        Some([
            Edit {
                span: Span::new(self.source, target, target),
                text: self.words(lines).to_string(),
            },
            Edit {
                span: lines,
                text: String::new(),
            },
        ])
    }
}
