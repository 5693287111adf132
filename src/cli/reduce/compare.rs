//! The comparison of an augmented model with its original over a range of stiffnesses: error, stiffness ratio and run time.

use super::augment::Augmented;
use crate::Compilation;
use crate::cli::interrupt;
use crate::cli::request::ModelArguments;
use crate::cli::table::Table;
use lgm_analysis::{LinearizeRequest, poles};
use lgm_emit::significant;
use lgm_session::run::record::{Patience, Record, record, span};
use serde_json::{Value, json};
use std::io::{self, Write};
use std::time::Duration;

/// Relative tolerance of the runs whose cost is compared.
const TOLERANCE: f64 = 1e-8;

/// Numerical errors of the runs mask small errors of the model, and stiff connections increase them. Runs are repeated with these
/// tolerances until the error settles.
const FINER: [f64; 4] = [1e-9, 1e-10, 1e-11, 1e-12];

/// Minimum order of convergence, required only of errors that are small enough to be round-off.
const LEAST_ORDER: f64 = 0.4;

/// Error below which a low order indicates round-off; see [`LEAST_ORDER`].
const SMALL: f64 = 1e-5;

/// An error has settled if it changes by less than this fraction between two tolerances.
const SETTLED: f64 = 0.1;

/// The range of a column is significant only if it is at least this multiple of the numerical error of a run.
const NOISY: f64 = 10.0;

/// Maximum duration of a run.
const PATIENCE: Duration = Duration::from_secs(60);

fn patience() -> Patience<'static> {
    Patience::new(PATIENCE, &interrupt::is_not_asked_for)
}

/// The runs of both models.
pub(super) struct Comparison {
    columns: Vec<String>,
    exact: Run,
    runs: Vec<Augment>,
}

/// The cost of a run.
struct Run {
    ratio: Option<f64>,
    steps: u64,
    seconds: f64,
}

/// A run of the augmented model.
struct Augment {
    stiffness: f64,
    /// The largest difference as a fraction of the range of the column, and the column; or the reason why no difference is known.
    error: Result<(f64, String), String>,
    /// True if the error is due to the model. Otherwise numerical errors are of the same size, and `error` is an upper bound for the
    /// model error.
    is_settled: bool,
    order: Option<f64>,
    run: Option<Run>,
}

/// Runs both models, or returns a message that explains why this is impossible.
pub(super) fn comparison(
    model: &ModelArguments,
    compilation: &Compilation,
    augmented: &Augmented,
    (stiffnesses, stop): (&[f64], Option<f64>),
) -> Result<Comparison, String> {
    interrupt::listen();
    let source = compilation.map().get(compilation.root());
    // Both models use the default choice of states.
    let exact = model.of_text(source, &source.text);
    let (Some(flat), Some(system)) = (exact.formulated_model(), exact.system()) else {
        return Err("the model has no equations".to_string());
    };
    let span = span(flat, system, stop)?;
    let before = record(system, span, TOLERANCE, &patience())?;
    // The error of the augmented model cannot settle if the run of the exact model is coarser.
    let finest = record(system, span, FINER[FINER.len() - 1], &patience());
    let (reference, is_fine) = (finest.as_ref().unwrap_or(&before), finest.is_ok());
    let slowest = sizes(&exact, None).and_then(|sizes| sizes.first().copied());
    let mut found = Comparison {
        columns: Vec::new(),
        exact: Run {
            ratio: ratio(&exact, slowest),
            steps: before.steps,
            seconds: before.took.as_secs_f64(),
        },
        runs: Vec::new(),
    };
    for stiffness in stiffnesses {
        let with = model.with_number(&augmented.parameters.stiffness, *stiffness);
        let after = with.of_text(source, &augmented.text);
        let run = match after.system() {
            Some(system) => record(system, span, TOLERANCE, &patience()),
            None => Err("the augmented model has no equations".to_string()),
        };
        let entry = match run {
            Err(reason) => Augment {
                stiffness: *stiffness,
                error: Err(reason),
                is_settled: false,
                order: None,
                run: None,
            },
            Ok(rows) => {
                let (mut error, columns) = difference((reference, &before), &rows)?;
                found.columns = columns;
                let mut is_settled = false;
                for tolerance in FINER {
                    let Some(Ok(finer)) = after
                        .system()
                        .map(|system| record(system, span, tolerance, &patience()))
                    else {
                        break;
                    };
                    let next = difference((reference, &before), &finer)?.0;
                    is_settled = (next.0 - error.0).abs() <= SETTLED * next.0;
                    error = next;
                    if is_settled {
                        break;
                    }
                }
                let order = found.runs.last().and_then(|last| order(last, *stiffness, error.0));
                let falls = order.is_none_or(|order| order > LEAST_ORDER || error.0 > SMALL);
                let is_settled = is_settled && falls && is_fine;
                Augment {
                    stiffness: *stiffness,
                    order: order.filter(|_| is_settled),
                    error: Ok(error),
                    is_settled,
                    run: Some(Run {
                        ratio: ratio(&after, slowest),
                        steps: rows.steps,
                        seconds: rows.took.as_secs_f64(),
                    }),
                }
            }
        };
        found.runs.push(entry);
        if interrupt::is_asked_for() {
            return Err("interrupted".to_string());
        }
    }
    Ok(found)
}

/// Returns the order of convergence of the error since the previous run.
fn order(last: &Augment, stiffness: f64, error: f64) -> Option<f64> {
    let before = last.error.as_ref().ok().filter(|_| last.is_settled)?.0;
    let order = (before / error).ln() / (stiffness / last.stiffness).ln();
    order.is_finite().then_some(order)
}

