//! The pages about diagnostic codes: every code has one, and their examples behave as described.
//!
//! A page holds blocks of these kinds:
//!
//! - `lgm fails`: the compiler answers with the code of the page, and with no error of another code;
//! - `lgm`: the mended text compiles, verifies, and is not answered with the code of the page;
//! - `lgm in PATH`: a file that the other blocks may import; `csv in PATH`: a table;
//! - `console fails` and `console`: the same for commands. A line that starts with `$ ` is run in a folder with the
//!   files of `examples/` and those of the page; the other lines are found in what it prints.

use crate::support::pages;

use lgm::codes::PAGES;
use lgm::diagnostic::{Diagnostic, Severity};
use lgm::rendering::render;
use lgm::source::SourceMap;
use pages::{Block, PageFiles, blocks, files_below, package};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::{Arc, Mutex, OnceLock};

/// Pages without a failing example, with the reason and, if one exists, a replacement test.
const WITHOUT_FAILURE: [(&str, &str); 8] = [
    (
        "LGM0940",
        "it takes a fault of the compiler; elements that stay in the text are a remark",
    ),
    (
        "LGM0931",
        "it takes poles that crowd all around a circle in a model of thousands of states",
    ),
    (
        "LGM0714",
        "it takes forces of a closed chain that divide by what vanishes: verification.rs has one",
    ),
    (
        "LGM1032",
        "it takes a run that is wrong: run_verification.rs changes rows after they were made",
    ),
    ("LGM0105", "it takes 257 files: imports.rs makes them"),
    ("LGM0501", "it takes a model that takes minutes"),
    ("LGM0421", "it takes rounding of the unlucky kind"),
    (
        "LGM0711",
        "it takes a fault of the compiler: verification.rs changes equations after they were made",
    ),
];

fn has_no_failure(code: &str) -> bool {
    WITHOUT_FAILURE.iter().any(|entry| entry.0 == code)
}

/// Every code in a text.
fn codes_in(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("Code::LGM").filter_map(|(at, _)| {
        let code = text.get(at + 6..at + 13)?;
        code[3..].bytes().all(|byte| byte.is_ascii_digit()).then_some(code)
    })
}

#[test]
fn every_code_in_use_has_a_page_and_every_page_a_code_in_use() {
    let mut files = Vec::new();
    files_below(&package().join("src"), &mut files);
    files_below(&package().join("crates"), &mut files);
    files.retain(|path| !path.ends_with("source/src/codes.rs") && !path.ends_with("cli/explain.rs"));
    let texts: Vec<String> = files.iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    let mut used: BTreeSet<&str> = texts.iter().flat_map(|text| codes_in(text)).collect();
    used.insert("LGM0906");
    let paged: BTreeSet<&str> = PAGES.iter().map(|page| page.code.as_str()).collect();
    let without: Vec<_> = used.difference(&paged).collect();
    assert!(
        without.is_empty(),
        "write docs/codes/CODE.md for {without:?}, and rebuild"
    );
    let unused: Vec<_> = paged.difference(&used).collect();
    assert!(unused.is_empty(), "nothing says {unused:?} any more: delete the pages");
    assert!(
        PAGES.is_sorted_by(|a, b| a.code < b.code),
        "pages are listed in order, once each"
    );

    let mut files = Vec::new();
    files_below(&package().join("docs/codes"), &mut files);
    let written: BTreeSet<String> = files
        .iter()
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    let written: BTreeSet<&str> = written.iter().map(String::as_str).collect();
    assert_eq!(written, paged, "the files of docs/codes are the pages");
}

/// Results for examples, complete or under way, by the code and the text.
type Known<T> = Mutex<BTreeMap<(String, String), Arc<OnceLock<Arc<T>>>>>;

/// The result for an example, computed once.
fn once<T>(known: &Known<T>, code: &str, text: &str, compute: impl FnOnce() -> T) -> Arc<T> {
    let key = (code.to_string(), text.to_string());
    let place = Arc::clone(known.lock().unwrap().entry(key).or_default());
    Arc::clone(place.get_or_init(|| Arc::new(compute())))
}

/// A text and what `check --verify` says of it.
type Checked = (SourceMap, Vec<Diagnostic>);

/// What `check --verify` says of an example of a page. Two tests ask for it.
fn checked(code: &str, text: &str, files: &PageFiles) -> Arc<Checked> {
    static KNOWN: Known<Checked> = Mutex::new(BTreeMap::new());
    once(&KNOWN, code, text, || {
        let mut map = SourceMap::default();
        let root = map.add("model.lgm", text, Some("model.lgm".into()));
        let request = lgm::Request {
            verify: true,
            ..lgm::Request::default()
        };
        let found = lgm::check(files, &mut map, root, &request);
        (map, found)
    })
}

