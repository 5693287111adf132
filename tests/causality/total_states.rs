//! Storage whose law has a sharp knee, combined with linear storage of the same current, voltage or velocity: the state
//! is their total.
//!
//! The references solve for the totals with short fixed steps, and find the shares by bisection.

use crate::causality::state_choice;
use crate::emit::matlab;
use crate::support;

use std::fs;
use std::path::Path;
use std::process::Command;
use support::emitted::{Rows, compile, emit, must, python, rust_program};
use support::program::succeed;

/// A winding around a core that saturates within 10 mA, between -6.5 and 6.5 A.
const WINDING: &str = "element Core(flux [Wb], knee [A], air [H]) : electrical {
  int(across) = flux*tanh(through/knee) + air*through;
}
model Winding {
  input u [V] = 10 [V]*sin(2*pi*50 [Hz]*time);
  node a, b, c : electrical;
  source : VoltageSource(u) a -> gnd;
  copper : Resistor(1 [ohm]) a -> b;
  leakage : Inductor(1 [mH]) b -> c;
  core : Core(30 [mWb], 10 [mA], 1 [mH]) c -> gnd;
  output i = through(leakage);
  experiment { stop = 0.1 [s]; points = 201; }
}
";

/// The zero of an increasing function.
fn zero(of: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (-1e4, 1e4);
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        match of(middle) > 0.0 {
            true => high = middle,
            false => low = middle,
        }
    }
    0.5 * (low + high)
}

/// The variables determined by the totals at equidistant samples, by the classical Runge-Kutta method with short steps.
fn reference<const N: usize>(
    stop: f64,
    rows: usize,
    start: [f64; N],
    determined: impl Fn([f64; N]) -> [f64; N],
    rate: impl Fn(f64, [f64; N]) -> [f64; N],
) -> Vec<[f64; N]> {
    const STEPS: usize = 50;
    let step = stop / ((rows - 1) * STEPS) as f64;
    let slope = |time: f64, total: [f64; N]| rate(time, determined(total));
    let moved = |total: [f64; N], by: [f64; N], step: f64| std::array::from_fn(|k| total[k] + step * by[k]);
    let mut total = start;
    let mut found = vec![determined(total)];
    for row in 0..rows - 1 {
        for part in 0..STEPS {
            let time = (row * STEPS + part) as f64 * step;
            let a = slope(time, total);
            let b = slope(time + 0.5 * step, moved(total, a, 0.5 * step));
            let c = slope(time + 0.5 * step, moved(total, b, 0.5 * step));
            let d = slope(time + step, moved(total, c, step));
            total = std::array::from_fn(|k| total[k] + step / 6.0 * (a[k] + 2.0 * b[k] + 2.0 * c[k] + d[k]));
        }
        found.push(determined(total));
    }
    found
}

/// The current of [`WINDING`].
fn winding() -> Vec<[f64; 1]> {
    let current = |[total]: [f64; 1]| [zero(|i| 0.03 * (i / 0.01).tanh() + 0.002 * i - total)];
    let omega = 2.0 * std::f64::consts::PI * 50.0;
    reference(0.1, 201, [0.0], current, |time, [i]| [10.0 * (omega * time).sin() - i])
}

/// The largest deviation of columns from their expected values, from the first output on.
#[track_caller]
fn assert_close<const N: usize>(what: &str, rows: &Rows, expected: &[[f64; N]], allowed: f64) {
    assert_eq!(rows.values.len(), expected.len(), "{what}");
    for column in 0..N {
        let size = expected.iter().map(|row| row[column].abs()).fold(0.0, f64::max);
        let difference = rows
            .values
            .iter()
            .zip(expected)
            .map(|(row, expected)| row[1 + column] - expected[column]);
        let difference = difference.fold(0.0, |most: f64, one| most.max(one.abs()));
        assert!(
            difference <= allowed * size,
            "{what}: column {column} is off by {difference:e} of {size}"
        );
    }
}

/// The samples of `lgm simulate`.
fn rows(file: &Path, further: &[&str]) -> Rows {
    let name = file.display().to_string();
    let words = ["simulate", &name].into_iter().chain(further.iter().copied());
    Rows::read(&succeed(&words.map(String::from).collect::<Vec<_>>()))
}

