//! Equations as HTML: every LaTeX formula is set as MathML, and no LaTeX remains in the text.

use crate::support;

use lgm::emit::{MatrixOptions, html, html_body, latex};
use support::emitted::examples;
use support::points::compiled;

/// The text of a page without its formulas and tags.
fn words(html: &str) -> String {
    let mut out = String::new();
    let html = html.split_once("</style>").map_or(html, |(_, html)| html);
    for part in html.split("<math") {
        let after = part.split_once("</math>").map_or(part, |(_, after)| after);
        let mut inside = false;
        for letter in after.chars() {
            match letter {
                '<' => inside = true,
                '>' => inside = false,
                _ if !inside => out.push(letter),
                _ => {}
            }
        }
    }
    out
}

#[test]
fn every_formula_of_every_example_is_set() {
    let mut formulas = 0;
    for path in examples() {
        let system = compiled(&path);
        let options = MatrixOptions::default();
        let body = html_body(&system, options);
        let source = latex(&system, options);
        let equivalents = system
            .dependent
            .iter()
            .filter(|storage| !storage.equivalent.is_empty())
            .count();
        let displays = source.matches("\\begin{align*}").count() + source.matches("\\[").count();
        assert_eq!(
            body.matches("display=\"block\"").count(),
            displays,
            "{}",
            path.display()
        );
        assert!(
            !body.contains("merror") && body.matches("<code>").count() == equivalents,
            "{}: a formula is not set",
            path.display()
        );
        let words = words(&body);
        assert!(!words.contains(['\\', '$', '{']), "{}: {words}", path.display());
        formulas += displays;
    }
    assert!(formulas > 100, "{formulas}");
}

#[test]
fn a_page_stands_by_itself() {
    let path = examples()
        .into_iter()
        .find(|path| path.ends_with("oscillator.lgm"))
        .unwrap();
    let page = html(&compiled(&path), MatrixOptions::default());
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    assert!(page.contains("<title>Oscillator</title>"));
    assert!(!page.contains("http://") && !page.contains("<script"), "{page}");
}

#[test]
fn dependent_storage_and_starts_are_in_documents_as_in_the_text() {
    let mut followers = 0;
    for path in examples() {
        let system = compiled(&path);
        let options = MatrixOptions::default();
        let (page, source) = (words(&html_body(&system, options)), latex(&system, options));
        followers += system.dependent.len();
        assert_eq!(page.matches("Dependent storage: ").count(), system.dependent.len());
        assert_eq!(source.matches("Dependent storage: ").count(), system.dependent.len());
        let started = system.states.iter().any(|state| state.start_value != 0.0);
        let is_said = started && system.linearized_at.is_none();
        assert_eq!(page.contains("Starts: "), is_said, "{}", path.display());
        assert_eq!(source.matches("(0) = ").count() > 0, is_said, "{}", path.display());
    }
    assert!(followers > 0);
}
