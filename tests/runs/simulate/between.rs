//! Samples and events between the ends of steps, if parts of the system are much faster than the steps.

use super::runs::{Rows, compile, finished};
use super::shapes::Shape;
use lgm::equations::StateSystem;
use lgm::simulate::{Method, Plan, Summary};
use num_complex::Complex64;
use std::f64::consts::PI;

/// The methods that cover ten decades of time constants; the explicit one cannot.
const STIFF: [Method; 4] = [Method::Auto, Method::Bdf, Method::Sdirk, Method::TrBdf2];

fn plan(method: Method, stop: f64, points: usize) -> Plan {
    Plan {
        method,
        stop,
        points,
        ..Plan::default()
    }
}

/// The largest error of an output over all samples.
fn worst(rows: &Rows, output: usize, exact: impl Fn(f64) -> f64) -> f64 {
    let pairs = rows.times.iter().zip(&rows.outputs);
    pairs
        .map(|(time, row)| (row[output] - exact(*time)).abs())
        .fold(0.0, f64::max)
}

/// `amplitude sin(omega t)` through a first-order lag, from rest.
fn lagging(amplitude: f64, omega: f64, lag: f64) -> impl Fn(f64) -> f64 {
    move |time| {
        let angle = omega * lag;
        let forced = (omega * time).sin() - angle * (omega * time).cos();
        amplitude * (forced + angle * (-time / lag).exp()) / (1.0 + angle * angle)
    }
}

#[test]
fn a_capacitor_of_picofarads_follows_its_source_between_steps() {
    let text = "model One {
  input u [V];
  node a, b : electrical;
  src : VoltageSource(u) a -> gnd;
  r   : Resistor(10) a -> b;
  c   : Capacitor(1e-12) b -> gnd;
  output z = across(b);
}";
    let (system, omega) = (compile(text), 2.0 * PI * 60.0);
    for method in STIFF {
        for points in [2, 8, 101, 501, 20_001] {
            let (rows, summary) = finished(&system, &[Shape::Sine(10.0, omega)], &plan(method, 0.1, points));
            let error = worst(&rows, 0, lagging(10.0, omega, 1e-11));
            assert!(error < 2e-4, "{} in {points} rows: {error:.1e}", method.word());
            // Samples cost no steps once the steps are as short as the source requires.
            let most = 600 + 12 * points.min(200) as u64;
            assert!(summary.steps < most, "{} in {points} rows: {summary:?}", method.word());
        }
    }
}

#[test]
fn an_inductor_of_nanohenries_beside_it_is_right_between_steps() {
    let text = "model One {
  input u [V];
  node a, m, b : electrical;
  src  : VoltageSource(u) a -> gnd;
  r    : Resistor(10) a -> m;
  l    : Inductor(1e-9) m -> b;
  c    : Capacitor(1e-12) b -> gnd;
  load : Resistor(1000) b -> gnd;
  output z = across(load);
}";
    let (system, omega) = (compile(text), 2.0 * PI * 60.0);
    // Initial vibrations decay within nanoseconds.
    let s = Complex64::new(0.0, omega);
    let load = Complex64::new(1.0, 0.0) / (1e-3 + 1e-12 * s);
    let gain = load / (load + 10.0 + 1e-9 * s);
    let exact = |time: f64| 10.0 * (gain * Complex64::new(0.0, omega * time).exp()).im;
    for method in STIFF {
        for points in [8, 501, 20_001] {
            let (rows, _) = finished(&system, &[Shape::Sine(10.0, omega)], &plan(method, 0.1, points));
            let error = worst(&rows, 0, exact);
            assert!(error < 2e-4, "{} in {points} rows: {error:.1e}", method.word());
        }
    }
}

#[test]
fn branches_with_time_constants_over_ten_decades_are_right_in_all_rows() {
    let branches: Vec<f64> = (0..11).map(|decade| 10f64.powi(2 - decade)).collect();
    let mut text = "model Bank { input u [V]; node s : electrical; src : VoltageSource(u) s -> gnd;\n".to_string();
    for (at, lag) in branches.iter().enumerate() {
        text += &format!(
            "node n{at} : electrical; r{at} : Resistor(1) s -> n{at}; c{at} : Capacitor({lag:e}) n{at} -> gnd; "
        );
        text += &format!("output y{at} = across(c{at});\n");
    }
    let (system, omega) = (compile(&(text + "}")), 3.0);
    for method in STIFF {
        for points in [4, 101, 20_001] {
            let (rows, summary) = finished(&system, &[Shape::Sine(1.0, omega)], &plan(method, 10.0, points));
            for (at, lag) in branches.iter().enumerate() {
                let error = worst(&rows, at, lagging(1.0, omega, *lag));
                assert!(
                    error < 5e-5,
                    "{} in {points} rows, {lag:e} s: {error:.1e}",
                    method.word()
                );
            }
            assert!(summary.steps < 6000, "{} in {points} rows: {summary:?}", method.word());
        }
    }
}

/// A ladder of resistors of 1 ohm and capacitors of these powers of ten, driven by `sin(2 pi t)`.
fn ladder(decades: [i32; 6]) -> StateSystem {
    let mut text =
        "model Ladder { input u [V]; node n[7] : electrical; src : VoltageSource(u) n[1] -> gnd;\n".to_string();
    for (at, decade) in decades.iter().enumerate() {
        let (from, to) = (at + 1, at + 2);
        text += &format!("r{at} : Resistor(1) n[{from}] -> n[{to}]; c{at} : Capacitor(1e{decade}) n[{to}] -> gnd;\n");
        text += &format!("output y{at} = across(c{at});\n");
    }
    compile(&(text + "}"))
}

