//! Emitted code: generated, compiled, run, and compared with the samples of `lgm simulate`.

use super::modules::run_module;
use super::program::{run, succeed};
use lgm_emit::code::{CodeOptions, Target};
use lgm_session::{Choice, Session, States};
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};

/// Samples of a run, with the names of their columns.
pub struct Rows {
    pub names: Vec<String>,
    pub values: Vec<Vec<f64>>,
}

impl Rows {
    pub fn read(text: &str) -> Rows {
        let mut lines = text.lines();
        Rows {
            names: fields(lines.next().expect("there is a line of names")),
            values: lines
                .map(|line| fields(line).iter().map(|field| field.parse().unwrap()).collect())
                .collect(),
        }
    }

    /// The largest difference of any column, relative to the column's range, or to its magnitude if it is nearly
    /// constant. Entries of a vector are one quantity: the largest of their ranges applies to each.
    pub fn difference(&self, other: &Rows) -> Result<(f64, String), String> {
        if self.names != other.names {
            return Err(format!("columns {:?} and {:?}", self.names, other.names));
        }
        if self.values.len() != other.values.len() {
            return Err(format!("{} and {} rows", self.values.len(), other.values.len()));
        }
        let vector = |name: &str| match name.strip_suffix(']').and_then(|name| name.rsplit_once('[')) {
            Some((vector, _)) => vector.to_string(),
            None => name.to_string(),
        };
        let mut ranges: HashMap<String, f64> = HashMap::new();
        for (column, name) in self.names.iter().enumerate() {
            let values = || self.values.iter().map(|row| row[column]);
            let (least, most) = (values().fold(f64::MAX, f64::min), values().fold(f64::MIN, f64::max));
            let size = most.abs().max(least.abs());
            // A conserved quantity has no range.
            let range = if most - least < 1e-3 * size { size } else { most - least };
            let largest = ranges.entry(vector(name)).or_default();
            *largest = largest.max(range);
        }
        let mut worst = (0.0, String::new());
        for (column, name) in self.names.iter().enumerate() {
            for (at, (a, b)) in self.values.iter().zip(&other.values).enumerate() {
                let (a, b) = (a[column], b[column]);
                let share = if a == b {
                    0.0
                } else {
                    (a - b).abs() / ranges[&vector(name)]
                };
                // NaN counts as an infinite difference.
                if share.is_nan() || share > worst.0 {
                    worst = (
                        if share.is_nan() { f64::INFINITY } else { share },
                        format!("{name}, row {at}: {a} and {b}"),
                    );
                }
            }
        }
        Ok(worst)
    }
}

/// The fields of a line of CSV.
fn fields(line: &str) -> Vec<String> {
    let mut list = vec![String::new()];
    let mut is_quoted = false;
    for letter in line.chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => list.push(String::new()),
            _ => list.last_mut().unwrap().push(letter),
        }
    }
    list
}

/// A mass that comes to rest on a rough floor, where the sign of its friction is undefined.
pub const STICKING: &str = "element Coulomb(Fc [N]) : translational { through = Fc*sign(across); }
model Stop {
  node x : translational;
  m : Mass(1 [kg]) x -> gnd, start = 1;
  s : Spring(10 [N/m]) x -> gnd;
  f : Coulomb(2 [N]) x -> gnd;
  output v = across(m);
  experiment { stop = 3 [s]; points = 3; }
}";

/// Every example, including the seeds.
pub fn examples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut found = Vec::new();
    for folder in [folder.clone(), folder.join("seeds")] {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        found.extend(entries.filter(|path| path.extension().is_some_and(|ending| ending == "lgm")));
    }
    found.sort();
    assert!(found.len() > 40);
    found
}

/// `--stop 2` if the model does not define a stop time.
pub fn stop(file: &Path) -> Vec<String> {
    match fs::read_to_string(file).unwrap().contains("experiment {") {
        true => Vec::new(),
        false => vec!["--stop".into(), "2".into()],
    }
}

/// The tolerances of compared runs.
pub const TIGHT: [&str; 4] = ["--rtol", "1e-11", "--atol", "1e-14"];

/// The same, ten times as large.
const TENFOLD: [&str; 4] = ["--rtol", "1e-10", "--atol", "1e-13"];

