//! The document of a system as LaTeX that needs nothing but amsmath.

use crate::DocumentOptions;
use crate::document::{After, Inline, Part, Type, document, most_columns, stretched_document};
use crate::latex_words::escaped;
use lgm_model::system::StateSystem;

/// Writes a standalone document: `\documentclass{article}` and amsmath, nothing else.
pub fn latex(system: &StateSystem, options: impl Into<DocumentOptions>) -> String {
    standalone(&latex_body(system, options), columns(system))
}

/// The result of [`latex`] for `count` sections, if `systems` are the systems of `first` sections, one section more, and so on; `states`
/// are those of the long system.
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

/// The part between `\begin{document}` and `\end{document}` of [`latex`], to be put into another document.
pub fn latex_body(system: &StateSystem, options: impl Into<DocumentOptions>) -> String {
    body(&document(system, &options.into()))
}

fn body(parts: &[Part]) -> String {
    parts.iter().map(part).collect()
}

/// The largest number of columns of a matrix, for `MaxMatrixCols`.
pub fn columns(system: &StateSystem) -> usize {
    most_columns(system)
}

fn part(part: &Part) -> String {
    match part {
        Part::Title(title) => format!("\\section*{{{}}}\n", escaped(title)),
        Part::Heading(title) => format!("\\subsection*{{{title}}}\n"),
        Part::Aligned(lines) => format!("{}\n", aligned(lines)),
        Part::Formula(formula) => format!("\\[ {formula} \\]\n"),
        Part::Matrix(formula, size) => {
            let size = match size {
                Type::Normal => "",
                Type::Small => "\\small",
            };
            format!("{{{size}\\[ {formula} \\]}}\n")
        }
        Part::Text(text, after) => {
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

/// Equations one below the other.
pub(super) fn aligned(lines: &[String]) -> String {
    format!("\\begin{{align*}}\n{}\n\\end{{align*}}", lines.join(" \\\\\n"))
}
