//! `lgm simulate` from the user's side: samples, files, plots, multiple runs, and errors.

mod many_runs;

use crate::support::command;
use crate::support::models::lag;

use command::{ends_with, err, out};
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The options that the lag requires.
const EXPERIMENT: &str = "experiment { stop = 4 [s]; points = 5; rtol = 1e-9; atol = 1e-12; plot = [y, u]; }";

/// Two inputs in one vector.
const VECTOR: &str = "\
model Vector {
  input u = [0, 0] [N];
  node q[2] vector : translational;
  push : ForceSource(u) gnd -> q;
  body : Mass(1 [kg])   q -> gnd;
  output v = across(body);
  experiment { stop = 1 [s]; points = 3; }
}
";

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("lag.lgm", &lag(EXPERIMENT));
    write("vector.lgm", VECTOR);
    write("table.csv", "time,u,\"a, b\"\n0,0,1\n1,2,1\n2,2,5\n");
    folder
}

/// `lgm simulate ..`
fn command(folder: &Path, arguments: &[&str]) -> Command {
    command::command(folder, &[&["simulate"], arguments].concat())
}

fn lgm(folder: &Path, arguments: &[&str]) -> Output {
    command::lgm(folder, &[&["simulate"], arguments].concat())
}

/// The fields of a CSV text without quotes, line by line.
fn table(text: &str) -> Vec<Vec<String>> {
    text.lines()
        .map(|line| line.split(',').map(str::to_string).collect())
        .collect()
}

/// A column of numbers.
#[track_caller]
fn column(text: &str, name: &str) -> Vec<f64> {
    let table = table(text);
    let at = table[0].iter().position(|known| known == name);
    let at = at.unwrap_or_else(|| panic!("no column {name} in {:?}", table[0]));
    table[1..].iter().map(|row| row[at].parse().unwrap()).collect()
}

#[track_caller]
fn near(found: &[f64], wanted: &[f64], error: f64) {
    assert_eq!(found.len(), wanted.len(), "{found:?}");
    for (found, wanted) in found.iter().zip(wanted) {
        assert!((found - wanted).abs() <= error, "{found} in place of {wanted}");
    }
}

#[test]
fn rows_go_to_standard_output_as_the_experiment_says() {
    let folder = folder();
    let run = lgm(folder.path(), &["lag.lgm"]);
    ends_with(&run, 0);
    assert_eq!(err(&run), "");
    let text = out(&run);
    // The state x has a separate column, because no output has its name.
    assert!(text.starts_with("time,y,twice,x\n0,0,0,0\n1,"), "{text}");
    near(&column(&text, "time"), &[0.0, 1.0, 2.0, 3.0, 4.0], 0.0);
    let exact: Vec<f64> = (0..5).map(|at| 1.0 - (-0.5 * f64::from(at)).exp()).collect();
    near(&column(&text, "y"), &exact, 1e-8);
}

/// Times are the requested multiples, and zero has no sign.
#[test]
fn rows_have_plain_numbers() {
    let folder = folder();
    let text =
        "model M { node a : electrical; c : Capacitor(1) a -> gnd; r : Resistor(1) a -> gnd; output v = -across(c); }";
    fs::write(folder.path().join("rest.lgm"), text).unwrap();
    let run = lgm(folder.path(), &["rest.lgm", "--stop", "0.1", "--points", "21"]);
    let expected = (0..21).map(|row| format!("{},0,0\n", f64::from(row * 5) / 1000.0));
    assert_eq!(out(&run), format!("time,v,c.v\n{}", expected.collect::<String>()));
    let json = ["rest.lgm", "--stop", "0.1", "--points", "2", "--format", "json"];
    let run = lgm(folder.path(), &json);
    assert!(!out(&run).contains("-0"), "{}", out(&run));
}

#[test]
fn options_override_the_experiment() {
    let folder = folder();
    let run = lgm(
        folder.path(),
        &[
            "lag.lgm", "--stop", "1", "--points", "3", "--set", "T=0.5", "--method", "bdf", "--stats",
        ],
    );
    ends_with(&run, 0);
    near(&column(&out(&run), "time"), &[0.0, 0.5, 1.0], 0.0);
    near(&column(&out(&run), "y")[2..], &[1.0 - (-2f64).exp()], 1e-6);
    assert!(err(&run).starts_with("method bdf, "), "{}", err(&run));
}

