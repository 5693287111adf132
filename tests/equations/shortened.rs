//! Printed expressions of outputs: trigonometric identities that shorten them, common factors, and always the same
//! values.

use crate::support::cases;

use cases::cases;
use lgm::Request;
use lgm::equations::StateSystem;
use lgm::expr::{SymbolId, text, to_f64};
use lgm::rendering::render;
use lgm::source::{NoFiles, SourceMap};
use proptest::prelude::*;
use std::collections::HashMap;

/// A model with the states a, b and c and the parameters m, l and r, and one output.
fn system_of(output: &str) -> StateSystem {
    let source = format!(
        "model T {{
           param m = 1.3; param l = 0.7; param r = 0.4;
           state a = int(sin(a)), start = 0.3;
           state b = int(sin(b)), start = 0.5;
           state c = int(sin(c)), start = 0.9;
           output y = {output};
         }}"
    );
    let mut map = SourceMap::default();
    let root = map.add("model.lgm", source, None);
    let (system, diagnostics) = lgm::compile(&NoFiles, &mut map, root, &Request::default());
    system.unwrap_or_else(|| panic!("{output}\n{}", render(&map, &diagnostics, false)))
}

/// The output as printed.
fn printed(output: &str) -> String {
    let system = system_of(output);
    text(&system.exprs, system.equations.output_values[0])
}

/// The output's value at given a, b and c, with the names of its parts.
fn value(system: &StateSystem, at: [f64; 3]) -> f64 {
    let entries = system.parameters.iter().flat_map(|parameter| &parameter.entries);
    let mut values: HashMap<SymbolId, f64> = entries.map(|entry| (entry.symbol, to_f64(&entry.value))).collect();
    values.extend(system.states.iter().zip(at).map(|(state, value)| (state.symbol, value)));
    let evaluate = |id, values: &HashMap<SymbolId, f64>| {
        let found = system
            .exprs
            .evaluate_unchecked(&[id], &|symbol| values.get(&symbol).copied());
        found[0]
    };
    for assignment in &system.equations.assignments {
        let value = evaluate(assignment.value, &values);
        values.insert(assignment.symbol, value);
    }
    evaluate(system.equations.output_values[0], &values)
}

/// The expression on the left is printed as on the right.
#[test]
fn identities_that_shorten_are_applied() {
    let mut others = Vec::new();
    for (written, wanted) in [
        // Sums and differences of angles, and their squares.
        ("sin(a)*cos(b) - cos(a)*sin(b)", "sin(a - b)"),
        ("m*cos(a)*cos(b) + m*sin(a)*sin(b)", "m*cos(a - b)"),
        (
            "sin(a)^2*cos(b)^2 - 2*sin(a)*cos(a)*sin(b)*cos(b) + cos(a)^2*sin(b)^2",
            "sin(a - b)^2",
        ),
        (
            "cos(a)^2 + cos(b)^2 - 2*sin(a)*cos(a)*sin(b)*cos(b) - 2*cos(a)^2*cos(b)^2",
            "sin(a - b)^2",
        ),
        ("sin(a - b)*cos(b) + cos(a - b)*sin(b)", "sin(a)"),
        // Twice an angle.
        ("2*m*sin(a)*cos(a)", "m*sin(2*a)"),
        ("m*cos(a)^2 - m*sin(a)^2", "m*cos(2*a)"),
        // Pythagoras, in both directions.
        ("m*sin(a)^2 + m*cos(a)^2 + l", "m + l"),
        ("1 - cos(a - b)^2", "sin(a - b)^2"),
        ("m*l - m*l*sin(a)^2", "m*l*cos(a)^2"),
        // Sines over cosines.
        ("m*sin(a)/cos(a)", "m*tan(a)"),
        ("r*sin(a)^2/(l*cos(a)^3)", "r*tan(a)^2/(l*cos(a))"),
        // Sines and cosines that divide both sides of a fraction, even if hidden in sums.
        (
            "(cos(a)^2*b - cos(c)^2*b)/(sin(a)*cos(c) - cos(a)*sin(c))",
            "-b*sin(a + c)",
        ),
        // Common factors.
        ("m*l*b + m*r*b", "b*m*(l + r)"),
        ("l*b*sin(a) + r*b*sin(a) + m*c", "m*c + b*sin(a)*(l + r)"),
        ("l*a + l*b - r*a - r*b", "(l - r)*(a + b)"),
        // Expressions that are equal only by identities cancel.
        ("b + sin(a - c) - sin(a)*cos(c) + cos(a)*sin(c)", "b"),
    ] {
        let found = printed(written);
        let in_order = |text: &str| {
            let mut characters: Vec<char> = text.chars().collect();
            characters.sort_unstable();
            characters
        };
        // Factors and terms have the order of declaration, which does not matter here.
        if in_order(&found) != in_order(wanted) {
            others.push(format!("{written} is {found}, not {wanted}"));
        }
    }
    assert!(others.is_empty(), "{}", others.join("\n"));
}

