//! Mechanisms with moduli that change: accelerations against Lagrange's equations by automatic differentiation, and
//! trajectories against the records of known answers.

#[path = "mechanisms/jet.rs"]
mod jet;
#[path = "mechanisms/random.rs"]
mod random;
mod support;

use jet::{Jet, lagrange};
use lgm::diagnostic::render;
use lgm::equations::StateSystem;
use lgm::expr::{ExprId, Exprs, SymbolId};
use lgm::source::{NoFiles, SourceMap};
use std::collections::HashMap;
use support::program::example;
use support::records::{Parameters, Record, drawn, number, numbers};

/// Names with values.
type Values = HashMap<String, f64>;

/// States by name.
type States = Vec<(&'static str, f64)>;

/// One mechanism.
struct Case {
    /// Record and file.
    name: &'static str,
    /// Parameters that follow from others.
    derived: &'static [&'static str],
    /// The states whose rates are the accelerations, in the order of the coordinates.
    velocities: &'static [&'static str],
    /// The other states at given coordinates and velocities.
    states: fn(&Values, &[f64], &[f64]) -> States,
    /// Kinetic less potential energy.
    lagrangian: fn(&Values, &[Jet], &[Jet]) -> Jet,
    /// The other generalised forces.
    forces: fn(&Values, &[f64], &[f64]) -> Vec<f64>,
}

/// Kinetic energy of a point less its potential energy, height up.
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

/// `psi` of the disc that rolls in the ring and `phi` of the line of centres follow from each other.
fn discs(p: &Values, v: &[Jet], phi: Jet, phi_rate: Jet, distance: f64, mass: f64) -> Jet {
    point(
        p,
        mass,
        -(v[0] * p["b"]) + phi.cos() * phi_rate * distance,
        phi.sin() * phi_rate * distance,
        -(phi.cos() * distance),
    )
}

const CASES: &[Case] = &[
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
        states: |_, q, _| vec![("angle[1]", q[0]), ("angle[2]", q[1])],
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
        lagrangian: |p, q, v| {
            let inner = q[0] * p["b"];
            let slope = -(inner.sin() * (p["a"] * p["b"])) + p["c"];
            point(p, p["m"], v[0], slope * v[0], inner.cos() * p["a"] + q[0] * p["c"])
        },
        forces: |_, _, _| vec![0.0],
    },
];

/// A compiled model whose equations are evaluated at will.
struct Compiled {
    system: StateSystem,
    exprs: Exprs,
    roots: Vec<ExprId>,
    parameters: HashMap<SymbolId, f64>,
}

impl Compiled {
    /// A model of the examples with these parameters.
    fn new(name: &str, settings: &[(String, f64)]) -> Compiled {
        let path = example(&format!("seeds/{name}.lgm"));
        Compiled::of_text(name, std::fs::read_to_string(path).unwrap(), settings)
    }

    fn of_text(name: &str, text: String, settings: &[(String, f64)]) -> Compiled {
        let mut map = SourceMap::default();
        let root = map.add(format!("{name}.lgm"), text, None);
        let mut request = lgm::Request::default();
        for (name, value) in settings {
            let option = format!("{name}={value:?}");
            let source = map.add(format!("--set {option}"), option.clone(), None);
            request.settings.sets.push((option, source));
        }
        let (system, diagnostics) = lgm::compile(&NoFiles, &mut map, root, &request);
        let system = system.unwrap_or_else(|| panic!("{name}\n{}", render(&map, &diagnostics, false)));
        assert!(system.loops.is_empty(), "{name} has a loop");
        let mut exprs = system.exprs.clone();
        let mut assigned: HashMap<SymbolId, ExprId> = HashMap::new();
        for assignment in &system.assignments {
            let value = exprs.substitute(&[assignment.value], |symbol| assigned.get(&symbol).copied())[0];
            assigned.insert(assignment.symbol, value);
        }
        let all: Vec<ExprId> = system
            .derivatives
            .iter()
            .chain(&system.output_values)
            .copied()
            .collect();
        let roots = exprs.substitute(&all, |symbol| assigned.get(&symbol).copied());
        let entries = system.parameters.iter().flat_map(|parameter| &parameter.entries);
        let parameters = entries
            .map(|entry| (entry.symbol, lgm::expr::to_f64(&entry.value)))
            .collect();
        Compiled {
            system,
            exprs,
            roots,
            parameters,
        }
    }

