//! The instances that contain the objects named in messages, and the statement that creates each instance.

use crate::{Model, PathId};
use lgm_source::Span;
use lgm_source::diagnostic::{Diagnostic, Severity};
use rustc_hash::FxHashMap;

/// The number of instance levels that a diagnostic shows before it omits those in the middle.
pub const SHOWN_LEVELS: usize = 4;

/// Adds a location unless it is already shown.
pub fn label_once(diagnostic: Diagnostic, span: Span, message: String) -> Diagnostic {
    match diagnostic.labels.iter().any(|label| label.span == span) {
        true => diagnostic,
        false => diagnostic.label(span, message),
    }
}

/// One part of a name such as `cell[2].r`: the name and its indices.
type NamePart<'t> = (&'t str, Vec<i64>);

/// The maximum number of named instances of one statement.
const NAMED: usize = 3;

impl Model {
    /// Shows, for each object that a message names by its instances (`cell[2].r`), where these instances are declared, the innermost first.
    pub fn show_instances(&self, diagnostics: &mut [Diagnostic]) {
        let mut texts = Vec::new();
        for (at, diagnostic) in diagnostics.iter().enumerate() {
            if diagnostic.severity != Severity::Information {
                let labels = diagnostic.labels.iter().map(|label| &label.message);
                let words = std::iter::once(&diagnostic.message)
                    .chain(labels)
                    .chain(&diagnostic.notes);
                texts.extend(words.map(|text| (at, text.clone())));
            }
        }
        let names: Vec<(usize, Vec<NamePart<'_>>)> = texts
            .iter()
            .flat_map(|(at, text)| quoted_names(text).map(move |name| (*at, name)))
            .collect();
        if names.is_empty() {
            return;
        }
        let paths = self.paths_named(&names);
        for (at, diagnostic) in diagnostics.iter_mut().enumerate() {
            let first = names.partition_point(|name| name.0 < at);
            let last = names.partition_point(|name| name.0 <= at);
            self.show_chains(paths[first..last].iter().flatten().copied(), diagnostic);
        }
    }

    /// Returns, for each name, its longest prefix that is a member of an instance.
    fn paths_named(&self, names: &[(usize, Vec<NamePart<'_>>)]) -> Vec<Option<PathId>> {
        let mut wanted: FxHashMap<&str, Vec<(usize, usize)>> = FxHashMap::default();
        for (at, (_, parts)) in names.iter().enumerate() {
            for length in 2..=parts.len() {
                wanted.entry(parts[length - 1].0).or_default().push((at, length));
            }
        }
        let mut found: Vec<(usize, Option<PathId>)> = vec![(0, None); names.len()];
        for (id, path) in self.paths.iter().enumerate() {
            if path.parent.is_none() {
                continue;
            }
            for (at, length) in wanted.get(&*path.name).into_iter().flatten() {
                let id = PathId(id as u32);
                if *length > found[*at].0 && self.is_named(id, &names[*at].1[..*length]) {
                    found[*at] = (*length, Some(id));
                }
            }
        }
        found.into_iter().map(|entry| entry.1).collect()
    }

    fn is_named(&self, id: PathId, parts: &[NamePart<'_>]) -> bool {
        let mut at = Some(id);
        for (name, indices) in parts.iter().rev() {
            let Some(path) = at.map(|id| &self.paths[id.index()]) else {
                return false;
            };
            if &*path.name != *name || path.indices[..] != indices[..] {
                return false;
            }
            at = path.parent;
        }
        at.is_none()
    }

    fn show_chains(&self, named: impl Iterator<Item = PathId>, diagnostic: &mut Diagnostic) {
        let mut made: Vec<(Span, Vec<PathId>)> = Vec::new();
        let mut longest_left_out = 0;
        for id in named {
            let mut chain = Vec::new();
            let mut around = self.paths[id.index()].parent;
            while let Some(instance) = around {
                chain.push(instance);
                around = self.paths[instance.index()].parent;
            }
            if chain.len() > SHOWN_LEVELS {
                let left_out = SHOWN_LEVELS - 1..chain.len() - 1;
                longest_left_out = longest_left_out.max(left_out.len());
                chain.drain(left_out);
            }
            for instance in chain {
                let span = self.paths[instance.index()].span;
                match made.iter_mut().find(|entry| entry.0 == span) {
                    Some((_, list)) if list.contains(&instance) => {}
                    Some((_, list)) => list.push(instance),
                    None => made.push((span, vec![instance])),
                }
            }
        }
        for (span, instances) in made {
            let mut names: Vec<String> = instances
                .iter()
                .take(NAMED)
                .map(|id| format!("`{}`", self.path_name(*id)))
                .collect();
            let more = instances.len() - names.len();
            let words = match (&mut names[..], more) {
                ([only], 0) => format!("in the instance {only}, created here"),
                ([before @ .., last], 0) => format!("in the instances {} and {last}, created here", before.join(", ")),
                (all, more) => format!("in the instances {} and {more} more, created here", all.join(", ")),
            };
            *diagnostic = label_once(diagnostic.clone(), span, words);
        }
        if longest_left_out > 0 {
            let note = format!("{longest_left_out} levels of instances between these are not shown");
            *diagnostic = diagnostic.clone().note(note);
        }
    }
}

/// Returns the dotted names in the quoted parts of a text, split into parts.
fn quoted_names(text: &str) -> impl Iterator<Item = Vec<NamePart<'_>>> {
    text.split('`').skip(1).step_by(2).flat_map(dotted_names)
}

fn dotted_names(quoted: &str) -> Vec<Vec<NamePart<'_>>> {
    let mut names = Vec::new();
    let mut rest = quoted;
    while let Some(start) = rest.find(|letter: char| letter.is_ascii_alphabetic() || letter == '_') {
        // A letter after a digit belongs to a number.
        let in_number = rest[..start].ends_with(|letter: char| letter.is_ascii_digit());
        rest = &rest[start..];
        let mut parts = Vec::new();
        loop {
            let end = rest.find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'));
            let (name, after) = rest.split_at(end.unwrap_or(rest.len()));
            let (indices, after) = read_indices(after);
            parts.push((name, indices));
            rest = after;
            match rest.strip_prefix('.') {
                Some(next) if next.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_') => {
                    rest = next
                }
                _ => break,
            }
        }
        if parts.len() > 1 && !in_number {
            names.push(parts);
        }
    }
    names
}

/// Returns the integers in brackets at the beginning, and the rest of the text.
fn read_indices(text: &str) -> (Vec<i64>, &str) {
    let inside = text.strip_prefix('[').and_then(|inside| inside.split_once(']'));
    let read = inside.and_then(|(list, after)| {
        let indices: Option<Vec<i64>> = list.split(',').map(|index| index.trim().parse().ok()).collect();
        Some((indices?, after))
    });
    read.unwrap_or((Vec::new(), text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_what_is_quoted() {
        let text = "`across(cell[2].r)` meets `a[1, 2].b.c` and `plain`, at 1.5e3 of x.y: `2.5e3*w.q`";
        let names: Vec<String> = quoted_names(text)
            .map(|parts| {
                let parts: Vec<String> = parts.iter().map(|(name, at)| format!("{name}{at:?}")).collect();
                parts.join(" ")
            })
            .collect();
        assert_eq!(names, ["cell[2] r[]", "a[1, 2] b[] c[]", "w[] q[]"]);
    }
}
