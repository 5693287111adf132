//! A drawing as a standalone page with pan, zoom and search. The page works offline.

use super::svg::{Theme, escaped, svg_in};
use crate::drawing::Drawing;

/// Writes the page. Pointing at an element shows its connections and its description.
pub fn html(drawing: &Drawing) -> String {
    html_in(drawing, Theme::Auto)
}

/// Writes the page in these colours.
pub fn html_in(drawing: &Drawing, theme: Theme) -> String {
    let named = |part: &str| part.replace("TITLE", &escaped(&drawing.model));
    let picture = svg_in(drawing, theme);
    let dark = "body { background: #15181c; color: #ececec }";
    let rules = match theme {
        Theme::Light => String::new(),
        Theme::Dark => dark.to_string(),
        Theme::Auto => format!("@media (prefers-color-scheme: dark) {{ {dark} }}"),
    };
    // Split first, because inserted text may contain any word.
    let page = include_str!("page.html");
    match page
        .split_once("DARK")
        .and_then(|(before, rest)| Some((before, rest.split_once("PICTURE")?)))
    {
        Some((before, (middle, behind))) => {
            format!("{}{rules}{}{picture}{}", named(before), named(middle), named(behind))
        }
        None => picture,
    }
}
