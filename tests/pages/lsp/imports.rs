//! Imports: unsaved texts are used, an edit updates dependent texts, and nothing outside the workspace is read.

use super::client::{Client, codes, uri};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const PART: &str = "component Part(k [N/m]) { port a : translational; s : Spring(k) a -> gnd; }\n";
const MAIN: &str = "import \"part.lgm\";\n\
    model M { node x : translational; p : Part(3) (a = x); m : Mass(1) x -> gnd; output f = through(p.s); }\n";

fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = fs::canonicalize(folder.path()).unwrap();
    (folder, path)
}

#[test]
fn unsaved_texts_are_seen_and_edits_reach_those_that_use_them() {
    let (_folder, work) = place();
    let (main, part) = (uri(&work.join("main.lgm")), uri(&work.join("part.lgm")));
    let mut client = Client::start("utf-16", Some(&work));
    client.open(&main, MAIN);
    assert_eq!(codes(&client.pushed(&main, Some(1))), ["LGM0101"]);
    client.open(&part, PART);
    assert_eq!(client.pushed(&main, Some(1)), Vec::<Value>::new());
    // A changed number of parameters is an error of the dependent text.
    client.change(
        &part,
        2,
        json!([{ "text": PART.replace("k [N/m]", "k [N/m], b [N.s/m]") }]),
    );
    assert!(!client.pushed(&main, Some(1)).is_empty());
    client.change(&part, 3, json!([{ "text": PART }]));
    assert_eq!(client.pushed(&main, Some(1)), Vec::<Value>::new());
    // An error in the component file is listed there once, although two texts find it.
    client.change(&part, 4, json!([{ "text": PART.replace("Spring", "Sprin") }]));
    let found = client.pushed(&part, Some(4));
    assert_eq!(found.len(), 1, "{found:?}");
    // After closing, the file on disk counts: it does not exist.
    client.close(&part);
    let missing =
        client.wait(|message| message["params"]["uri"] == main.as_str() && message.to_string().contains("LGM0101"));
    assert_eq!(missing["params"]["version"], 1);
    client.end();
}

#[test]
fn files_that_change_on_the_disk_are_noticed() {
    let (_folder, work) = place();
    let (main, part) = (uri(&work.join("main.lgm")), work.join("part.lgm"));
    let mut client = Client::start("utf-16", Some(&work));
    client.open(&main, MAIN);
    assert_eq!(codes(&client.pushed(&main, None)), ["LGM0101"]);
    fs::write(&part, PART).unwrap();
    let changes = json!({ "changes": [{ "uri": uri(&part), "type": 1 }] });
    client.notify("workspace/didChangeWatchedFiles", changes.clone());
    assert_eq!(client.pushed(&main, None), Vec::<Value>::new());
    // Errors of a closed file are listed there, and disappear.
    fs::write(&part, PART.replace("Spring", "Sprin")).unwrap();
    client.notify("workspace/didChangeWatchedFiles", changes.clone());
    assert!(!client.pushed(&uri(&part), None).is_empty());
    fs::write(&part, PART).unwrap();
    client.notify("workspace/didChangeWatchedFiles", changes);
    assert_eq!(client.pushed(&uri(&part), None), Vec::<Value>::new());
    fs::write(&part, [0xff, 0xfe]).unwrap();
    client.notify("textDocument/didSave", json!({ "textDocument": { "uri": main } }));
    let found = client.pushed(&main, None);
    assert!(
        found[0]["message"].as_str().unwrap().contains("not UTF-8 at byte 0"),
        "{found:?}"
    );
    client.end();
}

/// The diagnostics of a model in the folder `work`, with this folder open.
fn said(open: Option<&Path>, path: &Path, text: &str) -> Vec<Value> {
    let mut client = Client::start("utf-16", open);
    client.open(&uri(path), text);
    let found = client.pushed(&uri(path), None);
    client.end();
    found
}

#[test]
fn nothing_outside_of_the_workspace_is_read() {
    let (_folder, root) = place();
    for name in ["work", "other"] {
        fs::create_dir(root.join(name)).unwrap();
        fs::write(root.join(name).join("part.lgm"), PART).unwrap();
    }
    let (work, other) = (root.join("work"), root.join("other"));
    let main = work.join("main.lgm");
    assert_eq!(said(Some(&work), &main, MAIN), Vec::<Value>::new());
    // Without an open folder, the workspace is the folder of the text.
    assert_eq!(said(None, &main, MAIN), Vec::<Value>::new());
    // A text outside the open folder reads nothing, not even its neighbours.
    let found = said(Some(&other), &main, MAIN);
    assert_eq!(codes(&found), ["LGM0101"]);
    assert!(
        found[0]["message"].as_str().unwrap().contains("outside the folders"),
        "{found:?}"
    );
    // Paths that lead outside are rejected, although the files exist.
    for path in ["../other/part.lgm", &other.join("part.lgm").display().to_string()] {
        let text = MAIN.replace("part.lgm", path);
        assert_eq!(codes(&said(Some(&root), &main, &text)), ["LGM0103"], "{path}");
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(other.join("part.lgm"), work.join("link.lgm")).unwrap();
        let text = MAIN.replace("part.lgm", "link.lgm");
        assert_eq!(codes(&said(Some(&work), &main, &text)), ["LGM0103"]);
    }
}

