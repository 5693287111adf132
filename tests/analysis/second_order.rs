//! Second-order equations, equivalents at ports, trimmed inputs and structure, compared with closed forms.

use super::{json, near, number, written};
use crate::support::arithmetic::{Bindings, evaluate};
use crate::support::command::{ends_with, err, lgm, out};
use crate::support::records::{Record, bindings, list, numbers};
use serde_json::{Value, json as value};
use std::path::Path;

#[test]
fn an_oscillator_is_of_second_order() {
    let file = "examples/oscillator.lgm";
    let answer = json(&["second-order", file, "--eliminate", "q"]);
    assert_eq!(answer["coordinates"], value!(["mass"]));
    assert_eq!(answer["M"], value!([["m"]]));
    assert_eq!(answer["B"], value!([["b"]]));
    assert_eq!(answer["K"], value!([["k"]]));
    assert_eq!(answer["input"], value!([["1"]]));
    assert_eq!(answer["input_integral"], value!([["0"]]));
    assert_eq!(answer["input_derivative"], value!([["0"]]));
}

#[test]
fn displacements_of_the_kind_that_has_equations_are_kept() {
    let scratch = tempfile::tempdir().unwrap();
    let text = "model TwoMass {
  param J1 = 0.02;  param J2 = 0.1;  param k = 150;  param b1 = 0.01;  param b2 = 0.05;
  input T = 1;
  node m, l : rotational;
  motor : TorqueSource(T) gnd -> m;
  j1 : Inertia(J1) m -> gnd;
  j2 : Inertia(J2) l -> gnd;
  shaft : TorsionSpring(k) m -> l;
  f1 : RotaryDamper(b1) m -> gnd;
  f2 : RotaryDamper(b2) l -> gnd;
  output w = across(j2);
}";
    let file = written(scratch.path(), "two_mass.lgm", text);
    let file = file.to_str().unwrap();
    let answer = json(&["second-order", file]);
    assert_eq!(answer["coordinates"], value!(["j1", "j2"]));
    assert_eq!(answer["B"], value!([["b1", "0"], ["0", "b2"]]));
    let fault = err(&lgm(scratch.path(), &["second-order", file, "--eliminate", "p"]));
    assert!(
        fault.contains("`--eliminate q`") && !fault.contains("`--eliminate p`"),
        "{fault}"
    );
}

#[test]
fn outputs_that_are_not_linear_do_not_stand_in_the_way() {
    let scratch = tempfile::tempdir().unwrap();
    let text = "model Oscillator {
  param m = 2;  param k = 3;  param b = 0.5;
  input F = 0;
  node v : translational;
  push : ForceSource(F) gnd -> v;
  mass : Mass(m) v -> gnd;
  spring : Spring(k) v -> gnd;
  loss : Damper(b) v -> gnd;
  output x = int(across(mass));
  output p = power(loss);
}";
    let file = written(scratch.path(), "oscillator.lgm", text);
    let file = file.to_str().unwrap();
    let answer = json(&["second-order", file, "--eliminate", "q"]);
    assert_eq!((&answer["M"], &answer["K"]), (&value!([["m"]]), &value!([["k"]])));
    let answer = json(&["equations", file, "--partition", "--states", "power"]);
    assert_eq!(answer["outputs"].as_array().map(Vec::len), Some(1), "{answer}");
    let answer = json(&["equations", file, "--discretize", "0.1"]);
    let trace = number(&answer["A"][0][0]) + number(&answer["A"][1][1]);
    // The poles are -1/8 +- i*sqrt(3/2 - 1/64).
    let expected = 2.0 * (-0.0125_f64).exp() * (0.1 * (1.5_f64 - 1.0 / 64.0).sqrt()).cos();
    near(trace, expected, 1e-12);
    let warning = err(&lgm(scratch.path(), &["equations", file, "--discretize", "0.1"]));
    assert!(warning.contains("output `p` is nonlinear"), "{warning}");
}

