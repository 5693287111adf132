//! The cases that simple compilers get wrong, each derived by hand, in both notations.
//!
//! Every derivation uses co-energy coordinates `x` (voltage of a capacitor, current of an inductor, velocity of a mass,
//! force of a spring). The compiler chooses which of several coupled storage elements has the state, and bond storage
//! has p or q. Each case therefore lists every possible state as `state = scale*(P x + Q u)`, and the matrices follow
//! by that change of coordinates: with `x = P^-1 (z - Q u)`, `A' = P A P^-1`, `B' = P B - A' Q`, `E' = P E + Q`, `C' =
//! C P^-1`, `D' = D - C' Q`, `F' = F`. The formulas were checked with a computer algebra system.

use crate::equations::networks;

use networks::adapter::{Compiled, compile_numeric};
use networks::random::Random;
use std::fs;
use std::path::Path;

type Matrix = Vec<Vec<f64>>;

/// A state that the compiler may choose: its name in the linear graph and in the bond graph, its co-energy variable in
/// terms of x and u, and the parameter that converts it to p or q.
struct Carrier {
    graph: &'static str,
    bond: &'static str,
    over_states: Vec<f64>,
    over_input: f64,
    energy: f64,
}

fn carrier(graph: &'static str, bond: &'static str, over_states: &[f64], over_input: f64, energy: f64) -> Carrier {
    Carrier {
        graph,
        bond,
        over_states: over_states.to_vec(),
        over_input,
        energy,
    }
}

/// The result of a derivation by hand, at given parameter values. All cases have one input.
struct Expected {
    a: Matrix,
    b: Vec<f64>,
    e: Vec<f64>,
    c: Matrix,
    d: Vec<f64>,
    f: Vec<f64>,
    carriers: Vec<Carrier>,
}

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    let row = |row: &Vec<f64>| {
        (0..b[0].len())
            .map(|k| row.iter().zip(b).map(|(x, other)| x * other[k]).sum())
            .collect()
    };
    a.iter().map(row).collect()
}

fn apply(a: &Matrix, x: &[f64]) -> Vec<f64> {
    a.iter()
        .map(|row| row.iter().zip(x).map(|(a, x)| a * x).sum())
        .collect()
}

/// The inverse by Gauss-Jordan elimination with row pivots.
fn inverse(a: &Matrix) -> Matrix {
    let n = a.len();
    let unit = |i: usize| (0..n).map(move |k| if i == k { 1.0 } else { 0.0 });
    let mut rows: Matrix = (0..n).map(|i| a[i].iter().copied().chain(unit(i)).collect()).collect();
    for at in 0..n {
        let pivot = (at..n)
            .max_by(|&i, &k| rows[i][at].abs().total_cmp(&rows[k][at].abs()))
            .unwrap();
        rows.swap(at, pivot);
        let first = rows[at][at];
        assert!(first != 0.0, "the states that were chosen depend on each other");
        rows[at].iter_mut().for_each(|value| *value /= first);
        let source = rows[at].clone();
        for (_, row) in rows.iter_mut().enumerate().filter(|(i, _)| *i != at) {
            let factor = row[at];
            row.iter_mut()
                .zip(&source)
                .for_each(|(value, source)| *value -= factor * source);
        }
    }
    rows.into_iter().map(|row| row[n..].to_vec()).collect()
}

/// The expected matrices for the states that the compiler chose.
fn over_states(expected: &Expected, states: &[String], bond: bool) -> [Matrix; 6] {
    let column = |values: Vec<f64>| values.into_iter().map(|value| vec![value]).collect::<Matrix>();
    let mut p = Matrix::new();
    let mut q = Vec::new();
    for name in states {
        let found = expected
            .carriers
            .iter()
            .find(|it| name == if bond { it.bond } else { it.graph });
        let found = found.unwrap_or_else(|| panic!("no state of this model is called {name}"));
        let scale = if bond { found.energy } else { 1.0 };
        p.push(found.over_states.iter().map(|value| value * scale).collect());
        q.push(found.over_input * scale);
    }
    assert_eq!(p.len(), expected.a.len(), "wrong number of states: {states:?}");
    let back = inverse(&p);
    let a = product(&product(&p, &expected.a), &back);
    let c = product(&expected.c, &back);
    let minus = |x: Vec<f64>, y: Vec<f64>| x.iter().zip(&y).map(|(x, y)| x - y).collect::<Vec<_>>();
    let b = minus(apply(&p, &expected.b), apply(&a, &q));
    let e = apply(&p, &expected.e).iter().zip(&q).map(|(x, y)| x + y).collect();
    let d = minus(expected.d.clone(), apply(&c, &q));
    [a, column(b), c, column(d), column(e), column(expected.f.clone())]
}

