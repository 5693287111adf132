//! Multiple runs with one command: sweeps, random samples, tables of parameters.

use super::*;

#[test]
fn a_sweep_makes_one_tidy_table() {
    let folder = folder();
    let run = lgm(
        folder.path(),
        &["lag.lgm", "--sweep", "T=0.5:2:2", "--stop", "2", "--points", "2"],
    );
    ends_with(&run, 0);
    let text = out(&run);
    assert!(
        text.starts_with("run,T,time,y,twice,status,reason\n1,0.5,0,0,0,ok,\n"),
        "{text}"
    );
    near(&column(&text, "run"), &[1.0, 1.0, 2.0, 2.0], 0.0);
    near(&column(&text, "T"), &[0.5, 0.5, 2.0, 2.0], 0.0);
    let y = column(&text, "y");
    near(&[y[1], y[3]], &[1.0 - (-4f64).exp(), 1.0 - (-1f64).exp()], 1e-7);
}

#[test]
fn what_the_experiment_says_in_parameters_holds_for_each_run() {
    let folder = folder();
    let text = lag(EXPERIMENT).replace("stop = 4 [s]; points = 5;", "stop = 3*T; points = 2;");
    fs::write(folder.path().join("long.lgm"), &text).unwrap();
    let run = lgm(folder.path(), &["long.lgm", "--set", "T=0.5"]);
    ends_with(&run, 0);
    near(&column(&out(&run), "time"), &[0.0, 1.5], 0.0);
    // With a negative time constant the run would end before its start: only that run fails.
    let run = lgm(folder.path(), &["long.lgm", "--sweep", "T=-1:3:3"]);
    ends_with(&run, 0);
    let found = out(&run);
    let failed = "1,-1,0,,,failed,[LGM1009] at 0 s: the run of `Lag` would start at 0 s and stop at -3 s\n";
    assert!(found.contains(failed), "{found}");
    let rows: String = found
        .lines()
        .filter(|line| !line.contains("failed"))
        .map(|line| format!("{line}\n"))
        .collect();
    near(&column(&rows, "time"), &[0.0, 3.0, 0.0, 9.0], 0.0);
    // An option overrides the experiment in every run.
    let run = lgm(folder.path(), &["long.lgm", "--sweep", "T=1:3:2", "--stop", "2"]);
    near(&column(&out(&run), "time"), &[0.0, 2.0, 0.0, 2.0], 0.0);
    // A tolerance that becomes invalid fails the same way.
    fs::write(
        folder.path().join("tight.lgm"),
        text.replace("rtol = 1e-9", "rtol = T/1e6 [s]"),
    )
    .unwrap();
    let run = lgm(folder.path(), &["tight.lgm", "--sweep", "T=-1:1:2", "--stop", "1"]);
    ends_with(&run, 0);
    assert!(out(&run).contains("`rtol` is -0.000001"), "{}", out(&run));
    let run = lgm(folder.path(), &["tight.lgm", "--set", "T=-1", "--stop", "1"]);
    ends_with(&run, 1);
    assert!(err(&run).contains("[LGM0154]"), "{}", err(&run));
}

#[test]
fn what_cannot_be_drawn_is_no_curve_left_out() {
    let folder = folder();
    for (curve, code, hint) in [
        ("half", "LGM0111", "output half = half;"),
        ("T", "LGM0111", "output T = T;"),
        ("store.y", "LGM0111", "no output or state"),
        ("y, x, u", "", ""),
    ] {
        let text = lag(EXPERIMENT).replace("plot = [y, u]", &format!("plot = [{curve}]"));
        let text = text.replace("output y = x;", "signal half = x/2;\n  output y = x;");
        fs::write(folder.path().join("curves.lgm"), text).unwrap();
        let run = lgm(folder.path(), &["curves.lgm", "--plot", "a.svg", "-o", "a.csv"]);
        ends_with(&run, i32::from(!code.is_empty()));
        assert!(err(&run).contains(code) && err(&run).contains(hint), "{}", err(&run));
        assert_eq!(folder.path().join("a.svg").exists(), code.is_empty());
        // `lgm check` reports it too.
        let checked = command::lgm(folder.path(), &["check", "curves.lgm"]);
        ends_with(&checked, i32::from(!code.is_empty()));
        assert!(
            err(&checked).contains(code) && err(&checked).contains(hint),
            "{}",
            err(&checked)
        );
    }
    // If an option selects the states, other names are valid.
    let text = lag(EXPERIMENT).replace("plot = [y, u]", "plot = [y, store.y]");
    fs::write(folder.path().join("curves.lgm"), text).unwrap();
    let chosen = command::lgm(folder.path(), &["equations", "curves.lgm", "--states", "power"]);
    ends_with(&chosen, 0);
}

#[test]
fn a_failed_run_of_a_sweep_is_a_row_with_its_reason() {
    let folder = folder();
    let run = lgm(
        folder.path(),
        &[
            "lag.lgm",
            "--input",
            "u=log((T - time)/(1 [s]))",
            "--sweep",
            "T=2:8:2",
            "--points",
            "2",
        ],
    );
    ends_with(&run, 0);
    let text = out(&run);
    let rows = table(&text);
    let failed: Vec<&Vec<String>> = rows.iter().filter(|row| row.contains(&"failed".to_string())).collect();
    assert_eq!(failed.len(), 1, "{text}");
    assert_eq!(failed[0][0], "1");
    assert!(text.contains("[LGM10"), "{text}");
    assert_eq!(
        rows.iter().filter(|row| row.contains(&"ok".to_string())).count(),
        2,
        "{text}"
    );
    assert!(err(&run).contains("1 of 2 runs failed"), "{}", err(&run));
}

