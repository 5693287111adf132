//! Whole runs against the same solver over a closure written by hand, and against SciPy and CVODE, at equal measured error.
//!
//! `cargo bench --bench whole_run` prints the tables of docs/simulation-speed.md and draws docs/simulation-speed.svg; numbers
//! of states and names of families may be given: `-- 100 1000 chain`. Both sides take the same steps of Tsitouras 5(4) at the
//! same tolerances over vectors of the same library, so that what differs is the right side and what a run does beside it.
//!
//! SciPy is run by whatever `python3` has it, or `LGM_PYTHON` names; CVODE where `LGM_SUNDIALS` names a folder that holds the
//! libraries of SUNDIALS 7. What is not there is said and left out.

#[path = "whole_run/chart.rs"]
mod chart;
#[path = "families.rs"]
mod families;
#[path = "whole_run/others.rs"]
mod others;
#[path = "../tests/simulate/shapes.rs"]
mod shapes;

use diffsol::{FaerSparseMat, OdeBuilder, OdeSolverMethod, OdeSolverStopReason, VectorCommon};
use families::{FAMILIES, Family, compile};
use lgm::equations::StateSystem;
use lgm::kernels::{KernelOptions, Kernels};
use lgm::simulate::{Method, Plan, Silent, Simulator};
use others::Others;
use shapes::{Shape, Shapes};
use std::time::Instant;

/// What every run is asked for.
const RTOL: f64 = 1e-6;

/// The states that errors are measured against come from a run at this tolerance.
const REFERENCE: f64 = 1e-11;

/// Seconds that this process has computed, to the nanosecond.
fn cpu_seconds() -> f64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure is plain numbers, and is written by the call.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut now) };
    now.tv_sec as f64 + 1e-9 * now.tv_nsec as f64
}

/// One run.
#[derive(Clone, Default)]
struct Ran {
    seconds: f64,
    steps: u64,
    states: Vec<f64>,
}

/// The library over a closure.
fn by_hand(family: &Family, states: usize, rtol: f64) -> Ran {
    let (hand, frequency) = (family.hand, family.frequency);
    let problem = OdeBuilder::<FaerSparseMat<f64>>::new()
        .rtol(rtol)
        .atol([1e-3 * rtol])
        .rhs(move |x: &[f64], _: &[f64], time: f64, rates: &mut [f64]| hand((frequency * time).sin(), x, rates))
        .init(|_: &[f64], _: f64, x: &mut [f64]| x.fill(0.0), states)
        .build()
        .expect("the problem is well posed");
    let begun = cpu_seconds();
    let mut solver = problem.tsit45().expect("the solver can be made");
    solver.set_stop_time(family.stop).expect("the stop is later");
    let mut steps = 1;
    while !matches!(
        solver.step().expect("the step passes"),
        OdeSolverStopReason::TstopReached
    ) {
        steps += 1;
    }
    Ran {
        seconds: cpu_seconds() - begun,
        steps,
        states: solver.state().y.inner().col_as_slice(0).to_vec(),
    }
}

/// A run of lgm; its kernels are ready.
fn by_run(family: &Family, system: &StateSystem, kernels: &Kernels) -> Ran {
    let simulator = Simulator::new(system, kernels);
    let parameters = kernels.parameters(&[]);
    let plan = Plan {
        stop: family.stop,
        points: 2,
        rtol: RTOL,
        atol: 1e-3 * RTOL,
        method: Method::Tsit45,
        ..Plan::default()
    };
    let mut signals = vec![Shape::Zero; system.inputs.len()];
    signals[0] = Shape::Sine(1.0, family.frequency);
    let signals = Shapes(signals);
    let mut ran = Ran::default();
    let mut sink = |_: f64, _: &[f64], states: &[f64]| ran.states = states.to_vec();
    let begun = cpu_seconds();
    let result = simulator.run(&parameters, &signals, &plan, &mut sink, &Silent);
    let seconds = cpu_seconds() - begun;
    let summary = result.unwrap_or_else(|failure| panic!("{failure:?}"));
    Ran {
        seconds,
        steps: summary.steps,
        ..ran
    }
}

/// The largest error of the final states, relative to the largest of them.
fn error(found: &[f64], expected: &[f64]) -> f64 {
    let size = expected.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    let pairs = found.iter().zip(expected);
    pairs
        .map(|(found, expected)| (found - expected).abs())
        .fold(0.0, f64::max)
        / size
}

/// Runs in turns, so that other work on the machine meets all alike; the best of each.
fn best_of(rounds: usize, runs: &[&dyn Fn() -> Ran]) -> Vec<Ran> {
    let mut best: Vec<Ran> = runs.iter().map(|run| run()).collect();
    for _ in 1..rounds {
        for (run, best) in runs.iter().zip(&mut best) {
            let again = run();
            if again.seconds < best.seconds {
                *best = again;
            }
        }
    }
    best
}