/// The samples of `lgm simulate` at tight tolerance, by a one-step method, whose error is that of its steps.
pub fn simulated(file: &Path, further: &[String]) -> Rows {
    simulated_within(TIGHT, file, further)
}

/// Each target is compared with the same samples, so every run is made once.
fn simulated_within(tolerances: [&str; 4], file: &Path, further: &[String]) -> Rows {
    static RUNS: Mutex<BTreeMap<(String, Vec<String>), String>> = Mutex::new(BTreeMap::new());
    let mut arguments = vec!["simulate".to_string(), file.display().to_string()];
    arguments.extend(tolerances.map(String::from));
    arguments.extend(["--method".into(), "tsit45".into()]);
    arguments.extend_from_slice(further);
    let key = (fs::read_to_string(file).unwrap(), arguments);
    let known = RUNS.lock().unwrap().get(&key).cloned();
    let rows = known.unwrap_or_else(|| {
        let rows = succeed(&key.1);
        RUNS.lock().unwrap().insert(key, rows.clone());
        rows
    });
    Rows::read(&rows)
}

/// Returns true if samples equal those of [`simulated`], within a fraction of each column's range.
///
/// A model may amplify errors: chaos, a tumbling body, steps through thousands of periods. The amplification is
/// measured by the effect of tenfold tolerances on `lgm simulate` itself. No two solvers agree better, so this
/// difference is allowed too, up to a millionth.
pub fn agree(file: &Path, further: &[String], expected: &Rows, rows: &Rows, allowed: f64) -> Result<(), String> {
    let (difference, place) = expected.difference(rows)?;
    if difference <= allowed {
        return Ok(());
    }
    let (own, _) = expected.difference(&simulated_within(TENFOLD, file, further))?;
    if difference <= own.min(1e-6) {
        return Ok(());
    }
    Err(format!(
        "{difference:e} of the range, of which {own:e} is what tenfold tolerances change ({place})"
    ))
}

/// A rectifier that runs at 5 Hz until a run sets its frequency, in a folder.
pub fn rectifier(folder: &Path) -> PathBuf {
    let mut text = fs::read_to_string(super::program::example("diode_rectifier.lgm")).unwrap();
    for (old, new) in [
        ("12*sin(2*pi*50*time)", "12*sin(2*pi*f*time)"),
        ("  param R", "  param f = 5 [Hz];\n  param R"),
    ] {
        assert!(text.contains(old), "{old}");
        text = text.replace(old, new);
    }
    let file = folder.join("rectifier.lgm");
    fs::write(&file, text).unwrap();
    file
}

/// The settings of a run of [`rectifier`]: it then responds only during a short part of each of twenty periods.
pub const RECTIFIED: [(&str, f64); 2] = [("f", 50.0), ("load", 1000.0)];

/// The duration and number of samples of such a run: neither places a step at a pulse.
pub const RECTIFIED_ROWS: [&str; 4] = ["--stop", "0.4", "--points", "21"];

/// Samples of such a run at the model's tolerances must contain the pulses: a method that skips one is wrong by volts.
pub fn assert_rectified(file: &Path, settings: &[(&str, f64)], rows: &Rows) {
    assert_rectified_within(1e-3, file, settings, rows);
}

/// The same with the allowed fraction of the range.
pub fn assert_rectified_within(allowed: f64, file: &Path, settings: &[(&str, f64)], rows: &Rows) {
    let set = |(name, value): &(&str, f64)| ["--set".to_string(), format!("{name}={value}")];
    let settings: Vec<String> = settings.iter().flat_map(set).collect();
    let further = [settings, RECTIFIED_ROWS.map(String::from).to_vec()].concat();
    let (difference, place) = simulated(file, &further).difference(rows).unwrap();
    assert!(difference <= allowed, "{difference:e} of the range ({place})");
}

/// A model in a folder whose charge is far below an absolute tolerance of 1e-9 C, and whose second input is a pulse
/// much narrower than the surrounding steps.
pub fn small(folder: &Path) -> PathBuf {
    let file = folder.join("small.lgm");
    let text = "model Small { input j = 1e-3*step(0); zero n; SF : Sf(j); c : C(1e-12); l : I(1e-9); r : R(1e3); SF -> n -> c; \
                n -> l; n -> r; output v = effort(n); input u = exp(-((time - 1.32e-8)/1e-13)^2); state x = int(u); output area = x; \
                experiment { stop = 2e-8 [s]; points = 41; } }";
    fs::write(&file, text).unwrap();
    file
}

