//! Every user-visible sentence, in one list for each crate: `all__pages__sentences__*.snap`. A changed message appears
//! among its neighbours, and reviewers read the change. `INSTA_UPDATE=always` rewrites the lists.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Unclear words, and their replacements.
const AVOIDED: [(&str, &str); 11] = [
    ("nobody", "say what is missing"),
    ("is reported", "is reported"),
    ("are reported", "are reported"),
    ("tells", "reports"),
    ("it is not said", "no .. is given"),
    ("in a circle", "in a cycle"),
    ("closes the circle", "closes the cycle"),
    ("is no number", "is not a number"),
    ("` is no name", "is not a name"),
    ("per each", "per"),
    ("in which nothing is made", "empty iterations"),
];

/// String literals of a Rust text, without comments and test modules. Lines joined by `\` are one.
fn literals(text: &str) -> Vec<String> {
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or(text);
    let bytes = text.as_bytes();
    let (mut found, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let rest = &text[at..];
        if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with("/*") {
            at += rest.find("*/").map_or(rest.len(), |end| end + 2);
        } else if let Some(length) = character(rest) {
            at += length;
        } else if let Some(hashes) = raw_string(text, at) {
            let open = at + hashes + 2;
            let close = format!("\"{}", "#".repeat(hashes));
            let length = text[open..].find(&close).unwrap_or(text.len() - open);
            found.push(text[open..open + length].to_string());
            at = open + length + close.len();
        } else if bytes[at] == b'"' {
            let (literal, length) = plain_string(&rest[1..]);
            found.push(literal);
            at += length + 1;
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    found
}

/// The length of a character literal, `'a'` or `'\n'`; none for a lifetime.
fn character(rest: &str) -> Option<usize> {
    let inner = rest.strip_prefix('\'')?;
    let mut letters = inner.chars();
    let first = letters.next()?;
    if first == '\\' {
        let end = inner[2..].find('\'')?;
        return Some(end + 4);
    }
    (letters.next() == Some('\'')).then(|| first.len_utf8() + 2)
}

/// The number of `#` of a raw string that begins here.
fn raw_string(text: &str, at: usize) -> Option<usize> {
    let rest = text[at..].strip_prefix('r')?;
    let is_word = text[..at].ends_with(|letter: char| letter.is_alphanumeric() || letter == '_');
    let hashes = rest.len() - rest.trim_start_matches('#').len();
    (!is_word && rest[hashes..].starts_with('"')).then_some(hashes)
}

/// A string after its opening quote, and its length including the closing quote.
fn plain_string(rest: &str) -> (String, usize) {
    let mut literal = String::new();
    let mut letters = rest.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return (literal, at + 1),
            '\\' => match letters.next() {
                Some((_, '\n')) => while letters.next_if(|next| next.1.is_whitespace()).is_some() {},
                Some((_, 'n')) => literal.push('\n'),
                Some((_, escaped)) => literal.extend(['\\', escaped]),
                None => {}
            },
            _ => literal.push(letter),
        }
    }
    (literal, rest.len())
}

/// Returns true if a literal is read by people: at least two words, and no code.
fn is_sentence(literal: &str) -> bool {
    let words: Vec<&str> = literal.split(' ').collect();
    let is_word = |word: &&str| {
        let word = word.trim_matches(|letter: char| ",;:.()`".contains(letter));
        word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_lowercase())
    };
    let count = words.iter().filter(|word| is_word(word)).count();
    count >= 2 && !literal.starts_with("invariant:") && !literal.contains("();") && !literal.contains("<svg")
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && name != "tests" {
            rust_files(&path, found);
        } else if name.ends_with(".rs") && !name.ends_with("tests.rs") {
            found.push(path);
        }
    }
}

/// The sentences of a folder, each once, in alphabetical order: dividing a file changes nothing here.
fn sentences(folder: &Path) -> BTreeSet<String> {
    let mut files = Vec::new();
    rust_files(folder, &mut files);
    let literals = files
        .iter()
        .flat_map(|path| literals(&fs::read_to_string(path).unwrap()));
    literals.filter(|literal| is_sentence(literal)).collect()
}

/// The source folders by the name of their crate.
fn crates() -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let entries = fs::read_dir(root.join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let named = |path: PathBuf| {
        (
            path.file_name().unwrap().to_string_lossy().into_owned(),
            path.join("src"),
        )
    };
    let mut all: Vec<(String, PathBuf)> = entries.map(named).collect();
    all.push(("lgm".to_string(), root.join("src")));
    all.sort();
    all
}

#[test]
fn every_sentence_is_one_that_was_reviewed() {
    let mut count = 0;
    for (name, folder) in crates() {
        let list = sentences(&folder);
        count += list.len();
        if !list.is_empty() {
            let list: Vec<String> = list.into_iter().collect();
            insta::assert_snapshot!(name, list.join("\n"));
        }
    }
    assert!(count > 1500, "{count} sentences");
}

#[test]
fn no_sentence_has_words_to_guess_at() {
    let mut faults = Vec::new();
    for (name, folder) in crates() {
        for sentence in sentences(&folder) {
            for (word, better) in AVOIDED {
                if sentence.to_lowercase().contains(word) {
                    faults.push(format!("{name}: `{sentence}`: not `{word}`: {better}"));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn literals_are_found() {
    let text =
        "let a = \"one \\\n    two\"; // \"not this\"\nlet b = '\"'; let c: &'static str = r#\"raw \"it\" is\"#;";
    assert_eq!(literals(text), ["one two", "raw \"it\" is"]);
}