/// The inertia of a slider-crank about its crank after elimination: one term for each mass, without repetition.
#[test]
fn an_inertia_is_written_by_masses() {
    let expanded = "r^2*l^2*m*cos(a)^2 + r^2*l^2*m*cos(b)^2 - 2*r^2*l^2*m*sin(a)*cos(a)*sin(b)*cos(b) \
                    - 2*r^2*l^2*m*cos(a)^2*cos(b)^2 + l^2*c*cos(b)^2";
    assert_eq!(printed(expanded), "l^2*(m*r^2*sin(a - b)^2 + c*cos(b)^2)");
}

/// A long expression without structure is kept, and quickly.
#[test]
fn many_angles_are_no_trouble() {
    let product: Vec<String> = (1..=14).map(|k| format!("cos({k}*a + b)")).collect();
    let output = format!("{} + c", product.join("*"));
    let system = system_of(&output);
    let at: [f64; 3] = [0.4, 0.9, 0.2];
    let wanted = (1..=14).map(|k| (f64::from(k) * at[0] + at[1]).cos()).product::<f64>() + at[2];
    assert!((value(&system, at) - wanted).abs() < 1e-10);
}

/// The value of a factor at the angles a, b and c.
type ValueAt = fn([f64; 3]) -> f64;

/// A factor of a random term: its text, and its kind.
fn factor() -> impl Strategy<Value = (String, ValueAt)> {
    let all: Vec<(&str, ValueAt)> = vec![
        ("m", |_| 1.3),
        ("l", |_| 0.7),
        ("c", |at| at[2]),
        ("sin(a)", |at| at[0].sin()),
        ("cos(a)", |at| at[0].cos()),
        ("sin(b)", |at| at[1].sin()),
        ("cos(b)", |at| at[1].cos()),
        ("sin(a - b)", |at| (at[0] - at[1]).sin()),
        ("cos(a + b)", |at| (at[0] + at[1]).cos()),
        ("cos(2*a)", |at| (2.0 * at[0]).cos()),
        ("sin(b/2)", |at| (at[1] / 2.0).sin()),
        ("tan(c)", |at| at[2].tan()),
        ("(1/(2 + cos(a)))", |at| 1.0 / (2.0 + at[0].cos())),
        ("(1/cos(b))", |at| 1.0 / at[1].cos()),
        ("(sin(a) + r)", |at| at[0].sin() + 0.4),
    ];
    proptest::sample::select(all).prop_map(|(text, value)| (text.to_string(), value))
}

proptest! {
    #![proptest_config(cases(60))]

    /// Sums of random products of sines, cosines, parameters and fractions keep their values.
    #[test]
    fn rewriting_changes_no_value(
        terms in prop::collection::vec((-4i32..=4, prop::collection::vec(factor(), 1..5)), 1..6),
        at in [0.1f64..1.4, 0.1f64..1.4, 0.1f64..1.4],
    ) {
        let written = |factors: &[(String, ValueAt)]| -> String {
            factors.iter().map(|factor| format!("*{}", factor.0)).collect()
        };
        let output: String = terms
            .iter()
            .map(|(number, factors)| format!(" + ({number}){}", written(factors)))
            .collect();
        let system = system_of(&format!("0.5{output}"));
        let mut wanted = 0.5;
        let mut scale = 1.0;
        for (number, factors) in &terms {
            let term = f64::from(*number) * factors.iter().map(|factor| (factor.1)(at)).product::<f64>();
            wanted += term;
            scale += term.abs();
        }
        let found = value(&system, at);
        prop_assert!((found - wanted).abs() <= 1e-10 * scale, "{found} is not {wanted}");
    }
}
