//! Poles with shapes, energies and sensitivities, compared with closed forms.

use super::{json, near, number, written};
use crate::support::command::{ends_with, err, lgm, out};
use num_complex::Complex64;
use serde_json::Value;
use std::path::Path;

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
    // In the antisymmetric mode half of the energy is elastic, and the coupling holds 4 kc/(2 (k + 2 kc)) of that half.
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
    // A lever of ratio 2 couples m2 to m1: their shares of the kinetic energy are proportional to m1 and 4 m2.
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
    // One of them belongs to the displacement, on which nothing depends.
    assert_eq!(answer["integrals"], serde_json::json!(["s"]));
    for pole in rigid {
        assert_eq!((number(&pole["real"]), number(&pole["imaginary"])), (0.0, 0.0));
    }
}

#[test]
fn a_point_along_a_run_is_where_the_run_is() {
    // A pendulum without losses: the square of the pole at an angle is -(g/l)*cos(angle).
    let scratch = tempfile::tempdir().unwrap();
    let text = "model Swing {
  node arm : rotational;
  bob : Inertia(2) arm -> gnd;
  state angle = int(across(bob)), start = 1.2;
  pull : TorqueSource(-18*sin(angle)) gnd -> arm;
  output w = across(bob);
}";
    let file = written(scratch.path(), "swing.lgm", text);
    let file = file.to_str().unwrap();
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let run = lgm(
        package,
        &[
            "simulate",
            file,
            "--stop",
            "0.4",
            "--points",
            "2",
            "--columns",
            "angle",
            "--rtol",
            "1e-11",
        ],
    );
    let rows = out(&run);
    let last = rows.trim_end().lines().last().unwrap();
    let angle: f64 = last.split(',').nth(1).unwrap().parse().unwrap();
    assert!(angle < 1.0, "{rows}");
    let found = json(&["modes", file, "--along", "0.4"]);
    near(
        number(&found["poles"][0]["imaginary"]).abs(),
        (9.0 * angle.cos()).sqrt(),
        1e-8,
    );
    // A given value replaces that of the run; a location in the network is not a value.
    let found = json(&["modes", file, "--along", "0.4", "--at", "angle=0"]);
    near(number(&found["poles"][0]["imaginary"]).abs(), 3.0, 1e-12);
    let seen = json(&["thevenin", file, "--at", "bob", "--along", "0.4", "--numeric"]);
    near(number(&seen["impedance"]["num"][0]), 1.0 / (18.0 * angle.cos()), 1e-8);
    for options in [
        ["--along", "0.4", "--equilibrium", "--linearize"],
        ["--linearize", "--to", "w", "--shapes"],
    ] {
        ends_with(&lgm(package, &[&["modes", file][..], &options].concat()), 2);
    }
}

/// Removing an element keeps the network at the operating point of the whole model, including the element's former
/// current or voltage.
#[test]
fn a_network_is_seen_at_the_point_of_the_whole_model() {
    let scratch = tempfile::tempdir().unwrap();
    let text = "element Cubic(c) : translational { through = c*across^3; }
model Cub {
  input F [N] = 3;
  node v : translational;
  m : Mass(2 [kg]) v -> gnd;
  s : Spring(5) v -> gnd;
  d : Cubic(3) v -> gnd;
  f : ForceSource(F) gnd -> v;
  output y = across(m);
}";
    let file = written(scratch.path(), "cub.lgm", text);
    let file = file.to_str().unwrap();
    // At a velocity of 1 the damper is equivalent to 9 N.s/m. Its impedance with the spring and without the mass is
    // s/(9*s + 5); with the mass and without the spring it is 1/(2*s + 9). At rest the damper vanishes, and the spring
    // carries the force.
    for (options, numerator, denominator) in [
        (&["--at", "m", "--at", "s.F=2, m.v=1"][..], [1.0, 0.0], [9.0, 5.0]),
        (&["--at", "m", "--equilibrium"], [1.0, 0.0], [0.0, 5.0]),
        (&["--at", "s", "--at", "m.v=1"], [0.0, 1.0], [2.0, 9.0]),
        (&["--at", "s", "--equilibrium"], [0.0, 1.0], [2.0, 0.0]),
    ] {
        let found = json(&[&["thevenin", file, "--numeric", "--linearize"], options].concat());
        let found = &found["impedance"];
        let at = |list: &Value, s: f64| -> f64 {
            let coefficients = list.as_array().unwrap().iter().map(number);
            coefficients.fold(0.0, |sum, coefficient| sum * s + coefficient)
        };
        for s in [0.7, 2.3] {
            let wanted = (numerator[0] * s + numerator[1]) / (denominator[0] * s + denominator[1]);
            near(at(&found["num"], s) / at(&found["den"], s), wanted, 1e-9);
        }
    }
}

