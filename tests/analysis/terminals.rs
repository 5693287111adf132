//! Terminal equations: compared with the records of known answers, with models that have sources at the ports, and with
//! Tokad's form.

use super::{json, number, printed, written};
use crate::support::arithmetic::{Bindings, evaluate};
use crate::support::command::{ends_with, err, lgm, out};
use crate::support::records::Record;
use nalgebra::DMatrix;
use serde_json::{Value, json as value};
use std::fs;
use std::path::Path;

const PLACES: [f64; 3] = [0.31, 1.7, 23.0];

fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The matrix of terminal equations at a real s.
fn matrix_at(found: &Value, s: f64) -> DMatrix<f64> {
    let rows = found["matrix"].as_array().unwrap();
    let bindings: Bindings = [("s".to_string(), s)].into();
    DMatrix::from_fn(rows.len(), rows.len(), |row, column| {
        evaluate(rows[row][column].as_str().unwrap(), &bindings)
    })
}

#[track_caller]
fn same(found: &DMatrix<f64>, expected: &DMatrix<f64>) {
    let size = expected.amax();
    assert!(
        size > 0.0 && (found - expected).amax() <= 1e-9 * size,
        "{found} is not {expected}"
    );
}

fn numeric(file: &str, component: &str, more: &[&str]) -> Value {
    json(&[&["terminals", file, "--component", component, "--numeric"], more].concat())
}

/// In terms of the parameters, the equations of a modal block are the short equations of its modes. They agree with the
/// numeric ones: at the ports, shapes*(mass*s + damper + 1/(s/spring + loss))^-1*shapes', and the dual likewise.
#[test]
fn modal_blocks_are_described_by_their_modes() {
    let folder = tempfile::tempdir().unwrap();
    let text = "import distributed;\nmodel Bar {\n  input F [N] = 1;\n  node tip, mid : translational;\n  \
         bar : FixedFreeBar(rho = 7850, E = 210e9, A = 0.01, L = 1, zeta = 0.02, modes = 6, at = [0.5, 1]) mid -> gnd, tip -> gnd;\n  \
         push : ForceSource(F) gnd -> tip;\n  output y = across(push);\n}\n";
    let bar = written(folder.path(), "bar.lgm", text).display().to_string();
    for (file, component, is_dual, line) in [
        (
            &*bar,
            "bar",
            false,
            "(mass[n]*s + damper[n] + spring[n]/s)*v[n] = shape[n, 1]*through(port[1])",
        ),
        (
            "examples/seeds/beam_free_free.lgm",
            "beam",
            false,
            "(mass[n]*s + spring[n]/s)*v[n] = ",
        ),
        (
            "examples/seeds/pipeline_flow_causality.lgm",
            "pipe",
            false,
            "(mass[n]*s + 1/(s/spring[n] + loss[n]))*v[n] = ",
        ),
        (
            "examples/seeds/pipeline_pressure_causality.lgm",
            "pipe",
            true,
            "(inertia[n]*s + resistor[n] + capacity[n]/s)*q[n] = shape[n, 1]*across(port[1])",
        ),
    ] {
        let output = lgm(package(), &["terminals", file, "--component", component]);
        ends_with(&output, 0);
        assert!(
            out(&output).contains("terminal equations by its modes") && out(&output).contains(line),
            "{}",
            out(&output)
        );
        let given = if is_dual { "across" } else { "through" };
        let numbers = numeric(file, component, &["--given", given]);
        let modes = &numbers["modes"];
        let read = |value: &Value| value.as_str().and_then(|text| text.parse::<f64>().ok());
        let value = |kind: &str, mode: usize| read(&modes[kind][mode]);
        let rows = modes["shapes"].as_array().unwrap();
        let ports = modes["ports"].as_array().unwrap().len();
        let shapes = DMatrix::from_fn(rows.len(), ports, |mode, port| read(&rows[mode][port]).unwrap());
        for s in [0.7, 50.0, 900.0] {
            let of = |kind: &str, mode| value(kind, mode).unwrap_or(0.0);
            let (inertia, restoring, loss) = match is_dual {
                true => ("inertia", "capacity", "resistor"),
                false => ("mass", "spring", "damper"),
            };
            let stiff = |mode| value(restoring, mode).map_or(0.0, |stiffness| 1.0 / (s / stiffness + of("loss", mode)));
            let inverse = |mode| 1.0 / (of(inertia, mode) * s + of(loss, mode) + stiff(mode));
            let modes = DMatrix::from_fn(
                shapes.nrows(),
                shapes.nrows(),
                |a, b| if a == b { inverse(a) } else { 0.0 },
            );
            same(&(shapes.transpose() * modes * &shapes), &matrix_at(&numbers, s));
        }
    }
}

