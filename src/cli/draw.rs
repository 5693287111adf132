//! `lgm draw`

use super::files::disk::write_result;
use super::report;
use super::request::{ModelArguments, StateArguments};
use crate::Compilation;
use crate::cli::outcome::Outcome;
use clap::ValueEnum;
use lgm_draw::{Drawing, Kind, Manner, dot, html_in, json, svg_in};
use lgm_emit::write_in_lines;
use lgm_equations::Options;
use lgm_session::drawing::drawing;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use std::path::{Path, PathBuf};

/// Draws the linear graph or the bond graph of a model.
///
/// A linear graph shows nodes above the rail of their reference, oriented branches with a heavy normal tree, sources
/// with a circle, and couplers. A bond graph shows junctions and elements with half arrows and causal strokes in
/// textbook style; storage in derivative causality has a dashed frame, and components have frames with their names. No
/// other program is required. If sources contradict each other, the drawing is partial.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lgm draw examples/quarter_car.lgm -o quarter_car.svg
  lgm draw examples/quarter_car.lgm --as bond-graph -o quarter_car.svg
  lgm draw examples/line.lgm --set N=40 -o line.html
  lgm draw examples/lever.lgm --values --theme dark -o lever.svg
  lgm draw examples/lever.lgm --format dot")]
pub(super) struct Arguments {
    #[command(flatten)]
    model: ModelArguments,
    #[command(flatten)]
    states: StateArguments,
    /// The kind of drawing; by default the notation of the model
    #[arg(long = "as", value_enum, value_name = "KIND")]
    kind: Option<Notation>,
    /// The output format; by default the extension of OUT, otherwise svg
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Draw half arrows of a bond graph in the directions of the model, not out of sources and through couplers
    #[arg(long)]
    own_directions: bool,
    /// Draw all junctions, with the numbers of bonds in `lgm causality --bonds`
    #[arg(long)]
    all_junctions: bool,
    /// Show moduli and parameters at the elements of a bond graph
    #[arg(long)]
    values: bool,
    /// The colours; by default light for a picture and auto for a page
    #[arg(long, value_enum)]
    theme: Option<Theme>,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Notation {
    /// Nodes and oriented branches
    LinearGraph,
    /// Junctions, elements and half arrows
    BondGraph,
}

impl Notation {
    pub(super) fn kind(self) -> Kind {
        match self {
            Notation::LinearGraph => Kind::LinearGraph,
            Notation::BondGraph => Kind::BondGraph,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Theme {
    /// Dark lines on white
    Light,
    /// Light lines on a dark background
    Dark,
    /// The preference of the reader's browser
    Auto,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A picture
    Svg,
    /// A page with the picture, which you can pan, zoom and search
    Html,
    /// The graph without a layout, for Graphviz
    Dot,
    /// Positions and texts, for programs
    Json,
}

impl Format {
    /// Returns the format for a file extension.
    fn of(path: &Path) -> Option<Format> {
        match path.extension()?.to_str()? {
            "dot" | "gv" => Some(Format::Dot),
            "html" | "htm" => Some(Format::Html),
            "json" => Some(Format::Json),
            "svg" => Some(Format::Svg),
            _ => None,
        }
    }
}

impl Arguments {
    /// Returns the drawing and its colours, or an error if an option does not apply to this drawing.
    fn drawn(
        &self,
        compilation: &Compilation,
        format: Format,
    ) -> Result<Option<(Drawing, lgm_draw::Theme)>, Diagnostic> {
        let misuse = |option: &str, of: &str, help: &str| {
            Diagnostic::error(Code::LGM0907, format!("`{option}` is only available for {of}")).help(help)
        };
        let theme = match (self.theme, format) {
            (None | Some(Theme::Auto), Format::Html) => lgm_draw::Theme::Auto,
            (Some(Theme::Auto), _) => {
                let help = "write a page with `--format html`, or choose `--theme light` or `--theme dark`";
                return Err(misuse("--theme auto", "pages", help));
            }
            (Some(Theme::Dark), _) => lgm_draw::Theme::Dark,
            (None | Some(Theme::Light), _) => lgm_draw::Theme::Light,
        };
        let manner = Manner {
            own_directions: self.own_directions,
            all_junctions: self.all_junctions,
            values: self.values,
        };
        let drawing = drawing(compilation, self.kind.map(Notation::kind), manner)?;
        let options = [
            ("--own-directions", self.own_directions),
            ("--all-junctions", self.all_junctions),
            ("--values", self.values),
        ];
        let given = options.into_iter().find(|option| option.1);
        match (&drawing, given) {
            (Some(drawing), Some((option, _))) if drawing.kind == Kind::LinearGraph => {
                Err(misuse(option, "bond graphs", "draw one with `--as bond-graph`"))
            }
            _ => Ok(drawing.map(|drawing| (drawing, theme))),
        }
    }
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Outcome {
    let by_name = arguments.output.as_deref().and_then(Format::of);
    let format = arguments.format.or(by_name).unwrap_or(Format::Svg);
    // The decisions are the same with less work, because the equations are not needed.
    let wanted = Options {
        symbolic: false,
        readable: false,
        ..Options::default()
    };
    let compilation = value_or_return!(arguments.model.asked(&arguments.states, wanted));
    let mut diagnostics = compilation.diagnostics_of_model();
    let outcome = report::outcome(&diagnostics);
    let drawing = match outcome {
        Outcome::Misuse => None,
        _ => arguments.drawn(&compilation, format).unwrap_or_else(|refused| {
            diagnostics.push(refused);
            None
        }),
    };
    report::print(compilation.map(), &diagnostics);
    let Some((drawing, theme)) = drawing else {
        return report::outcome(&diagnostics);
    };
    let written = write_result(arguments.output.as_deref(), &mut |out| match format {
        Format::Svg => out.write_all(svg_in(&drawing, theme).as_bytes()),
        Format::Html => out.write_all(html_in(&drawing, theme).as_bytes()),
        Format::Dot => out.write_all(dot(&drawing).as_bytes()),
        Format::Json => write_in_lines(out, &json(&drawing)),
    });
    match report::after_writing(compilation.map(), written) {
        Outcome::Success => outcome,
        failed => failed,
    }
}
