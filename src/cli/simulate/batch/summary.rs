//! Statistics over the runs of a batch.

use super::runs::Runs;
use crate::cli::table::Table;
use lgm_emit::significant;
use std::io::{self, Write};

/// The share of runs below each printed percentile.
const SHARES: [f64; 3] = [0.05, 0.5, 0.95];

/// What each run contributes for one quantity.
const MEASURES: [&str; 3] = ["last", "min", "max"];

/// The statistics of the completed runs.
pub(in crate::cli::simulate) struct Summary {
    /// The written quantities.
    names: Vec<String>,
    /// The number of each completed run, and the measures of each quantity in sequence.
    completed: Vec<(usize, Vec<f64>)>,
}

impl Summary {
    pub fn new(names: Vec<String>) -> Summary {
        Summary {
            names,
            completed: Vec::new(),
        }
    }

    /// Adds a completed run from its samples, each consisting of the time and the quantities.
    pub fn add(&mut self, number: usize, samples: &[f64]) {
        let width = self.names.len() + 1;
        let measures = (1..width).flat_map(|at| {
            let values = || samples.iter().skip(at).step_by(width).copied();
            let last = values().next_back().unwrap_or(f64::NAN);
            [
                last,
                values().fold(f64::NAN, f64::min),
                values().fold(f64::NAN, f64::max),
            ]
        });
        self.completed.push((number, measures.collect()));
    }

    /// Prints mean, standard deviation, percentiles and extremes of each measure, and the parameters of the extreme runs.
    pub fn write(&self, runs: &Runs, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{} of {} runs", self.completed.len(), runs.values.len())?;
        if self.completed.is_empty() {
            return Ok(());
        }
        let mut table = Table::new(&[0; 10]);
        let heads = ["", "", "mean", "sd", "5 %", "50 %", "95 %", "lowest", "highest", "runs"];
        table.row(heads.map(String::from));
        let mut extreme = Vec::new();
        for (at, name) in self.names.iter().enumerate() {
            for (measure, word) in MEASURES.iter().enumerate() {
                let mut list: Vec<(f64, usize)> = self
                    .completed
                    .iter()
                    .map(|(number, values)| (values[at * MEASURES.len() + measure], *number))
                    .collect();
                list.sort_by(|a, b| a.0.total_cmp(&b.0));
                let sorted: Vec<f64> = list.iter().map(|entry| entry.0).collect();
                let (mean, deviation) = moments(&sorted);
                let [low, middle, high] = SHARES.map(|share| percentile(&sorted, share));
                let ends = [list[0], list[list.len() - 1]];
                let numbers = [mean, deviation, low, middle, high, ends[0].0, ends[1].0];
                let numbers = numbers.map(|value| significant(value, 5));
                let places = format!("{}, {}", ends[0].1 + 1, ends[1].1 + 1);
                extreme.extend(ends.map(|end| end.1));
                table.row(
                    [name.clone(), word.to_string()]
                        .into_iter()
                        .chain(numbers)
                        .chain([places]),
                );
            }
        }
        table.write(out)?;
        extreme.sort_unstable();
        extreme.dedup();
        for number in extreme {
            let named = runs.parameters.iter().zip(&runs.values[number]);
            let words: Vec<String> = named
                .map(|(target, value)| format!("{} = {}", target.name, significant(*value, 6)))
                .collect();
            writeln!(out, "run {}: {}", number + 1, words.join(", "))?;
        }
        Ok(())
    }
}

/// Returns the mean, and the standard deviation of a sample.
fn moments(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0).max(1.0)).sqrt())
}

/// Returns the value below which a share of sorted values lies, interpolated between neighbours.
fn percentile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (place - below as f64) * (sorted[above] - sorted[below])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_of_known_numbers() {
        let values: Vec<f64> = (0..=100).map(f64::from).collect();
        assert_eq!(SHARES.map(|share| percentile(&values, share)), [5.0, 50.0, 95.0]);
        assert_eq!(percentile(&[1.0, 2.0], 0.05), 1.05);
        let (mean, deviation) = moments(&[1.0, 2.0, 4.0, 5.0]);
        assert_eq!((mean, deviation), (3.0, (10.0_f64 / 3.0).sqrt()));
        assert_eq!(moments(&[7.0]), (7.0, 0.0));
    }
}
