//! The command line from the user's side: exit codes, output streams, and behaviour on errors.

use crate::support::command;

use command::{command, ends_with, err, lgm, out};
use std::fs;
use std::io::{Read, Write};
use std::process::Stdio;
use tempfile::TempDir;

const OSCILLATOR: &str = "\
/// A mass on a spring and a damper, pushed by a force.
model Oscillator {
  param m = 2 [kg];
  param k = 50 [N/m];
  param b = 0.4 [N.s/m];
  input F [N] = 1;
  node x : translational;
  push   : ForceSource(F)  gnd -> x;
  mass   : Mass(m)         x -> gnd;
  spring : Spring(k)       x -> gnd;
  damper : Damper(b)       x -> gnd;
  output v  = across(mass);
  output fk = through(spring);
}
";

/// A folder that contains the oscillator.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("oscillator.lgm"), OSCILLATOR).unwrap();
    folder
}

#[test]
fn help_names_every_command_and_gives_examples() {
    let folder = folder();
    let help = lgm(folder.path(), &["--help"]);
    ends_with(&help, 0);
    for name in [
        "check",
        "equations",
        "causality",
        "draw",
        "response",
        "import",
        "explain",
        "lsp",
    ] {
        assert!(out(&help).contains(name));
        let help = lgm(folder.path(), &[name, "--help"]);
        ends_with(&help, 0);
        let text = out(&help).replace("Examples:", "Example:");
        assert!(text.contains(&format!("Example:\n  lgm {name} ")), "{}", out(&help));
    }
}

#[test]
fn misuse_of_options_ends_with_2() {
    let folder = folder();
    ends_with(&lgm(folder.path(), &[]), 2);
    let unknown = lgm(folder.path(), &["equations", "oscillator.lgm", "--numric"]);
    ends_with(&unknown, 2);
    assert!(err(&unknown).contains("--numeric"), "{}", err(&unknown));
    ends_with(&lgm(folder.path(), &["equatons", "oscillator.lgm"]), 2);
    ends_with(
        &lgm(folder.path(), &["equations", "oscillator.lgm", "--format", "yaml"]),
        2,
    );
    ends_with(&lgm(folder.path(), &["response", "oscillator.lgm"]), 2);
    let bad = lgm(folder.path(), &["response", "oscillator.lgm", "--omega", "1,x"]);
    ends_with(&bad, 2);
    assert!(err(&bad).contains("finite number"), "{}", err(&bad));
}

#[test]
fn unknown_names_end_with_2_and_the_nearest_name() {
    let folder = folder();
    let cases = [
        (
            vec!["equations", "oscillator.lgm", "--model", "Oscilator"],
            "Oscillator",
        ),
        (vec!["equations", "oscillator.lgm", "--set", "mm=3"], "`m`"),
        (vec!["equations", "oscillator.lgm", "--retain", "damper"], "storage"),
        (vec!["response", "oscillator.lgm", "--omega", "1", "--from", "G"], "`F`"),
        (
            vec!["response", "oscillator.lgm", "--omega", "1", "--to", "fkk"],
            "`fk`",
        ),
    ];
    for (arguments, hint) in cases {
        let found = lgm(folder.path(), &arguments);
        ends_with(&found, 2);
        assert!(err(&found).contains(hint), "{arguments:?}: {}", err(&found));
        assert_eq!(out(&found), "");
    }
    for malformed in ["m", "=3", "m=", "m=3 4"] {
        ends_with(
            &lgm(folder.path(), &["equations", "oscillator.lgm", "--set", malformed]),
            2,
        );
    }
}

#[test]
fn files_that_cannot_be_read_end_with_2() {
    let folder = folder();
    let missing = lgm(folder.path(), &["check", "missing.lgm"]);
    ends_with(&missing, 2);
    assert!(
        err(&missing).contains("cannot read `missing.lgm`: no such file"),
        "{}",
        err(&missing)
    );
    let directory = lgm(folder.path(), &["equations", "."]);
    ends_with(&directory, 2);
    assert!(err(&directory).contains("is a folder"), "{}", err(&directory));
    fs::write(folder.path().join("latin.lgm"), b"// a\n// caf\xe9\n").unwrap();
    let latin = lgm(folder.path(), &["check", "latin.lgm"]);
    // This file is readable but not text: its error has a location.
    ends_with(&latin, 1);
    assert!(err(&latin).contains("latin.lgm:2:7"), "{}", err(&latin));
}

