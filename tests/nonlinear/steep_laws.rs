//! Diodes, limiters and laws with a knee in parallel with large resistors, driven by current sources.
//!
//! The expected voltages come from a nodal analysis without graphs: the currents of each node add up to zero, and the
//! node voltages are the unknowns. Newton's method follows a path along which conductances from the nodes to the
//! reference vanish. Each law is monotone, so the solution is unique.
//!
//! `LGM_CASES` multiplies the number of random networks.

use crate::emit::fmu::driven::{Driven, has_compiler};
use crate::support::emitted::{Rows, compile, emit, must, python, rust_program};
use crate::support::program::succeed;
use crate::support::records::Dice;
use nalgebra::{DMatrix, DVector};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const NETS: u64 = 6;

/// The saturation current and the thermal voltage of the library's diode.
const SATURATION: f64 = 1e-12;
const THERMAL: f64 = 0.02585;

#[derive(Clone, Copy)]
enum Law {
    Resistor(f64),
    Diode,
    /// Its largest current, and the voltage there of the linear law.
    Limiter(f64, f64),
    /// The conductances below and above a voltage.
    Knee([f64; 3]),
}

impl Law {
    /// The current at a voltage, and its slope.
    fn current(self, v: f64) -> (f64, f64) {
        match self {
            Law::Resistor(r) => (v / r, 1.0 / r),
            Law::Diode => {
                let grown = (v / THERMAL).min(600.0);
                (SATURATION * grown.exp_m1(), SATURATION * grown.exp() / THERMAL)
            }
            Law::Limiter(most, width) => {
                let share = (v / width).tanh();
                (most * share, most / width * (1.0 - share * share))
            }
            Law::Knee([before, behind, knee]) => {
                let more = if v > knee { behind } else { 0.0 };
                (before * v + more * (v - knee), before + more)
            }
        }
    }

    fn text(self) -> String {
        match self {
            Law::Resistor(r) => format!("Resistor({r:e})"),
            Law::Diode => "Diode()".to_string(),
            Law::Limiter(most, width) => format!("Limiter({most}, {width})"),
            Law::Knee([before, behind, knee]) => format!("Knee({before:e}, {behind}, {knee})"),
        }
    }
}

/// Branches between nodes, of which 0 is the reference, and the currents of sources, in amperes.
struct Net {
    nodes: usize,
    branches: Vec<(Law, usize, usize)>,
    sources: Vec<(f64, usize, usize)>,
}

