//! Columns in every encoding, on lines with non-ASCII text, and lines that end in CRLF.

use super::client::Client;
use serde_json::{Value, json};

const URI: &str = "untitled:Untitled-1";

/// `ä` is 2 bytes of UTF-8 and 1 unit of UTF-16, the emoji 4 and 2.
const TEXT: &str = "// größer 😀\r\nmodel M {\r\n\tnode x : translational; /* ä😀 */ m : Mas(1) x -> gnd;\r\n}\r\n";

/// Columns of `Mas`.
const COLUMNS: [(&str, u64); 3] = [("utf-8", 42), ("utf-16", 39), ("utf-32", 38)];

fn place(diagnostic: &Value) -> [u64; 4] {
    let number = |path: &str| diagnostic.pointer(path).unwrap().as_u64().unwrap();
    [
        "/range/start/line",
        "/range/start/character",
        "/range/end/line",
        "/range/end/character",
    ]
    .map(number)
}

fn unknown(diagnostics: &[Value]) -> &Value {
    let is_it = |entry: &&Value| entry["message"].as_str().unwrap().contains("`Mas`");
    diagnostics
        .iter()
        .find(is_it)
        .unwrap_or_else(|| panic!("{diagnostics:?}"))
}

#[test]
fn diagnostics_stand_where_the_client_counts() {
    let line = TEXT.lines().nth(2).unwrap();
    let before = &line[..line.find("Mas").unwrap()];
    assert_eq!(
        COLUMNS.map(|entry| entry.1 as usize),
        [before.len(), before.encode_utf16().count(), before.chars().count()]
    );
    for (encoding, column) in COLUMNS {
        let mut client = Client::start(encoding, None);
        client.open(URI, TEXT);
        let found = client.pushed(URI, Some(1));
        assert_eq!(place(unknown(&found)), [2, column, 2, column + 3], "{encoding}");
        client.end();
    }
}

#[test]
fn edits_fall_where_the_client_counts() {
    for (encoding, column) in COLUMNS {
        let mut client = Client::start(encoding, None);
        client.open(URI, TEXT);
        assert!(!client.pushed(URI, Some(1)).is_empty());
        let at = json!({ "line": 2, "character": column + 3 });
        let spring = "s : Spring(2) x -> gnd; output v = across(m); ";
        // The second change is relative to the result of the first one; the third is beyond the end of a line.
        let end = json!({ "line": 2, "character": 1000 });
        let changes = json!([
            { "range": { "start": at, "end": at }, "text": "s" },
            { "range": { "start": { "line": 2, "character": column }, "end": { "line": 2, "character": column + 4 } }, "text": "Mass" },
            { "range": { "start": end, "end": end }, "text": spring },
        ]);
        client.change(URI, 2, changes);
        assert_eq!(client.pushed(URI, Some(2)), Vec::<Value>::new(), "{encoding}");
        client.end();
    }
}

#[test]
fn the_message_holds_all_the_words_and_the_help() {
    let mut client = Client::start("utf-16", None);
    client.open(URI, TEXT);
    let found = client.pushed(URI, Some(1));
    let message = unknown(&found)["message"].as_str().unwrap();
    assert!(message.lines().count() >= 2 && message.contains("Mass"), "{message}");
    assert!(unknown(&found).get("codeDescription").is_none());
    client.end();
}
