//! Runs test/corpus/*.txt, which `tree-sitter test` runs too: a title between lines of `=`, a text, a line of `---`, and its tree.
//!
//! `LGM_UPDATE_CORPUS=1 cargo test -p tree-sitter-lgm` writes the trees anew; read what changed.

use std::fmt::Write;
use std::path::Path;
use tree_sitter::Parser;

struct Case {
    title: String,
    text: String,
    tree: String,
}

/// The cases of a file, in its order.
fn cases(file: &str) -> Vec<Case> {
    let rule = |line: &str| line.len() >= 3 && line.bytes().all(|byte| byte == b'=');
    let mut lines = file.lines().peekable();
    let mut cases = Vec::new();
    while let Some(line) = lines.next() {
        if !rule(line) {
            continue;
        }
        let title = lines.next().expect("a title follows the first line of `=`").to_string();
        assert!(lines.next().is_some_and(rule), "no line of `=` after the title {title}");
        let mut text = Vec::new();
        while let Some(line) = lines.next_if(|line| *line != "---") {
            text.push(line);
        }
        lines.next();
        let mut tree = Vec::new();
        while let Some(line) = lines.next_if(|line| !rule(line)) {
            tree.push(line);
        }
        let text = text.join("\n").trim_matches('\n').to_string();
        cases.push(Case {
            title,
            text,
            tree: tree.join("\n"),
        });
    }
    cases
}

/// A tree with the same spaces everywhere.
fn flat(tree: &str) -> String {
    let words: Vec<&str> = tree.split_whitespace().collect();
    words.join(" ").replace(" )", ")")
}

/// A tree with a line for each node.
fn indented(tree: &str) -> String {
    let mut out = String::new();
    let (mut depth, mut quoted) = (0, false);
    for (at, letter) in tree.char_indices() {
        quoted ^= letter == '"' || letter == '\'';
        match letter {
            _ if quoted => out.push(letter),
            ' ' if tree[..at].ends_with(':') => out.push(' '),
            ' ' => {
                out.push('\n');
                out.extend(std::iter::repeat_n("  ", depth));
            }
            '(' => {
                depth += 1;
                out.push('(');
            }
            ')' => {
                depth -= 1;
                out.push(')');
            }
            _ => out.push(letter),
        }
    }
    out
}

#[test]
fn every_text_of_the_corpus_has_its_tree() {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_lgm::LANGUAGE.into()).unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("test/corpus");
    let update = std::env::var("LGM_UPDATE_CORPUS").is_ok();
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let mut written = String::new();
        for case in cases(&std::fs::read_to_string(&path).unwrap()) {
            count += 1;
            let tree = parser.parse(&case.text, None).unwrap().root_node().to_sexp();
            if !update {
                assert_eq!(flat(&tree), flat(&case.tree), "{} in {}", case.title, path.display());
            }
            let rule = "=".repeat(case.title.len().max(3));
            let (title, text) = (&case.title, &case.text);
            write!(
                written,
                "{rule}\n{title}\n{rule}\n\n{text}\n\n---\n\n{}\n\n",
                indented(&tree)
            )
            .unwrap();
        }
        if update {
            std::fs::write(&path, written.trim_end().to_string() + "\n").unwrap();
        }
    }
    assert!(count > 20, "{count} texts");
}
