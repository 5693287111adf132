//! Latency from a keystroke to the editor's display: `cargo bench --bench editor`, the table of docs/editor.md.
//!
//! A ladder of sections, each with three elements and separate values, is open in the server over pipes. A key is typed
//! repeatedly in the middle of it. The benchmark measures the time from the edit to the diagnostics of that version,
//! and to the responses to completion and hover, and prints medians. Other load on the machine is included: compare
//! rows of one run.
//!
//! Then each example is opened, and a comment and a number in it are edited; the slowest examples are printed. Wall
//! time is accompanied by the server's processor time, if the system reports it.

#[path = "../tests/pages/lsp/client.rs"]
#[expect(dead_code, reason = "the tests use the rest")]
mod client;

use client::Client;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const URI: &str = "file:///work/ladder.lgm";

/// Keystrokes at each size.
const KEYS: i64 = 21;

/// The upper limit from a keystroke to the diagnostics of an example, in milliseconds.
const WANTED: f64 = 50.0;

/// Edits over which memory is observed.
const EDITS: i64 = 10_000;

/// A ladder of about n elements, one line each.
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

/// Replaces a digit in the value of an element in the middle.
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

/// Memory of the server in megabytes; none if the system does not report it.
fn memory(client: &Client) -> Option<f64> {
    let status = fs::read_to_string(format!("/proc/{}/status", client.process())).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<f64>().ok()? / 1024.0)
}

fn size(elements: usize) {
    let text = ladder(elements);
    let began = Instant::now();
    // Like all common editors, it requests the documentation of the selected item.
    let capabilities = json!({ "textDocument": { "completion": { "completionItem":
        { "resolveSupport": { "properties": ["documentation"] } } } } });
    let mut client = Client::start_with(&capabilities, None);
    client.open(URI, &text);
    client.pushed(URI, Some(1));
    let first = began.elapsed().as_secs_f64() * 1e3;
    // A capacitor's line in the middle.
    let section = elements / 6;
    let line = 4 + 3 * section - 1;
    let (mut times, mut busy) = ([const { Vec::new() }; 3], Vec::new());
    for version in 2..2 + KEYS {
        let (began, before) = (Instant::now(), worked(&client));
        key(&mut client, line, version);
        client.pushed(URI, Some(version));
        times[0].push(began.elapsed());
        busy.push(worked_since(&client, before));
        let began = Instant::now();
        client.ask("textDocument/completion", at(line, 2)).expect("completion");
        times[1].push(began.elapsed());
        let began = Instant::now();
        client.ask("textDocument/hover", at(line, 3)).expect("hover");
        times[2].push(began.elapsed());
    }
    let ([diagnostics, completion, hover], busy) = (times.map(median), median(busy));
    let held = memory(&client).map_or("-".to_string(), |held| format!("{held:.0}"));
    println!("| {elements} | {first:.0} | {diagnostics:.1} | {busy:.1} | {completion:.1} | {hover:.1} | {held} |");
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

/// The models in a folder and its subfolders.
fn models(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("the examples") {
        let path = entry.expect("an example").path();
        match path.is_dir() {
            true => found.extend(models(&path)),
            false if path.extension().is_some_and(|extension| extension == "lgm") => found.push(path),
            false => {}
        }
    }
    found
}

/// Line and column of a leading digit in the middle of a text, outside comments and indices.
fn digit(text: &str) -> Option<(usize, usize)> {
    let mut found = Vec::new();
    for (line, words) in text.lines().enumerate() {
        let code = words.split("//").next().unwrap_or_default().as_bytes();
        let begins = |pair: &[u8]| matches!(pair[0], b' ' | b'(' | b'*') && pair[1].is_ascii_digit();
        let columns = code.windows(2).enumerate().filter(|(_, pair)| begins(pair));
        found.extend(columns.map(|(column, _)| (line, column + 1)));
    }
    found.get(found.len() / 2).copied()
}

/// Processor time of the server in milliseconds, summed over its threads; none if the system does not report it.
fn worked(client: &Client) -> Option<f64> {
    let tasks = fs::read_dir(format!("/proc/{}/task", client.process())).ok()?;
    let one = |task: PathBuf| -> Option<f64> {
        let text = fs::read_to_string(task.join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse().ok()
    };
    let all = tasks.filter_map(|task| one(task.ok()?.path()));
    Some(all.sum::<f64>() / 1e6)
}

/// Processor time since then; zero if the system does not report it.
fn worked_since(client: &Client, before: Option<f64>) -> Duration {
    let own = worked(client).zip(before).map_or(0.0, |(after, before)| after - before);
    Duration::from_secs_f64(own.max(0.0) / 1e3)
}

/// Milliseconds from an edit to the diagnostics, wall and processor time: medians over several keystrokes.
fn typed(client: &mut Client, uri: &str, version: &mut i64, edit: impl Fn(i64) -> Value) -> [f64; 2] {
    let (mut passed, mut busy) = (Vec::new(), Vec::new());
    for key in 0..KEYS {
        *version += 1;
        let (began, before) = (Instant::now(), worked(client));
        client.change(uri, *version, json!([edit(key)]));
        client.pushed(uri, Some(*version));
        passed.push(began.elapsed());
        busy.push(worked_since(client, before));
    }
    [median(passed), median(busy)]
}

/// Edits of all examples: the slowest, and the number above the limit.
fn examples() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut rows = Vec::new();
    for path in models(&folder) {
        let text = fs::read_to_string(&path).expect("an example");
        let (mut client, uri, mut version) = (Client::start("utf-8", Some(&folder)), client::uri(&path), 1);
        client.open(&uri, &text);
        client.pushed(&uri, Some(1));
        let edited = |from: (usize, usize), to: (usize, usize), text: &str| {
            let place = |(line, character)| json!({ "line": line, "character": character });
            json!({ "range": { "start": place(from), "end": place(to) }, "text": text })
        };
        let comment = typed(&mut client, &uri, &mut version, |key| match key % 2 {
            0 => edited((0, 0), (0, 0), "// a\n"),
            _ => edited((0, 0), (1, 0), ""),
        });
        // An odd number of keystrokes leaves an extra line at the start.
        let number = digit(&text).map(|(line, column)| {
            let from = (line + KEYS as usize % 2, column);
            typed(&mut client, &uri, &mut version, |key| {
                edited(from, (from.0, column + 1), &(1 + key % 9).to_string())
            })
        });
        client.end();
        let name = path.strip_prefix(&folder).unwrap_or(&path).display().to_string();
        rows.push((name, [comment, number.unwrap_or([0.0; 2])].concat()));
    }
    rows.sort_by(|a, b| b.1[1].max(b.1[3]).total_cmp(&a.1[1].max(a.1[3])));
    println!(
        "\n| example | comment to diagnostics, ms | on a processor, ms | number to diagnostics, ms | on a processor, ms |"
    );
    println!("| --- | ---: | ---: | ---: | ---: |");
    for (name, times) in rows.iter().take(10) {
        let times: Vec<String> = times.iter().map(|time| format!("{time:.1}")).collect();
        println!("| {name} | {} |", times.join(" | "));
    }
    let slow = rows.iter().filter(|row| row.1[0].max(row.1[2]) > WANTED).count();
    println!("\n{} examples, {slow} of them slower than {WANTED} ms", rows.len());
}

fn main() {
    println!(
        "| elements | start to diagnostics, ms | key to diagnostics, ms | on a processor, ms | completion, ms | hover, ms | MB |"
    );
    println!("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for elements in [100, 1_000, 10_000] {
        size(elements);
    }
    examples();
    growth();
}
