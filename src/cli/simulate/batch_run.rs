//! A batch of runs of one compiled model, in parallel on all cores, with one table of all results.

use crate::cli::files::disk::write_result;
use crate::cli::outcome::Outcome;
use crate::cli::simulate::arguments::Arguments;
use crate::cli::simulate::batch::runs::Runs;
use crate::cli::simulate::batch::summary::Summary;
use crate::cli::simulate::plots::Plotter;
use crate::cli::simulate::watch::Watch;
use crate::cli::{interrupt, report};
use lgm_emit::plot::{Figure, Series};
use lgm_emit::rows::{Column, Field, TableWriter};
use lgm_model::SiUnit;
use lgm_session::run::batch::{Batch, cores, in_order};
use lgm_session::run::columns::{Curve, Written};
use lgm_session::run::failures;
use lgm_session::run::ready::{Ready, is_interruption};
use lgm_simulate::Failure;
use std::io::{self, Write};

/// The result of one run.
#[derive(Default)]
struct Made {
    /// Samples in sequence, each consisting of the time and the outputs.
    rows: Vec<f64>,
    failure: Option<Failure>,
    curves: Vec<Series>,
    /// The requested start and stop times.
    span: Option<(f64, f64)>,
}

/// Maximum number of curves that can be distinguished in one plot.
const MOST_CURVES: usize = 16;

/// Selects the runs to plot for a number of curves per run: at least one run, spread evenly over all runs.
fn drawn(runs: usize, curves: usize) -> Vec<usize> {
    let count = (MOST_CURVES / curves.max(1)).max(1).min(runs);
    (0..count).map(|k| k * (runs - 1) / (count - 1).max(1)).collect()
}

/// Reports an interruption and the number of failed runs.
fn report_ends(interrupted: bool, failed: usize, runs: usize) {
    if interrupted {
        eprintln!("interrupted; the runs so far are kept");
    }
    if failed > 0 {
        eprintln!(
            "{failed} of {} runs failed: see the columns `status` and `reason`",
            runs
        );
    }
}

/// Executes all runs and writes one table: the number of the run, its parameters, the time, the outputs, the status and the reason.
pub(in crate::cli::simulate) fn run(
    arguments: &Arguments,
    ready: &Ready,
    runs: &Runs,
    written: &Written,
    shown: &[Curve],
) -> Outcome {
    let system = &ready.system;
    let watch = Watch::new(ready.plan.start, ready.plan.stop, runs.values.len());
    let columns = columns(written, runs);
    let names = written.columns().map(|column| column.name);
    let mut summary = arguments.batch.summary.then(|| Summary::new(names.collect()));
    let drawn = drawn(runs.values.len(), shown.len());
    let mut curves: Vec<Series> = Vec::new();
    let (mut from, mut to) = (f64::INFINITY, f64::NEG_INFINITY);
    let (mut failed, mut interrupted) = (0, false);
    let options = arguments.plan.options();
    let positions = runs.parameters.iter().map(|target| target.position).collect();
    let all_runs = AllRuns {
        arguments,
        batch: Batch::new(ready, &options, positions),
        runs,
        written,
        shown,
        watch: &watch,
    };
    let work = |number: usize| all_runs.one(number);
    let mut all = |stream: Option<&mut dyn Write>| -> io::Result<()> {
        let mut table = match stream {
            Some(out) => {
                let writer = TableWriter::begin(arguments.table_format(), &system.model, &columns, out)?;
                Some((writer, out))
            }
            None => None,
        };
        let taken = in_order(runs.values.len(), cores(), &work, &mut |finished| {
            let Some((number, made)) = finished else {
                return Ok(true);
            };
            watch.finished(number + 1);
            if made.failure.as_ref().is_some_and(is_interruption) || interrupt::is_asked_for() {
                interrupted = true;
                return Ok(false);
            }
            failed += usize::from(made.failure.is_some());
            if let (None, Some(summary)) = (&made.failure, &mut summary) {
                summary.add(number, &made.rows);
            }
            if let Some((writer, out)) = &mut table {
                write_run(writer, *out, arguments.keep, (runs, written.count()), number, &made)?;
            }
            if let Some(span) = made.span {
                (from, to) = (from.min(span.0), to.max(span.1));
            }
            if drawn.binary_search(&number).is_ok() {
                curves.extend(made.curves);
            }
            Ok(true)
        });
        watch.clear();
        taken?;
        match table {
            Some((writer, out)) => writer.end(if interrupted { "interrupted" } else { "complete" }, out),
            None => Ok(()),
        }
    };
    let written = match arguments.writes_rows() {
        true => write_result(arguments.output.as_deref(), &mut |stream| all(Some(stream))),
        false => {
            let _ = all(None);
            Ok(())
        }
    };
    report_ends(interrupted, failed, runs.values.len());
    match report::after_writing(&ready.map, written) {
        Outcome::Success => {}
        fault => return fault,
    }
    if let Some(summary) = &summary {
        let printed = write_result(None, &mut |out| summary.write(runs, out));
        match report::after_writing(&ready.map, printed) {
            Outcome::Success => {}
            fault => return fault,
        }
    }
    let has_picture = arguments.plot.is_some() || arguments.html.is_some();
    if has_picture && drawn.len() < runs.values.len() {
        let rest = match arguments.writes_rows() {
            true => "the table contains all of them",
            false => "write all of them with `-o FILE.csv`",
        };
        eprintln!("the plot shows {} of {} runs; {rest}", drawn.len(), runs.values.len());
    }
    let figure = Figure {
        title: match shown {
            [only] => format!("{}: {}", system.model, only.name),
            _ => system.model.to_string(),
        },
        from,
        to,
        series: curves,
        events: Vec::new(),
    };
    for fault in crate::cli::simulate::plots::write(arguments, &figure) {
        match report::after_writing(&ready.map, Err(fault)) {
            Outcome::Success => {}
            fault => return fault,
        }
    }
    match (interrupted, failed == runs.values.len()) {
        (true, _) => Outcome::Interrupted,
        // A batch with at least one completed run is a success; its table reports the failed runs.
        (false, true) => Outcome::Failure,
        (false, false) => Outcome::Success,
    }
}

