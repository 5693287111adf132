//! The right-hand side of several families of models, in nanoseconds per state, compared with a handwritten C loop; and
//! the time to compile the kernels.
//!
//! `cargo bench --features native --bench rhs` prints the rows of the table in docs/simulation-speed.md. Numbers of cells are optional
//! arguments: `-- 100 1000`.

#[path = "families.rs"]
mod families;
#[path = "right_sides.rs"]
mod right_sides;
#[path = "../tests/systems/mod.rs"]
mod systems;

use families::{FAMILIES, compile};
use lgm::equations::{StateSystem, StateVariable};
use lgm::expr::ExprId;
use lgm::kernels::{Arguments, KernelOptions, Kernels, Layout, expression};
use right_sides::{FLAGS, compile_c, run_c, run_kernel};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// States whose equations share no pattern: straight-line code, the worst case for the compiler.
fn irregular(n: usize) -> StateSystem {
    let mut builder = systems::Builder::new("Irregular");
    let states: Vec<ExprId> = (0..n)
        .map(|k| builder.state(&format!("x{k}"), StateVariable::Across, None, 0))
        .collect();
    let mut seed = 1u64;
    let mut next = |below: usize| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    let exprs = &mut builder.system.exprs;
    let derivatives = (0..n).map(|k| {
        let mut value = states[k];
        for _ in 0..8 {
            let other = states[next(n)];
            value = match next(4) {
                0 => exprs.add(value, other),
                1 => exprs.mul(value, other),
                2 => exprs.sub(other, value),
                _ => {
                    let factor = exprs.integer(next(9) as i64 + 2);
                    exprs.mul(factor, value)
                }
            };
        }
        value
    });
    builder.system.equations.derivatives = derivatives.collect();
    builder.system
}

fn timed<T>(make: impl Fn() -> T) -> (T, Duration) {
    let begun = Instant::now();
    let mut made = make();
    let mut best = begun.elapsed();
    for _ in 0..2 {
        let begun = Instant::now();
        made = make();
        best = best.min(begun.elapsed());
    }
    (made, best)
}

fn main() {
    let asked: Vec<usize> = std::env::args().filter_map(|word| word.parse().ok()).collect();
    let cells = if asked.is_empty() {
        vec![100, 1_000, 10_000, 50_000]
    } else {
        asked
    };
    let folder = tempfile::tempdir().expect("a folder for the C program");
    let programs: Vec<PathBuf> = FLAGS.iter().map(|flags| compile_c(folder.path(), flags)).collect();
    println!("| family | states | native | portable | C -O2 | C -O3 | native / C -O2 | code (ms) | all kernels (ms) |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for family in FAMILIES {
        for n in &cells {
            measure(family.name, *n, &compile(&(family.text)(*n)), &programs);
        }
    }
    println!(
        "\n| states | instructions | native (ns/state) | portable (ns/state) | lowering (ms) | machine code (ms) |"
    );
    println!("| ---: | ---: | ---: | ---: | ---: | ---: |");
    for n in &cells {
        straight(*n);
    }
}

/// Time to compile machine code without loops.
fn straight(n: usize) {
    let system = irregular(n);
    let layout = Layout::new(&system);
    let make = |native| {
        let kernel = expression(
            &system.exprs,
            &system.equations.derivatives,
            &layout,
            &KernelOptions { native },
        );
        assert_eq!(kernel.prepare(), native);
        kernel
    };
    let (native, native_time) = timed(|| make(true));
    let (portable, portable_time) = timed(|| make(false));
    let x: Vec<f64> = (0..n).map(|k| (k as f64).sin()).collect();
    let at = Arguments {
        states: &x,
        ..Arguments::default()
    };
    let calls = (1_000_000 / n).max(3);
    let ((fast, _), (slow, _)) = (run_kernel(&native, &at, calls), run_kernel(&portable, &at, calls));
    let instructions: usize = native.program().loops.iter().map(|entry| entry.body.len()).sum();
    println!(
        "| {n} | {instructions} | {:.2} | {:.2} | {:.1} | {:.1} |",
        fast / n as f64,
        slow / n as f64,
        portable_time.as_secs_f64() * 1e3,
        native_time.saturating_sub(portable_time).as_secs_f64() * 1e3,
    );
}

fn measure(family: &str, n: usize, system: &StateSystem, programs: &[PathBuf]) {
    let states = system.states.len();
    assert_eq!(states, 2 * n, "{family}");
    let layout = Layout::new(system);
    let make = |native| {
        let kernel = expression(
            &system.exprs,
            &system.equations.derivatives,
            &layout,
            &KernelOptions { native },
        );
        assert_eq!(kernel.prepare(), native);
        kernel
    };
    let (native, native_time) = timed(|| make(true));
    let (portable, portable_time) = timed(|| make(false));
    let (kernels, all_time) = timed(|| Kernels::new(system, &KernelOptions::default()));
    let parameters = kernels.parameters(&[]);
    let x: Vec<f64> = (0..states).map(|k| (k as f64).sin()).collect();
    let at = Arguments {
        parameters: &parameters,
        states: &x,
        inputs: &[0.5],
        rates: &[0.0],
        ..Arguments::default()
    };
    let calls = (4_000_000 / states).max(3);
    let by_hand: Vec<(f64, f64)> = programs
        .iter()
        .map(|program| run_c(program, family, n, calls))
        .collect();
    let (fast, sum) = run_kernel(&native, &at, calls);
    let (slow, other) = run_kernel(&portable, &at, calls);
    for (name, found) in [("native", sum), ("portable", other)] {
        let expected = by_hand[0].1;
        assert!(
            (found - expected).abs() <= 1e-9 * expected.abs(),
            "{family}, {name}: {found} is not {expected}"
        );
    }
    let per_state = |time: f64| time / states as f64;
    println!(
        "| {family} | {states} | {:.3} | {:.2} | {:.3} | {:.3} | {:.2} | {:.2} | {:.0} |",
        per_state(fast),
        per_state(slow),
        per_state(by_hand[0].0),
        per_state(by_hand[1].0),
        fast / by_hand[0].0,
        native_time.saturating_sub(portable_time).as_secs_f64() * 1e3,
        all_time.as_secs_f64() * 1e3,
    );
    if std::env::var_os("LGM_BENCH_PROGRAM").is_some() {
        for entry in &native.program().loops {
            eprintln!("{} lanes: {:#?} {:?}", entry.count, entry.body, entry.stores);
        }
    }
}
