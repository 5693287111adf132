//! Documentation: links are valid, indexes are complete, and commands of docs/documents.md print what it shows.

use crate::support::command::{ends_with, lgm, out};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The files of a folder with this extension, optionally including subfolders; names are relative to the folder.
fn files(folder: &Path, ending: &str, deep: bool) -> BTreeSet<PathBuf> {
    let (mut found, mut folders) = (BTreeSet::new(), vec![folder.to_path_buf()]);
    while let Some(at) = folders.pop() {
        for entry in fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                let is_generated = ["target", "artifacts", "corpus"]
                    .iter()
                    .any(|name| path.ends_with(name));
                folders.extend((deep && !is_generated).then_some(path));
            } else if path.extension().is_some_and(|extension| extension == ending) {
                found.insert(path.strip_prefix(folder).unwrap().to_path_buf());
            }
        }
    }
    found
}

/// The pages at the root, and all pages below these folders.
fn pages() -> Vec<PathBuf> {
    let mut pages: Vec<PathBuf> = files(root(), "md", false).into_iter().collect();
    for folder in ["docs", "examples", "tests", "fuzz", "benches", "stdlib", "grammar"] {
        let inside = files(&root().join(folder), "md", true);
        pages.extend(inside.into_iter().map(|path| Path::new(folder).join(path)));
    }
    assert!(pages.len() > 200, "the pages of the codes are among them");
    pages
}

/// The link targets of a page, without code.
fn links(text: &str) -> Vec<String> {
    let mut prose = String::new();
    let mut is_code = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            // Every second part between backquotes is code.
            prose.extend(line.split('`').step_by(2));
            prose.push('\n');
        }
    }
    let ends = prose.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    ends.map(|(target, _)| target.to_string()).collect()
}

/// `docs/verification-log.md` names the test of each fix: `module::test`.
#[test]
fn tests_that_pages_name_exist() {
    let text = fs::read_to_string(root().join("docs/verification-log.md")).unwrap();
    let code = text.split('`').skip(1).step_by(2);
    let named: Vec<&str> = code.filter(|code| code.contains("::") && !code.contains(' ')).collect();
    assert!(named.len() > 25, "{named:?}");
    let exists = |name: &str| {
        let (module, test) = name.rsplit_once("::").unwrap();
        let file = root().join("tests").join(format!("{}.rs", module.replace("::", "/")));
        let source = fs::read_to_string(file).unwrap_or_default();
        source.contains(&format!("#[test]\nfn {test}()"))
    };
    let lost: Vec<&str> = named.into_iter().filter(|name| !exists(name)).collect();
    assert!(lost.is_empty(), "{lost:#?}");
}

#[test]
fn links_lead_to_files() {
    let mut lost = String::new();
    for page in pages() {
        let text = fs::read_to_string(root().join(&page)).unwrap();
        for link in links(&text).iter().filter(|link| !link.contains("://")) {
            let file = link.split('#').next().unwrap();
            let target = root().join(page.parent().unwrap()).join(file);
            if !file.is_empty() && !target.exists() {
                lost += &format!("{}: {link}\n", page.display());
            }
        }
    }
    assert!(lost.is_empty(), "links that lead nowhere:\n{lost}");
}

/// The index of a folder has a link to each of these files.
#[track_caller]
fn lists(folder: &str, files: &BTreeSet<PathBuf>) {
    let index = fs::read_to_string(root().join(folder).join("README.md")).unwrap();
    let links: BTreeSet<PathBuf> = links(&index).into_iter().map(PathBuf::from).collect();
    let missing: Vec<&PathBuf> = files.difference(&links).collect();
    assert!(missing.is_empty(), "{folder}/README.md does not list {missing:?}");
}

#[test]
fn indexes_list_what_is_there() {
    lists("examples", &files(&root().join("examples"), "lgm", true));
    let mut docs = files(&root().join("docs"), "md", false);
    docs.remove(Path::new("README.md"));
    lists("docs", &docs);
    for folder in ["docs/tutorial", "docs/how-to", "docs/coming-from"] {
        let mut pages = files(&root().join(folder), "md", false);
        pages.remove(Path::new("README.md"));
        lists(folder, &pages);
    }
    let mut tests = files(&root().join("tests"), "rs", false);
    tests.remove(Path::new("main.rs"));
    lists("tests", &tests);
}

/// The patterns of queries: lines up to the one that closes their last bracket.
fn patterns(text: &str) -> Vec<String> {
    let (mut found, mut pattern, mut depth) = (Vec::new(), String::new(), 0);
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with(';')) {
        pattern.push_str(line);
        pattern.push('\n');
        let outside = line.split('"').step_by(2).flat_map(str::chars);
        depth += outside
            .map(|sign| i32::from("([".contains(sign)) - i32::from(")]".contains(sign)))
            .sum::<i32>();
        if depth == 0 {
            found.push(std::mem::take(&mut pattern));
        }
    }
    found
}

/// In Helix the first pattern has priority, elsewhere the last.
#[test]
fn queries_for_helix_are_the_others_backwards() {
    let folder = root().join("editors/tree-sitter-lgm/queries");
    let read = |name: &str| patterns(&fs::read_to_string(folder.join(name)).unwrap());
    let (mut expected, found) = (read("highlights.scm"), read("helix/highlights.scm"));
    expected.reverse();
    assert!(found.len() > 40 && found == expected, "{found:?}");
}

/// Examples have the layout of `lgm fmt`.
#[test]
fn examples_are_formatted() {
    let examples = files(&root().join("examples"), "lgm", true);
    assert!(examples.len() > 25, "{examples:?}");
    for example in examples {
        let text = fs::read_to_string(root().join("examples").join(&example)).unwrap();
        let mut sources = lgm::source::SourceMap::default();
        let id = sources.add("example.lgm", text.as_str(), None);
        let formatted = lgm::syntax::format(id, &text).unwrap();
        assert!(formatted == text, "`lgm fmt examples/{}`", example.display());
    }
}

/// Every command of the page about the source documents prints what its row shows.
#[test]
fn the_points_of_the_source_documents_are_printed() {
    let page = fs::read_to_string(root().join("docs/documents.md")).unwrap();
    let mut printed: std::collections::BTreeMap<String, String> = std::collections::BTreeMap::new();
    let mut count = 0;
    let (supported, _) = page.split_once("## Not supported").unwrap();
    for line in supported.lines().filter(|line| line.contains("| `lgm ")) {
        let cells: Vec<&str> = line.split(" | ").collect();
        let code = |cell: &str| cell.trim_matches([' ', '|', '`']).to_string();
        let (command, expected) = (code(cells[1]), code(cells[2]));
        let shown = printed.entry(command.clone()).or_insert_with(|| {
            let words: Vec<&str> = command.split_whitespace().skip(1).collect();
            let output = lgm(root(), &words);
            ends_with(&output, 0);
            out(&output)
        });
        assert!(
            shown.contains(&expected),
            "`{command}` does not print `{expected}`:\n{shown}"
        );
        count += 1;
    }
    assert!(count > 60, "{count}");
}
