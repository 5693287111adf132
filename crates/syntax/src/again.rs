//! Parses an edited text again: unchanged parts are taken from the tree of the previous text.
//!
//! A statement ends with `;` or `}`, and is parsed the same in any context except for a following `else`. The statements that overlap an
//! edit are therefore reparsed with one neighbour on each side, and all others are moved. This requires that neither the old text nor the
//! reparsed part has an error.

use crate::ast::{Ast, Component, Item, Model, Statement};
use crate::build::{Context, Parsed};
use crate::moving::Move;
use crate::token::{self, Lexed, Token};
use crate::{declared_names, driver, nesting};
use lgm_source::{SourceId, Span};
use std::ops::Range;
use std::sync::Arc;

/// Returns the tree of a text, given the tree of the text `before` of the same source; none if the whole text must be parsed.
pub fn parse_again(source: SourceId, text: &str, (before, known): (&str, &Ast)) -> Option<Ast> {
    let is_same_source = known.items.first()?.span().source == source;
    if !known.is_faultless || !is_same_source {
        return None;
    }
    let edit = Edit::between(before, text);
    let again = Again {
        source,
        before,
        text,
        edit,
    };
    let items = again
        .between_items(&known.items)
        .or_else(|| again.in_body(&known.items))?;
    Some(Ast {
        items,
        is_faultless: true,
    })
}

/// The difference between two texts.
struct Edit {
    /// The replaced bytes of the old text.
    old: Range<usize>,
    /// The shift of the following text.
    by: i64,
}

impl Edit {
    fn between(old: &str, new: &str) -> Edit {
        let (old, new) = (old.as_bytes(), new.as_bytes());
        let start = common(old.chunks(CHUNK).zip(new.chunks(CHUNK)), |(a, b)| {
            a.iter().zip(b).take_while(|pair| pair.0 == pair.1).count()
        });
        let chunks = old[start..].rchunks(CHUNK).zip(new[start..].rchunks(CHUNK));
        let tail = common(chunks, |(a, b)| {
            a.iter()
                .rev()
                .zip(b.iter().rev())
                .take_while(|pair| pair.0 == pair.1)
                .count()
        });
        Edit {
            old: start..old.len() - tail,
            by: new.len() as i64 - old.len() as i64,
        }
    }

    /// Returns the new position of a byte after the edit.
    fn moved(&self, at: usize) -> usize {
        (at as i64 + self.by) as usize
    }
}

/// The number of bytes per part for comparing texts.
const CHUNK: usize = 4096;

/// Returns the number of bytes that two texts have in common at one end, given their parts.
fn common<'a>(chunks: impl Iterator<Item = (&'a [u8], &'a [u8])>, within: impl Fn((&[u8], &[u8])) -> usize) -> usize {
    let mut count = 0;
    for (old, new) in chunks {
        if old != new {
            return count + within((old, new));
        }
        count += old.len();
    }
    count
}

struct Again<'t> {
    source: SourceId,
    before: &'t str,
    text: &'t str,
    edit: Edit,
}