    /// Derivatives, then outputs.
    fn evaluate(&self, states: &[f64]) -> Vec<f64> {
        let value = |symbol: SymbolId| {
            let state = self.system.states.iter().position(|state| state.symbol == symbol);
            state
                .map(|k| states[k])
                .or_else(|| self.parameters.get(&symbol).copied())
        };
        self.exprs.evaluate_f64(&self.roots, 0.0, &value).unwrap()
    }

    fn position(&self, name: &str) -> usize {
        let found = self.system.states.iter().position(|state| &*state.name == name);
        found.unwrap_or_else(|| panic!("no state {name}"))
    }

    fn starts(&self) -> Vec<f64> {
        self.system.states.iter().map(|state| state.start_value).collect()
    }

    fn output(&self, name: &str) -> usize {
        let found = self.system.outputs.iter().position(|output| &*output.name == name);
        self.system.states.len() + found.unwrap_or_else(|| panic!("no output {name}"))
    }

    /// A step of the classical Runge-Kutta method.
    fn step(&self, x: &[f64], h: f64) -> Vec<f64> {
        let n = x.len();
        let moved = |rate: &[f64], h: f64| -> Vec<f64> { x.iter().zip(rate).map(|(x, rate)| x + h * rate).collect() };
        let a = self.evaluate(x);
        let b = self.evaluate(&moved(&a, h / 2.0));
        let c = self.evaluate(&moved(&b, h / 2.0));
        let d = self.evaluate(&moved(&c, h));
        (0..n)
            .map(|k| x[k] + h / 6.0 * (a[k] + 2.0 * b[k] + 2.0 * c[k] + d[k]))
            .collect()
    }
}

/// The parameters of a record that are numbers, as settings.
fn settings(parameters: &Parameters, derived: &[&str]) -> Vec<(String, f64)> {
    let set = parameters.iter().filter(|entry| !derived.contains(&&*entry.0));
    set.map(|(name, value)| (name.clone(), number(value))).collect()
}

