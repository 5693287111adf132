//! Commands without equations: `lgm new`, `lgm completions` and `lgm man`.

use crate::support::command;

use command::{ends_with, err, lgm, out};
use std::fs;
use std::path::Path;

const KINDS: [&str; 9] = [
    "translational",
    "rotational",
    "electrical",
    "hydraulic",
    "thermal",
    "bond-graph",
    "control",
    "mechanism",
    "distributed",
];

/// The commands listed by `lgm --help`.
fn commands(folder: &Path) -> Vec<String> {
    let help = out(&lgm(folder, &["--help"]));
    let (_, list) = help.split_once("Commands:\n").unwrap();
    let (list, _) = list.split_once("\n\n").unwrap();
    // Descriptions continue on lines with more indentation.
    let lines = list.lines().filter(|line| !line.starts_with("   "));
    let words = lines.map(|line| line.split_whitespace().next().unwrap().to_string());
    words.filter(|word| word != "help").collect()
}

#[test]
fn new_models_of_every_kind_are_verified_and_run() {
    let folder = tempfile::tempdir().unwrap();
    let list = lgm(folder.path(), &["new", "--list"]);
    ends_with(&list, 0);
    let list = out(&list);
    let listed: Vec<_> = list.lines().filter_map(|line| line.split_once('\t')).collect();
    assert_eq!(listed.iter().map(|kind| kind.0).collect::<Vec<_>>(), KINDS, "{list}");
    assert!(listed.iter().all(|kind| !kind.1.is_empty()), "{list}");
    // A list and a file conflict; neither of them is an error too.
    ends_with(&lgm(folder.path(), &["new", "x", "--list"]), 2);
    ends_with(&lgm(folder.path(), &["new"]), 2);
    for kind in KINDS {
        let name = format!("a_{kind}");
        let made = lgm(folder.path(), &["new", &name, "--kind", kind]);
        ends_with(&made, 0);
        let (file, rows) = (format!("{name}.lgm"), format!("{name}.csv"));
        assert!(err(&made).contains(&format!("lgm equations {file}")), "{}", err(&made));
        let check = lgm(folder.path(), &["check", &file, "--verify"]);
        ends_with(&check, 0);
        assert!(err(&check).contains("LGM0712"), "verified: {}", err(&check));
        assert!(!err(&check).contains("Warning"), "{}", err(&check));
        ends_with(&lgm(folder.path(), &["simulate", &file, "--verify", "-o", &rows]), 0);
        assert!(fs::read_to_string(folder.path().join(&rows)).unwrap().lines().count() > 500);
        ends_with(&lgm(folder.path(), &["fmt", "--check", &file]), 0);
    }
}

#[test]
fn a_new_model_is_named_after_its_file() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("models")).unwrap();
    for (name, file, model) in [
        ("test_rig", "test_rig.lgm", "TestRig"),
        ("models/low-pass2", "models/low-pass2.lgm", "LowPass2"),
        ("Motor.lgm", "Motor.lgm", "Motor"),
        // Names of library elements and keywords of the language.
        ("mass", "mass.lgm", "Mass"),
        ("if", "if.lgm", "If"),
    ] {
        ends_with(&lgm(folder.path(), &["new", name]), 0);
        let text = fs::read_to_string(folder.path().join(file)).unwrap();
        assert!(text.contains(&format!("model {model} {{")), "{text}");
        ends_with(&lgm(folder.path(), &["check", file]), 0);
    }
}

#[test]
fn a_new_model_replaces_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.lgm");
    fs::write(&file, "// all my work\n").unwrap();
    let refused = lgm(folder.path(), &["new", "mine"]);
    ends_with(&refused, 2);
    assert!(err(&refused).contains("LGM0928"), "{}", err(&refused));
    assert_eq!(fs::read_to_string(&file).unwrap(), "// all my work\n");
    for name in ["", "..", "../", "1st", "a b", "naïve", "models/", ".lgm"] {
        let refused = lgm(folder.path(), &["new", name]);
        ends_with(&refused, 2);
        assert!(
            err(&refused).contains("starts with a letter"),
            "{name}: {}",
            err(&refused)
        );
    }
    let nowhere = lgm(folder.path(), &["new", "nowhere/mine"]);
    ends_with(&nowhere, 2);
    assert!(err(&nowhere).contains("LGM0908"), "{}", err(&nowhere));
    assert_eq!(
        fs::read_dir(folder.path()).unwrap().count(),
        1,
        "nothing is left behind"
    );
}

#[test]
fn completions_know_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let commands = commands(folder.path());
    assert!(commands.len() > 10, "{commands:?}");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = lgm(folder.path(), &["completions", shell]);
        ends_with(&script, 0);
        for command in &commands {
            assert!(out(&script).contains(command), "{shell} does not know `{command}`");
        }
        assert!(out(&script).contains("fixed-step"), "{shell} does not know the options");
    }
    ends_with(&lgm(folder.path(), &["completions", "tcsh"]), 2);
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = tempfile::tempdir().unwrap();
    ends_with(&lgm(folder.path(), &["man", "share/man1"]), 0);
    let page = |name: &str| fs::read_to_string(folder.path().join("share/man1").join(name)).unwrap();
    for command in commands(folder.path()) {
        let text = page(&format!("lgm-{command}.1"));
        assert!(
            text.contains(".SH SYNOPSIS") && text.contains(&format!("lgm {}", command.replace('-', "\\-"))),
            "{text}"
        );
    }
    assert!(page("lgm.1").contains("lgm\\-simulate(1)"));
    assert!(page("lgm-import-lg2ss.1").contains("lgm import lg2ss"));
    // A second run replaces the pages. A file instead of a folder is an error.
    ends_with(&lgm(folder.path(), &["man", "share/man1"]), 0);
    let refused = lgm(folder.path(), &["man", "share/man1/lgm.1"]);
    ends_with(&refused, 2);
    assert!(err(&refused).contains("LGM0908"), "{}", err(&refused));
}

/// Another word for a kind of system is accepted too.
#[test]
fn kinds_of_new_models_have_other_names() {
    let text = |kind: &str| {
        let folder = tempfile::tempdir().unwrap();
        ends_with(&lgm(folder.path(), &["new", "mine", "--kind", kind]), 0);
        fs::read_to_string(folder.path().join("mine.lgm")).unwrap()
    };
    for (kind, other) in [
        ("hydraulic", "fluid"),
        ("translational", "mechanical"),
        ("electrical", "circuit"),
        ("bond-graph", "bond"),
    ] {
        assert_eq!(text(kind), text(other));
    }
}

/// One error is reported once, with a suggested fix.
#[test]
fn units_with_other_letters_or_names_say_what_to_write() {
    let folder = tempfile::tempdir().unwrap();
    for (unit, help) in [
        ("\u{b5}F", "write `uF`"),
        ("Celsius", "write `degC`"),
        ("\u{b0}C", "write `deg`"),
    ] {
        let text = format!("model M {{ param p = 3 [{unit}]; input u; output y = u; }}");
        fs::write(folder.path().join("m.lgm"), text).unwrap();
        let said = err(&lgm(folder.path(), &["check", "m.lgm"]));
        assert_eq!(said.matches("Error:").count(), 1, "{said}");
        assert!(said.contains(help), "{said}");
    }
}
