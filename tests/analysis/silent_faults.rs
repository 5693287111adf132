//! Numbers that once were wrong without a word: starts of reduced and converted texts, values at a point in the unit of their
//! declaration, components of models that switch, and equilibria of integrals that inputs move.

use crate::support;
use std::fs;
use std::path::Path;
use support::command::{ends_with, err, lgm, out};
use support::emitted::Rows;

/// Two capacitors side by side and two inductors in a row: what one of each began with, both begin with.
const CIRCUIT: &str =
    "model R { input u [V] = 0; node a, b, c : electrical; s : VoltageSource(u) a -> gnd; r : Resistor(10) a -> b;
  C1 : Capacitor(1 [mF]) b -> gnd; C2 : Capacitor(2 [mF]) b -> gnd, start = 4;
  L1 : Inductor(1) b -> c; L2 : Inductor(2) c -> gnd, start = 3;
  output v2 = across(C1); output f1 = through(L1); experiment { stop = 0.1 [s]; points = 11; } }";

/// A lever of ratio 2, whose storage has energy variables as states.
const LEVER: &str =
    "model L { input u [N] = 1; one a, b; SE : Se(u); TF1 : TF(2); I1 : I(2); I2 : I(3), start = 2.25; R1 : R(1);
  SE -> a; a -> I1; a -> R1; a -> TF1 -> b; b -> I2;
  output f1 = flow(I1); output f2 = flow(I2); experiment { stop = 1 [s]; points = 11; } }";

/// Springs side by side that start with the same stretch.
const SPRINGS: &str =
    "model S { input F [N] = 0; node x : translational; f : ForceSource(F) gnd -> x; m : Mass(1) x -> gnd;
  k1 : Spring(1) x -> gnd, start = 2; k2 : Spring(3) x -> gnd, start = 6;
  output v = across(m); output f1 = through(k1); output f2 = through(k2); experiment { stop = 1 [s]; points = 11; } }";

fn printed(folder: &Path, arguments: &[&str]) -> (String, String) {
    let output = lgm(folder, arguments);
    ends_with(&output, 0);
    (out(&output), err(&output))
}

/// The rows of the outputs of a text.
fn rows(folder: &Path, text: &str, outputs: usize) -> Vec<Vec<f64>> {
    fs::write(folder.join("run.lgm"), text).unwrap();
    let (csv, _) = printed(folder, &["simulate", "run.lgm", "--rtol", "1e-9"]);
    let rows = Rows::read(&csv);
    rows.values.into_iter().map(|row| row[..=outputs].to_vec()).collect()
}

#[test]
fn reduced_texts_begin_as_the_model_does() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    for (text, outputs, options) in [
        (CIRCUIT, 2, &[][..]),
        (CIRCUIT, 2, &["--retain", "C2,L2"]),
        (LEVER, 2, &[]),
        (LEVER, 2, &["--retain", "I2"]),
        (SPRINGS, 3, &["--merge-conserved"]),
    ] {
        fs::write(folder.join("whole.lgm"), text).unwrap();
        let retained: Vec<&str> = options.iter().flat_map(|option| option.split(',')).collect();
        let mut arguments = vec!["reduce", "whole.lgm", "--format", "lgm"];
        for word in retained {
            if !word.starts_with("--") && arguments.last() != Some(&"--retain") {
                arguments.push("--retain");
            }
            arguments.push(word);
        }
        let (reduced, said) = printed(folder, &arguments);
        assert!(!said.contains("LGM0940"), "{said}");
        assert_ne!(reduced.trim(), text.trim(), "{arguments:?}");
        let (expected, found) = (rows(folder, text, outputs), rows(folder, &reduced, outputs));
        for (expected, found) in expected.iter().zip(&found) {
            for (one, other) in expected.iter().zip(found) {
                assert!(
                    (one - other).abs() < 1e-6,
                    "{arguments:?}: {expected:?} and {found:?}\n{reduced}"
                );
            }
        }
    }
    let first = rows(folder, CIRCUIT, 2).swap_remove(0);
    assert_eq!(first, [0.0, 4.0, 3.0]);
}

#[test]
fn texts_without_the_starts_of_the_model_say_so() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    let example = support::program::example("dc_motor.lgm");
    let motor = fs::read_to_string(example).unwrap();
    let still = "rotor      : Inertia(J)                shaft    -> gnd";
    assert!(motor.contains(still));
    let motor = motor.replace(still, &format!("{still}, start = 50"));
    fs::write(folder.join("motor.lgm"), motor).unwrap();
    let (_, said) = printed(
        folder,
        &["convert", "motor.lgm", "--to", "rotational", "--format", "lgm"],
    );
    assert!(said.contains("LGM0718") && said.contains("begins at rest"), "{said}");
    fs::write(folder.join("circuit.lgm"), CIRCUIT).unwrap();
    let (_, said) = printed(
        folder,
        &["approximate", "circuit.lgm", "--order", "1", "--format", "lgm"],
    );
    assert!(said.contains("LGM0716") && said.contains("begins at rest"), "{said}");
}

