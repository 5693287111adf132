//! Mechanisms in which entries of the moduli pass zero, at the start or during a regular motion: the equations divide
//! by a vanishing quantity only where the mechanism is singular.
//!
//! The expected values come from programs that do not use graphs: Lagrange's equations of the flexible crank with
//! multipliers, integrated by an explicit method of order 8 to 1e-11, and the energy of Bricard's linkage, which has
//! one degree of freedom, with its closed form `sin(q1) = -sin(th)/(1 + sin(th))`.

use lgm::Request;
use lgm::equations::StateSystem;
use lgm::kernels::{KernelOptions, Kernels};
use lgm::rendering::render;
use lgm::simulate::{Inputs, Method, Plan, Silent, Sink, Stop, simulate};
use lgm::source::{NoFiles, SourceMap};

const BRICARD: &str = include_str!("passing_zero/bricard.lgm");
const CRANK: &str = include_str!("passing_zero/flexible_crank.lgm");
const FOUR_BARS: &str = include_str!("passing_zero/four_bars.lgm");

fn compile(source: &str) -> StateSystem {
    let mut map = SourceMap::default();
    let root = map.add("model.lgm", source, None);
    let (system, diagnostics) = lgm::compile(&NoFiles, &mut map, root, &Request::default());
    system.unwrap_or_else(|| panic!("{}", render(&map, &diagnostics, false)))
}

/// Times and outputs of the samples.
#[derive(Default)]
struct Rows(Vec<(f64, Vec<f64>)>);

impl Sink for Rows {
    fn row(&mut self, time: f64, outputs: &[f64], _: &[f64]) -> Result<(), Stop> {
        self.0.push((time, outputs.to_vec()));
        Ok(())
    }
}

fn run(system: &StateSystem, plan: Plan) -> Vec<(f64, Vec<f64>)> {
    let kernels = Kernels::new(system, &KernelOptions::default());
    let parameters = kernels.parameters(&[]);
    let inputs = Inputs::new(system, &kernels, &parameters, Vec::new(), 0.0);
    let mut rows = Rows::default();
    let result = simulate(system, &kernels, &parameters, &inputs, &plan, &mut rows, &Silent);
    result.unwrap_or_else(|failure| panic!("{failure:?}"));
    rows.0
}

#[test]
fn a_chain_starts_where_entries_of_its_moduli_are_zero() {
    let system = compile(BRICARD);
    for (method, rtol) in [(Method::Auto, 1e-9), (Method::Bdf, 1e-6)] {
        let plan = Plan {
            stop: 2.5,
            points: 26,
            rtol,
            method,
            ..Plan::default()
        };
        let rows = run(&system, plan);
        for (time, outputs) in &rows {
            let sine = outputs[0].sin();
            let folded = -(sine / (1.0 + sine)).asin();
            for (at, expected) in [(1, folded), (2, outputs[0]), (3, folded), (4, outputs[0]), (6, 0.0)] {
                assert!((outputs[at] - expected).abs() < 1e-12, "{time} {outputs:?}");
            }
        }
        // The angle, and its rate from the potential energy released so far.
        for (row, angle, rate) in [(10, 1.0350284595, 2.0364153812), (20, 2.8933282059, 1.0244310277)] {
            let outputs = &rows[row].1;
            let error = (outputs[0] - angle).abs().max((outputs[5] - rate).abs());
            assert!(error < 100.0 * rtol, "{method:?} {outputs:?}");
        }
    }
}

#[test]
fn a_coordinate_of_a_modulus_passes_zero() {
    let plan = Plan {
        stop: 0.02,
        points: 2,
        rtol: 1e-8,
        method: Method::Bdf,
        ..Plan::default()
    };
    let rows = run(&compile(CRANK), plan);
    let (_, last) = &rows[1];
    // phi and its rate, and the four bending coordinates; q[4] was positive at the start.
    let expected = [
        (0, -7.062033221349e-2, 1e-7),
        (6, 74.43676832280, 1e-4),
        (2, 4.110157381595e-5, 1e-9),
        (3, 4.395553537524e-6, 1e-10),
        (4, -4.598648972619e-6, 1e-10),
        (5, -6.984660729093e-6, 1e-10),
    ];
    for (at, value, tolerance) in expected {
        assert!((last[at] - value).abs() < tolerance, "{at}: {} {value}", last[at]);
    }
}

/// The square of the rate of the parallelogram pendulum at an angle, from its energy.
fn square_of_rate(angle: f64) -> f64 {
    1.0 + 2.0 * 3.5 * 9.81 / 3.0 * (1.0 - angle.sin())
}

#[test]
fn every_method_moves_a_chain_whose_displacements_stay_at_zero() {
    let system = compile(FOUR_BARS);
    for method in [Method::Tsit45, Method::Bdf, Method::Sdirk, Method::TrBdf2] {
        for rtol in [1e-4, 1e-6, 1e-8] {
            let plan = Plan {
                stop: 0.6,
                points: 7,
                rtol,
                method,
                ..Plan::default()
            };
            for (time, outputs) in run(&system, plan) {
                let error = (outputs[1].powi(2) - square_of_rate(outputs[0])).abs();
                // Low-order methods have larger errors at small tolerances.
                assert!(
                    error < 0.1 * (1e4 * rtol).powf(0.6),
                    "{method:?} {rtol} {time} {outputs:?}"
                );
            }
        }
    }
}

#[test]
fn parallelograms_pass_the_line_on_which_all_their_rods_lie() {
    let system = compile(FOUR_BARS);
    // The pendulum's equation, integrated to 1e-13.
    let (angle, rate) = (-11.113_463_27, -1.076_511_18);
    for (method, rtol, allowed) in [
        (Method::Auto, 1e-6, 2e-4),
        (Method::Tsit45, 1e-8, 2e-6),
        (Method::Tsit45, 1e-9, 2e-6),
        (Method::Bdf, 1e-6, 5e-3),
    ] {
        let plan = Plan {
            stop: 4.0,
            points: 401,
            rtol,
            method,
            ..Plan::default()
        };
        let rows = run(&system, plan);
        for (time, outputs) in &rows {
            let error = (outputs[1].powi(2) - square_of_rate(outputs[0])).abs();
            assert!(error < 2.0 * allowed, "{method:?} {rtol} {time} {outputs:?} {error}");
            assert!(
                (outputs[2] - outputs[0]).abs() < 1e-9,
                "{method:?} {rtol} {time} {outputs:?}"
            );
        }
        let last = &rows[400].1;
        let error = (last[0] - angle).abs().max((last[1] - rate).abs());
        assert!(error < allowed, "{method:?} {rtol} {last:?}");
    }
}
