//! A chapter about a model: headings, text, formulas and figures, as LaTeX, Markdown, HTML or Typst.
//!
//! Separate printers create the parts; this module combines them into one document.

use crate::html::{FORMULAS, display, escaped as html_escaped};
use crate::latex_words::escaped as latex_escaped;

/// The notation of a chapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// A standalone document that needs `amsmath`, `fancyvrb` and `graphicx`.
    Latex,
    /// Markdown with formulas between dollar signs.
    Markdown,
    /// A page that loads no external resources.
    Html,
    /// A Typst document.
    Typst,
}

impl Notation {
    /// Returns the extension of files in this notation.
    pub fn ending(self) -> &'static str {
        match self {
            Notation::Latex => "tex",
            Notation::Markdown => "md",
            Notation::Html => "html",
            Notation::Typst => "typ",
        }
    }
}

/// A part of a section.
#[derive(Clone, Debug, PartialEq)]
pub enum ChapterPart {
    /// A paragraph.
    Words(String),
    /// A subheading.
    Heading(String),
    /// A preformatted text.
    Text(String),
    /// A numbered formula in LaTeX, preceded by text.
    Formula {
        /// The text before the formula; `code` is between backquotes.
        words: String,
        /// The formula.
        latex: String,
        /// The formula in Typst.
        typst: String,
        /// The number of the formula.
        number: usize,
    },
    /// A figure in a file next to the document.
    Picture {
        /// The file name without the extension `.svg`.
        file: String,
        /// The subject of the figure.
        shows: String,
        /// The figure as SVG.
        svg: String,
    },
    /// Text that another printer wrote in the notation of the chapter.
    Made(String),
}

/// A section with its heading.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// The heading.
    pub heading: String,
    /// The parts.
    pub parts: Vec<ChapterPart>,
}

/// Returns the document. `columns` is the largest number of columns of a matrix.
pub fn chapter(title: &str, sections: &[Section], notation: Notation, columns: usize) -> String {
    let mut body = String::new();
    for section in sections {
        body.push_str(&heading(&section.heading, 2, notation));
        for part in &section.parts {
            body.push_str(&written(part, notation));
        }
    }
    match notation {
        Notation::Latex => format!(
            "\\documentclass{{article}}\n\\usepackage{{amsmath}}\n\\usepackage{{fancyvrb}}\n\\usepackage{{graphicx}}\n\
             \\setcounter{{MaxMatrixCols}}{{{columns}}}\n\\setlength{{\\textwidth}}{{170mm}}\n\
             \\setlength{{\\oddsidemargin}}{{-5mm}}\n\\setlength{{\\textheight}}{{230mm}}\n\\setlength{{\\topmargin}}{{-10mm}}\n\
             \\setlength{{\\parindent}}{{0pt}}\n\\allowdisplaybreaks\n\
             \\newcommand{{\\drawn}}[1]{{\\IfFileExists{{#1.pdf}}{{\\includegraphics[width=\\linewidth]{{#1.pdf}}}}\
             {{The picture is \\texttt{{#1.svg}}.}}\\par}}\n\
             \\begin{{document}}\n\\title{{{0}}}\n\\date{{}}\n\\maketitle\n{body}\\end{{document}}\n",
            latex_escaped(title)
        ),
        Notation::Markdown => format!("# {}\n{body}", markdown(title)),
        Notation::Html => format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{0}</title>\n<style>\n{PAGE}{FORMULAS}</style>\n\
             </head>\n<body>\n<h1>{0}</h1>\n{body}</body>\n</html>\n",
            html_escaped(title)
        ),
        Notation::Typst => format!(
            "#set page(margin: 20mm)\n#show raw.where(block: true): set text(size: 0.7em)\n= {}\n{body}",
            typst(title)
        ),
    }
}

/// The style of the page, in light and dark themes.
const PAGE: &str = ":root { color-scheme: light dark; }\n\
    body { font-family: system-ui, sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; line-height: 1.45; }\n\
    h2 { margin-top: 2em; border-bottom: 1px solid #8886; }\n\
    pre { overflow-x: auto; padding: 0.8em 1em; border: 1px solid #8884; border-radius: 4px; line-height: 1.3; }\n\
    figure { margin: 1em 0; overflow-x: auto; }\n\
    figure svg { max-width: 100%; height: auto; }\n\
    figcaption { color: #808080; font-size: 0.9em; }\n\
    .formula { display: flex; align-items: center; gap: 1em; }\n\
    .formula .math { flex: 1; }\n";

