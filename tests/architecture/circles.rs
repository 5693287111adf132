//! Cycles of files and of folders: those of one crate that refer to each other, directly or through others.
//!
//! A file depends on another one if it imports from it or names a path into it. A re-export (`pub use`) is traced to
//! the file that defines the item, so the public interface of a folder is not part of a cycle. Comments, strings and
//! tests do not count. Methods are not detected directly, but through the file of their type.

use std::collections::{BTreeMap, BTreeSet};

/// The path of a module in its crate; that of the root is empty.
pub type ModulePath = Vec<String>;

/// The maximum length of a re-export chain.
const LONGEST_CHAIN: usize = 8;

/// The references of one file to others.
#[derive(Default)]
struct File {
    /// Every path in the file, as written.
    named: BTreeSet<Vec<String>>,
    /// Its re-exports: names with the paths that they stand for.
    reexported: BTreeMap<String, Vec<String>>,
}

/// The cycles among the files of a crate, each sorted; `texts` are the files by their modules.
pub fn circles(texts: &BTreeMap<ModulePath, String>) -> Vec<Vec<ModulePath>> {
    cycles(&references(texts))
}

/// The cycles among the folders of a crate, each sorted: at the top level, and within each folder.
///
/// A file next to folders is a folder by itself. The root of a folder is its public interface and no part of a cycle.
pub fn circles_of_folders(texts: &BTreeMap<ModulePath, String>) -> Vec<Vec<ModulePath>> {
    let mut edges: BTreeMap<ModulePath, BTreeSet<ModulePath>> = BTreeMap::new();
    for (file, others) in references(texts) {
        for depth in 0..file.len() {
            let inside = others
                .iter()
                .filter(|other| other.len() > depth && other[..depth] == file[..depth] && other[depth] != file[depth]);
            let inside = inside.map(|other| other[..=depth].to_vec());
            edges.entry(file[..=depth].to_vec()).or_default().extend(inside);
        }
    }
    cycles(&edges)
}

/// The files to which each file refers.
fn references(texts: &BTreeMap<ModulePath, String>) -> BTreeMap<ModulePath, BTreeSet<ModulePath>> {
    let files: BTreeMap<&ModulePath, File> = texts.iter().map(|(path, text)| (path, read(text))).collect();
    files
        .keys()
        .map(|path| ((*path).clone(), dependencies(&files, path)))
        .collect()
}

/// The cycles of a graph, each sorted.
fn cycles(edges: &BTreeMap<ModulePath, BTreeSet<ModulePath>>) -> Vec<Vec<ModulePath>> {
    let reached: BTreeMap<&ModulePath, BTreeSet<&ModulePath>> =
        edges.keys().map(|path| (path, reachable(edges, path))).collect();
    let mut found: BTreeSet<Vec<ModulePath>> = BTreeSet::new();
    for (path, others) in &reached {
        let circle: Vec<ModulePath> = others
            .iter()
            .filter(|other| reached[**other].contains(path))
            .map(|other| (*other).clone())
            .collect();
        if circle.len() > 1 {
            found.insert(circle);
        }
    }
    found.into_iter().collect()
}

/// All files reachable from a file; the file itself only if a path leads back.
fn reachable<'e>(edges: &'e BTreeMap<ModulePath, BTreeSet<ModulePath>>, from: &ModulePath) -> BTreeSet<&'e ModulePath> {
    let mut seen = BTreeSet::new();
    let mut open: Vec<&ModulePath> = edges[from].iter().collect();
    while let Some(path) = open.pop() {
        if seen.insert(path) {
            open.extend(&edges[path]);
        }
    }
    seen
}

/// The files to which a file refers.
fn dependencies(files: &BTreeMap<&ModulePath, File>, module: &ModulePath) -> BTreeSet<ModulePath> {
    let named = files[module].named.iter();
    let mut found: BTreeSet<ModulePath> = named
        .filter_map(|path| absolute(files, module, path))
        .map(|path| home(files, path, 0))
        .collect();
    found.remove(module);
    found
}