/// The shared data of all runs.
struct AllRuns<'a> {
    arguments: &'a Arguments,
    batch: Batch<'a>,
    runs: &'a Runs,
    written: &'a Written,
    shown: &'a [Curve],
    watch: &'a Watch,
}

impl AllRuns<'_> {
    /// Executes one run.
    fn one(&self, number: usize) -> Made {
        let runs = self.runs;
        let values = &runs.values[number];
        let point = match self.batch.point(values) {
            Ok(point) => point,
            Err(failure) => {
                return Made {
                    failure: Some(failure),
                    ..Made::default()
                };
            }
        };
        let (inputs, plan) = (&point.inputs, &point.plan);
        let shown = if self.arguments.draws() { self.shown } else { &[] };
        let mut plotter = Plotter::new(self.batch.system(), plan, shown);
        let mut rows = Vec::new();
        let mut sink = |time: f64, outputs: &[f64], states: &[f64]| {
            rows.push(time);
            rows.extend(self.written.values(time, outputs, states, inputs));
            plotter.row(time, outputs, states, inputs);
        };
        let ended = self.batch.run(&point, &mut sink, self.watch);
        let mut curves = plotter.series();
        let named = runs.parameters.iter().zip(values);
        let words: Vec<String> = named
            .map(|(target, value)| format!("{}={}", target.name, lgm_emit::significant(*value, 4)))
            .collect();
        for curve in &mut curves {
            if self.shown.len() == 1 {
                // All runs show the same quantity, so they share a panel even if its unit is unknown.
                curve.unit.get_or_insert_with(|| "1".to_string());
            }
            curve.name = match self.shown {
                [_] => words.join(", "),
                _ => format!("{}, {}", curve.name, words.join(", ")),
            };
        }
        Made {
            rows,
            failure: ended.err(),
            curves,
            span: Some((plan.start, plan.stop)),
        }
    }
}

fn columns(written: &Written, runs: &Runs) -> Vec<Column> {
    let column = |name: &str, unit: Option<SiUnit>, kind| Column {
        name: name.to_string(),
        unit,
        kind,
    };
    let mut list = vec![column("run", None, "run")];
    let varied = runs.parameters.iter();
    list.extend(varied.map(|target| column(&target.name, target.unit.clone(), "parameter")));
    list.push(column("time", Some(SiUnit::second()), "time"));
    list.extend(written.columns());
    list.push(column("status", None, "status"));
    list.push(column("reason", None, "reason"));
    list
}

/// Writes the samples of one run. A failed run ends with a row that states the time and the reason.
fn write_run(
    writer: &mut TableWriter,
    out: &mut dyn Write,
    keeps: bool,
    (runs, width): (&Runs, usize),
    number: usize,
    made: &Made,
) -> io::Result<()> {
    let head = || {
        let values = runs.values[number].iter().copied();
        std::iter::once((number + 1) as f64).chain(values).map(Field::Number)
    };
    if made.failure.is_none() || keeps {
        for row in made.rows.chunks(width + 1) {
            let values = row.iter().copied().map(Field::Number);
            writer.row(head().chain(values).chain([Field::Text("ok"), Field::Empty]), out)?;
        }
    }
    if let Some(failure) = &made.failure {
        let reason = failures::sentence(failure);
        let gap = std::iter::repeat_n(Field::Empty, width);
        let time = std::iter::once(Field::Number(failure.time));
        let tail = [Field::Text("failed"), Field::Text(&reason)];
        writer.row(head().chain(time).chain(gap).chain(tail), out)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_that_are_drawn_are_spread_over_all() {
        assert_eq!(drawn(3, 2), [0, 1, 2]);
        assert_eq!(drawn(1, 1), [0]);
        assert_eq!(drawn(1000, 20), [0]);
        assert_eq!(drawn(1000, 8), [0, 999]);
        let many = drawn(1000, 1);
        assert_eq!((many.len(), many[0], many[15]), (16, 0, 999));
        assert!(many.is_sorted_by(|a, b| a < b));
        assert_eq!(drawn(17, 1).len(), 16);
    }

    #[test]
    fn results_come_in_order_and_a_refusal_ends_the_work() {
        let work = |number: usize| {
            std::thread::sleep(std::time::Duration::from_micros((number as u64 * 37) % 400));
            number * number
        };
        let mut seen = Vec::new();
        let answer = in_order(300, 2, &work, &mut |finished| {
            seen.extend(finished);
            Ok(true)
        });
        assert!(answer.is_ok());
        assert_eq!(seen.len(), 300);
        assert!(seen.iter().enumerate().all(|(at, entry)| *entry == (at, at * at)));
        let mut count = 0;
        let answer = in_order(10_000_000, 2, &work, &mut |finished| {
            count += usize::from(finished.is_some());
            Ok(count < 20)
        });
        assert!(answer.is_ok());
        assert_eq!(count, 20);
        let answer = in_order(100, 2, &work, &mut |_| Err(io::Error::other("full")));
        assert!(answer.is_err());
    }
}
