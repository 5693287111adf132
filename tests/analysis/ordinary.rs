//! Ordinary models that once had wrong results, with independent answers.

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
    // x1 is the fraction k2/(k1 + k2) of the displacement of the mass, which is measured from the wall.
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

/// A capacitor in parallel with a cubic conductor: at the equilibrium v = 0.835122 (2 v^3 + v = 2), with the slope
/// 3*2*v^2.
#[test]
fn networks_are_seen_where_the_whole_model_rests() {
    let folder = tempfile::tempdir().unwrap();
    let file = file(
        &folder,
        "element Cube(k) : electrical { through = k*across^3; }
model Cubic {
  input i [A] = 2;
  node a : electrical;
  s : CurrentSource(i) gnd -> a;
  c : Capacitor(3) a -> gnd;
  d : Cube(2) a -> gnd;
  r : Resistor(1) a -> gnd;
  output v = across(c);
}",
    );
    let file = file.to_str().unwrap();
    let slope = 6.0 * 0.835_122_348_481_367_f64.powi(2);
    for (place, point, pole) in [
        ("r", "--equilibrium", slope / 3.0),
        ("s", "--equilibrium", (slope + 1.0) / 3.0),
        ("r", "--along=40", slope / 3.0),
    ] {
        let found = json(&["thevenin", file, "--at", place, point, "--numeric"]);
        let below = found["impedance"]["den"].as_array().unwrap();
        let found = below[1].as_f64().unwrap() / below[0].as_f64().unwrap();
        assert!((found / pole - 1.0).abs() < 1e-6, "{place} {point}: {found} {pole}");
    }
}

/// A motor with a sampled controller. Between samples, the torque is an input of the plant.
#[test]
fn discrete_variables_are_inputs_of_the_plant() {
    let folder = tempfile::tempdir().unwrap();
    let file = file(
        &folder,
        "model Plant {
  discrete u = 0; discrete old = 0;
  input ref = 1;
  node s : rotational;
  state th = int(across(j));
  every 10 [ms] { u := 20*(ref - th) - 100*(th - old); old := th; }
  m : TorqueSource(0.5*u) gnd -> s;
  j : Inertia(0.02) s -> gnd;
  d : RotaryDamper(0.1) s -> gnd;
  output y = th; output uu = u;
}",
    );
    let file = file.to_str().unwrap();
    // Speed and angle after one period with a constant torque of 0.5, from 0.02 w' + 0.1 w = 0.5.
    let decay = (-0.05_f64).exp();
    let speed = 5.0 * (1.0 - decay);
    let angle = 5.0 * (0.01 - (1.0 - decay) / 5.0);
    let found = json(&["equations", file, "--discretize", "0.01"]);
    assert_eq!(found["inputs"].as_array().unwrap().len(), 3, "{found}");
    let (b, d) = (matrix(&found, "B"), matrix(&found, "D"));
    assert_eq!((b.ncols(), d.ncols()), (3, 3), "{found}");
    for (at, expected) in [(0, [0.0, 0.0]), (1, [speed, angle]), (2, [0.0, 0.0])] {
        for (row, expected) in expected.into_iter().enumerate() {
            assert!((b[(row, at)].re - expected).abs() < 1e-12, "{found}");
        }
    }
    assert_eq!((d[(1, 0)].re, d[(1, 1)].re), (0.0, 1.0), "{found}");
    let at_two = json(&["response", file, "--from", "u", "--to", "y", "--omega", "2"]);
    let pair = &at_two["H"]["u->y"][0];
    let exact = 25.0 / (Complex64::new(0.0, 2.0) * Complex64::new(5.0, 2.0));
    let found = Complex64::new(number(&pair[0]), number(&pair[1]));
    assert!((found - exact).norm() < 1e-12 * exact.norm(), "{at_two}");
}

