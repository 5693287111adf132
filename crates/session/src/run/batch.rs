//! Many runs of one compiled model, which differ in parameter values.

use crate::run::happened::Happened;
use crate::run::plan::{Plans, RunOptions};
use crate::run::ready::Ready;
use lgm_equations::StateSystem;
use lgm_simulate::{Failure, FailureKind, Inputs, Plan, Progress, Simulator, Sink};
use std::collections::BTreeMap;
use std::io;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Condvar, Mutex, PoisonError, mpsc};
use std::time::Duration;

/// The time without a result after which the caller of [`in_order`] may act.
const PATIENCE: Duration = Duration::from_millis(50);

/// Runs of one model whose equations have symbolic parameters ([`Session::prepare_batch`](crate::Session::prepare_batch)). All data that
/// do not depend on parameter values are shared.
///
/// ```
/// use lgm_session::run::batch::Batch;
/// use lgm_session::run::plan::RunOptions;
/// use lgm_session::{Choice, Session, States};
/// use lgm_simulate::Silent;
///
/// let text = "model M { param R = 1 [ohm]; node a : electrical; c : Capacitor(1 [F]) a -> gnd, start = 1;
///     r : Resistor(R) a -> gnd; output u = across(c); }";
/// let session = Session::of_text("rc.lgm", text, &Choice::default(), &States::default())?;
/// let options = RunOptions { stop: Some(1.0), points: Some(2), ..RunOptions::default() };
/// let ready = session.prepare_batch(&options, &[])?.ready;
/// let batch = Batch::new(&ready, &options, vec![0]);
/// for r in [1.0, 2.0] {
///     let mut last = f64::NAN;
///     let mut sink = |_: f64, outputs: &[f64], _: &[f64]| last = outputs[0];
///     let point = batch.point(&[r]).expect("the span does not depend on R");
///     batch.run(&point, &mut sink, &Silent).expect("a linear model runs to its end");
///     assert!((last - f64::exp(-1.0 / r)).abs() < 1e-5, "{last}");
/// }
/// # Ok::<(), lgm_session::Faults>(())
/// ```
pub struct Batch<'a> {
    ready: &'a Ready,
    simulator: Simulator<'a>,
    plans: Plans<'a>,
    positions: Vec<usize>,
}

/// The data of one run of a batch.
#[derive(Debug)]
pub struct Point {
    /// The values of all parameters.
    pub parameters: Vec<f64>,
    /// The signals of the inputs.
    pub inputs: Inputs,
    /// The plan.
    pub plan: Plan,
}

impl<'a> Batch<'a> {
    /// Prepares runs with these options. `positions` are the varied entries in the list of all entries of all parameters
    /// ([`parameter_entry`](crate::analysis::modes::parameter_entry)).
    pub fn new(ready: &'a Ready, options: &'a RunOptions, positions: Vec<usize>) -> Batch<'a> {
        Batch {
            ready,
            simulator: Simulator::new(&ready.system, &ready.kernels),
            plans: Plans::new(options, &ready.system, &ready.plan),
            positions,
        }
    }

    /// Returns the equations of the runs.
    pub fn system(&self) -> &'a StateSystem {
        &self.ready.system
    }

    /// Returns the data of the run with these values of the varied entries, in SI units.
    ///
    /// # Errors
    ///
    /// If the values make the plan of the run invalid.
    pub fn point(&self, values: &[f64]) -> Result<Point, Failure> {
        let set: Vec<(usize, f64)> = self.positions.iter().copied().zip(values.iter().copied()).collect();
        let parameters = self.ready.kernels.parameters(&set);
        let plan = self.plans.with(&parameters);
        let plan = plan.map_err(|words| Failure::new(self.ready.plan.start, FailureKind::Refused(words)))?;
        let inputs = self.ready.inputs.with_parameters(&parameters, plan.start);
        Ok(Point {
            parameters,
            inputs,
            plan,
        })
    }

    /// Performs one run.
    ///
    /// # Errors
    ///
    /// The reason and the time if the run ends before its stop time.
    pub fn run(&self, point: &Point, sink: &mut dyn Sink, progress: &dyn Progress) -> Result<(), Failure> {
        let Point {
            parameters,
            inputs,
            plan,
        } = point;
        let ended = match &self.ready.switched {
            None => self.simulator.run(parameters, inputs, plan, sink, progress),
            Some(_) => {
                let mut happened = Happened::default();
                self.ready
                    .run_switched((parameters, plan), sink, progress, &mut happened)
            }
        };
        ended.map(drop)
    }
}

/// Returns the number of cores that this process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// Distributes numbered work over threads and returns the results in order, until one is not accepted.
///
/// Workers that are far ahead of the last accepted result wait, so that memory use is bounded. `take` is also called, with None, when
/// no result has arrived for a while.
///
/// # Errors
///
/// The error of `take`, which ends the work, or that no thread can be started.
pub fn in_order<T: Send>(
    count: usize,
    threads: usize,
    work: &(dyn Fn(usize) -> T + Sync),
    take: &mut dyn FnMut(Option<(usize, T)>) -> io::Result<bool>,
) -> io::Result<()> {
    let threads = threads.min(count).max(1);
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
        'all: loop {
            match receiver.recv_timeout(PATIENCE) {
                Ok((number, made)) => {
                    waiting.insert(number, made);
                }
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => match take(None) {
                    Ok(true) => continue,
                    other => {
                        answer = other.map(drop);
                        break;
                    }
                },
            }
            while let Some(made) = waiting.remove(&wanted) {
                let goes_on = take(Some((wanted, made)));
                wanted += 1;
                *taken.0.lock().unwrap_or_else(PoisonError::into_inner) = wanted;
                taken.1.notify_all();
                if !matches!(goes_on, Ok(true)) {
                    answer = goes_on.map(drop);
                    break 'all;
                }
            }
        }
        *taken.0.lock().unwrap_or_else(PoisonError::into_inner) = ended;
        taken.1.notify_all();
        answer
    })
}
