//! Results that do not depend on units: the tolerance of a state near zero follows its own scale.

use super::runs::compile;
use crate::support::emitted::WAITING;
use crate::support::program::example;
use lgm::equations::{Options, StateRequest, StateSystem};
use lgm::kernels::{KernelOptions, Kernels};
use lgm::simulate::{Inputs, Method, Plan, Silent, Simulator};
use lgm::source::SourceMap;

/// The samples of a run with the model's inputs: times and outputs; and the number of steps.
fn rows(system: &StateSystem, plan: &Plan) -> (Vec<(f64, Vec<f64>)>, u64) {
    let kernels = Kernels::new(system, &KernelOptions::default());
    let parameters = kernels.parameters(&[]);
    let none = system.inputs.iter().map(|_| None).collect();
    let inputs = Inputs::new(system, &kernels, &parameters, none, plan.start);
    let mut rows = Vec::new();
    let mut sink = |time: f64, outputs: &[f64], _: &[f64]| rows.push((time, outputs.to_vec()));
    let simulator = Simulator::new(system, &kernels);
    let summary = simulator.run(&parameters, &inputs, plan, &mut sink, &Silent);
    let summary = summary.unwrap_or_else(|failure| panic!("{}: {failure:?}", system.model));
    (rows, summary.steps)
}

fn plan(stop: f64, points: usize, method: Method) -> Plan {
    Plan {
        stop,
        points,
        method,
        ..Plan::default()
    }
}

fn largest(rows: &[(f64, Vec<f64>)]) -> f64 {
    rows.iter()
        .flat_map(|row| &row.1)
        .fold(0.0, |most: f64, value| most.max(value.abs()))
}

fn difference(a: &[(f64, Vec<f64>)], b: &[(f64, Vec<f64>)]) -> f64 {
    assert_eq!(a.len(), b.len());
    let values = a.iter().zip(b).flat_map(|(a, b)| a.1.iter().zip(&b.1));
    values.fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()))
}

#[test]
fn a_charge_far_below_the_unit_is_right() {
    // 1 mA steps into 1 pF, 1 nH and 1 kohm in parallel.
    let system = compile(
        "model Lc { input j = 1e-3*step(0); zero n; SF : Sf(j); c : C(1e-12); l : I(1e-9); r : R(1e3); \
         SF -> n -> c; n -> l; n -> r; output v = effort(n); }",
    );
    let (damping, natural) = (5e8_f64, 1.0 / 1e-21_f64.sqrt());
    let damped = (natural * natural - damping * damping).sqrt();
    let peak = 1e-3 / (1e-12 * damped);
    for (method, allowed) in [
        (Method::Auto, 1e-4),
        (Method::Tsit45, 1e-4),
        (Method::Bdf, 1e-2),
        (Method::Sdirk, 1e-2),
        (Method::TrBdf2, 1e-2),
    ] {
        let (rows, _) = rows(&system, &plan(2e-8, 201, method));
        for (time, values) in rows {
            let exact = peak * (-damping * time).exp() * (damped * time).sin();
            assert!(
                (values[0] - exact).abs() < allowed * peak,
                "{method:?} at {time}: {} and not {exact}",
                values[0]
            );
        }
    }
}

/// A random generator for the tests, so that the networks are the same on every machine.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number around a magnitude, within a factor of two.
    fn around(&mut self, size: f64) -> f64 {
        size * (2.0 * self.next() - 1.0).exp2()
    }
}

