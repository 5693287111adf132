//! Models with events in emitted programs and FMUs: the samples and events of `lgm simulate`, a million events without
//! allocation, and rejected models. The corpus runs the models of `tests/corpus/switching` in C and in Rust too.

use crate::support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::emitted::{
    Rows, SANITIZED, STRICT, build_together, cargo, compile, emit, for_each, must, rust_example, rust_program, sources,
};
use support::program::{run, succeed};

/// The options of the compared runs.
const TIGHT: [&str; 2] = ["--rtol", "1e-9"];

fn written(folder: &Path, text: &str) -> PathBuf {
    let file = folder.join("model.lgm");
    fs::write(&file, text).unwrap();
    file
}

/// Models with events of every kind.
fn models() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let examples = fs::read_dir(root.join("examples/switching")).unwrap();
    let mut found: Vec<PathBuf> = examples.map(|entry| entry.unwrap().path()).collect();
    let corpus = [
        "collisions/cradle_five",
        "collisions/step_at_impact",
        "converters/charge_pump",
        "friction/block_on_board",
        "rectifiers/component_rectifiers",
        "sampled_blocks/block_if",
        "sampled_blocks/when_and_every",
        "sampled_blocks/when_initially",
    ];
    found.extend(corpus.map(|name| root.join(format!("tests/corpus/switching/{name}.lgm"))));
    found.retain(|path| path.extension().is_some_and(|ending| ending == "lgm"));
    assert!(found.len() > 10);
    found
}

/// An event of a list: its time, and its kind, element and modes.
fn events(list: &Path) -> Vec<(f64, String)> {
    let text = fs::read_to_string(list).unwrap();
    let line = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        (fields[0].parse().unwrap(), fields[1..5].join(","))
    };
    text.lines().skip(1).map(line).collect()
}

/// The samples of `lgm simulate`, and its list of events.
fn simulated(file: &Path, list: &Path) -> Rows {
    let mut words = ["simulate", "--method", "tsit45"].map(String::from).to_vec();
    words.extend(TIGHT.map(String::from));
    words.extend([format!("--events={}", list.display()), file.display().to_string()]);
    Rows::read(&succeed(&words))
}

/// Samples that agree within a fraction of each column's magnitude; NaN must be NaN in both.
fn assert_same(expected: &Rows, rows: &Rows, allowed: f64) -> Result<(), String> {
    if expected.names != rows.names || expected.values.len() != rows.values.len() {
        return Err(format!("{:?} and {:?}", expected.names, rows.names));
    }
    for column in 0..rows.names.len() {
        let size = expected
            .values
            .iter()
            .map(|row| row[column].abs())
            .fold(1e-300, f64::max);
        for (a, b) in expected.values.iter().zip(&rows.values) {
            let (a, b) = (a[column], b[column]);
            let is_same = a.is_nan() && b.is_nan() || (a - b).abs() <= allowed * size;
            if !is_same {
                return Err(format!("{} is {a:?} and {b:?}", rows.names[column]));
            }
        }
    }
    Ok(())
}

/// A program must have the samples and events of `lgm simulate`; events of one instant may be in another order.
fn assert_runs_alike(file: &Path, mut program: Command) -> Result<(), String> {
    let scratch = tempfile::tempdir().unwrap();
    let list = scratch.path().join("events.csv");
    let expected = simulated(file, &list);
    let mut expected_events = events(&list);
    let list = list.display().to_string();
    let printed = must(program.args(TIGHT).args(["--events", &list]));
    assert_same(&expected, &Rows::read(&printed), 1e-6)?;
    let mut found = events(Path::new(&list));
    expected_events.retain(|event| !event.1.starts_with("start"));
    if found.len() != expected_events.len() {
        return Err(format!("{} events and {}", expected_events.len(), found.len()));
    }
    for list in [&mut expected_events, &mut found] {
        list.sort_by(|a, b| a.1.cmp(&b.1).then(a.0.total_cmp(&b.0)));
    }
    for (a, b) in expected_events.iter().zip(&found) {
        let is_near = (a.0 - b.0).abs() <= 1e-7 * a.0.abs().max(1e-3);
        if !is_near || a.1 != b.1 {
            return Err(format!("{a:?} and {b:?}"));
        }
    }
    Ok(())
}

