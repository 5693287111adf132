//! `examples/seeds` compared with the records of the thesis, at the records' parameters and at others.

use crate::support::linear::{Linear, assert_same_matrices, assert_same_poles, assert_same_response};
use crate::support::program::{self, example};
use crate::support::records::{Parameters, Record, drawn, number};
use nalgebra::DMatrix;
use num_complex::Complex64;

const TOLERANCE: f64 = 1e-9;

/// Other parameters of a record, with positions within the length.
fn other(record: &Record, fixed: &[&str], seed: u64) -> Parameters {
    let mut set = record.parameters();
    set.retain(|(name, _)| !fixed.contains(&name.as_str()));
    let mut set = drawn(&set, seed);
    if let Some(length) = set.iter().find(|entry| entry.0 == "L").map(|entry| number(&entry.1)) {
        for (name, value) in &mut set {
            if matches!(name.as_str(), "x1" | "x2") && number(value) > length {
                *value = (length * 0.875).into();
            }
        }
    }
    set
}

/// One model, its record, the parameters that are never set, and the record's name for each state of the model.
struct Case {
    file: &'static str,
    record: &'static str,
    fixed: &'static [&'static str],
    state: fn(&str) -> String,
    /// The response at other parameters, by the formulas of this file.
    reference: fn(&Parameters, f64) -> DMatrix<Complex64>,
}

/// `beam.v[2]` is `v2` in the record.
fn plain(name: &str) -> String {
    let (_, own) = name.split_once('.').unwrap();
    own.replace(['[', ']'], "").to_lowercase()
}

/// The modes of the pipes are numbered from 0 in the record.
fn pipe_pressure(name: &str) -> String {
    let own = plain(name);
    let k: usize = own[1..].parse().unwrap();
    format!("{}{}", if own.starts_with('q') { "q" } else { "pC" }, k - 1)
}

fn pipe_flow(name: &str) -> String {
    let own = plain(name);
    let k: usize = own[1..].parse().unwrap();
    format!("{}{}", if own.starts_with('q') { "qI" } else { "p" }, k - 1)
}

fn vector_bar(name: &str) -> String {
    let own = plain(name);
    format!("{}{}", if own.starts_with('f') { "f_k" } else { "v_m" }, &own[1..])
}

fn milling(name: &str) -> String {
    let k = name.trim_end_matches(']').rsplit('[').next().unwrap();
    match name.split('[').next().unwrap() {
        "vertical.v" => format!("v4_{k}"),
        "vertical.F" => format!("f3_{k}"),
        "horizontal.v" => format!("v16_{k}"),
        "horizontal.F" => format!("f15_{k}"),
        "spring1.F" => "f7".to_owned(),
        "spring2.F" => "f11".to_owned(),
        other => panic!("no state {other}"),
    }
}

fn value(parameters: &Parameters, name: &str) -> f64 {
    number(&parameters.iter().find(|entry| entry.0 == name).unwrap().1)
}

/// Mobilities `sum Y_i(x) Y_i(y) s/(k + b s + m s^2)` between positions.
pub fn mobility(modes: &[(f64, f64)], shapes: &[Vec<f64>], omega: f64) -> DMatrix<Complex64> {
    let s = Complex64::new(0.0, omega);
    let ports = shapes[0].len();
    let mut sum = DMatrix::from_element(ports, ports, Complex64::new(0.0, 0.0));
    for ((m, k), shape) in modes.iter().zip(shapes) {
        let one = s / (s * s * *m + *k);
        for row in 0..ports {
            for column in 0..ports {
                sum[(row, column)] += one * shape[row] * shape[column];
            }
        }
    }
    sum
}

fn bar(parameters: &Parameters, omega: f64) -> DMatrix<Complex64> {
    let [rho, a, e, l] = ["rho", "A", "E", "L"].map(|name| value(parameters, name));
    let m = rho * a * l / 2.0;
    let modes: Vec<(f64, f64)> = (1..=4)
        .map(|i| {
            (
                m,
                m * e / rho * (f64::from(2 * i - 1) * std::f64::consts::FRAC_PI_2 / l).powi(2),
            )
        })
        .collect();
    let shapes: Vec<Vec<f64>> = (1..=4).map(|i| vec![if i % 2 == 1 { 1.0 } else { -1.0 }]).collect();
    let v = mobility(&modes, &shapes, omega)[(0, 0)];
    DMatrix::from_row_slice(2, 1, &[v, v / Complex64::new(0.0, omega)])
}

