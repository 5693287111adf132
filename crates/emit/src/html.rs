//! The document of a system as HTML with MathML, which browsers and editors display without scripts.

use crate::DocumentOptions;
use crate::document::{DocumentPart, Inline, document, stretched_document};
use crate::latex::aligned;
use lgm_model::system::StateSystem;
use pulldown_latex::config::{DisplayMode, RenderConfig};
use pulldown_latex::{Parser, Storage, push_mathml};

/// The style of a standalone page.
const PAGE: &str = "body { font-family: system-ui, sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; }\n\
    h2 { font-size: 1.1em; border-bottom: 1px solid #ccc; }\n";

/// The style of formulas in any page: a mathematical font if available, equations aligned at their signs, and space in
/// matrices.
pub(super) const FORMULAS: &str = "math { font-family: 'Latin Modern Math', 'STIX Two Math', 'Cambria Math', math; font-size: 1.15em; }\n\
    .math { overflow-x: auto; overflow-y: hidden; padding: 0.3em 0; }\n\
    .menv-alignlike mtd { math-style: normal; padding: 0.2em 0; }\n\
    .menv-alignlike mtd:nth-child(odd) { text-align: right; text-align: -webkit-right; }\n\
    .menv-alignlike mtd:nth-child(even) { text-align: left; text-align: -webkit-left; }\n\
    .menv-arraylike mtd { padding: 0.25em 0.5em; }\n";

/// Returns a standalone page with headings, equations and matrices. The page loads no external resources.
pub fn html(system: &StateSystem, options: impl Into<DocumentOptions>) -> String {
    page(&system.model, &html_body(system, options))
}

/// Returns the page that [`html`] would write for `count` sections. `systems` are the systems with `first` sections, one section more,
/// and so on; `states` are those of the long system.
pub fn stretched_html(
    systems: &[&StateSystem],
    counts: (u64, u64),
    states: usize,
    options: &DocumentOptions,
) -> Option<String> {
    let parts = stretched_document(systems, counts, states, options)?;
    Some(page(&systems.first()?.model, &body(&parts)))
}

fn page(title: &str, body: &str) -> String {
    let title = escaped(title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{title}</title>\n\
         <style>\n{PAGE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n"
    )
}

/// Returns the part between `<body>` and `</body>` of [`html`], to be inserted into another page.
pub fn html_body(system: &StateSystem, options: impl Into<DocumentOptions>) -> String {
    body(&document(system, &options.into()))
}

fn body(parts: &[DocumentPart]) -> String {
    let parts: String = parts.iter().map(part).collect();
    format!("<style>\n{FORMULAS}</style>\n{parts}")
}

fn part(part: &DocumentPart) -> String {
    match part {
        DocumentPart::Title(title) => format!("<h1>{}</h1>\n", escaped(title)),
        DocumentPart::Heading(title) => format!("<h2>{title}</h2>\n"),
        DocumentPart::Aligned(lines) => display(&aligned(lines)),
        DocumentPart::Formula(formula) | DocumentPart::Matrix(formula, _) => display(formula),
        DocumentPart::Text(text, _) => format!("<p>{}</p>\n", text.iter().map(inline).collect::<String>()),
    }
}

fn inline(piece: &Inline) -> String {
    match piece {
        Inline::Words(words) => escaped(words),
        Inline::Code(code) => format!("<code>{}</code>", escaped(code)),
        Inline::Formula(formula) => mathml(formula, DisplayMode::Inline),
    }
}

/// Prints a displayed formula.
pub(super) fn display(formula: &str) -> String {
    format!("<div class=\"math\">{}</div>\n", mathml(formula, DisplayMode::Block))
}

/// Returns a displayed formula in LaTeX as MathML.
pub fn displayed(latex: &str) -> String {
    mathml(latex, DisplayMode::Block)
}

fn mathml(formula: &str, display_mode: DisplayMode) -> String {
    let storage = Storage::new();
    let config = RenderConfig {
        display_mode,
        ..RenderConfig::default()
    };
    let mut out = String::new();
    match push_mathml(&mut out, Parser::new(formula, &storage), config) {
        Ok(()) => out,
        // The source of the formula is still readable.
        Err(_) => format!("<code>{}</code>", escaped(formula)),
    }
}

pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