impl Again<'_> {
    /// Returns the items if the edit is only in spaces and comments before an item.
    fn between_items(&self, known: &[Item]) -> Option<Vec<Item>> {
        let place = known.partition_point(|item| item.span().end as usize <= self.edit.old.start);
        let next = known.get(place)?.span().start as usize;
        let is_here = self.edit.old.end <= next;
        let start = self.edit.moved(next);
        let from = place.checked_sub(1).map_or(0, |last| known[last].span().end as usize);
        let words = self.text.get(from..).filter(|_| is_here)?;
        let word = words.get(start - from..)?.bytes().take_while(u8::is_ascii_lowercase);
        let end = start - from + word.count();
        let lexed = token::lex(self.source, &words[..end]);
        let is_alone = matches!(&lexed.tokens[..], [only] if only.0 == start - from && only.2 == end);
        if !is_alone || !lexed.diagnostics.is_empty() {
            return None;
        }
        let mut items = known.to_vec();
        items[place..].iter_mut().for_each(|item| item.shift(self.edit.by));
        if let Some(doc) = doc_mut(&mut items[place]) {
            *doc = lexed.docs.into_iter().next().map(|doc| doc.1);
        }
        Some(items)
    }

    /// Returns the items if the edit is in one body.
    fn in_body(&self, known: &[Item]) -> Option<Vec<Item>> {
        let place = known.partition_point(|item| item.span().end as usize <= self.edit.old.start);
        let item = known.get(place)?;
        let (start, end) = (item.span().start as usize, item.span().end as usize);
        if self.edit.old.start <= start || self.edit.old.end >= end {
            return None;
        }
        let (doc, body) = match item {
            Item::Component(component) => (&component.doc, &component.body),
            Item::Model(model) => (&model.doc, &model.body),
            _ => return None,
        };
        let before = body.partition_point(|each| each.span.end as usize <= self.edit.old.start);
        let behind = body.partition_point(|each| (each.span.start as usize) < self.edit.old.end);
        let (kept, moved) = (before.saturating_sub(1), (behind + 1).min(body.len()));
        let (front, back) = (&body[..kept], &body[moved..]);
        let from = front.last().map_or(start, |last| last.span.end as usize);
        let last = moved.checked_sub(1).and_then(|last| body.get(last));
        let to = last
            .filter(|_| !back.is_empty())
            .map_or(end, |last| last.span.end as usize);
        let mut read = self.read(from..to, front.is_empty(), back.is_empty())?;
        let own = std::mem::take(body_mut(&mut read)?);
        let head = if front.is_empty() { &read } else { item };
        let mut all = front.to_vec();
        all.extend(own);
        let rest = all.len();
        all.extend(back.iter().cloned());
        all[rest..].iter_mut().for_each(|each| each.shift(self.edit.by));
        let changed = with_body(head, doc.clone(), all, self.edit.moved(end))?;
        let mut items = known[..place].to_vec();
        items.push(changed);
        items.extend(known[place + 1..].iter().cloned());
        items[place + 1..].iter_mut().for_each(|item| item.shift(self.edit.by));
        Some(items)
    }

    /// Returns the item with the current statements of a part of the old text. The head and the end of the item are added if the part does
    /// not contain them.
    fn read(&self, part: Range<usize>, has_head: bool, has_end: bool) -> Option<Item> {
        let (from, to) = (part.start, self.edit.moved(part.end));
        let Lexed {
            tokens,
            docs,
            diagnostics,
            ..
        } = token::lex(self.source, self.text.get(from..to)?);
        // A comment that is unclosed at the end of the part would continue after it.
        let is_whole = tokens.last().is_some_and(|last| last.2 == to - from) && diagnostics.is_empty();
        let old = token::lex(self.source, self.before.get(part)?);
        // A name in brackets is an index if a value has this name anywhere, and otherwise a unit.
        if !is_whole || declared_names(&old.tokens) != declared_names(&tokens) {
            return None;
        }
        let names = declared_names(&token::lex(self.source, self.text).tokens);
        let head = [Token::Model, Token::Name("m"), Token::BraceOpen].map(|token| (from, token, from));
        let head = head.into_iter().filter(|_| !has_head);
        let own = tokens
            .iter()
            .map(|(start, token, end)| (from + start, *token, from + end));
        let last = std::iter::once((to, Token::BraceClose, to)).filter(|_| !has_end);
        let tokens: Vec<_> = head.chain(own).chain(last).collect();
        let docs: Vec<(usize, Arc<str>)> = docs.into_iter().map(|(at, words)| (from + at, words)).collect();
        if nesting::check(self.source, &tokens).is_some() {
            return None;
        }
        let context = Context::new(self.source, self.text, &docs, names);
        let Ok(Parsed::File(items)) = driver::run(&context, Token::StartFile, &tokens) else {
            return None;
        };
        let [item] = <[Item; 1]>::try_from(items).ok()?;
        context.take_diagnostics().is_empty().then_some(item)
    }
}

fn body_mut(item: &mut Item) -> Option<&mut Vec<Statement>> {
    match item {
        Item::Component(component) => Some(&mut component.body),
        Item::Model(model) => Some(&mut model.body),
        _ => None,
    }
}

/// Returns a component or a model with the head of another item, and the given doc, body and end.
fn with_body(head: &Item, doc: Option<Arc<str>>, body: Vec<Statement>, end: usize) -> Option<Item> {
    let whole = |span: Span| Span {
        end: end as u32,
        ..span
    };
    match head {
        Item::Component(Component {
            name, formals, span, ..
        }) => Some(Item::Component(Component {
            doc,
            name: name.clone(),
            formals: formals.clone(),
            body,
            span: whole(*span),
        })),
        Item::Model(Model { name, span, .. }) => Some(Item::Model(Model {
            doc,
            name: name.clone(),
            body,
            span: whole(*span),
        })),
        _ => None,
    }
}

