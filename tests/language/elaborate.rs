//! From text to flat model: the snippets of the language description, laws in many arrangements, errors.

mod dump;
mod faults;
mod laws;
mod loading;
mod places;
mod robust;
mod snippets;

use lgm::diagnostic::{Diagnostic, Severity};
use lgm::elaborate::{Settings, elaborate, load};
use lgm::model::Model;
use lgm::rendering::render;
use lgm::source::{NoFiles, SourceMap};

/// Elaborates a text with `--set` options.
pub fn run(text: &str, sets: &[&str]) -> (Option<Model>, Vec<Diagnostic>, SourceMap) {
    let mut map = SourceMap::default();
    let root = map.add("model.lgm", text, None);
    let (program, mut diagnostics) = load(&NoFiles, &mut map, root);
    let sets = sets
        .iter()
        .map(|set| (set.to_string(), map.add("--set", *set, None)))
        .collect();
    let settings = Settings {
        sets,
        ..Settings::default()
    };
    let (model, more) = elaborate(&program, &map, &settings);
    diagnostics.extend(more);
    let failed = lgm::diagnostic::has_errors(&diagnostics);
    (model.filter(|_| !failed), diagnostics, map)
}

/// The model of a text without any errors.
pub fn good(text: &str) -> Model {
    let (model, diagnostics, map) = run(text, &[]);
    // A remark is not an error of a valid model.
    let is_remark = |found: &Diagnostic| found.severity == Severity::Information;
    assert!(
        diagnostics.iter().all(is_remark),
        "{}",
        render(&map, &diagnostics, false)
    );
    model.expect("a text without faults has a model")
}

/// The text and its diagnostics.
pub fn said(text: &str, sets: &[&str]) -> String {
    let (_, diagnostics, map) = run(text, sets);
    format!("{}\n{}", text.trim(), render(&map, &diagnostics, false))
}

#[test]
fn every_model_in_the_house_is_without_fault() {
    let mut count = 0;
    for folder in [
        "examples",
        "examples/seeds",
        "tests/systems",
        "tests/causality/headline",
    ] {
        let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder}: {error}"));
        for entry in entries {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "lgm") {
                good(&std::fs::read_to_string(&path).unwrap());
                count += 1;
            }
        }
    }
    assert!(count > 30, "only {count} models were found");
}

#[test]
fn many_sections_are_expanded_without_copying_their_text() {
    let sections = 20_000;
    let text = format!(
        "component Section(L [H], R [ohm], C [F]) {{ port p, n, ref : electrical; node m : electrical;
           l : Inductor(L) p -> m; r : Resistor(R) m -> n; c : Capacitor(C) n -> ref; }}
         model Line {{ const N = {sections}; input u [V] = 1; node v[N + 1] : electrical;
           src : VoltageSource(u) v[1] -> gnd;
           for i in 1:N {{ cell[i] : Section(L = 1 [mH], R = 0.1 [ohm], C = 1 [uF]) (p = v[i], n = v[i + 1], ref = gnd); }}
           load : Resistor(50) v[N + 1] -> gnd; output y = across(cell[2].c); }}"
    );
    let model = good(&text);
    assert_eq!(model.graph.elements.len(), 3 * sections + 2);
    // Equal values share one expression, in any number of instances.
    assert!(model.exprs.len() < 100, "{} expressions", model.exprs.len());
}