#[test]
fn a_network_seen_from_a_port_is_an_impedance_and_a_source() {
    let scratch = tempfile::tempdir().unwrap();
    let text = "model Divider {
  param R1 = 2 [ohm];  param R2 = 3 [ohm];  param L = 5 [H];
  input u [V] = 0;
  node a, b : electrical;
  src : VoltageSource(u) a -> gnd;
  upper : Resistor(R1) a -> b;
  lower : Resistor(R2) b -> gnd;
  load : Inductor(L) b -> gnd;
  output y = across(load);
}";
    let file = written(scratch.path(), "divider.lgm", text);
    let file = file.to_str().unwrap();
    let answer = json(&["thevenin", file, "--at", "load"]);
    assert_eq!(answer["kind"], "across");
    assert_eq!(answer["impedance"], value!({"num": ["R1*R2"], "den": ["R1 + R2"]}));
    assert_eq!(answer["source"]["num"], value!(["R2"]));
    assert_eq!(answer["source"]["den"], value!(["R1 + R2"]));
    assert_eq!(answer["source"]["input"], "u");
    // With the load connected: 1/(1/R1 + 1/R2 + 1/(L s)).
    let answer = json(&["thevenin", file, "--at", "b", "--numeric"]);
    let ratio = |ratio: &Value, s: f64| {
        let sum = |list: &Value| {
            list.as_array()
                .unwrap()
                .iter()
                .fold(0.0, |sum, entry| sum * s + number(entry))
        };
        sum(&ratio["num"]) / sum(&ratio["den"])
    };
    near(
        ratio(&answer["impedance"], 0.7),
        1.0 / (0.5 + 1.0 / 3.0 + 1.0 / 3.5),
        1e-12,
    );
    // The upper resistor, between the source and the rest: R2 L s/(R2 + L s).
    let answer = json(&["thevenin", file, "--at", "a,b", "--numeric"]);
    near(
        ratio(&answer["impedance"], 0.7),
        1.0 / (0.5 + 1.0 / (3.0 * 3.5 / 6.5)),
        1e-12,
    );
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = lgm(package, &["thevenin", file, "--at", "laod"]);
    ends_with(&output, 1);
    assert!(err(&output).contains("LGM0718"), "{}", err(&output));
}

#[test]
fn mobility_is_seen_in_mechanics() {
    // At the node of an oscillator: s/(m s^2 + b s + k).
    let answer = json(&["thevenin", "examples/oscillator.lgm", "--at", "x"]);
    assert_eq!(answer["impedance"], value!({"num": ["1", "0"], "den": ["m", "b", "k"]}));
    assert_eq!(answer["source"]["num"], value!(["1", "0"]));
}

#[test]
fn a_trimmed_input_holds_the_output() {
    let scratch = tempfile::tempdir().unwrap();
    let text = "model Tank { param c = 2; input u = 0; state h = int(u - c*sqrt(h)), start = 1; output level = h; }";
    let file = written(scratch.path(), "tank.lgm", text);
    let file = file.to_str().unwrap();
    let answer = json(&["trim", file, "--require", "level=9", "--vary", "u"]);
    near(number(&answer["inputs"][0]["value"]), 6.0, 1e-9);
    near(number(&answer["states"][0]["value"]), 9.0, 1e-9);
    near(number(&answer["outputs"][0]["value"]), 9.0, 1e-9);
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    // No inflow gives a negative level.
    ends_with(
        &lgm(package, &["trim", file, "--require", "level=-1", "--vary", "u"]),
        1,
    );
}

#[test]
fn what_no_input_reaches_is_named() {
    let scratch = tempfile::tempdir().unwrap();
    let text = "model Lags {
  input u = 0;
  state a = int(u - a);  state b = int(u - b);  state c = int(-3*c);  state d = int(u - 2*d);
  output y = a + b + c;
}";
    let file = written(scratch.path(), "lags.lgm", text);
    let answer = json(&["structure", file.to_str().unwrap()]);
    assert_eq!(
        (&answer["order"], &answer["controllable"], &answer["observable"]),
        (&value!(4), &value!(2), &value!(2))
    );
    assert_eq!(answer["minimal_order"], 1);
    assert_eq!(answer["uncontrollable"], value!(["a", "b", "c"]));
    assert_eq!(answer["unobservable"], value!(["a", "b", "d"]));
    near(number(&answer["gramians"]["controllability"][3][3]), 0.25, 1e-12);
    let answer = json(&["structure", "examples/oscillator.lgm", "--set", "b=0"]);
    assert_eq!(answer["gramians"]["controllability"], Value::Null);
}

