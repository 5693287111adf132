//! `lgm draw`

use super::files::disk::write_result;
use super::report;
use super::request::{ModelArguments, StateArguments};
use crate::Compilation;
use crate::cli::outcome::Outcome;
use clap::ValueEnum;
use lgm_draw::{Drawing, Kind, Manner, Refusal, dot, draw_with, html_in, json, svg_in, written_as};
use lgm_emit::write_in_lines;
use lgm_equations::Options;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use std::path::{Path, PathBuf};

/// Draws the linear graph or the bond graph of a model.
///
/// A linear graph shows nodes above the rail of their reference, oriented branches with the normal tree heavy, sources with a circle, and
/// couplers. A bond graph shows junctions and elements with half arrows and causal strokes as books draw them; storage in derivative
/// causality has a dashed frame, and components have frames with their names. No other program is needed. Where sources contradict each
/// other, what can be drawn is drawn.
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
    /// What to draw; the notation that the model is written in unless given
    #[arg(long = "as", value_enum, value_name = "KIND")]
    kind: Option<Notation>,
    /// How to write it; by the ending of OUT unless given, otherwise svg
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Let half arrows of a bond graph point as the model says, and not out of sources and through couplers
    #[arg(long)]
    own_directions: bool,
    /// Draw junctions of two bonds though power only passes through
    #[arg(long)]
    all_junctions: bool,
    /// Write moduli and parameters at the elements of a bond graph
    #[arg(long)]
    values: bool,
    /// The colours; light for a picture and auto for a page unless given
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Theme {
    /// Dark lines on white
    Light,
    /// Bright lines on a dark ground
    Dark,
    /// As the reader of the page chose
    Auto,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A picture
    Svg,
    /// A page with the picture, to be moved, enlarged and searched
    Html,
    /// The graph alone, for the layout of Graphviz
    Dot,
    /// Places and texts, for programs
    Json,
}

impl Format {
    /// The format that a file's ending asks for.
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
    /// The drawing and its colours; why an option says nothing of what is drawn.
    fn drawn(
        &self,
        compilation: &Compilation,
        format: Format,
    ) -> Result<Option<(Drawing, lgm_draw::Theme)>, Diagnostic> {
        let misuse = |option: &str, of: &str, help: &str| {
            Diagnostic::error(Code::LGM0907, format!("`{option}` is an option of {of}")).help(help)
        };
        let theme = match (self.theme, format) {
            (None | Some(Theme::Auto), Format::Html) => lgm_draw::Theme::Auto,
            (Some(Theme::Auto), _) => {
                let help = "write a page with `--format html`, or ask for `--theme light` or `--theme dark`";
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
        let drawing = drawing(compilation, self.kind, manner)?;
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
    // The same decisions with less work: no equations are read here.
    let wanted = Options {
        symbolic: false,
        readable: false,
        ..Options::default()
    };
    let compilation = match arguments.model.asked(&arguments.states, wanted) {
        Ok(compilation) => compilation,
        Err(outcome) => return outcome,
    };
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

/// The drawing, if there is a model; what to do where it cannot be drawn so.
pub(super) fn drawing(
    compilation: &Compilation,
    kind: Option<Notation>,
    manner: Manner,
) -> Result<Option<Drawing>, Diagnostic> {
    let model = compilation.formulated_model().or_else(|| compilation.model());
    let (Some(model), Some(graph), Some(report)) = (model, compilation.bond_graph(), compilation.causality()) else {
        return Ok(None);
    };
    let kind = match kind {
        None => written_as(model),
        Some(Notation::LinearGraph) => Kind::LinearGraph,
        Some(Notation::BondGraph) => Kind::BondGraph,
    };
    let refused = |refusal: Refusal| match refusal {
        Refusal::TooLarge(count) => Diagnostic::error(
            Code::LGM0938,
            format!(
                "the model has {count} elements, and a drawing at most {}",
                lgm_draw::MOST
            ),
        )
        .help("draw it with fewer sections, as in `--set N=10`, or draw a model that holds one of its components"),
        Refusal::NoLinearGraph(reason) => {
            Diagnostic::error(Code::LGM0939, format!("the model has no linear graph: {reason}"))
                .help("draw it with `--as bond-graph`")
        }
    };
    draw_with(model, graph, report, kind, manner).map(Some).map_err(refused)
}
