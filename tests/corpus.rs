//! The corpus: one model for each phenomenon, with its expected outcome in comments.
//!
//! Each file below `tests/corpus` goes through `check --verify`, `equations`, `simulate` by every method (the first one
//! verified), and emitted programs. Comment lines define the expected results; `tests/corpus/README.md` describes them.
//! Numbers come from closed forms or from another program, named in each file.

use crate::support;

use lgm_compilation::Compilation;
use lgm_emit::TextOptions;
use lgm_emit::code::{CodeOptions, Target};
use lgm_session::diagnostics::as_json;
use lgm_session::disk::read_model;
use lgm_session::run::columns::Written;
use lgm_session::run::failures;
use lgm_session::run::happened::Happened;
use lgm_session::run::plan::RunOptions;
use lgm_session::run::ready::Ready;
use lgm_session::{Choice, Session, States, checked};
use lgm_simulate::{Method, Silent};
use lgm_source::SourceMap;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::cases::is_campaign;
use support::emitted::{Rows, build_together, compile, for_each, output, python, write_code};
use support::program::run;

/// An output, a time in seconds, and its value at that time, within a fraction of the largest value of the output.
struct Point {
    output: String,
    time: f64,
    value: f64,
    within: f64,
}

/// A diagnostic: its severity, its code, and a text in the line to which it points.
struct Expected {
    severity: String,
    code: String,
    at: Option<String>,
}

/// All expectations of a file.
#[derive(Default)]
struct Expectations {
    states: Option<Vec<String>>,
    equations: Vec<String>,
    points: Vec<Point>,
    /// Diagnostics of `check`.
    diagnostics: Vec<Expected>,
    /// The code of the error that ends every run.
    failure: Option<String>,
    methods: Vec<String>,
    targets: Vec<String>,
    /// True if the file names its targets, so that none of them may refuse the model.
    names_targets: bool,
    options: Vec<String>,
    has_source: bool,
}

const METHODS: &str = "auto bdf sdirk tr-bdf2";
const TARGETS: &str = "c python";

/// Parses the comment lines that begin with a keyword and a colon.
fn read(text: &str) -> Result<Expectations, String> {
    let words = |list: &str| list.split_whitespace().map(String::from).collect::<Vec<String>>();
    let mut found = Expectations {
        methods: words(METHODS),
        targets: words(TARGETS),
        ..Expectations::default()
    };
    for line in text.lines() {
        let Some((key, rest)) = line.trim().strip_prefix("// ").and_then(|line| line.split_once(": ")) else {
            continue;
        };
        let rest = rest.trim();
        match key {
            "states" => {
                found.states = Some(
                    rest.split(", ")
                        .map(String::from)
                        .filter(|name| name != "none")
                        .collect(),
                )
            }
            "equation" => found.equations.push(rest.to_string()),
            "value" => found
                .points
                .push(point(rest).ok_or_else(|| format!("cannot read `{line}`"))?),
            "diagnostic" => found
                .diagnostics
                .push(diagnostic(rest).ok_or_else(|| format!("cannot read `{line}`"))?),
            "failure" => found.failure = Some(rest.to_string()),
            "methods" => found.methods = words(rest),
            "targets" => {
                found.targets = words(rest).into_iter().filter(|target| target != "none").collect();
                found.names_targets = true;
            }
            "options" => found.options = words(rest),
            "source" => found.has_source = true,
            _ => {}
        }
    }
    let expects = !found.points.is_empty()
        || !found.equations.is_empty()
        || !found.diagnostics.is_empty()
        || found.states.is_some()
        || found.failure.is_some();
    match (expects, found.points.is_empty() || found.has_source) {
        (false, _) => Err("the file expects nothing".to_string()),
        (_, false) => Err("values need a line `// source: ..`".to_string()),
        _ => Ok(found),
    }
}

/// `v(0.05) = 0.518643 within 1e-6`
fn point(text: &str) -> Option<Point> {
    let (left, right) = text.split_once(" = ")?;
    let (output, time) = left.strip_suffix(')')?.rsplit_once('(')?;
    let (value, within) = right.split_once(" within ")?;
    Some(Point {
        output: output.to_string(),
        time: time.parse().ok()?,
        value: value.parse().ok()?,
        within: within.parse().ok()?,
    })
}