#[test]
fn ladders_with_time_constants_over_ten_decades_agree_with_the_matrix_exponential() {
    // The matrix exponential with the sine as two more states, computed with 120 digits: at 0.05, 0.3, 1 and 2.15 s.
    #[rustfmt::skip]
    let cases: [([i32; 6], [[f64; 6]; 4]); 3] = [
        ([1, -1, -3, -5, -7, -9], [
            [0.000776507344657, 0.000114205476762, 0.000107820895113, 0.0001077570732, 0.000107756435046, 0.000107756428728],
            [0.0204772095805, 0.0121646917317, 0.0120816689013, 0.0120808386841, 0.0120808303827, 0.0120808303006],
            [-0.00153028820932, 0.00300386038433, 0.00304965506349, 0.00305011305514, 0.00305011763461, 0.00305011767995],
            [0.00370575074493, 0.000559188857096, 0.000528215167271, 0.000527905479873, 0.000527902383311, 0.000527902352652],
        ]),
        ([-9, -7, -5, -3, -1, 1], [
            [0.24937865974, 0.189740329975, 0.130102376893, 0.0704910477966, 0.0124376857572, 2.14096274222e-5],
            [0.790533686138, 0.63001085446, 0.469487912707, 0.308958167921, 0.148168371163, 0.00221330672513],
            [-0.014034376738, -0.0280687482882, -0.0421027106037, -0.0561067036252, -0.0682091686809, 0.000529364791362],
            [0.659894060666, 0.51077113008, 0.361648454743, 0.212545601063, 0.0648544366788, 0.000452183982296],
        ]),
        ([-5, 1, -9, -3, -7, -1], [
            [0.154687974112, 0.000388909569143, 0.000291394892398, 0.00019388022736, 0.000104356707849, 1.48336326567e-5],
            [0.480699522589, 0.0103330559536, 0.00833557724623, 0.00633809857892, 0.00437387434166, 0.00240965274924],
            [-0.000238529006854, -0.000445641184695, 0.00116794931992, 0.00278153982057, 0.00438701758286, 0.00599249413677],
            [0.405740509291, 0.00248269267629, 0.00294045615355, 0.00339821965983, 0.00387364430815, 0.00434906960181],
        ]),
    ];
    for (decades, exact) in cases {
        let system = ladder(decades);
        for method in STIFF {
            // Each of the four times is a sample.
            for points in [44, 43_001] {
                let (rows, _) = finished(&system, &[Shape::Sine(1.0, 2.0 * PI)], &plan(method, 2.15, points));
                for (time, exact) in [0.05, 0.3, 1.0, 2.15].into_iter().zip(&exact) {
                    let row = ((points - 1) as f64 * time / 2.15).round() as usize;
                    assert!(
                        (rows.times[row] - time).abs() < 1e-12,
                        "{} is no {time}",
                        rows.times[row]
                    );
                    for (found, exact) in rows.outputs[row].iter().zip(exact) {
                        let error = (found - exact).abs();
                        let word = method.word();
                        assert!(
                            error < 2e-5,
                            "{word}, {decades:?}, {points} rows, {time} s: {error:.1e}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn all_methods_agree_in_every_row_where_the_explicit_one_can_go() {
    // Rates from 1 to 3e4 1/s, one pair of them lightly damped.
    let text = "model Mixed {
  input u [V];
  node a, b, c, d : electrical;
  src : VoltageSource(u) a -> gnd;
  r1 : Resistor(1) a -> b;   c1 : Capacitor(1e-4) b -> gnd;
  l  : Inductor(1e-2) b -> c;  c2 : Capacitor(1e-3) c -> gnd;
  r2 : Resistor(100) c -> d;  c3 : Capacitor(1e-2) d -> gnd;
  output y1 = across(c1);  output y2 = across(c2);  output y3 = across(c3);
}";
    let system = compile(text);
    for points in [5, 301, 30_001] {
        let run = |method| finished(&system, &[Shape::Sine(1.0, 20.0)], &plan(method, 1.0, points)).0;
        let exact = run(Method::Tsit45);
        for method in STIFF {
            let rows = run(method);
            for (row, expected) in rows.outputs.iter().zip(&exact.outputs) {
                for (found, expected) in row.iter().zip(expected) {
                    let error = (found - expected).abs();
                    assert!(error < 1e-4, "{} in {points} rows: {error:.1e}", method.word());
                }
            }
        }
    }
}

fn events_of(text: &str, input: Shape, method: Method, stop: f64, points: usize) -> (Rows, Summary) {
    let plan = Plan {
        // The integral is zero until the first event, so it has no scale before.
        atol: Some(1e-9),
        ..plan(method, stop, points)
    };
    finished(&compile(text), &[input], &plan)
}

#[test]
fn conditions_on_what_follows_at_once_are_located_where_they_change() {
    // Only the switched integral depends on the crossing of 3 V by the voltage of the small capacitor.
    let text = "model Switched {
  input u [V];
  node a, b : electrical;
  src : VoltageSource(u) a -> gnd;
  r   : Resistor(10) a -> b;
  c   : Capacitor(1e-12) b -> gnd;
  state above = int(if across(c) > 3 then 1 else 0);
  output y = above;
}";
    // In each period it is above the level from asin(0.3) to pi - asin(0.3).
    let each = (PI - 2.0 * 0.3_f64.asin()) / (2.0 * PI);
    for method in STIFF {
        for points in [2, 2001] {
            let (rows, _) = events_of(text, Shape::Sine(10.0, 2.0 * PI), method, 4.0, points);
            let found = rows.outputs[points - 1][0];
            assert!(
                (found - 4.0 * each).abs() < 1e-4,
                "{} in {points} rows: {found}",
                method.word()
            );
        }
    }
}
