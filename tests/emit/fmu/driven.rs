//! FMUs emitted, compiled together with a driver, and run.

use super::description::Description;
use super::support::emitted::{Rows, STRICT, must};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub use super::support::emitted::SANITIZED;

/// Returns true if a C compiler is available; prints a message if not.
pub fn has_compiler() -> bool {
    let found = Command::new("gcc").arg("--version").output().is_ok();
    if !found {
        eprintln!("skipped: no C compiler (gcc) is there");
    }
    found
}

/// Emits an FMU; `compiler` is the value of CC.
pub fn emit(file: &Path, target: &str, to: &Path, compiler: &str, further: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_lgm"))
        .args(["emit", "--target", target, "-o"])
        .arg(to)
        .arg(file)
        .args(further)
        .env("CC", compiler)
        .output()
        .expect("the program was built")
}

/// The folder of an FMU, without a library.
pub fn sources_only(file: &Path, target: &str, folder: &Path, further: &[&str]) {
    let output = emit(file, target, folder, "no-such-compiler", further);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(
        said.contains("`no-such-compiler`, named by CC, was not found; it contains only the sources"),
        "{said}"
    );
}

/// The C files and their compiler flags, without a driver.
fn compile(folder: &Path, description: &Description, flags: &[&str]) -> PathBuf {
    let sources = folder.join("sources");
    let name = &description.identifier;
    let driver = include_str!("driver.c").replace("MODEL", name);
    fs::write(folder.join("driver.c"), driver).unwrap();
    let mut files: Vec<PathBuf> = fs::read_dir(&sources)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "c"));
    files.sort();
    // The runtime as a single file, which compiles in half the time.
    let is_runtime = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with("lgm_");
    let (runtime, mut files): (Vec<_>, Vec<_>) = files.into_iter().partition(is_runtime);
    let whole = sources.join("runtime_whole.c");
    let includes = runtime.iter().map(|file| format!("#include {file:?}\n"));
    fs::write(&whole, includes.collect::<String>()).unwrap();
    files.push(whole);
    let objects: Vec<PathBuf> = files.iter().map(|file| file.with_extension("o")).collect();
    // The strict flags apply to emitted code.
    let mut gcc = Command::new("gcc");
    gcc.args(STRICT)
        .args(flags)
        .args(["-ffp-contract=off", "-c"])
        .args(&files)
        .current_dir(&sources);
    must(&mut gcc);
    let program = folder.join("driver");
    let mut gcc = Command::new("gcc");
    gcc.args(flags)
        .arg("-I")
        .arg(&sources)
        .arg(format!("-DTOKEN=\"{}\"", description.token));
    if description.is_three {
        gcc.arg("-DFMI3");
    }
    must(
        gcc.arg(folder.join("driver.c"))
            .args(&objects)
            .arg("-o")
            .arg(&program)
            .arg("-lm"),
    );
    program
}

/// The FMU of a file, compiled together with the driver.
pub struct Driven {
    pub description: Description,
    pub program: PathBuf,
}

impl Driven {
    pub fn new(file: &Path, target: &str, folder: &Path, flags: &[&str]) -> Driven {
        sources_only(file, target, folder, &[]);
        let description = Description::read(&fs::read_to_string(folder.join("modelDescription.xml")).unwrap());
        let program = compile(folder, &description, flags);
        Driven { description, program }
    }

    /// The driver's input for a run at the times of other samples.
    pub fn arguments(&self, mode: &str, like: &Rows, tolerance: &str, set: &[String]) -> Vec<String> {
        let times: Vec<f64> = like.values.iter().map(|row| row[0]).collect();
        let (first, last) = (times[0], times[times.len() - 1]);
        let mut words = vec![mode.to_string(), format!("{first:?}"), format!("{last:?}")];
        words.extend([times.len().to_string(), tolerance.to_string()]);
        words.extend_from_slice(set);
        words.push("--".to_string());
        words.extend(like.names.iter().map(|name| self.description.reference(name)));
        words
    }

    /// The samples of a run at the times of other samples.
    pub fn rows(&self, mode: &str, like: &Rows, tolerance: &str, set: &[String]) -> Rows {
        let mut command = Command::new(&self.program);
        command.args(self.arguments(mode, like, tolerance, set));
        let text = must(&mut command);
        Rows {
            names: like.names.clone(),
            values: text
                .lines()
                .map(|line| line.split(',').map(|field| field.parse().unwrap()).collect())
                .collect(),
        }
    }
}
