//! Emitted C compared with the known answers: the numbers of the records, not those of `lgm simulate`.

use crate::support;

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::emitted::{Rows, compile, emit, for_each, must};
use support::program::example;
use support::records::{Record, list, names, number, response_error};

/// The samples of a run of the C code of a file, with parameters set at run time.
fn rows(file: &Path, settings: &[(String, f64)], times: &[f64]) -> Rows {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("code");
    emit(file, "c", &folder, &[]);
    let mut run = Command::new(compile(&folder, &["-O0"]));
    run.args(["--rtol", "1e-11", "--atol", "1e-14", "--stop"])
        .arg(format!("{:?}", times[times.len() - 1]))
        .args(["--points", &times.len().to_string()])
        .args(settings.iter().map(|(name, value)| format!("{name}={value:?}")));
    let rows = Rows::read(&must(&mut run));
    for (row, time) in rows.values.iter().zip(times) {
        assert!(
            (row[0] - time).abs() <= 1e-14 * time.abs(),
            "rows are where they were asked for"
        );
    }
    rows
}

/// A signal in the language of the model.
fn signal(input: &Value) -> String {
    match input["type"].as_str().unwrap() {
        "zero" => "0".to_string(),
        "step" => format!("{:?}", number(&input["amp"])),
        "sine" => format!("{:?}*sin({:?}*time)", number(&input["amp"]), number(&input["omega"])),
        other => panic!("no signal `{other}`"),
    }
}

/// A model's text with its input signals replaced; each is on a single line.
fn with_signals(text: &str, inputs: &[(String, String)]) -> String {
    let mut left: Vec<&(String, String)> = inputs.iter().collect();
    let mut written = String::new();
    for line in text.lines() {
        let own = left
            .iter()
            .position(|(name, _)| line.trim_start().starts_with(&format!("input {name} ")));
        match own {
            Some(at) => {
                let (head, _) = line.split_once(" = ").expect("the input has a signal");
                written += &format!("{head} = {};\n", left.swap_remove(at).1);
            }
            None => written += &format!("{line}\n"),
        }
    }
    assert!(left.is_empty(), "{left:?} are no inputs of\n{text}");
    written
}

/// The models of records.
fn models(records: &[Record]) -> Vec<PathBuf> {
    let file = |record: &Record| example(&format!("seeds/{}.lgm", record.name));
    records.iter().map(file).collect()
}

#[test]
fn time_responses_of_emitted_c_are_those_of_the_records() {
    let records = Record::with_responses();
    let files = models(&records);
    for_each(&files, |file| {
        let at = files.iter().position(|other| other == file).unwrap();
        let (record, linear) = (&records[at], &records[at].json["linear"]);
        let response = &linear["time_response"];
        let signals = response["inputs"].as_array().unwrap().iter();
        let inputs: Vec<(String, String)> = signals
            .map(|input| (input["name"].as_str().unwrap().to_string(), signal(input)))
            .collect();
        let scratch = tempfile::tempdir().unwrap();
        let driven = scratch.path().join(format!("{}.lgm", record.name));
        fs::write(&driven, with_signals(&fs::read_to_string(file).unwrap(), &inputs)).unwrap();
        let rows = rows(&driven, &[], &list(&response["t"]));
        for (index, output) in names(&linear["outputs"]).iter().enumerate() {
            // Outputs follow the time in the order of the record, with valid names.
            let found: Vec<f64> = rows.values.iter().map(|row| row[1 + index]).collect();
            let error = response_error(&found, &list(&response["outputs"][output]));
            if error >= 1e-8 {
                return Err(format!("{output}: off by {error:.1e} of its size"));
            }
        }
        Ok(())
    });
}

#[test]
fn trajectories_of_emitted_c_are_those_of_the_records() {
    let mut records = Record::all();
    records.retain(|record| !record.trajectories().is_empty());
    assert!(records.len() >= 8, "{} records", records.len());
    let files = models(&records);
    for_each(&files, |file| {
        let at = files.iter().position(|other| other == file).unwrap();
        for run in records[at].trajectories() {
            let rows = rows(file, &run.settings, &run.times);
            let worst = run.error(|name| {
                let column = rows.names.iter().position(|own| own == name);
                let column = column.unwrap_or_else(|| panic!("{}: no output {name}", file.display()));
                rows.values.iter().map(|row| row[column]).collect()
            });
            if worst >= 1e-8 {
                return Err(format!("off by {worst:.1e} of a variable's range"));
            }
        }
        Ok(())
    });
}