fn heading(words: &str, level: usize, notation: Notation) -> String {
    match (notation, level) {
        (Notation::Latex, 2) => format!("\n\\section*{{{}}}\n", latex_escaped(words)),
        (Notation::Latex, _) => format!("\n\\subsection*{{{}}}\n", latex_escaped(words)),
        (Notation::Markdown, _) => format!("\n{} {}\n", "#".repeat(level), markdown(words)),
        (Notation::Html, _) => format!("<h{level}>{}</h{level}>\n", html_escaped(words)),
        (Notation::Typst, _) => format!("\n{} {}\n", "=".repeat(level), typst(words)),
    }
}

fn written(part: &ChapterPart, notation: Notation) -> String {
    match part {
        ChapterPart::Words(text) => match notation {
            Notation::Latex => format!("{}\\par\n", coded(text, "\\texttt{", "}", latex_escaped)),
            Notation::Markdown => format!("\n{}\n", coded(text, "`", "`", markdown)),
            Notation::Html => format!("<p>{}</p>\n", coded(text, "<code>", "</code>", html_escaped)),
            Notation::Typst => format!("\n{}\n", coded(text, "`", "`", typst)),
        },
        ChapterPart::Heading(words) => heading(words, 3, notation),
        ChapterPart::Text(text) => {
            let text = text.trim_end();
            match notation {
                Notation::Latex => format!(
                    "\\begin{{Verbatim}}[fontsize=\\scriptsize]\n{}\n\\end{{Verbatim}}\n",
                    text.replace("\\end{Verbatim}", "\\end {Verbatim}")
                ),
                Notation::Markdown | Notation::Typst => {
                    let fence = fence(text);
                    format!("\n{fence}\n{text}\n{fence}\n")
                }
                Notation::Html => format!("<pre>{}</pre>\n", html_escaped(text)),
            }
        }
        ChapterPart::Formula {
            words,
            latex,
            typst: of_typst,
            number,
        } => {
            let before = match words.is_empty() {
                true => String::new(),
                false => written(&ChapterPart::Words(format!("{words}:")), notation),
            };
            match notation {
                Notation::Latex => format!("{before}\\[ {latex} \\tag{{{number}}} \\]\n"),
                Notation::Markdown => format!("{before}\n$$ {latex} \\tag{{{number}}} $$\n"),
                Notation::Html => format!(
                    "{before}<div class=\"formula\">{}<span>({number})</span></div>\n",
                    display(latex)
                ),
                Notation::Typst => {
                    format!("{before}\n#grid(columns: (1fr, auto), align: horizon, [$ {of_typst} $], [({number})])\n")
                }
            }
        }
        ChapterPart::Picture { file, shows, svg } => match notation {
            Notation::Latex => format!("\\drawn{{{file}}}\n"),
            Notation::Markdown => format!("\n![{}]({file}.svg)\n", markdown(shows)),
            Notation::Html => format!(
                "<figure>{svg}<figcaption>{}</figcaption></figure>\n",
                html_escaped(shows)
            ),
            Notation::Typst => format!("\n#image(\"{file}.svg\", width: 100%)\n"),
        },
        ChapterPart::Made(text) => format!("\n{text}\n"),
    }
}

/// Returns enough backquotes to enclose a text.
fn fence(text: &str) -> String {
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    "`".repeat((longest + 1).max(3))
}

/// Marks the text between backquotes as code.
fn coded(text: &str, open: &str, close: &str, escape: fn(&str) -> String) -> String {
    let pieces = text.split('`').enumerate().map(|(at, piece)| match at % 2 {
        0 => escape(piece),
        // Code in Markdown and in Typst stays unchanged.
        _ if open == "`" => format!("`{piece}`"),
        _ => format!("{open}{}{close}", escape(piece)),
    });
    pieces.collect()
}

/// Escapes text for Markdown.
fn markdown(text: &str) -> String {
    escaped_with_backslash(text, "\\`*_[]<>$#|")
}

/// Escapes text for Typst.
fn typst(text: &str) -> String {
    escaped_with_backslash(text, "\\`*_[]<>$#@")
}

fn escaped_with_backslash(text: &str, special: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if special.contains(letter) {
            out.push('\\');
        }
        out.push(letter);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_escaped_and_code_is_not() {
        let part = ChapterPart::Words("50% of `m_1` & x_2".to_string());
        assert_eq!(
            written(&part, Notation::Latex),
            "50\\% of \\texttt{m\\_1} \\& x\\_2\\par\n"
        );
        assert_eq!(written(&part, Notation::Markdown), "\n50% of `m_1` & x\\_2\n");
        assert_eq!(
            written(&part, Notation::Html),
            "<p>50% of <code>m_1</code> &amp; x_2</p>\n"
        );
        assert_eq!(fence("a ``` b"), "````");
    }
}
