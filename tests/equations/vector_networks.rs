//! Random networks of vector elements with full matrices, compared with equivalent networks of scalar elements, and
//! block equations compared with the matrices A and B.
//!
//! The scalar network of a stiffness `C' D C` has a spring for each entry of D. Its across variable is the sum of those
//! of the nodes, weighted by a row of C, formed by scalar transformers in series. Masses, dampers and transformers are
//! treated alike.

use crate::support::cases;

use cases::cases;
use lgm::analysis::{ResponseRequest, response};
use lgm::emit::{MatrixOptions, TextOptions};
use lgm::equations::{LinearForm, Options, SparseMatrix, StateSystem};
use lgm::model::blocks::{BlockFactor, BlockForm, BlockProduct, BlockTerm};
use lgm::rendering::render;
use lgm::source::{NoFiles, SourceMap};
use nalgebra::DMatrix;
use num_complex::Complex64;
use proptest::prelude::*;
use std::collections::HashMap;
use std::fmt::Write;

/// `C' D C` with D diagonal and positive.
#[derive(Clone, Debug)]
struct Field {
    rows: Vec<Vec<f64>>,
    weights: Vec<f64>,
}

impl Field {
    fn matrix(&self, n: usize) -> DMatrix<f64> {
        DMatrix::from_fn(n, n, |i, j| {
            let terms = self.rows.iter().zip(&self.weights);
            terms.map(|(row, weight)| row[i] * weight * row[j]).sum()
        })
    }
}

/// The elements at one vector node.
#[derive(Clone, Debug)]
struct Station {
    width: usize,
    mass: Option<Field>,
    spring: Option<Field>,
    damper: Option<Field>,
}

/// A vector node, and a second one behind a transformer.
#[derive(Clone, Debug)]
struct Network {
    first: Station,
    second: Station,
    ratio: DMatrix<f64>,
    force: Vec<f64>,
}

/// A multiple of a quarter, whose text is exact.
fn quarters(from: i32, to: i32) -> impl Strategy<Value = f64> {
    (from..=to).prop_map(|quarter| f64::from(quarter) / 4.0)
}

/// A field with n rows; if n is the width, a lower triangle with a unit diagonal makes it positive definite.
fn field(width: usize, rank: usize) -> impl Strategy<Value = Field> {
    let rows = prop::collection::vec(prop::collection::vec(quarters(-6, 6), width), rank);
    (rows, prop::collection::vec(quarters(1, 12), rank)).prop_map(move |(mut rows, weights)| {
        for (k, row) in rows.iter_mut().enumerate() {
            row[k] = 1.0;
            row[k + 1..].fill(0.0);
        }
        Field { rows, weights }
    })
}

fn station(width: usize, always_mass: bool) -> impl Strategy<Value = Station> {
    let spring = (1..=width).prop_flat_map(move |rank| field(width, rank));
    let mass = (field(width, width), any::<bool>())
        .prop_map(move |(mass, is_there)| (always_mass || is_there).then_some(mass));
    let damper = (1..=width).prop_flat_map(move |rank| field(width, rank));
    (mass, prop::option::of(spring), prop::option::of(damper)).prop_map(move |(mass, spring, damper)| Station {
        width,
        mass,
        spring,
        damper,
    })
}

fn network() -> impl Strategy<Value = Network> {
    (1usize..4, 1usize..4).prop_flat_map(|(n, m)| {
        let ratio = prop::collection::vec(quarters(-5, 5), n * m);
        let force = prop::collection::vec(quarters(-8, 8), n);
        (station(n, true), station(m, false), ratio, force).prop_map(move |(first, second, ratio, force)| Network {
            first,
            second,
            ratio: DMatrix::from_row_slice(m, n, &ratio),
            force,
        })
    })
}

fn literal(matrix: &DMatrix<f64>) -> String {
    let rows = matrix.row_iter().map(|row| {
        let entries: Vec<String> = row.iter().map(f64::to_string).collect();
        format!("[{}]", entries.join(", "))
    });
    format!("[{}]", rows.collect::<Vec<_>>().join(", "))
}

const PARTS: [&str; 3] = ["Mass", "Spring", "Damper"];

fn parts(station: &Station) -> [&Option<Field>; 3] {
    [&station.mass, &station.spring, &station.damper]
}