/// Samples of such a run at the model's tolerances.
pub fn assert_small(rows: &Rows) {
    let (damping, natural) = (5e8_f64, 1.0 / 1e-21_f64.sqrt());
    let damped = (natural * natural - damping * damping).sqrt();
    let peak = 1e-3 / (1e-12 * damped);
    let area = std::f64::consts::PI.sqrt() * 1e-13;
    assert_eq!(rows.values.len(), 41);
    for row in &rows.values {
        let exact = peak * (-damping * row[0]).exp() * (damped * row[0]).sin();
        assert!(
            (row[1] - exact).abs() < 1e-4 * peak,
            "v at {}: {} and not {exact}",
            row[0],
            row[1]
        );
        let exact = if row[0] > 1.33e-8 { area } else { 0.0 };
        assert!(
            (row[2] - exact).abs() < 1e-3 * area,
            "area at {}: {} and not {exact}",
            row[0],
            row[2]
        );
    }
}

/// An integral that is zero until the decay of a speed releases it: before that, its magnitude is unknown.
pub const WAITING: &str = "model Waiting {
  node x : translational;
  m : Mass(1) x -> gnd, start = 2;
  d : Damper(1) x -> gnd;
  state z = int(if across(m) > 1 then 0 else 5);
  output held = z;
  experiment { stop = 3; points = 31; }
}";

/// The tolerance at which no step across the release is short enough.
pub const WAITING_RTOL: [&str; 2] = ["--rtol", "1e-13"];

/// Samples of such a run: the speed is 2 exp(-t), so the integral is 5 (t - log(2)) from log(2) on.
pub fn assert_waited(rows: &Rows) {
    assert_eq!(rows.values.len(), 31);
    for row in &rows.values {
        let exact = 5.0 * (row[0] - 2.0_f64.ln()).max(0.0);
        assert!(
            (row[1] - exact).abs() < 1e-10,
            "{} at {} and not {exact}",
            row[1],
            row[0]
        );
    }
}

/// Emits a model into a folder, using the program.
pub fn emit(file: &Path, target: &str, folder: &Path, further: &[&str]) {
    let mut arguments: Vec<String> = ["emit", "--target", target, "-o"].map(String::from).to_vec();
    arguments.push(folder.display().to_string());
    arguments.push(file.display().to_string());
    arguments.extend(further.iter().map(|word| word.to_string()));
    let output = run(&arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "lgm {}\n{said}", arguments.join(" "));
}

/// Writes a program for a target into a folder, from a model that is compiled once for all its targets.
pub fn write_code(session: &Session, target: Target, options: &CodeOptions, folder: &Path) -> Result<(), String> {
    let package = session.package(target, options);
    for file in &package.map_err(|faults| faults.to_string())?.files {
        let path = folder.join(&file.path);
        fs::create_dir_all(path.parent().expect("a folder")).unwrap();
        fs::write(path, &file.contents).unwrap();
    }
    Ok(())
}

/// An example, compiled once for all tests.
pub fn session_of(file: &Path) -> Arc<Session> {
    static KNOWN: Mutex<BTreeMap<PathBuf, Arc<Session>>> = Mutex::new(BTreeMap::new());
    let known = KNOWN.lock().unwrap().get(file).cloned();
    known.unwrap_or_else(|| {
        let session = Session::open(file, &Choice::default(), &States::default());
        let session = Arc::new(session.unwrap_or_else(|faults| panic!("{faults}")));
        KNOWN.lock().unwrap().insert(file.to_path_buf(), Arc::clone(&session));
        session
    })
}

/// Runs a command to its end: Python modules run in a process that has imported NumPy and SciPy.
pub fn output(command: &mut Command) -> Output {
    let words: Vec<String> = command.get_args().map(|word| word.to_string_lossy().into()).collect();
    let is_module = words.first().is_some_and(|word| word.ends_with(".py")) && command.get_current_dir().is_none();
    if is_module && command.get_program() == python_name().as_str() {
        return run_module(&python_name(), &words);
    }
    command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// Runs a command that must succeed; returns its output.
pub fn must(command: &mut Command) -> String {
    let output = output(command);
    assert!(
        output.status.success(),
        "{command:?}\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// Processes all files in two threads; collects all failures, so that one run reports everything.
pub fn for_each(files: &[PathBuf], work: impl Fn(&Path) -> Result<(), String> + Sync) {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let faults = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(file) = files.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
                    if let Err(fault) = work(file) {
                        faults.lock().unwrap().push(format!("{}: {fault}", file.display()));
                    }
                }
            });
        }
    });
    let faults = faults.into_inner().unwrap();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Undefined behaviour aborts the program. Optimisation would take longer than the runs.