/// A ladder of sections with losses; the unit of flows is divided by `unit`.
fn ladder(seed: u64, unit: f64) -> String {
    let mut dice = Dice(seed);
    let sections = 1 + (dice.next() * 4.0) as usize;
    let mut text = format!(
        "model Ladder {{ input u = {:?}*sin({:?}*time) + 1; zero n0; ",
        dice.around(2.0),
        dice.around(3.0)
    );
    text += &format!(
        "src : Se(u); one first; rs : R({:?}); src -> first; first -> rs; first -> n0; ",
        dice.around(1.0) / unit
    );
    text += &format!("c0 : C({:?}); n0 -> c0; ", dice.around(1.0) * unit);
    for k in 1..=sections {
        let (resistance, inertia, capacity) = (dice.around(0.3), dice.around(0.5), dice.around(0.2));
        text += &format!("one b{k}; zero n{k}; n{} -> b{k}; b{k} -> n{k}; ", k - 1);
        text += &format!(
            "r{k} : R({:?}); b{k} -> r{k}; i{k} : I({:?}); b{k} -> i{k}; ",
            resistance / unit,
            inertia / unit
        );
        text += &format!("c{k} : C({:?}); n{k} -> c{k}; ", capacity * unit);
    }
    text += &format!(
        "load : R({:?}); n{sections} -> load; output y = effort(n{sections}); }}",
        dice.around(5.0) / unit
    );
    text
}

#[test]
fn other_units_change_no_digit() {
    let mut apart = Vec::new();
    for seed in 1..=25 {
        let once = compile(&ladder(seed, 1.0));
        for unit in [1e-12, 1e9] {
            let other = compile(&ladder(seed, unit));
            for method in [Method::Tsit45, Method::Auto, Method::Bdf, Method::Sdirk, Method::TrBdf2] {
                let asked = plan(6.0, 61, method);
                apart.push(share(&rows(&once, &asked).0, &rows(&other, &asked).0, method));
            }
        }
    }
    assert_same_digits(apart);
}

#[test]
fn energy_variables_give_the_digits_of_power_variables() {
    let mut apart = Vec::new();
    for seed in 1..=25 {
        let text = ladder(seed, 1e-9);
        let of = |states: StateRequest| {
            let mut map = SourceMap::default();
            let root = map.add("model.lgm", text.as_str(), None);
            let request = lgm::Request {
                equations: Options {
                    states,
                    ..Options::default()
                },
                ..lgm::Request::default()
            };
            let (system, _) = lgm::compile(&super::runs::BesideExamples, &mut map, root, &request);
            system.expect("the ladder compiles")
        };
        let (energy, power) = (of(StateRequest::Energy), of(StateRequest::Power));
        for method in [Method::Tsit45, Method::Bdf, Method::Sdirk] {
            let asked = plan(6.0, 61, method);
            apart.push(share(&rows(&energy, &asked).0, &rows(&power, &asked).0, method));
        }
    }
    assert_same_digits(apart);
}

/// The largest difference of two runs relative to the largest value; for an explicit method it is round-off.
fn share(a: &[(f64, Vec<f64>)], b: &[(f64, Vec<f64>)], method: Method) -> f64 {
    let apart = difference(a, b) / largest(a);
    assert!(method != Method::Tsit45 || apart < 1e-9, "{apart:e}");
    apart
}

/// Round-off differs between units. If the error estimate of a step equals the tolerance to the last digit, another
/// step size may be chosen, or a step that ends at a sample. This changes a result by at most some tens of tolerances.
/// Most results are identical.
fn assert_same_digits(mut apart: Vec<f64>) {
    apart.sort_by(f64::total_cmp);
    assert!(apart[apart.len() - 1] < 3e-5, "{:e}", apart[apart.len() - 1]);
    let most = apart[apart.len() / 2];
    assert!(most < 1e-9, "half of the runs differ by {most:e}");
}

