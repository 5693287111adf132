//! Emitted C functions without a run, and fixed steps.

use crate::support;

use lgm_emit::code::{CodeOptions, Target};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use support::emitted::{
    CPP, Rows, STRICT, compile, emit, examples, for_each, must, session_of, simulated, sources, write_code,
};
use support::program::{example, run};

/// The two files of a model.
fn files_of_model(folder: &Path) -> [PathBuf; 2] {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut names: Vec<PathBuf> = names.filter(|path| !path.ends_with("README.md")).collect();
    names.sort();
    names
        .try_into()
        .expect("there are two files of the model, and the README")
}

#[test]
fn functions_alone_are_two_files_in_c_and_cpp() {
    let files = examples();
    let written = AtomicUsize::new(0);
    for_each(&files, |file| {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path();
        let options = CodeOptions {
            functions: true,
            ..CodeOptions::default()
        };
        if let Err(said) = write_code(&session_of(file), Target::C, &options, folder) {
            // Blocks and mode changes are not functions of a point.
            let text = fs::read_to_string(file).unwrap();
            let has_events = ["import switching", "every ", "when ", "mode "]
                .iter()
                .any(|word| text.contains(word));
            assert!(said.contains("LGM0944") && has_events, "{}: {said}", file.display());
            return Ok(());
        }
        written.fetch_add(1, Ordering::Relaxed);
        let [source, header] = files_of_model(folder);
        assert!(header.with_extension("c") == source, "{header:?} {source:?}");
        must(Command::new("gcc").args(STRICT).arg("-fsyntax-only").arg(&source));
        must(Command::new("g++").args(CPP).arg(&source));
        // No run and no macros of its parts remain.
        let text = fs::read_to_string(&source).unwrap() + &fs::read_to_string(&header).unwrap();
        assert!(!text.contains("lgm_") && !text.contains("LGM_"), "{text}");
        Ok(())
    });
    let written = written.into_inner();
    assert!(written * 10 >= files.len() * 9, "{written} of {}", files.len());
}

#[test]
fn a_motor_takes_a_page_and_reads_like_its_equations() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("code");
    emit(&example("dc_motor.lgm"), "c", &folder, &["--functions"]);
    let files = files_of_model(&folder).map(|file| fs::read_to_string(file).unwrap());
    let lines: usize = files.iter().map(|text| text.lines().count()).sum();
    assert!(lines <= 150, "{lines} lines");
    for line in [
        "dx[0] = (u_ - p->R_a*inductance_i - p->K_m*rotor_w)/p->L_a; /* der(inductance.i) */",
        "/* der(inductance.i) = (u - R_a*inductance.i - K_m*rotor.w)/L_a",
    ] {
        assert!(files[0].contains(line), "{}", files[0]);
    }
}

/// The samples of a fixed-step run.
fn stepped(folder: &Path, file: &Path, step: &str, count: &str) -> Rows {
    emit(file, "c", folder, &["--fixed-step", step]);
    must(Command::new("make").args(["-s", "fixed", "-C"]).arg(folder));
    let mut names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let program = names.find(|path| path.to_string_lossy().ends_with("_fixed")).unwrap();
    Rows::read(&must(Command::new(program).arg(count)))
}

#[test]
fn linear_models_step_exactly() {
    let scratch = tempfile::tempdir().unwrap();
    let file = example("dc_motor.lgm");
    // The load steps at the start of a step.
    let rows = stepped(&scratch.path().join("code"), &file, "0.001", "500");
    let (difference, place) = simulated(&file, &[]).difference(&rows).unwrap();
    assert!(difference <= 1e-9, "{difference:e} {place}");
    // Steps far beyond the fastest time constant are exact too.
    let rows = stepped(&scratch.path().join("long"), &file, "0.1", "5");
    let expected = simulated(&file, &["--points".into(), "6".into()]);
    let (difference, place) = expected.difference(&rows).unwrap();
    assert!(difference <= 1e-9, "{difference:e} {place}");
}

#[test]
fn outputs_that_lose_rates_of_inputs_are_reported() {
    let scratch = tempfile::tempdir().unwrap();
    let text = "model M {\n  input u [V] = sin(time);\n  node a, b : electrical;\n  s : VoltageSource(u) a -> gnd;\n  c : Capacitor(1) \
                a -> b;\n  r : Resistor(2) b -> gnd;\n  p : Capacitor(1) a -> gnd;\n  output v = across(r);\n  output i = through(s);\n}\n";
    for (text, is_reported) in [
        (text.to_string(), true),
        (text.replace("  output i = through(s);\n", ""), false),
    ] {
        let file = scratch.path().join("m.lgm");
        fs::write(&file, text).unwrap();
        let folder = scratch.path().join(is_reported.to_string()).display().to_string();
        let words = [
            "emit",
            &file.display().to_string(),
            "-o",
            &folder,
            "--target",
            "c",
            "--fixed-step",
            "1e-3",
        ];
        let output = run(&words.map(String::from));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        assert_eq!(said.contains("depend on the rate of an input"), is_reported, "{said}");
    }
}