fn vector_text(network: &Network) -> String {
    let (n, m) = (network.first.width, network.second.width);
    let mut text = format!("model V {{\n  input u = 1;\n  node q[{n}] vector, p[{m}] vector : translational;\n");
    for (node, station) in [("q", &network.first), ("p", &network.second)] {
        for (kind, part) in PARTS.iter().zip(parts(station)) {
            if let Some(field) = part {
                let matrix = literal(&field.matrix(station.width));
                writeln!(text, "  {kind}_{node} : {kind}({matrix}) {node} -> gnd;").unwrap();
            }
        }
    }
    let force: Vec<String> = network.force.iter().map(|force| format!("{force}*u")).collect();
    let ratio = literal(&network.ratio);
    writeln!(
        text,
        "  gear : Transformer({ratio}) q -> gnd, p -> gnd;\n  push : ForceSource([{}]) gnd -> q;\n{}}}",
        force.join(", "),
        outputs(network)
    )
    .unwrap();
    text
}

/// The across variables of both nodes.
fn outputs(network: &Network) -> String {
    let list = |node: &str, count: usize, text: &mut String| {
        for k in 1..=count {
            writeln!(text, "  output y_{node}{k} = across({node}[{k}]);").unwrap();
        }
    };
    let mut text = String::new();
    list("q", network.first.width, &mut text);
    list("p", network.second.width, &mut text);
    text
}

/// Scalar transformers in series from the reference to a node: the across variable is the weighted sum.
fn weighted(name: &str, node: &str, weights: &[f64], from: &str, text: &mut String) {
    let used: Vec<usize> = (0..weights.len()).filter(|k| weights[*k] != 0.0).collect();
    let mut below = "gnd".to_string();
    for (place, k) in used.iter().enumerate() {
        let above = match place + 1 == used.len() {
            true => node.to_string(),
            false => {
                let joint = format!("{name}_{k}");
                writeln!(text, "  node {joint} : translational;").unwrap();
                joint
            }
        };
        writeln!(
            text,
            "  {name}_t{k} : Transformer({}) {from}[{}] -> gnd, {above} -> {below};",
            weights[*k],
            k + 1
        )
        .unwrap();
        below = above;
    }
    if used.is_empty() {
        writeln!(text, "  {name}_t : VelocitySource(0) {node} -> gnd;").unwrap();
    }
}

fn scalar_text(network: &Network) -> String {
    let (n, m) = (network.first.width, network.second.width);
    let mut text = format!("model S {{\n  input u = 1;\n  node q[{n}], p[{m}] : translational;\n");
    for (node, station) in [("q", &network.first), ("p", &network.second)] {
        for (kind, part) in PARTS.iter().zip(parts(station)) {
            let Some(field) = part else { continue };
            for (k, (row, weight)) in field.rows.iter().zip(&field.weights).enumerate() {
                let name = format!("{kind}_{node}_{k}");
                writeln!(text, "  node {name}_n : translational;").unwrap();
                weighted(&name, &format!("{name}_n"), row, node, &mut text);
                writeln!(text, "  {name} : {kind}({weight}) {name}_n -> gnd;").unwrap();
            }
        }
    }
    for row in 0..m {
        let weights: Vec<f64> = network.ratio.row(row).iter().copied().collect();
        weighted(
            &format!("gear_{row}"),
            &format!("p[{}]", row + 1),
            &weights,
            "q",
            &mut text,
        );
    }
    for (k, force) in network.force.iter().enumerate() {
        writeln!(text, "  push_{k} : ForceSource({force}*u) gnd -> q[{}];", k + 1).unwrap();
    }
    text + &outputs(network) + "}\n"
}

fn compiled(text: &str, blocks: bool) -> Result<StateSystem, String> {
    let mut map = SourceMap::default();
    let root = map.add("network.lgm", text, None);
    let request = lgm::Request {
        equations: Options {
            symbolic: false,
            blocks,
            ..Options::default()
        },
        ..lgm::Request::default()
    };
    let (system, found) = lgm::compile(&NoFiles, &mut map, root, &request);
    system.ok_or_else(|| format!("{text}\n{}", render(&map, &found, false)))
}

const OMEGA: [f64; 4] = [0.0, 0.3, 1.1, 7.0];

fn responses(system: &StateSystem) -> Vec<Vec<Complex64>> {
    let request = ResponseRequest {
        // At rest a body without springs has no response.
        omega: OMEGA[1..].to_vec(),
        inputs: vec![0],
        outputs: (0..system.outputs.len()).collect(),
    };
    let (curves, found) = response(system, &request);
    let curves = curves.unwrap_or_else(|| panic!("{found:?}"));
    curves.curves.into_iter().map(|curve| curve.values).collect()
}

