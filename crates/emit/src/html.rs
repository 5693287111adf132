//! The equations as HTML with MathML, which browsers and editors set without any script.
//!
//! What is written is what [`latex()`](crate::latex()) writes: there is one notation, and this is another way of setting it. The document
//! of [`crate::latex`] is read line by line; it has headings, displays and running text, and nothing else.

use crate::{MatrixOptions, latex};
use lgm_model::system::StateSystem;
use pulldown_latex::config::{DisplayMode, RenderConfig};
use pulldown_latex::{Parser, Storage, push_mathml};

/// The look of a page of its own.
const PAGE: &str = "body { font-family: system-ui, sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; }\n\
    h2 { font-size: 1.1em; border-bottom: 1px solid #ccc; }\n";

/// How formulas look in any page: a mathematical font if there is one, equations one below the other at their signs, and room in
/// matrices.
const FORMULAS: &str = "math { font-family: 'Latin Modern Math', 'STIX Two Math', 'Cambria Math', math; font-size: 1.15em; }\n\
    .math { overflow-x: auto; overflow-y: hidden; padding: 0.3em 0; }\n\
    .menv-alignlike mtd { math-style: normal; padding: 0.2em 0; }\n\
    .menv-alignlike mtd:nth-child(odd) { text-align: right; text-align: -webkit-right; }\n\
    .menv-alignlike mtd:nth-child(even) { text-align: left; text-align: -webkit-left; }\n\
    .menv-arraylike mtd { padding: 0.25em 0.5em; }\n";

/// A page of its own: headings, equations, matrices. Nothing in it is loaded from elsewhere.
pub fn html(system: &StateSystem, options: MatrixOptions) -> String {
    let title = escaped(&system.model);
    let body = html_body(system, options);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{title}</title>\n\
         <style>\n{PAGE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n"
    )
}

/// What stands between `<body>` and `</body>` of [`html`], to be put into another page.
pub fn html_body(system: &StateSystem, options: MatrixOptions) -> String {
    let document = latex(system, options);
    let body = document.split_once("\\begin{document}\n").map_or("", |(_, body)| body);
    let body = body.split_once("\\end{document}").map_or(body, |(body, _)| body);
    let mut page = Page::default();
    let mut lines = body.lines();
    while let Some(line) = lines.next() {
        if let Some(title) = heading(line, "\\section*{") {
            page.tag("h1", title);
        } else if let Some(title) = heading(line, "\\subsection*{") {
            page.tag("h2", title);
        } else if line == "\\begin{align*}" {
            let rows: Vec<&str> = lines.by_ref().take_while(|line| *line != "\\end{align*}").collect();
            page.display(&format!("\\begin{{align*}}\n{}\n\\end{{align*}}", rows.join("\n")));
        } else if let Some((_, first)) = line.split_once("\\[") {
            let mut formula = first.to_string();
            while !formula.contains("\\]") {
                let Some(next) = lines.next() else { break };
                formula.push('\n');
                formula.push_str(next);
            }
            let inner = formula.split_once("\\]").map_or(&*formula, |(inner, _)| inner);
            page.display(inner);
        } else {
            page.text(line);
        }
    }
    page.end_paragraph();
    format!("<style>\n{FORMULAS}</style>\n{}", page.out)
}

/// What stands in braces after a command at the start of a line.
fn heading<'l>(line: &'l str, command: &str) -> Option<&'l str> {
    line.strip_prefix(command)?.strip_suffix('}')
}

/// A page in the making.
#[derive(Default)]
struct Page {
    out: String,
    /// The paragraph that is open, in LaTeX.
    paragraph: String,
}

impl Page {
    fn tag(&mut self, name: &str, title: &str) {
        self.end_paragraph();
        self.out.push_str(&format!("<{name}>{}</{name}>\n", running(title)));
    }

    fn display(&mut self, formula: &str) {
        self.end_paragraph();
        let math = mathml(formula, DisplayMode::Block);
        self.out.push_str(&format!("<div class=\"math\">{math}</div>\n"));
    }

    /// A line of running text; `\par` ends its paragraph.
    fn text(&mut self, line: &str) {
        let ended = line.strip_suffix("\\par");
        if !self.paragraph.is_empty() {
            self.paragraph.push(' ');
        }
        self.paragraph.push_str(ended.unwrap_or(line));
        if ended.is_some() {
            self.end_paragraph();
        }
    }

    fn end_paragraph(&mut self) {
        let paragraph = std::mem::take(&mut self.paragraph);
        if !paragraph.trim().is_empty() {
            self.out.push_str(&format!("<p>{}</p>\n", running(&paragraph)));
        }
    }
}

/// Running text: formulas between dollars, and words.
fn running(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((words, (formula, after))) = next_formula(rest) {
        out.push_str(&plain(words));
        out.push_str(&mathml(formula, DisplayMode::Inline));
        rest = after;
    }
    out.push_str(&plain(rest));
    out
}

/// The words before the next formula, the formula, and what follows. A dollar after a backslash is one of the text.
fn next_formula(text: &str) -> Option<(&str, (&str, &str))> {
    let dollar = |text: &str| {
        let mut places = text.match_indices('$').map(|found| found.0);
        places.find(|at| !text[..*at].ends_with('\\'))
    };
    let start = dollar(text)?;
    let length = dollar(&text[start + 1..])?;
    let (formula, after) = (&text[start + 1..start + 1 + length], &text[start + length + 2..]);
    Some((&text[..start], (formula, after)))
}

/// Words of LaTeX as HTML: the characters that are commands there are themselves again.
fn plain(words: &str) -> String {
    let words = words
        .replace("\\textbackslash{}", "\u{0}")
        .replace("\\textasciicircum{}", "^")
        .replace("\\textasciitilde{}", "\u{1}")
        .replace('~', "\u{a0}");
    let mut text = String::with_capacity(words.len());
    let mut letters = words.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => text.extend(letters.next()),
            '\u{0}' => text.push('\\'),
            '\u{1}' => text.push('~'),
            _ => text.push(letter),
        }
    }
    escaped(&text)
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

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::{plain, running};

    #[test]
    fn words_are_themselves_again() {
        assert_eq!(
            plain("a\\_b \\& c~< \\$5 \\textbackslash{}"),
            "a_b &amp; c\u{a0}&lt; $5 \\"
        );
    }

    #[test]
    fn formulas_stand_between_words() {
        let html = running("States: $v_{1}$~$[\\mathrm{m/s}]$.");
        assert!(html.starts_with("States: <math"), "{html}");
        assert_eq!(html.matches("<math").count(), 2);
        assert!(html.ends_with("</math>."), "{html}");
    }
}
