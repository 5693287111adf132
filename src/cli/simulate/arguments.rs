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

/// Simulates a model over time.
///
/// Without --output, --plot or --html, samples go to standard output as CSV: `time`, the outputs, the states. A file
/// appears under its name when it is complete. Ctrl-C ends the run with exit code 130; the file is valid and contains
/// the samples so far.
///
/// Command-line options override the `experiment` block.
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
    /// The signal of an input: an expression of time and parameters, or a column of a CSV table as FILE.csv:COLUMN
    /// (linear interpolation) or FILE.csv:COLUMN,held. Its times are in the column `time`. Outside its range a table
    /// holds its end values
    #[arg(long, value_name = "INPUT=SIGNAL", allow_hyphen_values = true)]
    pub(super) input: Vec<String>,
    /// Write the samples to this file; `-` is standard output
    #[arg(short, long, value_name = "FILE", alias = "out")]
    pub(super) output: Option<PathBuf>,
    /// The format of the samples; by default the extension of --output (`.json`, or `.parquet` in a build with that
    /// feature), else CSV. Numbers are in SI units, or in the unit of their output, with the fewest digits (at most 17)
    /// that reproduce the exact double
    #[arg(long, value_enum)]
    pub(super) format: Option<Format>,
    /// The columns: outputs, states or inputs, in this order; by default all outputs and, for a single run, all states
    #[arg(long, value_name = "NAME,..", value_delimiter = ',')]
    pub(super) columns: Vec<String>,
    /// Plot the curves to this SVG file
    #[arg(long, value_name = "FILE.svg")]
    pub(super) plot: Option<PathBuf>,
    /// Plot the curves to this HTML file, which you can zoom and read values from
    #[arg(long, value_name = "FILE.html")]
    pub(super) html: Option<PathBuf>,
    /// The curves: outputs, states or inputs; by default those of the experiment, else all outputs
    #[arg(long, value_name = "NAME,..", value_delimiter = ',')]
    pub(super) show: Vec<String>,
    /// Plot the second of two outputs, states or inputs against the first instead of curves over time
    #[arg(long, value_name = "X,Y", value_delimiter = ',', requires = "plot",
          conflicts_with_all = ["show", "html", "sweep", "sample", "monte_carlo"])]
    pub(super) plot_xy: Vec<String>,
    /// Plot a vector (an output or states) over its entries at seven instants of the run instead of curves over time
    #[arg(long, value_name = "NAME", requires = "plot",
          conflicts_with_all = ["plot_xy", "show", "html", "sweep", "sample", "monte_carlo"])]
    pub(super) profile: Option<String>,
    /// A vector parameter with the positions of the entries of --profile
    #[arg(long, value_name = "PARAM", requires = "profile")]
    pub(super) over: Option<String>,
    /// Keep the samples of a failed run
    #[arg(long)]
    pub(super) keep: bool,
    /// Print the methods and their numbers of steps to standard error
    #[arg(long)]
    pub(super) stats: bool,
    /// Compare the run with the laws of the flat graph at every sample and on both sides of every event, repeat it with
    /// a second integrator, and check the energy balance. The result is printed to standard error; the exit code of a
    /// failure is 1
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

/// Extensions of formats that are unavailable for samples. A file of numbers with such an extension would be misleading.
pub(super) const FOREIGN: [&str; 12] = [
    "parquet", "arrow", "feather", "h5", "hdf5", "mat", "nc", "npy", "npz", "ods", "xls", "xlsx",
];

impl Arguments {
    /// Returns the extension of the samples file, in lower case.
    fn ending(&self) -> Option<String> {
        let ending = self.output.as_deref().and_then(Path::extension)?;
        Some(ending.to_str()?.to_ascii_lowercase())
    }

    /// Returns the format of the samples.
    pub(super) fn table_format(&self) -> TableFormat {
        match (self.format, self.ending().as_deref()) {
            (Some(Format::Csv), _) => TableFormat::Csv,
            (Some(Format::Json), _) | (None, Some("json")) => TableFormat::Json,
            #[cfg(feature = "parquet")]
            (Some(Format::Parquet), _) | (None, Some("parquet")) => TableFormat::Parquet,
            _ => TableFormat::Csv,
        }
    }

    /// Returns the error for the extension of an unavailable format.
    pub(super) fn foreign_ending(&self) -> Option<Diagnostic> {
        let ending = self.ending()?;
        let is_known = cfg!(feature = "parquet") && ending == "parquet";
        if self.format.is_some() || is_known || !FOREIGN.contains(&&*ending) {
            return None;
        }
        let help = match &*ending {
            "parquet" => "build the program with `--features parquet`, or name a file that ends in `.csv` or `.json`",
            _ => "name a file that ends in `.csv` or `.json`, or use `--format csv`",
        };
        let message = format!("samples cannot be written in the format `.{ending}`");
        Some(misuse(Code::LGM0932, message, help))
    }

    /// Returns true if a plot is requested.
    pub(super) fn draws(&self) -> bool {
        self.plot.is_some() || self.html.is_some()
    }

    /// Returns true if samples are written. If only a plot is requested, no samples are written.
    pub(super) fn writes_rows(&self) -> bool {
        self.output.is_some() || self.format.is_some() || !(self.draws() || self.batch.summary)
    }
}