#[test]
fn programs_in_c_have_the_rows_and_the_events_of_a_run() {
    for_each(&models(), |file| {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("code");
        emit(file, "c", &folder, &[]);
        assert_runs_alike(file, Command::new(compile(&folder, &SANITIZED)))
    });
}

#[test]
fn programs_in_rust_have_the_rows_and_the_events_of_a_run() {
    let models = models();
    let scratch = tempfile::tempdir().unwrap();
    let folders: Vec<PathBuf> = (0..models.len())
        .map(|at| scratch.path().join(format!("{at}")))
        .collect();
    for (file, folder) in models.iter().zip(&folders) {
        emit(file, "rust", folder, &[]);
    }
    let programs = build_together(scratch.path(), &folders);
    for_each(&models, |file| {
        let at = models.iter().position(|model| model == file).unwrap();
        assert_runs_alike(file, Command::new(&programs[at]))
    });
}

/// A speed that is above zero half of each period, and a force that nearly reaches a bound at its crests.
const TURNING: &str = "model Turning {
  node x : translational;
  m : Mass(1) x -> gnd, start = 1;
  k : Spring(1) x -> gnd;
  discrete n = 0;  discrete q = 0;
  when across(m) > -0.05 { n := n + 1; }
  when through(k) > 1.01 { q := q + 1; }
  output passages = n;  output none = q;
  experiment { stop = 100 [s]; points = 2; rtol = 1e-3; }
}
";

#[test]
fn a_block_does_not_run_again_while_another_condition_is_nearly_met() {
    let scratch = tempfile::tempdir().unwrap();
    let file = written(scratch.path(), TURNING);
    let passages = |text: &str| Rows::read(text).values[1][1..3].to_vec();
    let run = ["simulate", "--method", "tsit45", &file.display().to_string()].map(String::from);
    // Sixteen periods begin in 100 s.
    assert_eq!(passages(&succeed(&run)), [16.0, 0.0]);
    let folder = scratch.path().join("c");
    emit(&file, "c", &folder, &[]);
    assert_eq!(
        passages(&must(&mut Command::new(compile(&folder, &SANITIZED)))),
        [16.0, 0.0]
    );
    let folder = scratch.path().join("rust");
    emit(&file, "rust", &folder, &[]);
    assert_eq!(passages(&must(&mut Command::new(rust_program(&folder)))), [16.0, 0.0]);
}

/// Uses a package with events: its combinations of modes, and a run. NUMBERS is the number type.
const USER: &str = r#"use hybrid_rectifier_run::runtime::events::Report;
use hybrid_rectifier_run::runtime::run::{Plan, Run};
use hybrid_rectifier_run::{Model, Parameters, OUTPUTS, STATES};

fn main() {
    let (mut model, mut x) = Model::new(&Parameters::<NUMBERS>::default()).unwrap();
    let (mut u, du) = model.inputs(0.0);
    u[0] = 1.0;
    let mut y = [0.0; OUTPUTS];
    for combination in [1, 0, 2] {
        let is_there = model.set_combination(combination);
        model.outputs(0.5, &x, &u, &du, &mut y).unwrap();
        println!("{is_there} {} {:?}", model.combination(), y[0]);
    }
    // ASK
    let plan = Plan { start: 0.0, stop: 0.5, points: 2, rtol: 1e-6, atol: 0.0 };
    let rows = |_: NUMBERS, _: &[NUMBERS; OUTPUTS], _: &[NUMBERS; STATES]| {};
    let report = |_: Report<'_, NUMBERS>| {};
    Run::with_events(model, plan, rows, report).run(&mut x).unwrap();
}
"#;

/// A diode with a load, without any state.
const RECTIFIER: &str = "import switching;
model HybridRectifier {
  input u [V] = sin(time);
  node a, k : electrical;
  src : VoltageSource(u) a -> gnd;
  d : IdealDiode a -> k;
  r : Resistor(1) k -> gnd;
  output v = across(r);
  experiment { stop = 5 [s]; points = 11; }
}
";

