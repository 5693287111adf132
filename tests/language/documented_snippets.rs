//! Every snippet of the language page compiles.

use crate::equations::networks;

use lgm::diagnostic::{Diagnostic, has_errors};
use lgm::rendering::render;
use lgm::source::{NoFiles, SourceMap};
use networks::adapter::{Compiled, compile_numeric, compile_system};
use networks::compare::matrix_response;
use networks::scalar::{Complex, Scalar};
use std::fs;
use std::path::Path;

/// The texts between ```` ```lgm ```` and ```` ``` ````.
fn snippets() -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/language.md");
    let page = fs::read_to_string(path).unwrap();
    let mut found: Vec<String> = Vec::new();
    let mut inside = false;
    for line in page.lines() {
        match line.trim_end() {
            "```lgm" => {
                inside = true;
                found.push(String::new());
            }
            "```" => inside = false,
            _ if inside => {
                let last = found.last_mut().unwrap();
                last.push_str(line);
                last.push('\n');
            }
            _ => {}
        }
    }
    found
}

/// The name of a snippet's model, if it has one.
fn model_name(snippet: &str) -> Option<&str> {
    let line = snippet.lines().find(|line| line.starts_with("model "))?;
    line.split([' ', '{']).nth(1)
}

fn snippet(model: &str) -> String {
    let found = snippets()
        .into_iter()
        .find(|snippet| model_name(snippet) == Some(model));
    found.unwrap_or_else(|| panic!("the page has no model {model}"))
}

fn compiled(model: &str) -> Compiled {
    let text = snippet(model);
    compile_system(&text, true).unwrap_or_else(|error| panic!("{model} does not verify: {error}"));
    compile_numeric(&text).unwrap_or_else(|error| panic!("{model}: {error}"))
}

fn diagnostics(text: &str) -> (Vec<Diagnostic>, String) {
    let mut map = SourceMap::default();
    let root = map.add("snippet.lgm", text, None);
    let found = lgm::check(&NoFiles, &mut map, root, &lgm::Request::default());
    let shown = render(&map, &found, false);
    (found, shown)
}

/// Nonlinear lumped models.
const NONLINEAR: [&str; 2] = ["Pendulum", "Fan"];

/// Linear lumped models.
const LINEAR: [&str; 7] = [
    "Oscillator",
    "Lever",
    "Line",
    "VectorPair",
    "SpeedLoop",
    "SteelBar",
    "Late",
];

#[test]
fn every_snippet_is_in_one_of_the_lists() {
    let snippets = snippets();
    let mut names: Vec<&str> = snippets.iter().filter_map(|snippet| model_name(snippet)).collect();
    let mut known: Vec<&str> = NONLINEAR.into_iter().chain(LINEAR).collect();
    names.sort_unstable();
    known.sort_unstable();
    assert_eq!(names, known);
    assert_eq!(
        snippets.len(),
        known.len() + 2,
        "two snippets declare domains and elements only"
    );
}

#[test]
fn linear_snippets_compile_and_verify() {
    for model in LINEAR {
        compiled(model);
    }
}

#[test]
fn nonlinear_snippets_compile_and_verify() {
    for model in NONLINEAR {
        compile_system(&snippet(model), true).unwrap_or_else(|error| panic!("{model} does not verify: {error}"));
    }
}

/// `(m*L^2)*der(w) = -m*g*L*sin(theta)`, as on the page.
#[test]
fn pendulum() {
    let system = compile_system(&snippet("Pendulum"), true).unwrap_or_else(|error| panic!("{error}"));
    let equations: Vec<(String, String)> = system
        .states
        .iter()
        .zip(&system.equations.derivatives)
        .map(|(state, rate)| (state.name.to_string(), lgm::expr::text(&system.exprs, *rate)))
        .collect();
    let wanted = [("w.w", "-g*sin(theta)/L"), ("theta", "w.w")].map(|(a, b)| (a.to_string(), b.to_string()));
    assert_eq!(equations, wanted);
}

#[test]
fn snippets_without_a_model_are_without_fault() {
    for snippet in snippets().iter().filter(|snippet| model_name(snippet).is_none()) {
        let (found, shown) = diagnostics(snippet);
        assert!(!has_errors(&found), "{shown}\n{snippet}");
    }
}

