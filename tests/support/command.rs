//! The program, run in a folder from the command line.

use std::path::Path;
use std::process::{Command, Output, Stdio};

/// A command with empty standard input.
pub fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lgm"));
    command
        .current_dir(folder)
        .args(arguments)
        .stdin(Stdio::null())
        .env_remove("RUST_BACKTRACE");
    command
}

/// Runs it to its end.
pub fn lgm(folder: &Path, arguments: &[&str]) -> Output {
    command(folder, arguments).output().unwrap()
}

/// Its standard output.
pub fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Its standard error.
pub fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Returns true if it exited with this code.
#[track_caller]
pub fn ends_with(output: &Output, code: i32) {
    assert_eq!(output.status.code(), Some(code), "{}\n{}", out(output), err(output));
}