#[test]
fn a_file_appears_under_its_name_in_the_form_of_its_ending() {
    let folder = folder();
    let run = lgm(folder.path(), &["lag.lgm", "-o", "run.json"]);
    ends_with(&run, 0);
    assert_eq!(out(&run), "");
    let json: serde_json::Value = serde_json::from_slice(&fs::read(folder.path().join("run.json")).unwrap()).unwrap();
    assert_eq!(json["schema"], "lgm-simulation/1");
    assert_eq!(json["model"], "Lag");
    assert_eq!(json["status"], "complete");
    assert_eq!(json["columns"][0]["unit"], "s");
    assert_eq!(json["columns"][3]["kind"], "state");
    assert_eq!(json["rows"].as_array().unwrap().len(), 5);
    let names: Vec<String> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(names.iter().all(|name| !name.ends_with(".part")), "{names:?}");
    ends_with(&lgm(folder.path(), &["lag.lgm", "-o", "nowhere/run.csv"]), 2);
    // The option's other names, one of which is no longer documented.
    let first = fs::read_to_string(folder.path().join("run.json")).unwrap();
    for name in ["--output", "--out"] {
        ends_with(&lgm(folder.path(), &["lag.lgm", name, "other.json"]), 0);
        assert_eq!(fs::read_to_string(folder.path().join("other.json")).unwrap(), first);
    }
    assert!(!out(&lgm(folder.path(), &["--help"])).contains("--out "));
}

#[test]
fn an_input_is_an_expression_of_time_and_parameters() {
    let folder = folder();
    let run = lgm(folder.path(), &["lag.lgm", "--input", "u = T*step(1)/2"]);
    ends_with(&run, 0);
    let exact: Vec<f64> = (0..5)
        .map(|at| 1.0 - (-0.5 * f64::from((at - 1).max(0))).exp())
        .collect();
    near(&column(&out(&run), "y"), &exact, 1e-8);
    let run = lgm(
        folder.path(),
        &["vector.lgm", "--input", "u=[2, 4]", "--input", "u[1]=6*time"],
    );
    ends_with(&run, 0);
    near(&column(&out(&run), "v[1]"), &[0.0, 0.75, 3.0], 1e-6);
    near(&column(&out(&run), "v[2]"), &[0.0, 2.0, 4.0], 1e-6);
}

#[test]
fn an_input_is_a_column_of_a_table() {
    let folder = folder();
    let run = lgm(
        folder.path(),
        &["vector.lgm", "--input", "u[1]=table.csv:u", "--stop", "2"],
    );
    ends_with(&run, 0);
    // The integral of a ramp from 0 to 2 in a second, then of 2.
    near(&column(&out(&run), "v[1]"), &[0.0, 1.0, 3.0], 1e-6);
    let held = lgm(
        folder.path(),
        &["vector.lgm", "--input", "u[2]=table.csv:a, b,held", "--stop", "4"],
    );
    ends_with(&held, 0);
    near(&column(&out(&held), "v[2]"), &[0.0, 2.0, 12.0], 1e-6);
    assert!(err(&held).contains("[LGM0913]"), "{}", err(&held));
    assert!(
        err(&held).contains("ends at 2 s; its last value is used until 4 s"),
        "{}",
        err(&held)
    );
}

#[test]
fn units_in_the_names_of_columns_are_refused() {
    let folder = folder();
    let run = |names: &str, column: &str| {
        fs::write(folder.path().join("data.csv"), format!("{names}\n0,0\n1,2\n")).unwrap();
        lgm(
            folder.path(),
            &[
                "vector.lgm",
                "--input",
                &format!("u[1]=data.csv:{column}"),
                "--stop",
                "1",
            ],
        )
    };
    let times = run("time [ms],u", "u");
    ends_with(&times, 1);
    assert!(err(&times).contains("times are in seconds"), "{}", err(&times));
    let values = run("time,u [mV]", "u [mV]");
    ends_with(&values, 1);
    assert!(
        err(&values).contains("values are in the unit of the input"),
        "{}",
        err(&values)
    );
    let seconds = run("time [s],u", "u");
    ends_with(&seconds, 0);
    // The integral of a ramp from 0 to 2 in a second.
    near(&column(&out(&seconds), "v[1]"), &[0.0, 0.25, 1.0], 1e-6);
}

/// A beam with one mode and the compliance of all others: its tip moves instantaneously with a force, and so does the
/// integral of its speed.
#[test]
fn an_equilibrium_has_what_the_inputs_move_at_the_start() {
    let folder = folder();
    let beam = "F [N] = 1; node tip : translational; beam : Cantilever(rho = 2700, A = 9e-5, E = 70e9, I = 6.75e-11, L = 0.5, modes = 1,
      at = [0.5], residual = true) tip -> gnd; p : ForceSource(F) gnd -> tip;
      output y = displacement(beam, 0.5); output z = int(across(tip));";
    // F L^3/(3 E I)
    let exact = 0.125 / (3.0 * 70e9 * 6.75e-11);
    for more in ["", "discrete n = 0; when time > 5 [s] { n := 1; }"] {
        let text = format!("import distributed; model B {{ input {beam} {more} }}");
        fs::write(folder.path().join("beam.lgm"), text).unwrap();
        let run = ["beam.lgm", "--from-equilibrium", "--stop", "1e-3", "--points", "2"];
        let run = lgm(folder.path(), &run);
        ends_with(&run, 0);
        for name in ["y", "z"] {
            near(&column(&out(&run), name), &[exact, exact], 1e-9);
        }
    }
}

