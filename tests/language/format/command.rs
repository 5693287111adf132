//! `lgm fmt`, run from the command line.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const UNTIDY: &str = "model M{\nparam a=1;\n}";
const TIDY: &str = "model M {\n  param a = 1;\n}\n";
const FAULTY: &str = "model M{ param a=; }";

fn fmt(folder: &Path, arguments: &[&str], input: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lgm"));
    command.current_dir(folder).arg("fmt").args(arguments);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A command that does not read its input may have exited already.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

#[track_caller]
fn assert_output(output: &Output, code: i32, out: &str, err: &str) {
    let (stdout, stderr) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert_eq!((output.status.code(), &*stdout), (Some(code), out), "{stderr}");
    assert_eq!(stderr.is_empty(), err.is_empty(), "{stderr}");
    assert!(stderr.contains(err), "{stderr}");
}

#[test]
fn files_are_written_only_where_they_change() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    for (name, text) in [("tidy.lgm", TIDY), ("untidy.lgm", UNTIDY), ("faulty.lgm", FAULTY)] {
        fs::write(place(name), text).unwrap();
    }
    let old = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000);
    fs::File::options()
        .write(true)
        .open(place("tidy.lgm"))
        .unwrap()
        .set_modified(old)
        .unwrap();

    // All files are checked, including those after a faulty or missing one.
    let checked = fmt(folder.path(), &["--check", "tidy.lgm", "faulty.lgm", "untidy.lgm"], "");
    assert_output(&checked, 1, "untidy.lgm\n", "LGM0");
    assert_eq!(fs::read_to_string(place("untidy.lgm")).unwrap(), UNTIDY);
    let written = fmt(
        folder.path(),
        &["missing.lgm", "faulty.lgm", "tidy.lgm", "untidy.lgm"],
        "",
    );
    assert_output(&written, 2, "", "cannot read `missing.lgm`: no such file");
    assert_eq!(fs::read_to_string(place("untidy.lgm")).unwrap(), TIDY);
    assert_eq!(fs::read_to_string(place("faulty.lgm")).unwrap(), FAULTY);
    assert_eq!(
        fs::metadata(place("tidy.lgm")).unwrap().modified().unwrap(),
        old,
        "it was written"
    );

    assert_output(&fmt(folder.path(), &["untidy.lgm", "tidy.lgm"], ""), 0, "", "");
    assert_output(
        &fmt(folder.path(), &["--check", "untidy.lgm", "tidy.lgm"], ""),
        0,
        "",
        "",
    );
    assert_output(&fmt(folder.path(), &["faulty.lgm"], ""), 1, "", "faulty.lgm");
    let names = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(names, 3, "a temporary file is left");
}

#[test]
fn standard_input_goes_to_standard_output() {
    let folder = tempfile::tempdir().unwrap();
    assert_output(&fmt(folder.path(), &["-"], UNTIDY), 0, TIDY, "");
    assert_output(&fmt(folder.path(), &["-"], TIDY), 0, TIDY, "");
    assert_output(&fmt(folder.path(), &["-"], FAULTY), 1, "", "standard input");
    assert_output(
        &fmt(folder.path(), &["-", "--check"], UNTIDY),
        1,
        "standard input\n",
        "",
    );
    assert_output(&fmt(folder.path(), &["-", "--check"], TIDY), 0, "", "");
}

#[test]
fn misuse_ends_with_2() {
    let folder = tempfile::tempdir().unwrap();
    assert_output(&fmt(folder.path(), &[], ""), 2, "", "FILE");
    assert_output(&fmt(folder.path(), &["."], ""), 2, "", "is a folder");
    assert_output(&fmt(folder.path(), &["a.lgm", "--width", "3"], ""), 2, "", "--width");
}