/// The text with the value of every listed parameter replaced.
fn with_values(text: &str, names: &[&str], values: &[f64]) -> String {
    let line = |line: &str| {
        for (name, value) in names.iter().zip(values) {
            if line.trim_start().starts_with(&format!("param {name} =")) {
                return format!("  param {name} = {value};\n");
            }
        }
        format!("{line}\n")
    };
    text.lines().map(line).collect()
}

fn assert_close(found: &Matrix, expected: &Matrix, what: &str) {
    let largest = expected
        .iter()
        .flatten()
        .fold(1e-300, |largest: f64, value| largest.max(value.abs()));
    assert_eq!(found.len(), expected.len(), "{what}: number of rows");
    for (row, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert_eq!(found.len(), expected.len(), "{what}: number of columns");
        for (column, (found, expected)) in found.iter().zip(expected).enumerate() {
            let fits = (found - expected).abs() <= 1e-12 * largest.max(1e-9);
            assert!(
                fits,
                "{what}[{}, {}] is {found}, expected {expected}",
                row + 1,
                column + 1
            );
        }
    }
}

/// Compiles both notations of a case at several values of its parameters and compares all six matrices.
fn check<const N: usize>(case: &str, names: [&str; N], expected: impl Fn([f64; N]) -> Expected) {
    let mut random = Random::new(case.len() as u64);
    for notation in ["graph", "bond"] {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/causality/headline/{case}_{notation}.lgm"));
        let text = fs::read_to_string(&path).unwrap();
        for round in 0..5 {
            let values: [f64; N] = std::array::from_fn(|_| random.between(10, 99) as f64 / 16.0);
            let source = with_values(&text, &names, &values);
            let Compiled { linear, states } =
                compile_numeric(&source).unwrap_or_else(|error| panic!("{case}_{notation}: {error}"));
            let [a, b, c, d, e, f] = over_states(&expected(values), &states, notation == "bond");
            let at = |matrix: &str| format!("{case}_{notation}, round {round}: {matrix}");
            for (found, expected, name) in [
                (&linear.a, &a, "A"),
                (&linear.b, &b, "B"),
                (&linear.c, &c, "C"),
                (&linear.d, &d, "D"),
                (&linear.e, &e, "E"),
                (&linear.f, &f, "F"),
            ] {
                assert_close(found, expected, &at(name));
            }
        }
    }
}

/// One shaft: `(J1 + J2) w' = tau - b w`; each inertia takes `J w'` of the torque.
#[test]
fn two_rigidly_joined_inertias() {
    check("two_inertias", ["J1", "J2", "b"], |[j1, j2, b]| {
        let sum = j1 + j2;
        Expected {
            a: vec![vec![-b / sum]],
            b: vec![1.0 / sum],
            e: vec![0.0],
            c: vec![vec![1.0], vec![-j1 * b / sum], vec![-j2 * b / sum]],
            d: vec![0.0, j1 / sum, j2 / sum],
            f: vec![0.0; 3],
            carriers: vec![
                carrier("rotor.w", "rotor.p", &[1.0], 0.0, j1),
                carrier("load.w", "load.p", &[1.0], 0.0, j2),
            ],
        }
    });
}

/// `x = [F, v2]`: `F' = k (v - v2)`, `m2 v2' = F`; the driven mass takes `m1 v'`, the source gives
/// `m1 v' + b v + F`.
#[test]
fn velocity_source_on_a_mass() {
    check("driven_mass", ["m1", "m2", "k", "b"], |[m1, m2, k, b]| Expected {
        a: vec![vec![0.0, -k], vec![1.0 / m2, 0.0]],
        b: vec![k, 0.0],
        e: vec![0.0; 2],
        c: vec![vec![0.0, 0.0], vec![0.0, 1.0], vec![1.0, 0.0]],
        d: vec![0.0, 0.0, b],
        f: vec![m1, 0.0, m1],
        carriers: vec![
            carrier("spring.F", "spring.q", &[1.0, 0.0], 0.0, 1.0 / k),
            carrier("far.v", "far.p", &[0.0, 1.0], 0.0, m2),
        ],
    });
}

