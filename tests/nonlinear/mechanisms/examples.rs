//! The mechanisms of the examples at random parameters, states and inputs, compared with their Lagrangians.

use super::jet::{Jet, lagrange};
use super::model::Compiled;
use super::{Values, spread};

/// Generalised forces for given values, inputs, coordinates and velocities.
type Forces = fn(&Values, &[f64], &[f64], &[f64]) -> Vec<f64>;

/// One example.
struct Case {
    file: &'static str,
    /// The states whose rates are the accelerations, in the order of the coordinates.
    velocities: &'static [&'static str],
    /// The states of the coordinates.
    coordinates: &'static [&'static str],
    /// Kinetic minus potential energy, with the values of the inputs.
    lagrangian: fn(&Values, &[f64], &[Jet], &[Jet]) -> Jet,
    /// The other generalised forces.
    forces: Forces,
}

const CASES: &[Case] = &[
    Case {
        file: "pendulum",
        velocities: &["joint.w"],
        coordinates: &["theta"],
        lagrangian: |p, _, q, v| {
            let bob = v[0].square() * (p["m"] * p["L"] * p["L"] / 2.0);
            bob + q[0].cos() * (p["m"] * p["g"] * p["L"])
        },
        forces: |p, _, _, v| vec![-p["b"] * v[0]],
    },
    Case {
        file: "cart_pendulum",
        velocities: &["cart.v", "rod.inertia.w"],
        coordinates: &["x", "rod.frame.angle"],
        lagrangian: |p, _, q, v| {
            let across = v[0] + q[1].cos() * v[1] * p["l"];
            let up = q[1].sin() * v[1] * p["l"];
            let centre = (across.square() + up.square()) * (p["m"] / 2.0);
            let others = v[0].square() * (p["M"] / 2.0) + v[1].square() * (p["J"] / 2.0);
            centre + others + q[1].cos() * (p["m"] * p["g"] * p["l"])
        },
        forces: |p, inputs, _, v| vec![inputs[0] - p["b"] * v[0], 0.0],
    },
    Case {
        file: "bead_on_hoop",
        velocities: &["w.w[1]"],
        coordinates: &["theta"],
        lagrangian: |p, inputs, q, v| {
            let round = q[0].sin() * inputs[0];
            let bead = (v[0].square() + round.square()) * (p["m"] * p["R"] * p["R"] / 2.0);
            bead + q[0].cos() * (p["m"] * p["g"] * p["R"])
        },
        forces: |p, _, _, v| vec![-p["b"] * v[0]],
    },
    Case {
        file: "governor",
        velocities: &["w.w[1]", "engine.w"],
        coordinates: &["theta", "phi"],
        lagrangian: |p, _, q, v| {
            let square = p["L"] * p["L"];
            let balls = (v[0].square() + (q[0].sin() * v[1]).square()) * (p["m"] * square);
            let sleeve = (q[0].sin() * v[0]).square() * (2.0 * p["sleeve_mass"] * square);
            let weight = q[0].cos() * (2.0 * p["L"] * p["g"] * (p["m"] + p["sleeve_mass"]));
            balls + sleeve + v[1].square() * (p["J"] / 2.0) + weight
        },
        forces: |p, inputs, q, v| {
            let lift = 2.0 * p["L"] * (1.0 - q[0].cos());
            let throttle = p["full"] * (1.0 - (lift / p["travel"]).clamp(0.0, 1.0));
            let lever = 2.0 * p["L"] * q[0].sin();
            vec![-p["b"] * lever * lever * v[0], throttle - inputs[0]]
        },
    },
];

#[test]
fn accelerations_of_the_examples_are_those_of_lagrange() {
    for case in CASES {
        let given = Compiled::new(case.file, &[]);
        for seed in 0..3 {
            let parameters = given.system.parameters.iter().enumerate().map(|(k, parameter)| {
                let factor = if seed == 0 {
                    1.0
                } else {
                    1.2 + 0.7 * spread(1000 * seed + k)
                };
                (parameter.name.to_string(), given.parameter(&parameter.name) * factor)
            });
            let settings: Vec<(String, f64)> = parameters.collect();
            let compiled = Compiled::new(case.file, &settings);
            let p: Values = settings.into_iter().collect();
            for trial in 0..20 {
                let drawn = |first: usize| -> Vec<f64> {
                    let key = 10_000 * seed + 100 * trial + first;
                    (0..case.velocities.len()).map(|k| 3.0 * spread(key + k)).collect()
                };
                let (q, v, inputs) = (drawn(0), drawn(20), drawn(40));
                let mut states = compiled.starts();
                for (names, list) in [(case.coordinates, &q), (case.velocities, &v)] {
                    for (name, value) in names.iter().zip(list) {
                        states[compiled.position(name)] = *value;
                    }
                }
                let found = compiled.evaluate_driven(&states, &inputs);
                let forces = (case.forces)(&p, &inputs, &q, &v);
                let wanted = lagrange(|q, v| (case.lagrangian)(&p, &inputs, q, v), &forces, &q, &v);
                let scale = wanted.iter().fold(1.0, |most: f64, value| most.max(value.abs()));
                for (name, wanted) in case.velocities.iter().zip(&wanted) {
                    let found = found[compiled.position(name)];
                    assert!(
                        (found - wanted).abs() <= 1e-10 * scale,
                        "{}, {name} at {q:?}, {v:?}: {found} instead of {wanted}",
                        case.file
                    );
                }
            }
        }
    }
}