#[test]
fn a_state_that_has_not_begun_holds_nobody_up() {
    // The far end of a long line is practically at rest for most of the run.
    let text = "model Line { const N = 200; input u [V] = 1; node n[N + 1] : electrical; src : VoltageSource(u) n[1] -> gnd; \
                for i in 1:N { r[i] : Resistor(1) n[i] -> n[i + 1]; c[i] : Capacitor(1e-12) n[i + 1] -> gnd; } \
                output y = across(c[3]); output z = across(c[200]); }";
    let system = compile(text);
    let scaled = rows(&system, &plan(1e-9, 11, Method::Tsit45));
    let fixed = Plan {
        atol: Some(1e-9),
        ..plan(1e-9, 11, Method::Tsit45)
    };
    let fixed = rows(&system, &fixed);
    assert!(
        scaled.1 < 2 * fixed.1,
        "{} steps, and {} with 1e-9 V for all",
        scaled.1,
        fixed.1
    );
    assert!(difference(&scaled.0, &fixed.0) < 1e-5);
}

#[test]
fn a_nominal_value_is_the_scale_of_a_state() {
    let text = |nominal: &str| {
        format!(
            "model Two {{ node a : electrical; r : Resistor(1) a -> gnd; c : Capacitor(1) a -> gnd, start = 1{nominal}; \
             state q = int(across(c)), start = 0{nominal_q}; output v = across(c); output w = q; }}",
            nominal_q = nominal.replace("[V]", "[V.s]")
        )
    };
    let steps = |nominal: &str| rows(&compile(&text(nominal)), &plan(40.0, 11, Method::Tsit45)).1;
    let (own, coarse, fine) = (steps(""), steps(", nominal = 1e6 [V]"), steps(", nominal = 1e-6 [V]"));
    assert!(coarse < own && own < fine, "{coarse} < {own} < {fine}");
    // It may depend on parameters.
    let by_parameter = "model P { param size = 1e6 [V]; node a : electrical; r : Resistor(1) a -> gnd; \
                        c : Capacitor(1) a -> gnd, start = 1, nominal = size; output v = across(c); }";
    assert!(rows(&compile(by_parameter), &plan(40.0, 11, Method::Tsit45)).1 <= coarse);
}

#[test]
fn a_nominal_value_has_the_unit_of_its_state() {
    let text = "model P { node a : electrical; r : Resistor(1) a -> gnd; c : Capacitor(1) a -> gnd, nominal = 1 [A]; \
                output v = across(c); }";
    let mut map = SourceMap::default();
    let root = map.add("model.lgm", text, None);
    let (_, diagnostics) = lgm::compile(&super::runs::BesideExamples, &mut map, root, &lgm::Request::default());
    assert!(
        diagnostics.iter().any(|found| found.code == "LGM0201"),
        "{diagnostics:?}"
    );
}

/// The states before the release define no step size that is small enough for an integral without a scale.
#[test]
fn an_integral_that_waits_is_released_by_every_method() {
    let system = compile(WAITING);
    for (method, _) in Method::ALL {
        // The order of TR-BDF2 is 2.
        let (rtols, share): (&[f64], f64) = match method {
            Method::TrBdf2 => (&[1e-6, 1e-9], 1e3),
            _ => (&[1e-6, 1e-9, 1e-12, 1e-13], 30.0),
        };
        for rtol in rtols {
            let asked = Plan {
                rtol: *rtol,
                ..plan(3.0, 31, method)
            };
            for (time, outputs) in rows(&system, &asked).0 {
                let exact = 5.0 * (time - 2.0_f64.ln()).max(0.0);
                let error = (outputs[0] - exact).abs();
                assert!(
                    error < 12.0 * share * rtol.max(1e-12),
                    "{method:?} at {rtol:e}: {error:e} at {time}"
                );
            }
        }
    }
    let drive = compile(&std::fs::read_to_string(example("motor_drive.lgm")).unwrap());
    for (method, _) in Method::ALL {
        let found = rows(&drive, &plan(1.6, 2, method)).0;
        let speed = found[1].1[0];
        assert!((speed - 199.986_527_22).abs() < 1e-3, "{method:?}: {speed}");
    }
}

