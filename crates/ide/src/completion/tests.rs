//! What is offered at the place of a mark.

use crate::Snapshot;
use lgm_source::NoFiles;
use lgm_source::cancellation::Cancellation;

/// What is offered at the mark `|` of a text.
fn offered(text: &str) -> Vec<String> {
    let at = text.find('|').expect("a mark");
    let text = text.replacen('|', "", 1);
    let found = Snapshot::new(&NoFiles, None, "model.lgm", &text, Cancellation::default());
    found
        .completions(at as u32)
        .into_iter()
        .map(|entry| entry.label)
        .collect()
}

/// What is offered at the mark of a line in a model with parts of two domains.
fn in_model(line: &str) -> Vec<String> {
    offered(&format!(
        "domain d {{ across a [V]; through b [A]; effort = across; }}\n\
         component Cell(R) {{ port p, n : electrical; r : Resistor(R) p -> n; }}\n\
         model M {{\n  node x, y : translational;\n  node e : electrical;\n  param k = 2 [N/m];\n  input F [N] = 1;\n  \
         m : Mass(1) x -> gnd;\n  {line}\n  s : Spring(k) x -> y;\n}}\n"
    ))
}

#[track_caller]
fn holds(found: &[String], wanted: &[&str], unwanted: &[&str]) {
    for word in wanted {
        assert!(found.iter().any(|label| label == word), "no {word} in {found:?}");
    }
    for word in unwanted {
        assert!(found.iter().all(|label| label != word), "{word} in {found:?}");
    }
}

#[test]
fn branches_end_at_nodes_of_their_domain() {
    holds(&in_model("d : Damper(1) |"), &["x", "y", "gnd"], &["e", "k", "m"]);
    holds(&in_model("r : Resistor(1) e -> |"), &["e", "gnd"], &["x", "y"]);
    holds(&in_model("t : Transformer(1) |"), &["e", "x", "gnd"], &[]);
}

#[test]
fn a_comma_is_followed_by_what_it_can_be() {
    holds(
        &in_model("node z : translational, |"),
        &["floating"],
        &["x", "electrical"],
    );
    holds(&in_model("d : Mass(1) x -> gnd, |"), &["start", "nominal"], &["k", "F"]);
    holds(&in_model("state z = int(F), |"), &["start", "nominal"], &["x", "k"]);
    assert!(in_model("node z, |").is_empty());
}

#[test]
fn ports_are_bound_to_nodes() {
    holds(&in_model("c : Cell(2) (|"), &["p =", "n ="], &["x", "R ="]);
    holds(&in_model("c : Cell(2) (p = e, |"), &["n ="], &["x"]);
    holds(&in_model("c : Cell(2) (p = |"), &["e", "gnd"], &["k", "p ="]);
    holds(&in_model("c : Cell(|"), &["R =", "k"], &["p ="]);
}

#[test]
fn parameters_are_made_of_parameters_and_measures_of_parts() {
    holds(&in_model("param q = |"), &["k", "pi", "sqrt"], &["F", "x", "m", "time"]);
    holds(&in_model("signal q = |"), &["k", "F", "time", "across"], &["x"]);
    holds(&in_model("output q = across(|"), &["x", "m", "s"], &["k", "F"]);
    assert!(in_model("param |").is_empty());
}

#[test]
fn bodies_without_statements_have_entries_of_their_own() {
    let element = offered("element E(k [N/m]) : translational { | }\n");
    holds(
        &element,
        &["across", "through", "der", "port"],
        &["node", "param", "experiment"],
    );
    let law = offered("element E(k [N/m]) : translational { der(through) = | }\n");
    holds(&law, &["k", "across", "through", "sin"], &["node"]);
    let domain = offered("domain d { | }\n");
    holds(&domain, &["across", "through", "effort"], &["node", "der"]);
    assert_eq!(
        offered("domain d { across v [V]; through i [A]; effort = | }\n"),
        ["across", "through"]
    );
    let modal = offered("modal B(L [m]) : translational {\n  mode i;\n  |\n}\n");
    holds(&modal, &["mass", "stiffness", "shape"], &["node", "across"]);
    let law = offered("modal B(L [m]) : translational {\n  mode i;\n  mass = |\n}\n");
    holds(&law, &["L", "pi", "sqrt"], &["node"]);
}

#[test]
fn components_and_models_have_statements_of_their_own() {
    holds(
        &offered("component C(k) {\n  |\n}\n"),
        &["port", "node", "signal"],
        &["input", "experiment"],
    );
    holds(
        &offered("model M {\n  |\n}\n"),
        &["input", "experiment", "node"],
        &["port"],
    );
}

#[test]
fn the_path_of_an_import_is_known_up_to_the_place() {
    let found = |text: &str| {
        let at = text.find('|').expect("a mark");
        let text = text.replacen('|', "", 1);
        let found = Snapshot::new(&NoFiles, None, "model.lgm", &text, Cancellation::default());
        found
            .import_path(at as u32)
            .map(|span| text[span.start as usize..span.end as usize].to_string())
    };
    assert_eq!(found("import \"parts/ce|\n").as_deref(), Some("parts/ce"));
    assert_eq!(found("  import \"|\";\n").as_deref(), Some(""));
    assert_eq!(found("import \"a.lgm\";|\n"), None);
    assert_eq!(found("import non|\n"), None);
}