#[test]
fn other_models_step_to_order_four() {
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("pendulum.lgm");
    let text = fs::read_to_string(example("pendulum.lgm")).unwrap();
    fs::write(&file, &text).unwrap();
    let error = |step: &str, count: usize| {
        let rows = stepped(&scratch.path().join(step), &file, step, &count.to_string());
        let further = ["--stop", "2", "--points", &(count + 1).to_string()].map(String::from);
        simulated(&file, &further).difference(&rows).unwrap().0
    };
    let [coarse, fine] = [error("0.02", 100), error("0.01", 200)];
    assert!((10.0..25.0).contains(&(coarse / fine)), "{coarse:e} {fine:e}");
}

/// A battery charged by a current, and a program of a hundred million steps of 50 us.
fn battery(law: &str) -> String {
    format!(
        "{law}model Battery {{
  input i [A] = 1;
  node plus : electrical;
  charger : CurrentSource(i) gnd -> plus;
  cell : {} plus -> gnd;
  output v = across(cell);
  experiment {{ stop = 5000 [s]; points = 2; }}
}}",
        if law.is_empty() {
            "Capacitor(3000 [F])"
        } else {
            "Cell(3000 [F])"
        }
    )
}

const MILLIONS: &str = "#include \"Battery.h\"
#include <stdio.h>
int main(void) {
    static Battery_model model;
    Battery_parameters parameters;
    float y[Battery_OUTPUTS], u[Battery_INPUTS] = {1.0F};
    Battery_defaults(&parameters);
    Battery_begin(&model, &parameters);
    for (long step = 0; step <= 100000000L; step++) {
        Battery_step(&model, u, y);
    }
    printf(\"%.9g\\n\", (double)y[0]);
    return 0;
}
";

#[test]
fn single_precision_keeps_its_digits_over_a_hundred_million_steps() {
    let laws = [
        "",
        "element Cell(C [F]) : electrical { through = C*(1 + 0.1*across^2)*der(across); }\n",
    ];
    for (at, law) in laws.into_iter().enumerate() {
        let scratch = tempfile::tempdir().unwrap();
        let file = scratch.path().join("battery.lgm");
        fs::write(&file, battery(law)).unwrap();
        let folder = scratch.path().join("code");
        emit(&file, "c", &folder, &["--float", "--fixed-step", "5e-5", "--functions"]);
        let program = folder.join("main.c");
        fs::write(&program, MILLIONS).unwrap();
        let mut gcc = Command::new("gcc");
        gcc.args(STRICT).arg("-O2").arg(&program).arg(folder.join("Battery.c"));
        must(gcc.arg("-o").arg(folder.join("millions")).arg("-lm"));
        let printed = must(&mut Command::new(folder.join("millions")));
        let found: f64 = printed.trim().parse().unwrap();
        let rows = simulated(&file, &[]);
        let expected = rows.values[1][1];
        assert!(
            (found / expected - 1.0).abs() < 1e-6,
            "{at}: {found} and not {expected}"
        );
    }
}

#[test]
fn a_run_has_no_parts_that_its_model_does_not_need() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("code");
    emit(&example("dc_motor.lgm"), "c", &folder, &[]);
    compile(&folder, &["-O0", "-Wunused", "-Wunused-macros"]);
    let files = fs::read_dir(folder.join("run"))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    for file in files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let idle = ["branch", "bends", "jump", "events", "modes", "directional", "fixed"];
        assert!(idle.iter().all(|part| !name.contains(part)), "{name}");
        let text = fs::read_to_string(&file).unwrap().to_lowercase();
        for word in ["#if motor", "loop", "branch", "combination", "bending", "chatter"] {
            assert!(!text.contains(word), "{name}: {word}");
        }
    }
}

#[test]
fn double_precision_has_no_needless_casts() {
    for (model, options) in [
        ("dc_motor.lgm", &["--fixed-step", "1e-3"][..]),
        ("pendulum.lgm", &["--fixed-step", "1e-3"]),
        ("switching/clutch.lgm", &[]),
    ] {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("code");
        emit(&example(model), "c", &folder, options);
        let mut files = sources(&folder);
        files.extend(options.first().map(|_| folder.join("run/lgm_fixed.c")));
        let cpp = ["-x", "c++", "-std=c++11", "-fsyntax-only", "-Wuseless-cast", "-Werror"];
        must(Command::new("g++").args(cpp).args(&files));
    }
}