#[test]
fn modal_blocks_have_the_mobilities_of_the_records() {
    for (name, component) in [("dp_element_2port", "element1"), ("pipeline_flow_causality", "pipe")] {
        let record: Record = Record::load(name);
        let linear = record.linear();
        let file = format!("examples/seeds/{name}.lgm");
        let found = numeric(&file, component, &["--given", "through"]);
        assert_eq!(
            found["given"],
            serde_json::json!(["through(port[1])", "through(port[2])"])
        );
        for s in PLACES {
            let size = linear.a.nrows();
            let states = (DMatrix::identity(size, size) * s - &linear.a).try_inverse().unwrap();
            same(&matrix_at(&found, s), &(&linear.c * states * &linear.b + &linear.d));
        }
        // With across variables as inputs, the matrix is the inverse.
        let other = numeric(&file, component, &[]);
        assert_eq!(
            other["given"],
            serde_json::json!(["across(port[1])", "across(port[2])"])
        );
        let product = matrix_at(&other, 1.7) * matrix_at(&found, 1.7);
        same(&product, &DMatrix::identity(2, 2));
    }
}

#[test]
fn the_matrices_of_a_modal_block_are_those_of_its_record() {
    let found = json(&[
        "terminals",
        "examples/seeds/dp_element_2port.lgm",
        "--component",
        "element1",
    ]);
    let modes = &found["modes"];
    let shapes: Vec<Vec<&str>> = (0..3)
        .map(|mode| {
            (0..2)
                .map(|port| modes["shapes"][mode][port].as_str().unwrap())
                .collect()
        })
        .collect();
    assert_eq!(shapes[2], ["R[3, 1]", "R[3, 2]"]);
    assert_eq!(modes["mass"][1], "M_diag[2]");
    assert_eq!(modes["spring"][1], "K_diag[2]");
}

/// Tokad's equation for a rigid lamina: the velocities of its points follow from those of the centre, and the forces in
/// the opposite direction.
#[test]
fn an_ideal_lamina_has_the_terminal_equations_of_tokad() {
    let angle: f64 = 0.9;
    let found = numeric("examples/seeds/lamina.lgm", "ideal", &[]);
    let (l, alpha, beta, a, b) = (0.83, 0.41, 0.67, 0.584402524947071, 0.3751264965787986);
    let (r_ga_y, r_gb_x) = (a * (angle - alpha).sin(), b * (angle + beta).cos());
    let points = [[r_gb_x - l * angle.cos(), r_ga_y], [r_gb_x, r_ga_y - l * angle.sin()]];
    let mut expected = DMatrix::zeros(7, 7);
    for (point, [x, y]) in points.into_iter().enumerate() {
        let row = 3 + 2 * point;
        for (axis, turn) in [-y, x].into_iter().enumerate() {
            let entries = [(0, turn), (1 + axis, 1.0)];
            for (column, value) in entries {
                expected[(row + axis, column)] = value;
                expected[(column, row + axis)] = -value;
            }
        }
    }
    same(&matrix_at(&found, 1.0), &expected);
    let output = lgm(
        package(),
        &["terminals", "examples/seeds/lamina.lgm", "--component", "ideal"],
    );
    ends_with(&output, 0);
    insta::assert_snapshot!("terminals_lamina", out(&output));
    assert!(
        err(&output).contains("`angle` modulates the component"),
        "{}",
        err(&output)
    );
    let other = numeric("examples/seeds/lamina.lgm", "ideal", &["--at", "angle=0.4"]);
    assert_ne!(other["matrix"], found["matrix"]);
}

