//! Quick fixes for errors: each leaves a model without the error.

use super::client::{Client, uri};
use super::same_as_terminal::blocks;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// A server that counts characters.
fn client(folder: Option<&Path>) -> Client {
    Client::start("utf-32", folder)
}

/// The byte offset of a position.
fn offset(text: &str, at: &Value) -> usize {
    let number = |name: &str| at[name].as_u64().unwrap() as usize;
    let before: usize = text.split_inclusive('\n').take(number("line")).map(str::len).sum();
    let rest = &text[before..];
    let mut letters = rest.char_indices().map(|entry| entry.0);
    before + letters.nth(number("character")).unwrap_or(rest.len())
}

/// The text after the edits of an action; none if it changes another text.
fn edited(text: &str, uri: &str, action: &Value) -> Option<String> {
    let changes = action["edit"]["changes"].as_object()?;
    let edits = changes.get(uri).filter(|_| changes.len() == 1)?.as_array()?;
    let place = |edit: &Value, end: &str| offset(text, &edit["range"][end]);
    let mut sorted: Vec<&Value> = edits.iter().collect();
    sorted.sort_by_key(|edit| (place(edit, "start"), place(edit, "end")));
    let (mut new, mut at) = (String::new(), 0);
    for edit in sorted {
        new += &text[at..place(edit, "start")];
        new += edit["newText"].as_str().unwrap();
        at = place(edit, "end");
    }
    Some(new + &text[at..])
}

/// The quick fixes of an open text, at all locations.
fn fixes(client: &mut Client, uri: &str) -> Vec<Value> {
    let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 10_000, "character": 0 } });
    let params = json!({ "textDocument": { "uri": uri }, "range": range, "context": { "diagnostics": [] } });
    let found = client.ask("textDocument/codeAction", params).unwrap();
    let all = found.as_array().unwrap().iter();
    all.filter(|action| action["kind"] == "quickfix").cloned().collect()
}

/// The faults of a text: errors, and everything with a code.
fn has_fault(client: &mut Client, uri: &str, text: &str, code: &str) -> bool {
    client.open(uri, text);
    let found = client.pushed(uri, Some(1));
    client.close(uri);
    client.pushed(uri, None);
    found
        .iter()
        .any(|fault| fault["severity"] == 1 || fault["code"] == code)
}

/// Most pages of codes show an error with a simple fix, and the editor offers it.
#[test]
fn most_faults_of_the_pages_have_a_change_that_mends_them() {
    let folder = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(folder.path()).unwrap();
    let mut client = client(Some(&root));
    let (mut mended, mut all) = (Vec::new(), 0);
    let mut pages: Vec<_> = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/codes"))
        .unwrap()
        .collect();
    pages.sort_by_key(|entry| entry.as_ref().unwrap().path());
    for entry in pages {
        let page = entry.unwrap().path();
        let code = page.file_stem().unwrap().to_string_lossy().into_owned();
        let own = root.join(&code);
        let text = fs::read_to_string(&page).unwrap();
        let blocks = blocks(&text);
        for (tag, text) in &blocks {
            if let Some(path) = tag.strip_prefix("lgm in ").or_else(|| tag.strip_prefix("csv in ")) {
                fs::create_dir_all(own.join(path).parent().unwrap()).unwrap();
                fs::write(own.join(path), text).unwrap();
            }
        }
        for (number, (_, text)) in blocks.iter().enumerate().filter(|entry| entry.1.0 == "lgm fails") {
            all += 1;
            let uri = uri(&own.join(format!("model{number}.lgm")));
            client.open(&uri, text);
            client.pushed(&uri, Some(1));
            let offered = fixes(&mut client, &uri);
            client.close(&uri);
            client.pushed(&uri, None);
            let texts = offered.iter().filter_map(|action| edited(text, &uri, action));
            let texts: Vec<String> = texts.collect();
            if texts.iter().any(|text| !has_fault(&mut client, &uri, text, &code)) {
                mended.push(code.clone());
            }
        }
    }
    client.end();
    assert!(all > 150, "{all}");
    assert!(mended.len() >= 95, "{} of {all}: {mended:?}", mended.len());
}

