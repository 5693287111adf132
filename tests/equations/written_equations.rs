//! Printed equations: masses times accelerations agree with the derivatives, numbers agree with parameters, and loops
//! are torn at the fewest variables.

use crate::support;

use lgm::Request;
use lgm::equations::{StateSystem, with_numbers};
use lgm::expr::{ExprId, SymbolId, to_f64};
use lgm::rendering::render;
use lgm::source::{NoFiles, SourceMap};
use std::collections::HashMap;
use std::fs;
use support::program::example;

fn compile(source: &str) -> StateSystem {
    let mut map = SourceMap::default();
    let root = map.add("model.lgm", source, None);
    let request = Request {
        verify: true,
        ..Request::default()
    };
    let (system, diagnostics) = lgm::compile(&NoFiles, &mut map, root, &request);
    system.unwrap_or_else(|| panic!("{}", render(&map, &diagnostics, false)))
}

type Values = HashMap<SymbolId, f64>;

fn evaluate(system: &StateSystem, roots: &[ExprId], values: &Values) -> Vec<f64> {
    system
        .exprs
        .evaluate_unchecked(roots, &|symbol| values.get(&symbol).copied())
}

/// Values of everything at some point; unknowns of loops have arbitrary values, because these equations do not require
/// a solution.
fn point(system: &StateSystem, set: usize) -> Values {
    let mut values: Values = HashMap::new();
    let parameters = system.parameters.iter().flat_map(|parameter| &parameter.entries);
    values.extend(parameters.map(|entry| (entry.symbol, to_f64(&entry.value))));
    values.insert(system.time, 0.3);
    let spread = |k: usize| (1.0 + 0.7 * k as f64 + 2.3 * set as f64).sin();
    let states = system.states.iter().map(|state| state.symbol);
    let inputs = system.inputs.iter().map(|input| input.symbol);
    let unknowns = system.equations.unknowns();
    let all = states
        .chain(inputs)
        .chain(system.input_rates.iter().copied())
        .chain(unknowns);
    values.extend(all.enumerate().map(|(k, symbol)| (symbol, 0.4 + 0.3 * spread(k))));
    for assignment in &system.equations.assignments {
        let value = evaluate(system, &[assignment.value], &values)[0];
        values.insert(assignment.symbol, value);
    }
    values
}

#[test]
fn masses_times_accelerations_are_the_forces_that_the_derivatives_say() {
    let mut with_form = Vec::new();
    for folder in ["", "seeds"] {
        for entry in fs::read_dir(example(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "lgm") {
                continue;
            }
            let system = compile(&fs::read_to_string(&path).unwrap());
            let Some(form) = &system.equations.mass_form else {
                continue;
            };
            with_form.push(path.file_stem().unwrap().to_string_lossy().to_string());
            for set in 0..4 {
                let mut values = point(&system, set);
                let rates = evaluate(&system, &system.equations.derivatives, &values);
                let outputs = evaluate(&system, &system.equations.output_values, &values);
                // In the outputs of this form, rates are symbols with their names.
                for id in form.outputs.iter().chain(form.residuals.iter().flatten()) {
                    for symbol in system.exprs.symbols_of(&[*id]) {
                        let name = &system.exprs.symbol_info(symbol).name;
                        let state = name.strip_prefix("der(").and_then(|name| name.strip_suffix(')'));
                        if let Some(k) = system.states.iter().position(|each| Some(&*each.name) == state) {
                            values.entry(symbol).or_insert(rates[k]);
                        }
                    }
                }
                for equation in &form.equations {
                    let factors: Vec<ExprId> = equation.terms.iter().map(|term| term.1).collect();
                    let factors = evaluate(&system, &factors, &values);
                    let terms = equation.terms.iter().zip(factors);
                    let terms: Vec<f64> = terms.map(|(term, factor)| factor * rates[term.0 as usize]).collect();
                    let right = evaluate(&system, &[equation.right], &values)[0];
                    let size = terms.iter().map(|term| term.abs()).fold(right.abs(), f64::max).max(1.0);
                    let left: f64 = terms.iter().sum();
                    assert!(
                        (left - right).abs() <= 1e-9 * size,
                        "{}: {left} {right}",
                        path.display()
                    );
                }
                let shown = evaluate(&system, &form.outputs, &values);
                for (a, b) in outputs.iter().zip(shown) {
                    assert!((a - b).abs() <= 1e-9 * a.abs().max(1.0), "{}: {a} {b}", path.display());
                }
            }
        }
    }
    for name in [
        "two_link_manipulator",
        "robot_arm",
        "cart_pendulum",
        "pendulum",
        "rocking_pendulum",
    ] {
        assert!(
            with_form.iter().any(|other| other == name),
            "{name} is not among {with_form:?}"
        );
    }
}

