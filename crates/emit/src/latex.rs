//! The document of a system as LaTeX that requires only amsmath.

use crate::DocumentOptions;
use crate::document::{After, DocumentPart, Inline, Type, document, most_columns, stretched_document};
use crate::latex_words::escaped;
use lgm_model::system::StateSystem;

/// Returns a standalone document that requires only `\documentclass{article}` and amsmath.
pub fn latex(system: &StateSystem, options: impl Into<DocumentOptions>) -> String {
    standalone(&latex_body(system, options), columns(system))
}

/// Returns the document that [`latex`] would write for `count` sections. `systems` are the systems with `first` sections, one section
/// more, and so on; `states` are those of the long system.
pub fn stretched_latex(
    systems: &[&StateSystem],
    counts: (u64, u64),
    states: usize,
    options: &DocumentOptions,
) -> Option<String> {
    let parts = stretched_document(systems, counts, states, options)?;
    Some(standalone(&body(&parts), columns(systems.first()?)))
}

fn standalone(parts: &str, columns: usize) -> String {
    format!(
        "\\documentclass{{article}}\n\\usepackage{{amsmath}}\n\\setcounter{{MaxMatrixCols}}{{{columns}}}\n\
         \\setlength{{\\textwidth}}{{170mm}}\n\\setlength{{\\oddsidemargin}}{{-5mm}}\n\
         \\setlength{{\\textheight}}{{230mm}}\n\\setlength{{\\topmargin}}{{-10mm}}\n\
         \\setlength{{\\parindent}}{{0pt}}\n\\allowdisplaybreaks\n\\begin{{document}}\n{parts}\\end{{document}}\n"
    )
}

/// Returns the part between `\begin{document}` and `\end{document}` of [`latex`], to be inserted into another document.
pub fn latex_body(system: &StateSystem, options: impl Into<DocumentOptions>) -> String {
    body(&document(system, &options.into()))
}

fn body(parts: &[DocumentPart]) -> String {
    parts.iter().map(part).collect()
}

/// Returns the largest number of columns of a matrix, for `MaxMatrixCols`.
pub fn columns(system: &StateSystem) -> usize {
    most_columns(system)
}

fn part(part: &DocumentPart) -> String {
    match part {
        DocumentPart::Title(title) => format!("\\section*{{{}}}\n", escaped(title)),
        DocumentPart::Heading(title) => format!("\\subsection*{{{title}}}\n"),
        DocumentPart::Aligned(lines) => format!("{}\n", aligned(lines)),
        DocumentPart::Formula(formula) => format!("\\[ {formula} \\]\n"),
        DocumentPart::Matrix(formula, size) => {
            let size = match size {
                Type::Normal => "",
                Type::Small => "\\small",
            };
            format!("{{{size}\\[ {formula} \\]}}\n")
        }
        DocumentPart::Text(text, after) => {
            let end = match after {
                After::Formula => "",
                After::End => "\\par",
            };
            format!("{}{end}\n", text.iter().map(inline).collect::<String>())
        }
    }
}

fn inline(piece: &Inline) -> String {
    match piece {
        Inline::Words(words) => escaped(words).replace('\u{a0}', "~"),
        Inline::Code(code) => format!("\\texttt{{{}}}", escaped(code)),
        Inline::Formula(formula) => format!("${formula}$"),
    }
}

/// Prints aligned equations.
pub(super) fn aligned(lines: &[String]) -> String {
    format!("\\begin{{align*}}\n{}\n\\end{{align*}}", lines.join(" \\\\\n"))
}