fn bar_velocity(parameters: &Parameters, omega: f64) -> DMatrix<Complex64> {
    bar(parameters, omega).rows(0, 1).into_owned()
}

/// A root of the frequency equation with its cosh, by bisection: for low modes only.
pub fn halved(f: impl Fn(f64) -> f64, mut a: f64, mut b: f64) -> f64 {
    for _ in 0..200 {
        let middle = (a + b) / 2.0;
        if (f(a) < 0.0) == (f(middle) < 0.0) {
            a = middle;
        } else {
            b = middle;
        }
    }
    (a + b) / 2.0
}

/// Mass ratio to `rho A L`, root and shape of a mode, with cosh and sinh as in textbooks.
pub fn beam_mode(kind: &str, i: usize, xi: f64) -> (f64, f64, f64) {
    let pi = std::f64::consts::PI;
    let textbook = |z: f64, end: f64, sign: f64| {
        let sigma = (z.cosh() + end * z.cos()) / (z.sinh() + end * z.sin());
        let t = z * xi;
        t.cosh() + sign * t.cos() - sigma * (t.sinh() + sign * t.sin())
    };
    match kind {
        "pinned" => (0.5, i as f64 * pi, (i as f64 * pi * xi).sin()),
        "cantilever" => {
            let z = halved(|z| z.cos() * z.cosh() + 1.0, (i as f64 - 1.0) * pi, i as f64 * pi);
            (1.0, z, textbook(z, 1.0, -1.0))
        }
        "clamped" => {
            let z = halved(|z| z.cos() * z.cosh() - 1.0, i as f64 * pi, (i as f64 + 1.0) * pi);
            (1.0, z, textbook(z, -1.0, -1.0))
        }
        _ if i == 1 => (1.0, 0.0, 1.0),
        _ if i == 2 => (1.0 / 3.0, 0.0, 1.0 - 2.0 * xi),
        _ => {
            let n = i as f64 - 2.0;
            let z = halved(|z| z.cos() * z.cosh() - 1.0, n * pi, (n + 1.0) * pi);
            (1.0, z, textbook(z, -1.0, 1.0))
        }
    }
}

fn beam(kind: &str, count: usize, parameters: &Parameters, omega: f64) -> DMatrix<Complex64> {
    let [rho, a, e, i, l] = ["rho", "A", "E", "I", "L"].map(|name| value(parameters, name));
    let positions = ["x1", "x2"].map(|name| value(parameters, name) / l);
    let mut modes = Vec::new();
    let mut shapes = Vec::new();
    for k in 1..=count {
        let (ratio, z, _) = beam_mode(kind, k, 0.0);
        let m = ratio * rho * a * l;
        modes.push((m, m * e * i / (rho * a) * (z / l).powi(4)));
        shapes.push(positions.iter().map(|xi| beam_mode(kind, k, *xi).2).collect());
    }
    mobility(&modes, &shapes, omega)
}

/// Series circuits of `I`, `R = B I` and `C`, driven by `P0` and minus `Pl`.
fn pressure(parameters: &Parameters, omega: f64) -> DMatrix<Complex64> {
    let [rho, a, area, l, b] = ["rho", "a", "A", "L", "B"].map(|name| value(parameters, name));
    let s = Complex64::new(0.0, omega);
    let mut sum = DMatrix::from_element(2, 2, Complex64::new(0.0, 0.0));
    for i in 0..=4 {
        let inertance = rho * l / area / if i == 0 { 1.0 } else { 2.0 };
        let wave = f64::from(i) * std::f64::consts::PI / l;
        let admittance = 1.0 / (s * inertance + b * inertance + inertance * (a * wave).powi(2) / s);
        let end = if i % 2 == 0 { 1.0 } else { -1.0 };
        for (row, here) in [1.0, end].into_iter().enumerate() {
            sum[(row, 0)] += admittance * here;
            sum[(row, 1)] -= admittance * here * end;
        }
    }
    sum
}

