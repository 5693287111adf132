//! Emitted Modelica in rumoca, a Modelica compiler: every example compiles and agrees with `lgm simulate`, and names
//! are legal.
//!
//! The tests need a Python with the module rumoca, named by `LGM_RUMOCA_PYTHON` or `python3`; without one they print a
//! message and pass.

use crate::support;

use lgm_emit::code::{CodeOptions, Target};

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::emitted::{Rows, emit, examples, for_each, session_of, simulated, stop, write_code};

/// A Python that has the compiler.
fn python() -> Option<String> {
    let python = std::env::var("LGM_RUMOCA_PYTHON").unwrap_or_else(|_| "python3".to_string());
    let has = Command::new(&python).args(["-c", "import rumoca"]).output();
    if has.is_ok_and(|output| output.status.success()) {
        return Some(python);
    }
    eprintln!("skipped: `{python}` has no rumoca; choose another one by LGM_RUMOCA_PYTHON");
    None
}

/// The file of the model.
fn model(folder: &Path) -> PathBuf {
    let mut files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let found = files.find(|path| path.extension().is_some_and(|ending| ending == "mo"));
    found.expect("there is a model")
}

/// Runs a model at the times of given samples; returns the samples of the variables that correspond to its columns,
/// according to the emitted text.
const SCRIPT: &str = r#"
import json, re, sys
import rumoca

path, name, wanted = sys.argv[1], sys.argv[2], json.load(sys.stdin)
changed = {}
for word in sys.argv[3:]:
    key, value = word.split("=")
    changed[key] = float(value)
names = {}
reported = r'^  (?:output |input )?Real (\w+)(?:\(.*?\))?(?: = .*)? "((?:[^"\\]|\\.)*)";$'
for found in re.finditer(reported, open(path).read(), re.M):
    names.setdefault(found.group(2), found.group(1))
times = wanted["times"]
model = rumoca.Session().load(path, model=name)
step = (times[-1] - times[0]) / (len(times) - 1)
# With some tolerances the solver refuses what it has interpolated itself.
for tolerance in (1e-10, 5e-11, 1e-9):
    config = rumoca.SimConfig(rtol=tolerance, atol=wanted["atol"], dt=step)
    try:
        run = model.simulate(t=(times[0], times[-1]), config=config, params=changed or None)
        break
    except rumoca.SimulationError as fault:
        if "sampler" not in str(fault) or tolerance == 1e-9:
            raise
found = list(run.time)
# At an event there are two rows, before and after it.
places, at = [], len(found) - 1
for time in reversed(times):
    while at > 0 and found[at] > time + 1e-6 * step:
        at -= 1
    assert abs(found[at] - time) <= 1e-6 * step, (found[at], time)
    places.insert(0, at)
columns = [list(run[names[column]]) for column in wanted["columns"]]
print(json.dumps([[time] + [column[at] for column in columns] for time, at in zip(times, places)]))
"#;

/// The samples of the emitted model at the times of other samples.
fn rows(python: &str, folder: &Path, like: &Rows, atol: f64, changed: &[&str]) -> Result<Rows, String> {
    let file = model(folder);
    let script = folder.join("run.py");
    fs::write(&script, SCRIPT).unwrap();
    let times: Vec<f64> = like.values.iter().map(|row| row[0]).collect();
    let wanted = serde_json::json!({"times": times, "columns": like.names[1..], "atol": atol});
    let asked = folder.join("asked.json");
    fs::write(&asked, wanted.to_string()).unwrap();
    let output = Command::new(python)
        .arg(script)
        .arg(&file)
        .arg(file.file_stem().unwrap())
        .args(changed)
        .stdin(fs::File::open(asked).unwrap())
        .output()
        .unwrap();
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    Ok(Rows {
        names: like.names.clone(),
        values: serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?,
    })
}

#[test]
fn every_example_compiles_and_runs_as_it_does_here() {
    let Some(python) = python() else { return };
    for_each(&examples(), |file| {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("code");
        write_code(&session_of(file), Target::Modelica, &CodeOptions::default(), &folder)?;
        let expected = simulated(file, &stop(file));
        let (atol, most) = match file.file_name().and_then(|name| name.to_str()) {
            // The velocities of its fast modes are of the order of 1e-12 m/s, and their phase errors accumulate.
            Some("bar_fig4_5.lgm") => (1e-22, 1e-5),
            // Its motion is chaotic: an error grows by a factor of 1e5 during the run.
            Some("duffing.lgm") => (1e-13, 1e-4),
            _ => (1e-13, 1e-6),
        };
        let (difference, place) = expected.difference(&rows(&python, &folder, &expected, atol, &[])?)?;
        // The compiler's solver is of variable order; it interpolates between its steps.
        match difference <= most {
            true => Ok(()),
            false => Err(format!("{difference:e} of the range ({place})")),
        }
    });
}