#[test]
fn random_runs_are_the_same_for_the_same_seed() {
    let folder = folder();
    let runs = |seed: &str| {
        let run = lgm(
            folder.path(),
            &[
                "lag.lgm",
                "--monte-carlo",
                "20",
                "--seed",
                seed,
                "--vary",
                "T=uniform(1, 3)",
                "--points",
                "2",
            ],
        );
        ends_with(&run, 0);
        out(&run)
    };
    let first = runs("1");
    assert_eq!(first, runs("1"));
    assert_ne!(first, runs("2"));
    let values = column(&first, "T");
    assert_eq!(values.len(), 40);
    assert!(values.iter().all(|value| (1.0..3.0).contains(value)));
}

#[test]
fn runs_come_from_a_table_of_parameters() {
    let folder = folder();
    fs::write(folder.path().join("runs.csv"), "T\n1\n2\n4\n").unwrap();
    let run = lgm(
        folder.path(),
        &["lag.lgm", "--sample", "runs.csv", "--points", "2", "--format", "json"],
    );
    ends_with(&run, 0);
    let json: serde_json::Value = serde_json::from_str(&out(&run)).unwrap();
    assert_eq!(json["rows"].as_array().unwrap().len(), 6);
    assert_eq!(json["rows"][5][0], 3.0);
    assert_eq!(json["rows"][5][1], 4.0);
    assert_eq!(json["columns"][1]["kind"], "parameter");
}

#[test]
fn faults_of_many_runs() {
    let list: [&[&str]; 13] = [
        &["--sweep", "T"],
        &["--sweep", "T=1:2"],
        &["--sweep", "T=1:x:3"],
        &["--sweep", "T=1:2:0"],
        &["--sweep", "T=-1:2:3:log"],
        &["--sweep", "T=1:2:3:lin"],
        &["--sweep", "t=1:2:3"],
        &["--sweep", "T=1:2:3", "--sweep", "T=1:2:3"],
        &["--sweep", "T=1:2:2000000"],
        &["--monte-carlo", "3", "--vary", "T=gauss(1, 2)"],
        &["--monte-carlo", "3", "--vary", "T=normal(1)"],
        &["--monte-carlo", "3", "--vary", "T=uniform(2, 1)"],
        &["--sample", "table.csv"],
    ];
    let all: Vec<String> = list
        .iter()
        .map(|more| said(&[&["lag.lgm"][..], more].concat()))
        .collect();
    insta::assert_snapshot!(all.join("\n"));
}

/// A plot contains only as many curves as can be distinguished, but the table always contains all runs.
#[test]
fn a_picture_of_many_runs_shows_some_of_them() {
    let folder = folder();
    let many = [
        "lag.lgm",
        "--monte-carlo",
        "200",
        "--vary",
        "T=uniform(1, 2)",
        "--show",
        "y",
        "--plot",
        "a.svg",
    ];
    let run = lgm(folder.path(), &[&many[..], &["-o", "a.csv"]].concat());
    ends_with(&run, 0);
    assert!(
        err(&run).contains("the plot shows 16 of 200 runs; the table contains all of them"),
        "{}",
        err(&run)
    );
    let table = fs::read_to_string(folder.path().join("a.csv")).unwrap();
    assert!(table.lines().any(|line| line.starts_with("200,")), "{table}");
    let picture = fs::read_to_string(folder.path().join("a.svg")).unwrap();
    let reported = picture.lines().find(|line| line.starts_with("<desc>")).unwrap();
    assert_eq!(reported.matches("T=1.").count(), 16, "{reported}");
    assert_eq!(
        picture.matches("<clipPath").count(),
        1,
        "all runs of one output share a panel"
    );
    let few = [
        "lag.lgm", "--sweep", "T=1:2:3", "--show", "y", "--plot", "b.svg", "-o", "b.csv",
    ];
    let run = lgm(folder.path(), &few);
    ends_with(&run, 0);
    assert!(!err(&run).contains("the plot shows"), "{}", err(&run));
}

#[test]
fn faults_of_plans() {
    let folder = folder();
    for (arguments, hint) in [
        (&["lag.lgm", "--stop", "-1"][..], "LGM0926"),
        (&["lag.lgm", "--stop", "x"], "finite number"),
        (&["lag.lgm", "--points", "1"], "--points"),
        (&["lag.lgm", "--rtol", "0"], "above zero"),
        (&["lag.lgm", "--method", "euler"], "tsit45"),
        (&["lag.lgm", "--monte-carlo", "3"], "--vary"),
        (&["lag.lgm", "--sweep", "T=1:2:2", "--sample", "x.csv"], "--sample"),
    ] {
        let run = lgm(folder.path(), arguments);
        ends_with(&run, 2);
        assert!(err(&run).contains(hint), "{arguments:?}: {}", err(&run));
        assert_eq!(out(&run), "");
    }
}