/// The matrix over the states in the order of `names`.
fn over(compiled: &Compiled, names: &[&str]) -> Vec<Vec<f64>> {
    let at = |name: &&str| {
        let found = compiled.states.iter().position(|state| state == name);
        found.unwrap_or_else(|| panic!("no state {name} in {:?}", compiled.states))
    };
    let order: Vec<usize> = names.iter().map(at).collect();
    assert_eq!(order.len(), compiled.states.len(), "{:?}", compiled.states);
    order
        .iter()
        .map(|&row| order.iter().map(|&column| compiled.linear.a[row][column]).collect())
        .collect()
}

fn assert_matrix(found: &[Vec<f64>], expected: &[Vec<f64>]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().flatten().zip(expected.iter().flatten()) {
        assert!(
            (found - expected).abs() <= 1e-13 * expected.abs(),
            "{found} instead of {expected}"
        );
    }
}

/// `ie' = ref - w`, `J w' = Kp (ref - w) + Ki ie - b w` with J = 0.01, b = 0.02, Kp = 0.5, Ki = 2.
#[test]
fn speed_loop() {
    let compiled = compiled("SpeedLoop");
    assert_matrix(
        &over(&compiled, &["ie", "rotor.w"]),
        &[vec![0.0, -1.0], vec![200.0, -52.0]],
    );
    let mut input: Vec<f64> = compiled.linear.b.iter().map(|row| row[0]).collect();
    if compiled.states[0] != "ie" {
        input.reverse();
    }
    assert_matrix(&[input], &[vec![1.0, 50.0]]);
}

/// `m v' = F - b v - fk`, `fk' = k v`; the spring stores the displacement, so there is no third state.
#[test]
fn oscillator() {
    let compiled = compiled("Oscillator");
    assert_matrix(
        &over(&compiled, &["mass.v", "spring.F"]),
        &[vec![-0.2, -0.5], vec![50.0, 0.0]],
    );
}

/// `M v' = [F, 0] - f`, `f' = K v` with M = diag(1, 2), K = [[50, -20], [-20, 20]].
#[test]
fn vector_pair() {
    let expected = [
        vec![0.0, 0.0, -1.0, 0.0],
        vec![0.0, 0.0, 0.0, -0.5],
        vec![50.0, -20.0, 0.0, 0.0],
        vec![-20.0, 20.0, 0.0, 0.0],
    ];
    assert_matrix(
        &over(&compiled("VectorPair"), &["M.v[1]", "M.v[2]", "K.F[1]", "K.F[2]"]),
        &expected,
    );
}

/// `f2 = ratio f1`, so `(m1 + ratio^2 m2) f1' = F`: 2 + 2.25*3 = 8.75.
#[test]
fn lever() {
    let compiled = compiled("Lever");
    assert_eq!(compiled.states.len(), 1);
    let (values, _) = matrix_response(&compiled.linear, 1, 2.0).unwrap();
    let expected = Complex::one().div(Complex::new(0.0, 2.0 * 8.75));
    assert!(values[0][0].sub(expected).size() < 1e-15, "{values:?}");
}

/// The chain of four cells, starting at the load: the current grows by `s C v`, the voltage by `(R + s L) i`.
#[test]
fn line() {
    let compiled = compiled("Line");
    assert_eq!(compiled.states.len(), 8);
    for omega in [0.0, 300.0, 2.0e4, 1.5e5] {
        let s = Complex::new(0.0, omega);
        let mut voltage = Complex::one();
        let mut current = Complex::decimal(2, -2);
        for _ in 0..4 {
            current = current.add(s.mul(Complex::decimal(1, -6)).mul(voltage));
            let series = Complex::decimal(1, -1).add(s.mul(Complex::decimal(1, -3)));
            voltage = voltage.add(series.mul(current));
        }
        let expected = Complex::one().div(voltage);
        let (values, _) = matrix_response(&compiled.linear, 1, omega).unwrap();
        let error = values[0][0].sub(expected).size();
        assert!(
            error < 1e-10 * expected.size(),
            "at w = {omega}: {values:?}, expected {expected:?}"
        );
    }
}