const PARTS: &str = "
component Section(L [H] = 0.2, R [ohm] = 3, C [F] = 0.7) {
  port p, n, ref : electrical;
  node m : electrical;
  l : Inductor(L)  p -> m;
  r : Resistor(R)  m -> n;
  c : Capacitor(C) n -> ref;
}
component Bridge(R [ohm] = 2, L [H] = 1.1) {
  port a, b : electrical;
  node c, d : electrical;
  r1 : Resistor(R)   a -> c;
  r2 : Resistor(3*R) c -> b;
  r3 : Resistor(2*R) a -> d;
  r4 : Resistor(R)   d -> b;
  l  : Inductor(L)   c -> d;
}
component Lever(r = 1.7, m [kg] = 2) {
  port a, b : translational;
  t : Transformer(r) a -> gnd, b -> gnd;
  m : Mass(m)        b -> gnd;
}
component Held(k [N/m] = 5, r [N.s/m] = 0.3) {
  port a, b : translational;
  node c : translational;
  s : Spring(k) a -> c;
  d : Damper(r) c -> b;
  h : VelocitySource(0) b -> gnd;
}
component Crossed(g [ohm] = 0.4, C [F] = 2) {
  port a, b : electrical;
  g : Gyrator(g)   a -> gnd, b -> gnd;
  c : Capacitor(C) b -> gnd;
}
element Skid(m [kg] = 2, b [N.s/m] = 3) : translational { through = m*der(across) + b*across; }
";

/// The responses of a model with sources at the ports.
fn driven(found: &Value, domain: &str, instance: &str) -> DMatrix<f64> {
    let names = |list: &Value| -> Vec<(bool, String)> {
        let list = list.as_array().unwrap().iter().map(|text| text.as_str().unwrap());
        list.map(|text| {
            let (measure, rest) = text.split_once('(').unwrap();
            (measure == "across", rest.trim_end_matches(')').to_string())
        })
        .collect()
    };
    let mut text = format!("{PARTS}model Driven {{\n");
    for (at, (is_across, port)) in names(&found["given"]).iter().enumerate() {
        text += &format!("  input u{at};\n  node {port} : {domain};\n");
        text += &match is_across {
            true => format!("  s{at} : AcrossSource(u{at}) {port} -> gnd;\n"),
            false => format!("  s{at} : ThroughSource(u{at}) gnd -> {port};\n"),
        };
    }
    for (at, (is_across, port)) in names(&found["found"]).iter().enumerate() {
        text += &match is_across {
            true => format!("  output y{at} = across({port});\n"),
            false => format!("  output y{at} = -through(s{at});\n"),
        };
    }
    text += &format!("  {instance}\n}}\n");
    let scratch = tempfile::tempdir().unwrap();
    let file = written(scratch.path(), "driven.lgm", &text);
    let list = json(&["transfer", file.to_str().unwrap(), "--numeric"]);
    let size = found["given"].as_array().unwrap().len();
    let polynomial = |list: &Value| {
        let list = list.as_array().unwrap().iter();
        list.fold(0.0, |sum, coefficient| sum * 1.7 + number(coefficient))
    };
    let mut matrix = DMatrix::zeros(size, size);
    for entry in list.as_array().unwrap() {
        let place = |key: &str| entry[key].as_str().unwrap()[1..].parse::<usize>().unwrap();
        matrix[(place("to"), place("from"))] = polynomial(&entry["num"]) / polynomial(&entry["den"]);
    }
    matrix
}

#[test]
fn sources_at_the_ports_of_a_component_see_its_terminal_equations() {
    let scratch = tempfile::tempdir().unwrap();
    let file = written(scratch.path(), "parts.lgm", PARTS);
    let file = file.to_str().unwrap();
    for (component, domain, instance, hybrid) in [
        (
            "Section",
            "electrical",
            "part : Section() (p = p, n = n, ref = ref);",
            0,
        ),
        ("Bridge", "electrical", "part : Bridge() (a = a, b = b);", 0),
        ("Lever", "translational", "part : Lever() (a = a, b = b);", 1),
        ("Held", "translational", "part : Held() (a = a, b = b);", 1),
        ("Crossed", "electrical", "part : Crossed() (a = a, b = b);", 0),
    ] {
        for given in ["across", "through"] {
            let found = numeric(file, component, &["--given", given]);
            let list = found["given"].as_array().unwrap();
            let others = list.iter().filter(|name| !name.as_str().unwrap().starts_with(given));
            if given == "across" {
                assert_eq!(others.count(), hybrid, "{component}: {list:?}");
            }
            same(&matrix_at(&found, 1.7), &driven(&found, domain, instance));
        }
    }
    // A section without a reference passes no net current, and its last current follows from the others.
    let found = numeric(file, "Section", &[]);
    let sums = matrix_at(&found, 1.7).row_sum();
    assert!(sums.amax() < 1e-12, "{sums}");
    let skid = json(&["terminals", file, "--component", "Skid"]);
    assert_eq!(skid["given"][0], "across(Skid)");
    assert_eq!(skid["matrix"][0][0], "m*s + b");
}