/// The points of the first curve of an SVG, in pixels.
fn first_curve(picture: &str) -> Vec<(f64, f64)> {
    let from = picture.find("stroke=\"#0072b2\"").unwrap();
    let path = picture[..picture[from..].find("/>").unwrap() + from]
        .rsplit("d=\"M")
        .next()
        .unwrap();
    let path = path.split('"').next().unwrap();
    let pair = |text: &str| {
        let mut parts = text.split(' ').map(|part| part.parse::<f64>().unwrap());
        (parts.next().unwrap(), parts.next().unwrap())
    };
    path.split('L').map(pair).collect()
}

#[test]
fn the_shape_of_a_clamped_beam_is_drawn_over_its_length() {
    let scratch = tempfile::tempdir().unwrap();
    let text = "import distributed;
model Beam {
  param L = 2 [m];
  param x [m] = list(i in 0:4, L*i/4);
  input F = step(0);
  node a : translational;
  beam : Cantilever(rho = 1, A = 1, E = 1, I = 1, L = L, modes = 2, at = [2], zeta = 0.1) a -> gnd;
  push : ForceSource(F) gnd -> a;
  output w = list(i in 1:5, displacement(beam, x[i]));
}";
    let file = written(scratch.path(), "beam.lgm", text);
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let picture = scratch.path().join("shapes.svg");
    let (file, plot) = (file.to_str().unwrap(), picture.to_str().unwrap());
    ends_with(
        &lgm(
            package,
            &["modes", file, "--profile", "w", "--over", "x", "--plot", plot],
        ),
        0,
    );
    let curve = first_curve(&std::fs::read_to_string(&picture).unwrap());
    // The first mode of a cantilever at quarters of its length, relative to its end (any table of beams).
    let expected = [0.0, 0.0973, 0.3395, 0.6588, 1.0];
    let (zero, one) = (curve[0].1, curve[4].1);
    for (point, expected) in curve.iter().zip(expected) {
        let found = (point.1 - zero) / (one - zero);
        assert!((found - expected).abs() < 0.003, "{curve:?}");
    }
    near(curve[2].0 - curve[0].0, 0.5 * (curve[4].0 - curve[0].0), 1e-2);
    let run = [
        "simulate",
        file,
        "--stop",
        "6",
        "--points",
        "601",
        "--profile",
        "w",
        "--over",
        "x",
        "--plot",
        plot,
    ];
    ends_with(&lgm(package, &run), 0);
    let text = std::fs::read_to_string(&picture).unwrap();
    for time in ["t = 0 s", "t = 1 s", "t = 6 s", "x [m]"] {
        assert!(text.contains(time), "{time} is not in {text}");
    }
    for wrong in [["--over", "L"], ["--over", "y"]] {
        let output = lgm(
            package,
            &[&run[..7], &["w", wrong[0], wrong[1], "--plot", plot]].concat(),
        );
        ends_with(&output, 2);
        assert!(err(&output).contains("LGM0905"), "{}", err(&output));
    }
}

#[test]
fn linearised_outputs_are_not_left_out() {
    let text = "model Pendulum {
  param g = 9.81 [m/s^2]; param l = 1 [m];
  input u = 0;
  state w = int(u - g/l*sin(a));
  state a = int(w);
  output x = l*sin(a);
}";
    let scratch = tempfile::tempdir().unwrap();
    let file = written(scratch.path(), "pendulum.lgm", text);
    let output = lgm(Path::new("."), &["modes", file.to_str().unwrap(), "--equilibrium"]);
    ends_with(&output, 0);
    assert!(!err(&output).contains("LGM0505"), "{}", err(&output));
}