/// An absorber whose resonances are close to the frequencies at which the error is measured.
#[test]
fn errors_of_moments_are_shares_of_the_largest_response() {
    let folder = tempfile::tempdir().unwrap();
    let file = file(
        &folder,
        "model Absorber {
  input F = 1;
  node x, y : translational;
  f : ForceSource(F) gnd -> x;
  m1 : Mass(10) x -> gnd; k1 : Spring(1000) x -> gnd; b1 : Damper(2) x -> gnd;
  k2 : Spring(100) x -> y; m2 : Mass(1) y -> gnd;
  output v = across(m1);
}",
    );
    let file = file.to_str().unwrap();
    let words = ["approximate", file, "--order", "2", "--method", "moments", "--at", "5"];
    let found = json(&[&words[..], &["--keep", "second-order"]].concat());
    let whole = |omega: f64| {
        let s = Complex64::new(0.0, omega);
        let link = 100.0 / s;
        1.0 / (10.0 * s + 1000.0 / s + 2.0 + link - link * link / (s + link))
    };
    // Resonances are wide compared with these steps.
    let largest = (1..40_000)
        .map(|at| whole(1e-3 * f64::from(at)).norm())
        .fold(0.0, f64::max);
    let errors = found["errors"].as_array().unwrap();
    assert!(errors.iter().any(|error| number(&error["omega"]) == 5.0), "{found}");
    for error in errors {
        let omega = number(&error["omega"]);
        let apart = (response(&found, Complex64::new(0.0, omega)) - whole(omega)).norm();
        let printed = number(&error["relative"]);
        // A peak is close to the magnitude of its pole, but not at it.
        let share = apart / largest;
        assert!(
            (printed - share).abs() <= 1e-3 * share + 1e-11,
            "{omega}: {printed} and {share}"
        );
    }
}

/// A search that left the lower equilibrium for the upper one, or for one several turns away, did not report it.
#[test]
fn pendulums_come_to_the_equilibrium_beside_their_starts() {
    let folder = tempfile::tempdir().unwrap();
    let one = file(
        &folder,
        "model Pendulum {
  input tq [N.m] = 0;
  node s : rotational;
  state th = int(across(rotor)), start = 60 [deg];
  rotor : Inertia(0.147) s -> gnd, start = -1 [rad/s];
  weight : TorqueSource(-2.0601*sin(th)) gnd -> s;
  drive : TorqueSource(tq) gnd -> s;
  output w = across(rotor);
}",
    );
    for start in ["th=80 [deg]", "th=-85 [deg]", "th=1.2"] {
        let found = json(&["modes", one.to_str().unwrap(), "--equilibrium", "--at", start]);
        let pole = &found["poles"][0];
        let exact = (2.0601_f64 / 0.147).sqrt();
        let (re, im) = (number(&pole["real"]), number(&pole["imaginary"]));
        assert!(re.abs() < 1e-9 && (im.abs() - exact).abs() < 1e-9, "{start}: {found}");
    }
    let two = written(
        folder.path(),
        "double.lgm",
        "model Double {
  param m1 = 1.2; param m2 = 0.7; param L1 = 0.6; param L2 = 0.4; param g = 9.81;
  node w1, w2 : rotational; node p1[2] vector : translational; node p2[2] vector : translational;
  state t1 = int(across(w1)), start = 0.5;
  state t2 = int(across(w2)), start = -0.3;
  a1 : Transformer([[L1*cos(t1)], [L1*sin(t1)]]) w1 -> gnd, p1 -> gnd;
  a2 : Transformer([[L2*cos(t2)], [L2*sin(t2)]]) w2 -> gnd, p2 -> p1;
  b1 : Mass(m1) p1 -> gnd; b2 : Mass(m2) p2 -> gnd;
  g1 : ForceSource([0, -m1*g]) gnd -> p1; g2 : ForceSource([0, -m2*g]) gnd -> p2;
  d2 : RotaryDamper(0.05) w2 -> w1;
  input T = 0.2;
  mot : TorqueSource(T) gnd -> w1;
  output y = t1; output z = t2;
  experiment { stop = 1e-3 [s]; points = 2; }
}",
    );
    let output = lgm(
        folder.path(),
        &["simulate", two.to_str().unwrap(), "--from-equilibrium"],
    );
    ends_with(&output, 0);
    let rows = crate::support::emitted::Rows::read(&crate::support::command::out(&output));
    // The torque deflects both masses on the first rod; the second one hangs.
    let aside = (0.2 / (1.9 * 9.81 * 0.6_f64)).asin();
    assert!((rows.values[0][1] - aside).abs() < 1e-9, "{:?}", rows.values[0]);
    assert!(rows.values[0][2].abs() < 1e-9, "{:?}", rows.values[0]);
}