#[test]
fn instances_lose_the_model_around_them() {
    let found = json(&["terminals", "examples/line.lgm", "--component", "cell[2]"]);
    assert_eq!(found["given"], serde_json::json!(["across(p)", "across(n)"]));
    assert_eq!(found["matrix"][0][0], "1000/(s + 100)");
    // A bar between the reference and a node, and reversed, with the compliance of the omitted modes.
    let text = |ends: &str| {
        format!(
            "import distributed;\nmodel Bar {{\n  input F = 1;\n  node tip : translational;\n  push : ForceSource(F) gnd -> tip;\n  \
             bar : FixedFreeBar(rho = 2, E = 3, A = 0.5, L = 1, modes = 2, at = [1], residual = true) {ends};\n  \
             output v = across(tip);\n}}\n"
        )
    };
    let scratch = tempfile::tempdir().unwrap();
    for ends in ["tip -> gnd", "gnd -> tip"] {
        let file = written(scratch.path(), "bar.lgm", &text(ends));
        let file = file.to_str().unwrap();
        let found = numeric(file, "bar", &["--given", "through"]);
        let seen = json(&["thevenin", file, "--at", "push", "--numeric"]);
        let polynomial = |key: &str| {
            let list = seen["impedance"][key].as_array().unwrap().iter();
            list.fold(0.0, |sum, coefficient| sum * 1.7 + number(coefficient))
        };
        let expected = polynomial("num") / polynomial("den");
        same(&matrix_at(&found, 1.7), &DMatrix::from_element(1, 1, expected));
    }
}

#[test]
fn inputs_and_controllers_of_the_model_around_act_on_the_ports() {
    let text = "
component Weight(m [kg], F [N]) {
  port a : translational;
  mass : Mass(m) a -> gnd;
  pull : ForceSource(2*F) gnd -> a;
}
model Lift {
  param m = 3 [kg];
  param gain = 7 [N.s/m];
  input F [N] = 1;
  node x, y : translational;
  drag : Damper(1) y -> gnd;
  push : ForceSource(F) gnd -> y;
  rope : Spring(4) x -> y;
  first : Weight(m, F) (a = x);
  second : Weight(m, gain*across(drag)) (a = y);
}
";
    let scratch = tempfile::tempdir().unwrap();
    let file = written(scratch.path(), "lift.lgm", text);
    let file = file.to_str().unwrap();
    let one = json(&["terminals", file, "--component", "first"]);
    assert_eq!(one["matrix"], serde_json::json!([["m*s"]]));
    assert_eq!(one["inputs"], serde_json::json!([{"input": "F", "column": ["-2"]}]));
    let two = json(&["terminals", file, "--component", "second"]);
    assert_eq!(two["inputs"][0]["column"][0], "-2*gain");
    assert_eq!(two["inputs"].as_array().unwrap().len(), 1);
}