/// Returns the `///` lines of an item; an import has none.
fn doc_mut(item: &mut Item) -> Option<&mut Option<Arc<str>>> {
    match item {
        Item::Import(_) => None,
        Item::Domain(domain) => Some(&mut domain.doc),
        Item::Element(element) => Some(&mut element.doc),
        Item::Component(component) => Some(&mut component.doc),
        Item::Modal(modal) => Some(&mut modal.doc),
        Item::Model(model) => Some(&mut model.doc),
        Item::Function(function) => Some(&mut function.doc),
        Item::Const(constant) => Some(&mut constant.doc),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;
    use std::fs;
    use std::path::Path;

    /// Inserted pieces: comments of all kinds, parts of models, symbols that change their context.
    const PIECES: [&str; 20] = [
        "",
        "",
        "7",
        "3.5",
        "\n",
        "// note\n",
        "/// doc\n",
        "/* note */",
        "/*",
        "*/",
        "//",
        "x",
        ";",
        "}",
        "{",
        "node k9 : electrical;\n",
        "param kg = 3 [kg];\n",
        "else { }",
        "if a < 2 { one Z9; }",
        "} model Other {",
    ];

    /// Returns a generator of reproducible pseudo-random numbers.
    fn numbers() -> impl FnMut(usize) -> usize {
        let mut state = 17_u64;
        move |bound| {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 33) as usize % bound
        }
    }

    fn boundary(text: &str, at: usize) -> usize {
        (at..=text.len())
            .find(|at| text.is_char_boundary(*at))
            .unwrap_or(text.len())
    }

    fn edited(text: &str, below: &mut impl FnMut(usize) -> usize) -> String {
        // Sometimes a whole part of a statement, so that more edited texts have no errors.
        let marks: Vec<usize> = text.match_indices([';', '\n', ' ']).map(|found| found.0 + 1).collect();
        let start = match below(3) {
            0 => boundary(text, below(text.len() + 1)),
            _ => marks[below(marks.len())],
        };
        let length = if below(2) == 0 { 0 } else { below(12) };
        let end = boundary(text, (start + length).min(text.len()));
        [&text[..start], PIECES[below(PIECES.len())], &text[end..]].concat()
    }

    #[test]
    fn an_edited_text_has_the_tree_of_a_fresh_one() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
        let folders = [folder.clone(), folder.join("seeds"), folder.join("switching")];
        let entries = folders
            .iter()
            .flat_map(|folder| fs::read_dir(folder).expect("examples"));
        let mut paths: Vec<_> = entries.map(|entry| entry.expect("an example").path()).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "lgm"));
        paths.sort();
        let (mut below, source) = (numbers(), SourceId(0));
        let (mut sound, mut again) = (0, 0);
        for path in &paths {
            let mut text = fs::read_to_string(path).expect("an example");
            let mut tree = parse(source, &text).0;
            for _ in 0..40 {
                let new = edited(&text, &mut below);
                let found = parse_again(source, &new, (&text, &tree));
                let (fresh, faults) = parse(source, &new);
                sound += usize::from(faults.is_empty());
                if let Some(found) = found {
                    again += 1;
                    assert_eq!(format!("{found:?}"), format!("{fresh:?}"), "{}:\n{new}", path.display());
                }
                if faults.is_empty() {
                    (text, tree) = (new, fresh);
                }
            }
        }
        assert!(
            paths.len() > 60 && sound > 1000 && 4 * again > 3 * sound,
            "{sound} {again}"
        );
    }

    #[test]
    fn names_and_faults_elsewhere_are_seen() {
        let (source, text) = (
            SourceId(0),
            "model M { param m = 2; one A; one B; one C; signal y = x [m]; one D; one E; }",
        );
        let (tree, faults) = parse(source, text);
        assert!(faults.is_empty(), "{faults:?}");
        // `[m]` is a unit if no value has this name.
        let other = text.replacen("param m = 2;", "param k = 2;", 1);
        assert!(parse_again(source, &other, (text, &tree)).is_none());
        // An unclosed comment, an extra bracket, and a text with earlier errors.
        for piece in ["/*", "}", "//"] {
            let other = text.replacen("one B;", &format!("one B; {piece}"), 1);
            assert!(parse_again(source, &other, (text, &tree)).is_none(), "{piece}");
        }
        let faulty = text.replacen("one B;", "one B", 1);
        let broken = parse(source, &faulty).0;
        assert!(parse_again(source, text, (&faulty, &broken)).is_none());
        let other = text.replacen("one B;", "one B2; // note\n", 1);
        let again = parse_again(source, &other, (text, &tree)).expect("nothing is against it");
        assert_eq!(format!("{again:?}"), format!("{:?}", parse(source, &other).0));
    }
}