/// A model with keywords or functions of Modelica as names, names that differ only in case, and arrays of parameters.
const NAMES: &str = "
model function {
  param Real [kg] = 2;
  param equation [N/m] = 50;
  param der_F = 1.5;
  param ones = [1, 2];
  param final [kg] = Real*der_F;
  param aux1_s0 = 0.25 [N.s/m];
  param G = [[1, 2], [3, 4]];
  input F [N] = 1;
  input f = [0.5, 0.25] [N];
  node x, X : translational;
  p1 : ForceSource(F + f[1]*ones[2] + f[2]*G[2, 1]) gnd -> x;
  a : Mass(final) x -> gnd;
  A : Mass(Real)  X -> gnd;
  b : Spring(equation) x -> X;
  B : Damper(aux1_s0)    X -> gnd;
  output reinit = across(a);
  output Reinit = across(A);
  output K = through(b);
  experiment { stop = 1 [s]; points = 11; }
}
";

#[test]
fn words_of_the_language_are_names_all_the_same_and_what_follows_from_parameters_follows() {
    let scratch = tempfile::tempdir().unwrap();
    let (file, folder) = (scratch.path().join("Größe \"1\".lgm"), scratch.path().join("code"));
    fs::write(&file, NAMES).unwrap();
    emit(&file, "modelica", &folder, &[]);
    let text = fs::read_to_string(model(&folder)).unwrap();
    assert!(text.contains("model function_ "), "{text}");
    assert!(
        text.contains(r#"  parameter Real final_(unit="kg") = Real_ * der_F "final";"#),
        "{text}"
    );
    assert!(
        text.contains("  parameter Real G[2, 2] = {{1.0, 2.0}, {3.0, 4.0}} \"G\";"),
        "{text}"
    );
    let Some(python) = python() else { return };
    for (changed, setting) in [
        (&[][..], "der_F=1.5"),
        (&["Real_=3"], "Real=3"),
        (&["equation_=20"], "equation=20"),
    ] {
        let expected = simulated(&file, &["--set".into(), setting.into()]);
        let found = rows(&python, &folder, &expected, 1e-14, changed).unwrap();
        let (difference, place) = expected.difference(&found).unwrap();
        assert!(difference <= 1e-6, "{setting}: {difference:e} {place}");
    }
}

/// A shaft driven at a speed that steps: the geared parts immediately have a share of the input.
const STEPS: &str = "
model Driven {
  param J [kg.m^2] = 0.5;
  param n = 3;
  param k [N.m/rad] = 2;
  param d [N.m.s/rad] = 0.3;
  input w [rad/s] = 1 + 2*step(0.5) + 0.1*sin(3*time);
  node a, b : rotational;
  drive : AngularVelocitySource(w) gnd -> a;
  link : Inertia(J) b -> a;
  load : Inertia(J*n) b -> gnd;
  hold : TorsionSpring(k) b -> gnd;
  drag : RotaryDamper(d) b -> gnd;
  output speed = across(load);
  experiment { stop = 2 [s]; points = 101; }
}
";

#[test]
fn states_of_linear_models_move_when_an_input_steps() {
    let scratch = tempfile::tempdir().unwrap();
    let (file, folder) = (scratch.path().join("driven.lgm"), scratch.path().join("code"));
    fs::write(&file, STEPS).unwrap();
    emit(&file, "modelica", &folder, &[]);
    let text = fs::read_to_string(model(&folder)).unwrap();
    assert!(text.contains("without its direct input terms"), "{text}");
    // A signal alone would leave the old rate.
    let readme = fs::read_to_string(folder.join("README.md")).unwrap();
    assert!(readme.contains("`Driven(w=sin(time), der_w=cos(time))`"), "{readme}");
    assert!(readme.contains("| `der_w` | rate of `w` |"), "{readme}");
    let Some(python) = python() else { return };
    let expected = simulated(&file, &[]);
    let found = rows(&python, &folder, &expected, 1e-14, &[]).unwrap();
    let (difference, place) = expected.difference(&found).unwrap();
    assert!(difference <= 1e-6, "{difference:e} {place}");
}

#[test]
fn the_same_model_gives_the_same_text() {
    let scratch = tempfile::tempdir().unwrap();
    let file = support::program::example("milling_machine.lgm");
    let texts = ["a", "b"].map(|name| {
        let folder = scratch.path().join(name);
        emit(&file, "modelica", &folder, &[]);
        fs::read_to_string(model(&folder)).unwrap()
    });
    assert_eq!(texts[0], texts[1]);
    assert!(texts[0].contains("from milling_machine.lgm, SHA-256 "));
}
