//! The nonlinear seeds: equations of motion and trajectories compared with the records of known answers and, at other
//! parameters, with Lagrange's equations by automatic differentiation; and the conserved energy.

use super::jet::{Jet, energy, lagrange};
use super::model::Compiled;
use super::support::arithmetic::{Bindings, evaluate};
use super::support::records::{Parameters, Record, Trajectory, drawn, number};
use super::{Values, settings, spread, values};
use nalgebra::{DMatrix, DVector};
use serde_json::Value;

/// Coordinates for given values and states by name.
type Coordinates = fn(&Values, &dyn Fn(&str) -> f64) -> Vec<f64>;

/// States by name.
type States = Vec<(&'static str, f64)>;

/// The form of the accelerations in a record.
#[derive(Clone, Copy)]
enum Formulas {
    /// A matrix under this key, to be solved with `rhs`.
    MassMatrix(&'static str),
    /// One expression under this key.
    Rate(&'static str),
    /// In other variables.
    Elsewhere,
}

/// One mechanism.
pub struct Case {
    /// Record and file.
    name: &'static str,
    /// Derived parameters.
    derived: &'static [&'static str],
    /// The states whose rates are the accelerations, in the order of the coordinates.
    velocities: &'static [&'static str],
    /// The other states at given coordinates and velocities.
    states: fn(&Values, &[f64], &[f64]) -> States,
    /// The coordinates from the values of states.
    coordinates: Coordinates,
    /// The formulas of the record.
    formulas: Formulas,
    /// The names in the record's formulas in addition to the parameters.
    names: fn(&Values, &[f64], &[f64]) -> States,
    /// Kinetic minus potential energy.
    lagrangian: fn(&Values, &[Jet], &[Jet]) -> Jet,
    /// The other generalised forces.
    forces: fn(&Values, &[f64], &[f64]) -> Vec<f64>,
}

/// Kinetic minus potential energy of a point in the plane, with height upwards.
fn point(p: &Values, mass: f64, x_rate: Jet, y_rate: Jet, height: Jet) -> Jet {
    (x_rate.square() + y_rate.square()) * (mass / 2.0) - height * (mass * p["g"])
}

fn two_links(p: &Values, q: &[Jet], v: &[Jet], first: f64, length: f64, second: f64) -> Jet {
    let turning = v[0].square() * (p["J1"] / 2.0) + v[1].square() * (p["J2"] / 2.0);
    let at = |a: f64, b: f64, mass: f64| {
        point(
            p,
            mass,
            -(q[0].sin() * v[0] * a) - q[1].sin() * v[1] * b,
            q[0].cos() * v[0] * a + q[1].cos() * v[1] * b,
            q[0].sin() * a + q[1].sin() * b,
        )
    };
    turning + at(first, 0.0, p["m1"]) + at(length, second, p["m2"])
}

/// `psi` of the disc that rolls in the ring and `phi` of the line of centres determine each other.
fn discs(p: &Values, v: &[Jet], phi: Jet, phi_rate: Jet, distance: f64, mass: f64) -> Jet {
    point(
        p,
        mass,
        -(v[0] * p["b"]) + phi.cos() * phi_rate * distance,
        phi.sin() * phi_rate * distance,
        -(phi.cos() * distance),
    )
}

pub const CASES: &[Case] = &[
    Case {
        name: "two_link_manipulator",
        derived: &[],
        velocities: &["J.w[1]", "J.w[2]"],
        states: |p, q, _| {
            vec![
                ("theta[1]", q[0]),
                ("theta[2]", q[1]),
                ("K.tau[1]", (p["K1"] + p["K2"]) * q[0] - p["K2"] * q[1]),
                ("K.tau[2]", p["K2"] * (q[1] - q[0])),
            ]
        },
        coordinates: |_, state| vec![state("theta[1]"), state("theta[2]")],
        formulas: Formulas::MassMatrix("mass_matrix"),
        names: |_, q, v| vec![("theta1", q[0]), ("theta2", q[1]), ("omega1", v[0]), ("omega2", v[1])],
        lagrangian: |p, q, v| {
            let springs = q[0].square() * (p["K1"] / 2.0) + (q[1] - q[0]).square() * (p["K2"] / 2.0);
            two_links(p, q, v, p["l1"], 2.0 * p["l1"], p["l2"]) - springs
        },
        forces: |p, _, v| {
            let joint = p["R2"] * (v[0] - v[1]);
            vec![p["tau1"] - p["R1"] * v[0] - joint, p["tau2"] + joint]
        },
    },
    Case {
        name: "robot_arm",
        derived: &[],
        velocities: &["link1.w", "link2.w"],
        states: |_, q, _| vec![("theta1", q[0]), ("theta2", q[1])],
        coordinates: |_, state| vec![state("theta1"), state("theta2")],
        formulas: Formulas::MassMatrix("mass_matrix"),
        names: |_, q, v| vec![("theta1", q[0]), ("theta2", q[1]), ("omega1", v[0]), ("omega2", v[1])],
        lagrangian: |p, q, v| two_links(p, q, v, p["lc1"], p["L1"], p["lc2"]),
        forces: |p, _, v| {
            let joint = p["b2"] * (v[0] - v[1]);
            vec![p["tau1"] - p["tau2"] - p["b1"] * v[0] - joint, p["tau2"] + joint]
        },
    },
    Case {
        name: "rocking_pendulum",
        derived: &[],
        velocities: &["body.w"],
        states: |_, q, _| vec![("angle", q[0])],
        coordinates: |_, state| vec![state("angle")],
        formulas: Formulas::Rate("omega_dot"),
        names: |_, q, v| vec![("theta", q[0]), ("omega", v[0])],
        lagrangian: |p, q, v| {
            let turning = v[0].square() * (p["m"] * p["k"] * p["k"] / 2.0);
            let x_rate = (q[0].cos() * p["l"] + -p["r"]) * v[0];
            turning + point(p, p["m"], x_rate, q[0].sin() * v[0] * p["l"], -(q[0].cos() * p["l"]))
        },
        forces: |_, _, _| vec![0.0],
    },
    Case {
        name: "two_discs",
        derived: &["c"],
        velocities: &["ring.w", "bar.w"],
        states: |_, q, _| vec![("angle1", q[0]), ("R.angle", q[1])],
        coordinates: |_, state| vec![state("angle1"), state("R.angle")],
        formulas: Formulas::MassMatrix("mass_matrix_theta_phi"),
        names: |p, q, v| vec![("c", p["b"] - p["a"]), ("phi", q[1]), ("omega1", v[0]), ("omega", v[1])],
        lagrangian: |p, q, v| {
            let c = p["b"] - p["a"];
            let disc = (v[0] * p["b"] - v[1] * c) * (1.0 / p["a"]);
            let turning =
                v[0].square() * (p["J1"] / 2.0) + v[1].square() * (p["J"] / 2.0) + disc.square() * (p["J2"] / 2.0);
            turning
                + discs(p, v, q[1], v[1], 0.0, p["m1"])
                + discs(p, v, q[1], v[1], c, p["m2"])
                + discs(p, v, q[1], v[1], p["d"], p["m"])
        },
        forces: |p, _, v| {
            let c = p["b"] - p["a"];
            let disc = (p["b"] * v[0] - c * v[1]) / p["a"];
            let (at_a, at_b) = (p["Ba"] * (v[1] - v[0]), p["Bb"] * (v[1] - disc));
            // The disc turns with b/a of the ring and -c/a of the bar.
            vec![at_a + at_b * p["b"] / p["a"], -at_a - at_b - at_b * c / p["a"]]
        },
    },
    Case {
        name: "two_discs_special_case",
        derived: &["c"],
        velocities: &["ring.w", "disc.w"],
        states: |p, q, _| {
            let phi = (p["b"] * q[0] - p["a"] * q[1]) / (p["b"] - p["a"]);
            vec![("angle_ring", q[0]), ("angle", phi)]
        },
        coordinates: |p, state| {
            let c = p["b"] - p["a"];
            vec![
                state("angle_ring"),
                (p["b"] * state("angle_ring") - c * state("angle")) / p["a"],
            ]
        },
        // Equation 65 holds only for one value of the momentum, and is compared on the trajectory.
        formulas: Formulas::Elsewhere,
        names: |_, _, _| Vec::new(),
        lagrangian: |p, q, v| {
            let c = p["b"] - p["a"];
            let line = |list: &[Jet]| (list[0] * p["b"] - list[1] * p["a"]) * (1.0 / c);
            let (phi, rate) = (line(q), line(v));
            let ring = v[0].square() * (p["m1"] * p["b"] * p["b"] / 2.0);
            let disc = v[1].square() * (p["m2"] * p["a"] * p["a"] / 2.0);
            ring + disc + discs(p, v, phi, rate, 0.0, p["m1"]) + discs(p, v, phi, rate, c, p["m2"])
        },
        forces: |_, _, _| vec![0.0, 0.0],
    },
    Case {
        name: "lamina",
        derived: &[],
        velocities: &["body.w"],
        states: |p, q, _| {
            vec![
                ("angle", q[0]),
                ("spring1.F", p["K1"] * p["l"] * q[0].sin()),
                ("spring2.F", p["K2"] * p["l"] * q[0].cos()),
            ]
        },
        coordinates: |_, state| vec![state("angle")],
        formulas: Formulas::Rate("sympy"),
        names: |p, q, v| {
            vec![
                ("theta", q[0]),
                ("omega", v[0]),
                ("f_K1", p["K1"] * p["l"] * q[0].sin()),
                ("f_K2", p["K2"] * p["l"] * q[0].cos()),
            ]
        },
        lagrangian: |p, q, v| {
            let near = q[0] + -p["alpha"];
            let far = q[0] + p["beta"];
            let centre = point(
                p,
                p["m"],
                -(near.sin() * v[0] * p["a"]),
                far.cos() * v[0] * p["b"],
                far.sin() * p["b"],
            );
            let (y, x) = (q[0].sin() * p["l"], q[0].cos() * p["l"]);
            centre + v[0].square() * (p["J"] / 2.0) - y.square() * (p["K1"] / 2.0) - x.square() * (p["K2"] / 2.0)
        },
        forces: |p, q, v| {
            let (sine, cosine) = q[0].sin_cos();
            let damping = p["B1"] * cosine * cosine + p["B2"] * sine * sine;
            vec![-damping * p["l"] * p["l"] * v[0]]
        },
    },
    Case {
        name: "roller_coaster",
        derived: &[],
        velocities: &["horizontal.v"],
        states: |_, q, _| vec![("s", q[0])],
        coordinates: |_, state| vec![state("s")],
        formulas: Formulas::Rate("sympy"),
        names: |_, q, v| vec![("x", q[0]), ("v_x", v[0])],
        lagrangian: |p, q, v| {
            let inner = q[0] * p["b"];
            let slope = -(inner.sin() * (p["a"] * p["b"])) + p["c"];
            point(p, p["m"], v[0], slope * v[0], inner.cos() * p["a"] + q[0] * p["c"])
        },
        forces: |_, _, _| vec![0.0],
    },
];

/// The record's independent scalar parameters.
fn free(record: &Record, derived: &[&str]) -> Parameters {
    let all = record.parameters().into_iter();
    all.filter(|entry| !derived.contains(&&*entry.0)).collect()
}

impl Case {
    fn at(&self, compiled: &Compiled, p: &Values, q: &[f64], v: &[f64]) -> Vec<f64> {
        let mut states = compiled.starts();
        for (name, value) in (self.states)(p, q, v) {
            states[compiled.position(name)] = value;
        }
        for (name, value) in self.velocities.iter().zip(v) {
            states[compiled.position(name)] = *value;
        }
        states
    }

    /// The accelerations from the record's formulas.
    fn recorded(&self, record: &Record, p: &Values, q: &[f64], v: &[f64]) -> Option<Vec<f64>> {
        let mut bindings: Bindings = p.clone();
        let names = (self.names)(p, q, v);
        bindings.extend(names.into_iter().map(|(name, value)| (name.to_string(), value)));
        let equations = &record.json["equations"];
        let value = |text: &Value| evaluate(text.as_str().unwrap(), &bindings);
        match self.formulas {
            Formulas::MassMatrix(key) => {
                let n = q.len();
                let mass = DMatrix::from_fn(n, n, |row, column| value(&equations[key][row][column]));
                let right = DVector::from_fn(n, |row, _| value(&equations["rhs"][row]));
                Some(mass.lu().solve(&right).unwrap().iter().copied().collect())
            }
            Formulas::Rate(key) => Some(vec![value(&equations[key])]),
            Formulas::Elsewhere => None,
        }
    }
}

#[test]
fn accelerations_are_those_of_lagrange_and_of_the_records() {
    let mut with_formulas = 0;
    for case in CASES {
        let record = Record::load(case.name);
        let numeric = free(&record, case.derived);
        let mut worst: f64 = 0.0;
        for seed in 0..3 {
            let parameters = if seed == 0 {
                numeric.clone()
            } else {
                drawn(&numeric, seed)
            };
            let mut settings = settings(&parameters, case.derived);
            if seed > 0 && case.name.starts_with("two_discs") {
                // The disc is the smaller one.
                let radius = settings.iter_mut().filter(|entry| entry.0 == "a");
                radius.for_each(|entry| entry.1 /= 3.0);
            }
            let compiled = Compiled::new(&format!("seeds/{}", case.name), &settings);
            let p: Values = settings.into_iter().collect();
            let n = case.velocities.len();
            for trial in 0..20 {
                let key = 100 * trial + 10_000 * seed as usize;
                let q: Vec<f64> = (0..n).map(|k| 3.0 * spread(key + k)).collect();
                let v: Vec<f64> = (0..n).map(|k| 4.0 * spread(key + 50 + k)).collect();
                let found = compiled.evaluate(&case.at(&compiled, &p, &q, &v));
                let forces = (case.forces)(&p, &q, &v);
                let mut answers = vec![lagrange(|q, v| (case.lagrangian)(&p, q, v), &forces, &q, &v)];
                answers.extend(case.recorded(&record, &p, &q, &v));
                with_formulas += answers.len() - 1;
                for wanted in answers {
                    let scale = wanted.iter().fold(1.0, |most: f64, value| most.max(value.abs()));
                    for (name, wanted) in case.velocities.iter().zip(&wanted) {
                        let found = found[compiled.position(name)];
                        let error = (found - wanted).abs() / scale;
                        worst = worst.max(error);
                        assert!(
                            error <= 1e-10,
                            "{}, {name} at {q:?}, {v:?}: {found} instead of {wanted}",
                            case.name
                        );
                    }
                }
            }
        }
        println!("{}: accelerations differ by {worst:.1e}", case.name);
    }
    assert_eq!(with_formulas, 6 * 3 * 20);
}

/// The largest deviation of a run from a record, relative to the range of each variable.
fn trajectory_error(compiled: &Compiled, run: &Trajectory) -> f64 {
    let rows = compiled.run(*run.times.last().unwrap(), run.times.len());
    run.error(|name| {
        let at = compiled.output(name);
        rows.outputs.iter().map(|row| row[at]).collect()
    })
}

#[test]
fn trajectories_are_those_of_the_records() {
    for name in CASES.iter().map(|case| case.name).chain(["euler_gyrator_ring"]) {
        let record = Record::load(name);
        let runs = record.trajectories();
        assert!(!runs.is_empty(), "{name}");
        for (at, run) in runs.iter().enumerate() {
            let compiled = Compiled::new(&format!("seeds/{name}"), &run.settings);
            let (worst, compared) = (trajectory_error(&compiled, run), run.columns.len());
            println!("{name}: {compared} variables, off by {worst:.1e} of their ranges");
            assert!(worst < 1e-8, "{name}: off by {worst:e} of its range");
            if at == 0 && record.json["nonlinear"]["outputs"].is_object() {
                assert_eq!(
                    compared,
                    compiled.system.outputs.len(),
                    "{name}: an output has no record"
                );
            }
        }
    }
}

#[test]
fn stiff_springs_in_place_of_constraints_give_the_records_runs() {
    for name in ["roller_coaster", "robot_arm"] {
        let record = Record::load(name);
        for (stiffness, k) in [("k=10000", 1e4), ("k=1e+06", 1e6)] {
            let run = &record.json["augmented"][stiffness];
            let run = record.trajectory(run);
            let mut set = run.settings.clone();
            // Velocities of the released bodies and elongations follow from the others.
            set.retain(|entry| !matches!(&*entry.0, "q_x_0" | "q_y_0" | "q3_0" | "v_y_0" | "v_x2_0" | "v_y2_0"));
            set.push(("k".to_string(), k));
            let compiled = Compiled::new(&format!("seeds/{name}_augmented"), &set);
            let (worst, compared) = (trajectory_error(&compiled, &run), run.columns.len());
            println!("{name}, {stiffness}: {compared} variables, off by {worst:.1e} of their ranges");
            assert!(worst < 2e-8, "{name}, {stiffness}: off by {worst:e} of its range");
            assert_eq!(compared, compiled.system.outputs.len(), "{name}");
        }
    }
}

/// Without friction and torques, the energy of the Lagrangian is conserved.
#[test]
fn energy_stays_where_nothing_drives_or_damps() {
    for case in CASES {
        let record = Record::load(case.name);
        let mut set = record.trajectory(&record.json["nonlinear"]).settings;
        for entry in &mut set {
            let damps = matches!(&*entry.0, "R1" | "R2" | "b1" | "b2" | "Ba" | "Bb" | "B1" | "B2");
            if damps || entry.0.starts_with("tau") {
                entry.1 = 0.0;
            }
        }
        let p: Values = set.iter().cloned().collect();
        if case.name == "lamina" {
            // In the Lagrangian the springs are relaxed on the axes.
            set.retain(|entry| !entry.0.starts_with("f_K"));
            set.push(("f_K1_0".to_string(), p["K1"] * p["l"] * p["theta_0"].sin()));
            set.push(("f_K2_0".to_string(), p["K2"] * p["l"] * p["theta_0"].cos()));
        }
        let compiled = Compiled::new(&format!("seeds/{}", case.name), &set);
        let rows = compiled.run(20.0, 401);
        let energies: Vec<f64> = rows
            .states
            .iter()
            .map(|states| {
                let state = |name: &str| states[compiled.position(name)];
                let q = (case.coordinates)(&p, &state);
                let v: Vec<f64> = case.velocities.iter().map(|name| state(name)).collect();
                energy(|q, v| (case.lagrangian)(&p, q, v), &q, &v)
            })
            .collect();
        let size = energies.iter().fold(1.0, |most: f64, value| most.max(value.abs()));
        let drift = energies
            .iter()
            .map(|value| (value - energies[0]).abs())
            .fold(0.0, f64::max)
            / size;
        let moved = rows
            .states
            .iter()
            .map(|row| (row[0] - rows.states[0][0]).abs())
            .fold(0.0, f64::max);
        println!("{}: the energy drifts by {drift:.1e} of {size:.3} J in 20 s", case.name);
        assert!(drift < 1e-9, "{}: {drift:e}", case.name);
        assert!(moved > 0.1, "{} moves", case.name);
    }
}

/// Equations 63 and 64: without a bar, a momentum is conserved, and the ring's angle follows from that of the line of
/// centres.
#[test]
fn two_discs_keep_their_momentum() {
    let record = Record::load("two_discs_special_case");
    let run = &record.json["nonlinear_full_run_k1_nonzero"];
    let set = record.trajectory(run).settings;
    let p: Values = set.iter().cloned().collect();
    let compiled = Compiled::new("seeds/two_discs_special_case", &set);
    let rows = compiled.run(6.0, 61);
    let (b, c) = (p["b"], p["b"] - p["a"]);
    let [omega1, omega, phi, theta] = ["omega1", "omega", "phi", "theta"].map(|name| compiled.output(name));
    let k1 = number(&run["conserved"]["eq63 k1"]["initial"]);
    let k2 = number(&run["conserved"]["eq64 minus k1 t"]["initial"]);
    for (time, row) in rows.times.iter().zip(&rows.outputs) {
        let ring = 2.0 * b * b * (p["m1"] + p["m2"]);
        let momentum = ring * row[omega1] - b * c * p["m2"] * (1.0 + row[phi].cos()) * row[omega];
        let place = ring * row[theta] - b * c * p["m2"] * (row[phi] + row[phi].sin()) - k1 * time;
        assert!((momentum - k1).abs() < 1e-9 * k1.abs(), "momentum {momentum} at {time}");
        assert!((place - k2).abs() < 1e-8 * k2.abs(), "place {place} at {time}");
    }
}

#[test]
fn records_values_are_the_defaults() {
    for case in CASES {
        let record = Record::load(case.name);
        let compiled = Compiled::new(&format!("seeds/{}", case.name), &[]);
        for (name, value) in values(&free(&record, case.derived)) {
            assert_eq!(compiled.parameter(&name), value, "{}: {name}", case.name);
        }
        for (state, value) in record.json["nonlinear"]["initial_conditions"].as_object().unwrap() {
            let start = compiled.parameter(&format!("{state}_0"));
            assert_eq!(start, number(value), "{}: {state}", case.name);
        }
    }
}