/// `error LGM0424 at r2`
fn diagnostic(text: &str) -> Option<Expected> {
    let (head, at) = match text.split_once(" at ") {
        Some((head, at)) => (head, Some(at.to_string())),
        None => (text, None),
    };
    let (severity, code) = head.split_once(' ')?;
    Some(Expected {
        severity: severity.to_string(),
        code: code.to_string(),
        at,
    })
}

/// Compares the diagnostics of `check --verify` with the expected ones, and returns true if some are errors.
fn check(compilation: &Compilation, text: &str, expected: &Expectations) -> Result<bool, String> {
    let answer = as_json(compilation.map(), &compilation.diagnostics());
    let list = answer["diagnostics"].as_array().cloned().unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    let mut left: Vec<&Value> = list.iter().filter(|found| found["severity"] != "information").collect();
    for each in &expected.diagnostics {
        let is_meant = |found: &&Value| {
            let line = found["line"].as_u64().and_then(|line| lines.get(line as usize - 1));
            let is_there = each
                .at
                .as_ref()
                .is_none_or(|at| line.is_some_and(|line| line.contains(at.as_str())));
            found["severity"] == *each.severity && found["code"] == *each.code && is_there
        };
        let place = left.iter().position(is_meant);
        let place = place.ok_or_else(|| format!("check says nothing of {} {}: {list:?}", each.severity, each.code))?;
        left.remove(place);
    }
    match left.first() {
        Some(found) => Err(format!("check says {}: {}", found["code"], found["message"])),
        None => Ok(list.iter().any(|found| found["severity"] == "error")),
    }
}

fn compare(rows: &Rows, points: &[Point]) -> Result<(), String> {
    for point in points {
        let column = rows.names.iter().position(|name| *name == point.output);
        let column = column.ok_or_else(|| format!("no output `{}` among {:?}", point.output, rows.names))?;
        let row = rows
            .values
            .iter()
            .find(|row| (row[0] - point.time).abs() <= 1e-12 * point.time.abs().max(1e-300));
        let row = row.ok_or_else(|| format!("no row at {} s", point.time))?;
        let size = rows
            .values
            .iter()
            .map(|row| row[column].abs())
            .fold(point.value.abs(), f64::max);
        let difference = (row[column] - point.value).abs();
        // NaN is an error too.
        if difference.is_nan() || difference > point.within * size {
            return Err(format!(
                "{}({}) is {:?} and not {:?}: off by {:.1e} of {size:e}",
                point.output,
                point.time,
                row[column],
                point.value,
                difference / size
            ));
        }
    }
    Ok(())
}

