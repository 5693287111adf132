//! Random ordinary models compared with an independent solution of their differential-algebraic equations.
//!
//! [`draw`] makes models of 5 to 25 elements over all domains: couplers, controlled sources, diodes, drag, orifices, hard springs, gaps.
//! [`nodal`] states the equations of their nodes, and [`radau`] solves them; neither shares code or method with the compiler. Rows are
//! compared from the second one on, since an impulse may stand in the first; a difference counts where it is more than [`SHARE`]
//! tolerances of the largest value of its column, or of [`LEAST`] of the largest value of its kind, plus what two solutions of the
//! reference differ by.
//!
//! `LGM_CASES=40 cargo test --test all ordinary:: -- --nocapture` runs 40 times the usual number of models, each by every method. The
//! models that fail are written to `target/tmp/ordinary`, with the right numbers; `LGM_ORDINARY_KEEP=1` writes all of them. `LGM_SEED=17`
//! is the first seed.

mod draw;
mod model;
mod nodal;
mod radau;

use crate::runs::metamorphic::{Fault, Rows, compile, run};
use crate::support::cases::{first_seed, is_campaign, many};
use lgm::equations::StateRequest;
use lgm::simulate::{Method, Plan};
use model::{Domain, Kind, Model};
use nodal::Nodal;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Relative tolerance of the runs.
const RTOL: f64 = 1e-6;

/// Tolerances of the two solutions of the reference.
const REFERENCES: [f64; 2] = [1e-10, 1e-8];

/// The number of tolerances from which a difference counts.
const SHARE: f64 = 100.0;

/// The code of the warning that an output is less accurate than the tolerance.
const LESS_RIGHT: &str = "LGM1025";

/// Errors accumulate over a run. A difference of this many tolerances is more than accumulation, and fails the test
/// unless the run warns of it.
const WRONG: f64 = 1000.0;

/// Values smaller than this fraction of the largest one of their kind are compared relative to that fraction.
const LEAST: f64 = 1e-9;

/// Values smaller than this count as zero.
const NOTHING: f64 = 1e-30;

/// Samples of a run.
const POINTS: usize = 41;

/// The default number of models.
const MODELS: u64 = 40;

/// The results of the models.
#[derive(Default)]
struct Tally {
    models: usize,
    runs: usize,
    /// Models that the reference does not solve.
    unsolved: usize,
    /// Rejected models and runs, by message.
    refused: BTreeMap<String, usize>,
    /// Runs that differ, with the codes of their warnings.
    wrong: Vec<String>,
    /// Runs that differ and warned of it.
    warned: Vec<String>,
    /// Runs that differ, but below the failure limit.
    slight: Vec<String>,
    /// Warnings of runs that do not differ, by code.
    alarms: BTreeMap<String, usize>,
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally {
            models, runs, unsolved, ..
        } = self;
        writeln!(f, "{models} models, {runs} runs, {unsolved} models without a reference")?;
        writeln!(f, "refused: {:?}", self.refused)?;
        writeln!(f, "warnings of right runs: {:?}", self.alarms)?;
        writeln!(f, "wrong and warned of: {}", self.warned.join("\n"))?;
        writeln!(f, "slightly off in silence: {}", self.slight.join("\n"))?;
        writeln!(f, "wrong in silence: {}", self.wrong.join("\n"))
    }
}

/// The largest difference, relative to its column's magnitude.
struct Difference {
    share: f64,
    words: String,
}

/// The expected result: the samples of the reference, and its own errors, by column.
struct Right {
    rows: Vec<Vec<f64>>,
    doubt: Vec<f64>,
    sizes: Vec<f64>,
}

fn right(model: &Model) -> Option<Right> {
    let nodal = Nodal::new(model);
    let corners = model.corners();
    let [rows, others] = REFERENCES.map(|rtol| radau::rows(&nodal, (model.stop, POINTS), &corners, rtol));
    let (rows, others) = (rows?, others?);
    let measures = model.measures();
    let most = |of: &dyn Fn(usize) -> f64| (1..POINTS).map(of).fold(0.0, f64::max);
    let mut sizes: Vec<f64> = (0..measures.len()).map(|at| most(&|row| rows[row][at].abs())).collect();
    let doubt = (0..measures.len()).map(|at| most(&|row| (rows[row][at] - others[row][at]).abs()));
    let doubt: Vec<f64> = doubt.collect();
    let kind = |at: usize| -> (Domain, bool) {
        let (element, port, is_through) = measures[at];
        let (from, to) = model.elements[element].ports[port];
        (model.nodes[from.or(to).expect("a branch has a node")], is_through)
    };
    let largest = |of: usize| {
        (0..measures.len())
            .filter(|at| kind(*at) == kind(of))
            .map(|at| sizes[at])
            .fold(0.0, f64::max)
    };
    let least: Vec<f64> = (0..measures.len())
        .map(|at| (LEAST * largest(at)).max(NOTHING))
        .collect();
    sizes
        .iter_mut()
        .zip(least)
        .for_each(|(size, least)| *size = size.max(least));
    Some(Right { rows, doubt, sizes })
}

