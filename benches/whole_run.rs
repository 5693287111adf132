//! Whole runs compared with the same solver over a handwritten closure, and with SciPy and CVODE, at equal measured
//! error; right-hand sides compared with loops in C; and compile times.
//!
//! `cargo bench --features native --bench whole_run` writes the tables of docs/simulation-speed.md and draws docs/simulation-speed.svg.
//! With numbers of states or names of families, as in `-- 100 1000 chain`, it prints the tables and writes nothing.
//! Both sides take the same steps of Tsitouras 5(4) at the same tolerances over vectors of the same library, so the
//! difference is the right side and the overhead of a run.
//!
//! SciPy runs in `python3`, or in the interpreter that `LGM_PYTHON` names; CVODE requires a folder `LGM_SUNDIALS` with
//! the libraries of SUNDIALS 7. Missing tools are reported and skipped.

#[path = "whole_run/chart.rs"]
mod chart;
#[path = "whole_run/document.rs"]
mod document;
#[path = "families.rs"]
mod families;
#[path = "whole_run/others.rs"]
mod others;
#[path = "right_sides.rs"]
mod right_sides;
#[path = "../tests/runs/simulate/shapes.rs"]
mod shapes;

use diffsol::{FaerSparseMat, OdeBuilder, OdeSolverMethod, OdeSolverStopReason, VectorCommon};
use families::{FAMILIES, Family, compile};
use lgm::equations::StateSystem;
use lgm::kernels::{Arguments, KernelOptions, Kernels};
use lgm::simulate::{Method, Plan, Silent, Simulator};
use others::Others;
use right_sides::{FLAGS, compile_c, run_c, run_kernel};
use shapes::{Shape, Shapes};
use std::fmt::Write;
use std::path::PathBuf;
use std::time::Instant;

/// Settings shared by all runs.
const RTOL: f64 = 1e-6;

/// The tolerance of the reference run, which defines the errors.
const REFERENCE: f64 = 1e-11;

/// Processor time of this process in seconds, with nanosecond resolution.
fn cpu_seconds() -> f64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure contains only numbers, and the call fills it.
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

/// The library's solver over a closure.
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

