//! The options of `lgm simulate`.

use crate::cli::report::misuse;
use crate::cli::request::{ModelArguments, StateArguments};
use crate::cli::simulate::batch::arguments::BatchArguments;
use crate::cli::simulate::plan::PlanArguments;
use clap::ValueEnum;
use lgm_emit::rows::TableFormat;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use std::path::{Path, PathBuf};

/// Runs a model over time.
///
/// Rows go to standard output as CSV unless --output, --plot or --html says otherwise: `time`, the outputs, the states. A file
/// appears under its name when it is complete. Ctrl-C ends the run with the rows so far in a valid file, and exit code 130.
///
/// What the model's `experiment` says holds unless an option says otherwise.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lgm simulate examples/oscillator.lgm --stop 5 --points 501 -o run.csv
  lgm simulate examples/oscillator.lgm --input \"F=2*step(0) - 2*step(1)\" --plot run.svg
  lgm simulate examples/van_der_pol.lgm --plot-xy voltage,current --plot orbit.svg
  lgm simulate examples/line.lgm --profile cell.c.v --plot profile.svg
  lgm simulate examples/oscillator.lgm --input F=measured.csv:force,held --html run.html
  lgm simulate examples/oscillator.lgm --input F=1 --verify -o run.csv
  lgm simulate examples/oscillator.lgm --sweep k=20:200:10 --sweep b=0.1:10:5:log -o runs.csv
  lgm simulate examples/oscillator.lgm --monte-carlo 1000 --seed 7 --vary \"k=normal(50, 2)\" -o runs.csv")]
pub(in crate::cli) struct Arguments {
    #[command(flatten)]
    pub(super) model: ModelArguments,
    #[command(flatten)]
    pub(super) states: StateArguments,
    #[command(flatten)]
    pub(super) plan: PlanArguments,
    /// The signal of an input: an expression of time and parameters, or a column of a CSV table as FILE.csv:COLUMN (straight
    /// lines between rows) or FILE.csv:COLUMN,held; its times are the column `time`, and its first and last values hold
    /// beyond its ends
    #[arg(long, value_name = "INPUT=SIGNAL", allow_hyphen_values = true)]
    pub(super) input: Vec<String>,
    /// Write the rows to this file; `-` is standard output
    #[arg(short, long, value_name = "FILE", alias = "out")]
    pub(super) output: Option<PathBuf>,
    /// How to write the rows; else as the ending of --output says (`.json`, `.parquet` in a build with that feature), else
    /// CSV. Numbers are in SI units and have as many digits, at most 17, as it takes to read the very same double back
    #[arg(long, value_enum)]
    pub(super) format: Option<Format>,
    /// What to write: outputs, states or inputs, in this order; else all outputs and, of a single run, all states
    #[arg(long, value_name = "NAME,..", value_delimiter = ',')]
    pub(super) columns: Vec<String>,
    /// Draw the curves to this SVG file
    #[arg(long, value_name = "FILE.svg")]
    pub(super) plot: Option<PathBuf>,
    /// Draw the curves to this HTML file, which zooms and shows values
    #[arg(long, value_name = "FILE.html")]
    pub(super) html: Option<PathBuf>,
    /// What to draw: outputs, states or inputs; else what the experiment says, else all outputs
    #[arg(long, value_name = "NAME,..", value_delimiter = ',')]
    pub(super) show: Vec<String>,
    /// Draw the second of two outputs, states or inputs against the first, in place of curves over time
    #[arg(long, value_name = "X,Y", value_delimiter = ',', requires = "plot",
          conflicts_with_all = ["show", "html", "sweep", "sample", "monte_carlo"])]
    pub(super) plot_xy: Vec<String>,
    /// Draw a vector, an output or states, over its entries at seven instants of the run, in place of curves over time
    #[arg(long, value_name = "NAME", requires = "plot",
          conflicts_with_all = ["plot_xy", "show", "html", "sweep", "sample", "monte_carlo"])]
    pub(super) profile: Option<String>,
    /// A vector parameter with the positions of the entries of --profile
    #[arg(long, value_name = "PARAM", requires = "profile")]
    pub(super) over: Option<String>,
    /// Keep the rows so far of a run that fails
    #[arg(long)]
    pub(super) keep: bool,
    /// Say on standard error which method made how many steps
    #[arg(long)]
    pub(super) stats: bool,
    /// Compare the run with the laws of the flat graph: at every row and on both sides of every event; go from row to row with a
    /// second integrator, and add up energy. What was verified is written to standard error; a failure ends in exit code 1
    #[arg(long)]
    pub(super) verify: bool,
    #[command(flatten)]
    pub(super) batch: BatchArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    Csv,
    Json,
    #[cfg(feature = "parquet")]
    Parquet,
}

/// Endings that promise a form which rows cannot be written in: a file of numbers under such a name would be a trap.
pub(super) const FOREIGN: [&str; 12] = [
    "parquet", "arrow", "feather", "h5", "hdf5", "mat", "nc", "npy", "npz", "ods", "xls", "xlsx",
];

impl Arguments {
    /// The ending of the file of rows, in lower case.
    fn ending(&self) -> Option<String> {
        let ending = self.output.as_deref().and_then(Path::extension)?;
        Some(ending.to_str()?.to_ascii_lowercase())
    }

    /// The form of the rows.
    pub(super) fn table_format(&self) -> TableFormat {
        match (self.format, self.ending().as_deref()) {
            (Some(Format::Csv), _) => TableFormat::Csv,
            (Some(Format::Json), _) | (None, Some("json")) => TableFormat::Json,
            #[cfg(feature = "parquet")]
            (Some(Format::Parquet), _) | (None, Some("parquet")) => TableFormat::Parquet,
            _ => TableFormat::Csv,
        }
    }

    /// What is wrong with an ending that promises a form which there is not.
    pub(super) fn foreign_ending(&self) -> Option<Diagnostic> {
        let ending = self.ending()?;
        let is_known = cfg!(feature = "parquet") && ending == "parquet";
        if self.format.is_some() || is_known || !FOREIGN.contains(&&*ending) {
            return None;
        }
        let help = match &*ending {
            "parquet" => "build the program with `--features parquet`, or name a file that ends in `.csv` or `.json`",
            _ => "name a file that ends in `.csv` or `.json`, or say `--format csv`",
        };
        let message = format!("rows cannot be written in the form that the ending `.{ending}` promises");
        Some(misuse(Code::LGM0932, message, help))
    }

    /// Whether a picture is wanted.
    pub(super) fn draws(&self) -> bool {
        self.plot.is_some() || self.html.is_some()
    }

    /// Returns true if rows are written at all: a request for a picture alone gets no numbers beside it.
    pub(super) fn writes_rows(&self) -> bool {
        self.output.is_some() || self.format.is_some() || !self.draws()
    }
}