/// A path from the root of the crate; none if it leads to another crate, or is not a path of modules.
fn absolute(files: &BTreeMap<&ModulePath, File>, module: &ModulePath, path: &[String]) -> Option<ModulePath> {
    let mut base = module.clone();
    let mut rest = path;
    match rest.first()?.as_str() {
        "crate" => {
            base.clear();
            rest = &rest[1..];
        }
        "self" => rest = &rest[1..],
        "super" => {
            while rest.first().is_some_and(|first| first == "super") {
                base.pop()?;
                rest = &rest[1..];
            }
        }
        first => {
            base.push(first.to_string());
            if !files.contains_key(&base) {
                return None;
            }
            base.pop();
        }
    }
    base.extend_from_slice(rest);
    Some(base)
}

/// The file that defines the item of a path.
fn home(files: &BTreeMap<&ModulePath, File>, path: ModulePath, chain: usize) -> ModulePath {
    let known = (0..=path.len())
        .rev()
        .find(|length| files.contains_key(&path[..*length].to_vec()));
    let (file, rest) = path.split_at(known.expect("the root of the crate is a file"));
    let file = file.to_vec();
    let through = rest.first().and_then(|name| files[&file].reexported.get(name));
    let target = through.and_then(|target| absolute(files, &file, target));
    match target {
        Some(mut target) if chain < LONGEST_CHAIN => {
            target.extend_from_slice(&rest[1..]);
            home(files, target, chain + 1)
        }
        _ => file,
    }
}

/// The paths in a text.
fn read(text: &str) -> File {
    let tokens = without_tests(&tokens(text));
    let mut file = File::default();
    let mut at = 0;
    let mut is_public = false;
    while at < tokens.len() {
        match tokens[at].as_str() {
            "pub" => {
                is_public = true;
                at += 1;
                if tokens.get(at).is_some_and(|token| token == "(") {
                    at = closing(&tokens, at) + 1;
                }
                continue;
            }
            // `use<..>` lists captured lifetimes, and imports nothing.
            "use" if tokens.get(at + 1).is_some_and(|token| token != "<") => {
                at += 1;
                let mut imported = Vec::new();
                use_tree(&tokens, &mut at, &[], &mut imported);
                for (name, path) in imported {
                    if is_public {
                        file.reexported.insert(name, path);
                    } else {
                        file.named.insert(path);
                    }
                }
            }
            token if is_name(token) && (at == 0 || tokens[at - 1] != "::" && tokens[at - 1] != ".") => {
                let mut path = vec![token.to_string()];
                while tokens.get(at + 1).is_some_and(|token| token == "::")
                    && tokens.get(at + 2).is_some_and(|token| is_name(token))
                {
                    path.push(tokens[at + 2].clone());
                    at += 2;
                }
                if path.len() > 1 {
                    file.named.insert(path);
                }
            }
            _ => {}
        }
        is_public = false;
        at += 1;
    }
    file
}

/// The names that a tree of `use` brings in, each with its path; stops at the end of the tree.
fn use_tree(tokens: &[String], at: &mut usize, prefix: &[String], found: &mut Vec<(String, Vec<String>)>) {
    let mut path = prefix.to_vec();
    while let Some(token) = tokens.get(*at) {
        match token.as_str() {
            "::" => {}
            "{" => {
                *at += 1;
                while tokens.get(*at).is_some_and(|token| token != "}") {
                    use_tree(tokens, at, &path, found);
                    match tokens.get(*at).map(String::as_str) {
                        Some(",") => *at += 1,
                        Some("}") => {}
                        other => panic!("a tree of `use` goes on with {other:?}"),
                    }
                }
                *at += 1;
                return;
            }
            "," | "}" | ";" => break,
            "as" => {
                let alias = tokens.get(*at + 1).cloned().unwrap_or_default();
                *at += 2;
                found.push((alias, path));
                return;
            }
            // The module itself, in addition to its items.
            "self" if path.len() > prefix.len() || !prefix.is_empty() => {}
            "*" => {}
            name => path.push(name.to_string()),
        }
        *at += 1;
    }
    if let Some(name) = path.last().cloned() {
        found.push((name, path));
    }
}