/// A command of a page, its standard output and standard error, and its exit code.
type Ran = (String, [String; 2], Option<i32>);

/// The commands of an example of a page, run in one folder. Two tests ask for those that fail.
fn ran(code: &str, text: &str, files: &PageFiles) -> Arc<Vec<Ran>> {
    static KNOWN: Known<Vec<Ran>> = Mutex::new(BTreeMap::new());
    once(&KNOWN, code, text, || {
        let folder = pages::folder(files, text);
        let lines = text.lines().filter_map(|line| line.strip_prefix("$ "));
        let run = |line: &str| {
            let (streams, ended) = pages::apart(line, folder.path());
            (line.to_string(), streams, ended)
        };
        lines.map(run).collect()
    })
}

/// The errors of an example in the language.
fn fault_of_model(code: &str, text: &str, files: &PageFiles, fails: bool) -> Option<String> {
    let answer = checked(code, text, files);
    let (map, found) = &*answer;
    let said = found.iter().any(|diagnostic| diagnostic.code == code);
    let other = found
        .iter()
        .any(|diagnostic| diagnostic.severity == Severity::Error && (!fails || diagnostic.code != code));
    let right = said == fails && !other;
    (!right).then(|| format!("{text}\n{}", render(map, found, false)))
}

/// The errors of an example on the command line.
fn fault_of_console(code: &str, text: &str, files: &PageFiles, fails: bool) -> Option<String> {
    let ran = ran(code, text, files);
    let codes: Vec<Option<i32>> = ran.iter().map(|(_, _, ended)| *ended).collect();
    let printed: String = ran.iter().flat_map(|(_, streams, _)| streams.clone()).collect();
    let ends_right = match fails {
        // A warning does not make the command fail.
        true => printed.contains(&format!("[{code}]")),
        false => codes.iter().all(|code| *code == Some(0)) && !printed.contains(&format!("[{code}]")),
    };
    let promised = text.lines().filter(|line| !line.starts_with("$ ") && *line != "..");
    let missing: Vec<&str> = promised.filter(|line| !printed.contains(line.trim())).collect();
    let right = !codes.is_empty() && ends_right && missing.is_empty();
    (!right).then(|| format!("{text}\nended with {codes:?}, lacks {missing:?}, and printed\n{printed}"))
}

/// All format errors of a page.
fn faults_of_form(code: &str, page: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let mut fault = |words: &str| faults.push(words.to_string());
    let first = page.lines().next().unwrap_or("");
    if !first.starts_with(&format!("# {code}: ")) || first.ends_with('.') {
        fault("the first line is `# CODE: title`, without a full stop");
    }
    let headings: Vec<&str> = page.lines().filter(|line| line.starts_with("## ")).collect();
    if headings != ["## Meaning", "## Reason", "## Fix"] {
        fault("the sections are Meaning, Reason and Fix");
    }
    if page.contains('\u{2014}') || page.contains('\u{2013}') {
        fault("a dash is no sentence: write two");
    }
    if page.lines().any(|line| line.len() > 120) {
        fault("a line is longer than 120 characters");
    }
    if !page.matches("```").count().is_multiple_of(2) || !page.ends_with('\n') {
        fault("a fence is open");
    }
    let tags: Vec<String> = blocks(page).into_iter().map(|block| block.tag).collect();
    let has = |wanted: [&str; 2]| tags.iter().any(|tag| wanted.contains(&tag.as_str()));
    if has(["lgm fails", "console fails"]) == has_no_failure(code) {
        fault("a page has a failing example, or a reason in WITHOUT_FAILURE");
    }
    if !has(["lgm", "console"]) && !has_no_failure(code) {
        fault("a page has a mended example");
    }
    faults
}

#[test]
fn every_page_has_its_form_and_its_examples_do_what_it_says() {
    let mut faults = String::new();
    for page in PAGES {
        // Read at run time, so that a page can be written without rebuilding the compiler.
        let text = fs::read_to_string(package().join(format!("docs/codes/{}.md", page.code.as_str()))).unwrap();
        let blocks = blocks(&text);
        let files = PageFiles::of(&blocks);
        let mut found = faults_of_form(page.code.as_str(), &text);
        for Block { tag, text } in &blocks {
            found.extend(match tag.as_str() {
                "lgm fails" => fault_of_model(page.code.as_str(), text, &files, true),
                "lgm" => fault_of_model(page.code.as_str(), text, &files, false),
                "console fails" => fault_of_console(page.code.as_str(), text, &files, true),
                "console" => fault_of_console(page.code.as_str(), text, &files, false),
                "text" => None,
                tag if tag.starts_with("lgm in ") || tag.starts_with("csv in ") => None,
                tag => Some(format!("nobody knows what to do with a block of `{tag}`")),
            });
        }
        for fault in found {
            faults.push_str(&format!("==== {}: {fault}\n", page.code.as_str()));
        }
    }
    assert!(faults.is_empty(), "{faults}");
}

