//! Whole runs against the same solver over a closure written by hand: a chain of masses and springs.
//!
//! Run with `cargo bench --bench whole_run`. Both sides take the same steps of Tsitouras 5(4) at the same tolerances over
//! vectors of the same library, so that what differs is the right side and what a run does beside it.

use diffsol::{FaerSparseMat, OdeBuilder, OdeSolverMethod, OdeSolverStopReason};
use lgm::kernels::{KernelOptions, Kernels};
use lgm::simulate::{Method, Plan, Silent, simulate};
use lgm::source::{NoFiles, SourceMap};
use std::time::Instant;

#[path = "../tests/simulate/shapes.rs"]
mod shapes;

use shapes::{Shape, Shapes};

const RTOL: f64 = 1e-6;
const ATOL: f64 = 1e-9;

fn model(masses: usize) -> String {
    format!(
        "model Chain {{
  const N = {masses};
  param m = 1.5 [kg]; param k = 40 [N/m];
  input F [N];
  node x[N] : translational;
  for i in 1:N {{
    mass[i] : Mass(m) x[i] -> gnd;
    if i == 1 {{ spring[i] : Spring(k) x[i] -> gnd; }} else {{ spring[i] : Spring(k) x[i] -> x[i - 1]; }}
  }}
  push : ForceSource(F) gnd -> x[N];
  output v = across(mass[N]);
}}"
    )
}

/// Velocities and forces of the chain, in the order v1, F1, v2, F2, ..
fn chain(m: f64, k: f64, force: f64, x: &[f64], rates: &mut [f64]) {
    let masses = x.len() / 2;
    for i in 0..masses {
        let next = if i + 1 < masses { x[2 * i + 3] } else { force };
        rates[2 * i] = (next - x[2 * i + 1]) / m;
        let before = if i > 0 { x[2 * i - 2] } else { 0.0 };
        rates[2 * i + 1] = k * (x[2 * i] - before);
    }
}

/// Seconds and steps of the library over a closure.
fn by_hand(masses: usize, stop: f64) -> (f64, u64) {
    let problem = OdeBuilder::<FaerSparseMat<f64>>::new()
        .rtol(RTOL)
        .atol([ATOL])
        .use_coloring(false)
        .rhs_implicit(
            |x: &[f64], _: &[f64], time: f64, rates: &mut [f64]| chain(1.5, 40.0, (3.0 * time).sin(), x, rates),
            |_: &[f64], _: &[f64], _: f64, v: &[f64], rates: &mut [f64]| chain(1.5, 40.0, 0.0, v, rates),
        )
        .init(|_: &[f64], _: f64, x: &mut [f64]| x.fill(0.0), 2 * masses)
        .build()
        .expect("the problem is well posed");
    let begun = Instant::now();
    let mut solver = problem.tsit45().expect("the solver can be made");
    solver.set_stop_time(stop).expect("the stop is later");
    let mut steps = 1;
    while !matches!(
        solver.step().expect("the step passes"),
        OdeSolverStopReason::TstopReached
    ) {
        steps += 1;
    }
    (begun.elapsed().as_secs_f64(), steps)
}

/// The same of a run.
fn by_run(masses: usize, stop: f64) -> (f64, u64) {
    let mut map = SourceMap::default();
    let root = map.add("model.lgm", model(masses), None);
    let (system, diagnostics) = lgm::compile(&NoFiles, &mut map, root, &lgm::Request::default());
    let system = system.unwrap_or_else(|| panic!("{}", lgm::diagnostic::render(&map, &diagnostics, false)));
    let kernels = Kernels::new(&system, &KernelOptions::default());
    let parameters = kernels.parameters(&[]);
    let plan = Plan {
        stop,
        points: 2,
        rtol: RTOL,
        atol: ATOL,
        method: Method::Tsit45,
        ..Plan::default()
    };
    let signals = Shapes(vec![Shape::Sine(1.0, 3.0)]);
    let mut sink = |_: f64, _: &[f64], _: &[f64]| {};
    let begun = Instant::now();
    let result = simulate(&system, &kernels, &parameters, &signals, &plan, &mut sink, &Silent);
    let summary = result.unwrap_or_else(|failure| panic!("{failure:?}"));
    (begun.elapsed().as_secs_f64(), summary.steps)
}

fn main() {
    println!("states   by hand: us/step (steps)   by lgm: us/step (steps)   ratio of times");
    for (masses, stop) in [(1, 2000.0), (10, 500.0), (100, 100.0), (1000, 20.0)] {
        // The better of three, so that other work on the machine counts less.
        let best = |run: fn(usize, f64) -> (f64, u64)| {
            let mut found: Vec<(f64, u64)> = (0..3).map(|_| run(masses, stop)).collect();
            found.sort_by(|a, b| a.0.total_cmp(&b.0));
            found[0]
        };
        let (hand, run) = (best(by_hand), best(by_run));
        let each = |(seconds, steps): (f64, u64)| format!("{:9.2} ({steps})", seconds * 1e6 / steps as f64);
        println!(
            "{:6}   {:>24}   {:>23}   {:.2}",
            2 * masses,
            each(hand),
            each(run),
            run.0 / hand.0
        );
    }
}
