//! Fixed-step code with blocks: compared with the samples of `lgm simulate` and with a handwritten loop, and rejected
//! models.

use crate::support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::emitted::{Rows, STRICT, emit, for_each, must, simulated};
use support::program::run;

fn written(folder: &Path, text: &str) -> PathBuf {
    let file = folder.join("model.lgm");
    fs::write(&file, text).unwrap();
    file
}

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/switching/digital_speed_loop.lgm")
}

fn corpus(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/switching/sampled_blocks");
    folder.join(name).with_extension("lgm")
}

/// The samples of a fixed-step run. All files are strict C99 and C++.
fn stepped(file: &Path, step: &str, count: usize, options: &[&str]) -> Rows {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("code");
    emit(file, "c", &folder, &[&["--fixed-step", step], options].concat());
    let flags = "CFLAGS=-O1 -Werror -fsanitize=address,undefined -fno-sanitize-recover=all";
    must(Command::new("make").args(["-s", flags, "-C"]).arg(&folder));
    let cpp = [
        "-x",
        "c++",
        "-std=c++11",
        "-fsyntax-only",
        "-Wall",
        "-Wextra",
        "-Wconversion",
        "-Werror",
    ];
    let mut names: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    names.retain(|path| path.extension().is_some_and(|ending| ending == "c"));
    must(Command::new("g++").args(cpp).args(&names));
    let mut names = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let program = names.find(|path| path.to_string_lossy().ends_with("_fixed")).unwrap();
    Rows::read(&must(Command::new(program).arg(count.to_string())))
}

/// The samples of `lgm simulate` at the instants of the steps, with the columns of fixed-step code.
fn expected(file: &Path, stop: f64, count: usize, shown: &Rows) -> Rows {
    let further = ["--stop", &stop.to_string(), "--points", &(count + 1).to_string()].map(String::from);
    let mut rows = simulated(file, &further);
    let places = shown
        .names
        .iter()
        .map(|name| rows.names.iter().position(|own| own == name).unwrap());
    let places: Vec<usize> = places.collect();
    rows.values = rows
        .values
        .iter()
        .map(|row| places.iter().map(|at| row[*at]).collect())
        .collect();
    rows.names.clone_from(&shown.names);
    rows
}

fn assert_steps(file: &Path, step: &str, stop: f64, allowed: f64) -> Result<(), String> {
    let count = (stop / step.parse::<f64>().unwrap()).round() as usize;
    let rows = stepped(file, step, count, &[]);
    let (difference, place) = expected(file, stop, count, &rows).difference(&rows)?;
    match difference <= allowed {
        true => Ok(()),
        false => Err(format!("{}: {difference:e} {place}", file.display())),
    }
}

#[test]
fn linear_models_with_blocks_step_exactly() {
    // Conditions, two clocks with an offset, vectors and matrices, a block between steps, states that depend on a held
    // value.
    let models: Vec<(PathBuf, &str, f64)> = vec![
        (example(), "0.001", 0.5),
        (example(), "0.0005", 0.5),
        (corpus("block_if"), "0.05", 4.0),
        (corpus("delay_line"), "0.02", 1.96),
        (corpus("every_from"), "0.05", 4.0),
        (corpus("sample_hold"), "0.025", 3.0),
        (corpus("input_steps_between_ticks"), "0.1", 2.0),
        (corpus("vector_assignment"), "0.25", 3.0),
    ];
    for_each(
        &models.iter().map(|model| model.0.clone()).collect::<Vec<_>>(),
        |file| {
            for (_, step, stop) in models.iter().filter(|model| model.0 == *file) {
                assert_steps(file, step, *stop, 1e-9)?;
            }
            Ok(())
        },
    );
}

/// A pendulum with a sampled controller that measures a force and both states, and that counts its executions.
const PENDULUM: &str = "model Held {
  param m = 1 [kg];  param L = 0.5 [m];  param k = 3;
  node j : rotational;
  state theta = int(across(joint)), start = 1;
  joint : Inertia(m*L^2) j -> gnd;
  grav  : TorqueSource(-m*9.81*L*sin(theta)) gnd -> j;
  discrete u = 0;  discrete n = 0;  discrete last = 0;
  motor : TorqueSource(u) gnd -> j;
  drag  : RotaryDamper(0.05) j -> gnd;
  every 0.04 { u := -k*(theta - 0.2) - 0.3*across(joint) + 0.1*through(motor); n := n + 1; }
  every 0.08 from 0.04 { last := through(motor) + n; }
  output angle = theta;  output torque = u;  output count = n;  output seen = last;
}
";

