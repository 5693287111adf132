//! Models in colours, by the grammar and the queries that editors use.

use std::error::Error;
use tree_sitter_highlight::{HighlightConfiguration, Highlighter, HtmlRenderer};
use tree_sitter_lgm::{HIGHLIGHTS_QUERY, LANGUAGE, LOCALS_QUERY};

/// The captures that have a class of their own; a dot becomes a dash there.
const CAPTURES: [&str; 14] = [
    "comment",
    "constant",
    "function",
    "keyword",
    "module",
    "number",
    "operator",
    "property",
    "punctuation",
    "string",
    "type",
    "type.builtin",
    "variable.builtin",
    "variable.parameter",
];

/// A model as HTML.
pub fn highlighted(text: &str) -> Result<String, Box<dyn Error>> {
    let mut configuration = HighlightConfiguration::new(LANGUAGE.into(), "lgm", HIGHLIGHTS_QUERY, "", LOCALS_QUERY)?;
    configuration.configure(&CAPTURES);
    let mut highlighter = Highlighter::new();
    let events = highlighter.highlight(&configuration, text.as_bytes(), None, None, |_| None)?;
    let mut renderer = HtmlRenderer::new();
    renderer.render(events, text.as_bytes(), &|highlight, out| {
        let class = CAPTURES[highlight.0].replace('.', "-");
        out.extend(format!("class=\"{class}\"").bytes());
    })?;
    Ok(String::from_utf8_lossy(&renderer.html).into_owned())
}