pub const SANITIZED: [&str; 3] = ["-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];

/// Flags under which the emitted files compile without warnings.
pub const STRICT: [&str; 6] = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"];

/// The arguments of `g++` that check emitted C as C++.
pub const CPP: [&str; 8] = [
    "-x",
    "c++",
    "-std=c++11",
    "-fsyntax-only",
    "-Wall",
    "-Wextra",
    "-Wconversion",
    "-Werror",
];

/// The files of a folder that belong to the program `main`, model first: all except drivers with a separate program.
pub fn sources(folder: &Path) -> Vec<PathBuf> {
    [sources_in(folder), sources_in(&folder.join("run"))].concat()
}

fn sources_in(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "c"))
        .filter(|path| {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            !name.ends_with("_cvode") && !name.ends_with("_fixed")
        })
        .collect();
    found.sort();
    found
}

/// The model of a folder, and all files of its run as one, which takes half the time of separate files.
pub fn joined(folder: &Path) -> Vec<PathBuf> {
    let whole = folder.join("program.whole");
    let includes = sources_in(&folder.join("run")).into_iter();
    let includes = includes.map(|file| format!("#include {file:?}\n"));
    fs::write(&whole, includes.collect::<String>()).unwrap();
    [sources_in(folder), vec![whole]].concat()
}

/// Compiles the program of a folder.
pub fn compile(folder: &Path, flags: &[&str]) -> PathBuf {
    let program = folder.join("program");
    let mut gcc = Command::new("gcc");
    gcc.args(STRICT).args(flags).args(["-ffp-contract=off", "-x", "c"]);
    must(gcc.args(joined(folder)).arg("-o").arg(&program).arg("-lm"));
    program
}

/// Cargo in a folder, with build products shared between the crates.
pub fn cargo(folder: &Path, target: &Path, words: &[&str]) -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(folder).args(words).arg("--offline").arg("--quiet");
    // The flags of the build of this test are not those of the crate.
    cargo.env("CARGO_TARGET_DIR", target).env("RUSTFLAGS", "-D warnings");
    cargo.env_remove("CARGO_ENCODED_RUSTFLAGS");
    // Optimisation would take longer than the run.
    cargo
        .env("CARGO_PROFILE_DEV_OPT_LEVEL", "0")
        .env("CARGO_PROFILE_DEV_DEBUG", "false")
        .env("CARGO_INCREMENTAL", "0");
    cargo
}

/// Builds an example of a Rust package, `simulate` by default, and returns the program. The crate that runs any model is compiled once
/// in each of two folders: once for models with events, once for others.
pub fn rust_program(folder: &Path) -> PathBuf {
    rust_example(folder, "simulate")
}

/// Builds an example of a Rust package and returns the program.
pub fn rust_example(folder: &Path, example: &str) -> PathBuf {
    static BUILDS: [Mutex<bool>; 2] = [Mutex::new(false), Mutex::new(false)];
    let place = |at: usize| Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("rust{at}"));
    let free = (0..2).find_map(|at| Some((place(at), BUILDS[at].try_lock().ok()?)));
    let (place, mut is_begun) = free.unwrap_or_else(|| (place(0), BUILDS[0].lock().unwrap()));
    if !*is_begun {
        let _ = fs::remove_dir_all(&place);
        *is_begun = true;
    }
    let runtime = folder.join("lgm-runtime");
    let has_events = runtime.join("src/events").is_dir();
    let shared = place.join(if has_events { "with_events" } else { "without_events" });
    if !shared.is_dir() {
        copy(&runtime, &shared);
    }
    let run = folder.join("run");
    for (folder, path) in [(folder, "lgm-runtime"), (&run, "../lgm-runtime")] {
        let manifest = folder.join("Cargo.toml");
        let text = fs::read_to_string(&manifest).unwrap();
        let text = text.replace(&format!("path = {path:?}"), &format!("path = {shared:?}"));
        fs::write(manifest, text).unwrap();
    }
    let target = place.join("target");
    must(&mut cargo(&run, &target, &["build", "--example", example]));
    let program = folder.join(example);
    fs::copy(target.join("debug/examples").join(example), &program).unwrap();
    program
}

