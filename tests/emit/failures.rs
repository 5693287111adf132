//! Messages of emitted programs for failed runs, and the files that the Makefile of the C program keeps.

use crate::support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use support::emitted::{Rows, emit, must};

/// The square root is defined to the end; the logarithm is undefined from about 0.8 s on.
const LEAVES_ITS_DOMAIN: &str = "model Leaves {
  state a = int(-1), start = 1;
  state b = int(sqrt(a + 2));
  output z = log(b + 1 - 4*time);
  experiment { stop = 2 [s]; }
}
";

/// No step reaches the instant at which the rate of `lost` becomes undefined.
const NO_STEP: &str = "model NoStep {
  state calm = int(1);
  state lost = int(-1/sqrt(lost)), start = 1;
  output y = calm;
  experiment { stop = 2 [s]; }
}
";

/// A capacitive divider: a step of the source moves the state.
const DIVIDER: &str = "model Divider {
  input u [V] = 2*step(0.0105);
  node s, x : electrical;
  src : VoltageSource(u) s -> gnd;
  c1 : Capacitor(1 [uF]) s -> x;
  c2 : Capacitor(3 [uF]) x -> gnd;
  r : Resistor(1 [kohm]) x -> gnd;
  output v = across(c2);
  experiment { stop = 0.02 [s]; points = 21; }
}
";

/// Emits a text for a target into a folder.
fn emitted(scratch: &Path, text: &str, target: &str, options: &[&str]) -> PathBuf {
    let (file, folder) = (scratch.join("m.lgm"), scratch.join(target));
    fs::write(&file, text).unwrap();
    emit(&file, target, &folder, options);
    folder
}

fn failure(output: Output) -> String {
    assert!(!output.status.success(), "the run does not fail");
    String::from_utf8(output.stderr).unwrap()
}

fn failure_in_c(text: &str) -> String {
    let scratch = tempfile::tempdir().unwrap();
    let folder = emitted(scratch.path(), text, "c", &[]);
    must(Command::new("make").arg("-s").arg("-C").arg(&folder));
    let name = if text == NO_STEP { "nostep" } else { "leaves" };
    failure(Command::new(folder.join(name)).output().unwrap())
}

#[test]
fn emitted_c_names_the_variable_at_fault() {
    let said = failure_in_c(LEAVES_ITS_DOMAIN);
    assert!(said.contains("the output `z` is not finite"), "{said}");
    let said = failure_in_c(NO_STEP);
    assert!(said.contains("`lost` changes fastest"), "{said}");
}

#[test]
fn emitted_rust_names_the_variable_at_fault() {
    let scratch = tempfile::tempdir().unwrap();
    for (text, named) in [
        (LEAVES_ITS_DOMAIN, "the output `z` is not finite"),
        (NO_STEP, "`lost` changes fastest"),
    ] {
        let folder = emitted(scratch.path(), text, "rust", &["--force"]);
        let mut run = Command::new(env!("CARGO"));
        run.args(["run", "-q", "--offline", "--example", "simulate"])
            .current_dir(folder.join("run"))
            .env("CARGO_TARGET_DIR", scratch.path().join("target"));
        let said = failure(run.output().unwrap());
        assert!(said.contains(named), "{said}");
    }
}

#[test]
fn the_flags_that_the_sources_need_stay_whatever_cflags_are_given() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = emitted(scratch.path(), DIVIDER, "c", &[]);
    let commands = must(Command::new("make").args(["-n", "CFLAGS=-O1", "-C"]).arg(&folder));
    for flag in ["-O1", "-std=c99", "-ffp-contract=off"] {
        assert!(commands.contains(flag), "{flag} is not in {commands}");
    }
}

#[test]
fn steps_of_fixed_length_keep_the_jump_of_a_state() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = emitted(scratch.path(), DIVIDER, "c", &["--fixed-step", "1e-4"]);
    must(Command::new("make").args(["-s", "fixed", "-C"]).arg(&folder));
    let rows = Rows::read(&must(Command::new(folder.join("divider_fixed")).arg("200")));
    // The step of 2 V raises v by the fraction C1/(C1 + C2), and R discharges both capacitors.
    let (jump, decay) = (2.0 / 4.0, 1e3 * 4e-6);
    for row in &rows.values {
        let expected = if row[0] < 0.0105 {
            0.0
        } else {
            jump * f64::exp(-(row[0] - 0.0105) / decay)
        };
        assert!((row[1] - expected).abs() < 1e-7, "{} at {} s", row[1], row[0]);
    }
}