#[test]
fn held_inputs_step_the_outputs_at_once() {
    // der(v) = (F - k*int v)/m with the input's rate acting on storage: a source charges a capacitor through another
    // one.
    let scratch = tempfile::tempdir().unwrap();
    let text = "model Series {
  input u [V] = 0;
  node a, b : electrical;
  src : VoltageSource(u) a -> gnd;
  c1 : Capacitor(2) a -> b;  c2 : Capacitor(3) b -> gnd;  r : Resistor(1) b -> gnd;
  output y = across(r);
}";
    let file = written(scratch.path(), "series.lgm", text);
    let answer = json(&["equations", file.to_str().unwrap(), "--discretize", "0.5"]);
    // y/u = 2 s/(5 s + 1): a step of u makes y jump to 2/5 and decay with time constant 5 s.
    let (a, b) = (number(&answer["A"][0][0]), number(&answer["B"][0][0]));
    let (c, d) = (number(&answer["C"][0][0]), number(&answer["D"][0][0]));
    near(a, (-0.1f64).exp(), 1e-14);
    near(d, 0.4, 1e-14);
    near(d + c * b, 0.4 * (-0.1f64).exp(), 1e-13);
    assert_eq!((&answer["E"], &answer["hold"]), (&Value::Null, &value!("zero")));
    // A step of u divides between the capacitors as 3 to 2, and u is their sum.
    near(
        number(&answer["state_offset"][0][0]).abs(),
        if answer["states"][0]["element"] == "c1" {
            0.6
        } else {
            0.4
        },
        1e-14,
    );
}

#[test]
fn a_motor_is_seen_from_its_shaft() {
    // At the shaft of a motor with resistance R, inductance L and constant k: across/through = (L s + R)/k^2, and u/k
    // when free.
    let scratch = tempfile::tempdir().unwrap();
    let text = "model Motor {
  param R = 2 [ohm];  param L = 3 [H];  param k = 0.5 [N.m/A];  param J = 4 [kg.m^2];  param b = 0.1 [N.m.s/rad];
  input u [V] = 0;
  node a, c, d : electrical;  node w : rotational;
  src : VoltageSource(u) a -> gnd;
  r : Resistor(R) a -> c;  l : Inductor(L) c -> d;
  motor : Transformer(1/k) d -> gnd, w -> gnd;
  inertia : Inertia(J) w -> gnd;  bearing : RotaryDamper(b) w -> gnd;
  output speed = across(inertia);
}";
    let file = written(scratch.path(), "motor.lgm", text);
    let answer = json(&["convert", file.to_str().unwrap(), "--to", "rotational"]);
    assert_eq!(answer["steps"][0]["coupler"], "motor");
    let branches = answer["branches"].as_array().unwrap();
    let motor = branches.iter().find(|branch| branch["name"] == "motor").unwrap();
    assert_eq!(motor["mobility"], value!({"num": ["L", "R"], "den": ["k^2"]}));
    assert_eq!(answer["source"]["num"], value!(["1"]));
    assert_eq!(answer["source"]["den"], value!(["k"]));
    let inertia = branches.iter().find(|branch| branch["name"] == "inertia").unwrap();
    assert_eq!(inertia["mobility"], value!({"num": ["1"], "den": ["J", "0"]}));
}

#[test]
fn a_decay_is_fitted_with_its_errors() {
    // x = exp(-a t) with a = 2 and noise of known size: the normal equations at the optimum in closed form.
    let scratch = tempfile::tempdir().unwrap();
    let file = written(
        scratch.path(),
        "decay.lgm",
        "model Decay { param a = 1; state x = int(-a*x), start = 1; output y = x; }",
    );
    let noise = [0.01, -0.02, 0.015, 0.005, -0.01, 0.02, -0.005, -0.015, 0.01, 0.0];
    let times: Vec<f64> = (0..10).map(|k| 0.25 * f64::from(k)).collect();
    let data: Vec<f64> = times
        .iter()
        .zip(noise)
        .map(|(time, noise)| (-2.0 * time).exp() + noise)
        .collect();
    let lines: Vec<String> = times
        .iter()
        .zip(&data)
        .map(|(time, value)| format!("{time},{value}"))
        .collect();
    let table = written(scratch.path(), "data.csv", &format!("time,y\n{}\n", lines.join("\n")));
    let answer = json(&[
        "fit",
        file.to_str().unwrap(),
        "--data",
        table.to_str().unwrap(),
        "--vary",
        "a",
    ]);
    // Newton's method on the closed form.
    let mut a = 2.0_f64;
    for _ in 0..50 {
        let terms = times
            .iter()
            .zip(&data)
            .map(|(time, value)| ((-a * time).exp() - value, -time * (-a * time).exp()));
        let (gradient, normal) = terms.fold((0.0, 0.0), |sum, (error, slope)| {
            (sum.0 + error * slope, sum.1 + slope * slope)
        });
        a -= gradient / normal;
    }
    let squares: f64 = times
        .iter()
        .zip(&data)
        .map(|(time, value)| ((-a * time).exp() - value).powi(2))
        .sum();
    let normal: f64 = times.iter().map(|time| (time * (-a * time).exp()).powi(2)).sum();
    let error = (squares / 9.0 / normal).sqrt();
    let found = &answer["parameters"][0];
    assert!((number(&found["value"]) - a).abs() < 0.01 * error, "{found} is not {a}");
    near(number(&found["standard_error"]), error, 1e-4);
    // Student's t with 9 degrees of freedom.
    near(
        number(&found["confidence"][1]) - number(&found["value"]),
        2.262_157_163 * error,
        1e-4,
    );
}

