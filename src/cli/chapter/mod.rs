//! `lgm report`

mod sections;

use super::files::disk::WriteFault;
use super::files::folder::write_folder;
use super::report;
use super::request::{ModelArguments, StateArguments};
use crate::cli::outcome::Outcome;
use clap::ValueEnum;
use lgm_emit::chapter::{ChapterPart, Notation, Section, chapter};
use lgm_emit::code::CodeFile;
use lgm_emit::columns;
use lgm_equations::Options;
use lgm_source::stack;
use sections::sections;
use std::path::PathBuf;

/// Writes a chapter about a model: its text, drawing, causality, derivation, equations, poles, frequency response and a run.
///
/// DIR receives the document and its pictures as SVG. A part that does not apply to the model is replaced by a sentence
/// with the reason. A LaTeX document shows a picture after you convert it to PDF with `rsvg-convert -f pdf graph.svg -o
/// graph.pdf`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lgm report examples/oscillator.lgm -o oscillator
  lgm report examples/lever.lgm -o lever --format latex
  lgm report examples/pendulum.lgm -o pendulum --format markdown")]
pub(super) struct Arguments {
    #[command(flatten)]
    model: ModelArguments,
    #[command(flatten)]
    states: StateArguments,
    /// The notation of the document
    #[arg(long, value_enum, default_value = "html")]
    format: Format,
    /// The folder to create; it must not exist
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Replace the folder if lgm created it
    #[arg(long)]
    force: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Latex,
    Markdown,
    Html,
    Typst,
}

impl Format {
    fn notation(self) -> Notation {
        match self {
            Format::Latex => Notation::Latex,
            Format::Markdown => Notation::Markdown,
            Format::Html => Notation::Html,
            Format::Typst => Notation::Typst,
        }
    }
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Outcome {
    let compilation = value_or_return!(arguments.model.asked(&arguments.states, Options::default()));
    let diagnostics = compilation.diagnostics_of_model();
    report::print(compilation.map(), &diagnostics);
    let (Some(system), Outcome::Success) = (compilation.system(), report::outcome(&diagnostics)) else {
        return report::outcome(&diagnostics);
    };
    let notation = arguments.format.notation();
    let found = stack::deep(|| sections(&compilation, notation));
    let files = files(&system.model, &found, notation, columns(system));
    let written = write_folder(&arguments.output, &files, arguments.force);
    report::after_writing(compilation.map(), written.map_err(WriteFault::Failed))
}

/// Returns the document, its plots, and the page that identifies the folder.
fn files(model: &str, sections: &[Section], notation: Notation, columns: usize) -> Vec<CodeFile> {
    let name = format!("report.{}", notation.ending());
    let document = chapter(model, sections, notation, columns);
    let mut readme = format!(
        "# {model}\n\nMade by lgm {}: a chapter about the model, in `{name}`.\n",
        env!("CARGO_PKG_VERSION")
    );
    let mut files = Vec::new();
    for part in sections.iter().flat_map(|section| &section.parts) {
        if let ChapterPart::Picture { file, shows, svg } = part {
            readme.push_str(&format!("- `{file}.svg`: {shows}\n"));
            files.push((format!("{file}.svg"), svg.clone()));
        }
    }
    files.push((name, document));
    files.push(("README.md".to_string(), readme));
    let each = files.into_iter().map(|(path, text)| CodeFile {
        path,
        contents: text.into_bytes(),
    });
    each.collect()
}