/// Tanks `C` in parallel with `I` and `R = B I` in series.
fn flow(parameters: &Parameters, omega: f64) -> DMatrix<Complex64> {
    let [rho, a, area, l, b] = ["rho", "a", "A", "L", "B"].map(|name| value(parameters, name));
    let s = Complex64::new(0.0, omega);
    let mut sum = DMatrix::from_element(2, 2, Complex64::new(0.0, 0.0));
    for i in 0..=4 {
        let capacity = area * l / (rho * a * a) / if i == 0 { 1.0 } else { 2.0 };
        let wave = f64::from(i) * std::f64::consts::PI / l;
        let mut admittance = s * capacity;
        if i > 0 {
            let inertance = 1.0 / (capacity * (a * wave).powi(2));
            admittance += 1.0 / (inertance * (s + b));
        }
        let end = if i % 2 == 0 { 1.0 } else { -1.0 };
        for (row, here) in [1.0, end].into_iter().enumerate() {
            for (column, there) in [1.0, end].into_iter().enumerate() {
                sum[(row, column)] += here * there / admittance;
            }
        }
    }
    sum
}

fn list(parameters: &Parameters, name: &str) -> Vec<f64> {
    let found = &parameters.iter().find(|entry| entry.0 == name).unwrap().1;
    found.as_array().unwrap().iter().map(number).collect()
}

fn two_ports(parameters: &Parameters, omega: f64) -> DMatrix<Complex64> {
    let modes: Vec<(f64, f64)> = list(parameters, "M_diag")
        .into_iter()
        .zip(list(parameters, "K_diag"))
        .collect();
    let rows = &parameters.iter().find(|entry| entry.0 == "R").unwrap().1;
    let shapes: Vec<Vec<f64>> = rows
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row.as_array().unwrap().iter().map(number).collect())
        .collect();
    mobility(&modes, &shapes, omega)
}

/// The impedance at the port, and the share of the third mode in the motion.
fn velocity_driven(parameters: &Parameters, omega: f64) -> DMatrix<Complex64> {
    let (m, k, r) = (
        list(parameters, "M_diag"),
        list(parameters, "K_diag"),
        list(parameters, "r"),
    );
    let s = Complex64::new(0.0, omega);
    let one = |i: usize| r[i] * s / (s * s * m[i] + k[i]);
    let whole: Complex64 = (0..3).map(|i| one(i) * r[i]).sum();
    DMatrix::from_row_slice(2, 1, &[whole.inv(), one(2) / whole])
}

/// The two beams as mobilities, coupled by hand.
fn milling_machine(parameters: &Parameters, omega: f64) -> DMatrix<Complex64> {
    let get = |name: &str| value(parameters, name);
    let cantilever = |mass: f64, stiffness: f64, l: f64, count: usize, positions: &[f64]| {
        let (mut modes, mut shapes) = (Vec::new(), Vec::new());
        for i in 1..=count {
            let (_, z, _) = beam_mode("cantilever", i, 0.0);
            modes.push((mass * l, mass * l * stiffness / mass * (z / l).powi(4)));
            shapes.push(positions.iter().map(|x| beam_mode("cantilever", i, x / l).2).collect());
        }
        mobility(&modes, &shapes, omega)
    };
    let l = get("L");
    let first = cantilever(get("rhoA"), get("EI"), l, get("n") as usize, &[get("x1"), get("x2"), l]);
    let second = cantilever(get("rhoA2"), get("EI2"), get("L2"), get("m") as usize, &[get("L2")]);
    let s = Complex64::new(0.0, omega);
    let (held, joint) = (get("b1") + get("k1") / s, get("b2") + get("k2") / s);
    // v = first * (1, -held*v2, -f), v' = second*f, f = joint*(v3 - v').
    let zero = Complex64::new(0.0, 0.0);
    let one = Complex64::new(1.0, 0.0);
    let second = second[(0, 0)];
    let matrix = DMatrix::from_row_slice(
        5,
        5,
        &[
            one,
            held * first[(0, 1)],
            zero,
            zero,
            first[(0, 2)],
            zero,
            one + held * first[(1, 1)],
            zero,
            zero,
            first[(1, 2)],
            zero,
            held * first[(2, 1)],
            one,
            zero,
            first[(2, 2)],
            zero,
            zero,
            zero,
            one,
            -second,
            zero,
            zero,
            -joint,
            joint,
            one,
        ],
    );
    let right = DMatrix::from_row_slice(5, 1, &[first[(0, 0)], first[(1, 0)], first[(2, 0)], zero, zero]);
    matrix.lu().solve(&right).unwrap().rows(0, 4).into_owned()
}