/// Point masses on massless rods: no mass moves with the velocity of a joint.
const DOUBLE_PENDULUM: &str = "model DoublePendulum {
  param m1 = 1 [kg];  param m2 = 0.7 [kg];  param l1 = 0.5 [m];  param l2 = 0.4 [m];  param g = 9.81 [m/s^2];
  input tau [N.m] = 0;
  node j1, j2 : rotational;
  node p1[2] vector, p2[2] vector : translational;
  state th1 = int(across(j1));
  state th2 = int(across(j2));
  t1 : Transformer([[l1*cos(th1)], [l1*sin(th1)]]) j1 -> gnd, p1 -> gnd;
  t2 : Transformer([[l2*cos(th2)], [l2*sin(th2)]]) j2 -> gnd, p2 -> p1;
  b1 : Mass(m1) p1 -> gnd;  b2 : Mass(m2) p2 -> gnd;
  w1 : ForceSource([0, -m1*g]) gnd -> p1;  w2 : ForceSource([0, -m2*g]) gnd -> p2;
  mot : TorqueSource(tau) gnd -> j1;
  output a = th1;
}";

/// A pendulum on a cart, with a spring and friction.
const CART: &str = "model Cart {
  param M = 2 [kg];  param m = 0.5 [kg];  param l = 0.6 [m];  param b = 0.3 [N.s/m];  param k = 12 [N/m];
  param c = 0.02 [N.m.s/rad];  param g = 9.81 [m/s^2];
  input F [N] = 0;
  node joint : rotational;
  node bob[2] vector, xy[2] vector : translational;
  state theta = int(across(joint));
  arm : Transformer([[l*cos(theta)], [l*sin(theta)]]) joint -> gnd, bob -> xy;
  rail : VelocitySource(0) xy[2] -> gnd;
  cart : Mass(M) xy[1] -> gnd;  friction : Damper(b) xy[1] -> gnd;  spring : Spring(k) xy[1] -> gnd;
  push : ForceSource(F) gnd -> xy[1];
  mass : Mass(m) bob -> gnd;  weight : ForceSource([0, -m*g]) gnd -> bob;
  pin : RotaryDamper(c) joint -> gnd;
  output y = theta;
}";

#[test]
fn masses_on_rods_have_lagranges_equations() {
    let scratch = tempfile::tempdir().unwrap();
    let file = written(scratch.path(), "double.lgm", DOUBLE_PENDULUM);
    let found = json(&["second-order", file.to_str().unwrap()]);
    let wanted = value!({
        "schema": "lgm-mechanism/1",
        "velocities": ["j1.w", "j2.w"],
        "displacements": ["th1", "th2"],
        "M": [["l1^2*(m1 + m2)", "m2*l1*l2*cos(th1 - th2)"], ["m2*l1*l2*cos(th1 - th2)", "m2*l2^2"]],
        "C": [["0", "m2*l1*l2*j2.w*sin(th1 - th2)"], ["-m2*l1*l2*j1.w*sin(th1 - th2)", "0"]],
        "D": [["0", "0"], ["0", "0"]],
        "g": ["l1*g*sin(th1)*(m1 + m2)", "m2*l2*g*sin(th2)"],
        "Q": ["tau", "0"]
    });
    assert_eq!(found, wanted);
    let found = json(&["second-order", file.to_str().unwrap(), "--at", "th1=0,th2=0"]);
    assert_eq!(
        found["M"],
        value!([["l1^2*(m1 + m2)", "m2*l1*l2"], ["m2*l1*l2", "m2*l2^2"]])
    );
    assert_eq!(found["K"], value!([["l1*g*(m1 + m2)", "0"], ["0", "m2*l2*g"]]));
}

