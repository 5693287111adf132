//! Initial values in texts that commands write: reduced models have those of the original, and texts that start at rest
//! report it.

use super::printed;
use crate::support::emitted::Rows;
use std::fs;
use std::path::Path;

/// Two parallel capacitors and two inductors in series: the initial value of one applies to both.
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

/// Parallel springs with the same initial stretch.
const SPRINGS: &str =
    "model S { input F [N] = 0; node x : translational; f : ForceSource(F) gnd -> x; m : Mass(1) x -> gnd;
  k1 : Spring(1) x -> gnd, start = 2; k2 : Spring(3) x -> gnd, start = 6;
  output v = across(m); output f1 = through(k1); output f2 = through(k2); experiment { stop = 1 [s]; points = 11; } }";

/// The samples of the outputs of a text.
fn rows(folder: &Path, text: &str, outputs: usize) -> Vec<Vec<f64>> {
    fs::write(folder.join("run.lgm"), text).unwrap();
    let (csv, _) = printed(folder, &["simulate", "run.lgm", "--rtol", "1e-9"]);
    let rows = Rows::read(&csv);
    rows.values.into_iter().map(|row| row[..=outputs].to_vec()).collect()
}

/// A reduced text has the samples of the model, except those of a removed element.
fn reduced(text: &str, outputs: usize, gone: &str, options: &[&str]) {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    fs::write(folder.join("whole.lgm"), text).unwrap();
    let arguments = [&["reduce", "whole.lgm", "--format", "lgm"], options].concat();
    let (reduced, said) = printed(folder, &arguments);
    assert!(!said.contains("LGM0940"), "{said}");
    assert!(text.contains(gone) && !reduced.contains(gone), "{reduced}");
    let (expected, found) = (rows(folder, text, outputs), rows(folder, &reduced, outputs));
    assert_eq!(expected.len(), found.len());
    for (expected, found) in expected.iter().zip(&found) {
        for (one, other) in expected.iter().zip(found) {
            assert!(
                (one - other).abs() < 1e-6,
                "{options:?}: {expected:?} and {found:?}\n{reduced}"
            );
        }
    }
}

#[test]
fn reduced_texts_begin_as_the_model_does() {
    reduced(CIRCUIT, 2, "C2 : Capacitor", &[]);
    reduced(CIRCUIT, 2, "C1 : Capacitor", &["--retain", "C2", "--retain", "L2"]);
    reduced(LEVER, 2, "I2 : I", &[]);
    reduced(LEVER, 2, "I1 : I", &["--retain", "I2"]);
    reduced(SPRINGS, 3, "k2 : Spring", &["--merge-conserved"]);
    // Parallel capacitors share a voltage, and inductors in series a current.
    let scratch = tempfile::tempdir().unwrap();
    assert_eq!(rows(scratch.path(), CIRCUIT, 2)[0], [0.0, 4.0, 3.0]);
}

#[test]
fn texts_without_the_starts_of_the_model_say_so() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    let example = crate::support::program::example("dc_motor.lgm");
    let motor = fs::read_to_string(example).unwrap();
    let still = "rotor      : Inertia(J)                shaft    -> gnd";
    assert!(motor.contains(still));
    let motor = motor.replace(still, &format!("{still}, start = 50"));
    fs::write(folder.join("motor.lgm"), motor).unwrap();
    let (_, said) = printed(
        folder,
        &["convert", "motor.lgm", "--to", "rotational", "--format", "lgm"],
    );
    assert!(said.contains("LGM0718") && said.contains("starts at rest"), "{said}");
    fs::write(folder.join("circuit.lgm"), CIRCUIT).unwrap();
    let (_, said) = printed(
        folder,
        &["approximate", "circuit.lgm", "--order", "1", "--format", "lgm"],
    );
    assert!(said.contains("LGM0716") && said.contains("starts at rest"), "{said}");
}