#[test]
fn a_text_without_a_file_reads_only_below_the_workspace() {
    let mut client = Client::start("utf-16", None);
    client.open("untitled:a", &MAIN.replace("part.lgm", "examples/oscillator.lgm"));
    assert_eq!(codes(&client.pushed("untitled:a", None)), ["LGM0101"]);
    client.end();
}

/// The locations that a workspace edit changes, by URI.
fn changes(edit: &Value) -> Vec<(String, usize)> {
    let changes = edit["changes"].as_object().unwrap();
    let mut list: Vec<_> = changes
        .iter()
        .map(|(uri, edits)| (uri.clone(), edits.as_array().unwrap().len()))
        .collect();
    list.sort();
    list
}

#[test]
fn names_are_followed_into_files_that_are_not_open() {
    let (_folder, work) = place();
    fs::create_dir(work.join("sub")).unwrap();
    fs::create_dir(work.join(".hidden")).unwrap();
    fs::write(work.join("part.lgm"), PART).unwrap();
    fs::write(work.join("main.lgm"), MAIN).unwrap();
    // Through another file, and with a text that has another item of this name.
    fs::write(
        work.join("through.lgm"),
        "import \"main.lgm\";\nmodel N { node y : translational; q : Part(1) (a = y); m : Mass(1) y -> gnd; }\n",
    )
    .unwrap();
    fs::write(
        work.join("sub/other.lgm"),
        "component Part(k) { port a : electrical; r : Resistor(k) a -> gnd; }\n",
    )
    .unwrap();
    fs::write(
        work.join(".hidden/main.lgm"),
        "import \"../part.lgm\";\nmodel H { node x : translational; p : Part(3) (a = x); m : Mass(1) x -> gnd; }\n",
    )
    .unwrap();
    let part = uri(&work.join("part.lgm"));
    let mut client = Client::start("utf-16", Some(&work));
    client.open(&part, PART);
    let at = json!({ "textDocument": { "uri": part }, "position": { "line": 0, "character": 11 } });
    let mut params = at.clone();
    params["context"] = json!({ "includeDeclaration": true });
    let found = client.ask("textDocument/references", params).unwrap();
    assert_eq!(found.as_array().unwrap().len(), 3, "{found}");
    let mut params = at;
    params["newName"] = json!("Piece");
    let edit = client.ask("textDocument/rename", params.clone()).unwrap();
    let (main, through) = (uri(&work.join("main.lgm")), uri(&work.join("through.lgm")));
    assert_eq!(changes(&edit), [(main, 1), (part, 1), (through, 1)]);
    // If a closed file already has the new name, nothing is changed.
    fs::write(
        work.join("main.lgm"),
        format!("{MAIN}component Piece(k) {{ port a : translational; }}\n"),
    )
    .unwrap();
    let refused = client.ask("textDocument/rename", params).unwrap_err();
    assert!(refused.to_string().contains("Piece"), "{refused}");
    client.end();
}