/// A model in a separate folder.
fn written(text: &str) -> (tempfile::TempDir, std::path::PathBuf) {
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("winding.lgm");
    fs::write(&file, text).unwrap();
    (scratch, file)
}

#[test]
fn a_winding_around_a_sharp_core_is_right_by_every_method() {
    let (_scratch, file) = written(WINDING);
    let expected = winding();
    for method in ["auto", "bdf", "tr-bdf2", "sdirk", "tsit45"] {
        let rows = rows(&file, &["--method", method, "--rtol", "1e-7"]);
        assert_close(method, &rows, &expected, 1e-4);
    }
    assert_close("default", &rows(&file, &[]), &expected, 3e-4);
}

#[test]
fn a_winding_around_a_sharp_core_is_right_in_emitted_code() {
    const TIGHT: [&str; 2] = ["--rtol", "1e-8"];
    let (scratch, file) = written(WINDING);
    let expected = winding();
    let check = |language: &str, text: &str| assert_close(language, &Rows::read(text), &expected, 1e-5);
    let folder = scratch.path().join("c");
    emit(&file, "c", &folder, &[]);
    check("C", &must(Command::new(compile(&folder, &["-O0"])).args(TIGHT)));
    let folder = scratch.path().join("rust");
    emit(&file, "rust", &folder, &[]);
    check("Rust", &must(Command::new(rust_program(&folder)).args(TIGHT)));
    if let Some(python) = python("numpy, scipy") {
        let folder = scratch.path().join("python");
        emit(&file, "python", &folder, &[]);
        check(
            "Python",
            // A step of DOP853 over the knee is off by up to 4e-5 at the tolerance of the others.
            &must(
                Command::new(python)
                    .arg(folder.join("winding.py"))
                    .args(["--rtol", "1e-10"]),
            ),
        );
    }
    if let Some(octave) = matlab::octave() {
        let folder = scratch.path().join("matlab");
        emit(&file, "matlab", &folder, &[]);
        // The loop variables satisfy the law on both sides of the knee and within it.
        let statements = "model = Winding();
for total = [-0.04, -0.03, -1e-3, 0, 1e-5, 0.02, 0.0301, 0.2]
    printf('%.17g,%.17g\\n', total, model.unknowns(0.001, total, model.parameters(), 3, [0, 1, -1]));
end
";
        let said = must(&mut matlab::command(&octave, &folder, statements));
        assert_eq!(said.lines().count(), 8, "{said}");
        for line in said.lines() {
            let (total, current) = line.split_once(',').unwrap();
            let [total, current]: [f64; 2] = [total, current].map(|number| number.trim().parse().unwrap());
            let left = 0.03 * (current / 0.01).tanh() + 0.002 * current - total;
            assert!(left.abs() < 1e-12, "{total}: {left}");
        }
    }
}

/// Two meshes share the core, so that two totals determine two currents together.
#[test]
fn meshes_that_share_a_sharp_core_are_right() {
    let (_scratch, file) = written(
        "element Core(flux, knee, air) : electrical { int(across) = flux*tanh(through/knee) + air*through; }
model Winding {
  input u = 10*sin(314*time);
  node a, b, c, d : electrical;
  source : VoltageSource(u) a -> gnd;
  R1 : Resistor(1) a -> b;
  L1 : Inductor(1e-3) b -> c;
  core : Core(0.03, 0.01, 0.002) c -> gnd;
  L2 : Inductor(2e-3) c -> d;
  R2 : Resistor(2) d -> gnd;
  output i1 = through(L1);
  output i2 = through(L2);
  experiment { stop = 0.1; points = 201; }
}
",
    );
    let held = |i: f64| 0.03 * (i / 0.01).tanh() + 0.002 * i;
    let currents = |[first, second]: [f64; 2]| {
        let i = zero(|i| i - (first - held(i)) / 1e-3 + (second + held(i)) / 2e-3);
        [(first - held(i)) / 1e-3, (second + held(i)) / 2e-3]
    };
    let rate = |time: f64, [i1, i2]: [f64; 2]| [10.0 * (314.0 * time).sin() - i1, -2.0 * i2];
    let expected = reference(0.1, 201, [0.0, 0.0], currents, rate);
    assert_close("meshes", &rows(&file, &["--rtol", "1e-7"]), &expected, 2e-5);
}

