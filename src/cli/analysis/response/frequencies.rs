//! Frequencies in command-line arguments.

use crate::cli::analysis::shared::frequency;

/// The frequencies that one argument specifies.
#[derive(Clone, Debug)]
pub(in crate::cli::analysis) struct Frequencies(Vec<f64>);

impl Frequencies {
    /// Returns the frequencies.
    pub(in crate::cli::analysis) fn values(&self) -> impl Iterator<Item = f64> + '_ {
        self.0.iter().copied()
    }
}

/// Maximum number of values in a range.
const MOST: usize = 1_000_000;

/// Parses a number, `A:B:N` or `A:B:N:lin`.
pub(in crate::cli::analysis) fn frequencies(text: &str) -> Result<Frequencies, String> {
    let words: Vec<&str> = text.split(':').collect();
    let (from, to, count, linear) = match words[..] {
        [one] => return frequency(one).map(|value| Frequencies(vec![value])),
        [from, to, count] => (from, to, count, false),
        [from, to, count, "lin"] => (from, to, count, true),
        _ => return Err("write a range as `A:B:N` or `A:B:N:lin`".to_string()),
    };
    let (from, to) = (frequency(from)?, frequency(to)?);
    let count: usize = count
        .trim()
        .parse()
        .map_err(|_| "N of a range is a whole number".to_string())?;
    if !(2..=MOST).contains(&count) {
        return Err(format!("a range must have 2 to {MOST} values"));
    }
    if !linear && from.min(to) <= 0.0 {
        return Err("equal ratios require ends above 0; `A:B:N:lin` has equal steps".to_string());
    }
    Ok(Frequencies(spaced(from, to, count, linear)))
}

/// Returns both ends exactly, and the values between them.
pub(super) fn spaced(from: f64, to: f64, count: usize, linear: bool) -> Vec<f64> {
    let value = |at: usize| {
        let share = at as f64 / (count - 1) as f64;
        match (at, linear) {
            (0, _) => from,
            (at, _) if at + 1 == count => to,
            (_, true) => from + share * (to - from),
            (_, false) => 10f64.powf(from.log10() + share * (to.log10() - from.log10())),
        }
    };
    (0..count).map(value).collect()
}
