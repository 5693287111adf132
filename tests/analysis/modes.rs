//! Poles with shapes, energies and sensitivities, against closed forms.

use super::{json, near, number, written};
use num_complex::Complex64;
use serde_json::Value;

fn entry<'a>(list: &'a Value, key: &str, name: &str) -> &'a Value {
    let found = list.as_array().unwrap().iter().find(|entry| entry[key] == *name);
    found.unwrap_or_else(|| panic!("no {name} in {list}"))
}

const PAIR: &str = "model Pair {
  param m = 2 [kg];  param k = 50 [N/m];  param kc = 7 [N/m];
  input F [N] = 0;
  node x, y : translational;
  push : ForceSource(F) gnd -> x;
  m1 : Mass(m) x -> gnd;  m2 : Mass(m) y -> gnd;
  k1 : Spring(k) x -> gnd;  k2 : Spring(k) y -> gnd;
  coupling : Spring(kc) x -> y;
  output v = across(m1);
}";

#[test]
fn two_equal_masses_swing_together_and_against_each_other() {
    let scratch = tempfile::tempdir().unwrap();
    let file = written(scratch.path(), "pair.lgm", PAIR);
    let answer = json(&["modes", file.to_str().unwrap(), "--shapes", "--sensitivity", "kc,m"]);
    let poles: Vec<&Value> = answer["poles"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|pole| number(&pole["imaginary"]) > 0.0)
        .collect();
    assert_eq!(poles.len(), 2);
    let (together, against) = (poles[0], poles[1]);
    near(number(&together["imaginary"]), 5.0, 1e-12);
    near(number(&against["imaginary"]), 32f64.sqrt(), 1e-12);
    for (pole, sign) in [(together, 1.0), (against, -1.0)] {
        let of = |name: &str| entry(&pole["shape"], "element", name);
        let complex = |value: &Value| Complex64::new(number(&value["re"]), number(&value["im"]));
        let ratio = complex(of("m2")) / complex(of("m1"));
        assert!((ratio - sign).norm() < 1e-9, "{ratio} is not {sign}");
        let total: f64 = pole["energy"]
            .as_array()
            .unwrap()
            .iter()
            .map(|share| number(&share["share"]))
            .sum();
        near(total, 1.0, 1e-12);
        near(number(&entry(&pole["energy"], "element", "m1")["share"]), 0.25, 1e-9);
    }
    // Against each other the coupling has 2*2 kc of (k + 2 kc) * 2 parts of the elastic half.
    near(
        number(&entry(&against["energy"], "element", "coupling")["share"]),
        0.5 * 14.0 / 64.0,
        1e-9,
    );
    assert!(number(&entry(&together["energy"], "element", "coupling")["share"]).abs() < 1e-12);
    // w^2 = (k + 2 kc)/m: dw/dkc = 1/(m w), dw/dm = -w/(2 m).
    let rate = entry(&against["sensitivity"], "parameter", "kc");
    near(number(&rate["im"]), 1.0 / (2.0 * 32f64.sqrt()), 1e-9);
    let rate = entry(&against["sensitivity"], "parameter", "m");
    near(number(&rate["im"]), -32f64.sqrt() / 4.0, 1e-9);
    assert!(number(&entry(&together["sensitivity"], "parameter", "kc")["im"]).abs() < 1e-12);
}

#[test]
fn storage_without_a_state_has_its_share() {
    // A lever of ratio 2 ties m2 to m1: they have m1 and 4 m2 of the kinetic half.
    let scratch = tempfile::tempdir().unwrap();
    let text = "model Lever {
  node x, y : translational;
  m1 : Mass(3) x -> gnd;  m2 : Mass(1) y -> gnd;  k : Spring(7) x -> gnd;
  lever : Transformer(2) x -> gnd, y -> gnd;
  output v = across(m1);
}";
    let file = written(scratch.path(), "lever.lgm", text);
    let answer = json(&["modes", file.to_str().unwrap(), "--shapes"]);
    let pole = &answer["poles"][0];
    near(number(&pole["omega"]), 1.0, 1e-12);
    near(
        number(&entry(&pole["energy"], "element", "m1")["share"]),
        3.0 / 14.0,
        1e-9,
    );
    near(
        number(&entry(&pole["energy"], "element", "m2")["share"]),
        4.0 / 14.0,
        1e-9,
    );
    near(number(&entry(&pole["energy"], "element", "k")["share"]), 0.5, 1e-9);
}

#[test]
fn free_motions_are_exactly_zero() {
    let scratch = tempfile::tempdir().unwrap();
    let text = "model Free {
  param m = 0.3 [kg];  param k = 0.7 [N/m];
  node x, y, z : translational;
  m1 : Mass(m) x -> gnd;  m2 : Mass(3*m) y -> gnd;  m3 : Mass(m/7) z -> gnd;
  k1 : Spring(k) x -> y;  k2 : Spring(2*k) y -> z;
  output s = int(across(m1));
}";
    let file = written(scratch.path(), "free.lgm", text);
    let answer = json(&["modes", file.to_str().unwrap(), "--shapes"]);
    let rigid: Vec<&Value> = answer["poles"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|pole| pole["rigid"] == true)
        .collect();
    assert_eq!(rigid.len(), 2, "{answer}");
    for pole in rigid {
        assert_eq!((number(&pole["real"]), number(&pole["imaginary"])), (0.0, 0.0));
    }
}