#[test]
fn packages_in_rust_have_documentation_and_no_objection_of_clippy_and_refuse_what_they_cannot_do() {
    let scratch = tempfile::tempdir().unwrap();
    let (folder, target) = (scratch.path().join("code"), scratch.path().join("target"));
    emit(&written(scratch.path(), RECTIFIER), "rust", &folder, &[]);
    must(&mut cargo(
        &folder,
        &target,
        &["clippy", "--workspace", "--all-targets"],
    ));
    must(&mut cargo(&folder, &target, &["doc", "--workspace", "--no-deps"]));
    must(&mut cargo(&folder, &target, &["test", "--workspace"]));
    for module in fs::read_dir(folder.join("lgm-runtime/src/events")).unwrap() {
        // Without the standard library there is no allocator.
        let text = fs::read_to_string(module.unwrap().path()).unwrap();
        assert!(!text.contains("std::") && !text.contains("alloc::") && !text.contains("unsafe"));
    }
    let folder = folder.join("run");
    let file = folder.join("examples/user.rs");
    fs::write(&file, USER.replace("NUMBERS", "f64")).unwrap();
    let printed = must(&mut cargo(&folder, &target, &["run", "--example", "user"]));
    // Conducting, blocking, and no third combination.
    assert_eq!(printed, "true 1 1.0\ntrue 0 0.0\nfalse 0 0.0\n");
    let asks = USER.replace("// ASK", "let _ = model.jacobian(0.0, &x, &u, &du, &mut []);");
    for (text, said) in [
        (
            USER.replace("NUMBERS", "f32"),
            "single precision cannot determine the active modes",
        ),
        (
            asks.replace("NUMBERS", "f64"),
            "the Jacobian of several combinations of modes is not available in a package",
        ),
    ] {
        fs::write(&file, text).unwrap();
        let output = cargo(&folder, &target, &["build", "--example", "user"])
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && errors.contains(said), "{errors}");
    }
}

#[test]
fn a_block_whose_condition_becomes_true_at_a_step_of_an_input_runs() {
    // A step of an input, and one of a signal that a sampled block sets.
    let text = "model Edge {\n  input u = step(1);\n  discrete k = 0;  discrete s = 0;  discrete n = 0;\n  node a : electrical;\n  src : \
                VoltageSource(u) a -> gnd;\n  r : Resistor(1) a -> b;\n  node b : electrical;\n  c : Capacitor(1) b -> gnd;\n  every 0.5 { \
                s := s + 1; }\n  when u > 0.5 { k := k + 1; }\n  when s > 2.5 { n := n + 1; }\n  output hits = k;\n  output third = n;\n  \
                experiment { stop = 2 [s]; points = 5; }\n}\n";
    let scratch = tempfile::tempdir().unwrap();
    let file = written(scratch.path(), text);
    let expected = simulated(&file, &scratch.path().join("events.csv"));
    let column = |rows: &Rows, at: usize| rows.values.iter().map(|row| row[at]).collect::<Vec<f64>>();
    assert_eq!(column(&expected, 1), [0.0, 0.0, 1.0, 1.0, 1.0]);
    assert_eq!(column(&expected, 2), [0.0, 0.0, 1.0, 1.0, 1.0]);
    let folder = scratch.path().join("code");
    emit(&file, "c", &folder, &[]);
    let rows = Rows::read(&must(&mut Command::new(compile(&folder, &SANITIZED))));
    assert_same(&expected, &rows, 1e-6).unwrap();
}

/// A ball that bounces without loss, with its energy as the last output.
const BOUNCING: &str = "model Ball {
  param m = 1 [kg]; param g = 9.81 [m/s^2];
  node y : translational;
  ball   : Mass(m) y -> gnd;
  weight : ForceSource(-m*g) gnd -> y;
  state h = int(across(ball)), start = 0.01 [m];
  discrete hits = 0;
  when h <= 0 and across(ball) < 0 {
    across(ball) := -across(ball);
    hits := hits + 1;
  }
  output n = hits;
  output energy = m*across(ball)^2/2 + m*g*h;
  experiment { stop = 91000 [s]; points = 2; }
}
";

