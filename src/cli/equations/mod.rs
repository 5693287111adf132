//! `lgm equations`

mod arguments;
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
use std::io::IsTerminal;

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Outcome {
    if let Some(length) = arguments.derive {
        return derive::run(arguments, length);
    }
    if matches!(arguments.format, Format::Markdown | Format::Typst) {
        return derive::no_such_form("Markdown and Typst are forms of a derivation", "add `--derive`");
    }
    if arguments.patterns && arguments.format != Format::Json {
        return derive::no_such_form(
            "`--patterns` is about JSON: in text, LaTeX and HTML rows that repeat are one row anyway",
            "leave `--patterns` out, or add `--format json`",
        );
    }
    if let Some(period) = arguments.discretize {
        return discrete::run(arguments, period);
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
    let (map, system) = match compiled(arguments, wanted) {
        Ok(compiled) => compiled,
        Err(outcome) => return outcome,
    };
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
    // The process ends here: to give a large system's memory back piece by piece would take longer than to print it.
    std::mem::forget(system);
    report::after_writing(&map, written)
}

/// The equations; the outcome of the command if they cannot be had, or if they were printed for all sections at once.
fn compiled(arguments: &Arguments, wanted: Options) -> Result<(SourceMap, StateSystem), Outcome> {
    if arguments.linearize.is_asked_for() {
        return arguments
            .model
            .compiled(&arguments.states, &arguments.linearize, wanted);
    }
    let compilation = arguments.model.asked(&arguments.states, wanted)?;
    match many_sections(arguments, &compilation) {
        Some(outcome) => Err(outcome),
        None => equations_of(compilation),
    }
}

/// Prints the equations of a model of many equal sections without making each of them; none if the model or the format needs them.
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

/// As wide as the terminal, with the brackets that it has; a file gets the best there is.
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

/// Whether the first of the variables that name a character set names a Unicode one.
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