/// A run of lgm with compiled kernels.
fn by_run(family: &Family, system: &StateSystem, kernels: &Kernels) -> Ran {
    let simulator = Simulator::new(system, kernels);
    let parameters = kernels.parameters(&[]);
    let plan = Plan {
        stop: family.stop,
        points: 2,
        rtol: RTOL,
        atol: Some(1e-3 * RTOL),
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

/// The largest error of the final states, relative to the largest state.
fn error(found: &[f64], expected: &[f64]) -> f64 {
    let size = expected.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    let pairs = found.iter().zip(expected);
    pairs
        .map(|(found, expected)| (found - expected).abs())
        .fold(0.0, f64::max)
        / size
}

/// Runs in alternation, so that other load on the machine affects all alike; the best of each.
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
    /// DOP853, LSODA, CVODE, at the error of the run; none if they were not run.
    others: [Option<f64>; 3],
    /// Compile time in milliseconds: equations, lowering, machine code of the right-hand side.
    making: [f64; 3],
    /// Nanoseconds per state of a right-hand side: machine code, interpreted, C with each of [`FLAGS`].
    right_sides: [f64; 4],
}

/// Nanoseconds per state of one right-hand side; all checksums must agree.
fn right_sides(family: &Family, states: usize, all: [&Kernels; 2], programs: &[PathBuf]) -> [f64; 4] {
    let parameters = all[0].parameters(&[]);
    let x: Vec<f64> = (0..states).map(|k| (k as f64).sin()).collect();
    let at = Arguments {
        parameters: &parameters,
        states: &x,
        inputs: &[0.5],
        rates: &[0.0],
        ..Arguments::default()
    };
    let calls = (4_000_000 / states).max(3);
    let [fast, slow] = all.map(|kernels| run_kernel(&kernels.derivatives, &at, calls));
    let hand = [0, 1].map(|at| run_c(&programs[at], family.name, states / 2, calls));
    for (time, sum) in [fast, slow] {
        let expected = hand[0].1;
        assert!(
            (sum - expected).abs() <= 1e-9 * expected.abs(),
            "{}: {sum} is not {expected} ({time} ns)",
            family.name
        );
    }
    [fast.0, slow.0, hand[0].0, hand[1].0].map(|time| time / states as f64)
}

fn measure(family: &Family, states: usize, others: &Others, programs: &[PathBuf]) -> Row {
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
    let right_sides = right_sides(family, states, [&native, &portable], programs);
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
        right_sides,
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
    let folder = tempfile::tempdir().expect("a folder for the C programs");
    let programs: Vec<PathBuf> = FLAGS.iter().map(|flags| compile_c(folder.path(), flags)).collect();
    let mut rows: Vec<Row> = Vec::new();
    for family in FAMILIES.iter().filter(is_wanted) {
        for states in &sizes {
            eprintln!("{}, {states} states", family.name);
            rows.push(measure(family, *states, &others, &programs));
        }
    }
    let tables = [
        ("whole runs", whole_runs(&rows)),
        ("right-hand sides", sides(&rows)),
        ("making the code", making(&rows)),
    ];
    for (_, table) in &tables {
        println!("{table}");
    }
    if words.iter().all(|word| word.starts_with("--")) {
        chart::write(&rows);
        document::write(&tables);
    }
}

/// The message of an impossible failure: writing to a string succeeds.
const WRITTEN: &str = "invariant: writing to memory does not fail";

fn whole_runs(rows: &[Row]) -> String {
    let mut text = format!(
        "![CPU seconds of whole runs over the number of states](simulation-speed.svg)\n\n{}\n\n\
         | family | states | steps | error | by hand | lgm | lgm / by hand | portable | DOP853 | LSODA | CVODE |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
        document::machine()
    );
    for row in rows {
        let [first, second, third] = row.others.map(milliseconds);
        writeln!(
            text,
            "| {} | {} | {} | {:.1e} | {} | {} | {:.2} | {} | {first} | {second} | {third} |",
            row.family,
            row.states,
            row.steps,
            row.error,
            milliseconds(Some(row.hand)),
            milliseconds(Some(row.native)),
            row.native / row.hand,
            milliseconds(Some(row.portable)),
        )
        .expect(WRITTEN);
    }
    text
}

fn sides(rows: &[Row]) -> String {
    let mut text = "| family | states | native | portable | C -O2 | C -O3 | native / C -O2 |\n\
                    | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n"
        .to_string();
    for row in rows {
        let [native, portable, plain, unrolled] = row.right_sides;
        writeln!(
            text,
            "| {} | {} | {native:.3} | {portable:.2} | {plain:.3} | {unrolled:.3} | {:.2} |",
            row.family,
            row.states,
            native / plain
        )
        .expect(WRITTEN);
    }
    text
}

fn making(rows: &[Row]) -> String {
    let mut text = "| family | states | to equations (ms) | kernels (ms) | machine code (ms) |\n\
                    | --- | ---: | ---: | ---: | ---: |\n"
        .to_string();
    for row in rows {
        let [equations, lowering, code] = row.making;
        writeln!(
            text,
            "| {} | {} | {equations:.1} | {lowering:.1} | {code:.1} |",
            row.family, row.states
        )
        .expect(WRITTEN);
    }
    text.push_str(
        "\nGrowth exponents over the last decade of states:\n\n| family | to equations | kernels | machine code |\n",
    );
    text.push_str("| --- | ---: | ---: | ---: |\n");
    for family in FAMILIES {
        let own: Vec<&Row> = rows.iter().filter(|row| row.family == family.name).collect();
        if !own.is_empty() {
            let [equations, lowering, code] = [0, 1, 2].map(|at| growth(&own, |row| row.making[at]));
            writeln!(text, "| {} | {equations} | {lowering} | {code} |", family.name).expect(WRITTEN);
        }
    }
    text
}
