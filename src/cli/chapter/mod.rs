//! `lgm report`

mod sections;

use super::files::disk::WriteFault;
use super::files::folder::write_folder;
use super::report;
use super::request::{ModelArguments, StateArguments};
use crate::cli::outcome::Outcome;
use clap::ValueEnum;
use lgm_emit::chapter::{Notation, Part, Section, chapter};
use lgm_emit::code::CodeFile;
use lgm_emit::columns;
use lgm_equations::Options;
use lgm_source::stack;
use sections::sections;
use std::path::PathBuf;

/// Writes a chapter about a model: its text, drawing, causality, derivation, equations, poles, frequency response and a run.
///
/// DIR gets the document and its pictures as SVG. Where a model has no such part, a sentence says why. A document in LaTeX shows a picture
/// once it is there as PDF beside the SVG, as `rsvg-convert -f pdf graph.svg -o graph.pdf` makes it.
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
    /// The folder to write; it must not be there yet
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Replace the folder if this program made it
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
    let compilation = match arguments.model.asked(&arguments.states, Options::default()) {
        Ok(compilation) => compilation,
        Err(outcome) => return outcome,
    };
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

/// The document, its pictures, and the page by which the folder is known.
fn files(model: &str, sections: &[Section], notation: Notation, columns: usize) -> Vec<CodeFile> {
    let name = format!("report.{}", notation.ending());
    let document = chapter(model, sections, notation, columns);
    let mut readme = format!(
        "# {model}\n\nMade by lgm {}: a chapter about the model, in `{name}`.\n",
        env!("CARGO_PKG_VERSION")
    );
    let mut files = Vec::new();
    for part in sections.iter().flat_map(|section| &section.parts) {
        if let Part::Picture { file, shows, svg } = part {
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