/// The same in a bond graph, where momenta are states; for springs that share a force; and for capacitors that share a
/// voltage.
#[test]
fn totals_are_momenta_displacements_and_charges() {
    let bonds = "element Core(p, knee, m) : bond { int(effort) = p*tanh(flow/knee) + m*flow; }
model Winding {
  input u = 10*sin(2*pi*50*time);
  one J;
  SE : Se(u); I1 : I(1e-3); R1 : R(1); core : Core(0.03, 0.01, 0.001);
  SE -> J; J -> I1; J -> R1; J -> core;
  output i = flow(I1);
  experiment { stop = 0.1; points = 201; }
}
";
    let (_scratch, file) = written(bonds);
    assert_close("bonds", &rows(&file, &["--rtol", "1e-7"]), &winding(), 1e-4);
    for states in ["power", "energy"] {
        let rows = rows(&file, &["--rtol", "1e-7", "--states", states]);
        assert_close(states, &rows, &winding(), 1e-4);
    }
    let (_scratch, file) = written(
        "element Knee(x, force, slope) : translational { int(across) = x*tanh(through/force) + slope*through; }
model Winding {
  input v = 0.5*sin(20*time);
  node a, b, c : translational;
  source : VelocitySource(v) a -> gnd;
  damper : Damper(50) a -> b;
  spring : Spring(1000) b -> c;
  knee : Knee(0.02, 0.05, 1e-4) c -> gnd;
  output F = through(spring);
  experiment { stop = 2; points = 401; }
}
",
    );
    let force = |[x]: [f64; 1]| [zero(|force| 0.0011 * force + 0.02 * (force / 0.05).tanh() - x)];
    let rate = |time: f64, [force]: [f64; 1]| [0.5 * (20.0 * time).sin() - force / 50.0];
    let expected = reference(2.0, 401, [0.0], force, rate);
    assert_close("springs", &rows(&file, &["--rtol", "1e-7"]), &expected, 1e-4);
    let (_scratch, file) = written(
        "element Sat(q, knee, C) : electrical { int(through) = q*tanh(across/knee) + C*across; }
model Winding {
  input u = 10*sin(314*time);
  node a, b : electrical;
  source : VoltageSource(u) a -> gnd;
  R1 : Resistor(100) a -> b;
  C1 : Capacitor(1e-6) b -> gnd;
  sat : Sat(3e-5, 1e-2, 1e-6) b -> gnd;
  output v = across(C1);
  experiment { stop = 0.1; points = 401; }
}
",
    );
    let voltage = |[q]: [f64; 1]| [zero(|v| 2e-6 * v + 3e-5 * (v / 0.01).tanh() - q)];
    let rate = |time: f64, [v]: [f64; 1]| [(10.0 * (314.0 * time).sin() - v) / 100.0];
    let expected = reference(0.1, 401, [0.0], voltage, rate);
    assert_close("capacitors", &rows(&file, &["--rtol", "1e-8"]), &expected, 1e-4);
}

