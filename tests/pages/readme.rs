//! README.md: its commands print the shown output, its picture matches the program's drawing, and docs/cli.md matches
//! the program's options.
//!
//! With `UPDATE_GALLERY=1`, the picture is rewritten.

use super::gallery::compare;
use lgm::source::SourceMap;
use lgm::syntax::token::{Token, is_reserved, lex};
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The model of the README.
const MODEL: &str = "examples/hoist.lgm";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The output of `lgm` in the root of the repository, on both streams.
fn printed(words: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_lgm"))
        .current_dir(root())
        .args(words.split_whitespace())
        .output()
        .unwrap();
    let (out, err) = (String::from_utf8(output.stdout), String::from_utf8(output.stderr));
    assert!(output.status.success(), "lgm {words}: {err:?}");
    out.unwrap() + &err.unwrap()
}

/// The command prints each line below it, in this order; `..` matches anything.
#[test]
fn commands_print_what_the_readme_shows() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let blocks = readme
        .split("```console\n")
        .skip(1)
        .map(|block| block.split("```").next().unwrap());
    let blocks: Vec<&str> = blocks.collect();
    let mut count = 0;
    for command in blocks.iter().flat_map(|block| block.split("$ lgm ").skip(1)) {
        let (words, shown) = command.split_once('\n').unwrap();
        let folder = tempfile::tempdir().unwrap();
        // Files are written elsewhere.
        let words: Vec<String> = words
            .split_whitespace()
            .map(|word| match word.contains('/') || !word.contains('.') {
                true => word.to_string(),
                false => folder.path().join(word).display().to_string(),
            })
            .collect();
        let printed = printed(&words.join(" "));
        let mut rest = printed.as_str();
        for part in shown
            .lines()
            .flat_map(|line| line.split(".."))
            .map(str::trim)
            .filter(|part| !part.is_empty())
        {
            let at = rest.find(part);
            let at = at.unwrap_or_else(|| panic!("lgm {words:?} prints no `{part}`:\n{printed}"));
            rest = &rest[at + part.len()..];
        }
        count += 1;
    }
    assert_eq!(count, 6);
}

#[test]
fn the_readme_has_about_ninety_lines() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let count = readme.lines().count();
    assert!(count <= 110, "{count} lines");
}

/// `cargo run -- man docs --format markdown` writes docs/cli.md.
#[test]
fn the_page_of_commands_is_what_the_command_line_accepts() {
    let folder = tempfile::tempdir().unwrap();
    printed(&format!("man {} --format markdown", folder.path().display()));
    let made = fs::read_to_string(folder.path().join("cli.md")).unwrap();
    let known = fs::read_to_string(root().join("docs/cli.md")).unwrap();
    assert!(made == known, "run `cargo run -- man docs --format markdown`");
    // Everything in the help is included.
    for (command, option) in [
        ("approximate", "--method"),
        ("convert", "--format"),
        ("reduce", "--interactive"),
        ("import lg2ss", "--graph"),
    ] {
        let (_, section) = made.split_once(&format!("\n## lgm {command}\n")).unwrap();
        assert!(
            section.split("\n## ").next().unwrap().contains(option),
            "{command} {option}"
        );
    }
}

/// One piece of text in the picture.
fn text(out: &mut String, x: f64, y: f64, colour: &str, words: &str) {
    let words = words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    writeln!(
        out,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" fill=\"{colour}\" xml:space=\"preserve\">{words}</text>"
    )
    .unwrap();
}

/// The width of a letter and the height of a line of code, in pixels.
const LETTER: f64 = 7.23;
const LINE: f64 = 17.0;

