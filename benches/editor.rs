//! From a keystroke to what an editor shows: `cargo bench --bench editor`, the table of docs/editor.md.
//!
//! A ladder of sections, each with three elements and numbers of its own, is open in the server over pipes. A key is typed again and
//! again in the middle of it; the time from the edit to the diagnostics of that version, to the answer to completion and to hover is
//! taken, and the median shown. Times of the machine's other work are in them: compare rows of one run.

#[path = "../tests/lsp/client.rs"]
#[expect(dead_code, reason = "the tests use the rest")]
mod client;

use client::Client;
use serde_json::{Value, json};
use std::fs;
use std::time::{Duration, Instant};

const URI: &str = "file:///work/ladder.lgm";

/// How often a key is typed at each size.
const KEYS: i64 = 21;

/// How many edits the memory is watched over.
const EDITS: i64 = 10_000;

/// A ladder of about so many elements; a line for each.
fn ladder(elements: usize) -> String {
    let sections = elements / 3;
    let mut text = format!(
        "model Ladder {{\n  node n[{}] : electrical;\n  input u [V] = step(0);\n",
        sections + 1
    );
    text += "  source : VoltageSource(u) n[1] -> gnd;\n";
    for at in 1..=sections {
        text += &format!("  r{at} : Resistor({} [ohm]) n[{at}] -> n[{}];\n", 10 + at % 7, at + 1);
        text += &format!("  l{at} : Inductor({} [mH]) n[{at}] -> n[{}];\n", 2 + at % 5, at + 1);
        text += &format!("  c{at} : Capacitor({} [uF]) n[{}] -> gnd;\n", 1 + at % 3, at + 1);
    }
    text + "  output v = across(c1);\n}\n"
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1e3
}

/// Writes another digit into the value of an element in the middle.
fn key(client: &mut Client, line: usize, version: i64) {
    let column = "  c1 : Capacitor(".len() + line.ilog10() as usize;
    let range =
        json!({ "start": { "line": line, "character": column }, "end": { "line": line, "character": column + 1 } });
    client.change(
        URI,
        version,
        json!([{ "range": range, "text": (1 + version % 8).to_string() }]),
    );
}

fn at(line: usize, character: usize) -> Value {
    json!({ "textDocument": { "uri": URI }, "position": { "line": line, "character": character } })
}

/// Megabytes that the server holds; none where the system does not say.
fn memory(client: &Client) -> Option<f64> {
    let status = fs::read_to_string(format!("/proc/{}/status", client.process())).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<f64>().ok()? / 1024.0)
}

fn size(elements: usize) {
    let text = ladder(elements);
    let began = Instant::now();
    // As all widespread editors, it asks for the documentation of what is looked at.
    let capabilities = json!({ "textDocument": { "completion": { "completionItem":
        { "resolveSupport": { "properties": ["documentation"] } } } } });
    let mut client = Client::start_with(&capabilities, None);
    client.open(URI, &text);
    client.pushed(URI, Some(1));
    let first = began.elapsed().as_secs_f64() * 1e3;
    // The line of a capacitor in the middle.
    let section = elements / 6;
    let line = 4 + 3 * section - 1;
    let mut times = [const { Vec::new() }; 3];
    for version in 2..2 + KEYS {
        let began = Instant::now();
        key(&mut client, line, version);
        client.pushed(URI, Some(version));
        times[0].push(began.elapsed());
        let began = Instant::now();
        client.ask("textDocument/completion", at(line, 2)).expect("completion");
        times[1].push(began.elapsed());
        let began = Instant::now();
        client.ask("textDocument/hover", at(line, 3)).expect("hover");
        times[2].push(began.elapsed());
    }
    let [diagnostics, completion, hover] = times.map(median);
    let held = memory(&client).map_or("-".to_string(), |held| format!("{held:.0}"));
    println!("| {elements} | {first:.0} | {diagnostics:.1} | {completion:.1} | {hover:.1} | {held} |");
    client.end();
}

/// Memory after edits of a model of 1,000 elements, each of them checked.
fn growth() {
    let mut client = Client::start("utf-16", None);
    client.open(URI, &ladder(1000));
    client.pushed(URI, Some(1));
    let mut marks = Vec::new();
    for version in 2..2 + EDITS {
        key(&mut client, 4 + 3 * 166 - 1, version);
        client.pushed(URI, Some(version));
        if version % (EDITS / 5) == 0 {
            marks.push(memory(&client).map_or("-".to_string(), |held| format!("{held:.0}")));
        }
    }
    println!(
        "\nMB after each fifth of {EDITS} edits at 1,000 elements: {}",
        marks.join(", ")
    );
    client.end();
}

fn main() {
    println!("| elements | start to diagnostics, ms | key to diagnostics, ms | completion, ms | hover, ms | MB |");
    println!("| ---: | ---: | ---: | ---: | ---: | ---: |");
    for elements in [100, 1_000, 10_000] {
        size(elements);
    }
    growth();
}