/// Returns the largest difference between columns with the same name, as a fraction of the range of the column, and the compared columns. A
/// column is omitted if its range is no larger than its change in a coarser run of the same model, because it then contains only
/// round-off.
fn difference((before, coarser): (&Record, &Record), after: &Record) -> Result<((f64, String), Vec<String>), String> {
    let mut worst: Option<(f64, String)> = None;
    let mut columns = Vec::new();
    for (at, name) in before.names.iter().enumerate() {
        let Some(other) = after.names.iter().position(|other| other == name) else {
            continue;
        };
        if columns.contains(name) {
            continue;
        }
        let values = before.rows.iter().map(|row| row[at]);
        let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        let range = match high - low {
            range if range > 0.0 => range,
            _ => high.abs().max(low.abs()).max(f64::MIN_POSITIVE),
        };
        let changes = before.rows.iter().zip(&coarser.rows);
        let noise = changes
            .map(|(row, coarser_row)| (row[at] - coarser_row[at]).abs())
            .fold(0.0, f64::max);
        if range <= NOISY * noise {
            continue;
        }
        columns.push(name.clone());
        // Parasitic elements start at rest, so their flows are correct only after the start.
        let pairs = before.rows.iter().zip(&after.rows).skip(1);
        let error = pairs
            .map(|(row, other_row)| (row[at] - other_row[other]).abs() / range)
            .fold(0.0, f64::max);
        if worst.as_ref().is_none_or(|worst| error > worst.0) {
            worst = Some((error, name.clone()));
        }
    }
    let worst = worst.ok_or("the models have no outputs and no states in common that change in the run".to_string())?;
    Ok((worst, columns))
}

/// Returns the magnitudes of the nonzero poles at the start, in ascending order. A pole counts as zero if it is much smaller than the
/// slowest pole of the exact model. If that model has no such pole, the round-off level is used instead.
fn sizes(compilation: &Compilation, slowest: Option<f64>) -> Option<Vec<f64>> {
    let is_linear = compilation.system()?.equations.linear;
    let small = (!is_linear).then(|| {
        compilation.linearized_anew(LinearizeRequest {
            equilibrium: false,
            symbolic: false,
        })
    });
    let system = small.as_ref().unwrap_or(compilation).system()?;
    let poles = poles(&system.matrices.numeric.as_ref()?.a)?;
    let mut sizes: Vec<f64> = poles.iter().map(|pole| pole.norm()).collect();
    sizes.sort_by(f64::total_cmp);
    let largest = *sizes.last()?;
    let least = slowest.map_or(1e-9 * largest, |slowest| (0.1 * slowest).max(1e-13 * largest));
    sizes.retain(|size| *size > least);
    Some(sizes)
}

/// Returns the ratio of the largest pole to the smallest nonzero pole.
fn ratio(compilation: &Compilation, slowest: Option<f64>) -> Option<f64> {
    let sizes = sizes(compilation, slowest)?;
    Some(sizes.last()? / sizes.first()?)
}

fn shown(value: Option<f64>) -> String {
    value.map_or("-".to_string(), |value| significant(value, 3))
}

impl Comparison {
    /// Prints a table with a row for the exact model and for each stiffness.
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        match self.columns.is_empty() {
            true => writeln!(out)?,
            false => writeln!(out, "\ncompared over {}, behind the first row", self.columns.join(", "))?,
        }
        let words = ["stiffness", "error", "order", "stiffness ratio", "steps", "run time"];
        let mut table = Table::new(&[11, 10, 7, 17, 8, 11]);
        table.row(words.map(str::to_string));
        let seconds = |run: &Run| format!("{} s", significant(run.seconds, 2));
        let exact = &self.exact;
        table.row([
            "exact".to_string(),
            "-".to_string(),
            "-".to_string(),
            shown(exact.ratio),
            exact.steps.to_string(),
            seconds(exact),
        ]);
        for entry in &self.runs {
            let error = entry.error.as_ref().ok().map(|error| match entry.is_settled {
                true => significant(error.0, 3),
                false => format!("<{}", significant(error.0, 2)),
            });
            table.row([
                significant(entry.stiffness, 3),
                error.unwrap_or("-".to_string()),
                entry.order.map_or("-".to_string(), |order| format!("{order:.2}")),
                shown(entry.run.as_ref().and_then(|run| run.ratio)),
                entry.run.as_ref().map_or("-".to_string(), |run| run.steps.to_string()),
                entry.run.as_ref().map_or("-".to_string(), seconds),
            ]);
        }
        table.write(out)?;
        for entry in &self.runs {
            if let Err(reason) = &entry.error {
                writeln!(out, "{}: {reason}", significant(entry.stiffness, 3))?;
            }
        }
        Ok(())
    }

    /// Returns the comparison as JSON.
    pub(super) fn json(&self) -> Value {
        let run = |run: &Run| json!({"stiffness_ratio": run.ratio, "steps": run.steps, "seconds": run.seconds});
        let runs = self.runs.iter().map(|entry| {
            let mut value = entry.run.as_ref().map_or(json!({}), run);
            value["stiffness"] = json!(entry.stiffness);
            value["order"] = json!(entry.order);
            match &entry.error {
                Ok((error, column)) => {
                    value["error"] = json!(error);
                    value["column"] = json!(column);
                    value["settled"] = json!(entry.is_settled);
                }
                Err(reason) => value["failed"] = json!(reason),
            }
            value
        });
        let runs: Vec<Value> = runs.collect();
        json!({"columns": self.columns, "exact": run(&self.exact), "runs": runs})
    }
}