const CASES: &[Case] = &[
    Case {
        file: "bar_modal",
        record: "bar_modal",
        fixed: &["n_modes", "m_n", "k_n", "Y_n_at_L"],
        state: plain,
        reference: bar,
    },
    Case {
        file: "bar_vlg",
        record: "bar_vlg",
        fixed: &["n_modes", "M_diag", "K_diag", "r"],
        state: vector_bar,
        reference: bar_velocity,
    },
    Case {
        file: "beam_pinned_pinned",
        record: "beam_pinned_pinned",
        fixed: &["n_modes"],
        state: plain,
        reference: |parameters, omega| beam("pinned", 4, parameters, omega),
    },
    Case {
        file: "beam_cantilever",
        record: "beam_cantilever",
        fixed: &["n_modes"],
        state: plain,
        reference: |parameters, omega| beam("cantilever", 4, parameters, omega),
    },
    Case {
        file: "beam_free_free",
        record: "beam_free_free",
        fixed: &["n_modes"],
        state: plain,
        reference: |parameters, omega| beam("free", 5, parameters, omega),
    },
    Case {
        file: "pipeline_pressure_causality",
        record: "pipeline_pressure_causality",
        fixed: &["n_modes"],
        state: pipe_pressure,
        reference: pressure,
    },
    Case {
        file: "pipeline_flow_causality",
        record: "pipeline_flow_causality",
        fixed: &["n_modes"],
        state: pipe_flow,
        reference: flow,
    },
    Case {
        file: "dp_element_2port",
        record: "dp_element_2port",
        fixed: &[],
        state: plain,
        reference: two_ports,
    },
    Case {
        file: "milling_machine",
        record: "milling_machine",
        fixed: &["n", "m"],
        state: milling,
        reference: milling_machine,
    },
];

fn seed(name: &str) -> std::path::PathBuf {
    example(&format!("seeds/{name}.lgm"))
}

/// The system in terms of the states of the record.
fn renamed(case: &Case, found: &Linear, record: &Linear) -> Linear {
    let names: Vec<String> = found.states.iter().map(|name| (case.state)(name)).collect();
    let places: Vec<(usize, f64)> = record
        .states
        .iter()
        .map(|name| {
            let at = names.iter().position(|other| other == name);
            (
                at.unwrap_or_else(|| panic!("{}: no state {name} in {names:?}", case.file)),
                1.0,
            )
        })
        .collect();
    assert_eq!(places.len(), found.states.len(), "{}", case.file);
    found.over(&places)
}

#[test]
fn models_agree_with_the_records() {
    for case in CASES {
        let record = Record::load(case.record);
        let found = program::numeric(&seed(case.file), &Vec::new());
        let linear = record.linear();
        assert_eq!(found.inputs.len(), linear.inputs.len(), "{}", case.file);
        assert_eq!(found.outputs.len(), linear.outputs.len(), "{}", case.file);
        assert_same_matrices(case.file, &renamed(case, &found, &linear), &linear, TOLERANCE);
        assert_same_poles(case.file, &found.poles(), &record.poles(), TOLERANCE);
        for (index, omega) in record.frequencies().into_iter().enumerate() {
            let what = format!("{}, omega = {omega}", case.file);
            assert_same_response(&what, &found.response(omega), &record.response(index), TOLERANCE);
            // The formulas of this file agree with those of the record.
            let reference = (case.reference)(&record.parameters(), omega);
            assert_same_response(&what, &reference, &record.response(index), TOLERANCE);
        }
    }
}

#[test]
fn models_agree_with_the_formulas_at_other_parameters() {
    for case in CASES {
        let record = Record::load(case.record);
        for seed_value in 1..=2 {
            let set = other(&record, case.fixed, seed_value);
            let found = program::numeric(&seed(case.file), &set);
            let own = record.parameters().into_iter();
            let mut all: Parameters = own.filter(|(name, _)| case.fixed.contains(&name.as_str())).collect();
            all.extend(set);
            for omega in record.frequencies() {
                let what = format!("{}, set {seed_value}, omega = {omega}", case.file);
                assert_same_response(&what, &found.response(omega), &(case.reference)(&all, omega), TOLERANCE);
            }
        }
    }
}