#[test]
fn a_pendulum_on_a_cart_has_equations_of_second_order() {
    let scratch = tempfile::tempdir().unwrap();
    let file = written(scratch.path(), "cart.lgm", CART);
    let found = json(&["second-order", file.to_str().unwrap()]);
    assert_eq!(found["velocities"], value!(["cart.v", "joint.w"]));
    assert_eq!(
        found["M"],
        value!([["M + m", "m*l*cos(theta)"], ["m*l*cos(theta)", "m*l^2"]])
    );
    assert_eq!(found["C"], value!([["0", "-m*l*joint.w*sin(theta)"], ["0", "0"]]));
    assert_eq!(found["D"], value!([["b", "0"], ["0", "c"]]));
    assert_eq!(found["g"], value!(["spring.F", "m*l*g*sin(theta)"]));
    assert_eq!(found["Q"], value!(["F", "0"]));
    let found = json(&["second-order", file.to_str().unwrap(), "--equilibrium"]);
    assert_eq!(found["coordinates"], value!(["cart", "joint"]));
    assert_eq!(found["M"], value!([["M + m", "m*l"], ["m*l", "m*l^2"]]));
    assert_eq!(found["B"], value!([["b", "0"], ["0", "c"]]));
    assert_eq!(found["K"], value!([["k", "0"], ["0", "m*l*g"]]));
    assert_eq!(found["input"], value!([["1"], ["0"]]));
}

#[test]
fn a_mass_on_a_spring_swings_in_polar_coordinates() {
    // The rates are shorter in explicit form; M is still that of the kinetic energy.
    let scratch = tempfile::tempdir().unwrap();
    let text = "model Spring {
  param m = 1.3 [kg];  param l0 = 0.5 [m];  param k = 40 [N/m];  param g = 9.81 [m/s^2];  param d = 0.2 [N.s/m];
  node joint : rotational;
  node r, a[2] vector, p[2] vector : translational;
  state th = int(across(joint)), start = 0.8;
  state L = int(across(r)), start = 0.6;
  turn : Transformer([[L*cos(th)], [L*sin(th)]]) joint -> gnd, a -> gnd;
  slide : Transformer([[sin(th)], [-cos(th)]]) r -> gnd, p -> a;
  mass : Mass(m) p -> gnd;  weight : ForceSource([0, -m*g]) gnd -> p;
  spring : ForceSource(-k*(L - l0)) gnd -> r;  loss : Damper(d) r -> gnd;
  output angle = th;
}";
    let file = written(scratch.path(), "spring.lgm", text);
    let found = json(&["second-order", file.to_str().unwrap()]);
    assert_eq!(found["M"], value!([["m*L^2", "0"], ["0", "m"]]));
    assert_eq!(found["C"], value!([["m*L*r.v", "m*L*joint.w"], ["-m*L*joint.w", "0"]]));
    assert_eq!(found["D"], value!([["0", "0"], ["0", "d"]]));
    assert_eq!(found["g"], value!(["m*g*L*sin(th)", "k*(L - l0) - m*g*cos(th)"]));
}

#[test]
fn mechanisms_without_such_equations_are_named() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let fault = err(&lgm(package, &["second-order", "examples/four_bar.lgm"]));
    assert!(fault.contains("LGM0715") && fault.contains("closed chain"), "{fault}");
    let scratch = tempfile::tempdir().unwrap();
    let text = DOUBLE_PENDULUM.replace("  output", "  third : Spring(3) p2 -> gnd;\n  output");
    written(scratch.path(), "m.lgm", &text);
    // The displacements of the spring are states in addition to the angles; its forces belong to g.
    let output = lgm(scratch.path(), &["second-order", "m.lgm", "--format", "json"]);
    ends_with(&output, 0);
    let found: Value = serde_json::from_str(&crate::support::command::out(&output)).unwrap();
    assert_eq!(found["M"][1][1], "m2*l2^2");
    assert!(found["g"][0].as_str().unwrap().contains("third.F[1]"), "{found}");
}

