//! Ordinary models whose numbers were wrong once, with answers from elsewhere.

use super::{json, near, number, written};
use crate::support::command::{ends_with, err, lgm};
use num_complex::Complex64;
use serde_json::{Value, json as value};
use std::path::{Path, PathBuf};

fn file(folder: &tempfile::TempDir, text: &str) -> PathBuf {
    written(folder.path(), "model.lgm", text)
}

const TWO_MASSES: &str = "model Rig {
  param J1 = 0.4; param J2 = 5.6; param k = 6000; param d = 2;
  input T = 0;
  node a, b : rotational;
  drive : TorqueSource(T) gnd -> a;
  m1 : Inertia(J1) a -> gnd;
  sh : TorsionSpring(k) a -> b;
  dm : RotaryDamper(d) a -> b;
  m2 : Inertia(J2) b -> gnd;
  output w1 = across(m1);
}";

fn matrix(found: &Value, key: &str) -> nalgebra::DMatrix<Complex64> {
    let rows = found[key].as_array().unwrap();
    let columns = rows.first().map_or(0, |row| row.as_array().unwrap().len());
    let entries = rows.iter().flat_map(|row| row.as_array().unwrap().iter().map(number));
    nalgebra::DMatrix::from_row_iterator(rows.len(), columns, entries.map(Complex64::from))
}

/// The first entry of the transfer matrix.
fn response(found: &Value, s: Complex64) -> Complex64 {
    let (a, b, c, d) = (
        matrix(found, "A"),
        matrix(found, "B"),
        matrix(found, "C"),
        matrix(found, "D"),
    );
    let size = a.nrows();
    let resolvent = (nalgebra::DMatrix::identity(size, size) * s - a).try_inverse().unwrap();
    (c * resolvent * b + d)[(0, 0)]
}

#[test]
fn a_free_motion_is_kept_whatever_rounding_makes_of_its_pole() {
    let folder = tempfile::tempdir().unwrap();
    let file = file(&folder, TWO_MASSES);
    for (k, inertia) in [(6000.0, 0.4), (6000.0, 0.1), (777.0, 0.7), (123.0, 0.3)] {
        let (stiffness, first) = (format!("k={k}"), format!("J1={inertia}"));
        let set = ["--set", &stiffness, "--set", &first];
        let words = [&["approximate", file.to_str().unwrap(), "--order", "1"][..], &set].concat();
        for method in ["balanced", "modal"] {
            let found = json(&[&words[..], &["--method", method]].concat());
            let mut worst = 0.0_f64;
            for at in 0..2000 {
                let s = Complex64::new(0.0, 0.1 * 1.006_f64.powi(at));
                let (j1, j2, d) = (inertia, 5.6, 2.0);
                let link = d + k / s;
                // Node equations: (J1 s + link) w1 - link w2 = 1, (J2 s + link) w2 = link w1.
                let exact = 1.0 / (j1 * s + link - link * link / (j2 * s + link));
                worst = worst.max((response(&found, s) - exact).norm());
            }
            let bound = number(&found["bound"]);
            assert!(
                worst <= bound * (1.0 + 1e-9) && bound < 2.1 * worst,
                "{method} {k} {inertia}: {worst} {bound}"
            );
        }
        let structure = json(&[&["structure", file.to_str().unwrap()][..], &set].concat());
        assert!(structure["gramians"]["controllability"].is_null(), "{structure}");
    }
}

#[test]
fn gramians_of_hydraulics_in_si_units_are_those_of_many_digits() {
    let folder = tempfile::tempdir().unwrap();
    let text = "model Lines {
  param Rv = 2e9; param I = 5e6; param Cf = 5e-14; param Rl = 5e10;
  input P = 0;
  node s, p, c, c2 : fluid;
  pump : PressureSource(P) s -> gnd;
  valve : FluidResistor(Rv) s -> p;
  pipe : Inertance(I) p -> c;
  oil : FluidCapacitor(Cf) c -> gnd;
  oil2 : FluidCapacitor(Cf) c2 -> gnd;
  leak : FluidResistor(Rl) c -> c2;
  ret : FluidResistor(Rv) c2 -> gnd;
  output q = through(valve);
}";
    let found = json(&["structure", file(&folder, text).to_str().unwrap()]);
    let states: Vec<&str> = found["states"]
        .as_array()
        .unwrap()
        .iter()
        .map(|name| name.as_str().unwrap())
        .collect();
    // By mpmath with 60 digits.
    for (state, expected) in [("pipe.Q", 2.63986e-17), ("oil.P", 2451.17), ("oil2.P", 3.501)] {
        let at = states.iter().position(|name| *name == state).unwrap();
        near(number(&found["gramians"]["controllability"][at][at]), expected, 2e-4);
    }
}

