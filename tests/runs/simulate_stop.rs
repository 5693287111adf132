//! `lgm simulate` without a stop time: the duration of the run, and the messages.

use crate::support::command;
use crate::support::models::{LAG, lag};

use command::{ends_with, err, out};
use std::fs;
use std::path::Path;
use std::process::Output;
use tempfile::TempDir;

fn lgm(folder: &Path, arguments: &[&str]) -> Output {
    command::lgm(folder, &[&["simulate"], arguments].concat())
}

/// The last time of a run's samples, and the messages.
fn last_time(folder: &TempDir, arguments: &[&str]) -> (f64, String) {
    let run = lgm(folder.path(), arguments);
    ends_with(&run, 0);
    let rows = out(&run);
    let last = rows.lines().last().unwrap();
    (last.split(',').next().unwrap().parse().unwrap(), err(&run))
}

#[test]
fn a_run_without_a_stop_is_as_long_as_its_slowest_mode_asks_for() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("bare.lgm"), LAG).unwrap();
    let experiment = "experiment { stop = 4 [s]; points = 5; }";
    fs::write(folder.path().join("lag.lgm"), lag(experiment)).unwrap();
    // A lag of T = 2 s: five time constants are 10 s; of 2.2 s, 11 s, rounded up.
    for (set, stop) in [("T=2", 10.0), ("T=2.2", 20.0), ("T=3e-6", 2e-5)] {
        let (last, reported) = last_time(&folder, &["bare.lgm", "--set", set]);
        assert_eq!(last, stop, "{set}");
        assert!(
            reported.contains("LGM0936")
                && reported.contains("five time constants")
                && reported.contains(&format!("run it with `--stop {}`", lgm::diagnostic::six_digits(last))),
            "{reported}"
        );
    }
    // An explicit stop time is used without a remark.
    let (last, reported) = last_time(&folder, &["bare.lgm", "--stop", "3"]);
    assert_eq!((last, reported.contains("LGM0936")), (3.0, false), "{reported}");
    let (last, reported) = last_time(&folder, &["lag.lgm"]);
    assert_eq!((last, reported.contains("LGM0936")), (4.0, false), "{reported}");
    // Relative to the start time.
    assert_eq!(
        last_time(&folder, &["bare.lgm", "--set", "T=2", "--start", "7"]).0,
        17.0
    );
    // All runs of a table have the same duration.
    let sweep = lgm(folder.path(), &["bare.lgm", "--set", "T=2", "--sweep", "T=1:4:2"]);
    ends_with(&sweep, 0);
    assert_eq!(
        out(&sweep)
            .lines()
            .filter(|line| line.split(',').nth(2) == Some("10"))
            .count(),
        2,
        "{}",
        out(&sweep)
    );
}

#[test]
fn modes_of_nonlinear_equations_choose_a_stop_too() {
    let folder = tempfile::tempdir().unwrap();
    let pendulum = "model Pendulum {
      param g = 9.81 [m/s^2];
      node w : rotational;
      node p[2] vector : translational;
      state theta = int(across(w)), start = 0;
      arm : Transformer([[1 [m]*cos(theta)], [1 [m]*sin(theta)]]) w -> gnd, p -> gnd;
      bob : Mass(1) p -> gnd;
      grav : ForceSource([0, -1 [kg]*g]) gnd -> p;
      output angle = theta;
    }";
    fs::write(folder.path().join("pendulum.lgm"), pendulum).unwrap();
    // Ten periods of 2*pi/sqrt(g) = 2.006 s.
    let (last, reported) = last_time(&folder, &["pendulum.lgm"]);
    assert_eq!(last, 50.0, "{reported}");
    assert!(
        reported.contains("ten periods")
            && reported.contains("2.00607 s")
            && reported.contains("linearisation at the initial values"),
        "{reported}"
    );
}

#[test]
fn without_modes_a_run_needs_a_stop() {
    let folder = tempfile::tempdir().unwrap();
    let free = "model M { node x : translational; push : ForceSource(1) gnd -> x; m : Mass(1) x -> gnd;
      output y = int(across(m)); }";
    let none = "model M { input u = 1; node n : electrical; s : VoltageSource(u) n -> gnd; r : Resistor(2) n -> gnd;
      output i = through(r); }";
    // Initially the law is on neither of its two linear pieces.
    let bend = "element Stop(k) : translational { through = k*max(int(across), 0); }
      model M { node x : translational; m : Mass(1) x -> gnd; s : Stop(4) x -> gnd; output v = across(m); }";
    for (text, reason) in [
        (free, "only integrals"),
        (none, "no states"),
        (bend, "modes at the initial values"),
    ] {
        fs::write(folder.path().join("m.lgm"), text).unwrap();
        let run = lgm(folder.path(), &["m.lgm"]);
        ends_with(&run, 2);
        assert!(
            err(&run).contains("LGM0926") && err(&run).contains(reason),
            "{reason}: {}",
            err(&run)
        );
        assert_eq!(out(&run), "");
    }
}