/// The record has the matrices of the potential and the kinetic energy at the equilibrium, computed without lgm.
#[test]
fn a_mechanism_at_rest_has_short_matrices_in_symbols() {
    let file = "examples/seeds/two_link_manipulator.lgm";
    let point = "theta[1]=-1.3, theta[2]=-1.5, K.tau[1]=-3, K.tau[2]=-0.3";
    let free = [
        "--set",
        "tau1=0",
        "--set",
        "tau2=0",
        "--set",
        "theta1_0=0",
        "--set",
        "theta2_0=0",
    ];
    let command = ["second-order", file, "--equilibrium", "--at", point];
    let found = json(&[&command[..], &free].concat());
    assert_eq!(found["coordinates"], value!(["J[1]", "J[2]"]));
    let record = Record::load("two_link_linearized");
    let mut values: Bindings = bindings(&record.parameters());
    let rest = list(&record.json["equilibrium"]);
    values.extend((1..).zip(rest).map(|(at, angle)| (format!("theta[{at}_0]"), angle)));
    for (own, name) in [("M", "M"), ("B", "R"), ("K", "K_t")] {
        for (row, entries) in numbers(&record.json[name]).iter().enumerate() {
            for (column, expected) in entries.iter().enumerate() {
                let text = &found[own][row][column].as_str().unwrap().replace("]_0", "_0]");
                assert!(text.len() < 60, "{own}: {text}");
                assert!(
                    (evaluate(text, &values) - expected).abs() < 1e-9,
                    "{own}: {text} is not {expected}"
                );
            }
        }
    }
}

#[test]
fn constants_of_second_order_matrices_are_defined_below_them() {
    let file = "examples/seeds/bar_modal.lgm";
    let found = json(&["second-order", file]);
    assert_eq!(found["definitions"]["k_3"]["formula"], "25*A*E*pi^2/(8*L)");
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = out(&lgm(package, &["second-order", file]));
    assert!(text.contains("\nwith\n  m   = 0.79515 kg"), "{text}");
    // A plot of an output that is not linear is no error.
    ends_with(&lgm(package, &["second-order", "examples/seeds/roller_coaster.lgm"]), 0);
}

/// S is skew-symmetric because junctions store no energy, and A = S*diag(1/M, k) over the states of Wang and Ren.
#[test]
fn fields_are_connected_by_a_skew_symmetric_matrix() {
    let found = json(&[
        "equations",
        "examples/seeds/five_mass_seven_spring.lgm",
        "--partition",
        "--numeric",
    ]);
    let s = numbers(&found["S"]);
    assert_eq!((s.len(), found["z"][5].as_str()), (14, Some("spring1.e")));
    let record = Record::load("five_mass_seven_spring");
    let values = record.parameters();
    let value = |name: String| *bindings(&values).get(&name).unwrap();
    let mut of_field: Vec<f64> = (1..=5).map(|at| 1.0 / value(format!("M{at}"))).collect();
    // The springs of the model are not declared in the order of their numbers in A.
    let springs = found["q"].as_array().unwrap();
    of_field.extend((1..=springs.len()).map(|at| value(format!("k{at}"))));
    let [pq, qp] = ["A_pq", "A_qp"].map(|name| numbers(&found[name]));
    for row in 0..14 {
        for column in 0..14 {
            assert!((s[row][column] + s[column][row]).abs() < 1e-12, "S[{row}, {column}]");
            let a = match (row, column) {
                (0..5, 5..12) => pq[row][column - 5],
                (5..12, 0..5) => qp[row - 5][column],
                _ => continue,
            };
            near(s[row][column] * of_field[column] + 1.0, a + 1.0, 1e-12);
        }
    }
}

/// Tokad's remark after equation 53: other pairs of states describe the two discs.
#[test]
fn other_choices_of_states_are_listed() {
    let found = json(&["equations", "examples/seeds/two_discs.lgm", "--choices"]);
    let choices = found["choices"].as_array().unwrap();
    let of = |element: &str| choices.iter().find(|choice| choice["retain"] == element).unwrap();
    assert_eq!(choices[0]["states"], value!(["ring.w", "bar.w", "angle1", "R.angle"]));
    let states = of("disc")["states"].as_array().unwrap();
    assert!(
        states.contains(&value!("disc.w")) && !states.contains(&value!("ring.w")),
        "{found}"
    );
    // The chosen states are those of the same request.
    let file = "examples/seeds/two_discs.lgm";
    let asked = json(&["equations", file, "--retain", "disc"]);
    let names: Vec<&Value> = asked["states"]
        .as_array()
        .unwrap()
        .iter()
        .map(|state| &state["name"])
        .collect();
    assert_eq!(names, states.iter().collect::<Vec<_>>());
    let lamina = json(&["equations", "examples/seeds/lamina.lgm", "--choices"]);
    assert!(
        lamina["choices"][1]["refused"].as_str().unwrap().contains("`body`"),
        "{lamina}"
    );
}