/// `(u - va)/R1 = va/R2 + i` gives `va = (R2 u - R1 R2 i)/(R1 + R2)`; `L i' = va`; `i1 = (u - va)/R1`.
#[test]
fn loop_of_two_resistors() {
    check("resistive_loop", ["R1", "R2", "L"], |[r1, r2, l]| {
        let sum = r1 + r2;
        Expected {
            a: vec![vec![-r1 * r2 / (l * sum)]],
            b: vec![r2 / (l * sum)],
            e: vec![0.0],
            c: vec![vec![-r1 * r2 / sum], vec![r2 / sum]],
            d: vec![r2 / sum, 1.0 / sum],
            f: vec![0.0; 2],
            carriers: vec![carrier("coil.i", "coil.p", &[1.0], 0.0, l)],
        }
    });
}

/// `C1 (u' - va') = C2 va' + va/R`, so `(C1 + C2) va' = C1 u' - va/R`; `i1 = C1 (u' - va')`, `i2 = C2 va'`. The upper
/// capacitor holds `u - va`.
#[test]
fn loop_of_a_voltage_source_and_capacitors() {
    check("capacitor_loop", ["C1", "C2", "R"], |[c1, c2, r]| {
        let sum = c1 + c2;
        Expected {
            a: vec![vec![-1.0 / (r * sum)]],
            b: vec![0.0],
            e: vec![c1 / sum],
            c: vec![vec![1.0], vec![c1 / (r * sum)], vec![-c2 / (r * sum)]],
            d: vec![0.0; 3],
            f: vec![0.0, c1 * c2 / sum, c1 * c2 / sum],
            carriers: vec![
                carrier("upper.v", "upper.q", &[-1.0], 1.0, c1),
                carrier("lower.v", "lower.q", &[1.0], 0.0, c2),
            ],
        }
    });
}

/// `i2 = i - i1` and `L2 (i' - i1') = L1 i1' + R i1`, so `(L1 + L2) i1' = L2 i' - R i1`; `va = L2 (i' - i1')`.
#[test]
fn cutset_of_a_current_source_and_inductors() {
    check("inductor_cutset", ["L1", "L2", "R"], |[l1, l2, r]| {
        let sum = l1 + l2;
        Expected {
            a: vec![vec![-r / sum]],
            b: vec![0.0],
            e: vec![l2 / sum],
            c: vec![vec![-1.0], vec![l2 * r / sum]],
            d: vec![1.0, 0.0],
            f: vec![0.0, l1 * l2 / sum],
            carriers: vec![
                carrier("first.i", "first.p", &[1.0], 0.0, l1),
                carrier("second.i", "second.p", &[-1.0], 1.0, l2),
            ],
        }
    });
}

/// With g = [a, b, c]: `v4 = g' v`, and the force on the three masses is `-g m4 v4'`, so `(M + m4 g g') v' = [F, 0, 0]
/// - D v`. By Sherman and Morrison `(M + m4 g g')^-1 = M^-1 - m4 (M^-1 g)(M^-1 g)' / (1 + m4 g' M^-1 g)`.
#[test]
fn dependent_mass_on_three() {
    let names = ["m1", "m2", "m3", "m4", "a", "b", "c", "b1", "b2", "b3"];
    check("dependent_mass", names, |[m1, m2, m3, m4, a, b, c, b1, b2, b3]| {
        let (m, g, d) = ([m1, m2, m3], [a, b, c], [b1, b2, b3]);
        let scaled: Vec<f64> = (0..3).map(|i| g[i] / m[i]).collect();
        let bracket = 1.0 + m4 * (0..3).map(|i| g[i] * scaled[i]).sum::<f64>();
        let inverse =
            |i: usize, k: usize| (if i == k { 1.0 / m[i] } else { 0.0 }) - m4 * scaled[i] * scaled[k] / bracket;
        let system: Matrix = (0..3)
            .map(|i| (0..3).map(|k| -inverse(i, k) * d[k]).collect())
            .collect();
        let input: Vec<f64> = (0..3).map(|i| inverse(i, 0)).collect();
        // f4 = m4 g' v'
        let force = (0..3)
            .map(|k| m4 * (0..3).map(|i| g[i] * system[i][k]).sum::<f64>())
            .collect();
        let direct = m4 * (0..3).map(|i| g[i] * input[i]).sum::<f64>();
        Expected {
            a: system,
            b: input,
            e: vec![0.0; 3],
            c: vec![vec![1.0, 0.0, 0.0], g.to_vec(), force],
            d: vec![0.0, 0.0, direct],
            f: vec![0.0; 3],
            carriers: vec![
                carrier("M.v[1]", "I1.p", &[1.0, 0.0, 0.0], 0.0, m1),
                carrier("M.v[2]", "I2.p", &[0.0, 1.0, 0.0], 0.0, m2),
                carrier("M.v[3]", "I3.p", &[0.0, 0.0, 1.0], 0.0, m3),
                carrier("last.v", "I4.p", &g, 0.0, m4),
            ],
        }
    });
}