/// Runs a model to its end, and prints the number of events, the number of allocations, and the energy at the start and
/// at the end.
const COUNTING: &str = r#"#include "lgm_names.h"
#include "lgm_numbers.h"
#include "lgm_run.h"
#include <stdio.h>
#include <stdlib.h>
static lgm_run run;
static int is_running;
static long asked;
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size) { asked += is_running; return __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size) { asked += is_running; return __real_calloc(count, size); }
void *__wrap_realloc(void *old, size_t size) { asked += is_running; return __real_realloc(old, size); }
int main(void) {
    static lgm_parameters parameters;
    double first[LGM_OUTPUTS], last[LGM_OUTPUTS];
    long events = 0;
    lgm_status status;
    run.solver.rtol = 1e-9;
    lgm_defaults(&parameters);
    status = lgm_prepare(&run.model, &parameters, run.x);
    is_running = 1;
    status = (status == LGM_OK) ? lgm_run_begin(&run, LGM_PLAN_START, LGM_PLAN_STOP, NULL) : status;
    (void)lgm_run_outputs(&run, run.t, run.x, first);
    while (status == LGM_OK && run.t < LGM_PLAN_STOP) {
        status = lgm_run_step(&run, LGM_PLAN_STOP);
        if (status == LGM_OK && run.t >= lgm_run_bound(&run)) {
            lgm_run_hold(&run);
            status = lgm_run_pass(&run);
            events += run.events.happenings;
        }
    }
    (void)lgm_run_outputs(&run, run.t, run.x, last);
    is_running = 0;
    printf("%d %ld %ld %.17g %.17g\n", (int)status, events, asked, first[LGM_OUTPUTS - 1], last[LGM_OUTPUTS - 1]);
    return 0;
}
"#;

/// Events, allocations, and energies of a run that must complete.
fn counted(text: &str) -> (u64, u64, [f64; 2]) {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("code");
    emit(&written(scratch.path(), text), "c", &folder, &[]);
    let mut names = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let name = names
        .find_map(|name| name.strip_suffix(".h").map(String::from))
        .unwrap();
    let counting = COUNTING
        .replace("lgm_", &format!("{name}_"))
        .replace("LGM_", &format!("{name}_"));
    let counting = counting.replace(&format!("include \"{name}_"), "include \"lgm_");
    fs::write(folder.join("run/main.c"), counting).unwrap();
    let program = folder.join("program");
    let mut gcc = Command::new("gcc");
    gcc.args(STRICT).args([
        "-O2",
        "-ffp-contract=off",
        "-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc",
    ]);
    must(gcc.args(sources(&folder)).arg("-o").arg(&program).arg("-lm"));
    let printed = must(&mut Command::new(program));
    let words: Vec<&str> = printed.split_whitespace().collect();
    assert_eq!(words[0], "0", "{printed}");
    let energies: Vec<f64> = words[3..].iter().map(|word| word.parse().unwrap()).collect();
    let whole = |word: &str| word.parse().unwrap();
    (whole(words[1]), whole(words[2]), [energies[0], energies[1]])
}

#[test]
fn a_million_events_take_no_memory_and_keep_the_energy() {
    let (events, asked, [first, last]) = counted(BOUNCING);
    // Between two hits there are 2*sqrt(2*h/g) seconds.
    let period = 2.0 * (2.0 * 0.01 / 9.81_f64).sqrt();
    let expected = (91000.0 / period + 0.5).floor();
    assert!(
        (events as f64 - expected).abs() <= 1.0,
        "{events} hits, and {expected} expected"
    );
    assert!(events >= 1_000_000);
    assert_eq!(asked, 0);
    // One ulp of the energy at each impact, always of the same sign, would add up to 2e-10 of it.
    assert!((last - first).abs() <= 1e-9 * first, "{first:?}, {last:?}");
}

#[test]
fn fmus_with_events_run_in_both_modes() {
    if !super::fmu::driven::has_compiler() {
        return;
    }
    let models = models();
    for_each(&models, |file| {
        let scratch = tempfile::tempdir().unwrap();
        let expected = simulated(file, &scratch.path().join("events.csv"));
        // Both versions are thin layers over the same files: models alternate between them, and every second pair runs
        // under the sanitizers.
        let at = models.iter().position(|other| other == file).unwrap();
        let target = ["fmu2", "fmu3"][at % 2];
        let flags: &[&str] = if at % 4 < 2 { &SANITIZED } else { &["-O0"] };
        let driven = super::fmu::driven::Driven::new(file, target, &scratch.path().join(target), flags);
        for mode in ["cs", "me"] {
            let mut like = Rows {
                names: expected.names.clone(),
                values: expected.values.clone(),
            };
            let rows = driven.rows(mode, &like, "1e-9", &[]);
            like.names.clone_from(&rows.names);
            assert_same(&like, &rows, 1e-5).map_err(|fault| format!("{target} {mode}: {fault}"))?;
        }
        Ok(())
    });
}

/// Runs a package of [`BOUNCING`], and prints the number of events, and the energy at the start and at the end.
const BALANCE: &str = r#"use ball_run::runtime::events::Report;
use ball_run::runtime::run::Run;
use ball_run::{Model, Parameters, OUTPUTS, PLAN, STATES};