#[test]
fn what_has_no_terminal_equations_says_why() {
    let text = "
import nonlinear;
component Hard(k [N/m], h [N/m^3], m [kg]) {
  port a, b : translational;
  mass   : Mass(m)          a -> gnd;
  spring : HardSpring(k, h) a -> b;
}
component Ladder(const n) { port p : electrical; for i in 1:n { r[i] : Resistor(i) p -> gnd; } }
component Closed() { node p : electrical; r : Resistor(1) p -> gnd; c : Capacitor(1) p -> gnd; }
model All {
  one A;
  source : Se(1);
  mass : I(2);
  source -> A -> mass;
  closed : Closed();
}
";
    let scratch = tempfile::tempdir().unwrap();
    let file = written(scratch.path(), "faults.lgm", text);
    let file = file.to_str().unwrap();
    let refused = |component: &str, more: &[&str], code: i32, words: &str| {
        let output = lgm(
            package(),
            &[&["terminals", file, "--component", component], more].concat(),
        );
        ends_with(&output, code);
        let text = err(&output);
        assert!(text.contains(words), "{component}: {text}");
    };
    refused("Hard", &[], 1, "its equations are not linear");
    refused("Ladder", &[], 1, "`n` of `Ladder` has no value");
    refused("Closed", &[], 1, "`Closed` has no open ports");
    refused("closed", &[], 1, "`closed` has no open ports");
    refused("mass", &[], 1, "`mass` is a bond graph element");
    refused("Hrd", &[], 1, "there is no component `Hrd`");
    refused("Hard", &["--set", "z=2"], 2, "has no `param` or `const` named `z`");
    let hard = json(&["terminals", file, "--component", "Hard", "--linearize"]);
    assert_eq!(hard["matrix"][0][0], "(m*s^2 + k)/s");
    assert_eq!(hard["matrix"][1][0], "-k/s");
    let alone = "analysed separately, without the operating point of the model";
    refused("Hard", &["--equilibrium"], 1, alone);
    refused("Hard", &["--along", "1"], 1, alone);
    let ladder = json(&["terminals", file, "--component", "Ladder", "--set", "n=2"]);
    assert_eq!(ladder["matrix"][0][0], "1.5");
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

/// Tokad's equations 26 to 28: with the forces at the centre given instead of those at the contact, and the ring of equation 77.
#[test]
fn given_variables_are_chosen_port_by_port() {
    let file = "examples/seeds/rocking_pendulum.lgm";
    let find = |given: &str| json(&["terminals", file, "--component", "ideal", "--given", given]);
    let found = find("turn=across,centre=through");
    assert_eq!(
        found["given"],
        value!([
            "across(turn)",
            "through(centre)[1]",
            "through(centre)[2]",
            "across(point[1])[1]",
            "across(point[1])[2]"
        ])
    );
    // v_G = v_P + (l*cos(angle) - r, l*sin(angle))*omega, and the moment is the negative transpose of it.
    let values: Bindings = [("l", 0.61), ("r", 0.13), ("angle", 0.4)]
        .map(|(name, value)| (name.to_string(), value))
        .into();
    let entry = |row: usize, column: usize| evaluate(found["matrix"][row][column].as_str().unwrap(), &values);
    let arm = [0.61 * 0.4_f64.cos() - 0.13, 0.61 * 0.4_f64.sin()];
    for (at, arm) in arm.into_iter().enumerate() {
        assert!(
            (entry(1 + at, 0) - arm).abs() < 1e-12 && (entry(0, 1 + at) + arm).abs() < 1e-12,
            "{found}"
        );
        assert!(
            (entry(1 + at, 3 + at) - 1.0).abs() < 1e-12 && (entry(3 + at, 1 + at) + 1.0).abs() < 1e-12,
            "{found}"
        );
    }
    for (given, part) in [
        ("tern=across", "did you mean"),
        ("centre=across,point[1]=across,turn=across", "cannot all be given"),
        ("turn=sideways", "neither"),
    ] {
        let output = lgm(
            package(),
            &["terminals", file, "--component", "ideal", "--given", given],
        );
        assert!(
            !output.status.success() && err(&output).contains(part),
            "{given}: {}",
            err(&output)
        );
    }
}

#[test]
fn moduli_from_outside_stay_symbols() {
    let file = "examples/seeds/euler_gyrator_ring.lgm";
    let found = json(&["terminals", file, "--component", "ring"]);
    let values: Bindings = (1..=3)
        .flat_map(|axis| {
            [
                (format!("I{axis}{axis}"), 1.0 + axis as f64),
                (format!("across(w)[{axis}]"), 0.3 * axis as f64),
            ]
        })
        .collect();
    let text = |row: usize, column: usize| found["matrix"][row][column].as_str().unwrap().replace("across(w)", "w");
    let values: Bindings = values
        .into_iter()
        .map(|(name, value)| (name.replace("across(w)", "w"), value))
        .collect();
    let h = |axis: usize| (2.0 + axis as f64) * 0.3 * (1.0 + axis as f64);
    // M = H' omega with H' of equation 77.
    for (row, column, expected) in [
        (0, 1, h(2)),
        (0, 2, -h(1)),
        (1, 0, -h(2)),
        (1, 2, h(0)),
        (2, 0, h(1)),
        (2, 1, -h(0)),
    ] {
        assert!(
            (evaluate(&text(row, column), &values) - expected).abs() < 1e-12,
            "{found}"
        );
    }
    let output = lgm(package(), &["terminals", file, "--component", "ring", "--numeric"]);
    ends_with(&output, 1);
    assert!(err(&output).contains("has no value here"), "{}", err(&output));
    // The bar of the two discs contains the angle that modulates it.
    let bar = json(&["terminals", "examples/seeds/two_discs.lgm", "--component", "R"]);
    assert_eq!(bar["matrix"][0].as_array().map(Vec::len), Some(7));
}
