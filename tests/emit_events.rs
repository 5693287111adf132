//! Models with events in emitted programs and FMUs: the rows and the events of `lgm simulate`, a million events without allocation, and
//! what is refused. The corpus runs the models of `tests/corpus/switching` in C too.

use crate::support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::emitted::{Rows, STRICT, compile, emit, for_each, must, sources};
use support::program::{run, succeed};

/// Anything that C leaves undefined ends the program.
const SANITIZED: [&str; 3] = ["-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];

/// The options of runs that are compared.
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
fn events(list: &Path) -> Vec<(f64, String, Option<f64>)> {
    let text = fs::read_to_string(list).unwrap();
    let line = |line: &str| {
        let (time, rest) = line.split_once(',').unwrap();
        let (what, lost) = rest.rsplit_once(',').unwrap();
        (time.parse().unwrap(), what.to_string(), lost.parse().ok())
    };
    text.lines().skip(1).map(line).collect()
}

/// The rows of `lgm simulate`, and its list of events.
fn simulated(file: &Path, list: &Path) -> Rows {
    let mut words = ["simulate", "--method", "tsit45"].map(String::from).to_vec();
    words.extend(TIGHT.map(String::from));
    words.extend([format!("--events={}", list.display()), file.display().to_string()]);
    Rows::read(&succeed(&words))
}

/// Rows that no number of is off by more than a share of its column's size; what is no number in one is none in the other.
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

#[test]
fn programs_in_c_have_the_rows_and_the_events_of_a_run() {
    for_each(&models(), |file| {
        let scratch = tempfile::tempdir().unwrap();
        let (folder, list) = (scratch.path().join("code"), scratch.path().join("events.csv"));
        let expected = simulated(file, &list);
        let expected_events = events(&list);
        emit(file, "c", &folder, &[]);
        let program = compile(&folder, &SANITIZED);
        let list = list.display().to_string();
        let printed = must(Command::new(program).args(TIGHT).args(["--events", &list]));
        assert_same(&expected, &Rows::read(&printed), 1e-6)?;
        let found = events(Path::new(&list));
        if found.len() != expected_events.len() {
            return Err(format!("{} events and {}", expected_events.len(), found.len()));
        }
        for (a, b) in expected_events.iter().zip(&found) {
            let is_near = (a.0 - b.0).abs() <= 1e-7 * a.0.abs().max(1e-3);
            let is_lost = match (a.2, b.2) {
                (Some(a), Some(b)) => (a - b).abs() <= 1e-6 * (1.0 + a.abs()),
                (a, b) => a == b,
            };
            if !is_near || a.1 != b.1 || !is_lost {
                return Err(format!("{a:?} and {b:?}"));
            }
        }
        Ok(())
    });
}

#[test]
fn a_block_whose_condition_becomes_true_at_a_step_of_an_input_runs() {
    // A step of an input at a corner, and one of a signal that is set by a sampled block.
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

/// Runs a model to its end, and prints how many events there were, how often memory was asked for, and the energy at the start, at the
/// end, and lost.
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
    status = lgm_init(&run.model, &parameters, run.x);
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
    printf("%d %ld %ld %.17g %.17g %.17g\n", (int)status, events, asked, first[LGM_OUTPUTS - 1], last[LGM_OUTPUTS - 1],
        run.events.lost_in_all);
    return 0;
}
"#;

/// Events, requests for memory, and energies of a run that must come to its end.
fn counted(text: &str) -> (u64, u64, [f64; 3]) {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("code");
    emit(&written(scratch.path(), text), "c", &folder, &[]);
    fs::write(folder.join("main.c"), COUNTING).unwrap();
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
    (
        whole(words[1]),
        whole(words[2]),
        [energies[0], energies[1], energies[2]],
    )
}

#[test]
fn a_million_events_take_no_memory_and_keep_the_energy() {
    let (events, asked, [first, last, lost]) = counted(BOUNCING);
    // Between two hits there are 2*sqrt(2*h/g) seconds.
    let period = 2.0 * (2.0 * 0.01 / 9.81_f64).sqrt();
    let expected = (91000.0 / period + 0.5).floor();
    assert!(
        (events as f64 - expected).abs() <= 1.0,
        "{events} hits, and {expected} expected"
    );
    assert!(events >= 1_000_000);
    assert_eq!(asked, 0);
    // An ulp of the energy at each hit, all of one sign, would be 2e-10 of it.
    assert!(
        (last + lost - first).abs() <= 1e-9 * first,
        "{first:?}, {last:?}, {lost:?}"
    );
}

#[test]
fn fmus_with_events_run_in_both_modes() {
    if !super::emit_fmu::driven::has_compiler() {
        return;
    }
    let models = models();
    for_each(&models, |file| {
        let scratch = tempfile::tempdir().unwrap();
        let expected = simulated(file, &scratch.path().join("events.csv"));
        for target in ["fmu2", "fmu3"] {
            let driven = super::emit_fmu::driven::Driven::new(file, target, &scratch.path().join(target), &SANITIZED);
            for mode in ["cs", "me"] {
                let mut like = Rows {
                    names: expected.names.clone(),
                    values: expected.values.clone(),
                };
                let rows = driven.rows(mode, &like, "1e-9", &[]);
                like.names.clone_from(&rows.names);
                assert_same(&like, &rows, 1e-5).map_err(|fault| format!("{target} {mode}: {fault}"))?;
            }
        }
        Ok(())
    });
}

/// A diode in series with nonlinear resistors, so that a loop is left in several combinations of modes.
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

/// Diodes beside each other: every one may block or conduct.
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
    let cases: [(String, &[&str], &str); 9] = [
        (BOUNCING.into(), &["--target", "rust"], "this target has no events"),
        (BOUNCING.into(), &["--target", "python"], "this target has no events"),
        (BOUNCING.into(), &["--target", "julia"], "this target has no events"),
        (BOUNCING.into(), &["--target", "matlab"], "this target has no events"),
        (BOUNCING.into(), &["--target", "modelica"], "this target has no events"),
        (BOUNCING.into(), &["--target", "c", "--float"], "single precision"),
        (
            BOUNCING.into(),
            &["--target", "c", "--fixed-step", "1e-3"],
            "steps of fixed length",
        ),
        (LOOPS.into(), &["--target", "c"], "algebraic loop of `"),
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