#[test]
fn numbers_in_the_places_of_parameters_change_nothing() {
    for name in ["pendulum", "seeds/two_link_manipulator", "slider_crank", "van_der_pol"] {
        let system = compile(&fs::read_to_string(example(&format!("{name}.lgm"))).unwrap());
        let numeric = with_numbers(&system);
        let parameters: Vec<SymbolId> = system
            .parameters
            .iter()
            .flat_map(|parameter| parameter.entries.iter().map(|entry| entry.symbol))
            .collect();
        let mut roots = numeric.equations.derivatives.clone();
        roots.extend(&numeric.equations.output_values);
        roots.extend(numeric.equations.assignments.iter().map(|assignment| assignment.value));
        roots.extend(numeric.equations.residuals());
        let left = numeric.exprs.symbols_of(&roots);
        assert!(!left.iter().any(|symbol| parameters.contains(symbol)), "{name}");
        let (a, b) = (point(&system, 1), point(&numeric, 1));
        let wanted = evaluate(&system, &system.equations.derivatives, &a);
        let found = evaluate(&numeric, &numeric.equations.derivatives, &b);
        for (a, b) in wanted.iter().zip(found) {
            assert!((a - b).abs() <= 1e-10 * a.abs().max(1.0), "{name}: {a} {b}");
        }
    }
}

/// Two antiparallel diodes between a source with a resistance and ground.
const ANTIPARALLEL: &str = "import nonlinear;\nmodel Clipper {
  param R = 100 [ohm];
  input u [V] = 1;
  node s, x : electrical;
  src : VoltageSource(u) s -> gnd;
  r : Resistor(R) s -> x;
  up : Diode() x -> gnd;
  down : Diode() gnd -> x;
  output v = across(up);
}
";

#[test]
fn diodes_back_to_back_have_one_voltage_between_them() {
    let system = compile(ANTIPARALLEL);
    let unknowns: usize = system.equations.loops.iter().map(|each| each.unknowns.len()).sum();
    assert_eq!(unknowns, 1, "{:?}", system.equations.loops);
    // A third diode in the same place adds none.
    let three = ANTIPARALLEL.replace("  output", "  more : Diode(Is = 2e-12) x -> gnd;\n  output");
    let system = compile(&three);
    let unknowns: usize = system.equations.loops.iter().map(|each| each.unknowns.len()).sum();
    assert_eq!(unknowns, 1);
}

/// A dense matrix of texts takes gigabytes for thousands of masses: that of the implicit equations lists its entries,
/// like the others.
#[test]
fn implicit_equations_list_entries_as_other_matrices_do() {
    let output = support::command::lgm(
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")),
        &["equations", "examples/two_link_arm.lgm", "--format", "json", "--sparse"],
    );
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let mass = &found["implicit"]["mass_matrix"];
    assert_eq!(mass["shape"], serde_json::json!([6, 6]));
    assert_eq!(mass["rows"], serde_json::json!([0, 0, 1, 1, 2, 3, 4, 5]));
    assert_eq!(mass["cols"], serde_json::json!([0, 1, 0, 1, 2, 3, 4, 5]));
    assert_eq!(mass["values"][4], "1");
}

#[test]
fn implicit_equations_come_as_json() {
    let output = support::command::lgm(
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")),
        &["equations", "examples/two_link_arm.lgm", "--format", "json"],
    );
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let implicit = &found["implicit"];
    let mass = implicit["mass_matrix"].as_array().unwrap();
    assert_eq!(mass.len(), 6);
    assert_eq!(mass[0][1], "2*m2*l1*l2*cos(theta[1] - theta[2])");
    assert_eq!(mass[0][1], mass[1][0]);
    assert_eq!(mass[2][2], "1");
    assert_eq!(implicit["right"][2], "J.w[1]*(K1 + K2) - K2*J.w[2]");
    assert_eq!(implicit["right"].as_array().unwrap().len(), 6);
    // The same rates as those of the explicit equations.
    let mut bindings = support::arithmetic::Bindings::new();
    let values = [
        ("l1", 0.4),
        ("l2", 0.3),
        ("m1", 1.7),
        ("m2", 1.1),
        ("J1", 0.1),
        ("J2", 0.05),
        ("K1", 3.0),
        ("K2", 2.0),
        ("R1", 0.2),
        ("R2", 0.1),
        ("g", 9.8),
        ("tau1", 0.3),
        ("tau2", -0.2),
        ("J.w[1]", 0.7),
        ("J.w[2]", -0.4),
        ("K.tau[1]", 0.2),
        ("K.tau[2]", 0.6),
        ("theta[1]", 0.5),
        ("theta[2]", -0.9),
    ];
    bindings.extend(values.map(|(name, value)| (name.to_string(), value)));
    for entry in found["assignments"].as_array().unwrap() {
        let value = support::arithmetic::evaluate(entry["expr"].as_str().unwrap(), &bindings);
        bindings.insert(entry["name"].as_str().unwrap().to_string(), value);
    }
    let value = |text: &serde_json::Value| support::arithmetic::evaluate(text.as_str().unwrap(), &bindings);
    for (row, right) in mass.iter().zip(implicit["right"].as_array().unwrap()) {
        let rates = found["equations"].as_array().unwrap().iter();
        let left: f64 = row
            .as_array()
            .unwrap()
            .iter()
            .zip(rates)
            .map(|(factor, rate)| value(factor) * value(&rate["expr"]))
            .sum();
        assert!((left - value(right)).abs() < 1e-9, "{left} is not {right}");
    }
}