#[test]
fn a_plain_number_at_a_point_is_in_the_declared_unit() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    let tank = "element Orifice(k) : fluid { through = k*sign(across)*sqrt(abs(across)); }
      model T { input q [l/s] = 4; node t : fluid; s : FlowSource(q) gnd -> t; c : FluidCapacitor(2e-4) t -> gnd, start = 1000;
                o : Orifice(1e-4) t -> gnd; output p = across(c); }";
    fs::write(folder.join("tank.lgm"), tank).unwrap();
    // The flow 5 l/s needs 2500 Pa, where the slope of the orifice is 1e-6.
    for at in ["q=5", "q=5 [l/s]", "q=0.005 [m^3/s]"] {
        let (text, _) = printed(
            folder,
            &["modes", "tank.lgm", "--equilibrium", "--at", at, "--format", "json"],
        );
        let found: serde_json::Value = serde_json::from_str(&text).unwrap();
        let pole = found["poles"][0]["real"].as_f64().unwrap_or_else(|| panic!("{text}"));
        assert!((pole + 0.005).abs() < 1e-9, "{at}: {pole}");
    }
}

#[test]
fn components_of_models_that_switch_say_their_modes() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    let text = "import switching; model D { input u [V] = 0; node a, b : electrical; v0 : VoltageSource(u) a -> gnd; r : Resistor(100) a -> b;
                cc : Capacitor(1 [uF]) b -> gnd; d : IdealDiode b -> gnd; output v = across(cc); }";
    fs::write(folder.join("diode.lgm"), text).unwrap();
    let (text, said) = printed(folder, &["terminals", "diode.lgm", "--component", "cc"]);
    assert!(
        text.contains("through(cc) = 1e-6*s*across(cc)") && said.is_empty(),
        "{text}{said}"
    );
    let (text, said) = printed(folder, &["terminals", "diode.lgm", "--component", "d"]);
    assert!(
        text.contains("through(d) = 0") && said.contains("d blocking"),
        "{text}{said}"
    );
    let (text, _) = printed(
        folder,
        &["terminals", "diode.lgm", "--component", "d", "--mode", "d=conducting"],
    );
    assert!(text.contains("across(d) = 0"), "{text}");
}

#[test]
fn integrals_that_an_input_moves_are_in_equilibrium_too() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    let text = "import distributed; model B { input F [N] = 1; node tip : translational;
      beam : Cantilever(rho = 2700, A = 9e-5, E = 70e9, I = 6.75e-11, L = 0.5, modes = 1, at = [0.5], residual = true) tip -> gnd;
      p : ForceSource(F) gnd -> tip; output y = displacement(beam, 0.5); output z = int(across(tip)); }";
    fs::write(folder.join("beam.lgm"), text).unwrap();
    let run = [
        "simulate",
        "beam.lgm",
        "--from-equilibrium",
        "--stop",
        "1e-3",
        "--points",
        "2",
    ];
    let rows = Rows::read(&printed(folder, &run).0);
    // F L^3/(3 E I)
    let exact = 0.125 / (3.0 * 70e9 * 6.75e-11);
    for row in rows.values {
        assert!(
            (row[1] - exact).abs() < 1e-9 && (row[2] - exact).abs() < 1e-9,
            "{row:?} and not {exact}"
        );
    }
}

#[test]
fn units_above_the_columns_of_a_table_are_refused() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    fs::write(folder.join("circuit.lgm"), CIRCUIT).unwrap();
    for (header, column, words) in [
        ("time [ms],volts", "volts", "times are in seconds"),
        ("time,volts [mV]", "volts [mV]", "values are in the unit of the input"),
    ] {
        fs::write(folder.join("data.csv"), format!("{header}\n0,0\n1,1000\n")).unwrap();
        let output = lgm(
            folder,
            &["simulate", "circuit.lgm", "--input", &format!("u=data.csv:{column}")],
        );
        ends_with(&output, 1);
        assert!(err(&output).contains(words), "{}", err(&output));
    }
    fs::write(folder.join("data.csv"), "time [s],volts\n0,0\n1,1000\n").unwrap();
    printed(folder, &["simulate", "circuit.lgm", "--input", "u=data.csv:volts"]);
}
