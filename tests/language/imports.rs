//! Imports as files on a real disk: they stay inside the model's folder unless `--include` allows more, and any file at
//! their paths is read or rejected without blocking.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

const PART: &str = "component Part(k [N/m]) { port a : translational; s : Spring(k) a -> gnd; }\n";
const USE: &str =
    "model M { node x : translational; p : Part(3) (a = x); m : Mass(1) x -> gnd; output f = through(p.s); }\n";

/// A folder `work` for the model next to a folder `shared` with a component.
fn place() -> TempDir {
    let place = tempfile::tempdir().unwrap();
    for folder in ["work", "shared"] {
        fs::create_dir(place.path().join(folder)).unwrap();
    }
    fs::write(place.path().join("shared/part.lgm"), PART).unwrap();
    place
}

/// Runs `lgm check --format json` on a model with this import, in the folder `work`; returns its exit code and
/// diagnostic codes.
fn check(place: &Path, import: &str, options: &[&str]) -> (Option<i32>, Vec<String>) {
    fs::write(place.join("work/model.lgm"), format!("import \"{import}\";\n{USE}")).unwrap();
    run(place, "model.lgm", options)
}

fn run(place: &Path, file: &str, options: &[&str]) -> (Option<i32>, Vec<String>) {
    let output = Command::new(env!("CARGO_BIN_EXE_lgm"))
        .current_dir(place.join("work"))
        .args(["check", file, "--format", "json"])
        .args(options)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let list = value["diagnostics"].as_array().unwrap();
    let codes = list.iter().map(|entry| entry["code"].as_str().unwrap().to_string());
    (output.status.code(), codes.collect())
}

fn refused(code: &str) -> (Option<i32>, Vec<String>) {
    // The missing component of the import is not reported again.
    (Some(1), vec![code.to_string()])
}

fn accepted() -> (Option<i32>, Vec<String>) {
    (Some(0), Vec::new())
}

#[test]
fn a_path_that_leaves_the_folder_is_refused_unless_it_is_included() {
    let place = place();
    let absolute = place.path().join("shared/part.lgm").display().to_string();
    for import in ["../shared/part.lgm", "sub/../../shared/part.lgm", &absolute] {
        assert_eq!(check(place.path(), import, &[]), refused("LGM0103"), "{import}");
        let options = ["--include", "../shared"];
        let expected = match Path::new(import).is_absolute() {
            // The option names the folder by another path, so the import must use that path.
            true => refused("LGM0103"),
            false => accepted(),
        };
        assert_eq!(check(place.path(), import, &options), expected, "{import}");
    }
    let shared = place.path().join("shared").display().to_string();
    assert_eq!(check(place.path(), &absolute, &["--include", &shared]), accepted());
    // A folder that does not contain the file allows nothing.
    fs::create_dir(place.path().join("other")).unwrap();
    assert_eq!(
        check(place.path(), "../shared/part.lgm", &["--include", "../other"]),
        refused("LGM0103")
    );
}

#[test]
fn the_help_names_the_option() {
    let place = place();
    fs::write(place.path().join("work/model.lgm"), "import \"../shared/part.lgm\";\n").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_lgm"))
        .current_dir(place.path().join("work"))
        .args(["check", "model.lgm"])
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("--include ../shared"), "{said}");
}

#[test]
fn included_folders_are_searched_after_the_own_one() {
    let place = place();
    let options = ["--include", "../shared"];
    assert_eq!(check(place.path(), "part.lgm", &[]), refused("LGM0101"));
    assert_eq!(check(place.path(), "part.lgm", &options), accepted());
    // A file of the model's folder has priority: this one lacks the component.
    fs::write(
        place.path().join("work/part.lgm"),
        "component Other { port a : translational; }\n",
    )
    .unwrap();
    assert_eq!(check(place.path(), "part.lgm", &options).0, Some(1));
    // An included file finds its neighbours.
    fs::write(place.path().join("shared/all.lgm"), "import \"part.lgm\";\n").unwrap();
    assert_eq!(check(place.path(), "all.lgm", &options), accepted());
    // The option may be given several times.
    fs::create_dir(place.path().join("other")).unwrap();
    let both = ["--include", "../other", "--include", "../shared"];
    assert_eq!(check(place.path(), "all.lgm", &both), accepted());
}

#[test]
fn every_command_that_reads_a_model_takes_the_option() {
    let place = place();
    fs::write(
        place.path().join("work/model.lgm"),
        format!("import \"part.lgm\";\n{USE}"),
    )
    .unwrap();
    for command in [
        &["check", "model.lgm"][..],
        &["equations", "model.lgm"],
        &["response", "model.lgm", "--omega", "1"],
    ] {
        let lgm = |options: &[&str]| {
            let mut lgm = Command::new(env!("CARGO_BIN_EXE_lgm"));
            lgm.current_dir(place.path().join("work")).args(command).args(options);
            lgm.output().unwrap().status.code()
        };
        assert_eq!(lgm(&[]), Some(1), "{command:?}");
        assert_eq!(lgm(&["--include", "../nowhere"]), Some(2), "{command:?}");
        assert_ne!(lgm(&["--include", "../shared"]), Some(2), "{command:?}");
    }
    assert_eq!(run(place.path(), "model.lgm", &["--include", "../shared"]), accepted());
}

