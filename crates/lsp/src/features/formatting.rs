//! Texts in the form of `lgm fmt`: the whole text, some lines, or the line that a semicolon has ended.

use crate::context::{Refusal, RequestContext};
use crate::held;
use gen_lsp_types::{
    DocumentFormattingParams, DocumentOnTypeFormattingParams, DocumentRangeFormattingParams, TextEdit, Uri,
};
use lgm_source::Span;
use std::ops::Range as Bytes;

/// Formats the whole text like `lgm fmt`.
pub(crate) fn whole(
    context: &mut RequestContext,
    params: &DocumentFormattingParams,
) -> Result<Option<Vec<TextEdit>>, Refusal> {
    context.on(&params.text_document.uri, |places| {
        let new = places.snapshot.formatted()?;
        let root = places.snapshot.root();
        let old = &places.snapshot.map().get(root).text;
        if **old == *new {
            return Some(Vec::new());
        }
        let (old, from) = changed_lines(old, &new);
        Some(vec![TextEdit {
            range: places.range(Span::new(root, old.start, old.end)),
            new_text: new[from].to_string(),
        }])
    })
}

/// Returns the byte ranges of two texts without their common first and last lines, so that the cursor and folds keep their positions.
fn changed_lines(old: &str, new: &str) -> (Bytes<usize>, Bytes<usize>) {
    let lines = |text: &str| -> Vec<usize> { text.split_inclusive('\n').map(str::len).collect() };
    let same = |pair: &(&str, &str)| pair.0 == pair.1;
    let forwards = old.split_inclusive('\n').zip(new.split_inclusive('\n'));
    let head = forwards.take_while(same).count();
    let (old_lines, new_lines) = (lines(old), lines(new));
    let most = old_lines.len().min(new_lines.len()) - head;
    let backwards = old.split_inclusive('\n').rev().zip(new.split_inclusive('\n').rev());
    let tail = backwards.take_while(same).count().min(most);
    let bytes = |lines: &[usize]| {
        let start: usize = lines[..head].iter().sum();
        start..start + lines[head..lines.len() - tail].iter().sum::<usize>()
    };
    (bytes(&old_lines), bytes(&new_lines))
}

/// Formats the lines of a range.
pub(crate) fn range(
    context: &mut RequestContext,
    params: &DocumentRangeFormattingParams,
) -> Result<Option<Vec<TextEdit>>, Refusal> {
    let (first, last) = (params.range.start.line, params.range.end.line);
    lines(context, &params.text_document.uri, first..last + 1)
}

/// Formats the line that a semicolon has ended.
pub(crate) fn on_type(
    context: &mut RequestContext,
    params: &DocumentOnTypeFormattingParams,
) -> Result<Option<Vec<TextEdit>>, Refusal> {
    let line = params.position.line;
    lines(context, &params.text_document.uri, line..line + 1)
}

/// Formats some lines; lines aligned with them also change.
fn lines(context: &mut RequestContext, uri: &Uri, wanted: Bytes<u32>) -> Result<Option<Vec<TextEdit>>, Refusal> {
    context.on(uri, |places| {
        let new = places.snapshot.formatted()?;
        let root = places.snapshot.root();
        let old = places.snapshot.map().get(root);
        let starts = |text: &str| -> Vec<usize> {
            let lines = text.split_inclusive('\n');
            let ends = lines.scan(0, |at, line| {
                *at += line.len();
                Some(*at)
            });
            std::iter::once(0).chain(ends).collect()
        };
        let (old_starts, new_starts) = (starts(&old.text), starts(&new));
        let touches =
            |hunk: &held::Hunk| hunk.old.start < wanted.end && wanted.start < hunk.old.end.max(hunk.old.start + 1);
        let hunks = held::hunks(&old.text, &new).into_iter().filter(touches);
        let edit = |hunk: held::Hunk| {
            let (start, end) = (old_starts[hunk.old.start as usize], old_starts[hunk.old.end as usize]);
            let words = new_starts[hunk.new.start as usize]..new_starts[hunk.new.end as usize];
            TextEdit {
                range: places.range(Span::new(root, start, end)),
                new_text: new[words].to_string(),
            }
        };
        Some(hunks.map(edit).collect())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_that_differ_are_replaced() {
        for (old, new, part, by) in [
            ("a\nb\nc\n", "a\nB\nc\n", "b\n", "B\n"),
            ("a\nc\n", "a\nb\nc\n", "", "b\n"),
            ("a\na\na\n", "a\n", "a\na\n", ""),
            ("a\nb", "a\nb\n", "b", "b\n"),
            ("", "a\n", "", "a\n"),
            ("a\r\nb\r\n", "a\nb\n", "a\r\nb\r\n", "a\nb\n"),
        ] {
            let (replaced, taken) = changed_lines(old, new);
            assert_eq!((&old[replaced.clone()], &new[taken.clone()]), (part, by), "{old:?}");
            let mut text = old.to_string();
            text.replace_range(replaced, &new[taken]);
            assert_eq!(text, new);
        }
    }
}