const CONFLICT: &str = "model M {\n  node a : electrical;\n  battery : VoltageSource(12 [V]) a -> gnd;\n  \
    charger : VoltageSource(14 [V]) a -> gnd;\n  load : Resistor(10 [ohm]) a -> gnd;\n}\n";

#[test]
fn a_conflict_has_changes_that_each_end_it() {
    let mut client = client(None);
    let uri = "file:///nowhere/conflict.lgm";
    client.open(uri, CONFLICT);
    client.pushed(uri, Some(1));
    let offered = fixes(&mut client, uri);
    client.close(uri);
    client.pushed(uri, None);
    let titles: Vec<&str> = offered.iter().map(|action| action["title"].as_str().unwrap()).collect();
    assert_eq!(
        titles,
        [
            "put a `Resistor` in series with `charger`",
            "put a `Resistor` in series with `battery`",
            "make `charger` an output: measure its variable instead of setting it",
            "make `battery` an output: measure its variable instead of setting it",
            "remove `charger`",
            "remove `battery`",
        ]
    );
    assert_eq!(offered[0]["isPreferred"], true);
    assert!(
        offered[1..].iter().all(|action| action.get("isPreferred").is_none()),
        "{offered:?}"
    );
    for action in &offered {
        let text = edited(CONFLICT, uri, action).unwrap();
        assert!(!has_fault(&mut client, uri, &text, "LGM0301"), "{text}");
    }
    let text = edited(CONFLICT, uri, &offered[0]).unwrap();
    assert!(text.contains("Resistor(1 [ohm]) charger_inner -> a;"), "{text}");
    client.end();
}

#[test]
fn sources_of_one_flow_get_a_path_beside_them() {
    let text = "model M {\n  node a, b : electrical;\n  first : CurrentSource(1 [A]) gnd -> a;\n  \
        wire : Resistor(1 [ohm]) a -> b;\n  second : CurrentSource(2 [A]) b -> gnd;\n}\n";
    let mut client = client(None);
    let uri = "file:///nowhere/series.lgm";
    client.open(uri, text);
    client.pushed(uri, Some(1));
    let offered = fixes(&mut client, uri);
    client.close(uri);
    client.pushed(uri, None);
    let first = offered[0]["title"].as_str().unwrap();
    assert!(first.starts_with("put a `Resistor` in parallel with"), "{offered:?}");
    for action in &offered {
        let new = edited(text, uri, action).unwrap();
        assert!(!has_fault(&mut client, uri, &new, "LGM0301"), "{new}");
    }
    client.end();
}

#[test]
fn a_conflict_in_a_component_stands_at_the_instance_too() {
    let folder = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(folder.path()).unwrap();
    let parts = "component Stiff() { port p : electrical; hold : VoltageSource(1 [V]) p -> gnd; }\n";
    fs::write(root.join("parts.lgm"), parts).unwrap();
    let text = "import \"parts.lgm\";\nmodel M {\n  node a : electrical;\n  source : VoltageSource(2 [V]) a -> gnd;\n  \
        box : Stiff() (p = a);\n}\n";
    let mut client = client(Some(&root));
    let uri = uri(&root.join("model.lgm"));
    client.open(&uri, text);
    let found = client.pushed(&uri, Some(1));
    let at: Vec<&Value> = found.iter().filter(|fault| fault["code"] == "LGM0301").collect();
    assert_eq!(at.len(), 1, "{found:?}");
    assert_eq!(
        (&at[0]["range"]["start"]["line"], &at[0]["range"]["start"]["character"]),
        (&json!(4), &json!(2))
    );
    // This client does not support related locations, so the steps are in the message.
    let words = at[0]["message"].as_str().unwrap();
    assert!(
        words.contains("\nline 4: 1. `source` sets the voltage of `a`"),
        "{words}"
    );
    assert!(words.contains("parts.lgm: 2. so `box.hold` cannot set"), "{words}");
    client.end();
}
