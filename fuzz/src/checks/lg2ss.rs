//! The importer of LG2ss matrices.

use lgm::diagnostic::has_errors;
use lgm::elaborate::{Settings, elaborate, load};
use lgm::import;
use lgm::source::{NoFiles, SourceMap};
use lgm::syntax::parse;

/// A graph and outputs, with `|` between them and before a name, give a model that elaborates, or errors.
pub fn lg2ss(text: &str) {
    let mut parts = text.splitn(3, '|');
    let mut map = SourceMap::default();
    let graph = map.add("--graph", parts.next().unwrap_or_default(), None);
    let outputs = map.add("--outputs", parts.next().unwrap_or("[]"), None);
    let (model, found) = import::lg2ss(&map, graph, outputs, parts.next().unwrap_or("Imported"));
    super::diagnostics(&map, &found);
    assert!(
        model.is_some() != has_errors(&found),
        "a model and errors at once, or neither"
    );
    let Some(model) = model else { return };
    let root = map.add("imported.lgm", model.as_str(), None);
    let (_, faults) = parse(root, &model);
    assert!(faults.is_empty(), "{model}\n{faults:#?}");
    super::formatter(&model);
    let (program, _) = load(&NoFiles, &mut map, root);
    let (elaborated, faults) = elaborate(&program, &map, &Settings::default());
    super::diagnostics(&map, &faults);
    assert!(elaborated.is_some(), "{model}\n{faults:#?}");
}
