//! `lgm watch`: messages after each change of a file, and Ctrl-C.

use crate::support::command::command;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const GOOD: &str =
    "import \"part.lgm\";\nmodel M { node a : electrical; c : Part(2) a -> gnd; output v = across(c); }\n";

#[test]
fn a_model_is_checked_again_after_each_change() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("m.lgm", GOOD);
    let mut child = command(folder.path(), &["watch", "m.lgm"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    // The messages up to the last line of a check.
    let mut checked = || {
        let mut all = String::new();
        loop {
            let line = lines.next().unwrap().unwrap();
            let is_last = line.contains("waiting for changes");
            all.push_str(&line);
            all.push('\n');
            if is_last {
                return all;
            }
        }
    };
    let first = checked();
    assert!(first.contains("part.lgm"), "{first}");
    // A missing import appears, then becomes faulty.
    write(
        "part.lgm",
        "element Part(C) : electrical { through = C*der(across); }\n",
    );
    assert!(checked().contains("no faults found"));
    write(
        "part.lgm",
        "element Part(C) : electrical { through = D*der(across); }\n",
    );
    let faulty = checked();
    assert!(
        faulty.contains("`D`") && !faulty.contains("no faults found"),
        "{faulty}"
    );
    write(
        "part.lgm",
        "element Part(C) : electrical { through = 2*C*der(across); }\n",
    );
    assert!(checked().contains("no faults found"));
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let began = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(began.elapsed() < Duration::from_secs(20), "still running after Ctrl-C");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
