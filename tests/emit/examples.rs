//! The examples, from their text to the printed results.

use lgm::emit::{MatrixOptions, TextOptions, json, latex, text};
use lgm::source::{NoFiles, SourceMap};
use std::fs;
use std::path::Path;

#[test]
fn every_example_is_printed_in_every_format() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut names: Vec<String> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".lgm"))
        .collect();
    names.sort();
    assert!(names.len() > 3);
    for name in names {
        let mut map = SourceMap::default();
        let root = map.add(name.as_str(), fs::read_to_string(folder.join(&name)).unwrap(), None);
        let request = lgm::Request {
            verify: true,
            ..lgm::Request::default()
        };
        let (system, mut diagnostics) = lgm::compile(&NoFiles, &mut map, root, &request);
        let verified = diagnostics.iter().position(|diagnostic| diagnostic.code == "LGM0712");
        diagnostics.remove(verified.unwrap_or_else(|| panic!("{name} was not verified")));
        let rendered = lgm::rendering::render(&map, &diagnostics, false);
        let system = system.unwrap_or_else(|| panic!("{name} has no equations:\n{rendered}"));
        assert!(!lgm::diagnostic::has_errors(&diagnostics), "{name}:\n{rendered}");
        let stem = name.trim_end_matches(".lgm");
        let shown = format!("{rendered}{}", text(&system, &TextOptions::default()));
        insta::assert_snapshot!(format!("{stem}_text"), shown);
        insta::assert_snapshot!(format!("{stem}_latex"), latex(&system, MatrixOptions::default()));
        for numeric in [false, true] {
            let mut out = Vec::new();
            let options = MatrixOptions {
                numeric,
                ..MatrixOptions::default()
            };
            json(&system, options, &mut out).unwrap();
            let value: serde_json::Value = serde_json::from_slice(&out).unwrap();
            assert_eq!(value["states"].as_array().unwrap().len(), system.states.len());
            assert_eq!(value["A"].is_array(), system.equations.linear, "{name}");
        }
    }
}
