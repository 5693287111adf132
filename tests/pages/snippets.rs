//! The documentation matches the program: models compile and verify, commands print the shown output, and pictures
//! match the commands that draw them. The kinds of blocks are listed in `support/pages.rs`.
//!
//! With `UPDATE_GALLERY=1` pictures are rewritten.

use crate::support::pages;

use lgm::diagnostic::Severity;
use lgm::rendering::render;
use lgm::source::SourceMap;
use pages::{Block, PageFiles, blocks, package};
use std::fs;
use std::path::Path;

/// The diagnostics of a text in the language, if their worst severity is not the expected one.
fn fault_of_model(block: &Block, files: &PageFiles, worst: Option<Severity>) -> Option<String> {
    let mut map = SourceMap::default();
    let name = block.path().unwrap_or(Path::new("model.lgm"));
    let root = map.add(name.display().to_string(), block.text.as_str(), Some(name.into()));
    let request = lgm::Request {
        verify: true,
        ..lgm::Request::default()
    };
    let found = lgm::check(files, &mut map, root, &request);
    let has = |severity: Severity| found.iter().any(|diagnostic| diagnostic.severity == severity);
    let is_right = match worst {
        Some(Severity::Error) => has(Severity::Error),
        Some(_) => has(Severity::Warning) && !has(Severity::Error),
        None => !has(Severity::Warning) && !has(Severity::Error),
    };
    (!is_right).then(|| format!("{}\n{}", block.text, render(&map, &found, false)))
}

/// The errors of the commands of a block.
fn fault_of_console(text: &str, folder: &Path, fails: bool) -> Option<String> {
    let mut last = Some(0);
    for (command, shown) in pages::commands(text) {
        let (printed, code) = pages::printed(command, folder);
        // A page may omit the output of a command.
        let is_shown = shown.is_empty() || pages::is_as_shown(&shown, &printed);
        if !is_shown || !(fails || code == Some(0)) {
            return Some(format!("$ {command}\nends with {code:?} and prints\n{printed}"));
        }
        last = code;
    }
    (fails && last == Some(0)).then(|| format!("{text}\nends with 0"))
}

/// The errors of the pictures drawn by a page's commands.
fn faults_of_pictures(page: &Path, text: &str, drawn: &Path) -> Vec<String> {
    let mut faults = Vec::new();
    let links = text.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    for (name, _) in links.filter(|(name, _)| name.ends_with(".svg")) {
        let Ok(drawn) = fs::read_to_string(drawn.join(name)) else {
            continue;
        };
        let place = page.parent().unwrap().join(name);
        if std::env::var_os("UPDATE_GALLERY").is_some() {
            fs::write(&place, &drawn).unwrap();
        }
        let known = fs::read_to_string(&place).unwrap_or_default();
        let difference = pages::difference_of_pictures(&drawn, &known);
        faults.extend(difference.map(|words| format!("{name}: {words}; run with UPDATE_GALLERY=1, and look at it")));
    }
    faults
}

/// The errors of a page.
fn faults(page: &Path) -> Vec<String> {
    let text = fs::read_to_string(page).unwrap();
    let blocks = blocks(&text);
    let files = PageFiles::of(&blocks);
    let folder = pages::folder(&files, &text);
    let mut faults = Vec::new();
    for block in &blocks {
        if let Some(path) = block.path() {
            // A page may show a file again after extending it.
            pages::write(folder.path(), path, &block.text);
        }
        let kind = block.tag.split(" in ").next().unwrap_or("");
        faults.extend(match kind {
            "lgm" => fault_of_model(block, &files, None),
            "lgm warns" => fault_of_model(block, &files, Some(Severity::Warning)),
            "lgm fails" => fault_of_model(block, &files, Some(Severity::Error)),
            "console" => fault_of_console(&block.text, folder.path(), false),
            "console fails" => fault_of_console(&block.text, folder.path(), true),
            kind if kind.starts_with("lgm") || kind.starts_with("console") => {
                Some(format!("what is a block of `{kind}`?"))
            }
            _ => None,
        });
    }
    faults.extend(faults_of_pictures(page, &text, folder.path()));
    faults
}

/// All pages of a folder, without its subfolders.
#[track_caller]
fn holds(folder: &str, least: usize) {
    let mut pages: Vec<_> = fs::read_dir(package().join(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    pages.sort();
    assert!(pages.len() >= least, "{pages:?}");
    let only = std::env::var("LGM_PAGE").ok();
    let mut all = String::new();
    for page in pages
        .iter()
        .filter(|page| only.as_ref().is_none_or(|only| page.ends_with(only)))
    {
        for fault in faults(page) {
            all += &format!("==== {}: {fault}\n", page.display());
        }
    }
    assert!(all.is_empty(), "{all}");
}

#[test]
fn pages_do_what_they_say() {
    holds("docs", 20);
}

#[test]
fn lessons_do_what_they_say() {
    holds("docs/tutorial", 7);
}

#[test]
fn how_tos_do_what_they_say() {
    holds("docs/how-to", 7);
}

#[test]
fn pages_for_users_of_other_tools_do_what_they_say() {
    holds("docs/coming-from", 6);
}

/// The library reference matches the program's output, and each of its examples compiles between nodes of its domain.
#[test]
fn the_library_page_is_what_is_printed() {
    let folder = tempfile::tempdir().unwrap();
    let (printed, code) = pages::printed("lgm explain --library", folder.path());
    assert_eq!(code, Some(0));
    let place = package().join("docs/library.md");
    if std::env::var_os("UPDATE_GALLERY").is_some() {
        fs::write(&place, &printed).unwrap();
    }
    let known = fs::read_to_string(place).unwrap();
    assert!(
        known == printed,
        "run with UPDATE_GALLERY=1, and read the change of docs/library.md"
    );
}