#[test]
fn other_models_with_blocks_step_to_order_four() {
    let scratch = tempfile::tempdir().unwrap();
    let file = written(scratch.path(), PENDULUM);
    let error = |step: &str, count: usize| {
        let rows = stepped(&file, step, count, &[]);
        expected(&file, 2.0, count, &rows).difference(&rows).unwrap().0
    };
    let [coarse, fine] = [error("0.04", 50), error("0.02", 100)];
    assert!(
        fine < 1e-5 && (10.0..25.0).contains(&(coarse / fine)),
        "{coarse:e} {fine:e}"
    );
}

/// A handwritten version of the example's loop.
const BY_HAND: &str = "#include \"DigitalSpeedLoop.h\"
#include <math.h>
#include <stdio.h>
int main(void) {
    static DigitalSpeedLoop_model model;
    DigitalSpeedLoop_parameters parameters;
    const double decay = exp(-0.02 * 1e-3 / 0.01);
    double w = 0.0, z = 0.0, worst = 0.0;
    DigitalSpeedLoop_defaults(&parameters);
    DigitalSpeedLoop_begin(&model, &parameters);
    for (int step = 0; step <= 1000000; step++) {
        double reference[1], y[2], e, u;
        reference[0] = (step % 2000 < 1000) ? 10.0 : -5.0;
        e = reference[0] - w;
        z += 2.0 * 1e-3 * e;
        u = fmin(fmax(0.5 * e + z, -2.0), 2.0);
        DigitalSpeedLoop_step(&model, reference, y);
        worst = fmax(worst, fmax(fabs(y[0] - w), fabs(y[1] - u)));
        w = decay * w + (1.0 - decay) * u / 0.02;
    }
    printf(\"%.17g %.17g\\n\", worst, w);
    return 0;
}
";

#[test]
fn a_controller_written_by_hand_has_the_same_numbers() {
    let file = example();
    for (options, real, allowed) in [(&[][..], "double", 1e-9), (&["--float"][..], "float", 2e-4)] {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("code");
        emit(
            &file,
            "c",
            &folder,
            &[&["--fixed-step", "1e-3", "--functions"], options].concat(),
        );
        let text = BY_HAND.replace(
            "double reference[1], y[2], e, u;",
            &format!("{real} reference[1], y[2]; double e, u;"),
        );
        let text = match real {
            "float" => text
                .replace("10.0 : -5.0", "10.0F : -5.0F")
                .replace("(y[0] - w)", "((double)y[0] - w)"),
            _ => text,
        };
        let text = text.replace("e = reference[0] - w", "e = (double)reference[0] - w");
        let text = text.replace("(y[1] - u)", "((double)y[1] - u)");
        let program = folder.join("main.c");
        fs::write(&program, text).unwrap();
        let mut gcc = Command::new("gcc");
        gcc.args(STRICT)
            .arg("-O2")
            .arg(&program)
            .arg(folder.join("DigitalSpeedLoop.c"));
        must(gcc.arg("-o").arg(folder.join("loop")).arg("-lm"));
        let printed = must(&mut Command::new(folder.join("loop")));
        let worst: f64 = printed.split_whitespace().next().unwrap().parse().unwrap();
        // A million steps with a limited and a free controller.
        assert!(worst < allowed, "{real}: {printed}");
    }
}

/// A ladder of equal cells, printed as loops over arrays, with a controller at its end; and an algebraic loop combined
/// with a block.
const LADDER: &str = "model Ladder {
  const N = 12;
  param R = 1 [ohm];  param C = 0.1 [F];
  input goal [V] = 1;
  node n[N + 1] : electrical;
  discrete u = 0;  discrete s = [0, 0];
  src : VoltageSource(u) n[1] -> gnd;
  for i in 1:N { r[i] : Resistor(R) n[i] -> n[i + 1];  c[i] : Capacitor(C) n[i + 1] -> gnd; }
  every 0.05 { s := [s[2] + goal, s[1] + through(r[1])]; u := u + 0.5*(goal - across(c[3])) + 0.01*s[1]; }
  when initially { u := 0.25; across(c[2]) := 0.5; }
  every 0.1 from 0.15 { across(c[1]) := across(c[1])/2; }
  output y = across(c[3]);  output v = u;  output w = s[2];
}
";

const LOOP: &str = "element Diode(Is [A], Vt [V]) : electrical { through = Is*(exp(across/Vt) - 1); }
model Looped {
  node a, b, o : electrical;
  discrete u = 0.2;
  every 0.01 [s] { u := 0.9*u + 0.1*(2 - through(d)*100); }
  src : VoltageSource(u) a -> gnd;
  r1 : Resistor(100 [ohm]) a -> b;
  d  : Diode(1e-6 [A], 0.05 [V]) b -> gnd;
  r2 : Resistor(200 [ohm]) b -> o;
  c  : Capacitor(1e-4 [F]) o -> gnd;
  output vo = across(c);  output hold = u;
}
";

