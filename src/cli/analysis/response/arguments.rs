//! The options of `lgm response`.

use super::frequencies::{Frequencies, frequencies};
use crate::cli::analysis::pictures::picture;
use crate::cli::analysis::shared::{Format, LinearModel, Pairs};
use lgm_session::analysis::response::Extras;
use std::path::PathBuf;

/// Prints the frequency response H(jw), or draws it.
///
/// Infinite values, at a pole on the imaginary axis, are `null` in JSON. Margins are those of the loop that is closed by negative feedback
/// around H. Margins and peaks are found exactly, and not from the frequencies of `--omega`. With `--sweep` there is a response for each
/// value of a parameter; a plot has all of them.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lgm response examples/oscillator.lgm --omega 0.1,1,10 --from F --to v
  lgm response examples/oscillator.lgm --omega 0.1:100:200 --peaks --format json
  lgm response examples/sallen_key.lgm --plot bode.svg
  lgm response examples/oscillator.lgm --from F --to v --sweep b=0.1:10:5:log --plot damping.svg
  lgm response examples/duffing.lgm --omega 0.1,1,10 --equilibrium")]
pub(in crate::cli) struct Arguments {
    #[command(flatten)]
    pub(super) model: LinearModel,
    /// Angular frequencies in rad/s: numbers, `A:B:N` for N of them with equal ratios, `A:B:N:lin` with equal steps
    #[arg(long, required_unless_present_any = ["plot", "margins"], value_delimiter = ',', value_parser = frequencies,
          allow_hyphen_values = true)]
    pub(super) omega: Vec<Frequencies>,
    #[command(flatten)]
    pub(super) pairs: Pairs,
    /// The group delay -d arg(H)/d omega too
    #[arg(long)]
    pub(super) group_delay: bool,
    /// Gain and phase margins with their crossovers
    #[arg(long)]
    pub(super) margins: bool,
    /// The maxima of abs(H) between the least and the largest frequency
    #[arg(long)]
    pub(super) peaks: bool,
    /// Values of a parameter from A to B, evenly spaced or by equal factors (`:log`); repeatable, for every combination
    #[arg(long, value_name = "NAME=FROM:TO:N[:log]", allow_hyphen_values = true)]
    pub(super) sweep: Vec<String>,
    /// Draw Bode, Nyquist and Nichols plots to this file, `.svg` or `.html`
    #[arg(long, value_name = "FILE", value_parser = picture)]
    pub(super) plot: Option<PathBuf>,
    /// The output format
    #[arg(long, value_enum, default_value = "text")]
    pub(super) format: Format,
}

impl Arguments {
    /// Returns the results requested in addition to the response values. A plot marks margins if they are known.
    pub(super) fn extras(&self) -> Extras {
        Extras {
            group_delay: self.group_delay,
            margins: self.margins,
            peaks: self.peaks,
            marks: self.plot.is_some(),
        }
    }

    /// Returns true if zeros and poles are needed.
    pub(super) fn is_factored(&self) -> bool {
        self.margins || self.peaks || self.plot.is_some()
    }
}