/// The angle of a motor grows at its speed. Nothing depends on it, so the speed may belong to an equilibrium.
#[test]
fn an_integral_for_nobody_need_not_be_at_rest() {
    let folder = tempfile::tempdir().unwrap();
    let file = file(
        &folder,
        "model Motor {
  input u = 1; input tl = 0;
  node a, b, c : electrical; node s : rotational;
  src : VoltageSource(u) a -> gnd; r : Resistor(1) a -> b; l : Inductor(5e-4) b -> c;
  mot : Transformer(20) c -> gnd, s -> gnd;
  rot : Inertia(1e-4) s -> gnd; dr : RotaryDamper(1e-5) s -> gnd;
  load : TorqueSource(tl) s -> gnd;
  output w = across(rot); output i = through(l); output ang = int(across(rot));
}",
    );
    let file = file.to_str().unwrap();
    let words = ["trim", file, "--require", "w=100,i=1.5", "--vary", "u", "--vary", "tl"];
    let found = json(&words);
    // u = R i + K w and K i = b w + tl with K = 0.05.
    for (name, exact) in [("u", 6.5), ("tl", 0.074)] {
        let inputs = found["inputs"].as_array().unwrap();
        let input = inputs.iter().find(|input| input["name"] == name).unwrap();
        near(number(&input["value"]), exact, 1e-9);
    }
    let set = [
        "--input", "u=6.5", "--input", "tl=0.074", "--stop", "2", "--points", "3",
    ];
    let output = lgm(
        folder.path(),
        &[&["simulate", file, "--from-equilibrium"][..], &set].concat(),
    );
    ends_with(&output, 0);
    assert!(err(&output).contains("LGM1021"), "{}", err(&output));
    let rows = crate::support::emitted::Rows::read(&crate::support::command::out(&output));
    for (row, angle) in rows.values.iter().zip([0.0, 100.0, 200.0]) {
        near(row[1], 100.0, 1e-6);
        assert!((row[3] - angle).abs() < 1e-3, "{row:?}");
    }
    let found = json(&["modes", file, "--equilibrium"]);
    let mut sizes: Vec<f64> = found["poles"]
        .as_array()
        .unwrap()
        .iter()
        .map(|pole| number(&pole["omega"]))
        .collect();
    sizes.sort_by(f64::total_cmp);
    // L J s^2 + (R J + L b) s + R b + K^2 = 0, and the pole of the angle.
    let (sum, product) = (1.00005e-4_f64 / 5e-8, 2.51e-3 / 5e-8);
    let root = (sum * sum / 4.0 - product).sqrt();
    for (size, exact) in sizes.iter().zip([0.0, sum / 2.0 - root, sum / 2.0 + root]) {
        assert!((size - exact).abs() <= 1e-9 * sum, "{found}");
    }
}

/// Over ten decades, the lower end and its only peak were lost.
#[test]
fn peaks_are_found_in_any_range() {
    let folder = tempfile::tempdir().unwrap();
    let file = file(
        &folder,
        "model Band {
  input u = 0; node a, b, c : electrical;
  src : VoltageSource(u) a -> gnd; r1 : Resistor(1) a -> b; c1 : Capacitor(3000) b -> gnd;
  r2 : Resistor(2) b -> c; c2 : Capacitor(5000) c -> gnd;
  output i = through(r2);
}",
    );
    // i = C2 s u/(1 + (R1 C1 + R1 C2 + R2 C2) s + R1 C1 R2 C2 s^2) is largest where the real part of the denominator is 0.
    let (exact, height) = (1.0 / 3e7_f64.sqrt(), 5000.0 / 18_000.0);
    for range in ["1e-5,1e-3", "1e-5,1e6", "1e-9,1e9", "0,1e9"] {
        let words = ["response", file.to_str().unwrap(), "--omega", range, "--peaks"];
        let found = json(&words);
        let peaks = found["peaks"]["u->i"].as_array().unwrap_or_else(|| panic!("{found}"));
        assert_eq!(peaks.len(), 1, "{range}: {found}");
        near(number(&peaks[0]["omega"]), exact, 1e-9);
        near(number(&peaks[0]["magnitude"]), height, 1e-9);
    }
}