/// An initial current, an initial flux, and a current that jumps: the total stays, and the current follows from it.
#[test]
fn totals_start_from_what_is_given_and_stay_where_currents_jump() {
    let jumping = |start: &str, of_core: &str| {
        format!(
            "element Core(flux, knee, air) : electrical {{ int(across) = flux*tanh(through/knee) + air*through; }}
model Winding {{
  input j = 2*step(0.5) - 3*step(1);
  node a, b : electrical;
  source : CurrentSource(j) gnd -> a;
  leak : Resistor(3) a -> gnd;
  core : Core(0.5, 0.0134, 0.0955) a -> b{of_core};
  coil : Inductor(0.2) b -> gnd{start};
  output i = through(coil);
  experiment {{ stop = 2; points = 401; }}
}}
"
        )
    };
    let held = |i: f64| 0.5 * (i / 0.0134).tanh() + 0.0955 * i;
    let current = |[total]: [f64; 1]| [zero(|i| 0.2 * i + held(i) - total)];
    let source = |time: f64| match time {
        time if time < 0.5 => 0.0,
        time if time < 1.0 => 2.0,
        _ => -1.0,
    };
    let rate = |time: f64, [i]: [f64; 1]| [3.0 * (source(time + 1e-9) - i)];
    let expected = reference(2.0, 401, [0.08 + held(0.4)], current, rate);
    let flux = held(0.4);
    for (start, of_core) in [(", start = 0.4", String::new()), ("", format!(", start = {flux:.17}"))] {
        let (_scratch, file) = written(&jumping(start, &of_core));
        // A step of the reference that ends at the source's jump uses only one side of it.
        assert_close(
            &file.display().to_string(),
            &rows(&file, &["--rtol", "1e-8"]),
            &expected,
            3e-4,
        );
    }
    let (_scratch, file) = written(
        "element Core(flux, knee, air) : electrical { int(across) = flux*tanh(through/knee) + air*through; }
model Winding {
  input j = 5*sin(3*time) + 2*step(3);
  node a : electrical;
  source : CurrentSource(j) gnd -> a;
  core : Core(9.5, 0.0134, 0.0955) a -> gnd;
  coil : Inductor(5.5) a -> gnd;
  output i = through(coil);
  experiment { stop = 20; points = 401; }
}
",
    );
    // No voltage is lost anywhere, so both fluxes remain equal.
    let shared = |time: f64| {
        let j = 5.0 * (3.0 * time).sin() + if time >= 3.0 - 1e-9 { 2.0 } else { 0.0 };
        [zero(|i| 5.5 * i - 9.5 * ((j - i) / 0.0134).tanh() - 0.0955 * (j - i))]
    };
    let expected: Vec<[f64; 1]> = (0..401).map(|row| shared(row as f64 * 0.05)).collect();
    assert_close("shared", &rows(&file, &[]), &expected, 1e-9);
}

/// Zero initial values are consistent with values that are zero except for round-off: the flux of a magnetised core,
/// and a current from an inverse law.
#[test]
fn starts_at_zero_are_met_to_rounding() {
    let model = |magnet: &str, knee: f64, of_core: &str, of_coil: &str| {
        format!(
            "element Core(flux, knee, air) : electrical {{ int(across) = flux*tanh((through{magnet})/knee) + air*through; }}
model Winding {{
  node a, b, c : electrical;
  source : VoltageSource(sin(time)) a -> gnd;
  copper : Resistor(1) a -> b;
  coil : Inductor(1e-3) b -> c{of_coil};
  core : Core(0.03, {knee}, 1e-3) c -> gnd{of_core};
  output i = through(coil);
  experiment {{ stop = 0.01; points = 3; }}
}}
"
        )
    };
    let (_scratch, file) = written(&model(" - 0.03", 0.01, ", start = 0", ""));
    let first = &rows(&file, &[]).values[0];
    // At zero flux: 30 mA less the current of the air path.
    let expected = zero(|i| 0.03 * ((i - 0.03) / 0.01).tanh() + 1e-3 * i);
    assert!((first[1] - expected).abs() < 1e-12, "{first:?}");
    let (_scratch, file) = written(&model("", 5.0, "", ", start = 0"));
    let first = &rows(&file, &["--retain", "core"]).values[0];
    assert!(first[1].abs() < 1e-12, "{first:?}");
}

/// The initial total follows from parameters, in emitted code too, and includes the value of the law at rest.
#[test]
fn totals_start_over_the_parameters() {
    let (_scratch, file) = written(
        "element Core(flux, knee, air, magnet) : electrical { int(across) = magnet + flux*tanh(through/knee) + air*through; }
model Winding {
  param flux = 0.03;  param magnet = 0.1;  param first = 0.4;
  node b, c, d, e : electrical;
  R1 : Resistor(1) b -> gnd;
  L1 : Inductor(1e-3) b -> c, start = first;
  core : Core(flux, 0.01, 0.002, 0) c -> gnd;
  R2 : Resistor(1) d -> gnd;
  L2 : Inductor(1e-3) d -> e;
  magnet : Core(0.05, 0.01, 0.002, magnet) e -> gnd;
  output i1 = through(L1);
  output i2 = through(L2);
  experiment { stop = 0.05; points = 51; }
}
",
    );
    let check = |what: &str, rows: &Rows, flux: f64| {
        let held = |i: f64| flux * (i / 0.01).tanh() + 0.003 * i;
        let current = |[total]: [f64; 1]| [zero(|i| held(i) - total)];
        let expected = reference(0.05, 51, [held(0.4)], current, |_, [i]| [-i]);
        assert_close(what, rows, &expected, 1e-5);
        // A core magnetised at rest carries no current.
        assert!(rows.values.iter().all(|row| row[2].abs() < 1e-12), "{what}");
    };
    check("simulate", &rows(&file, &["--rtol", "1e-8"]), 0.03);
    check(
        "another flux",
        &rows(&file, &["--rtol", "1e-8", "--set", "flux=0.06"]),
        0.06,
    );
    // Emitted code contains an expression, not the number computed from the original parameters.
    let (system, _) = state_choice::compile(&fs::read_to_string(&file).unwrap(), &[]);
    let state = system
        .states
        .iter()
        .find(|state| &*state.name == "L1.total_int_v")
        .unwrap();
    let symbols = system.exprs.symbols_of(&[state.start]);
    let names: Vec<&str> = symbols
        .iter()
        .map(|symbol| &*system.exprs.symbol_info(*symbol).name)
        .collect();
    assert!(names.contains(&"flux") && names.contains(&"first"), "{names:?}");
}