fn dense(matrix: &SparseMatrix<f64>) -> DMatrix<f64> {
    let mut out = DMatrix::zeros(matrix.rows.len(), matrix.columns);
    for (row, entries) in matrix.rows.iter().enumerate() {
        for (column, value) in entries {
            out[(row, *column as usize)] = *value;
        }
    }
    out
}

/// The matrix of a term of the block form in numbers.
fn block(system: &StateSystem, form: &BlockForm, term: &BlockTerm) -> DMatrix<f64> {
    let entries = system.parameters.iter().flat_map(|parameter| &parameter.entries);
    let values: HashMap<_, f64> = entries
        .map(|entry| (entry.symbol, lgm::expr::to_f64(&entry.value)))
        .collect();
    let number = |id| {
        system
            .exprs
            .evaluate_f64(&[id], &|symbol| values.get(&symbol).copied())
            .unwrap()[0]
    };
    let size = form.vectors[term.vector].entries.len();
    let named = |at: usize, transposed: bool| {
        let matrix = dense(&form.matrices[at].entries.map(|id| number(*id)));
        if transposed { matrix.transpose() } else { matrix }
    };
    let matrix = match &term.factor {
        BlockFactor::One => DMatrix::identity(size, size),
        BlockFactor::Scalar(id) => DMatrix::from_element(1, 1, number(*id)),
        BlockFactor::Matrix(at, transposed) => named(*at, *transposed),
        BlockFactor::Sum(products) => {
            let product = |product: &BlockProduct| {
                let sign = if product.is_negated { -1.0 } else { 1.0 };
                let factors = product.factors.iter().map(|(at, transposed, inverse)| match inverse {
                    true => named(*at, *transposed).try_inverse().expect("a regular matrix"),
                    false => named(*at, *transposed),
                });
                let all = factors.reduce(|product, factor| product * factor);
                all.unwrap_or(DMatrix::identity(size, size)) * (sign * number(product.scalar))
            };
            products
                .iter()
                .map(product)
                .reduce(|sum, product| sum + product)
                .unwrap()
        }
    };
    if term.negative { -matrix } else { matrix }
}

/// A over the states of the block form, solved from its blocks.
fn solved(system: &StateSystem, form: &BlockForm) -> DMatrix<f64> {
    let names: Vec<&str> = system.states.iter().map(|state| &*state.name).collect();
    let n = names.len();
    let place = |vector: usize, at: usize| {
        let name = &form.vectors[vector].entries[at];
        names.iter().position(|state| state == name)
    };
    let (mut left, mut right) = (DMatrix::zeros(n, n), DMatrix::zeros(n, n));
    for equation in &form.equations {
        // The rows of an equation belong to the states of its own vector.
        let own = equation.left[0].vector;
        for (into, terms) in [(&mut left, &equation.left), (&mut right, &equation.right)] {
            for term in terms {
                let matrix = block(system, form, term);
                for ((row, column), value) in (0..matrix.nrows())
                    .flat_map(|row| (0..matrix.ncols()).map(move |column| (row, column)))
                    .map(|at| (at, matrix[at]))
                {
                    if let (Some(row), Some(column)) = (place(own, row), place(term.vector, column)) {
                        into[(row, column)] += value;
                    }
                }
            }
        }
    }
    left.lu().solve(&right).expect("the rates have values")
}

/// The blocks of the derivation in vectors, instead of those of the equations. None if the network has no such derivation.
fn in_vectors(text: &str) -> Option<StateSystem> {
    let mut map = SourceMap::default();
    let root = map.add("network.lgm", text, None);
    let compilation = lgm::Compilation::new(&NoFiles, map, root, lgm::Request::default());
    let found = compilation.vector_derivation()?;
    let mut system = compilation.system().unwrap().clone();
    (system.exprs, system.matrices.blocks) = (found.exprs, Some(found.blocks));
    Some(system)
}

fn same_a(system: &StateSystem) -> Result<(), TestCaseError> {
    let form = system.matrices.blocks.as_ref().expect("blocks were asked for");
    let numeric: &LinearForm<f64> = system.matrices.numeric.as_ref().expect("numbers were asked for");
    let (found, expected) = (solved(system, form), dense(&numeric.a));
    let size = expected.amax().max(1.0);
    prop_assert!((&found - &expected).amax() <= 1e-9 * size, "{found} is not {expected}");
    Ok(())
}

