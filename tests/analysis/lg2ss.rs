//! The importer of LG2ss matrices: its output, its diagnostics, and that no input causes a panic.

use crate::support;
use crate::support::cases;

use cases::cases;
use lgm::diagnostic::Severity;
use lgm::import::lg2ss;
use lgm::rendering::render;
use lgm::source::SourceMap;
use proptest::prelude::*;
use support::linear::{assert_same_poles, assert_same_response, without_zeros};
use support::program::{self, Symbolic};
use support::records::{Record, drawn};

/// A small valid graph, of which the malformed cases below are variations: a source, R and C in series.
const GRAPH: &str = "[1 2 1 4; 2 2 3 3; 3 3 1 1]";
const OUTPUTS: &str = "[1 3 1]";

/// The texts with their diagnostics, and the model if one results.
fn report(graph: &str, outputs: &str, name: &str) -> String {
    let mut map = SourceMap::default();
    let graph_id = map.add("--graph", graph, None);
    let outputs_id = map.add("--outputs", outputs, None);
    let (model, diagnostics) = lg2ss(&map, graph_id, outputs_id, name);
    let rendered: String = render(&map, &diagnostics, false)
        .lines()
        .map(|line| format!("{}\n", line.trim_end()))
        .collect();
    format!(
        "--graph\n{graph}\n--outputs\n{outputs}\n\n{rendered}{}",
        model.unwrap_or_default()
    )
}

macro_rules! reports {
    ($($test:ident: $graph:expr, $outputs:expr;)*) => {$(
        #[test]
        fn $test() {
            insta::assert_snapshot!(report($graph, $outputs, "Circuit"));
        }
    )*};
}

reports! {
    the_small_graph: GRAPH, OUTPUTS;
    every_type_of_element_and_output:
        "[1 2 1 4; 2 2 3 3; 3 3 1 6; 4 4 1 6; 5 4 5 2; 6 5 1 7; 7 6 1 7; 8 6 1 1; 9 1 6 5]",
        "[1 8 1; 2 5 2; 3 8 3; 4 5 4; 5 4 2; 6 6 1; 7 8 1]";
    matlab_layout:
        "LG matrix = [1, 2 1,4 % the source\n  2 2 ... the resistor\n 3 3;\n\n 3 3 1 1\n];",
        "[[1, 3, 1], [2, 2, 2]]";
    outputs_are_ordered_by_their_numbers: GRAPH, "[2 3 1; 1 2 2]";
    no_outputs: GRAPH, "[]";

    wrong_width: "[1 2 1; 2 2 3 3 3; 3 3 1 1]", OUTPUTS;
    two_rows_in_one: "[1 2 1 4 2 2 3 3; 3 3 1 1]", OUTPUTS;
    ragged_output: GRAPH, "[1 3 1; 2]";
    unknown_element_type: "[1 2 1 4; 2 2 3 8; 3 3 1 1]", OUTPUTS;
    unknown_output_type: GRAPH, "[1 3 5]";
    unpaired_transformer: "[1 2 1 4; 2 2 1 6; 3 2 1 1]", OUTPUTS;
    transformer_numbers_apart: "[1 2 1 4; 2 2 1 6; 4 3 1 6; 3 3 1 1]", OUTPUTS;
    transformer_with_gyrator: "[1 2 1 4; 2 2 1 6; 3 3 1 7; 4 3 1 1]", OUTPUTS;
    dangling_node: "[1 2 1 4; 2 2 3 3; 3 4 1 1; 4 4 2 2]", OUTPUTS;
    repeated_branch: "[1 2 1 4; 2 2 3 3; 2 3 1 1]", "[1 2 1]";
    repeated_output: GRAPH, "[1 3 1; 1 2 2]";
    missing_branch: GRAPH, "[1 4 1]";
    no_ground: "[1 2 3 4; 2 2 4 3; 3 4 3 1]", OUTPUTS;
    part_without_ground: "[1 2 1 4; 2 2 1 6; 3 3 4 6; 4 3 4 1]", "[1 4 1]";
    branch_onto_itself: "[1 2 1 4; 2 2 3 3; 3 3 1 1; 4 3 3 2]", OUTPUTS;
    empty_graph: "[ % nothing\n]", "[]";
    nothing_at_all: "", OUTPUTS;
    never_closed: "[1 2 1 4; 2 2 3 3", OUTPUTS;
    row_never_closed: "[[1 2 1 4], [2 2 3 3", OUTPUTS;
    closed_twice: "[1 2 1 4; 2 2 1 3]]", "[1 2 1]";
    never_opened: "1 2 1 4; 2 2 1 3]", "[1 2 1]";
    bracket_inside_a_row: "[1 2 [1 4]; 2 2 1 3]", "[1 2 1]";
    semicolon_inside_a_row: "[[1 2 1 4; 2 2 1 3]]", "[1 2 1]";
    numbers_that_do_not_count: "[1 2 1 4; 2 2.5 -3 3; 3 0 1 1e0]", "[1 99999999999 1]";
    letters: "[1 2 1 V; 2 2 1 R]", "[1 2 1]";
    strange_characters: "[1 2 1 4; 2 2 (1) 3 €@]", "[1 2 1]";
    doubled_comma: "[1,, 2 1 4; 2 2 1 3]", "[1 2 1]";
    faults_in_both_texts: "[1 2 1 9; 2 2 1 3]", "[1 7 7]";
}