/// A characteristic that starts far from its value begins with a rate of 1e22, which vanishes immediately: no state is
/// expected to move that far.
#[test]
fn a_rate_that_is_gone_at_once_gives_no_scale() {
    let system = compile(
        "element Exponential(f, s) { through = f*(exp(across/s) - 1); }
        model M { node n : electrical; c : Capacitor(0.02) n -> gnd, start = 15;
        e : Exponential(4, 0.3) n -> gnd; output y = across(c); }",
    );
    for method in [Method::Auto, Method::Bdf, Method::Sdirk, Method::TrBdf2] {
        let rows = rows(&system, &plan(1e-2, 5, method)).0;
        // Near 0 it is a decay with the rate 4/0.3/0.02 1/s: a fifth remains after 2.5 ms.
        let last: Vec<f64> = rows[1..].iter().map(|row| row.1[0]).collect();
        assert!(
            last.windows(2).all(|pair| pair[1].abs() < 0.3 * pair[0].abs()),
            "{method:?}: {last:?}"
        );
        assert!(last[0] > 0.0 && last[3] > 0.0 && last[0] < 0.3, "{method:?}: {last:?}");
    }
}

/// `x' = -x + u` with one narrow pulse in `u`.
fn pulse(at: f64, width: f64, law: &str) -> String {
    format!(
        "model P {{ input u [V] = exp(-((time - {at:?})/{width:?})^2); node a : electrical; node b : electrical; \
         s : VoltageSource(u) a -> gnd; r : {law} a -> b; c : Capacitor(1) b -> gnd; output v = across(c); }}"
    )
}

#[test]
fn a_narrow_pulse_is_met_by_every_method() {
    let mut dice = Dice(7);
    for trial in 0..12 {
        let (at, width) = (1.0 + 7.0 * dice.next(), 10_f64.powf(-1.0 - 6.0 * dice.next()));
        let system = compile(&pulse(at, width, "Resistor(1)"));
        for (method, allowed) in [
            (Method::Auto, 1e-4),
            (Method::Tsit45, 1e-4),
            (Method::Bdf, 1e-3),
            (Method::Sdirk, 1e-3),
            (Method::TrBdf2, 1e-3),
        ] {
            let (rows, _) = rows(&system, &plan(10.0, 2, method));
            let exact = std::f64::consts::PI.sqrt() * width * (at - 10.0 + width * width / 4.0).exp();
            let found = rows[1].1[0];
            assert!(
                (found - exact).abs() < allowed * exact,
                "{trial}, {method:?}: a pulse of {width:e} s at {at} s leaves {found:e} and not {exact:e}"
            );
        }
    }
}

/// At any position between the first sample instants, also combined with ramps and between many steps of another
/// signal.
#[test]
fn a_narrow_pulse_is_met_wherever_it_is() {
    let steps: String = (1..=40)
        .map(|k| format!(" + step({:?})", f64::from(k) / 43.0))
        .collect();
    for (beside, integral) in [
        ("0", 0.0),
        ("ramp(0.1) - ramp(0.7) + ramp(0.95)", 0.405 - 0.045 + 0.00125),
        (
            steps.trim_start_matches(" + "),
            (1..=40).map(|k| 1.0 - f64::from(k) / 43.0).sum(),
        ),
    ] {
        for (at, width) in (0..60).map(|k| (0.11 + 0.013 * f64::from(k), [1e-2, 2e-3, 1e-4][k as usize % 3])) {
            let text = format!(
                "model P {{ input u = exp(-((time - {at:?})/{width:?})^2)/{width:?}; input w = {beside};
                state x = int(u); state y = int(w); output a = x; output b = y; }}"
            );
            let system = compile(&text);
            let (rows, _) = rows(&system, &plan(1.0, 2, Method::Auto));
            let [a, b] = [rows[1].1[0], rows[1].1[1]];
            assert!(
                (a - std::f64::consts::PI.sqrt()).abs() < 1e-4,
                "{a} {at} {width} {beside}"
            );
            assert!((b - integral).abs() < 1e-4, "{b} {integral}: {beside}");
        }
    }
}

