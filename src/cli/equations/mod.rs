//! `lgm equations`

mod arguments;
mod choices;
mod derive;
mod discrete;
mod partitioned;

pub(super) use arguments::Arguments;
use arguments::Format;

use crate::Compilation;
use crate::cli::files::disk::write_result;
use crate::cli::outcome::Outcome;
use crate::cli::report;
use crate::cli::request::equations_of;
use lgm_compilation::stretched::Stretched;
use lgm_emit::{self, MatrixOptions, TextOptions};
use lgm_equations::{Options, StateSystem, with_numbers};
use lgm_source::SourceMap;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use std::io::IsTerminal;

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Outcome {
    if let Some(length) = arguments.derive {
        return derive::run(arguments, length);
    }
    if matches!(arguments.format, Format::Markdown | Format::Typst) {
        return derive::no_such_form(
            "Markdown and Typst are only available for derivations",
            "add `--derive`",
        );
    }
    if arguments.patterns && arguments.format != Format::Json {
        return derive::no_such_form(
            "`--patterns` requires JSON; text, LaTeX and HTML always merge repeated rows",
            "remove `--patterns`, or add `--format json`",
        );
    }
    if let Some(period) = arguments.discretize {
        return discrete::run(arguments, period);
    }
    if arguments.choices {
        return choices::run(arguments);
    }
    if arguments.partition {
        return partitioned::run(arguments);
    }
    let wanted = Options {
        symbolic: !arguments.numeric,
        numeric: arguments.numeric,
        shows_matrices: arguments.numeric,
        blocks: arguments.blocks,
        ..Options::default()
    };
    let (map, system) = value_or_return!(compiled(arguments, wanted));
    if !system.events.delays.is_empty() {
        let remark = Diagnostic::information(Code::LGM0725, "delayed signals are inputs of these equations");
        let help = "approximate delays with `--pade 4` for equations with states only";
        report::print(&map, &[remark.help(help)]);
    }
    let system = match arguments.numeric && !system.equations.linear {
        true => with_numbers(&system),
        false => system,
    };
    let matrices = arguments.matrices();
    let document = arguments.document();
    let out = arguments.output.as_deref();
    let written = write_result(out, &mut |stream| match arguments.format {
        Format::Json if arguments.patterns => lgm_emit::json_patterns(&system, &document, stream),
        Format::Json => lgm_emit::json(&system, matrices, stream),
        Format::Latex => stream.write_all(lgm_emit::latex(&system, document).as_bytes()),
        Format::Html => stream.write_all(lgm_emit::html(&system, document).as_bytes()),
        Format::Text | Format::Markdown | Format::Typst => {
            let options = TextOptions {
                flat: arguments.flat,
                ..layout(matrices, out.is_some())
            };
            stream.write_all(lgm_emit::text(&system, &options).as_bytes())
        }
    });
    // The process ends here. Freeing the memory of a large system piece by piece would take longer than printing it.
    std::mem::forget(system);
    report::after_writing(&map, written)
}

/// Compiles the equations. Returns an exit status if they are unavailable, or if all sections were printed together.
fn compiled(arguments: &Arguments, wanted: Options) -> Result<(SourceMap, StateSystem), Outcome> {
    if arguments.linearize.is_asked_for() {
        return arguments
            .model
            .compiled(&arguments.states, &arguments.linearize, wanted);
    }
    let compilation = arguments.model.asked(&arguments.states, wanted)?;
    match many_sections(arguments, &compilation) {
        Some(outcome) => Err(outcome),
        None => {
            // Products of matrices that the author named, instead of a matrix for each block.
            let in_vectors = (arguments.blocks && !arguments.numeric)
                .then(|| compilation.vector_derivation())
                .flatten();
            let (map, mut system) = equations_of(compilation)?;
            if let Some(found) = in_vectors {
                (system.exprs, system.matrices.blocks) = (found.exprs, Some(found.blocks));
            }
            Ok((map, system))
        }
    }
}

/// Prints the equations of a model of many equal sections without generating each section. None if the model or the format requires all
/// sections.
fn many_sections(arguments: &Arguments, compilation: &Compilation) -> Option<Outcome> {
    let is_short = match arguments.format {
        Format::Json => arguments.patterns,
        _ => !arguments.flat,
    };
    if !is_short || arguments.sparse {
        return None;
    }
    let stretched = Stretched::of(compilation, Stretched::WORTHWHILE)?;
    let states = stretched.at(|each| each.system().map_or(0, |system| system.states.len()))?;
    let out = arguments.output.as_deref();
    let (systems, counts) = (stretched.systems(), (Stretched::FIRST, stretched.count()));
    let document = arguments.document();
    let printed = match arguments.format {
        Format::Json => lgm_emit::stretched_json(&systems, counts, states, &document)?,
        Format::Latex => lgm_emit::stretched_latex(&systems, counts, states, &document)?.into_bytes(),
        Format::Html => lgm_emit::stretched_html(&systems, counts, states, &document)?.into_bytes(),
        Format::Text | Format::Markdown | Format::Typst => {
            let options = layout(arguments.matrices(), out.is_some());
            lgm_emit::stretched_text(&systems, counts, states, &options)?.into_bytes()
        }
    };
    let written = write_result(out, &mut |stream| stream.write_all(&printed));
    Some(report::after_writing(compilation.map(), written))
}

/// Returns the layout: the width and character set of the terminal, or the default form for a file.
fn layout(matrices: MatrixOptions, to_a_file: bool) -> TextOptions {
    let mut options = TextOptions {
        matrices,
        ..TextOptions::default()
    };
    if !to_a_file && std::io::stdout().is_terminal() {
        if let Some((width, _)) = terminal_size::terminal_size() {
            options.width = usize::from(width.0).max(40);
        }
        options.unicode = locale_is_unicode();
    }
    options
}

/// Returns true if the first variable that names a character set names a Unicode character set.
fn locale_is_unicode() -> bool {
    let named = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .filter_map(|variable| std::env::var(variable).ok())
        .find(|value| !value.is_empty());
    match named {
        Some(locale) => {
            let locale = locale.to_ascii_lowercase();
            locale.contains("utf-8") || locale.contains("utf8")
        }
        None => cfg!(windows),
    }
}