impl Net {
    /// The model; the factor of the currents is a text.
    fn text(&self, factor: &str) -> String {
        let name = |node: usize| match node {
            0 => "gnd".to_string(),
            node => format!("n{node}"),
        };
        let mut text = "import nonlinear;
element Limiter(most [A], width [V]) : electrical { through = most*tanh(across/width); }
element Knee(before [S], behind [S], knee [V]) : electrical { through = before*across + behind*max(across - knee, 0 [V]); }
model Net {
"
        .to_string();
        for node in 1..=self.nodes {
            writeln!(text, "  node n{node} : electrical; output v{node} = across(n{node});").unwrap();
        }
        for (at, (law, from, to)) in self.branches.iter().enumerate() {
            let (law, from, to) = (law.text(), name(*from), name(*to));
            writeln!(text, "  e{at} : {law} {from} -> {to};").unwrap();
        }
        for (at, (current, from, to)) in self.sources.iter().enumerate() {
            let (from, to) = (name(*from), name(*to));
            writeln!(text, "  s{at} : CurrentSource({current}*{factor}) {from} -> {to};").unwrap();
        }
        text + "  experiment { stop = 0.02 [s]; points = 9; }\n}\n"
    }

    /// The residual currents of the nodes and their partial derivatives, with a parallel conductance at each node.
    fn balance(&self, v: &DVector<f64>, factor: f64, beside: f64) -> (DVector<f64>, DMatrix<f64>) {
        let mut left = beside * v;
        let mut slopes = DMatrix::identity(self.nodes, self.nodes) * beside;
        let at = |node: usize| if node == 0 { 0.0 } else { v[node - 1] };
        for (law, from, to) in &self.branches {
            let (current, slope) = law.current(at(*from) - at(*to));
            for (row, sign) in [(*from, 1.0), (*to, -1.0)] {
                if row > 0 {
                    left[row - 1] += sign * current;
                    for (column, other) in [(*from, sign), (*to, -sign)] {
                        if column > 0 {
                            slopes[(row - 1, column - 1)] += slope * other;
                        }
                    }
                }
            }
        }
        for (current, from, to) in &self.sources {
            for (row, sign) in [(*from, factor), (*to, -factor)] {
                if row > 0 {
                    left[row - 1] += sign * current;
                }
            }
        }
        (left, slopes)
    }

    fn newton(&self, mut v: DVector<f64>, factor: f64, beside: f64) -> Option<DVector<f64>> {
        for _ in 0..400 {
            let (left, slopes) = self.balance(&v, factor, beside);
            let step = slopes.lu().solve(&left)?;
            let size = v.amax().max(1.0);
            v -= &step * (0.5 * size / step.amax()).min(1.0);
            if step.amax() <= 1e-14 * size {
                return Some(v);
            }
        }
        // Round-off keeps the steps of a node behind large resistors from shrinking further.
        let (left, slopes) = self.balance(&v, factor, beside);
        let step = slopes.lu().solve(&left)?;
        (step.amax() <= 1e-9 * v.amax().max(1.0)).then_some(v)
    }

    /// The voltages of the nodes.
    fn voltages(&self, factor: f64) -> Option<Vec<f64>> {
        let mut beside = 10.0;
        let mut v = self.newton(DVector::zeros(self.nodes), factor, beside)?;
        let mut share = 0.1_f64;
        while beside > 0.0 {
            let next = if beside > 1e-20 { beside * share } else { 0.0 };
            match self.newton(v.clone(), factor, next) {
                Some(found) => (v, beside, share) = (found, next, (share * share).max(0.1)),
                None if share < 0.999 => share = share.sqrt(),
                None => return None,
            }
        }
        Some(v.iter().copied().collect())
    }

    /// A network of two to five nodes with a large resistor in parallel with each law.
    fn random(seed: u64) -> Net {
        let mut dice = Dice::new(seed + 1);
        let mut below = |count: usize| (dice.between(0.0, count as f64) as usize).min(count - 1);
        let nodes = 2 + below(4);
        let mut branches = Vec::new();
        let law = |below: &mut dyn FnMut(usize) -> usize| match below(6) {
            0..=2 => Law::Diode,
            3 | 4 => Law::Limiter([1e-3, 1e-2, 0.1][below(3)], [0.01, 0.1, 1.0][below(3)]),
            _ => Law::Knee([
                [1e-9, 1e-6][below(2)],
                [0.1, 1.0, 10.0][below(3)],
                [-0.5, 0.3, 0.7][below(3)],
            ]),
        };
        for node in 1..=nodes {
            let (law, other) = (law(&mut below), below(node));
            let (from, to) = if below(2) == 0 { (node, other) } else { (other, node) };
            branches.push((law, from, to));
        }
        for _ in 0..=below(4) {
            let from = below(nodes + 1);
            let to = (from + 1 + below(nodes)) % (nodes + 1);
            branches.push((law(&mut below), from, to));
        }
        let beside: Vec<_> = branches
            .iter()
            .map(|branch| (Law::Resistor(1e9), branch.1, branch.2))
            .collect();
        branches.extend(beside);
        branches.push((Law::Resistor([10.0, 200.0, 1000.0][below(3)]), 1 + below(nodes), 0));
        let mut sources = Vec::new();
        for _ in 0..=below(2) {
            let from = below(nodes + 1);
            let to = (from + 1 + below(nodes)) % (nodes + 1);
            sources.push(([1e-6, 1e-3, 0.02, 0.1][below(4)], from, to));
        }
        Net {
            nodes,
            branches,
            sources,
        }
    }
}

/// A bridge on a current source and two pairs of antiparallel diodes, with a resistor in parallel with each diode.
fn nets(beside: f64) -> [Net; 2] {
    let with_resistors = |nodes, diodes: &[(usize, usize)], more: &[(Law, usize, usize)], source| Net {
        nodes,
        branches: diodes
            .iter()
            .flat_map(|(from, to)| [(Law::Diode, *from, *to), (Law::Resistor(beside), *from, *to)])
            .chain(more.iter().copied())
            .collect(),
        sources: vec![source],
    };
    [
        with_resistors(
            3,
            &[(1, 3), (2, 3), (0, 1), (0, 2)],
            &[(Law::Resistor(200.0), 3, 0)],
            (0.1, 2, 1),
        ),
        with_resistors(2, &[(1, 2), (0, 2), (2, 1), (2, 0)], &[], (0.1, 0, 1)),
    ]
}

/// Asserts the voltages of a run with currents of the form `sin(2*pi*50*time)`.
#[track_caller]
fn assert_voltages(what: &str, net: &Net, rows: &Rows) {
    assert_eq!(rows.values.len(), 9, "{what}");
    for row in &rows.values {
        // Near zero crossings of a sine, the round-off of its argument dominates.
        let factor = (2.0 * std::f64::consts::PI * 50.0 * row[0]).sin();
        if factor.abs() < 0.1 {
            continue;
        }
        for (at, expected) in net
            .voltages(factor)
            .expect("the reference has a solution")
            .iter()
            .enumerate()
        {
            let found = row[1 + at];
            let apart = (found - expected).abs() / expected.abs().max(1e-6);
            assert!(
                apart <= 1e-6,
                "{what}, node {} at {}: {found} and not {expected}",
                at + 1,
                row[0]
            );
        }
    }
}

const FACTOR: &str = "sin(2*pi*50*time)";

fn write(folder: &Path, text: &str) -> PathBuf {
    let file = folder.join("net.lgm");
    fs::write(&file, text).unwrap();
    file
}

#[test]
fn bridges_and_pairs_beside_any_resistors_are_right() {
    for exponent in 4..=12 {
        for (kind, net) in nets(10_f64.powi(exponent)).iter().enumerate() {
            let scratch = tempfile::tempdir().unwrap();
            let file = write(scratch.path(), &net.text(FACTOR));
            let rows = succeed(&["simulate".into(), file.display().to_string(), "--verify".into()]);
            assert_voltages(&format!("net {kind} with 1e{exponent} ohm"), net, &Rows::read(&rows));
        }
    }
}

#[test]
fn random_nets_beside_large_resistors_are_right() {
    let nets = crate::support::cases::many(NETS);
    let mut faults = Vec::new();
    for seed in 0..nets {
        let net = Net::random(seed);
        let Some(expected) = net.voltages(1.0) else {
            continue;
        };
        let scratch = tempfile::tempdir().unwrap();
        let file = write(scratch.path(), &net.text("1"));
        let run = crate::support::program::run(&["simulate".into(), file.display().to_string()]);
        if !run.status.success() {
            faults.push(format!("{seed}: {}", String::from_utf8_lossy(&run.stderr)));
            continue;
        }
        let rows = Rows::read(&String::from_utf8_lossy(&run.stdout));
        // The reference has 16 digits of the largest voltage.
        let least = expected
            .iter()
            .fold(1e-6, |most: f64, value| most.max(1e-9 * value.abs()));
        let pairs = rows.values[0][1..].iter().zip(&expected);
        let apart = pairs.map(|(found, expected)| (found - expected).abs() / expected.abs().max(least));
        let worst = apart.fold(0.0, f64::max);
        if worst > 1e-6 {
            faults.push(format!("{seed}: by {worst:e}\n{}", net.text("1")));
        }
    }
    assert!(faults.is_empty(), "{} of {nets}:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn every_target_solves_a_bridge_beside_large_resistors() {
    for (kind, net) in nets(1e12).iter().enumerate() {
        let scratch = tempfile::tempdir().unwrap();
        let file = write(scratch.path(), &net.text(FACTOR));
        let code = |target: &str| {
            let folder = scratch.path().join(target);
            emit(&file, target, &folder, &[]);
            folder
        };
        let check =
            |target: &str, text: &str| assert_voltages(&format!("net {kind} in {target}"), net, &Rows::read(text));
        if has_compiler() {
            check("c", &must(&mut Command::new(compile(&code("c"), &[]))));
            let like = Rows::read(&succeed(&["simulate".into(), file.display().to_string()]));
            let driven = Driven::new(&file, "fmu3", &scratch.path().join("fmu"), &[]);
            let rows = driven.rows("cs", &like, "1e-6", &[]);
            assert_voltages(&format!("net {kind} in an FMU"), net, &rows);
        }
        check("rust", &must(&mut Command::new(rust_program(&code("rust")))));
        if let Some(python) = python("numpy, scipy") {
            let module = code("python").join("net.py");
            check("python", &must(Command::new(&python).arg(module)));
        }
        // `fsolve` of MATLAB does not solve them, and its program says so.
    }
}
