//! The arguments of `lgm equations`.

use crate::cli::request::{LinearizeArguments, ModelArguments, StateArguments};
use crate::cli::times::duration;
use clap::ValueEnum;
use lgm_emit::{DocumentOptions, MatrixOptions};
use std::path::PathBuf;

/// Prints the state equations of a model.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lgm equations examples/oscillator.lgm --set m=3 --numeric --format json
  lgm equations examples/seeds/bar_modal.lgm --blocks
  lgm equations examples/line.lgm --format json --patterns
  lgm equations examples/oscillator.lgm --format html -o oscillator.html
  lgm equations examples/oscillator.lgm --discretize 0.01 --hold first
  lgm equations examples/seeds/sound_system.lgm --derive
  lgm equations examples/seeds/milling_machine_vector.lgm --derive
  lgm equations examples/lever.lgm --derive=full --format latex
  lgm equations examples/quarter_car.lgm --partition
  lgm equations examples/seeds/lamina.lgm --choices
  lgm equations examples/pendulum.lgm --at \"theta=pi, joint.w=0\"
  lgm equations examples/seeds/two_link_manipulator.lgm --equilibrium --at \"theta[1]=-1, theta[2]=-1\"")]
pub(in crate::cli) struct Arguments {
    #[command(flatten)]
    pub(super) model: ModelArguments,
    #[command(flatten)]
    pub(super) states: StateArguments,
    #[command(flatten)]
    pub(super) linearize: LinearizeArguments,
    /// Numeric matrices instead of symbolic ones; numeric equations if there are no matrices
    #[arg(long)]
    pub(super) numeric: bool,
    /// Only the nonzero entries of matrices; the default beyond 500 states
    #[arg(long)]
    pub(super) sparse: bool,
    /// One row for each state and equation in text, LaTeX and HTML; by default repeated rows are merged, such as
    /// `der(cell[i].v) = .. for i in 2:9`
    #[arg(long)]
    pub(super) flat: bool,
    /// JSON with a single entry for repeated rows; the key `for` has the values of its indices
    #[arg(long, conflicts_with_all = ["flat", "partition", "discretize", "derive"])]
    pub(super) patterns: bool,
    /// Vectors of states and the matrices between them instead of single equations: `der(bar.v) = [bar.mass]^-1*(..)`;
    /// the states are power variables
    #[arg(long, conflicts_with_all = ["states", "linearize", "at", "equilibrium"])]
    pub(super) blocks: bool,
    /// The matrices in blocks: momenta p of inertias and displacements q of compliances, inputs split into efforts e
    /// and flows f; the states are energy variables by default
    #[arg(long, conflicts_with_all = ["blocks", "sparse", "discretize"])]
    pub(super) partition: bool,
    /// The states if another storage element keeps its state, for each element that has none
    #[arg(long, conflicts_with_all = ["blocks", "partition", "discretize", "derive", "numeric", "sparse", "patterns",
        "linearize", "at", "equilibrium"])]
    pub(super) choices: bool,
    /// Numeric discrete-time equations with this period in seconds
    #[arg(long, value_name = "PERIOD", value_parser = duration, conflicts_with_all = ["blocks", "sparse"])]
    pub(super) discretize: Option<f64>,
    /// The inputs between the instants of --discretize
    #[arg(long, value_enum, default_value = "zero", requires = "discretize")]
    pub(super) hold: HoldName,
    /// The derivation of the equations from the elements in numbered steps, in vectors and matrices if the model has
    /// vector elements; `entries` has a line for each entry of a vector, and `full` one for each substitution
    #[arg(long, value_enum, value_name = "LENGTH", num_args = 0..=1, require_equals = true, default_missing_value = "short",
        conflicts_with_all = ["numeric", "sparse", "blocks", "discretize", "linearize", "at", "equilibrium"])]
    pub(super) derive: Option<Length>,
    /// The format of the output
    #[arg(long, value_enum, default_value = "text")]
    pub(super) format: Format,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "OUT")]
    pub(super) output: Option<PathBuf>,
}

impl Arguments {
    /// Returns the part of the matrices to show.
    pub(super) fn matrices(&self) -> MatrixOptions {
        MatrixOptions {
            numeric: self.numeric,
            sparse: self.sparse,
            blocks: self.blocks,
        }
    }

    /// Returns the layout of LaTeX and HTML, and of JSON with patterns.
    pub(super) fn document(&self) -> DocumentOptions {
        DocumentOptions {
            flat: self.flat,
            ..self.matrices().into()
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    Text,
    Latex,
    /// A page with MathML
    Html,
    Json,
    /// Of a derivation
    Markdown,
    /// Of a derivation
    Typst,
}

/// The length of a derivation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Length {
    /// One line for each equation
    Short,
    /// One line for each entry of a vector
    Entries,
    /// One line for each substitution
    Full,
}

/// The course of inputs between the instants of discrete equations.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum HoldName {
    /// Constant values (zero-order hold)
    Zero,
    /// Linear interpolation (first-order hold)
    First,
    /// Tustin's method: s = 2/T (z - 1)/(z + 1)
    Tustin,
}

impl HoldName {
    /// Returns the command-line value.
    pub(super) fn word(self) -> &'static str {
        match self {
            HoldName::Zero => "zero",
            HoldName::First => "first",
            HoldName::Tustin => "tustin",
        }
    }
}