#[test]
fn blocks_beside_arrays_and_algebraic_loops_have_the_rows_of_a_run() {
    let scratch = tempfile::tempdir().unwrap();
    let file = written(scratch.path(), LADDER);
    assert_steps(&file, "0.005", 1.5, 1e-5).unwrap();
    let file = written(scratch.path(), LOOP);
    assert_steps(&file, "0.001", 0.3, 1e-6).unwrap();
}

#[test]
fn states_that_a_block_sets_jump_before_the_outputs() {
    // A block before the first sample, and one that makes a mass bounce.
    let text = "model Reset {
  node x : translational;
  m : Mass(2) x -> gnd, start = 1;
  k : Spring(5) x -> gnd;
  discrete hits = 0;
  when initially { across(m) := 3; hits := 10; }
  when initially { hits := hits + across(m); }
  every 0.25 from 0.5 { across(m) := -across(m)/2; hits := hits + 1; }
  output v = across(m);  output n = hits;  output f = through(k);
}
";
    let scratch = tempfile::tempdir().unwrap();
    let file = written(scratch.path(), text);
    assert_steps(&file, "0.05", 2.0, 1e-9).unwrap();
    // The states jump within a step, so its rows contain the outputs.
    assert_eq!(stepped(&file, "0.05", 2, &[]).names, ["time", "v", "n", "f"]);
}

#[test]
fn a_run_that_begins_late_has_the_instants_of_a_run() {
    // Instants at 0.05, 0.15, 0.25, .. s, and at 0.4, 0.6, .. s; the run begins at 0.25 s.
    let text = "model Late {
  discrete n = 0;  discrete m = 0;  discrete at = 0;
  every 0.1 from 0.05 { n := n + 1; at := time; }
  every 0.2 from 0.4 { m := m + n; }
  state x = int(n - x);
  output a = n;  output b = m;  output c = at;  output y = x;
  experiment { start = 0.25 [s]; }
}
";
    let scratch = tempfile::tempdir().unwrap();
    let file = written(scratch.path(), text);
    for (step, count) in [("0.05", 30), ("0.025", 60)] {
        let rows = stepped(&file, step, count, &[]);
        let (difference, place) = expected(&file, 1.75, count, &rows).difference(&rows).unwrap();
        assert!(difference <= 1e-9, "{difference:e} {place}");
    }
}

/// Conditions of time, of an input, of discrete variables and of a state; one that holds from the start, one that another block makes
/// true, one that makes itself false, and one that is true again in the next step. A block runs before the first test of the second half.
const CONDITIONS: &str = "model Conditional {
  input u = step(0.2) - step(0.45) + step(0.7);
  discrete a = 0;  discrete b = 0;  discrete c = 0;  discrete d = 0;  discrete e = 0;  discrete f = 0;  discrete n = 0;
  state x = int(1 + a - x), start = 0.5;
  when time > 0.3 { a := a + 1; x := 2*x; }
  when time >= 0 { a := a + 100; }
  when n >= 1 { e := e + 1; }
  when initially { n := 1; }
  when n >= 1 { f := f + 1; }
  when u > 0.5 or a > 5 { b := b + time; }
  when b >= 0.2 and b < 5 { c := c + a + 1; b := b + 5; }
  when c > 0.5 { d := d + x; a := a + 0.25; }
  every 0.25 { n := n + 1; }
  when n - 2*f > 2 { f := f + 10; }
  when x > 1.2 and e < 10 { x := x - 0.3; e := e + 10; }
  output ya = a;  output yb = b;  output yc = c;  output yd = d;  output ye = e;  output yf = f;  output yx = x;
}
";

#[test]
fn conditions_at_steps_run_blocks_as_in_a_run() {
    let scratch = tempfile::tempdir().unwrap();
    let file = written(scratch.path(), CONDITIONS);
    for step in ["0.05", "0.025"] {
        assert_steps(&file, step, 1.2, 1e-9).unwrap();
    }
    // Over arrays, and with an algebraic loop.
    let with = |text: &str, blocks: &str| text.replace("  output y = ", blocks).replace("  output vo = ", blocks);
    let of = |blocks: &str, output: &str| format!("{blocks}\n  output {output} = ");
    let blocks = of(
        "when time > 0.7 or s[1] > 10 { across(c[2]) := 0.1; u := u + across(c[3]); }",
        "y",
    );
    let file = written(scratch.path(), &with(LADDER, &blocks));
    assert_steps(&file, "0.005", 1.5, 1e-5).unwrap();
    let blocks = of(
        "when time >= 0.1 and through(d) > 1e-6 { u := 0.5*u + through(d); across(c) := 0.01; }",
        "vo",
    );
    let file = written(scratch.path(), &with(LOOP, &blocks));
    assert_steps(&file, "0.001", 0.3, 1e-6).unwrap();
}

