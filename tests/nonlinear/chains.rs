//! Closed kinematic chains: geometry in closed form, Lagrange's equations, drift over a thousand revolutions, forces.

use crate::support;

use lgm::Request;
use lgm::elaborate::Settings;
use lgm::equations::StateSystem;
use lgm::kernels::{KernelOptions, Kernels};
use lgm::rendering::render;
use lgm::simulate::{Inputs, Plan, Silent, Sink, Stop, simulate};
use lgm::source::{NoFiles, SourceMap};
use std::fs;
use support::program::example;

fn compile(source: &str, sets: &[&str]) -> StateSystem {
    let mut map = SourceMap::default();
    let root = map.add("model.lgm", source, None);
    let sets = sets
        .iter()
        .map(|text| (text.to_string(), map.add(format!("--set {text}"), *text, None)))
        .collect();
    let request = Request {
        settings: Settings {
            sets,
            ..Settings::default()
        },
        verify: true,
        ..Request::default()
    };
    let (system, diagnostics) = lgm::compile(&NoFiles, &mut map, root, &request);
    let shown = render(&map, &diagnostics, false);
    // Verified, without other diagnostics.
    assert!(
        diagnostics.iter().all(|diagnostic| diagnostic.code == "LGM0712"),
        "{shown}"
    );
    assert_eq!(diagnostics.len(), 1, "{shown}");
    system.unwrap()
}

fn slider_crank(sets: &[&str]) -> StateSystem {
    compile(&fs::read_to_string(example("slider_crank.lgm")).unwrap(), sets)
}

fn four_bar(sets: &[&str]) -> StateSystem {
    compile(&fs::read_to_string(example("four_bar.lgm")).unwrap(), sets)
}

/// Samples of a run.
#[derive(Default)]
struct Rows {
    times: Vec<f64>,
    states: Vec<Vec<f64>>,
    outputs: Vec<Vec<f64>>,
}

impl Sink for Rows {
    fn row(&mut self, time: f64, outputs: &[f64], states: &[f64]) -> Result<(), Stop> {
        self.times.push(time);
        self.states.push(states.to_vec());
        self.outputs.push(outputs.to_vec());
        Ok(())
    }
}

fn run(system: &StateSystem, stop: f64, points: usize, rtol: f64) -> Rows {
    let kernels = Kernels::new(system, &KernelOptions::default());
    let parameters = kernels.parameters(&[]);
    let inputs = Inputs::new(system, &kernels, &parameters, Vec::new(), 0.0);
    let plan = Plan {
        stop,
        points,
        rtol,
        atol: Some(rtol),
        ..Plan::default()
    };
    let mut rows = Rows::default();
    let result = simulate(system, &kernels, &parameters, &inputs, &plan, &mut rows, &Silent);
    result.unwrap_or_else(|failure| panic!("{failure:?}"));
    rows
}

fn state(system: &StateSystem, name: &str) -> usize {
    let found = system.states.iter().position(|state| &*state.name == name);
    found.unwrap_or_else(|| panic!("no state {name}"))
}

fn output(system: &StateSystem, name: &str) -> usize {
    let found = system.outputs.iter().position(|output| &*output.name == name);
    found.unwrap_or_else(|| panic!("no output {name}"))
}

#[test]
fn a_slider_crank_is_where_its_geometry_puts_it() {
    let system = slider_crank(&[]);
    // Two states: the rod's angle is not a state.
    assert_eq!(system.states.len(), 2, "{:?}", system.states);
    let rows = run(&system, 2.0, 201, 1e-9);
    let (theta, angle, x, v) = (
        state(&system, "theta"),
        output(&system, "rod_angle"),
        output(&system, "x"),
        output(&system, "v"),
    );
    let w = state(&system, "wheel.w");
    for (states, outputs) in rows.states.iter().zip(&rows.outputs) {
        let (sine, cosine) = states[theta].sin_cos();
        let root = (0.3f64.powi(2) - (0.1 * sine).powi(2)).sqrt();
        assert!((outputs[x] - (0.1 * cosine + root)).abs() < 1e-12);
        assert!((outputs[angle] - (-0.1 * sine / 0.3).asin()).abs() < 1e-12);
        let speed = -states[w] * 0.1 * sine * (1.0 + 0.1 * cosine / root);
        assert!((outputs[v] - speed).abs() < 1e-10, "{} {speed}", outputs[v]);
    }
}

