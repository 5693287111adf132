//! Outputs that are small differences of states: a warning names them, and the recommended tolerance corrects them.

use super::runs::compile;
use lgm::kernels::{KernelOptions, Kernels};
use lgm::simulate::{Inputs, Method, Plan, Silent, Summary, simulate};

const METHODS: [Method; 4] = [Method::Auto, Method::Bdf, Method::Sdirk, Method::TrBdf2];

/// Samples of outputs, and the diagnostics of the run.
fn run(text: &str, plan: &Plan) -> (Vec<(f64, Vec<f64>)>, Summary) {
    let system = compile(text);
    let kernels = Kernels::new(&system, &KernelOptions::default());
    let parameters = kernels.parameters(&[]);
    let none = system.inputs.iter().map(|_| None).collect();
    let inputs = Inputs::new(&system, &kernels, &parameters, none, plan.start);
    let mut rows = Vec::new();
    let mut sink = |time: f64, outputs: &[f64], _: &[f64]| rows.push((time, outputs.to_vec()));
    let summary = simulate(&system, &kernels, &parameters, &inputs, plan, &mut sink, &Silent);
    (rows, summary.unwrap_or_else(|failure| panic!("{text}: {failure:?}")))
}

fn is_warned(summary: &Summary) -> bool {
    summary.notes.iter().any(|note| note.code == "LGM1025")
}

const CHOKE: &str = "model Choke { input u = sin(2*pi*time); node a, b : electrical; source : VoltageSource(u) a -> gnd; \
                     r : Resistor(1) a -> b; choke : Inductor(1e-6) b -> gnd; output i = through(choke); \
                     output v = across(choke); }";

/// The largest error of the voltage, relative to its magnitude, after the first microseconds.
fn error_of_choke(rows: &[(f64, Vec<f64>)]) -> f64 {
    let omega = 2.0 * std::f64::consts::PI;
    let reactance = omega * 1e-6;
    // The voltage of an inductance in series with a resistance of 1 ohm.
    let size = reactance / reactance.hypot(1.0);
    let lead = 1.0_f64.atan2(reactance);
    let errors = rows[1..]
        .iter()
        .map(|(time, values)| (values[1] - size * (omega * time + lead).sin()).abs());
    errors.fold(0.0, f64::max) / size
}

#[test]
fn the_voltage_of_a_small_inductance_is_warned_of_by_every_method() {
    for method in METHODS {
        let plan = |rtol: f64| Plan {
            points: 101,
            method,
            rtol,
            ..Plan::default()
        };
        let (_, summary) = run(CHOKE, &plan(1e-6));
        assert!(is_warned(&summary), "{method:?}");
        let note = &summary.notes[0];
        assert!(
            note.message.contains("`v`") && !note.message.contains("`i`"),
            "{}",
            note.message
        );
        let help = note.help.as_ref().expect("it says what to do");
        let asked: f64 = help
            .split(['`', ' '])
            .rev()
            .find_map(|word| word.parse().ok())
            .expect("a tolerance");
        let (rows, _) = run(CHOKE, &plan(asked));
        let error = error_of_choke(&rows);
        assert!(error < 1e-4, "{method:?} at {asked:e}: {error:.1e}");
    }
}

#[test]
fn outputs_that_pass_zero_or_stay_there_are_not_warned_of() {
    for text in [
        // Crosses zero, and decays to a millionth of its magnitude.
        "model Passing { node x : translational; m : Mass(1) x -> gnd, start = 1; k : Spring(400) x -> gnd; \
         b : Damper(28) x -> gnd; output v = across(m); output f = through(k); output s = through(b); }",
        // A balanced bridge.
        "model Bridge { input u = sin(9*time); node s, a, b : electrical; source : VoltageSource(u) s -> gnd; \
         r1 : Resistor(100) s -> a; c1 : Capacitor(1e-3) a -> gnd; r2 : Resistor(200) s -> b; c2 : Capacitor(5e-4) b -> gnd; \
         output v = across(a) - across(b); output i = through(r1); }",
        // Two bodies connected by a spring.
        "model Two { input F = step(0.1); node a, b : translational; push : ForceSource(F) gnd -> a; m : Mass(1) a -> gnd; \
         n : Mass(2) b -> gnd; k : Spring(300) a -> b; d : Damper(2) a -> b; output e = across(k); output f = through(k); }",
        // The power into a transformer is 0 except for the round-off of its two terms.
        "model Modulated { input u = 3; node s, a, b : electrical; src : VoltageSource(u) s -> gnd; r : Resistor(2) s -> a; \
         c1 : Capacitor(0.5) a -> gnd; tf : Transformer(2 + sin(time)) a -> gnd, b -> gnd; c2 : Capacitor(0.1) b -> gnd; \
         rl : Resistor(10) b -> gnd; output va = across(c1); output p = power(tf); }",
    ] {
        for method in METHODS {
            let plan = Plan {
                method,
                ..Plan::default()
            };
            let (_, summary) = run(text, &plan);
            assert!(!is_warned(&summary), "{method:?}: {:?} of {text}", summary.notes);
        }
    }
}