/// A finished program: its samples, or its failure message.
fn finished(output: &std::process::Output) -> Result<Rows, String> {
    match output.status.success() {
        true => Ok(Rows::read(&String::from_utf8_lossy(&output.stdout))),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// Verifies the first method in a subprocess, and runs the others in this process. Verifying those too would take
/// longer and add nothing.
fn simulate(file: &Path, session: &Session, expected: &Expectations) -> Result<(), String> {
    let (first, others) = expected.methods.split_first().expect("a method");
    let mut words = ["simulate", "--verify", "--method", first].map(String::from).to_vec();
    words.extend(expected.options.iter().cloned());
    words.push(file.display().to_string());
    judge(finished(&run(&words)), expected).map_err(|fault| format!("simulate --method {first}: {fault}"))?;
    if others.is_empty() {
        return Ok(());
    }
    let prepared = session.prepare(&run_options(&expected.options), &[]);
    let mut ready = prepared.map_err(|faults| faults.to_string())?.ready;
    for method in others {
        ready.plan.method = Method::of_word(method).expect("a method");
        judge(rows_of(&ready), expected).map_err(|fault| format!("simulate --method {method}: {fault}"))?;
    }
    Ok(())
}

fn run_options(words: &[String]) -> RunOptions {
    let mut options = RunOptions::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut number = || Some(words.next().expect("a number").parse().expect("a number"));
        match word.as_str() {
            "--rtol" => options.rtol = number(),
            "--atol" => options.atol = number(),
            "--from-equilibrium" => options.from_equilibrium = true,
            other => panic!("the corpus has no option `{other}`"),
        }
    }
    options
}

/// The samples of a run, or the code and message of its failure.
fn rows_of(ready: &Ready) -> Result<Rows, String> {
    let columns = Written::new(&[], true, &ready.system, &mut Vec::new());
    let names = columns.columns().map(|column| column.name);
    let mut rows = Rows {
        names: std::iter::once("time".to_string()).chain(names).collect(),
        values: Vec::new(),
    };
    let mut sink = |time: f64, outputs: &[f64], states: &[f64]| {
        let values = columns.values(time, outputs, states, &ready.inputs);
        rows.values.push(std::iter::once(time).chain(values).collect());
    };
    match ready.run(&mut sink, &Silent, &mut Happened::default()) {
        Ok(_) => Ok(rows),
        Err(failure) => {
            let found = failures::diagnostic(&failure, &ready.system, &ready.inputs);
            Err(format!("{}: {}", found.code, found.message))
        }
    }
}

/// Compares a run with its expectations.
fn judge(rows: Result<Rows, String>, expected: &Expectations) -> Result<(), String> {
    match (rows, &expected.failure) {
        (Ok(rows), None) => compare(&rows, &expected.points),
        (Err(said), Some(code)) if said.contains(code.as_str()) => Ok(()),
        (Err(said), _) => Err(said),
        (Ok(_), Some(code)) => Err(format!("runs, and {code} was expected")),
    }
}

/// The same for an emitted program, which prints messages without codes.
fn judge_emitted(rows: Result<Rows, String>, expected: &Expectations) -> Result<(), String> {
    match (&rows, &expected.failure) {
        (Err(_), Some(_)) => Ok(()),
        _ => judge(rows, expected),
    }
}

/// Emits, builds and runs a program for a target. None if a required tool is missing on this machine, or if a target that the file does not
/// name refuses events.
fn emitted(session: &Session, target: &str, expected: &Expectations) -> Option<Result<Rows, String>> {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    let wrote =
        |target| write_code(session, target, &CodeOptions::default(), folder).expect("code of a model that runs");
    let mut command = match target {
        "c" => {
            wrote(Target::C);
            Command::new(compile(folder, &["-O0"]))
        }
        "python" => {
            let python = python("numpy, scipy")?;
            match write_code(session, Target::Python, &CodeOptions::default(), folder) {
                // Python has no engine for events.
                Err(said) if said.contains("LGM0944") && !expected.names_targets => return None,
                written => written.expect("code of a model that runs"),
            }
            let mut entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
            let module = entries.find(|path| path.extension().is_some_and(|ending| ending == "py"));
            let mut command = Command::new(python);
            command.arg(module.expect("a module"));
            command
        }
        other => panic!("the corpus runs no target `{other}`"),
    };
    Some(finished(&output(command.args(&expected.options))))
}

/// Processes all expectations of one file except for Rust, whose programs are built together.
fn follow(file: &Path) -> Result<(), String> {
    let text = fs::read_to_string(file).unwrap();
    let expected = read(&text)?;
    let compilation = compiled(file);
    if check(&compilation, &text, &expected)? {
        return Ok(());
    }
    let session = Session::of(compilation).map_err(|faults| faults.to_string())?;
    let system = session.equations();
    if let Some(states) = &expected.states {
        let names: BTreeSet<&str> = system.states.iter().map(|state| &*state.name).collect();
        let wanted: BTreeSet<&str> = states.iter().map(String::as_str).collect();
        if names != wanted {
            return Err(format!("states are {names:?}"));
        }
    }
    let printed = lgm_emit::text(system, &TextOptions::default());
    for equation in &expected.equations {
        if !printed.lines().any(|line| line.trim() == equation) {
            return Err(format!("no equation `{equation}` in\n{printed}"));
        }
    }
    if expected.points.is_empty() && expected.failure.is_none() {
        return Ok(());
    }
    simulate(file, &session, &expected)?;
    for target in expected.targets.iter().filter(|target| *target != "rust") {
        if let Some(rows) = emitted(&session, target, &expected) {
            judge_emitted(rows, &expected).map_err(|fault| format!("{target}: {fault}"))?;
        }
    }
    Ok(())
}

/// Reads and checks a file, as `check --verify` does.
fn compiled(file: &Path) -> Compilation {
    let mut map = SourceMap::default();
    let root = read_model(file, &mut map).expect("a file that can be read");
    checked(map, root, &Choice::default(), true)
}

fn corpus() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut found = Vec::new();
    // Topics may have subtopics.
    let mut folders = vec![folder];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "lgm") {
                found.push(path);
            }
        }
    }
    // A single file, or those of a topic: LGM_CORPUS=rectifiers.
    if let Ok(part) = std::env::var("LGM_CORPUS") {
        found.retain(|path| path.to_string_lossy().contains(&part));
    }
    found.sort();
    found
}