/// Copies a folder recursively.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(|entry| entry.unwrap()) {
        let to = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &to),
            false => drop(fs::copy(entry.path(), to).unwrap()),
        }
    }
}

/// Creates one workspace for the Rust packages in these folders, in their parent folder.
pub fn gather(workspace: &Path, folders: &[PathBuf]) {
    // The crate that runs any model is compiled once; that of a model without events has fewer modules.
    let mut members = Vec::new();
    let shared = folders
        .iter()
        .find(|folder| folder.join("lgm-runtime/src/events").is_dir());
    let shared = shared.or(folders.first()).expect("a package").join("lgm-runtime");
    for (at, folder) in folders.iter().enumerate() {
        let (manifest, run) = (folder.join("Cargo.toml"), folder.join("run/Cargo.toml"));
        let text = fs::read_to_string(&manifest).unwrap();
        let quoted = text.lines().find_map(|line| line.strip_prefix("name = ")).unwrap();
        let name = quoted.trim_matches('"').to_string();
        let library = name.replace('-', "_");
        // Models of several files may share a name.
        let text = text
            .replace("[workspace]\nmembers = [\"run\"]\n", "")
            .replace("path = \"lgm-runtime\"", &format!("path = {shared:?}"))
            .replace(&format!("name = {name:?}"), &format!("name = \"model{at}\""));
        fs::write(manifest, format!("{text}\n[lib]\nname = {library:?}\n")).unwrap();
        let text = fs::read_to_string(&run).unwrap();
        let quoted = text.lines().find_map(|line| line.strip_prefix("name = ")).unwrap();
        let library_of_run = quoted.replace('-', "_");
        let text = text
            .replace("path = \"../lgm-runtime\"", &format!("path = {shared:?}"))
            .replace(
                &format!("name = {quoted}"),
                &format!("name = \"run{at}\"\nautoexamples = false"),
            )
            .replace(
                &format!("{name} = {{ path = \"..\" }}"),
                &format!("{library} = {{ path = \"..\", package = \"model{at}\" }}"),
            );
        let text = format!(
            "{text}\n[lib]\nname = {library_of_run}\n\n[[example]]\nname = \"model{at}\"\npath = \"examples/simulate.rs\"\n"
        );
        fs::write(run, text).unwrap();
        let folder = folder.strip_prefix(workspace).unwrap();
        members.extend([folder.to_path_buf(), folder.join("run")].map(|member| format!("{member:?}")));
    }
    let root = format!("[workspace]\nresolver = \"2\"\nmembers = [{}]\n", members.join(", "));
    fs::write(workspace.join("Cargo.toml"), root).unwrap();
}

/// Builds the programs of Rust packages in one run, and returns them in the same order.
pub fn build_together(workspace: &Path, folders: &[PathBuf]) -> Vec<PathBuf> {
    gather(workspace, folders);
    let target = workspace.join("target");
    must(&mut cargo(workspace, &target, &["build", "--workspace", "--examples"]));
    let programs = 0..folders.len();
    programs
        .map(|at| target.join(format!("debug/examples/model{at}")))
        .collect()
}

fn python_name() -> String {
    std::env::var("LGM_PYTHON").unwrap_or_else(|_| "python3".to_string())
}

/// A Python with these modules, named by `LGM_PYTHON` or `python3`; without one, a test prints a message and passes.
/// Each list of modules is tried once.
pub fn python(modules: &str) -> Option<String> {
    static TRIED: Mutex<BTreeMap<String, bool>> = Mutex::new(BTreeMap::new());
    let python = python_name();
    let mut tried = TRIED.lock().unwrap();
    let has = *tried.entry(modules.to_string()).or_insert_with(|| {
        let output = Command::new(&python)
            .args(["-c", &format!("import {modules}")])
            .output();
        output.is_ok_and(|output| output.status.success())
    });
    if has {
        return Some(python);
    }
    eprintln!("skipped: `{python}` has not all of {modules}; choose another one by LGM_PYTHON");
    None
}