#[test]
fn a_narrow_pulse_beside_a_slow_signal_is_met() {
    let text = "model P { input u = sin(time) + 0.1*exp(-((time - 5)/1e-3)^2); state x = int(u); output y = x; }";
    let (rows, _) = rows(&compile(text), &plan(10.0, 2, Method::Auto));
    let exact = 1.0 - 10_f64.cos() + 1e-4 * std::f64::consts::PI.sqrt();
    assert!((rows[1].1[0] - exact).abs() < 2e-6, "{} and not {exact}", rows[1].1[0]);
}

#[test]
fn a_narrow_pulse_in_a_nonlinear_system_is_met() {
    let text = "import nonlinear; model P { param m = 1 [kg]; param k = 1 [N/m]; param h = 1 [N/m^3]; \
                input f [N] = 1e3*exp(-((time - 3.3)/1e-4)^2); node x : translational; push : ForceSource(f) gnd -> x; \
                mass : Mass(m) x -> gnd; spring : HardSpring(k, h) x -> gnd; output v = across(mass); \
                output e = int(power(push)); }";
    let system = compile(text);
    for method in [Method::Auto, Method::Tsit45, Method::Bdf, Method::Sdirk] {
        let (rows, _) = rows(&system, &plan(4.0, 2, method));
        // The pulse gives a momentum of 1e-1 sqrt(pi), and half its square as energy.
        let momentum = 0.1 * std::f64::consts::PI.sqrt();
        let energy = 0.5 * momentum * momentum;
        assert!(
            (rows[1].1[1].abs() / energy - 1.0).abs() < 1e-3,
            "{method:?}: {} and not {energy}",
            rows[1].1[1]
        );
    }
}

/// A chain of capacitors and resistors with or without a load at its end.
fn chain(count: usize, load: &str) -> String {
    format!(
        "model Ladder {{ const N = {count}; input u [V] = 1; node n[N + 1] : electrical; src : VoltageSource(u) n[1] -> gnd; \
         for i in 1:N {{ r[i] : Resistor(1) n[i] -> n[i + 1]; c[i] : Capacitor(1e-6) n[i + 1] -> gnd; }} {load} \
         output y = across(c[N]); output m = across(c[2]); }}"
    )
}

fn at_rest(text: &str) -> (Vec<f64>, usize) {
    let system = compile(text);
    let kernels = Kernels::new(&system, &KernelOptions::default());
    let parameters = kernels.parameters(&[]);
    let none = system.inputs.iter().map(|_| None).collect();
    let inputs = Inputs::new(&system, &kernels, &parameters, none, 0.0);
    let mut first = Vec::new();
    let mut sink = |_: f64, outputs: &[f64], _: &[f64]| first = outputs.to_vec();
    let asked = Plan {
        stop: 0.0,
        points: 1,
        from_equilibrium: true,
        ..Plan::default()
    };
    let simulator = Simulator::new(&system, &kernels);
    let summary = simulator.run(&parameters, &inputs, &asked, &mut sink, &Silent);
    let summary = summary.unwrap_or_else(|failure| panic!("{failure:?}"));
    (first, summary.notes.len())
}

#[test]
fn large_systems_begin_at_rest() {
    let (found, notes) = at_rest(&chain(3000, "load : Resistor(50) n[N + 1] -> gnd;"));
    for (found, exact) in found.iter().zip([50.0 / 3050.0, 3048.0 / 3050.0]) {
        assert!((found - exact).abs() < 1e-9, "{found} and not {exact}");
    }
    assert_eq!(notes, 0);
}

