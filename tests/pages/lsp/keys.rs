//! A line is typed key by key: its errors are on it, and nothing appears or disappears on other lines.

use super::client::Client;
use crate::support::program::example;
use serde_json::{Value, json};
use std::fs;

const URI: &str = "file:///nowhere/typed.lgm";

/// Examples, and a statement to type into each.
const TYPED: [(&str, &str); 5] = [
    ("oscillator", "  extra : Spring(2 [N/m]) x -> gnd;"),
    ("dc_motor", "  extra : RotationalDamper(0.01 [N*m*s/rad]) shaft -> gnd;"),
    ("quarter_car", "  extra : Damper(3 [N*s/m]) body -> wheel, start = 0;"),
    (
        "wheatstone_bridge",
        "  param extra = if 2 > 1 then 3 [ohm] else 4 [ohm];",
    ),
    ("hydraulic_lift", "  signal extra = 2*sin(time) + across(load);"),
];

/// A second source that sets an already determined variable, so that a diagnostic can be lost.
fn with_conflict(text: &str) -> String {
    let conflict = "  node lonely : electrical;\n  held : VoltageSource(1 [V]) lonely -> gnd;\n  \
        twice : VoltageSource(2 [V]) lonely -> gnd;\n";
    let end = text.rfind('}').expect("a model ends");
    format!("{}{conflict}{}", &text[..end], &text[end..])
}

/// The diagnostics of a list that begin on a line, or on all others; without the line number if it moves.
fn on_line(found: &[Value], line: usize, is_on_it: bool) -> Vec<String> {
    let begins = |entry: &Value| entry["range"]["start"]["line"] == line;
    let wanted = found.iter().filter(|entry| begins(entry) == is_on_it);
    wanted
        .map(|entry| format!("{} {} {}", entry["code"], entry["range"], entry["message"]))
        .collect()
}

/// Counts over the keys.
#[derive(Debug, Default)]
struct Count {
    keys: usize,
    off_line: usize,
    moved: usize,
    silent: usize,
}

/// Types a statement at the end of a line, key by key except the last one.
fn type_line(client: &mut Client, version: &mut i64, line: usize, words: &str, count: &mut Count) {
    let before = client.pushed(URI, Some(*version));
    let others = on_line(&before, line, false);
    let letters: Vec<char> = words.chars().collect();
    for (at, letter) in letters[..letters.len() - 1].iter().enumerate() {
        let place = json!({ "line": line, "character": at });
        *version += 1;
        let change = json!([{ "range": { "start": place, "end": place }, "text": letter.to_string() }]);
        client.change(URI, *version, change);
        let now = client.pushed(URI, Some(*version));
        if letters[..=at].iter().all(|letter| letter.is_whitespace()) {
            continue;
        }
        count.keys += 1;
        let off = now.iter().filter(|entry| entry["severity"] == 1);
        let off: Vec<Value> = off.cloned().collect();
        let is_new = |fault: &String| !others.contains(fault);
        count.off_line += usize::from(on_line(&off, line, false).iter().any(is_new));
        count.moved += usize::from(on_line(&now, line, false) != others);
        count.silent += usize::from(on_line(&off, line, true).is_empty());
    }
}

#[test]
fn a_line_that_is_typed_leaves_the_others_alone() {
    let mut count = Count::default();
    for (name, words) in TYPED {
        let whole = with_conflict(&fs::read_to_string(example(&format!("{name}.lgm"))).unwrap());
        let lines: Vec<&str> = whole.lines().collect();
        let places = (0..lines.len()).filter(|line| lines[*line].ends_with(';'));
        let mut client = Client::start("utf-32", None);
        client.open(URI, &whole);
        client.pushed(URI, Some(1));
        let mut version = 1;
        for place in places.step_by(4) {
            // A new statement before another one, which is then retyped.
            for (words, replaced) in [(words, 0), (lines[place], 1)] {
                let mut text = lines.clone();
                text.splice(place..place + replaced, [""]);
                version += 1;
                client.change(URI, version, json!([{ "text": text.join("\n") + "\n" }]));
                client.notify("textDocument/didSave", json!({ "textDocument": { "uri": URI } }));
                type_line(&mut client, &mut version, place, words, &mut count);
            }
        }
        client.end();
    }
    assert!(count.keys > 1000, "{count:?}");
    assert_eq!((count.off_line, count.moved), (0, 0), "{count:?}");
    assert_eq!(count.silent, 0, "a half-written line without a fault: {count:?}");
}