#[test]
fn every_model_of_the_corpus_does_what_it_says() {
    let files = corpus();
    assert!(!files.is_empty(), "there are models");
    for_each(&files, follow);
}

/// The models with Rust among their targets, and a quarter of the other switching models; all of them in a campaign.
#[test]
fn models_that_switch_do_it_in_rust_too() {
    let read = |file: &PathBuf| read(&fs::read_to_string(file).unwrap()).unwrap();
    let models = corpus().into_iter().map(|file| (read(&file), file));
    let (mut models, others): (Vec<_>, Vec<_>) =
        models.partition(|(expected, _)| expected.targets.iter().any(|target| target == "rust"));
    let others = others.into_iter().filter(|(expected, file)| {
        !expected.targets.is_empty() && file.to_string_lossy().contains("corpus/switching/")
    });
    models.extend(others.step_by(if is_campaign() { 1 } else { 4 }));
    if models.is_empty() {
        // Other topics were requested.
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let folders: Vec<PathBuf> = (0..models.len())
        .map(|at| scratch.path().join(format!("{at}")))
        .collect();
    for ((_, file), folder) in models.iter().zip(&folders) {
        let session = Session::open(file, &Choice::default(), &States::default()).unwrap();
        write_code(&session, Target::Rust, &CodeOptions::default(), folder).unwrap();
    }
    let programs = build_together(scratch.path(), &folders);
    let files: Vec<PathBuf> = models.iter().map(|(_, file)| file.clone()).collect();
    for_each(&files, |file| {
        let at = files.iter().position(|other| other == file).unwrap();
        let expected = &models[at].0;
        let output = Command::new(&programs[at]).args(&expected.options).output().unwrap();
        judge_emitted(finished(&output), expected)
    });
}

#[test]
fn expectations_that_do_not_hold_are_faults() {
    let model = "model M { node b : electrical; c : Capacitor(1) b -> gnd, start = 5; r : Resistor(2) b -> gnd; output v = across(c); \
                 experiment { stop = 2; points = 3; } }\n// source: 5*exp(-t/2)\n// targets: none\n";
    let faults = [
        ("// value: v(2) = 1.839 within 1e-6\n", "off by"),
        ("// value: w(2) = 1.839 within 1e-6\n", "no output"),
        ("// value: v(1.5) = 1.839 within 1e-6\n", "no row"),
        ("// states: c.q\n", "states are"),
        ("// equation: der(c.v) = c.v\n", "no equation"),
        ("// diagnostic: error LGM0301 at r\n", "says nothing"),
        ("// failure: LGM1008\n", "was expected"),
        ("", "expects nothing"),
    ];
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("model.lgm");
    for (line, fault) in faults {
        fs::write(&file, format!("{model}{line}")).unwrap();
        let said = follow(&file).expect_err(line);
        assert!(said.contains(fault), "{line}: {said}");
    }
    fs::write(
        &file,
        format!("{model}// value: v(2) = 1.8393972058572117 within 1e-5\n// states: c.v\n"),
    )
    .unwrap();
    follow(&file).unwrap();
}