#[test]
fn links_are_followed_inside_the_folder_only() {
    let place = place();
    let work = place.path().join("work");
    symlink("../shared/part.lgm", work.join("out.lgm")).unwrap();
    symlink("../shared", work.join("folder")).unwrap();
    for import in ["out.lgm", "folder/part.lgm"] {
        assert_eq!(check(place.path(), import, &[]), refused("LGM0103"), "{import}");
        assert_eq!(
            check(place.path(), import, &["--include", "../shared"]),
            accepted(),
            "{import}"
        );
    }
    fs::create_dir(work.join("parts")).unwrap();
    fs::write(work.join("parts/part.lgm"), PART).unwrap();
    symlink("parts/part.lgm", work.join("in.lgm")).unwrap();
    assert_eq!(check(place.path(), "in.lgm", &[]), accepted());
    // One file under two names is one file: its component is not declared twice.
    fs::write(
        work.join("model.lgm"),
        format!("import \"in.lgm\";\nimport \"parts/part.lgm\";\n{USE}"),
    )
    .unwrap();
    assert_eq!(run(place.path(), "model.lgm", &[]), accepted());
    // Circular links, and a dangling link.
    symlink("round.lgm", work.join("round.lgm")).unwrap();
    symlink("nowhere", work.join("broken.lgm")).unwrap();
    for import in ["round.lgm", "broken.lgm"] {
        assert_eq!(check(place.path(), import, &[]), refused("LGM0101"), "{import}");
    }
}

#[test]
fn imports_that_go_round_in_a_circle_end() {
    let place = place();
    let work = place.path().join("work");
    symlink("model.lgm", work.join("again.lgm")).unwrap();
    assert_eq!(check(place.path(), "again.lgm", &[]).1[0], "LGM0104");
    fs::write(work.join("a.lgm"), "import \"b.lgm\";\n").unwrap();
    fs::write(work.join("b.lgm"), "import \"a.lgm\";\n").unwrap();
    assert_eq!(run(place.path(), "a.lgm", &[]), refused("LGM0104"));
}

#[test]
fn what_is_no_file_is_refused_at_once() {
    let place = place();
    let work = place.path().join("work");
    fs::create_dir(work.join("folder.lgm")).unwrap();
    let _listener = UnixListener::bind(work.join("socket.lgm")).unwrap();
    let pipe = Command::new("mkfifo").arg(work.join("pipe.lgm")).status().unwrap();
    assert!(pipe.success());
    for import in ["folder.lgm", "socket.lgm", "pipe.lgm", "", "."] {
        assert_eq!(check(place.path(), import, &[]), refused("LGM0101"), "{import}");
    }
    // A link may point to a device; even in an allowed folder it is not a regular file.
    symlink("/dev/zero", work.join("zero.lgm")).unwrap();
    assert_eq!(check(place.path(), "zero.lgm", &[]), refused("LGM0103"));
    assert_eq!(
        check(place.path(), "zero.lgm", &["--include", "/dev"]),
        refused("LGM0101")
    );
}

#[test]
fn what_is_no_text_is_refused() {
    let place = place();
    let work = place.path().join("work");
    fs::write(work.join("latin.lgm"), b"// \xe9t\xe9\n").unwrap();
    fs::write(work.join("zero.lgm"), b"component A\0 { }\n").unwrap();
    assert_eq!(check(place.path(), "latin.lgm", &[]), refused("LGM0101"));
    let (code, codes) = check(place.path(), "zero.lgm", &[]);
    assert_eq!((code, codes[0].as_str()), (Some(1), "LGM0005"), "{codes:?}");
    // The same for the model itself, with a location.
    assert_eq!(run(place.path(), "latin.lgm", &[]), refused("LGM0007"));
}

#[test]
fn a_model_on_standard_input_stays_in_the_folder_too() {
    let place = place();
    for (import, code) in [("/etc/passwd", "LGM0103"), ("../shared/part.lgm", "LGM0103")] {
        use std::io::Write;
        let mut lgm = Command::new(env!("CARGO_BIN_EXE_lgm"))
            .current_dir(place.path().join("work"))
            .args(["check", "-"])
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        write!(lgm.stdin.take().unwrap(), "import \"{import}\";\n{USE}").unwrap();
        let output = lgm.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert!(String::from_utf8_lossy(&output.stderr).contains(code), "{import}");
    }
}

/// Files that each import the next one; the last contains the component.
fn chain(place: &Path, length: usize) {
    for at in 1..length {
        let text = format!("import \"link{}.lgm\";\n", at + 1);
        fs::write(place.join(format!("work/link{at}.lgm")), text).unwrap();
    }
    fs::write(place.join(format!("work/link{length}.lgm")), PART).unwrap();
}

#[test]
fn a_chain_of_imports_has_an_end() {
    let place = place();
    chain(place.path(), 256);
    assert_eq!(check(place.path(), "link1.lgm", &[]), accepted());
    chain(place.path(), 257);
    assert_eq!(check(place.path(), "link1.lgm", &[]), refused("LGM0105"));
}