fn main() {
    let (model, mut x) = Model::new(&Parameters::<f64>::default()).unwrap();
    let (mut energies, mut events) = (Vec::new(), 0);
    let rows = |_: f64, y: &[f64; OUTPUTS], _: &[f64; STATES]| energies.push(y[OUTPUTS - 1]);
    let report = |report: Report<'_, f64>| events += report.happened.len() + report.further;
    let plan = ball_run::runtime::run::Plan { rtol: 1e-9, ..PLAN };
    Run::with_events(model, plan, rows, report).run(&mut x).unwrap();
    println!("{events} {:?} {:?}", energies[0], energies[1]);
}
"#;

#[test]
fn a_hundred_thousand_events_keep_the_energy_in_rust() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("code");
    let text = BOUNCING.replace("91000 [s]", "9100 [s]");
    emit(&written(scratch.path(), &text), "rust", &folder, &[]);
    fs::write(folder.join("run/examples/balance.rs"), BALANCE).unwrap();
    let printed = must(&mut Command::new(rust_example(&folder, "balance")));
    let words: Vec<f64> = printed.split_whitespace().map(|word| word.parse().unwrap()).collect();
    let [events, first, last] = words[..] else {
        panic!("{printed}")
    };
    let period = 2.0 * (2.0 * 0.01 / 9.81_f64).sqrt();
    assert!(
        (events - (9100.0 / period + 0.5).floor()).abs() <= 1.0 && events > 1e5,
        "{events} hits"
    );
    assert!((last - first).abs() <= 1e-10 * first, "{first:?}, {last:?}");
}

/// A diode in series with nonlinear resistors, so that a loop remains in several combinations of modes.
const LOOPS: &str = "import switching;
element Square(k [ohm/A]) : electrical { across = k*through*abs(through) + 1 [ohm]*through; }
model Rectifier {
  input u [V] = sin(time);
  node a, k, e : electrical;
  src : VoltageSource(u) a -> gnd;
  d : IdealDiode a -> k;
  s : Square(2) k -> e;
  r : Square(1) e -> gnd;
  q : Resistor(1) e -> gnd;
  output v = across(r);
  experiment { stop = 5 [s]; points = 11; }
}
";

/// Parallel diodes, each of which may block or conduct.
fn ladder(count: usize) -> String {
    format!(
        "import switching;\nmodel Ladder {{\n  input u [V] = sin(time);\n  node a : electrical;\n  node k[{count}] : electrical;\n  src : \
         VoltageSource(u) a -> gnd;\n  for i in 1:{count} {{\n    d[i] : IdealDiode a -> k[i];\n    r[i] : Resistor(i) k[i] -> gnd;\n  }}\n  \
         output v = across(r[1]);\n  experiment {{ stop = 1 [s]; points = 3; }}\n}}\n"
    )
}

#[test]
fn what_no_program_carries_is_refused() {
    let scratch = tempfile::tempdir().unwrap();
    let target = scratch.path().join("code").display().to_string();
    let cases: [(String, &[&str], &str); 8] = [
        (
            TURNING.into(),
            &["--target", "python"],
            "write `--target c`, `rust`, `fmu2` or `fmu3`, or run it from Python",
        ),
        (BOUNCING.into(), &["--target", "julia"], "this target has no events"),
        (BOUNCING.into(), &["--target", "matlab"], "this target has no events"),
        (BOUNCING.into(), &["--target", "modelica"], "this target has no events"),
        (BOUNCING.into(), &["--target", "c", "--float"], "single precision"),
        (LOOPS.into(), &["--target", "c"], "algebraic loop of `"),
        (LOOPS.into(), &["--target", "rust"], "algebraic loop of `"),
        (ladder(12), &["--target", "fmu2"], "more than 256 ways"),
    ];
    for (text, options, reason) in cases {
        let file = written(scratch.path(), &text).display().to_string();
        let mut words = ["emit", &file, "-o", &target].map(String::from).to_vec();
        words.extend(options.iter().map(|word| word.to_string()));
        let output = run(&words);
        let said = String::from_utf8_lossy(&output.stderr).replace("\n", " ");
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains("LGM0944") && said.contains(reason), "{options:?}: {said}");
        assert_eq!(output.status.code(), Some(1));
        assert!(!Path::new(&target).exists(), "nothing is written");
    }
}