/// Codes whose location is a gap between two words, where something is missing.
const BETWEEN_WORDS: [&str; 4] = ["LGM0030", "LGM0032", "LGM0034", "LGM0049"];

/// The format errors of a diagnostic from an example of a page.
fn faults_of_diagnostic(map: &SourceMap, diagnostic: &Diagnostic) -> Vec<String> {
    let mut faults = Vec::new();
    if diagnostic.message.is_empty() || diagnostic.message.ends_with('.') {
        faults.push("its message is a sentence without a full stop".to_string());
    }
    if diagnostic.labels.is_empty() {
        faults.push("it has no place".to_string());
    }
    for label in &diagnostic.labels {
        let text = &map.get(label.span.source).text;
        let words = text.get(label.span.start as usize..label.span.end as usize);
        let is_gap = words == Some("") && BETWEEN_WORDS.contains(&diagnostic.code.as_str());
        if !is_gap && words.is_none_or(|words| words.trim() != words || words.is_empty()) {
            faults.push(format!(
                "the place of `{}` is not the exact words: {words:?}",
                label.message
            ));
        }
        if label.message.is_empty() {
            faults.push("a place has no words, so that it is not drawn".to_string());
        }
    }
    if diagnostic.severity != Severity::Information && diagnostic.help.as_ref().is_none_or(String::is_empty) {
        faults.push("no help says what to write".to_string());
    }
    faults
}

/// The source and rendered errors of a page's failing examples.
fn shown(code: &str, text: &str, faults: &mut String) -> String {
    let blocks = blocks(text);
    let files = PageFiles::of(&blocks);
    let mut out = String::new();
    for Block { tag, text } in &blocks {
        match tag.as_str() {
            "lgm fails" => {
                let answer = checked(code, text, &files);
                let (map, found) = &*answer;
                let places = |diagnostic: &Diagnostic| diagnostic.labels.first().map(|label| label.span);
                assert!(found.is_sorted_by_key(places), "{code}: not in source order");
                for diagnostic in found {
                    for fault in faults_of_diagnostic(map, diagnostic) {
                        faults.push_str(&format!("==== {code} ({}): {fault}\n", diagnostic.code));
                    }
                }
                out.push_str(&format!("{}\n\n{}\n", text.trim_end(), render(map, found, false)));
            }
            "console fails" => {
                for (line, [_, printed], _) in ran(code, text, &files).iter() {
                    let needs_help = printed.contains("] Error") || printed.contains("] Warning");
                    if needs_help && !printed.contains("Help: ") {
                        faults.push_str(&format!("==== {code}: `{line}` gets no help\n"));
                    }
                    out.push_str(&format!("$ {line}\n{printed}\n"));
                }
            }
            _ => {}
        }
    }
    out.lines()
        .map(|line| format!("{}\n", steady(line.trim_end())))
        .collect()
}

/// The line without the digits of a failed run that depend on the last bit of a sine.
fn steady(line: &str) -> String {
    let mut line = line.to_string();
    for (before, after) in [("after ", " steps"), ("fails at ", " s:"), ("the states there: ", "")] {
        let Some((head, rest)) = line.split_once(before) else {
            continue;
        };
        let end = match after {
            "" => Some(rest.len()),
            _ => rest.find(after),
        };
        // A corner in time is met exactly, and is short.
        if let Some(end) = end.filter(|end| *end > 3 || after == " steps") {
            line = format!("{head}{before}..{}", &rest[end..]);
        }
    }
    line
}

#[test]
fn every_code_is_shown_with_its_place_and_a_help_that_says_what_to_write() {
    let mut faults = String::new();
    let mut cases = Vec::new();
    for page in PAGES.iter().filter(|page| !has_no_failure(page.code.as_str())) {
        cases.push((page.code.as_str(), shown(page.code.as_str(), page.text, &mut faults)));
    }
    assert!(faults.is_empty(), "{faults}");
    assert!(cases.len() >= 80, "only {} error cases", cases.len());
    for (code, text) in cases {
        insta::assert_snapshot!(code, text);
    }
}
