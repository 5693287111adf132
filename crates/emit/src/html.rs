//! The document of a system as HTML with MathML, which browsers and editors set without any script.

use crate::DocumentOptions;
use crate::document::{Inline, Part, document, stretched_document};
use crate::latex::aligned;
use lgm_model::system::StateSystem;
use pulldown_latex::config::{DisplayMode, RenderConfig};
use pulldown_latex::{Parser, Storage, push_mathml};

/// The look of a page of its own.
const PAGE: &str = "body { font-family: system-ui, sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; }\n\
    h2 { font-size: 1.1em; border-bottom: 1px solid #ccc; }\n";

/// How formulas look in any page: a mathematical font if there is one, equations one below the other at their signs, and room in
/// matrices.
pub(super) const FORMULAS: &str = "math { font-family: 'Latin Modern Math', 'STIX Two Math', 'Cambria Math', math; font-size: 1.15em; }\n\
    .math { overflow-x: auto; overflow-y: hidden; padding: 0.3em 0; }\n\
    .menv-alignlike mtd { math-style: normal; padding: 0.2em 0; }\n\
    .menv-alignlike mtd:nth-child(odd) { text-align: right; text-align: -webkit-right; }\n\
    .menv-alignlike mtd:nth-child(even) { text-align: left; text-align: -webkit-left; }\n\
    .menv-arraylike mtd { padding: 0.25em 0.5em; }\n";

/// A page of its own: headings, equations, matrices. Nothing in it is loaded from elsewhere.
pub fn html(system: &StateSystem, options: impl Into<DocumentOptions>) -> String {
    page(&system.model, &html_body(system, options))
}

/// The result of [`html`] for `count` sections, if `systems` are the systems of `first` sections, one section more, and so on; `states`
/// are those of the long system.
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

/// The part between `<body>` and `</body>` of [`html`], to be put into another page.
pub fn html_body(system: &StateSystem, options: impl Into<DocumentOptions>) -> String {
    body(&document(system, &options.into()))
}

fn body(parts: &[Part]) -> String {
    let parts: String = parts.iter().map(part).collect();
    format!("<style>\n{FORMULAS}</style>\n{parts}")
}

fn part(part: &Part) -> String {
    match part {
        Part::Title(title) => format!("<h1>{}</h1>\n", escaped(title)),
        Part::Heading(title) => format!("<h2>{title}</h2>\n"),
        Part::Aligned(lines) => display(&aligned(lines)),
        Part::Formula(formula) | Part::Matrix(formula, _) => display(formula),
        Part::Text(text, _) => format!("<p>{}</p>\n", text.iter().map(inline).collect::<String>()),
    }
}

fn inline(piece: &Inline) -> String {
    match piece {
        Inline::Words(words) => escaped(words),
        Inline::Code(code) => format!("<code>{}</code>", escaped(code)),
        Inline::Formula(formula) => mathml(formula, DisplayMode::Inline),
    }
}

/// A formula on lines of its own.
pub(super) fn display(formula: &str) -> String {
    format!("<div class=\"math\">{}</div>\n", mathml(formula, DisplayMode::Block))
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
        // Shown as it is written, which can still be read.
        Err(_) => format!("<code>{}</code>", escaped(formula)),
    }
}

pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