#[test]
fn poles_of_equal_stages_are_where_those_of_one_stage_are() {
    let chain = |stage: &str, count: usize| {
        format!(
            "model Stages {{
               param R = 3 [ohm]; param C = 0.1 [F]; param L = 2 [H];
               input u [V] = 1;
               node a[{count}], m[{count}], b[{count}] : electrical;
               source : VoltageSource(u) a[1] -> gnd;
               for i in 1:{count} {{ r[i] : Resistor(R) a[i] -> m[i]; {stage} c[i] : Capacitor(C) b[i] -> gnd; }}
               for i in 1:{} {{ buffer[i] : VoltageSource(across(c[i])) a[i + 1] -> gnd; }}
               output y = across(c[{count}]);
             }}",
            count - 1
        )
    };
    let scratch = tempfile::tempdir().unwrap();
    let poles = |text: &str| {
        let file = written(scratch.path(), "stages.lgm", text);
        let answer = json(&["modes", file.to_str().unwrap()]);
        let all = answer["poles"].as_array().unwrap().iter();
        let all = all.map(|pole| Complex64::new(number(&pole["real"]), number(&pole["imaginary"])));
        all.collect::<Vec<_>>()
    };
    // Round-off limits a root of multiplicity k to the k-th root of the machine precision, 1e-4 for the fourth.
    let lags = poles(&chain("w[i] : Resistor(R) m[i] -> b[i];", 4));
    assert_eq!(lags.len(), 4);
    let lag = Complex64::new(-1.0 / (6.0 * 0.1), 0.0);
    assert!(lags.iter().all(|pole| (pole - lag).norm() < 1e-12), "{lags:?}");
    let vibrations = poles(&chain("w[i] : Inductor(L) m[i] -> b[i];", 3));
    assert_eq!(vibrations.len(), 6);
    let pair = Complex64::new(-0.75, (1.0 / 0.2 - 0.75f64.powi(2)).sqrt());
    let off = |pole: &Complex64| (pole - pair).norm().min((pole - pair.conj()).norm());
    assert!(vibrations.iter().all(|pole| off(pole) < 1e-12), "{vibrations:?}");
    assert_eq!(vibrations.iter().filter(|pole| pole.im > 0.0).count(), 3);
}

fn poles_of(text: &str) -> Vec<Complex64> {
    let scratch = tempfile::tempdir().unwrap();
    let file = written(scratch.path(), "model.lgm", text);
    let answer = json(&["modes", file.to_str().unwrap()]);
    let all = answer["poles"].as_array().unwrap().iter();
    all.map(|pole| Complex64::new(number(&pole["real"]), number(&pole["imaginary"])))
        .collect()
}

#[test]
fn stages_that_do_not_act_back_have_poles_of_their_own() {
    // A single matrix for all of them would lose all digits: the twentieth root of the machine precision is 0.16.
    let stages = |resistance: &str, inductance: &str, count: usize| {
        format!(
            "model Stages {{
               input u [V] = 1;
               node a[{count}], m[{count}], b[{count}] : electrical;
               source : VoltageSource(u) a[1] -> gnd;
               for i in 1:{count} {{
                 r[i] : Resistor({resistance}) a[i] -> m[i]; l[i] : {inductance} m[i] -> b[i]; c[i] : Capacitor(0.5) b[i] -> gnd;
               }}
               for i in 2:{count} {{ buffer[i] : VoltageSource(across(c[i - 1])) a[i] -> gnd; }}
               output y = across(c[{count}]);
             }}"
        )
    };
    let lags = poles_of(&stages("1", "Resistor(1)", 50));
    assert_eq!(lags, vec![Complex64::new(-1.0, 0.0); 50]);
    let near = poles_of(&stages("1 + 1e-7*i", "Resistor(1)", 4));
    for (at, pole) in (1..=4).rev().zip(&near) {
        let exact = -1.0 / ((2.0 + 1e-7 * f64::from(at)) * 0.5);
        assert!((pole.re - exact).abs() < 1e-15 && pole.im == 0.0, "{near:?}");
    }
    // Without losses, the QR iteration stalled.
    let lossless = poles_of(&stages("0", "Inductor(2)", 3));
    assert_eq!(lossless.len(), 6);
    assert!(
        lossless.iter().all(|pole| pole.re == 0.0 && pole.im.abs() == 1.0),
        "{lossless:?}"
    );
}

#[test]
fn what_is_conserved_has_poles_that_are_exactly_zero_for_any_values() {
    for resistances in ["1.1, 1.3, 0.7", "3, 7, 11", "0.123, 45.6, 7e-3"] {
        let [a, b, c] = *resistances.split(", ").collect::<Vec<_>>() else {
            panic!("three")
        };
        let poles = poles_of(&format!(
            "model Ring {{
               param Ra = {a} [K/W]; param Rb = {b} [K/W]; param Rc = {c} [K/W]; param C = 1.7 [J/K];
               input q [W] = 1;
               node a, b, c : thermal;
               heat : HeatSource(q) gnd -> a;
               ca : ThermalCapacitor(C) a -> gnd; cb : ThermalCapacitor(C) b -> gnd; cc : ThermalCapacitor(C) c -> gnd;
               r1 : ThermalResistor(Ra) a -> b; r2 : ThermalResistor(Rb) b -> c; r3 : ThermalResistor(Rc) c -> a;
               output y = across(cb);
             }}"
        ));
        assert_eq!(poles[0], Complex64::default(), "{poles:?}");
        assert!(poles[1..].iter().all(|pole| pole.re < 0.0), "{poles:?}");
    }
}
