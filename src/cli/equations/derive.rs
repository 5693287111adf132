//! `lgm equations --derive`

use super::arguments::{Arguments, Format, Length};
use crate::cli::files::disk::write_result;
use crate::cli::outcome::Outcome;
use crate::cli::report;
use lgm_emit::write_in_lines;
use lgm_equations::Options;
use lgm_explain::derivation::{json, latex, markdown, text, typst};
use lgm_source::SourceMap;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;

/// Runs the command.
pub(super) fn run(arguments: &Arguments, length: Length) -> Outcome {
    if arguments.format == Format::Html {
        let help = "use `--format text`, `latex`, `markdown`, `typst` or `json`";
        return no_such_form("a derivation cannot be printed as a page", help);
    }
    let compilation = value_or_return!(arguments.model.asked(&arguments.states, Options::default()));
    let mut diagnostics = compilation.diagnostics_of_model();
    let in_vectors = match length {
        Length::Short => compilation.vector_derivation(),
        Length::Full | Length::Entries => None,
    };
    let in_vectors = in_vectors.map(|found| Ok(found.derivation));
    let derivation = match in_vectors.or_else(|| compilation.derivation(length == Length::Full)) {
        Some(Ok(derivation)) => Some(derivation),
        Some(Err(refused)) => {
            diagnostics.push(refused);
            None
        }
        None => None,
    };
    report::print(compilation.map(), &diagnostics);
    let outcome = report::outcome(&diagnostics);
    let (Some(derivation), Outcome::Success) = (derivation, outcome) else {
        return outcome;
    };
    let written = write_result(arguments.output.as_deref(), &mut |out| match arguments.format {
        Format::Json => write_in_lines(out, &json(&derivation)),
        Format::Latex => out.write_all(latex(&derivation).as_bytes()),
        Format::Markdown => out.write_all(markdown(&derivation).as_bytes()),
        Format::Typst => out.write_all(typst(&derivation).as_bytes()),
        Format::Text | Format::Html => out.write_all(text(&derivation).as_bytes()),
    });
    report::after_writing(compilation.map(), written)
}

/// Reports that the requested result is not available in this form.
pub(super) fn no_such_form(message: &str, help: &str) -> Outcome {
    let diagnostic = Diagnostic::error(Code::LGM0907, message).help(help);
    let diagnostics = [diagnostic];
    report::print(&SourceMap::default(), &diagnostics);
    report::outcome(&diagnostics)
}
