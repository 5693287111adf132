//! Analyses of switching models.

use super::{RECTIFIER, said, written};

/// Both switches of a half bridge change together: one at a time would short the source or interrupt the current.
#[test]
fn combinations_behind_changes_at_once_are_listed() {
    let folder = tempfile::tempdir().unwrap();
    let file = written(
        &folder,
        "import switching;
model Half {
  node a, m : electrical;
  s : VoltageSource(5) a -> gnd;
  high : Switch(time < 1) a -> m;
  low : Switch(time >= 1) m -> gnd;
  load : CurrentSource(2) m -> gnd;
  output v = across(load);
}",
    );
    let (told, _, code) = said("switching", &[file.to_str().unwrap()]);
    assert_eq!(code, Some(0));
    assert!(told.contains("high shut, low open\n  order 0"), "{told}");
    assert!(told.contains("high open, low shut\n  order 0"), "{told}");
}

/// The slope of `floor` is 0 almost everywhere, and so is the gain of a loop with an AD converter.
#[test]
fn a_quantiser_has_no_poles_in_z() {
    let folder = tempfile::tempdir().unwrap();
    let file = written(
        &folder,
        "model Quantised {
  node a, b : electrical;
  discrete u = 0;
  every 1e-3 { u := 5 - floor(across(c)/0.01 + 0.5)*0.01; }
  s : VoltageSource(u) a -> gnd;
  r : Resistor(1 [kohm]) a -> b;
  c : Capacitor(1 [uF]) b -> gnd;
  output v = across(c);
}",
    );
    let (_, told, code) = said("modes", &[file.to_str().unwrap(), "--sampled"]);
    assert_eq!(code, Some(1));
    assert!(told.contains("LGM0945") && told.contains("rounded here"), "{told}");
}

#[test]
fn linearisation_along_a_run_with_events_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = written(&folder, RECTIFIER).display().to_string();
    let (_, told, code) = said("modes", &[&file, "--along", "0.01"]);
    assert_eq!(code, Some(1));
    assert!(
        told.contains("LGM0722") && told.contains("`--mode` and `--at`"),
        "{told}"
    );
}