#[test]
fn couplers_to_one_network_are_refused_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let text = "model TwoMotors {
  input u = 12;
  node a, m, g : electrical;
  node s : rotational;
  src : VoltageSource(u) a -> gnd;
  ra : Resistor(2) a -> m;
  motor : Transformer(10) m -> gnd, s -> gnd;
  rotor : Inertia(0.01) s -> gnd;
  gen : Transformer(10) g -> gnd, s -> gnd;
  rg : Resistor(5) g -> gnd;
  output ig = through(rg);
}";
    let file = file(&folder, text);
    for format in ["text", "json", "lgm"] {
        let words = [
            "convert",
            file.to_str().unwrap(),
            "--to",
            "electrical",
            "--format",
            format,
        ];
        let output = lgm(Path::new(env!("CARGO_MANIFEST_DIR")), &words);
        ends_with(&output, 1);
        assert!(err(&output).contains("same network"), "{}", err(&output));
    }
}

#[test]
fn second_order_equations_of_a_beam_are_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let text = "import distributed;
model TipMass {
  input F = 0;
  const n = 2;
  node tip : translational;
  beam : Cantilever(rho = 7850, A = 4e-4, E = 2.1e11, I = 1.2e-8, L = 1.5, modes = n, at = [1.5], zeta = 0.01) tip -> gnd;
  tipm : Mass(0.5) tip -> gnd;
  push : ForceSource(F) gnd -> tip;
  output v = across(tipm);
}";
    let file = file(&folder, text);
    let found = json(&["second-order", file.to_str().unwrap(), "--numeric"]);
    let entry = |key: &str, row: usize, column: usize| number(&found[key][row][column]);
    // rho*A*L of each mode, and the mass at the tip, where the shapes of a cantilever are 2 and -2.
    let (own, tip) = (7850.0 * 4e-4 * 1.5, 0.5);
    for row in 0..2 {
        for column in 0..2 {
            let sign = if row == column { 1.0 } else { entry("M", 0, 1).signum() };
            let expected = sign * 4.0 * tip + if row == column { own } else { 0.0 };
            near(entry("M", row, column), expected, 1e-6);
        }
    }
    let poles = json(&["modes", file.to_str().unwrap()]);
    let slowest = poles["poles"]
        .as_array()
        .unwrap()
        .iter()
        .map(|pole| number(&pole["omega"]))
        .fold(f64::MAX, f64::min);
    let (m, k) = (
        [entry("M", 0, 0), entry("M", 0, 1), entry("M", 1, 1)],
        [entry("K", 0, 0), entry("K", 1, 1)],
    );
    // det(K - w^2 M) of two degrees of freedom.
    let (a, b, c) = (m[0] * m[2] - m[1] * m[1], -(m[0] * k[1] + m[2] * k[0]), k[0] * k[1]);
    near(slowest, ((-b - (b * b - 4.0 * a * c).sqrt()) / (2.0 * a)).sqrt(), 1e-3);
}

#[test]
fn a_displacement_of_a_spring_is_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let text = "model Series {
  param k1 = 2; param k2 = 6; param m = 1.5;
  input F = 0;
  node a, b : translational;
  s1 : Spring(k1) gnd -> a;
  s2 : Spring(k2) a -> b;
  mass : Mass(m) b -> gnd;
  push : ForceSource(F) gnd -> b;
  output x1 = int(across(s1));
}";
    let file = file(&folder, text);
    let found = json(&["second-order", file.to_str().unwrap(), "--eliminate", "p"]);
    assert_eq!(found["coordinates"], value!(["s1"]));
    let numbers = json(&["second-order", file.to_str().unwrap(), "--eliminate", "p", "--numeric"]);
    near(number(&numbers["K"][0][0]), 2.0 * 6.0 / (1.5 * 8.0), 1e-12);
    // x1 is k2/(k1 + k2) of the displacement of the mass, from the wall to the mass.
    near(number(&numbers["input"][0][0]), -6.0 / (1.5 * 8.0), 1e-12);
}

#[test]
fn steps_count_their_sources_towards_the_reference() {
    let folder = tempfile::tempdir().unwrap();
    let text = "model Side {
  param K = 3; param b = 0.5; param R = 2;
  input TL = 1;
  node e : electrical;
  node s : rotational;
  r : Resistor(R) e -> gnd;
  mot : Transformer(1/K) e -> gnd, s -> gnd;
  fr : RotaryDamper(b) s -> gnd;
  load : TorqueSource(TL) s -> gnd;
  output v = across(r);
}";
    let file = file(&folder, text);
    let found = json(&["thevenin", file.to_str().unwrap(), "--at", "r"]);
    let steps = found["steps"].as_array().unwrap();
    assert_eq!(steps[0]["source"], value!({"num": ["-TL"], "den": ["b"]}));
    assert_eq!((&steps[0]["from"], &steps[0]["to"]), (&value!("s"), &value!("gnd")));
    assert_eq!(steps[1]["source"]["num"], value!(["-K*TL"]));
}