#[test]
fn pictures_are_drawn_of_what_is_asked_for() {
    let folder = folder();
    let run = lgm(
        folder.path(),
        &["lag.lgm", "--plot", "a.svg", "--html", "a.html", "-o", "run.csv"],
    );
    ends_with(&run, 0);
    let svg = fs::read_to_string(folder.path().join("a.svg")).unwrap();
    // An output and an input, both without a unit, each in a separate panel.
    assert!(svg.contains("<desc>y, u over time</desc>"), "{svg}");
    assert_eq!(svg.matches("<clipPath").count(), 2);
    let html = fs::read_to_string(folder.path().join("a.html")).unwrap();
    assert!(html.contains("\"name\":\"u\"") && !html.contains("://"), "{html}");
    let run = lgm(
        folder.path(),
        &["lag.lgm", "--plot", "b.svg", "--show", "x,twice", "-o", "run.csv"],
    );
    ends_with(&run, 0);
    let svg = fs::read_to_string(folder.path().join("b.svg")).unwrap();
    assert!(svg.contains("<desc>x, twice over time</desc>"), "{svg}");
    let run = lgm(folder.path(), &["lag.lgm", "--plot", "c.svg", "--show", "twise"]);
    ends_with(&run, 2);
    assert!(err(&run).contains("`twice`"), "{}", err(&run));
    assert!(!folder.path().join("c.svg").exists());
}

#[test]
fn a_run_that_fails_ends_with_1_and_keeps_its_rows_only_on_request() {
    let folder = folder();
    let arguments = ["lag.lgm", "--input", "u=log(2.5 - time)", "-o", "run.csv"];
    let run = lgm(folder.path(), &arguments);
    ends_with(&run, 1);
    assert!(err(&run).contains("[LGM10"), "{}", err(&run));
    assert!(!folder.path().join("run.csv").exists());
    // The location in the message is the input's declaration.
    assert!(err(&run).contains("lag.lgm:3:9"), "{}", err(&run));
    let run = lgm(folder.path(), &[&arguments[..], &["--keep"]].concat());
    ends_with(&run, 1);
    let text = fs::read_to_string(folder.path().join("run.csv")).unwrap();
    near(&column(&text, "time"), &[0.0, 1.0, 2.0], 0.0);
}

/// Incomplete files, next to their final location.
#[cfg(unix)]
fn unfinished(folder: &Path) -> Vec<fs::DirEntry> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    entries
        .filter(|entry| entry.path().extension().is_some_and(|end| end == "part"))
        .collect()
}

