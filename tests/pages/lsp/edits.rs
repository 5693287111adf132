//! Many edits give the same result as one fresh text.

use super::client::{Client, uri};
use super::same_as_terminal::{listed, terminal};
use crate::support::program::example;
use serde_json::{Value, json};
use std::fs;

/// A generator of reproducible numbers, without high quality.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % bound
    }
}

/// Inserted texts: parts of models, broken ones, and letters of all lengths.
const PIECES: [&str; 14] = [
    "",
    "",
    "}",
    "{",
    ";",
    "\r\n",
    "\n",
    "// ä😀\n",
    "/* 𝒳 */",
    "m2 : Mass(1) x -> gnd;",
    "x",
    "[kg]",
    "\"",
    "output w = across(mass);",
];

/// Line and column of a byte, in characters; the line break belongs to no line.
fn position(text: &str, offset: usize) -> Value {
    let before = &text[..offset];
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    json!({ "line": before.matches('\n').count(), "character": before[start..].chars().count() })
}

/// A character boundary, except within CRLF, where no column points.
fn place(text: &str, numbers: &mut Numbers) -> usize {
    let mut at = numbers.below(text.len() + 1);
    while !text.is_char_boundary(at) || text[..at].ends_with('\r') {
        at -= 1;
    }
    at
}

fn edited(text: &mut String, numbers: &mut Numbers) -> Value {
    let start = place(text, numbers);
    let mut end = (start + numbers.below(12)).min(text.len());
    while !text.is_char_boundary(end) || (end > start && text[..end].ends_with('\r')) {
        end -= 1;
    }
    let piece = PIECES[numbers.below(PIECES.len())];
    let change = json!({ "range": { "start": position(text, start), "end": position(text, end) }, "text": piece });
    text.replace_range(start..end, piece);
    change
}

/// Messages before the diagnostics are compared.
const MESSAGES: usize = 90;

#[test]
fn random_edits_end_where_a_fresh_text_does() {
    let folder = tempfile::tempdir().unwrap();
    let path = fs::canonicalize(folder.path()).unwrap().join("model.lgm");
    let fresh = fs::read_to_string(example("oscillator.lgm")).unwrap();
    let mut numbers = Numbers(17);
    let mut client = Client::start("utf-32", Some(folder.path()));
    let uri = uri(&path);
    client.open(&uri, &fresh);
    let (mut version, mut codes, mut edits) = (1, 0, 0);
    for _ in 0..12 {
        let mut text = fresh.clone();
        version += 1;
        client.change(&uri, version, json!([{ "text": text }]));
        for _ in 0..5 {
            // Several changes in a message, many messages before a response: 10,000 changes in total.
            for message in 0..MESSAGES {
                version += 1;
                let changes: Vec<Value> = (0..=numbers.below(3))
                    .map(|_| edited(&mut text, &mut numbers))
                    .collect();
                edits += changes.len();
                client.change(&uri, version, json!(changes));
                if message % 25 > 0 {
                    continue;
                }
                let at = json!({ "textDocument": { "uri": uri }, "position": position(&text, place(&text, &mut numbers)), "options": { "tabSize": 2, "insertSpaces": true } });
                for method in [
                    "textDocument/hover",
                    "textDocument/completion",
                    "textDocument/documentSymbol",
                ] {
                    client.begin(method, at.clone());
                }
            }
            fs::write(&path, &text).unwrap();
            let expected = &terminal(&path)[&path];
            // While lines are incomplete, the other diagnostics stay; a saved text has all of its errors.
            client.notify("textDocument/didSave", json!({ "textDocument": { "uri": uri } }));
            assert_eq!(listed(&client.pulled(&uri)), *expected, "{text}");
            codes += expected.len();
        }
    }
    assert!(codes > 50, "{codes}");
    // Hover waits for everything else, so all other requests have been answered before.
    let start = json!({ "textDocument": { "uri": uri }, "position": { "line": 0, "character": 0 } });
    client.ask("textDocument/hover", start).unwrap();
    assert_eq!(client.faults(), Vec::<&Value>::new());
    client.end();
    assert!(edits > 10_000, "{edits}");
}