fn is_name(token: &str) -> bool {
    token.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// The position of the bracket that closes the one at `open`.
fn closing(tokens: &[String], open: usize) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.as_str() {
            "(" | "{" | "[" => depth += 1,
            ")" | "}" | "]" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    tokens.len() - 1
}

/// Tokens without the items after `#[cfg(test)]` and similar attributes.
fn without_tests(tokens: &[String]) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at] == "#" && tokens.get(at + 1).is_some_and(|token| token == "[") {
            let end = closing(tokens, at + 1);
            let attribute = &tokens[at + 2..end];
            let holds = |word: &str| attribute.iter().any(|token| token == word);
            at = end + 1;
            if holds("cfg") && holds("test") && !holds("not") {
                at = end_of_item(tokens, at) + 1;
            }
            continue;
        }
        kept.push(tokens[at].clone());
        at += 1;
    }
    kept
}

/// The end of an item that begins at `at`: its semicolon, or the end of its body.
fn end_of_item(tokens: &[String], mut at: usize) -> usize {
    while at < tokens.len() {
        match tokens[at].as_str() {
            ";" => return at,
            "{" => return closing(tokens, at),
            "(" | "[" => at = closing(tokens, at),
            _ => {}
        }
        at += 1;
    }
    tokens.len()
}

/// Names, `::` and single characters; no comments, strings, characters and blanks.
fn tokens(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    let is_part = |at: usize| {
        letters
            .get(at)
            .is_some_and(|letter| letter.is_alphanumeric() || *letter == '_')
    };
    let mut found = Vec::new();
    let mut at = 0;
    while at < letters.len() {
        let next = letters.get(at + 1).copied();
        match letters[at] {
            '/' if next == Some('/') => at = line_end(&letters, at),
            '/' if next == Some('*') => at = after(&letters, at + 2, &['*', '/']),
            '"' => at = string_end(&letters, at + 1),
            'r' if matches!(next, Some('"' | '#')) && raw_string(&letters, at).is_some() => {
                at = raw_string(&letters, at).expect("it was looked at just now");
            }
            '\'' if next == Some('\\') => at = string_of(&letters, at + 3, '\''),
            '\'' if letters.get(at + 2) == Some(&'\'') => at += 3,
            ':' if next == Some(':') => {
                found.push("::".to_string());
                at += 2;
            }
            letter if letter.is_whitespace() => at += 1,
            _ if is_part(at) => {
                let start = at;
                while is_part(at) {
                    at += 1;
                }
                found.push(letters[start..at].iter().collect());
            }
            letter => {
                found.push(letter.to_string());
                at += 1;
            }
        }
    }
    found
}

fn line_end(letters: &[char], at: usize) -> usize {
    string_of(letters, at, '\n')
}

/// The position after the next such letter.
fn string_of(letters: &[char], at: usize, end: char) -> usize {
    let rest = letters.iter().skip(at).position(|letter| *letter == end);
    rest.map_or(letters.len(), |length| at + length + 1)
}

/// The position after the next such letters.
fn after(letters: &[char], at: usize, end: &[char]) -> usize {
    let found = letters
        .get(at..)
        .and_then(|rest| rest.windows(end.len()).position(|part| part == end));
    found.map_or(letters.len(), |length| at + length + end.len())
}

/// The position after a string whose first letter is at `at`.
fn string_end(letters: &[char], mut at: usize) -> usize {
    while at < letters.len() && letters[at] != '"' {
        at += if letters[at] == '\\' { 2 } else { 1 };
    }
    at + 1
}