/// A number between -1 and 1 for each key.
fn spread(key: usize) -> f64 {
    let word = (key as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    2.0 * ((word >> 20) % 99_991) as f64 / 99_991.0 - 1.0
}

#[test]
fn accelerations_are_those_of_lagrange() {
    for case in CASES {
        let record = Record::load(case.name);
        let numeric: Parameters = record
            .parameters()
            .into_iter()
            .filter(|entry| !case.derived.contains(&&*entry.0))
            .collect();
        for seed in 0..3 {
            let parameters = if seed == 0 {
                numeric.clone()
            } else {
                drawn(&numeric, seed)
            };
            let mut settings = settings(&parameters, case.derived);
            if case.name.starts_with("two_discs") {
                // The disc is the smaller one.
                settings
                    .iter_mut()
                    .filter(|entry| entry.0 == "a")
                    .for_each(|entry| entry.1 /= 3.0);
            }
            let compiled = Compiled::new(case.name, &settings);
            let p: Values = settings.into_iter().collect();
            let n = case.velocities.len();
            for trial in 0..20 {
                let key = 100 * trial + 10_000 * seed as usize;
                let q: Vec<f64> = (0..n).map(|k| 3.0 * spread(key + k)).collect();
                let v: Vec<f64> = (0..n).map(|k| 4.0 * spread(key + 50 + k)).collect();
                let mut states = compiled.starts();
                for (name, value) in (case.states)(&p, &q, &v) {
                    states[compiled.position(name)] = value;
                }
                for (name, value) in case.velocities.iter().zip(&v) {
                    states[compiled.position(name)] = *value;
                }
                let found = compiled.evaluate(&states);
                let forces = (case.forces)(&p, &q, &v);
                let wanted = lagrange(|q, v| (case.lagrangian)(&p, q, v), &forces, &q, &v);
                for (name, wanted) in case.velocities.iter().zip(&wanted) {
                    let found = found[compiled.position(name)];
                    let scale = wanted.abs().max(1.0);
                    assert!(
                        (found - wanted).abs() <= 1e-9 * scale,
                        "{}, {name} at {q:?}, {v:?}: {found} instead of {wanted}",
                        case.name
                    );
                }
            }
        }
    }
}

/// The largest difference to a record's trajectory and outputs, relative to the range of each.
fn trajectory_error(name: &str, derived: &[&str]) -> f64 {
    let record = Record::load(name);
    let mut set = settings(
        &record
            .parameters()
            .into_iter()
            .filter(|entry| !derived.contains(&&*entry.0))
            .collect(),
        &[],
    );
    let nonlinear = &record.json["nonlinear"];
    for (state, value) in nonlinear["initial_conditions"].as_object().unwrap() {
        set.push((format!("{state}_0"), number(value)));
    }
    let compiled = Compiled::new(name, &set);
    let times: Vec<f64> = numbers(&serde_json::json!([nonlinear["t"]])).remove(0);
    let mut wanted: Vec<(usize, Vec<f64>)> = Vec::new();
    for part in ["trajectory", "outputs"] {
        for (name, list) in nonlinear[part].as_object().into_iter().flatten() {
            let name = name.split_whitespace().next().unwrap();
            let name = if name.starts_with("theta") && part == "trajectory" && record.name == "robot_arm" {
                name.replace("theta", "theta_")
            } else {
                name.to_string()
            };
            wanted.push((compiled.output(&name), numbers(&serde_json::json!([list])).remove(0)));
        }
    }
    assert!(
        wanted.len() >= compiled.system.outputs.len(),
        "{name}: an output has no record"
    );
    let mut worst: f64 = 0.0;
    let mut states = compiled.starts();
    for (row, time) in times.iter().enumerate() {
        if row > 0 {
            let steps = 60;
            let h = (time - times[row - 1]) / f64::from(steps);
            for _ in 0..steps {
                states = compiled.step(&states, h);
            }
        }
        let found = compiled.evaluate(&states);
        for (position, list) in &wanted {
            let range = list.iter().map(|value| value.abs()).fold(0.0, f64::max);
            worst = worst.max((found[*position] - list[row]).abs() / range);
        }
    }
    worst
}

#[test]
fn trajectories_are_those_of_the_records() {
    for case in CASES {
        let worst = trajectory_error(case.name, case.derived);
        assert!(worst < 2e-6, "{}: off by {worst:e} of its range", case.name);
    }
}

#[test]
fn the_ring_of_gyrators_keeps_energy_and_momentum() {
    assert!(trajectory_error("euler_gyrator_ring", &[]) < 2e-6);
    let compiled = Compiled::new("euler_gyrator_ring", &[]);
    let mut states = compiled.starts();
    let inertias = [0.9, 1.7, 2.3];
    let kept = |states: &[f64]| {
        let energy: f64 = states.iter().zip(inertias).map(|(p, inertia)| p * p / inertia).sum();
        let momentum: f64 = states.iter().map(|p| p * p).sum();
        (energy, momentum)
    };
    let before = kept(&states);
    for _ in 0..4_000 {
        states = compiled.step(&states, 5e-3);
    }
    let after = kept(&states);
    assert!((after.0 / before.0 - 1.0).abs() < 1e-8, "energy {before:?} {after:?}");
    assert!((after.1 / before.1 - 1.0).abs() < 1e-8, "momentum {before:?} {after:?}");
}

#[test]
fn random_mechanisms_move_as_lagrange_says() {
    for seed in 0..16 {
        let mechanism = random::Mechanism::new(seed);
        let compiled = Compiled::of_text(&format!("random mechanism {seed}"), mechanism.text(), &[]);
        let names = mechanism.velocities();
        for trial in 0..5 {
            let key = 1_000 * seed as usize + 10 * trial;
            let q: Vec<f64> = (0..2).map(|k| 2.0 * spread(key + k)).collect();
            let v: Vec<f64> = (0..2).map(|k| 2.0 * spread(key + 5 + k)).collect();
            let mut states = compiled.starts();
            for k in 0..2 {
                states[compiled.position(&format!("q{}", k + 1))] = q[k];
                states[compiled.position(&names[k])] = v[k];
            }
            let found = compiled.evaluate(&states);
            let wanted = lagrange(|q, v| mechanism.lagrangian(q, v), &[0.0, 0.0], &q, &v);
            for (name, wanted) in names.iter().zip(wanted) {
                let found = found[compiled.position(name)];
                assert!(
                    (found - wanted).abs() <= 1e-7 * wanted.abs().max(1.0),
                    "{}\n{name} at {q:?}, {v:?}: {found} instead of {wanted}",
                    mechanism.text()
                );
            }
        }
    }
}