/// Seen from the capacitor the two dividers are `u R2/(R1 + R2) - u R4/(R3 + R4)` behind
/// `Rp = R1 R2/(R1 + R2)` plus `Rq = R3 R4/(R3 + R4)`: `C v' = i`, `i = (u (k - l) - v)/(Rp + Rq)`; `vl = k u - Rp i`,
/// `vr = l u + Rq i`.
#[test]
fn wheatstone_bridge() {
    check("wheatstone", ["R1", "R2", "R3", "R4", "C"], |[r1, r2, r3, r4, c]| {
        let (k, l) = (r2 / (r1 + r2), r4 / (r3 + r4));
        let (p, q) = (r1 * k, r3 * l);
        let sum = p + q;
        Expected {
            a: vec![vec![-1.0 / (sum * c)]],
            b: vec![(k - l) / (sum * c)],
            e: vec![0.0],
            c: vec![vec![p / sum], vec![-q / sum]],
            d: vec![k - p * (k - l) / sum, l + q * (k - l) / sum],
            f: vec![0.0; 2],
            carriers: vec![carrier("bridge.v", "bridge.q", &[1.0], 0.0, c)],
        }
    });
}

/// `x = [i, vb, vc]`. At a: `i = (va - vb)/Rab + (va - vc)/Rca`, so
/// `va = (Rab Rca i + Rca vb + Rab vc)/(Rab + Rca)`; then `L i' = u - va`,
/// `Cb vb' = (va - vb)/Rab - (vb - vc)/Rbc`, `Cc vc' = (va - vc)/Rca + (vb - vc)/Rbc`.
#[test]
fn delta_of_resistors_between_storages() {
    check(
        "resistor_delta",
        ["L", "Cb", "Cc", "Rab", "Rbc", "Rca"],
        |[l, cb, cc, rab, rbc, rca]| {
            let sum = rab + rca;
            let va = [rab * rca / sum, rca / sum, rab / sum];
            let link = |own: usize, resistance: f64, i: usize| (va[i] - if i == own { 1.0 } else { 0.0 }) / resistance;
            let third = [0.0, 1.0 / rbc, -1.0 / rbc];
            let row = |make: &dyn Fn(usize) -> f64| (0..3).map(make).collect::<Vec<f64>>();
            Expected {
                a: vec![
                    row(&|i| -va[i] / l),
                    row(&|i| (link(1, rab, i) - third[i]) / cb),
                    row(&|i| (link(2, rca, i) + third[i]) / cc),
                ],
                b: vec![1.0 / l, 0.0, 0.0],
                e: vec![0.0; 3],
                c: vec![va.to_vec(), row(&|i| link(1, rab, i))],
                d: vec![0.0; 2],
                f: vec![0.0; 2],
                carriers: vec![
                    carrier("coil.i", "coil.p", &[1.0, 0.0, 0.0], 0.0, l),
                    carrier("cb.v", "cb.q", &[0.0, 1.0, 0.0], 0.0, cb),
                    carrier("cc.v", "cc.q", &[0.0, 0.0, 1.0], 0.0, cc),
                ],
            }
        },
    );
}

/// `vb = r va`. The power of the source is stored or dissipated: `i va = C1 va va' + C2 vb vb' + (va - vb)^2/R`, so
/// `(C1 + r^2 C2) va' = i - (1 - r)^2 va/R`. At a: `ta = i - (va - vb)/R - C1 va'`.
#[test]
fn transformer_that_closes_a_mesh() {
    check("transformer_mesh", ["C1", "C2", "R", "r"], |[c1, c2, r, ratio]| {
        let sum = c1 + ratio * ratio * c2;
        let rate = -(1.0 - ratio) * (1.0 - ratio) / (r * sum);
        Expected {
            a: vec![vec![rate]],
            b: vec![1.0 / sum],
            e: vec![0.0],
            c: vec![vec![ratio], vec![-(1.0 - ratio) / r - c1 * rate]],
            d: vec![0.0, 1.0 - c1 / sum],
            f: vec![0.0; 2],
            carriers: vec![
                carrier("first.v", "first.q", &[1.0], 0.0, c1),
                carrier("second.v", "second.q", &[ratio], 0.0, c2),
            ],
        }
    });
}