/// The measurements of one family at one size.
struct Row {
    family: &'static str,
    states: usize,
    steps: u64,
    error: f64,
    hand: f64,
    native: f64,
    portable: f64,
    /// DOP853, LSODA, CVODE, at the error of the run; none where they were not run.
    others: [Option<f64>; 3],
    /// Milliseconds of compiling: to equations, of lowering, of the machine code of the right-hand side.
    making: [f64; 3],
}

fn measure(family: &Family, states: usize, others: &Others) -> Row {
    let begun = Instant::now();
    let system = compile(&(family.text)(states / 2));
    let equations = begun.elapsed().as_secs_f64();
    assert_eq!(system.states.len(), states, "{}", family.name);
    let begun = Instant::now();
    let native = Kernels::new(&system, &KernelOptions::default());
    let lowering = begun.elapsed().as_secs_f64();
    let begun = Instant::now();
    native.derivatives.prepare();
    native.outputs.prepare();
    let code = begun.elapsed().as_secs_f64();
    let portable = Kernels::new(&system, &KernelOptions { native: false });
    let reference = by_hand(family, states, REFERENCE).states;
    let rounds = (200_000 / states).clamp(3, 30);
    let ran = best_of(
        rounds,
        &[
            &|| by_hand(family, states, RTOL),
            &|| by_run(family, &system, &native),
            &|| by_run(family, &system, &portable),
        ],
    );
    let found = error(&ran[1].states, &reference);
    let by_hand = error(&ran[0].states, &reference);
    assert!(
        found < 3.0 * by_hand && by_hand < 1e-2,
        "{}: {found:.1e}, {by_hand:.1e} by hand",
        family.name
    );
    Row {
        family: family.name,
        states,
        steps: ran[1].steps,
        error: found,
        hand: ran[0].seconds,
        native: ran[1].seconds,
        portable: ran[2].seconds,
        others: others.at_error(family, states, &reference, found),
        making: [equations, lowering, code].map(|seconds| 1e3 * seconds),
    }
}

/// Milliseconds, or a dash.
fn milliseconds(seconds: Option<f64>) -> String {
    seconds.map_or("-".to_string(), |seconds| format!("{:.3}", 1e3 * seconds))
}

/// The exponent of growth over the last decade of sizes.
fn growth(rows: &[&Row], of: impl Fn(&Row) -> f64) -> String {
    match rows {
        [.., before, last] => {
            let size = (last.states as f64 / before.states as f64).ln();
            format!("{:.2}", (of(last) / of(before)).ln() / size)
        }
        _ => "-".to_string(),
    }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let asked: Vec<usize> = words.iter().filter_map(|word| word.parse().ok()).collect();
    let sizes = match asked.is_empty() {
        true => vec![100, 1_000, 10_000, 100_000],
        false => asked,
    };
    let is_wanted = |family: &&Family| {
        let named = FAMILIES
            .iter()
            .any(|family| words.iter().any(|word| word == family.name));
        !named || words.iter().any(|word| word == family.name)
    };
    let others = Others::find();
    println!(
        "| family | states | steps | error | diffsol by hand | lgm | lgm / by hand | portable | DOP853 | LSODA | CVODE |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    let mut rows: Vec<Row> = Vec::new();
    for family in FAMILIES.iter().filter(is_wanted) {
        for states in &sizes {
            let row = measure(family, *states, &others);
            println!(
                "| {} | {} | {} | {:.1e} | {} | {} | {:.2} | {} | {} | {} | {} |",
                row.family,
                row.states,
                row.steps,
                row.error,
                milliseconds(Some(row.hand)),
                milliseconds(Some(row.native)),
                row.native / row.hand,
                milliseconds(Some(row.portable)),
                milliseconds(row.others[0]),
                milliseconds(row.others[1]),
                milliseconds(row.others[2]),
            );
            rows.push(row);
        }
    }
    println!("\n| family | states | to equations (ms) | lowering (ms) | machine code (ms) |");
    println!("| --- | ---: | ---: | ---: | ---: |");
    for row in &rows {
        let [equations, lowering, code] = row.making;
        println!(
            "| {} | {} | {equations:.1} | {lowering:.1} | {code:.1} |",
            row.family, row.states
        );
    }
    for family in FAMILIES.iter().filter(is_wanted) {
        let own: Vec<&Row> = rows.iter().filter(|row| row.family == family.name).collect();
        println!(
            "\n{}: growth exponents over the last decade: to equations {}, lowering {}, machine code {}",
            family.name,
            growth(&own, |row| row.making[0]),
            growth(&own, |row| row.making[1]),
            growth(&own, |row| row.making[2]),
        );
    }
    if words.iter().all(|word| word.starts_with("--")) {
        chart::write(&rows);
    }
}