/// Lines of code; models are coloured by the tokens of the language.
fn code(out: &mut String, (x, y): (f64, f64), words: &str, is_model: bool) {
    let place = |at: usize| {
        let before = &words[..at];
        let column = before.rsplit('\n').next().unwrap().chars().count();
        (
            x + LETTER * column as f64,
            y + LINE * before.matches('\n').count() as f64,
        )
    };
    if !is_model {
        for (line, words) in words.lines().enumerate() {
            text(out, x, y + LINE * line as f64, "#24292e", words);
        }
        return;
    }
    let mut map = SourceMap::default();
    let lexed = lex(map.add("model.lgm", words, None), words);
    let (mut is_unit, mut before) = (false, "");
    for (from, token, to) in &lexed.tokens {
        let word = &words[*from..*to];
        // A list follows `=`.
        is_unit = (is_unit || word == "[" && before != "=") && word != "]";
        before = word;
        let colour = match token {
            _ if is_reserved(word) => "#a626a4",
            Token::Name(_) if is_unit => "#0b7285",
            Token::Name(name) if name.starts_with(char::is_uppercase) && name.len() > 1 => "#986801",
            _ if word.starts_with(|letter: char| letter.is_ascii_digit()) => "#0b7285",
            _ => "#24292e",
        };
        let (x, y) = place(*from);
        text(out, x, y, colour, word);
    }
    for (at, doc) in words.match_indices("///") {
        let (x, y) = place(at);
        let line = words[at..].lines().next().unwrap();
        assert_eq!(doc, "///");
        text(out, x, y, "#6a737d", line);
    }
}

/// A picture of the program in a rectangle of the composition.
fn nested(out: &mut String, (x, y, width): (f64, f64, f64), svg: &str) -> f64 {
    let (_, rest) = svg.split_once("viewBox=\"").unwrap();
    let view = rest.split('"').next().unwrap();
    let size: Vec<f64> = view.split(' ').map(|number| number.parse().unwrap()).collect();
    let height = (width * size[3] / size[2]).round();
    let (head, inner) = svg[svg.find("<svg").unwrap()..].split_once(">\n").unwrap();
    let attribute = |name: &str| {
        let value = head.split_once(&format!("{name}=\"")).unwrap().1;
        value.split('"').next().unwrap()
    };
    writeln!(
        out,
        "<svg x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" viewBox=\"{view}\" font-family=\"{}\" font-size=\"{}\">",
        attribute("font-family"),
        attribute("font-size")
    )
    .unwrap();
    out.push_str(inner);
    height
}

/// The sections of the printed equations under these headings.
fn sections(printed: &str, headings: &[&str]) -> String {
    let sections = printed.split("\n\n");
    let wanted = sections.filter(|section| headings.iter().any(|heading| section.trim_start().starts_with(heading)));
    wanted.map(str::trim).collect::<Vec<_>>().join("\n\n")
}

#[test]
fn the_picture_shows_the_model_its_drawing_its_equations_and_its_run() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    printed(&format!("draw {MODEL} --as bond-graph -o {}", file("bonds.svg")));
    printed(&format!(
        "simulate {MODEL} --plot {} -o {}",
        file("plot.svg"),
        file("rows.csv")
    ));
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    let model = fs::read_to_string(root().join(MODEL)).unwrap();
    let equations = sections(
        &printed(&format!("equations {MODEL}")),
        &["equations\n", "dependent storage\n"],
    );
    let mut inner = String::new();
    let caption = |inner: &mut String, x: f64, y: f64, words: &str| text(inner, x, y, "#57606a", words);
    caption(&mut inner, 20.0, 30.0, MODEL);
    code(&mut inner, (20.0, 60.0), model.trim_end(), true);
    let left = 60.0 + LINE * model.trim_end().lines().count() as f64 + 24.0;
    caption(&mut inner, 20.0, left, "$ lgm equations");
    code(&mut inner, (20.0, left + 30.0), &equations, false);
    let left = left + 30.0 + LINE * equations.lines().count() as f64;
    caption(&mut inner, 470.0, 30.0, "$ lgm draw --as bond-graph");
    let drawing = nested(&mut inner, (470.0, 44.0, 530.0), &read("bonds.svg"));
    caption(&mut inner, 470.0, 44.0 + drawing + 24.0, "$ lgm simulate --plot");
    let plot = nested(&mut inner, (470.0, 44.0 + drawing + 38.0, 530.0), &read("plot.svg"));
    let high = left.max(82.0 + drawing + plot) + 6.0;
    let picture = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1020\" height=\"{high:.0}\" viewBox=\"0 0 1020 {high:.0}\" role=\"img\" \
         font-family=\"ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace\" font-size=\"12\">\n\
         <title>A model, its bond graph, its equations and its run</title>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#ffffff\"/>\n{inner}</svg>\n"
    );
    compare("hoist", &root().join("docs/hoist.svg"), &picture);
}