#[test]
fn a_name_that_is_none() {
    insta::assert_snapshot!(report(GRAPH, OUTPUTS, "my model"));
    insta::assert_snapshot!(report(GRAPH, OUTPUTS, "node"));
}

#[test]
fn a_name_is_accepted_exactly_where_the_parser_accepts_it() {
    let words = "import domain element component modal model node zero one param const input output signal state port \
                 experiment discrete when every for if then else and or not across through start vector mode from \
                 Circuit C3 gearbox_2 2nd a-b";
    for word in words.split_whitespace() {
        let mut map = SourceMap::default();
        let graph = map.add("--graph", GRAPH, None);
        let outputs = map.add("--outputs", OUTPUTS, None);
        let (model, _) = lg2ss(&map, graph, outputs, word);
        let text = format!("model {word} {{ node a : electrical; }}");
        let source = map.add("model.lgm", text.as_str(), None);
        let (_, faults) = lgm::syntax::parse(source, &text);
        assert_eq!(model.is_some(), faults.is_empty(), "{word}");
    }
}

proptest! {
    #![proptest_config(cases(80))]

    #[test]
    fn no_text_makes_it_panic(graph in "\\PC*", outputs in "\\PC*", name in "\\PC{0,8}") {
        faults_exactly_where_there_is_no_model(&graph, &outputs, &name)?;
    }

    #[test]
    fn no_matrix_makes_it_panic(
        graph in "\\[([1-9] [1-5] [1-5] [0-8][;,\n ]{1,2}){0,8}(\\])?",
        outputs in "\\[([1-4] [1-9] [0-5];){0,4}\\]"
    ) {
        faults_exactly_where_there_is_no_model(&graph, &outputs, "Circuit")?;
    }
}

fn faults_exactly_where_there_is_no_model(graph: &str, outputs: &str, name: &str) -> Result<(), TestCaseError> {
    let mut map = SourceMap::default();
    let graph_id = map.add("--graph", graph, None);
    let outputs_id = map.add("--outputs", outputs, None);
    let (model, diagnostics) = lg2ss(&map, graph_id, outputs_id, name);
    let errors = diagnostics.iter().filter(|one| one.severity == Severity::Error);
    prop_assert_eq!(model.is_none(), errors.count() > 0);
    if let Some(model) = model {
        let source = map.add("imported.lgm", model.as_str(), None);
        let (_, faults) = lgm::syntax::parse(source, &model);
        prop_assert!(faults.is_empty(), "{}", render(&map, &faults, false));
    }
    for label in diagnostics.iter().flat_map(|one| &one.labels) {
        let text = &map.get(label.span.source).text;
        prop_assert!(text.get(label.span.start as usize..label.span.end as usize).is_some());
    }
    render(&map, &diagnostics, false);
    Ok(())
}

/// The matrices of the records through the program: import, compile with the values of the record, compare.
#[test]
fn imported_systems_agree_with_the_records() {
    // LG2ss gives an integrated output a separate state; here the state of L7 provides it, so a pole at the origin is
    // absent.
    let records = [
        ("lg2ss_electrical", 0),
        ("lg2ss_rotary_gearbox", 0),
        ("lg2ss_sewing", 1),
        ("lg2ss_sewing_EF", 1),
        ("lg2ss_EF_cap_loop", 0),
    ];
    let folder = tempfile::tempdir().unwrap();
    for (name, integrators) in records {
        let record = Record::load(name);
        let file = folder.path().join(format!("{name}.lgm"));
        let arguments = ["import", "lg2ss", "--graph", &matlab(&record.json["LG_matrix"])];
        let further = [
            "--outputs",
            &matlab(&record.json["output_matrix"]),
            "--name",
            "Imported",
            "-o",
        ];
        let mut arguments: Vec<String> = arguments.into_iter().chain(further).map(str::to_owned).collect();
        arguments.push(file.display().to_string());
        let printed = program::succeed(&arguments);
        assert!(printed.is_empty(), "{printed}");
        let sets = [
            record.parameters(),
            drawn(&record.parameters(), 1),
            drawn(&record.parameters(), 2),
        ];
        let symbolic = Symbolic::of(&file);
        for (index, set) in sets.iter().enumerate() {
            let expected = record.symbolic(set);
            for found in [program::numeric(&file, set), symbolic.at(set)] {
                assert_eq!(found.outputs, record.linear().outputs, "{name}");
                for omega in record.frequencies() {
                    let what = format!("{name}, parameter set {index}, omega = {omega}");
                    assert_same_response(&what, &found.response(omega), &expected.response(omega), 1e-9);
                }
                let poles = without_zeros(name, &expected.poles(), integrators);
                assert_same_poles(name, &found.poles(), &poles, 1e-9);
            }
        }
    }
}

/// Rows of numbers in MATLAB notation.
fn matlab(rows: &serde_json::Value) -> String {
    let row = |row: &serde_json::Value| {
        let entries = row.as_array().unwrap().iter().map(ToString::to_string);
        entries.collect::<Vec<_>>().join(" ")
    };
    let rows: Vec<String> = rows.as_array().unwrap().iter().map(row).collect();
    format!("[{}]", rows.join("; "))
}
