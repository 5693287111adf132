//! `lgm report`: one document in each notation, with all parts, or a sentence instead of each part that the model does
//! not have.

use crate::support;
use std::path::Path;
use support::command::{ends_with, err, lgm, out};

fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

const HEADINGS: [&str; 8] = [
    "Model",
    "Graph",
    "Causality",
    "Derivation",
    "Equations",
    "Poles",
    "Frequency response",
    "Run",
];

fn written(file: &str, format: &str, folder: &Path) -> String {
    let words = ["report", file, "-o", folder.to_str().unwrap(), "--format", format];
    let output = lgm(package(), &words);
    ends_with(&output, 0);
    let name = match format {
        "latex" => "report.tex",
        "markdown" => "report.md",
        "html" => "report.html",
        _ => "report.typ",
    };
    std::fs::read_to_string(folder.join(name)).unwrap()
}

#[test]
fn a_chapter_has_all_parts_in_each_notation() {
    let scratch = tempfile::tempdir().unwrap();
    for format in ["latex", "markdown", "html", "typst"] {
        let folder = scratch.path().join(format);
        let text = written("examples/lever.lgm", format, &folder);
        let mut from = 0;
        for heading in HEADINGS {
            let marked = match format {
                "latex" => format!("\\section*{{{heading}}}"),
                "markdown" => format!("\n## {heading}\n"),
                "html" => format!("<h2>{heading}</h2>"),
                _ => format!("\n== {heading}\n"),
            };
            let at = text[from..].find(&marked);
            from += at.unwrap_or_else(|| panic!("no {heading} behind the others in\n{text}"));
        }
        for part in ["one A, B : translational;", "I1"] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
        let graph = std::fs::read_to_string(folder.join("graph.svg")).unwrap();
        assert!(graph.starts_with("<svg"), "{graph}");
        assert!(folder.join("README.md").exists());
        // The folder was created by this program, and is replaced on request.
        let again = [
            "report",
            "examples/lever.lgm",
            "-o",
            folder.to_str().unwrap(),
            "--format",
            format,
        ];
        ends_with(&lgm(package(), &again), 2);
        ends_with(&lgm(package(), &[&again[..], &["--force"]].concat()), 0);
    }
}

#[test]
fn the_pictures_of_an_oscillator_are_all_there() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("oscillator");
    let text = written("examples/oscillator.lgm", "html", &folder);
    for picture in ["graph.svg", "response.svg", "run.svg"] {
        let svg = std::fs::read_to_string(folder.join(picture)).unwrap();
        assert!(svg.trim_end().ends_with("</svg>"), "{picture}");
        assert!(text.contains(svg.trim_end()), "{picture} stands in the page");
    }
    // Formulas are set as MathML, and no LaTeX remains.
    assert!(
        text.contains("<math") && !text.contains("\\frac") && !text.contains("\\tag"),
        "{text}"
    );
    assert!(
        !text.contains("http://") || !text.contains("src=\"http"),
        "nothing is loaded from elsewhere"
    );
}

#[test]
fn a_model_without_a_part_says_why() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("pendulum");
    let text = written("examples/pendulum.lgm", "markdown", &folder);
    assert!(text.contains("The equations are nonlinear."), "{text}");
    assert!(
        text.contains("There is no frequency response: it requires an input and an output."),
        "{text}"
    );
    let file = scratch.path().join("broken.lgm");
    std::fs::write(&file, "model Broken { node x : electrical; r : Resistor(1) x -> y; }").unwrap();
    let folder = scratch.path().join("broken");
    let output = lgm(
        package(),
        &["report", file.to_str().unwrap(), "-o", folder.to_str().unwrap()],
    );
    ends_with(&output, 1);
    assert!(err(&output).contains("`y`"), "{}{}", out(&output), err(&output));
    assert!(!folder.exists());
}

/// A Typst compiler accepts the chapters of all examples.
#[test]
fn chapters_are_documents_that_compile() {
    let Some(python) = support::emitted::python("typst") else {
        return;
    };
    let scratch = tempfile::tempdir().unwrap();
    let mut count = 0;
    for folder in ["", "switching"] {
        for entry in std::fs::read_dir(support::program::example(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|ending| ending != "lgm") {
                continue;
            }
            let name = path.file_stem().unwrap().to_str().unwrap();
            written(path.to_str().unwrap(), "typst", &scratch.path().join(name));
            count += 1;
        }
    }
    assert!(count > 25, "{count}");
    let script = "
import pathlib, sys, typst
for path in sorted(pathlib.Path(sys.argv[1]).glob('*/report.typ')):
    pages = typst.compile(str(path))
    assert pages[:4] == b'%PDF', path
    print(path)
";
    let output = std::process::Command::new(python)
        .args(["-c", script])
        .arg(scratch.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), count);
}