/// The position after a raw string that begins at `at`; none if no raw string begins there.
fn raw_string(letters: &[char], at: usize) -> Option<usize> {
    let hashes = letters[at + 1..].iter().take_while(|letter| **letter == '#').count();
    if letters.get(at + 1 + hashes) != Some(&'"') {
        return None;
    }
    let mut end = vec!['"'];
    end.resize(hashes + 1, '#');
    Some(after(letters, at + 2 + hashes, &end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        shown(circles(&texts(files)))
    }

    fn texts(files: &[(&str, &str)]) -> BTreeMap<ModulePath, String> {
        let path = |name: &str| {
            name.split("::")
                .filter(|part| !part.is_empty())
                .map(str::to_string)
                .collect()
        };
        files
            .iter()
            .map(|(name, text)| (path(name), (*text).to_string()))
            .collect()
    }

    fn shown(circles: Vec<Vec<ModulePath>>) -> Vec<Vec<String>> {
        let shown = |circle: Vec<ModulePath>| circle.iter().map(|path| path.join("::")).collect();
        circles.into_iter().map(shown).collect()
    }

    #[test]
    fn a_circle_through_imports_paths_and_children_is_found() {
        let files = [
            ("", "mod a;\nmod b;\nmod c;\nmod d;\npub fn run() { d::run() }"),
            ("a", "use crate::b::{self, B};\npub struct A;"),
            ("b", "pub struct B;\nfn f() -> crate::c::inner::C { todo!() }"),
            ("c", "pub(super) mod inner;"),
            ("c::inner", "use super::super::a::A as Other;\npub struct C;"),
            ("d", "use super::a::A;\npub fn run() {}"),
        ];
        assert_eq!(found(&files), [["a", "b", "c::inner"]]);
        let parent = [
            ("", "mod p;"),
            ("p", "mod q;\nfn f() { q::g() }\npub const N: u8 = 1;"),
            ("p::q", "use super::N;"),
        ];
        assert_eq!(found(&parent), [["p", "p::q"]]);
    }

    #[test]
    fn folders_form_a_circle_even_if_their_files_do_not() {
        let files = [
            ("", "mod a;\nmod b;\nmod c;\npub use b::low::Low;\npub struct Root;"),
            ("a", "mod low;\nmod high;"),
            ("a::low", "pub struct Low;\nfn f(_: crate::Root) {}"),
            ("a::high", "use crate::Low;\nuse crate::c::C;"),
            ("b", "pub mod low;\nmod high;"),
            ("b::low", "pub struct Low;"),
            ("b::high", "use crate::a::low::Low;"),
            ("c", "pub struct C;"),
            ("c::low", "mod x;\nmod y;"),
            ("c::low::x", "use crate::c::high::High;"),
            ("c::low::y", "pub struct Y;"),
            ("c::high", "mod v;\nmod w;\npub struct High;"),
            ("c::high::v", "use crate::c::low::y::Y;"),
        ];
        assert!(found(&files).is_empty());
        let [top, inside] = [["a", "b"], ["c::high", "c::low"]];
        assert_eq!(shown(circles_of_folders(&texts(&files))), [top, inside]);
    }

    #[test]
    fn a_public_face_is_no_part_of_a_circle() {
        let files = [
            (
                "",
                "mod a;\nmod b;\npub use a::A;\npub(crate) use b::{B as Named, helper};",
            ),
            ("a", "use super::Named;\npub struct A;"),
            ("b", "pub struct B;\npub fn helper() {}"),
        ];
        assert!(found(&files).is_empty());
    }

    #[test]
    fn comments_strings_and_tests_are_no_dependencies() {
        let files = [
            ("", "mod a;\nmod b;"),
            ("a", "use crate::b::B;\npub struct A;"),
            (
                "b",
                "// use crate::a::A;\n/* crate::a::A */\npub struct B;\nconst S: &str = \"crate::a::A \\\" crate::a\";\n\
                 const R: &str = r#\"crate::a::A\"#;\nconst C: char = '\"';\n\
                 #[cfg(test)]\nuse crate::a::A;\n#[cfg(all(test, unix))]\nmod tests { use crate::a::A; }",
            ),
        ];
        assert!(found(&files).is_empty());
        let outside = [
            files[0],
            files[1],
            ("b", "pub struct B;\nconst C: char = '\"';\nuse crate::a::A;"),
        ];
        assert_eq!(found(&outside), [["a", "b"]]);
    }
}