#[test]
fn programs_with_modes_have_no_warnings_when_optimised() {
    for model in ["clutch.lgm", "dropped_ball.lgm", "bridge_rectifier.lgm"] {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("code");
        emit(&example(&format!("switching/{model}")), "c", &folder, &[]);
        must(
            Command::new("make")
                .args(["-s", "CC=gcc", "CFLAGS=-O2 -Werror", "-C"])
                .arg(&folder),
        );
    }
}

#[test]
fn a_fast_pole_in_one_combination_is_told() {
    // With all diodes blocking, at the start, no pole is fast; with both conducting, 1 Mohm and two coils of 1 mH make 1 ns.
    let warned = |leak: &str| {
        let scratch = tempfile::tempdir().unwrap();
        let (file, folder) = (scratch.path().join("floating.lgm"), scratch.path().join("code"));
        let text = format!(
            "import switching; model Floating {{ node a, b, p, n : electrical; s : VoltageSource(325*sin(314*time)) a -> gnd; \
             line : Inductor(1 [mH]) a -> b; d1 : IdealDiode() b -> p; d2 : IdealDiode() n -> gnd; choke : Inductor(1 [mH]) p -> n; \
             load : Resistor(20) p -> n; leak : Resistor({leak}) n -> gnd; output v = across(load); experiment {{ stop = 0.1 [s]; }} }}"
        );
        fs::write(&file, text).unwrap();
        let [file, folder] = [file, folder].map(|path| path.display().to_string());
        let (_, said, code) = support::program::said("emit", &[&file, "--target", "c", "-o", &folder]);
        assert_eq!(code, Some(0), "{said}");
        said.contains("LGM0935") && said.contains("there is a pole at -1.00002e9 1/s")
    };
    assert!(warned("1 [Mohm]"));
    assert!(!warned("1 [kohm]"));
}

#[test]
fn cvode_is_for_stiff_models() {
    let has_cvode = |text: &str| {
        let scratch = tempfile::tempdir().unwrap();
        let file = scratch.path().join("circuit.lgm");
        fs::write(&file, text).unwrap();
        let folder = scratch.path().join("code");
        emit(&file, "c", &folder, &[]);
        let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
        let is_there = folder.join("run/lgm_cvode.c").exists();
        assert_eq!(read("Makefile").contains("cvode"), is_there);
        assert_eq!(read("README.md").contains("make cvode"), is_there);
        is_there
    };
    let circuit = |time: &str| {
        format!(
            "model Circuit {{ input u [V] = 1; node a, b, c : electrical; s : VoltageSource(u) a -> gnd; r1 : Resistor(1) a -> b; \
             c1 : Capacitor({time}) b -> gnd; r2 : Resistor(1) b -> c; c2 : Capacitor(1) c -> gnd; output v = across(c2); \
             experiment {{ stop = 10 [s]; }} }}"
        )
    };
    assert!(!has_cvode(&circuit("0.1")));
    assert!(has_cvode(&circuit("1e-6")));
}

/// Masses with a shared parameter, each between two separate springs.
#[test]
fn repeated_divisions_by_a_parameter_share_its_reciprocal() {
    let text = "model Row {
  param m = 2 [kg];  param k1 = 10 [N/m];  param k2 = 12 [N/m];  param k3 = 7 [N/m];  param d = 0.3 [N.s/m];
  input F [N] = sin(3*time);
  node a, b, c : translational;
  push : ForceSource(F) gnd -> a;
  m1 : Mass(m) a -> gnd;  m2 : Mass(m) b -> gnd;  m3 : Mass(m) c -> gnd;
  s1 : Spring(k1) a -> b;  s2 : Spring(k2) b -> c;  s3 : Spring(k3) c -> gnd;
  d1 : Damper(d) a -> c;
  output x = across(m2);
  experiment { stop = 5 [s]; points = 51; }
}";
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("row.lgm");
    fs::write(&file, text).unwrap();
    let folder = scratch.path().join("code");
    emit(&file, "c", &folder, &[]);
    let source = fs::read_to_string(folder.join("Row.c")).unwrap();
    let (_, function) = source.split_once("void Row_rhs").unwrap();
    let (function, _) = function.split_once("\n}").unwrap();
    assert!(function.contains("const double inv_m = 1.0/p->m;"), "{function}");
    assert_eq!(function.matches("/p->").count(), 1, "{function}");
    let rows = Rows::read(&must(&mut Command::new(compile(&folder, &["-O1"]))));
    let (difference, place) = simulated(&file, &[]).difference(&rows).unwrap();
    assert!(difference <= 1e-5, "{difference:e} {place}");
}