/// Kinetic and potential energy of the slider-crank with its default lengths and masses.
fn slider_crank_energy(theta: f64, w: f64) -> f64 {
    let phi = (-theta.sin() / 3.0).asin();
    let rate = -0.1 * theta.cos() / (0.3 * phi.cos()) * w;
    let point = |share: f64| {
        let vx = -0.1 * theta.sin() * w - share * phi.sin() * rate;
        let vy = 0.1 * theta.cos() * w + share * phi.cos() * rate;
        (vx * vx + vy * vy) / 2.0
    };
    let height = 0.1 * theta.sin() + 0.12 * phi.sin();
    0.02 * w * w / 2.0 + 0.005 * rate * rate / 2.0 + 0.6 * point(0.12) + 0.8 * point(0.3) + 0.6 * 9.81 * height
}

/// Errors of positions and energy after a thousand revolutions. Positions are solved at every evaluation of the
/// equations, so they stay closed to round-off; the energy drifts with the integration tolerance alone.
#[test]
fn a_thousand_revolutions_do_not_open_the_chain() {
    let system = slider_crank(&["w_0=60"]);
    let rows = run(&system, 110.0, 2001, 1e-10);
    let (theta, w) = (state(&system, "theta"), state(&system, "wheel.w"));
    let angle = output(&system, "rod_angle");
    let first = slider_crank_energy(rows.states[0][theta], rows.states[0][w]);
    let (mut open, mut drift) = (0.0f64, 0.0f64);
    for (states, outputs) in rows.states.iter().zip(&rows.outputs) {
        open = open.max((0.1 * states[theta].sin() + 0.3 * outputs[angle].sin()).abs());
        drift = drift.max((slider_crank_energy(states[theta], states[w]) / first - 1.0).abs());
        // The assembly configuration never changes.
        assert!(outputs[angle].cos() > 0.9);
    }
    let turns = rows.states.last().unwrap()[theta] / std::f64::consts::TAU;
    println!("{turns:.0} turns, open by {open:.1e} m, energy drift {drift:.1e}");
    assert!(turns > 1000.0, "{turns}");
    assert!(open < 1e-13, "{open}");
    assert!(drift < 1e-6, "{drift}");
}

/// Acceleration of the slider-crank by Lagrange's equation in one coordinate, `M th'' + M'/2 w^2 = Q - V'`, by differences.
#[test]
fn a_slider_crank_accelerates_as_lagrange_says() {
    use lgm::expr::{SymbolId, to_f64};
    use std::collections::HashMap;
    let system = slider_crank(&[]);
    let phi_symbol = system.equations.loops[0].unknowns[0];
    for (k, theta) in [0.1, 1.0, 2.2, 3.3, 4.7, 6.0].into_iter().enumerate() {
        let w = 3.0 - 1.3 * k as f64;
        let (moment, force) = (0.7, -2.0 + k as f64);
        let mut values: HashMap<SymbolId, f64> = HashMap::new();
        let parameters = system.parameters.iter().flat_map(|parameter| &parameter.entries);
        values.extend(parameters.map(|entry| (entry.symbol, to_f64(&entry.value))));
        values.insert(system.time, 0.0);
        values.insert(system.states[state(&system, "theta")].symbol, theta);
        values.insert(system.states[state(&system, "wheel.w")].symbol, w);
        let phi = (-theta.sin() / 3.0).asin();
        values.insert(phi_symbol, phi);
        for (input, value) in system.inputs.iter().zip([moment, force]) {
            values.insert(input.symbol, value);
        }
        for assignment in &system.equations.assignments {
            let found = system
                .exprs
                .evaluate_f64(&[assignment.value], &|symbol| values.get(&symbol).copied());
            values.insert(assignment.symbol, found.unwrap()[0]);
        }
        let row = state(&system, "wheel.w");
        let found = system
            .exprs
            .evaluate_f64(&[system.equations.derivatives[row]], &|symbol| {
                values.get(&symbol).copied()
            })
            .unwrap()[0];
        // The kinetic energy is w^2 times half the mass, and the remainder without w is the potential.
        let mass = |at: f64| 2.0 * (slider_crank_energy(at, 1.0) - slider_crank_energy(at, 0.0));
        let potential = |at: f64| slider_crank_energy(at, 0.0);
        let place = |at: f64| 0.1 * at.cos() + 0.3 * (-at.sin() / 3.0).asin().cos();
        let slope = |f: &dyn Fn(f64) -> f64| {
            let h = 1e-3;
            (8.0 * (f(theta + h) - f(theta - h)) - (f(theta + 2.0 * h) - f(theta - 2.0 * h))) / (12.0 * h)
        };
        let wanted = (moment + force * slope(&place) - slope(&potential) - slope(&mass) * w * w / 2.0) / mass(theta);
        assert!(
            (found - wanted).abs() <= 1e-8 * wanted.abs().max(1.0),
            "{theta}: {found}, {wanted}"
        );
    }
}