impl Right {
    /// The largest relevant difference of a run, if any.
    fn difference(&self, rows: &Rows, share: f64) -> Option<Difference> {
        let mut worst: Option<Difference> = None;
        for (row, values) in rows.values.iter().enumerate().skip(1) {
            for (at, value) in values.iter().enumerate() {
                // Tolerances depend on the whole run, including the initial value.
                let (right, size) = (self.rows[row][at], self.sizes[at].max(rows.values[0][at].abs()));
                let off = (value - right).abs();
                let is_worse = worst.as_ref().is_none_or(|worst| off / size > worst.share);
                // NaN is wrong too.
                let is_right = off <= share * RTOL * size + 2.0 * self.doubt[at];
                if !is_right && is_worse {
                    let (name, time) = (&rows.names[at], rows.times[row]);
                    let words = format!(
                        "{name} at {time} s is {value:e}, right is {right:e} ({:.1e} of {size:.1e})",
                        off / size
                    );
                    worst = Some(Difference {
                        share: off / size,
                        words,
                    });
                }
            }
        }
        worst
    }
}

/// The text of a model with the expected numbers in its header.
fn with_numbers(model: &Model, right: &Right, words: &str) -> String {
    let shown: Vec<usize> = [POINTS / 4, POINTS / 2, POINTS - 1].to_vec();
    let mut head = format!("/// {words}\n");
    for row in shown {
        let values = right.rows[row].iter().enumerate();
        let values: Vec<String> = values.map(|(at, value)| format!("y{} {value:.8e}", at + 1)).collect();
        let time = model.stop * row as f64 / (POINTS - 1) as f64;
        head += &format!("/// Right at {time} s: {}\n", values.join(", "));
    }
    let text = model.text(POINTS);
    text.replacen("model Ordinary", &format!("{head}model Ordinary"), 1)
}

fn keep(kind: Kind, seed: u64, text: &str) {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("ordinary");
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    std::fs::write(folder.join(format!("{kind:?}_{seed}.lgm")), text).expect("the file can be written");
}

/// The model of one seed, by some methods.
fn one(kind: Kind, seed: u64, methods: &[Method], tally: &Mutex<Tally>) {
    let model = draw::draw(seed, kind);
    let Some(right) = right(&model) else {
        tally.lock().expect("no thread panicked").unsolved += 1;
        return;
    };
    let text = model.text(POINTS);
    let name = format!("{kind:?}_{seed}");
    let system = compile(&text, StateRequest::Natural, false);
    let mut lines = Vec::new();
    for method in methods {
        let plan = Plan {
            stop: model.stop,
            points: POINTS,
            rtol: RTOL,
            method: *method,
            ..Plan::default()
        };
        // Low-order methods accumulate more error.
        let share = if *method == Method::TrBdf2 { 10.0 * SHARE } else { SHARE };
        let rows = system
            .as_ref()
            .map_err(Fault::clone)
            .and_then(|system| run(system, &plan, false, None));
        let mut tally = tally.lock().expect("no thread panicked");
        tally.runs += 1;
        match rows {
            Err(fault) => {
                *tally.refused.entry(fault.word()).or_default() += 1;
                lines.push(format!("{name} {}: {fault:?}", method.word()));
            }
            Ok(rows) => match right.difference(&rows, share) {
                None => {
                    for code in rows.notes {
                        *tally.alarms.entry(code).or_default() += 1;
                    }
                }
                Some(found) => {
                    let line = format!("{name} {}: {} {:?}", method.word(), found.words, rows.notes);
                    lines.push(line.clone());
                    let is_slight = found.share < WRONG * RTOL;
                    // No other warning concerns wrong numbers.
                    let is_warned = rows.notes.iter().any(|code| code == LESS_RIGHT);
                    match (is_warned, is_slight) {
                        (false, true) => tally.slight.push(line),
                        (false, false) => tally.wrong.push(line),
                        (true, _) => tally.warned.push(line),
                    }
                }
            },
        }
    }
    if !lines.is_empty() || std::env::var_os("LGM_ORDINARY_KEEP").is_some() {
        lines.iter().for_each(|line| eprintln!("{line}"));
        keep(kind, seed, &with_numbers(&model, &right, &lines.join("; ")));
    }
    tally.lock().expect("no thread panicked").models += 1;
}

/// Runs the models of one kind.
fn campaign(kind: Kind) -> Tally {
    let first = first_seed();
    let count = many(MODELS);
    let all = [Method::Auto, Method::Bdf, Method::Sdirk, Method::TrBdf2];
    let next = AtomicU64::new(first);
    let tally = Mutex::new(Tally::default());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= first + count {
                        return;
                    }
                    let one_of = [all[0], all[1 + (seed % 3) as usize]];
                    let methods = if is_campaign() { &all[..] } else { &one_of[..] };
                    one(kind, seed, methods, &tally);
                }
            });
        }
    });
    tally.into_inner().expect("no thread panicked")
}

/// Fails for models that are silently wrong, and if too few could be compared because the others have no reference or
/// are rejected. `refused` is the maximum fraction of rejected runs.
#[track_caller]
fn assert_right(kind: Kind, refused: f64) {
    let tally = campaign(kind);
    println!("{tally}");
    assert!(tally.wrong.is_empty(), "{tally}");
    assert!(tally.unsolved * 10 <= tally.models + tally.unsolved, "{tally}");
    // The number of runs stopped by the time limit depends on the machine.
    let refusals = tally.refused.iter().filter(|(reason, _)| *reason != "slow");
    let count: usize = refusals.map(|(_, count)| count).sum();
    assert!(count as f64 <= refused * tally.runs as f64, "{tally}");
}

#[test]
fn everyday_models_agree() {
    assert_right(Kind::Everyday, 0.05);
}

#[test]
fn electrical_models_with_steep_laws_agree() {
    assert_right(Kind::Electrical, 0.03);
}

#[test]
fn fluid_models_with_turbulent_laws_agree() {
    assert_right(Kind::Fluid, 0.13);
}
