//! SciPy and CVODE, run as separate programs.

use crate::families::Family;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Beyond this number of states, SciPy's methods take many minutes.
const LARGEST_IN_PYTHON: usize = 10_000;

/// The tools available on this machine.
pub struct Others {
    folder: tempfile::TempDir,
    python: Option<String>,
    cvode: Option<PathBuf>,
}

fn benches() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches")
}

impl Others {
    /// Finds the tools, and reports missing ones.
    pub fn find() -> Others {
        let folder = tempfile::tempdir().expect("a folder for programs and states");
        let python = std::env::var("LGM_PYTHON").unwrap_or_else(|_| "python3".to_string());
        let has_scipy = Command::new(&python)
            .args(["-c", "import scipy.integrate"])
            .output()
            .is_ok_and(|output| output.status.success());
        if !has_scipy {
            eprintln!("skipped: DOP853 and LSODA, for {python} has no scipy (LGM_PYTHON may name another one)");
        }
        let cvode = cvode(folder.path());
        if let Err(reason) = &cvode {
            eprintln!("skipped: CVODE, {reason}");
        }
        Others {
            folder,
            python: has_scipy.then_some(python),
            cvode: cvode.ok(),
        }
    }

    /// The seconds of DOP853, LSODA and CVODE at a given error of the final states.
    pub fn at_error(&self, family: &Family, states: usize, reference: &[f64], error: f64) -> [Option<f64>; 3] {
        let file = self.folder.path().join("states");
        let bytes: Vec<u8> = reference.iter().flat_map(|value| value.to_ne_bytes()).collect();
        std::fs::write(&file, bytes).expect("the states can be written");
        let common = [
            family.name.to_string(),
            (states / 2).to_string(),
            family.frequency.to_string(),
            family.stop.to_string(),
            file.display().to_string(),
        ];
        let scipy = |method: &str| {
            let python = self.python.as_ref().filter(|_| states <= LARGEST_IN_PYTHON)?;
            let mut command = Command::new(python);
            command.arg(benches().join("whole_run.py")).arg(method).args(&common);
            interpolated(command, error)
        };
        let cvode = || {
            let mut command = Command::new(self.cvode.as_ref()?);
            command.args(&common);
            interpolated(command, error)
        };
        [scipy("DOP853"), scipy("LSODA"), cvode()]
    }
}

/// Compiles the program that calls CVODE.
fn cvode(folder: &Path) -> Result<PathBuf, String> {
    let place =
        std::env::var("LGM_SUNDIALS").map_err(|_| "for LGM_SUNDIALS names no folder of libraries".to_string())?;
    let entries = std::fs::read_dir(&place).map_err(|fault| format!("for {place}: {fault}"))?;
    let names: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    // Names may contain a version, or a hash as in Python wheels.
    let library = |part: &str| {
        let is_it = |path: &&PathBuf| {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
            name.is_some_and(|name| name.starts_with(&format!("libsundials_{part}")) && name.contains(".so"))
        };
        let found = names.iter().find(is_it);
        found
            .cloned()
            .ok_or_else(|| format!("for {place} has no libsundials_{part}"))
    };
    let program = folder.join("cvode");
    let status = Command::new("cc")
        .args(["-O3", "-march=native", "-o"])
        .arg(&program)
        .arg(benches().join("cvode.c"))
        .args([library("cvode")?, library("nvecserial")?, library("core")?])
        .arg(format!("-Wl,-rpath,{place}"))
        .args(["-Wl,--allow-shlib-undefined", "-lm"])
        .status();
    match status {
        Ok(status) if status.success() => Ok(program),
        Ok(_) => Err("for its program could not be compiled".to_string()),
        Err(fault) => Err(format!("for there is no C compiler: {fault}")),
    }
}

/// Runs a program that prints tolerances, errors and seconds, and interpolates the seconds at an error on logarithmic
/// scales.
fn interpolated(mut command: Command, error: f64) -> Option<f64> {
    let output = command.output().ok()?;
    if !output.status.success() {
        eprintln!("{command:?} failed:\n{}", String::from_utf8_lossy(&output.stderr));
    }
    let text = String::from_utf8(output.stdout).ok()?;
    let mut points: Vec<(f64, f64)> = Vec::new();
    for line in text.lines() {
        let numbers: Vec<f64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        points.push((numbers[1].ln(), numbers[2].max(1e-6).ln()));
    }
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let wanted = error.ln();
    let after = points.iter().position(|point| point.0 >= wanted);
    let pair = match after {
        // If all are less exact, or all more exact, the nearest one is used.
        None => return points.last().map(|point| point.1.exp()),
        Some(0) => return points.first().map(|point| point.1.exp()),
        Some(at) => [points[at - 1], points[at]],
    };
    let share = (wanted - pair[0].0) / (pair[1].0 - pair[0].0).max(1e-12);
    Some((pair[0].1 + share * (pair[1].1 - pair[0].1)).exp())
}