/// Steps of a source move charge across a knee instantaneously, outside the solver's steps: the charge of both
/// capacitors is the same, and so is the total.
#[test]
fn steps_of_a_source_cross_knees_of_any_width() {
    for (knee, second) in [(0.1, -8.0), (0.5, -6.3)] {
        let (_scratch, file) = written(&format!(
            "element Var(q0, v0, C) : electrical {{ int(through) = q0*max(-1, min(1, across/v0)) + C*across; }}
model Winding {{
  input u = 5*step(1) + {second}*step(2);
  node a, b : electrical;
  source : VoltageSource(u) a -> gnd;
  c1 : Capacitor(0.002) a -> b;
  q : Var(0.002, {knee}, 0.0001) b -> gnd;
  output v = across(q);
  experiment {{ stop = 3; points = 4; }}
}}
"
        ));
        let voltage = |u: f64| {
            [zero(|v| {
                0.002 * (v / knee).clamp(-1.0, 1.0) + 0.0001 * v - 0.002 * (u - v)
            })]
        };
        let expected = [0.0, 5.0, 5.0 + second, 5.0 + second].map(voltage);
        assert_close("steps", &rows(&file, &[]), &expected, 1e-9);
    }
}

/// Slopes that differ by a factor of 48, a knee of a thousandth of the swing, and parameters that create a knee.
#[test]
fn knees_that_are_not_sharp_are_narrow() {
    let text = "element Core(flux, knee, air) : electrical { int(across) = flux*tanh(through/knee) + air*through; }
model Winding {
  param k = 47;
  input u = 10*sin(6*time);
  node a, b, c : electrical;
  source : VoltageSource(u) a -> gnd;
  copper : Resistor(1) a -> b;
  coil : Inductor(1) b -> c;
  core : Core(0.01*k, 0.01, 0.01) c -> gnd;
  output i = through(coil);
  experiment { stop = 3; points = 31; }
}
";
    let (_scratch, file) = written(text);
    let expected = |k: f64| {
        let current = |[total]: [f64; 1]| [zero(|i| 1.01 * i + 0.01 * k * (i / 0.01).tanh() - total)];
        reference(3.0, 31, [0.0], current, |time, [i]| [10.0 * (6.0 * time).sin() - i])
    };
    assert_close("narrow", &rows(&file, &["--rtol", "1e-8"]), &expected(47.0), 1e-4);
    let name = file.display().to_string();
    let words = [
        "simulate",
        &name,
        "--sweep",
        "k=0.5:500.5:2",
        "--rtol",
        "1e-8",
        "--points",
        "2",
    ];
    let text = succeed(&words.map(String::from));
    let ends: Vec<f64> = text
        .lines()
        .filter(|line| line.split(',').nth(2) == Some("3"))
        .map(|line| line.split(',').nth(3).unwrap().parse().unwrap())
        .collect();
    for (end, k) in ends.iter().zip([0.5, 500.5]) {
        let [right] = *expected(k).last().unwrap();
        assert!((end - right).abs() < 1e-4, "k = {k}: {end} is not {right}");
    }
    assert_eq!(ends.len(), 2, "{text}");
}