proptest! {
    #![proptest_config(cases(30))]

    #[test]
    fn vector_networks_equal_their_scalar_expansion(network in network()) {
        let (vector, scalar) = (vector_text(&network), scalar_text(&network));
        let vector_system = compiled(&vector, true).map_err(TestCaseError::fail)?;
        let scalar_system = compiled(&scalar, true).map_err(TestCaseError::fail)?;
        prop_assert_eq!(vector_system.states.len(), scalar_system.states.len(), "{}\n{}", vector, scalar);
        for (a, b) in responses(&vector_system).iter().zip(responses(&scalar_system)) {
            for (a, b) in a.iter().zip(b) {
                let scale = a.norm().max(b.norm()).max(1e-6);
                prop_assert!((a - b).norm() <= 1e-8 * scale, "{} and {}\n{}\n{}", a, b, vector, scalar);
            }
        }
        same_a(&vector_system)?;
        same_a(&scalar_system)?;
        if let Some(system) = in_vectors(&vector) {
            same_a(&system)?;
        }
    }
}

/// The block equations of the examples, with any terms, agree with A.
#[test]
fn blocks_of_examples_give_their_a() {
    for name in [
        "bar_modal",
        "bar_vlg",
        "vlg_table3_1_generic",
        "milling_machine",
        "dp_element_velocity_driven",
        "beam_free_free",
    ] {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("examples/seeds/{name}.lgm"));
        let text = std::fs::read_to_string(path).unwrap();
        let system = compiled(&text, true).unwrap();
        same_a(&system).unwrap();
    }
}

/// The products of named matrices that the derivation in vectors finds agree with A.
#[test]
fn products_of_matrices_give_the_a_of_the_examples() {
    for name in ["bar_vlg", "milling_machine_vector", "dp_element_2port"] {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("examples/seeds/{name}.lgm"));
        let system = in_vectors(&std::fs::read_to_string(path).unwrap());
        let Some(system) = system else {
            assert_eq!(name, "dp_element_2port", "{name} has vectors");
            continue;
        };
        same_a(&system).unwrap();
    }
}

/// The text of a bar's block equations, and the same typeset.
#[test]
fn blocks_are_printed_by_their_names() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/seeds/bar_vlg.lgm");
    let text = std::fs::read_to_string(path).unwrap();
    let mut map = SourceMap::default();
    let root = map.add("bar_vlg.lgm", text.as_str(), None);
    let request = lgm::Request {
        equations: Options {
            numeric: false,
            blocks: true,
            ..Options::default()
        },
        ..lgm::Request::default()
    };
    let system = lgm::compile(&NoFiles, &mut map, root, &request).0.unwrap();
    let matrices = MatrixOptions {
        blocks: true,
        ..MatrixOptions::default()
    };
    let options = TextOptions {
        matrices,
        ..TextOptions::default()
    };
    insta::assert_snapshot!("blocks_text", lgm::emit::text(&system, &options));
    insta::assert_snapshot!("blocks_latex", lgm::emit::latex(&system, matrices));
    let mut json = Vec::new();
    lgm::emit::json(&system, matrices, &mut json).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let first = &json["blocks"]["equations"];
    assert_eq!(first[0], "der(spring.F) = [spring]*mass.v");
    assert_eq!(first[1], "der(mass.v) = [mass]^-1*(transpose([shapes])*F - spring.F)");
    assert_eq!(json["blocks"]["matrices"][0]["value"][0][0], "K_diag[1]");
}

/// Hundreds of modes are printed by their structure, not as thousands of lines.
#[test]
fn many_modes_are_printed_as_few_blocks() {
    let ports: Vec<String> = (1..=10).map(|k| format!("x[{k}] -> gnd")).collect();
    for (part, lines) in [("ForceSource(u) gnd -> x[k]", 80), ("Mass(2) x[k] -> gnd", 100)] {
        let text = format!(
            "import distributed;
model M {{
  input u = 1;
  node x[10] : translational;
  bar : FixedFreeBar(1, 1, 1, 1, zeta = 0.01, modes = 200, at = list(k in 1:10, k/10)) {};
  for k in 1:10 {{ part[k] : {part}; }}
  push : ForceSource(u) gnd -> x[10];
  output v = velocity(bar, 1);
}}
",
            ports.join(", ")
        );
        let system = compiled(&text, true).unwrap();
        let options = TextOptions {
            matrices: MatrixOptions {
                blocks: true,
                numeric: true,
                ..MatrixOptions::default()
            },
            ..TextOptions::default()
        };
        let printed = lgm::emit::text(&system, &options);
        assert!(printed.contains("[bar.spring]*bar.v"), "{printed}");
        assert!(printed.lines().count() < lines, "{printed}");
    }
}
