//! A batch of runs of one compiled model, in parallel on all cores, with one table of all results.

use super::runs::Runs;
use crate::cli::files::disk::write_result;
use crate::cli::outcome::Outcome;
use crate::cli::simulate::arguments::Arguments;
use crate::cli::simulate::plots::Plotter;
use crate::cli::simulate::watch::Watch;
use crate::cli::{interrupt, report};
use lgm_emit::plot::{Figure, Series};
use lgm_emit::rows::{Column, Field, TableWriter};
use lgm_model::SiUnit;
use lgm_session::run::columns::{Curve, Written};
use lgm_session::run::failures;
use lgm_session::run::happened::Happened;
use lgm_session::run::plan::Plans;
use lgm_session::run::ready::{Ready, is_interruption};
use lgm_simulate::{Failure, FailureKind, Simulator};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError, mpsc};

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
    let drawn = drawn(runs.values.len(), shown.len());
    let mut curves: Vec<Series> = Vec::new();
    let (mut from, mut to) = (f64::INFINITY, f64::NEG_INFINITY);
    let (mut failed, mut interrupted) = (0, false);
    let options = arguments.plan.options();
    let batch = Batch {
        arguments,
        ready,
        runs,
        written,
        shown,
        simulator: Simulator::new(system, &ready.kernels),
        plans: Plans::new(&options, system, &ready.plan),
        watch: &watch,
    };
    let work = |number: usize| batch.one(number);
    let mut all = |stream: Option<&mut dyn Write>| -> io::Result<()> {
        let mut table = match stream {
            Some(out) => {
                let writer = TableWriter::begin(arguments.table_format(), &system.model, &columns, out)?;
                Some((writer, out))
            }
            None => None,
        };
        let taken = in_order(runs.values.len(), &work, &mut |number, made: Made| {
            watch.finished(number + 1);
            if made.failure.as_ref().is_some_and(is_interruption) || interrupt::is_asked_for() {
                interrupted = true;
                return Ok(false);
            }
            failed += usize::from(made.failure.is_some());
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
struct Batch<'a> {
    arguments: &'a Arguments,
    ready: &'a Ready,
    runs: &'a Runs,
    written: &'a Written,
    shown: &'a [Curve],
    simulator: Simulator<'a>,
    plans: Plans<'a>,
    watch: &'a Watch,
}

impl Batch<'_> {
    /// Executes one run.
    fn one(&self, number: usize) -> Made {
        let (ready, runs) = (self.ready, self.runs);
        let values = &runs.values[number];
        let positions = runs.parameters.iter().map(|target| target.position);
        let set: Vec<(usize, f64)> = positions.zip(values.iter().copied()).collect();
        let parameters = ready.kernels.parameters(&set);
        let plan = match self.plans.with(&parameters) {
            Ok(plan) => plan,
            Err(words) => {
                return Made {
                    failure: Some(Failure::new(ready.plan.start, FailureKind::Refused(words))),
                    ..Made::default()
                };
            }
        };
        let inputs = ready.inputs.with_parameters(&parameters, plan.start);
        let mut plotter = Plotter::new(
            &ready.system,
            &plan,
            if self.arguments.draws() { self.shown } else { &[] },
        );
        let mut rows = Vec::new();
        let mut sink = |time: f64, outputs: &[f64], states: &[f64]| {
            rows.push(time);
            rows.extend(self.written.values(time, outputs, states, &inputs));
            plotter.row(time, outputs, states, &inputs);
        };
        let ended = match &ready.switched {
            None => self.simulator.run(&parameters, &inputs, &plan, &mut sink, self.watch),
            Some(_) => {
                let mut happened = Happened::default();
                ready.run_switched((&parameters, &plan), &mut sink, self.watch, &mut happened)
            }
        };
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

/// Distributes numbered work over all cores and returns the results in order, until one is not accepted.
///
/// Workers that are far ahead of the last accepted result wait, so that memory use is bounded.
fn in_order<T: Send>(
    count: usize,
    work: &(dyn Fn(usize) -> T + Sync),
    take: &mut dyn FnMut(usize, T) -> io::Result<bool>,
) -> io::Result<()> {
    let threads = std::thread::available_parallelism()
        .map_or(1, NonZero::get)
        .min(count.max(1));
    let next = AtomicUsize::new(0);
    let taken = (Mutex::new(0usize), Condvar::new());
    let ahead = 8 * threads;
    // A number larger than any index ends the workers.
    let ended = usize::MAX / 2;
    std::thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel::<(usize, T)>();
        for _ in 0..threads {
            let sender = sender.clone();
            let (next, taken) = (&next, &taken);
            let body = move || {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        return;
                    }
                    let mut done = taken.0.lock().unwrap_or_else(PoisonError::into_inner);
                    while number >= *done + ahead {
                        done = taken.1.wait(done).unwrap_or_else(PoisonError::into_inner);
                    }
                    let is_over = *done >= ended;
                    drop(done);
                    if is_over || sender.send((number, work(number))).is_err() {
                        return;
                    }
                }
            };
            std::thread::Builder::new()
                .stack_size(16 << 20)
                .spawn_scoped(scope, body)
                .map_err(|error| io::Error::other(format!("cannot start another thread: {error}")))?;
        }
        drop(sender);
        let mut waiting = BTreeMap::new();
        let mut wanted = 0;
        let mut answer = Ok(());
        'all: for (number, made) in receiver {
            waiting.insert(number, made);
            while let Some(made) = waiting.remove(&wanted) {
                let goes_on = take(wanted, made);
                wanted += 1;
                *taken.0.lock().unwrap_or_else(PoisonError::into_inner) = wanted;
                taken.1.notify_all();
                match goes_on {
                    Ok(true) => {}
                    Ok(false) => break 'all,
                    Err(error) => {
                        answer = Err(error);
                        break 'all;
                    }
                }
            }
        }
        *taken.0.lock().unwrap_or_else(PoisonError::into_inner) = ended;
        taken.1.notify_all();
        answer
    })
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
        let answer = in_order(300, &work, &mut |number, made| {
            seen.push((number, made));
            Ok(true)
        });
        assert!(answer.is_ok());
        assert_eq!(seen.len(), 300);
        assert!(seen.iter().enumerate().all(|(at, entry)| *entry == (at, at * at)));
        let mut count = 0;
        let answer = in_order(10_000_000, &work, &mut |_, _| {
            count += 1;
            Ok(count < 20)
        });
        assert!(answer.is_ok());
        assert_eq!(count, 20);
        let answer = in_order(100, &work, &mut |_, _| Err(io::Error::other("full")));
        assert!(answer.is_err());
    }
}