#[test]
fn faults_in_the_model_end_with_1_on_standard_error() {
    let folder = folder();
    fs::write(
        folder.path().join("bad.lgm"),
        OSCILLATOR.replace("Spring(k)", "Sprung(k)"),
    )
    .unwrap();
    for arguments in [
        vec!["check", "bad.lgm"],
        vec!["equations", "bad.lgm"],
        vec!["response", "bad.lgm", "--omega", "1"],
    ] {
        let found = lgm(folder.path(), &arguments);
        ends_with(&found, 1);
        assert!(err(&found).contains("Sprung"), "{}", err(&found));
        assert!(!err(&found).contains('\u{1b}'), "no colour away from a terminal");
        assert_eq!(out(&found), "");
    }
    let found = lgm(folder.path(), &["check", "bad.lgm", "--format", "json"]);
    ends_with(&found, 1);
    let value: serde_json::Value = serde_json::from_str(&out(&found)).unwrap();
    let first = &value["diagnostics"][0];
    assert_eq!(first["severity"], "error");
    assert_eq!(first["labels"][0]["file"], "bad.lgm");
    assert_eq!(first["labels"][0]["line"], 10);
    assert_eq!(first["labels"][0]["column"], 12);
}

#[test]
fn check_of_a_right_model_says_only_what_was_asked() {
    let folder = folder();
    let found = lgm(folder.path(), &["check", "oscillator.lgm"]);
    ends_with(&found, 0);
    assert_eq!((out(&found), err(&found)), (String::new(), String::new()));
    let found = lgm(folder.path(), &["check", "--verify", "oscillator.lgm"]);
    ends_with(&found, 0);
    assert_eq!(out(&found), "");
    assert!(
        err(&found).contains("verified: the equations of `Oscillator` hold"),
        "{}",
        err(&found)
    );
    let found = lgm(folder.path(), &["check", "oscillator.lgm", "--format", "json"]);
    ends_with(&found, 0);
    let value: serde_json::Value = serde_json::from_str(&out(&found)).unwrap();
    assert_eq!(value, serde_json::json!({"diagnostics": []}));
}

#[test]
fn a_text_without_a_model_is_no_fault_until_one_is_needed() {
    let folder = folder();
    fs::write(folder.path().join("none.lgm"), "// nothing yet\n").unwrap();
    ends_with(&lgm(folder.path(), &["check", "none.lgm"]), 0);
    let found = lgm(folder.path(), &["equations", "none.lgm"]);
    ends_with(&found, 1);
    assert!(err(&found).contains("model"), "{}", err(&found));
}

#[test]
fn equations_in_every_format() {
    let folder = folder();
    let text = lgm(folder.path(), &["equations", "oscillator.lgm"]);
    ends_with(&text, 0);
    insta::assert_snapshot!(out(&text));
    let latex = lgm(folder.path(), &["equations", "oscillator.lgm", "--format", "latex"]);
    ends_with(&latex, 0);
    insta::assert_snapshot!(out(&latex));
    let json = lgm(
        folder.path(),
        &[
            "equations",
            "oscillator.lgm",
            "--format",
            "json",
            "--numeric",
            "--set",
            "m=4",
            "--set",
            "b=-0.5",
        ],
    );
    ends_with(&json, 0);
    let value: serde_json::Value = serde_json::from_str(&out(&json)).unwrap();
    assert_eq!(value["schema"], "lgm-equations/1");
    assert_eq!(value["A"], serde_json::json!([[0.125, -0.25], [50.0, 0.0]]));
    assert_eq!(value["parameters"][0]["value"], 4.0);
}

#[test]
fn energy_states_are_momentum_and_displacement() {
    let folder = folder();
    let json = lgm(
        folder.path(),
        &[
            "equations",
            "oscillator.lgm",
            "--states",
            "energy",
            "--numeric",
            "--format",
            "json",
        ],
    );
    ends_with(&json, 0);
    let value: serde_json::Value = serde_json::from_str(&out(&json)).unwrap();
    assert_eq!(value["A"], serde_json::json!([[-0.2, -50.0], [0.5, 0.0]]));
}

