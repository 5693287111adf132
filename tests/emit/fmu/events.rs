//! Values that an importing tool sets before and during a run, events, and pulses that no step skips.

use super::driven::{Driven, SANITIZED, emit, has_compiler};
use super::support::emitted::{RECTIFIED, RECTIFIED_ROWS, Rows, assert_rectified, rectifier, simulated};
use std::fs;

/// A cart whose speed is an input: geared parts move with the input's rate, and a parameter is derived from others.
const GEARED: &str = "
model Geared {
  param m = 2 [kg];
  param share = 0.5;
  param m2 = m*share;
  param k = 50 [N/m];
  param b = [0.4, 0.1] [N.s/m];
  input v [m/s] = step(1)*0.5;
  input F [N] = sin(time);
  node a, c, d : translational;
  drive : VelocitySource(v) a -> gnd;
  cart  : Mass(m) a -> gnd;
  spring: Spring(k) a -> c;
  body  : Mass(m2) c -> gnd;
  drag  : Damper(b[1]) c -> gnd;
  push  : ForceSource(F) gnd -> c;
  geared: Mass(0.5*share) c -> a;
  link  : Spring(k) a -> d;
  rub   : Damper(b[2]) d -> gnd;
  output y = across(body);
  output force = through(drive);
  output F = 2*F;
  experiment { stop = 3 [s]; points = 61; }
}
";

#[test]
fn inputs_and_parameters_are_set_before_and_in_a_run() {
    if !has_compiler() {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("geared.lgm");
    fs::write(&file, GEARED).unwrap();
    for target in ["fmu2", "fmu3"] {
        let driven = Driven::new(&file, target, &scratch.path().join(target), &SANITIZED);
        let at = |name: &str| driven.description.reference(name);
        // An output with the name of an input gets the suffix `(output)`.
        let mut names_of_outputs = simulated(&file, &[]);
        let outputs: Vec<usize> = (0..names_of_outputs.names.len()).collect();
        for place in outputs {
            if names_of_outputs.names[place] == "F" {
                names_of_outputs.names[place] = "F (output)".into();
            }
        }
        let cases: [(&[String], &[&str]); 5] = [
            (&[], &[]),
            (&[format!("{}=3", at("m"))], &["--set", "m=3"]),
            (&[format!("{}=0.7", at("b[2]"))], &["--set", "b=[0.4, 0.7]"]),
            (&[format!("{}=0.25", at("F"))], &["--input", "F=0.25"]),
            // A step of a set input moves the states.
            (
                &[format!("{}=0.5", at("v")), format!("2:{}=-0.25", at("v"))],
                &["--input", "v=0.5 - 0.75*step(2)"],
            ),
        ];
        for (set, options) in cases {
            let options: Vec<String> = options.iter().map(|word| word.to_string()).collect();
            let mut expected = simulated(&file, &options);
            expected.names.clone_from(&names_of_outputs.names);
            for mode in ["cs", "me"] {
                let rows = driven.rows(mode, &expected, "1e-11", set);
                let (difference, place) = expected.difference(&rows).unwrap();
                assert!(difference <= 1e-9, "{target} {mode} {set:?}: {difference:e} ({place})");
            }
        }
        // A parameter that changes during a run: derived values follow.
        let like = Rows {
            names: ["time", "m", "m2"].map(String::from).to_vec(),
            values: vec![vec![0.0], vec![1.0], vec![2.0], vec![3.0]],
        };
        for mode in ["cs", "me"] {
            let rows = driven.rows(mode, &like, "1e-6", &[format!("1:{}=4", at("m"))]);
            let last: Vec<f64> = rows.values[3].clone();
            assert_eq!(last, [3.0, 4.0, 2.0], "{target} {mode}");
        }
    }
}

#[test]
fn co_simulation_steps_over_no_pulse_of_a_rectifier() {
    if !has_compiler() {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let file = rectifier(scratch.path());
    let like = simulated(&file, &RECTIFIED_ROWS.map(String::from));
    for target in ["fmu2", "fmu3"] {
        let driven = Driven::new(&file, target, &scratch.path().join(target), &["-O0"]);
        let of = |(name, value): (&str, f64)| format!("{}={value}", driven.description.reference(name));
        assert_rectified(&file, &RECTIFIED, &driven.rows("cs", &like, "1e-6", &RECTIFIED.map(of)));
        // A frequency set halfway limits the steps from then on.
        let [frequency, load] = RECTIFIED.map(of);
        let rows = driven.rows("cs", &like, "1e-6", &[load, format!("0.2:{frequency}")]);
        let further = [
            "--set",
            "load=1000",
            "--input",
            "u=12*sin(2*pi*(if time < 0.2 then 5 else 50)*time)",
        ];
        let expected = simulated(
            &file,
            &[further, RECTIFIED_ROWS]
                .concat()
                .into_iter()
                .map(String::from)
                .collect::<Vec<_>>(),
        );
        let (difference, place) = expected.difference(&rows).unwrap();
        assert!(difference <= 1e-3, "{target}: {difference:e} of the range ({place})");
    }
}

/// A pump controlled by the clock and an overflow that opens above a level: conditions on time and on a state, both
/// with jumps. One input has no signal.
const TANKS: &str = "
model Tanks {
  param C = [2e-4, 1e-4] [m^3/Pa];
  param R = 4e4 [Pa.s/m^3];
  param opened = 100 [Pa];
  input pump [m^3/s] = if sin(2*pi*time/40) > 0.3 then 2e-3 else 0;
  input leak [m^3/s];
  node a, b : fluid;
  supply : FlowSource(pump) gnd -> a;
  t1 : FluidCapacitor(C[1]) a -> gnd;
  pipe : FluidResistor(R) a -> b;
  t2 : FluidCapacitor(C[2]) b -> gnd;
  out : FluidResistor(2*R) b -> gnd;
  lost : FlowSource(leak) b -> gnd;
  over : FlowSource(if across(a) > opened then across(a)/R/20 else 0) a -> gnd;
  output spilled = through(over);
  output t2 = 2*across(b);
}
";

#[test]
fn conditions_on_time_and_on_states_are_events() {
    if !has_compiler() {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("tanks.lgm");
    fs::write(&file, TANKS).unwrap();
    let options = ["--stop", "120", "--points", "121", "--input", "leak=1e-4*step(60)"].map(String::from);
    let expected = simulated(&file, &options);
    assert!(expected.values.iter().any(|row| row[1] > 0.0), "nothing is spilled");
    for target in ["fmu2", "fmu3"] {
        let folder = scratch.path().join(target);
        let said = String::from_utf8(emit(&file, target, &scratch.path().join("other"), "none", &["--force"]).stderr);
        assert!(said.unwrap().contains("the input `leak` has no default signal"));
        let driven = Driven::new(&file, target, &folder, &SANITIZED);
        let late = format!("60:{}=1e-4", driven.description.reference("leak"));
        for mode in ["cs", "me"] {
            let rows = driven.rows(mode, &expected, "1e-11", std::slice::from_ref(&late));
            let (difference, place) = expected.difference(&rows).unwrap();
            assert!(difference <= 1e-9, "{target} {mode}: {difference:e} ({place})");
        }
        driven.rows("state", &expected, "1e-6", &[]);
    }
}