#[test]
fn the_path_of_an_import_is_completed_below_the_workspace() {
    let (_folder, work) = place();
    fs::create_dir_all(work.join("models/parts")).unwrap();
    fs::write(work.join("models/part.lgm"), PART).unwrap();
    fs::write(work.join("models/parts/cell.lgm"), PART).unwrap();
    fs::write(work.join("models/notes.txt"), "").unwrap();
    let main = uri(&work.join("models/main.lgm"));
    let mut client = Client::start("utf-16", Some(&work.join("models")));
    client.open(&main, "import \"par\";\nimport \"parts/c\";\nimport \"../\";\n");
    let mut offered = |line: u32, character: u32| {
        let at = json!({ "textDocument": { "uri": main }, "position": { "line": line, "character": character } });
        let items = client.ask("textDocument/completion", at).unwrap();
        let items = items.as_array().unwrap().iter();
        items
            .map(|item| {
                (
                    item["label"].as_str().unwrap().to_string(),
                    item["textEdit"]["range"]["start"]["character"].clone(),
                )
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(
        offered(0, 11),
        [("part.lgm".to_string(), json!(8)), ("parts/".to_string(), json!(8))]
    );
    assert_eq!(offered(1, 15), [("cell.lgm".to_string(), json!(14))]);
    // Files above the workspace are not accessible.
    assert_eq!(offered(2, 11), []);
    client.end();
}

#[test]
fn a_kind_that_a_file_beside_the_model_defines_is_imported() {
    let (_folder, work) = place();
    fs::create_dir(work.join("sub")).unwrap();
    fs::write(work.join("sub/part.lgm"), PART).unwrap();
    // It contains the name but does not define it.
    fs::write(work.join("other.lgm"), "// Part\ncomponent Other(Part) { }\n").unwrap();
    let main = uri(&work.join("main.lgm"));
    let text = MAIN.split_once('\n').unwrap().1;
    let mut client = Client::start("utf-16", Some(&work));
    client.open(&main, text);
    let found = client.pushed(&main, Some(1));
    assert_eq!(codes(&found), ["LGM0149"]);
    let params =
        json!({ "textDocument": { "uri": main }, "range": found[0]["range"], "context": { "diagnostics": found } });
    let actions = client.ask("textDocument/codeAction", params).unwrap();
    assert_eq!(actions[0]["title"], "import `sub/part.lgm`", "{actions}");
    assert_eq!((&actions[0]["kind"], &actions[1]), (&json!("quickfix"), &Value::Null));
    let edit = &actions[0]["edit"]["changes"][&main][0];
    assert_eq!(edit["newText"], "import \"sub/part.lgm\";\n\n");
    client.change(&main, 2, json!([{ "range": edit["range"], "text": edit["newText"] }]));
    assert_eq!(client.pushed(&main, Some(2)), Vec::<Value>::new());
    client.end();
}

#[test]
fn folders_of_a_setting_are_imported_from() {
    let (own, shared) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let [own, shared] = [&own, &shared].map(|folder| fs::canonicalize(folder.path()).unwrap());
    fs::write(
        shared.join("shared.lgm"),
        "component Box() { port p : electrical; r : Resistor(1) p -> gnd; }\n",
    )
    .unwrap();
    let text =
        "import \"shared.lgm\";\nmodel M { node a : electrical; s : VoltageSource(1) a -> gnd; b : Box() (p = a); }\n";
    let mut client = Client::start("utf-16", Some(&own));
    let uri = uri(&own.join("model.lgm"));
    client.open(&uri, text);
    assert_eq!(codes(&client.pushed(&uri, Some(1)))[0], "LGM0101");
    let settings = json!({ "settings": { "lgm": { "include": [shared] } } });
    client.notify("workspace/didChangeConfiguration", settings);
    assert_eq!(client.pushed(&uri, Some(1)), Vec::<Value>::new());
    client.end();
}

/// Closed files are checked in their state on disk, open ones in their current state; diagnostics of closed texts are
/// not pushed.
#[test]
fn all_models_of_a_folder_are_checked_on_request() {
    let (_folder, root) = place();
    let model = |value: &str| format!("model M {{ node a : electrical; r : Resistor({value}) a -> gnd; }}\n");
    fs::write(root.join("faulty.lgm"), model("nowhere")).unwrap();
    fs::write(
        root.join("right.lgm"),
        "model N { node x : translational; m : Mass(1) x -> gnd; }\n",
    )
    .unwrap();
    fs::write(root.join("open.lgm"), model("nowhere")).unwrap();
    let mut client = Client::start("utf-16", Some(&root));
    let open = uri(&root.join("open.lgm"));
    client.open(&open, "model O { node x : translational; m : Mass(1) x -> gnd; }\n");
    client.pushed(&open, Some(1));
    let report = client
        .ask("workspace/diagnostic", json!({ "previousResultIds": [] }))
        .unwrap();
    let found = |name: &str| {
        let wanted = uri(&root.join(name));
        let items = report["items"].as_array().unwrap().iter();
        let mut own = items.filter(|item| item["uri"] == json!(wanted));
        let own = own.next().unwrap_or_else(|| panic!("{name} in {report}"));
        let codes = codes(own["items"].as_array().unwrap()).join(" ");
        (own["version"].clone(), codes)
    };
    assert_eq!(found("faulty.lgm"), (Value::Null, "LGM0110".to_string()));
    assert_eq!(found("right.lgm"), (Value::Null, String::new()));
    assert_eq!(found("open.lgm"), (json!(1), String::new()));
    client.end();
}

#[test]
fn imports_follow_a_file_to_its_new_name() {
    let (_folder, root) = place();
    fs::write(root.join("part.lgm"), PART).unwrap();
    fs::write(root.join("closed.lgm"), MAIN).unwrap();
    fs::write(root.join("other.lgm"), "// part.lgm\nmodel N { }\n").unwrap();
    let mut client = Client::start("utf-16", Some(&root));
    let open = uri(&root.join("open.lgm"));
    client.open(&open, MAIN);
    client.pushed(&open, Some(1));
    let files = json!([{ "oldUri": uri(&root.join("part.lgm")), "newUri": uri(&root.join("sub/piece.lgm")) }]);
    let answer = client
        .ask("workspace/willRenameFiles", json!({ "files": files }))
        .unwrap();
    let changes = answer["changes"].as_object().unwrap();
    assert_eq!(changes.len(), 2, "{answer}");
    for own in [open, uri(&root.join("closed.lgm"))] {
        let edit = &changes[&own][0];
        assert_eq!(edit["newText"], "\"sub/piece.lgm\"");
        assert_eq!(edit["range"]["start"], json!({ "line": 0, "character": 7 }));
        assert_eq!(edit["range"]["end"], json!({ "line": 0, "character": 17 }));
    }
    // Outside the folder of the models, no import could read it.
    let files = json!([{ "oldUri": uri(&root.join("part.lgm")), "newUri": "file:///elsewhere/part.lgm" }]);
    let answer = client
        .ask("workspace/willRenameFiles", json!({ "files": files }))
        .unwrap();
    assert_eq!(answer, Value::Null);
    client.end();
}