#[cfg(unix)]
fn wait_for_rows(folder: &Path) {
    let deadline = Instant::now() + Duration::from_secs(60);
    // A file may have received its final name before it is inspected.
    let has_rows = |entry: &fs::DirEntry| entry.metadata().is_ok_and(|about| about.len() > 0);
    while !unfinished(folder).iter().any(has_rows) {
        assert!(Instant::now() < deadline, "no rows after a minute");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[cfg(unix)]
#[test]
fn an_impatient_second_interruption_leaves_no_half_of_a_file() {
    let folder = folder();
    for round in 0..4 {
        let arguments = ["lag.lgm", "-o", "run.csv", "--stop", "1e9", "--points", "100000000"];
        let mut child = command(folder.path(), &arguments)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        wait_for_rows(folder.path());
        let id = child.id().to_string();
        // Repeatedly, because two simultaneous signals may arrive as one.
        let status = loop {
            let _ = Command::new("kill").args(["-INT", &id]).stderr(Stdio::null()).status();
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
        };
        assert_eq!(status.code(), Some(130));
        assert_eq!(unfinished(folder.path()).len(), 0, "in round {round}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_leaves_a_valid_file_and_ends_with_130() {
    let folder = folder();
    for (name, arguments) in [
        ("run.csv", &["--stop", "1e9", "--points", "100000000"][..]),
        ("run.json", &["--stop", "1e9", "--points", "100000000"][..]),
        ("runs.csv", &["--sweep", "T=1:2:900000", "--points", "1000"][..]),
    ] {
        let mut child = command(folder.path(), &[&["lag.lgm", "-o", name][..], arguments].concat())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        wait_for_rows(folder.path());
        let id = child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
        let status = child.wait().unwrap();
        assert_eq!(status.code(), Some(130), "{name}");
        let text = fs::read_to_string(folder.path().join(name)).unwrap();
        if name.ends_with("json") {
            let json: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert_eq!(json["status"], "interrupted");
        } else {
            // Only complete rows.
            assert!(text.ends_with('\n'));
            let table = table(&text);
            assert!(table.len() > 2);
            assert!(table.iter().all(|row| row.len() == table[0].len()));
        }
    }
}

#[test]
fn nobody_who_listens_is_no_fault() {
    let folder = folder();
    let mut child = command(folder.path(), &["lag.lgm", "--points", "1000000"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// The model, the options and the diagnostics.
fn said(arguments: &[&str]) -> String {
    let folder = folder();
    fs::write(
        folder.path().join("bad.csv"),
        "time,gap,words,nan,short\n0,1,1,1,1\n1,,x,nan\n",
    )
    .unwrap();
    fs::write(folder.path().join("mixed.csv"), "time,u\n0,1\n2,1\n1,1\n").unwrap();
    let output = lgm(folder.path(), arguments);
    let code = output.status.code().unwrap_or(-1);
    format!(
        "lgm simulate {}\nexit code {code}\n{}{}",
        arguments.join(" "),
        out(&output),
        err(&output)
    )
}

#[test]
fn faults_of_inputs() {
    let list = [
        "u",
        "=1",
        "u[0]=1",
        "u[x]=1",
        "w=1",
        "u[1]=1",
        "u=sin(",
        "u=zz",
        "u=x",
        "u=[1, 2]",
        "u=absent.csv:u",
        "u=table.csv",
        "u=table.csv:w",
        "u=table.csv:u,hold",
        "w=table.csv:u",
        "u=bad.csv:gap",
        "u=bad.csv:words",
        "u=bad.csv:nan",
        "u=bad.csv:short",
        "u=mixed.csv:u",
    ];
    let all: Vec<String> = list.iter().map(|input| said(&["lag.lgm", "--input", input])).collect();
    insta::assert_snapshot!(format!("{}\n{}", lag(EXPERIMENT), all.join("\n")));
}

#[test]
fn faults_of_units_of_inputs() {
    let list = ["u=[1 [m], 0]", "u[1]=2 [s]", "u[3]=1", "u=1"];
    let all: Vec<String> = list
        .iter()
        .map(|input| said(&["vector.lgm", "--input", input]))
        .collect();
    insta::assert_snapshot!(format!("{VECTOR}\n{}", all.join("\n")));
}

#[test]
fn the_columns_that_are_asked_for_are_written_in_their_order() {
    let folder = folder();
    let answer = lgm(folder.path(), &["lag.lgm", "--columns", "u,twice,x", "--points", "2"]);
    ends_with(&answer, 0);
    let rows = table(&out(&answer));
    assert_eq!(rows[0], ["time", "u", "twice", "x"]);
    assert_eq!(rows[1], ["0", "1", "0", "0"]);
    assert_eq!(rows.len(), 3);
    let exact = 1.0 - (-2.0_f64).exp();
    for (at, factor) in [(2, 2.0), (3, 1.0)] {
        let found: f64 = rows[2][at].parse().unwrap();
        assert!((found - factor * exact).abs() < 1e-7, "{found}");
    }
    // Multiple runs, entries of a vector, an unknown name.
    let answer = lgm(
        folder.path(),
        &["lag.lgm", "--columns", "x", "--sweep", "T=1:2:2", "--points", "2"],
    );
    assert_eq!(table(&out(&answer))[0], ["run", "T", "time", "x", "status", "reason"]);
    let answer = lgm(folder.path(), &["vector.lgm", "--columns", "v", "--points", "2"]);
    assert_eq!(table(&out(&answer))[0], ["time", "v[1]", "v[2]"]);
    let answer = lgm(folder.path(), &["lag.lgm", "--columns", "z"]);
    ends_with(&answer, 2);
    assert!(err(&answer).contains("LGM0905"), "{}", err(&answer));
}

#[test]
fn rows_of_events_do_not_go_back_in_time() {
    let folder = folder();
    let text = "model Ev {
  param C = 1;
  node a : electrical;
  i : CurrentSource(if time > 1 then 5 else 0) gnd -> a;
  c : Capacitor(C) a -> gnd;
  output u = if time > 1 then 5 else 0;
  experiment { stop = 2; points = 3; }
}
";
    fs::write(folder.path().join("ev.lgm"), text).unwrap();
    let answer = lgm(folder.path(), &["ev.lgm", "--events"]);
    let rows = table(&out(&answer));
    let times: Vec<f64> = rows[1..].iter().map(|row| row[0].parse().unwrap()).collect();
    assert_eq!(times, [0.0, 1.0, 1.0, 2.0], "{rows:?}");
    assert_eq!((rows[2][1].as_str(), rows[3][1].as_str()), ("0", "5"));
}