#[test]
fn conditions_between_steps_are_late_by_a_step_at_most() {
    let text = "model Ball {
  node y : translational;
  ball : Mass(1) y -> gnd;
  weight : ForceSource(-9.81) gnd -> y;
  state h = int(across(ball)), start = 1;
  discrete hits = 0;
  when h <= 0 and across(ball) < 0 { across(ball) := -0.8*across(ball); hits := hits + 1; }
  output height = h;
  output n = hits;
}
";
    let scratch = tempfile::tempdir().unwrap();
    let file = written(scratch.path(), text);
    // The first impact is at sqrt(2/9.81) s with 4.43 m/s, the second one 1.6 times as long after it.
    let error = |step: &str, count: usize| {
        let rows = stepped(&file, step, count, &[]);
        assert_eq!(rows.values[count].last(), Some(&1.0));
        expected(&file, 1.0, count, &rows)
            .values
            .iter()
            .zip(&rows.values)
            .filter(|(row, _)| !(0.4..0.5).contains(&row[0]))
            .map(|(row, own)| (row[1] - own[1]).abs())
            .fold(0.0, f64::max)
    };
    let [coarse, fine] = [error("0.004", 250), error("0.0004", 2500)];
    assert!(
        coarse < 8.0 * 0.004 && fine < 8.0 * 0.0004 && fine > 0.0,
        "{coarse:e} {fine:e}"
    );
}

#[test]
fn instants_between_steps_and_events_of_variable_time_are_refused() {
    let scratch = tempfile::tempdir().unwrap();
    let refused = |text: &str, step: &str| {
        let file = written(scratch.path(), text).display().to_string();
        let output = scratch.path().join("code").display().to_string();
        let words = ["emit", &file, "--target", "c", "--fixed-step", step, "-o", &output].map(str::to_string);
        let output = run(&words);
        assert!(!output.status.success());
        let said = String::from_utf8_lossy(&output.stderr);
        said.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let timer = |rest: &str| {
        format!(
            "import switching;\nmodel Timer {{ discrete n = 0; {rest} node a : electrical; s : VoltageSource(n) a -> gnd; \
             r : Resistor(1) a -> gnd; output y = n; }}\n"
        )
    };
    for (rest, step, said) in [
        ("every 0.001 { n := n + 1; }", "4e-4", "write `--fixed-step 0.00025`"),
        (
            "every 0.01 from 0.004 { n := n + 1; }",
            "0.01",
            "write `--fixed-step 0.002`",
        ),
        (
            "every 1/3 { n := n + 1; }",
            "0.01",
            "choose a step that divides all periods",
        ),
        ("every 0.01 { n := n + 1; }", "0.02", "write `--fixed-step 0.01`"),
        (
            "every 0.01 { n := n + 1; } w : Switch(n > 3) a -> gnd;",
            "0.01",
            "locating changes of modes requires steps of variable length",
        ),
        (
            "every 0.01 { n := n + 1; } c : Capacitor(1) a -> gnd; output i = through(c);",
            "0.01",
            "a step of the discrete variable `n` passes an impulse",
        ),
    ] {
        let text = refused(&timer(rest), step);
        assert!(text.contains("LGM0944") && text.contains(said), "{rest}: {text}");
    }
}

#[test]
fn a_controller_reads_like_its_blocks() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("code");
    emit(&example(), "c", &folder, &["--fixed-step", "5e-4", "--functions"]);
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let [header, source] = ["DigitalSpeedLoop.h", "DigitalSpeedLoop.c"].map(read);
    for line in [
        "enum { DigitalSpeedLoop_STATES = 1, DigitalSpeedLoop_INPUTS = 1, ",
        "double d[DigitalSpeedLoop_DISCRETES];",
    ] {
        assert!(header.contains(line), "{header}");
    }
    for line in [
        "    const double ref = u[0]; /* [rad/s] */\n",
        "    const double rotor_w = model->x[0]; /* [rad/s] */\n",
        "    z = z + 0.001*p->Ki*(ref - rotor_w);\n",
        "    if (model->wait[0] == 0) {\n        run_blocks(model, t, u);\n    }\n",
        "model->wait[0] : 2UL) - 1UL;\n",
    ] {
        assert!(source.contains(line), "{line}{source}");
    }
    assert!(header.lines().count() + source.lines().count() <= 320);
}