#[test]
fn rest_keeps_what_the_equations_keep() {
    // The charge of the first capacitor is the only one, and all of them share it; a separate capacitor keeps its own.
    let text = "model Shared { const N = 200; node n[N + 1] : electrical; c : Capacitor(1) n[1] -> gnd, start = 201; \
                for i in 1:N { r[i] : Resistor(1) n[i] -> n[i + 1]; d[i] : Capacitor(1) n[i + 1] -> gnd; } \
                node alone : electrical; e : Capacitor(1) alone -> gnd, start = 7; \
                output y = across(d[N]); output m = across(e); }";

    let (found, notes) = at_rest(text);
    assert!((found[0] - 1.0).abs() < 1e-6 && found[1] == 7.0, "{found:?}");
    assert_eq!(notes, 1, "the capacitor alone is reported");
}

#[test]
fn rest_of_a_large_nonlinear_system_is_found() {
    // Quadratic drag on a long chain of masses: all reach the speed at which drag and force balance.
    let text = "element Drag(c) : translational { through = c*across*abs(across); } model Row { const N = 150; input f [N] = 4; \
                node x[N] : translational; for i in 1:N { m[i] : Mass(1) x[i] -> gnd, start = 1; \
                push[i] : ForceSource(f) gnd -> x[i]; drag[i] : Drag(1) x[i] -> gnd; } \
                for i in 1:N-1 { d[i] : Damper(3) x[i] -> x[i + 1]; } output y = across(m[N]); output z = across(m[1]); }";
    let (found, _) = at_rest(text);
    assert!(found.iter().all(|speed| (speed - 2.0).abs() < 1e-9), "{found:?}");
}

/// Functions of time within the equations determine the expected magnitudes of states too, even without inputs.
#[test]
fn functions_within_the_equations_give_states_their_scale() {
    let functions = [
        "2*step(0.5)",
        "2*(if time > 0.5 then 1 else 0)",
        "2*pulse(0.5, 9)",
        "1e-12*step(0.5)",
        "4*ramp(0.5)",
        "2*exp(-((time - 0.5)/0.001)^2)",
    ];
    for function in functions {
        for (source, input) in [("f", format!("input f = {function};")), (function, String::new())] {
            let text = format!(
                "model M {{ {input} node n : electrical; s : CurrentSource({source}) gnd -> n;
  c : Capacitor(1) n -> gnd; r : Resistor(1) n -> gnd; output v = across(c); }}"
            );
            let system = compile(&text);
            for method in [Method::Auto, Method::Bdf, Method::Sdirk, Method::TrBdf2] {
                let (rows, _) = rows(&system, &plan(1.0, 5, method));
                let v = rows[4].1[0];
                println!("{function} {}: {v}", method.word());
                let decay = 1.0 - (-0.5_f64).exp();
                let expected = match function {
                    "1e-12*step(0.5)" => 1e-12 * decay,
                    "4*ramp(0.5)" => 4.0 * (0.5 - decay),
                    "2*exp(-((time - 0.5)/0.001)^2)" => 2e-3 * std::f64::consts::PI.sqrt() * (-0.5_f64).exp(),
                    _ => 2.0 * decay,
                };
                assert!(
                    (v - expected).abs() < 1e-4 * expected,
                    "{function} {}: {v} is not {expected}",
                    method.word()
                );
            }
        }
    }
}

#[test]
fn a_state_that_begins_at_an_event_has_a_scale_from_there() {
    let system = compile(
        "model M { input u [V] = 5; node a, b : electrical; src : VoltageSource(u) a -> gnd; r : Resistor(1 [kohm]) a -> b; \
         c : Capacitor(1 [uF]) b -> gnd; state above = int(if across(c) > 3 then 1 else 0); output t = above; }",
    );
    // The capacitor reaches 3 V of 5 V after RC*log(5/2).
    let expected = 5e-3 - 1e-3 * 2.5_f64.ln();
    for method in [Method::Auto, Method::Tsit45, Method::Bdf, Method::Sdirk, Method::TrBdf2] {
        let (rows, _) = rows(&system, &plan(5e-3, 2, method));
        assert!(
            (rows[1].1[0] - expected).abs() < 1e-7,
            "{method:?}: {} and {expected}",
            rows[1].1[0]
        );
    }
}
