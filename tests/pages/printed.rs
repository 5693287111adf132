//! Every target, for state systems built by hand.

use crate::systems;

use insta::assert_snapshot;
use lgm::emit::{MatrixOptions, TextOptions, json, latex, text};
use lgm::equations::StateSystem;
use serde_json::Value;
use systems::{chain, geared, oscillator, pendulum};

const SYMBOLIC: MatrixOptions = MatrixOptions {
    numeric: false,
    sparse: false,
    blocks: false,
};
const NUMERIC: MatrixOptions = MatrixOptions {
    numeric: true,
    sparse: false,
    blocks: false,
};
const SPARSE: MatrixOptions = MatrixOptions {
    numeric: true,
    sparse: true,
    blocks: false,
};

fn as_text(system: &StateSystem, matrices: MatrixOptions) -> String {
    text(
        system,
        &TextOptions {
            matrices,
            ..TextOptions::default()
        },
    )
}

fn as_json(system: &StateSystem, matrices: MatrixOptions) -> String {
    let mut out = Vec::new();
    json(system, matrices, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn parsed(system: &StateSystem, matrices: MatrixOptions) -> Value {
    serde_json::from_str(&as_json(system, matrices)).unwrap()
}

#[test]
fn text_of_a_linear_system() {
    assert_snapshot!(as_text(&oscillator(4), SYMBOLIC));
}

#[test]
fn text_of_a_linear_system_in_numbers() {
    assert_snapshot!(as_text(&oscillator(4), NUMERIC));
}

#[test]
fn text_in_plain_ascii() {
    let options = TextOptions {
        matrices: NUMERIC,
        unicode: false,
        width: 80,
        flat: false,
        ..TextOptions::default()
    };
    let shown = text(&oscillator(4), &options);
    assert!(shown.is_ascii());
    assert_snapshot!(shown);
}

#[test]
fn text_with_input_derivatives_offsets_and_dependent_storage() {
    assert_snapshot!(as_text(&geared(), SYMBOLIC));
}

#[test]
fn text_of_a_nonlinear_system() {
    assert_snapshot!(as_text(&pendulum(), SYMBOLIC));
}

#[test]
fn a_wide_matrix_becomes_a_list_of_entries() {
    let shown = as_text(&chain(20), NUMERIC);
    assert!(
        shown.contains("\nA =\n  cell[1].v  ⎡ -2   1 "),
        "without names of columns it fits:\n{shown}"
    );
    let shown = as_text(&chain(40), NUMERIC);
    assert!(shown.contains("\n  A[40,39] = 1\n  A[40,40] = -2\n"), "{shown}");
    assert!(shown.contains("\nB = "), "a narrow matrix stays whole:\n{shown}");
    assert!(shown.lines().all(|line| line.chars().count() <= 120));
    let narrow = text(
        &oscillator(4),
        &TextOptions {
            width: 20,
            ..TextOptions::default()
        },
    );
    assert!(narrow.contains("\n  A[1,2] = -1/m\n"), "{narrow}");
}

#[test]
fn large_systems_and_the_sparse_option_list_entries() {
    let shown = as_text(&chain(501), NUMERIC);
    assert!(shown.contains("A is 501 by 501, zero but for\n  A[1,1] = -2\n"));
    let shown = as_text(&oscillator(4), SPARSE);
    assert!(shown.contains("D is 2 by 1, all zero\n"), "{shown}");
}

#[test]
fn latex_of_a_linear_system() {
    assert_snapshot!(latex(&oscillator(4), SYMBOLIC));
}

#[test]
fn latex_with_everything() {
    assert_snapshot!(latex(&geared(), NUMERIC));
}

#[test]
fn latex_of_a_nonlinear_system() {
    assert_snapshot!(latex(&pendulum(), SYMBOLIC));
}

#[test]
fn latex_breaks_long_sums_and_lists_wide_matrices() {
    let mut system = chain(60);
    let terms = system.equations.derivatives.clone();
    system.equations.derivatives[0] = system.exprs.sum(terms);
    let shown = latex(&system, SYMBOLIC);
    assert!(shown.contains("\\setcounter{MaxMatrixCols}{48}"));
    assert!(shown.contains("&\\quad + "));
    assert!(shown.contains("A_{60,60} &= -2"));
    assert!(shown.lines().all(|line| line.len() < 1000));
}

#[test]
fn json_of_a_linear_system() {
    assert_snapshot!(as_json(&oscillator(4), SYMBOLIC));
}

#[test]
fn json_with_everything() {
    assert_snapshot!(as_json(&geared(), NUMERIC));
}

#[test]
fn json_of_a_nonlinear_system() {
    assert_snapshot!(as_json(&pendulum(), NUMERIC));
}

#[test]
fn json_keys_come_in_the_order_of_the_schema() {
    let value = parsed(&geared(), SYMBOLIC);
    let keys: Vec<&String> = value.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        [
            "schema",
            "model",
            "parameters",
            "states",
            "inputs",
            "outputs",
            "linear",
            "A",
            "B",
            "C",
            "D",
            "E",
            "F",
            "x_offset",
            "equations",
            "output_equations",
            "assignments",
            "mass_matrix",
            "dependent",
            "loops"
        ]
    );
    assert_eq!(value["parameters"][1]["unit"], Value::Null);
    assert_eq!(
        value["parameters"][3]["value"],
        serde_json::json!([[5.0, -1.0], [-1.0, 4.0]])
    );
}

#[test]
fn json_is_sparse_beyond_500_states_and_where_asked() {
    let sparse = parsed(&oscillator(4), SPARSE);
    assert_eq!(
        sparse["A"],
        serde_json::json!({"shape": [2, 2], "rows": [0, 0, 1], "cols": [0, 1, 0], "values": [-0.2, -0.5, 50.0]})
    );
    assert_eq!(
        sparse["D"],
        serde_json::json!({"shape": [2, 1], "rows": [], "cols": [], "values": []})
    );
    assert!(parsed(&chain(500), NUMERIC)["A"].is_array());
    let large = parsed(&chain(501), SYMBOLIC);
    assert_eq!(large["A"]["shape"], serde_json::json!([501, 501]));
    assert_eq!(large["A"]["values"][0], "-2");
}

#[test]
fn json_numbers_read_back_as_the_same_doubles() {
    let mut system = oscillator(4);
    let exact = [
        0.1 + 0.2,
        1e-300,
        f64::MIN_POSITIVE,
        1.0 / 3.0,
        123_456_789_012_345_680.0,
    ];
    for value in exact {
        system.matrices.numeric.as_mut().unwrap().a.rows[0][0].1 = value;
        assert_eq!(parsed(&system, NUMERIC)["A"][0][0].as_f64(), Some(value));
    }
    system.states[0].start_value = f64::NAN;
    assert_eq!(parsed(&system, NUMERIC)["states"][0]["start"], Value::Null);
}

#[test]
fn json_escapes_texts() {
    let mut system = oscillator(4);
    system.model = "a \"quoted\" \\ name\n\u{1} µ".into();
    assert_eq!(parsed(&system, SYMBOLIC)["model"], "a \"quoted\" \\ name\n\u{1} µ");
}

#[test]
fn systems_without_states_inputs_or_outputs_are_shown() {
    let system = systems::Builder::new("Empty").system;
    assert_eq!(parsed(&system, SYMBOLIC)["A"], Value::Null);
    assert!(as_text(&system, SYMBOLIC).starts_with("model Empty\n"));
    let mut system = system;
    system.matrices.symbolic = Some(systems::empty_form(0, 0, 0));
    assert_eq!(parsed(&system, SYMBOLIC)["A"], serde_json::json!([]));
    assert!(as_text(&system, SYMBOLIC).contains("der(x) = A*x"));
    assert!(latex(&system, SYMBOLIC).ends_with("\\end{document}\n"));
}