#[test]
fn a_four_bar_linkage_keeps_freudensteins_equation_and_its_energy() {
    let system = four_bar(&[]);
    let names: Vec<&str> = system.states.iter().map(|state| &*state.name).collect();
    assert_eq!(names.len(), 2, "{names:?}");
    let rows = run(&system, 20.0, 801, 1e-10);
    let (a, b, c, d) = (0.1f64, 0.35, 0.25, 0.32);
    let (theta, w) = (state(&system, "theta"), state(&system, "wheel.w"));
    let (coupler, rocker, speed) = (
        output(&system, "coupler_angle"),
        output(&system, "rocker_angle"),
        output(&system, "rocker_speed"),
    );
    let energy = |states: &[f64], outputs: &[f64]| {
        let (theta, w, phi, psi) = (states[theta], states[w], outputs[coupler], outputs[rocker]);
        // Both dependent velocities, from the velocity of the coupler's end.
        let phi_rate = a * w * (psi - theta).sin() / (b * (phi - psi).sin());
        let psi_rate = a * w * (theta - phi).sin() / (c * (psi - phi).sin());
        let vx = -a * theta.sin() * w - b / 2.0 * phi.sin() * phi_rate;
        let vy = a * theta.cos() * w + b / 2.0 * phi.cos() * phi_rate;
        let turning = 0.01 * w * w + 0.006 * phi_rate * phi_rate + 0.02 * psi_rate * psi_rate;
        (turning + 0.5 * (vx * vx + vy * vy) + 4.0 * (psi - 1.6) * (psi - 1.6)) / 2.0
    };
    let first = energy(&rows.states[0], &rows.outputs[0]);
    let mut turned = 0.0f64;
    for (states, outputs) in rows.states.iter().zip(&rows.outputs) {
        let (theta, psi) = (states[theta], outputs[rocker]);
        let left = d / a * psi.cos() - d / c * theta.cos() + (a * a - b * b + c * c + d * d) / (2.0 * a * c);
        // Freudenstein 1955, with the rocker measured from the line of the pivots.
        assert!((left - (theta - psi).cos()).abs() < 1e-11, "{left}");
        let drift = (energy(states, outputs) / first - 1.0).abs();
        assert!(drift < 1e-7, "{drift}");
        let psi_rate = a * states[w] * (theta - outputs[coupler]).sin() / (c * (psi - outputs[coupler]).sin());
        assert!((psi_rate - outputs[speed]).abs() < 1e-9);
        turned = turned.max(theta);
    }
    assert!(turned > 30.0, "the crank turns around: {turned}");
}

/// Constraint forces do no work: the guide and the pins carry exactly the forces that the masses need.
#[test]
fn forces_of_constraint_hold_the_parts_in_their_tracks() {
    let system = slider_crank(&["g=0"]);
    let rows = run(&system, 1.0, 2001, 1e-11);
    let (side, pin_x) = (output(&system, "side_force"), output(&system, "pin_force_x"));
    let v = output(&system, "v");
    let angle = output(&system, "rod_angle");
    let theta = state(&system, "theta");
    let h = rows.times[1] - rows.times[0];
    let mut largest = 0.0f64;
    for k in 2..rows.times.len() - 2 {
        let difference = |f: &dyn Fn(usize) -> f64| (8.0 * (f(k + 1) - f(k - 1)) - (f(k + 2) - f(k - 2))) / (12.0 * h);
        // The pin transmits the force that accelerates rod and slider along x.
        let momentum = |at: usize| {
            let centre = 0.12 / 0.3;
            let pin = |at: usize| -> f64 {
                let (state, next) = (rows.states[at][theta], &rows.states[at]);
                -0.1 * state.sin() * next[self::state(&system, "wheel.w")]
            };
            let rod = pin(at) + centre * (rows.outputs[at][v] - pin(at));
            0.6 * rod + 0.8 * rows.outputs[at][v]
        };
        let wanted = difference(&momentum);
        let found = -rows.outputs[k][pin_x];
        assert!((found - wanted).abs() < 1e-4 * (1.0 + wanted.abs()), "{found} {wanted}");
        largest = largest.max(rows.outputs[k][side].abs());
        assert!(rows.outputs[k][angle].is_finite());
    }
    assert!(largest > 0.1, "the guide carries a side force: {largest}");
}