#[test]
fn standard_input_is_a_file_too() {
    let folder = folder();
    let mut child = command(folder.path(), &["equations", "-", "--format", "json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(OSCILLATOR.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    ends_with(&output, 0);
    assert!(out(&output).contains("\"model\": \"Oscillator\""));
}

#[test]
fn results_go_to_a_file_whole_or_not_at_all() {
    let folder = folder();
    let target = folder.path().join("result.json");
    fs::write(&target, "old").unwrap();
    let found = lgm(
        folder.path(),
        &["equations", "oscillator.lgm", "--format", "json", "-o", "result.json"],
    );
    ends_with(&found, 0);
    assert_eq!(out(&found), "");
    let written = fs::read_to_string(&target).unwrap();
    assert!(serde_json::from_str::<serde_json::Value>(&written).unwrap()["states"].is_array());
    let mut names: Vec<String> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["oscillator.lgm", "result.json"], "nothing else is left behind");
    for unwritable in ["missing/result.json", "."] {
        let found = lgm(folder.path(), &["equations", "oscillator.lgm", "-o", unwritable]);
        ends_with(&found, 2);
        assert!(err(&found).contains("cannot write"), "{}", err(&found));
    }
}

#[cfg(unix)]
#[test]
fn links_and_devices_are_written_through() {
    let folder = folder();
    fs::write(folder.path().join("real.txt"), "old").unwrap();
    std::os::unix::fs::symlink("real.txt", folder.path().join("link.txt")).unwrap();
    ends_with(
        &lgm(folder.path(), &["equations", "oscillator.lgm", "-o", "link.txt"]),
        0,
    );
    assert!(folder.path().join("link.txt").is_symlink());
    let real = fs::read_to_string(folder.path().join("real.txt")).unwrap();
    assert!(real.starts_with("model Oscillator"), "{real}");
    ends_with(
        &lgm(folder.path(), &["equations", "oscillator.lgm", "-o", "/dev/null"]),
        0,
    );
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
}

#[test]
fn a_reader_that_leaves_is_no_fault() {
    let folder = folder();
    // More than a pipe buffers, so writing continues after the reader has closed it.
    let omega: Vec<String> = (1..20_000).map(|k| k.to_string()).collect();
    let mut child = command(
        folder.path(),
        &["response", "oscillator.lgm", "--omega", &omega.join(",")],
    )
    .stdout(Stdio::piped())
    .stderr(Stdio::piped())
    .spawn()
    .unwrap();
    let mut stream = child.stdout.take().unwrap();
    stream.read_exact(&mut [0; 4]).unwrap();
    drop(stream);
    let output = child.wait_with_output().unwrap();
    ends_with(&output, 0);
    assert_eq!(err(&output), "");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_reported() {
    let folder = folder();
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = command(folder.path(), &["equations", "oscillator.lgm"])
        .stdout(full)
        .output()
        .unwrap();
    ends_with(&output, 2);
    assert!(
        err(&output).contains("cannot write standard output"),
        "{}",
        err(&output)
    );
}

#[test]
fn response_as_a_table_and_as_json() {
    let folder = folder();
    let table = lgm(
        folder.path(),
        &["response", "oscillator.lgm", "--omega", "0,0.1,5,100", "--to", "v"],
    );
    ends_with(&table, 0);
    insta::assert_snapshot!(out(&table));
    let json = lgm(
        folder.path(),
        &["response", "oscillator.lgm", "--omega", "1,5", "--format", "json"],
    );
    ends_with(&json, 0);
    let value: serde_json::Value = serde_json::from_str(&out(&json)).unwrap();
    assert_eq!(value["omega"], serde_json::json!([1.0, 5.0]));
    // At the natural frequency mass and spring cancel, and only the damper remains: v/F = 1/b.
    let at_resonance = &value["H"]["F->v"][1];
    assert!((at_resonance[0].as_f64().unwrap() - 2.5).abs() < 1e-15);
    assert!(at_resonance[1].as_f64().unwrap().abs() < 1e-15);
    assert_eq!(value["H"]["F->fk"].as_array().unwrap().len(), 2);
}

#[test]
fn an_undamped_resonance_warns_and_is_null() {
    let folder = folder();
    let found = lgm(
        folder.path(),
        &[
            "response",
            "oscillator.lgm",
            "--omega",
            "5",
            "--set",
            "b=0",
            "--format",
            "json",
        ],
    );
    ends_with(&found, 0);
    assert!(err(&found).contains("omega = 5 rad/s"), "{}", err(&found));
    let value: serde_json::Value = serde_json::from_str(&out(&found)).unwrap();
    assert_eq!(value["H"]["F->v"][0], serde_json::json!([null, null]));
}

#[test]
fn an_imported_model_compiles() {
    let folder = folder();
    let arguments = ["import", "lg2ss", "--graph", "[1 2 1 4; 2 2 3 3; 3 3 1 1]"];
    let faulty = lgm(folder.path(), &[&arguments[..], &["--outputs", "[1 9 1]"]].concat());
    ends_with(&faulty, 1);
    assert!(err(&faulty).contains("--outputs"), "{}", err(&faulty));
    let imported = [
        &arguments[..],
        &["--outputs", "[1 3 1]", "--name", "Circuit", "-o", "circuit.lgm"],
    ]
    .concat();
    ends_with(&lgm(folder.path(), &imported), 0);
    let found = lgm(
        folder.path(),
        &["equations", "circuit.lgm", "--numeric", "--format", "json"],
    );
    ends_with(&found, 0);
    let value: serde_json::Value = serde_json::from_str(&out(&found)).unwrap();
    assert_eq!(value["model"], "Circuit");
    assert_eq!(value["states"].as_array().unwrap().len(), 1);
}

#[test]
fn explain_prints_the_page_of_a_code_however_it_is_written() {
    let folder = folder();
    let page = include_str!("../../docs/codes/LGM0301.md");
    for written in ["LGM0301", "lgm0301", "301"] {
        let output = lgm(folder.path(), &["explain", written]);
        ends_with(&output, 0);
        assert_eq!(out(&output), page);
    }
}

#[test]
fn explain_lists_all_codes_and_answers_an_unknown_one_with_the_nearest() {
    let folder = folder();
    let list = lgm(folder.path(), &["explain"]);
    ends_with(&list, 0);
    assert!(out(&list).contains("\nLGM0301  a source sets a variable that is already set\n"));
    let unknown = lgm(folder.path(), &["explain", "300"]);
    ends_with(&unknown, 2);
    assert!(out(&unknown).is_empty());
    assert!(err(&unknown).contains("LGM0301"), "{}", err(&unknown));
}

#[test]
fn a_ratio_of_zero_is_no_fault_where_nothing_depends_on_it() {
    let folder = folder();
    let text = "model M { param m = 0; one J; zero K; T : TF(m); J -> T -> K; }";
    fs::write(folder.path().join("zero.lgm"), text).unwrap();
    ends_with(&lgm(folder.path(), &["check", "--verify", "zero.lgm"]), 0);
}

#[test]
fn json_diagnostics_name_the_place_of_the_fault_and_all_other_places() {
    let folder = tempfile::tempdir().unwrap();
    let text = "\
component Section(R) { port p : electrical; r : Resistor(R + 1 [kg]) p -> gnd; }
model M {
  node a : electrical;
  for i in 1:3 { s[i] : Section(2 [ohm]) (p = a); }
  param unknown = 1; param R = ununown;
}
";
    fs::write(folder.path().join("m.lgm"), text).unwrap();
    let checked = lgm(folder.path(), &["check", "m.lgm", "--format", "json"]);
    ends_with(&checked, 1);
    assert!(err(&checked).is_empty());
    let value: serde_json::Value = serde_json::from_str(&out(&checked)).unwrap();
    let list = value["diagnostics"].as_array().unwrap();
    let keys = [
        "code",
        "severity",
        "message",
        "file",
        "line",
        "column",
        "end_line",
        "end_column",
        "labels",
        "notes",
        "help",
    ];
    for diagnostic in list {
        for key in keys {
            assert!(diagnostic.get(key).is_some(), "{key}: {diagnostic}");
        }
        for label in diagnostic["labels"].as_array().unwrap() {
            for key in ["file", "line", "column", "end_line", "end_column", "message"] {
                assert!(label.get(key).is_some_and(|value| !value.is_null()), "{key}: {label}");
            }
        }
    }
    // In the order of the source, each error once.
    let short: Vec<(&str, u64, u64)> = list
        .iter()
        .map(|entry| {
            let number = |key: &str| entry[key].as_u64().unwrap();
            (entry["code"].as_str().unwrap(), number("line"), number("column"))
        })
        .collect();
    assert_eq!(short, [("LGM0201", 1, 62), ("LGM0110", 5, 32)]);
    assert_eq!(list[0]["end_column"], 68);
    assert_eq!(list[0]["file"], "m.lgm");
    let notes = list[0]["notes"].as_array().unwrap();
    assert!(
        notes
            .iter()
            .any(|note| note == "and 2 more instances have this problem"),
        "{notes:?}"
    );
    let labels = list[0]["labels"].as_array().unwrap();
    let chain = labels
        .iter()
        .find(|label| label["message"] == "in the instance `s[1]` of `Section`, created here");
    assert_eq!(chain.expect("the instance is shown")["line"], 4);
    assert_eq!(list[1]["help"], "did you mean `unknown`?");
    // An error without a location has nulls.
    let missing = lgm(folder.path(), &["check", "n.lgm", "--format", "json"]);
    ends_with(&missing, 2);
    let value: serde_json::Value = serde_json::from_str(&out(&missing)).unwrap();
    assert!(value["diagnostics"][0]["file"].is_null());
    assert_eq!(value["diagnostics"][0]["help"], "did you mean `m.lgm`?");
}

#[test]
fn a_forgotten_command_is_offered() {
    let folder = folder();
    let forgotten = lgm(folder.path(), &["oscillator.lgm"]);
    ends_with(&forgotten, 2);
    assert!(
        err(&forgotten).contains("tip: lgm check oscillator.lgm"),
        "{}",
        err(&forgotten)
    );
}

/// Numbers with a sign and an exponent are as wide as their column, and still separated.
#[test]
fn columns_of_modes_do_not_run_together() {
    let folder = tempfile::tempdir().unwrap();
    let text = "model M { param R = 3.14159265358e-120 [ohm]; param C = 1.23456789123e-3 [F]; node v : electrical;
  r : Resistor(1/R*1 [ohm^2]) v -> gnd; c : Capacitor(C) v -> gnd; output u = across(c); }";
    fs::write(folder.path().join("m.lgm"), text).unwrap();
    let run = lgm(folder.path(), &["modes", "m.lgm"]);
    ends_with(&run, 0);
    let words: Vec<Vec<String>> = out(&run)
        .lines()
        .skip(1)
        .map(|line| line.split_whitespace().map(String::from).collect())
        .collect();
    assert_eq!((words.len(), words[0].len()), (1, 5), "{}", out(&run));
    let pole: f64 = words[0][0].parse().unwrap();
    let wanted = -3.14159265358e-120 / 1.23456789123e-3;
    assert!(
        (pole - wanted).abs() < 1e-8 * wanted.abs(),
        "{pole} instead of {wanted}"
    );
}

/// The measured variable of a controlled source is defined next to the blocks: here the input of an amplifier with
/// feedback.
#[test]
fn blocks_define_what_controlled_sources_measure() {
    let folder = tempfile::tempdir().unwrap();
    let text = "model M { param R1 = 2; param R2 = 3; param C = 5; param k = 7; input u = 1;
  node s, m, o : electrical;
  src : VoltageSource(u) s -> gnd;  r1 : Resistor(R1) s -> m;  r2 : Resistor(R2) m -> gnd;
  amp : VoltageSource(k*across(m)) o -> gnd;  c : Capacitor(C) o -> m;  output y = across(o); }";
    fs::write(folder.path().join("m.lgm"), text).unwrap();
    let run = lgm(folder.path(), &["equations", "m.lgm", "--blocks"]);
    ends_with(&run, 0);
    let text = out(&run);
    let defined = text.lines().find(|line| line.trim_start().starts_with("across(m)"));
    assert!(defined.is_some_and(|line| line.contains('=')), "{text}");
    let json = out(&lgm(
        folder.path(),
        &["equations", "m.lgm", "--blocks", "--format", "json"],
    ));
    assert!(json.contains("\"measured\": ["), "{json}");
    assert!(json.contains("\"across(m) = "), "{json}");
    let latex = out(&lgm(
        folder.path(),
        &["equations", "m.lgm", "--blocks", "--format", "latex"],
    ));
    assert!(latex.contains("Measured by sources"), "{latex}");
}