/// The choice of the dependent modal mass is free, so only quantities independent of it are compared.
#[test]
fn a_velocity_at_a_port_gives_the_record() {
    let record = Record::load("dp_element_velocity_driven");
    let found = program::numeric(&seed("dp_element_velocity_driven"), &Vec::new());
    assert_eq!(found.states.len(), 5);
    assert_same_poles("velocity driven", &found.poles(), &record.poles(), TOLERANCE);
    for (index, omega) in record.frequencies().into_iter().enumerate() {
        let what = format!("velocity driven, omega = {omega}");
        assert_same_response(&what, &found.response(omega), &record.response(index), TOLERANCE);
        let reference = velocity_driven(&record.parameters(), omega);
        assert_same_response(&what, &reference, &record.response(index), TOLERANCE);
    }
}

#[test]
fn the_milling_machine_is_one_machine_in_three_forms() {
    let record = Record::load("milling_machine");
    let mut sets = vec![Vec::new()];
    let mut larger = other(&record, &["n", "m"], 7);
    larger.push(("n".to_owned(), 5.into()));
    larger.push(("m".to_owned(), 4.into()));
    sets.push(larger);
    for set in sets {
        let forms = ["milling_machine", "milling_machine_vector", "milling_machine_scalar"];
        let forms = forms.map(|name| program::numeric(&seed(name), &set));
        for omega in record.frequencies() {
            let first = forms[0].response(omega);
            for form in &forms[1..] {
                assert_same_response("milling machine", &form.response(omega), &first, TOLERANCE);
            }
        }
        for form in &forms[1..] {
            assert_same_poles("milling machine", &form.poles(), &forms[0].poles(), TOLERANCE);
        }
    }
}

/// The curves of Fig. 4-5: the steady amplitudes of the record, and the exact one with the residual.
#[test]
fn few_modes_of_a_slow_bar_miss_part_of_the_static_compliance() {
    let record = Record::load("bar_fig4_5");
    let amplitudes = &record.json["steady_state_amplitude"];
    let found = program::numeric(&seed("bar_fig4_5"), &Vec::new());
    let response = found.response(2.0 * std::f64::consts::PI);
    for n in [1, 2, 3, 4, 5, 10] {
        let expected = number(&amplitudes["by_modes"][n.to_string()]);
        let value = response[(n - 1, 0)].norm();
        assert!(
            (value - expected).abs() <= TOLERANCE * expected,
            "{n} modes: {value}, not {expected}"
        );
    }
    let exact = number(&amplitudes["exact"]);
    let whole = response[(10, 0)].norm();
    assert!((whole - exact).abs() <= 1e-10 * exact, "{whole}, not {exact}");
}

/// The truncated sum lacks the contribution of the omitted modes, which decreases as the cube of their number for
/// mobilities of a beam (`sum 1/i^4`): twice as many modes leave an eighth.
#[test]
fn modal_sums_tend_to_the_exact_solutions() {
    for (file, record, first, factor) in [
        ("beam_pinned_pinned", "beam_pinned_pinned", 10, 6.0),
        ("beam_cantilever", "beam_cantilever", 10, 6.0),
        ("beam_free_free", "beam_free_free", 12, 5.5),
        ("pipeline_pressure_causality", "pipeline_pressure_causality", 10, 1.7),
        ("pipeline_flow_causality", "pipeline_flow_causality", 10, 1.7),
    ] {
        let record = Record::load(record);
        let Some(entries) = record.json["exact_pde_transfer"].as_array() else {
            panic!("{file} has no exact solution")
        };
        let error = |n: usize| -> f64 {
            let set = vec![("n_modes".to_owned(), n.into())];
            let found = program::numeric(&seed(file), &set);
            let (inputs, outputs) = (found.inputs.len(), found.outputs.len());
            assert_eq!(entries.len(), inputs * outputs);
            // The record lists every output for each input, or the reverse, by name.
            let linear = record.linear();
            let mut worst: f64 = 0.0;
            let omega = &entries[0]["omega"];
            for (at, omega) in omega.as_array().unwrap().iter().map(number).enumerate().take(3) {
                let response = found.response(omega);
                for entry in entries {
                    let place = |names: &[String], key: &str| {
                        names.iter().position(|name| name == entry[key].as_str().unwrap())
                    };
                    let row = place(&linear.outputs, "output").unwrap();
                    let column = place(&linear.inputs, "input").unwrap();
                    let exact = Complex64::new(number(&entry["re"][at]), number(&entry["im"][at]));
                    worst = worst.max((response[(row, column)] - exact).norm());
                }
            }
            worst
        };
        let errors = [error(first), error(2 * first), error(4 * first)];
        for pair in errors.windows(2) {
            assert!(pair[0] > factor * pair[1], "{file}: errors {errors:?}");
        }
    }
}
