//! Missing, ambiguous and distant solutions and the message for each, and equilibria of systems with conserved
//! quantities.

use crate::support::command;

use command::{ends_with, err, lgm, out};
use std::fs;
use tempfile::TempDir;

/// A loop of `c*v^2 + 1 = u - time`.
const PARABOLA: &str = "
element Parabola(c) : electrical { through = c*across^2 + 1; }
model Loop {
  param c = 1;
  param u0 = 5;
  input u = u0 - time;
  node x : electrical;
  push : CurrentSource(u) gnd -> x;
  odd : Parabola(c) x -> gnd;
  output v = across(odd);
  experiment { stop = 2 [s]; points = 3; }
}";

/// Two coupled cars, and two tanks.
const KEPT: &str = "
element Orifice(c) : fluid { through = c*across*(1 + c*across^2); }
model Cars {
  param v0 = 3;
  node x, y : translational;
  first  : Mass(2) x -> gnd, start = v0;
  second : Mass(1) y -> gnd;
  spring : Spring(5) x -> y;
  hitch  : Damper(0.5) x -> y;
  state place = int(across(x)), start = 1;
  node s, t : electrical;
  sensor : VoltageSource(1 [V/m]*place) s -> gnd;
  filter : Resistor(1) s -> t;
  held   : Capacitor(1) t -> gnd, start = 1;
  output v = across(first);
  experiment { stop = 1 [s]; points = 2; }
}
model Tanks {
  param h = 6;
  node a, b, c : fluid;
  left  : FluidCapacitor(2) a -> gnd, start = h;
  right : FluidCapacitor(1) b -> gnd;
  pipe  : FluidResistor(3) a -> c;
  hole  : Orifice(1) c -> b;
  output P = across(right);
  experiment { stop = 1 [s]; points = 2; }
}";

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("loop.lgm", PARABOLA);
    write("kept.lgm", KEPT);
    for name in ["four_bar.lgm", "slider_crank.lgm"] {
        let text = fs::read_to_string(format!("{}/examples/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap();
        write(name, &text);
    }
    folder
}

#[track_caller]
fn says(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in\n{text}");
    }
}

#[test]
fn one_of_several_solutions_is_taken_and_another_is_shown() {
    let folder = folder();
    let run = lgm(folder.path(), &["simulate", "loop.lgm"]);
    ends_with(&run, 0);
    says(
        &err(&run),
        &[
            "LGM1023",
            "the run starts with `odd.v = 2`",
            "another one is `odd.v = -2`",
        ],
    );
    assert!(out(&run).contains("\n0,2\n"), "{}", out(&run));
    // Solutions that meet count as one.
    let run = lgm(
        folder.path(),
        &["simulate", "loop.lgm", "--set", "u0=1", "--input", "u=1"],
    );
    assert!(!err(&run).contains("LGM1023"), "{}", err(&run));
}

#[test]
fn laws_that_have_no_solution_come_close_to_one() {
    let folder = folder();
    let run = lgm(folder.path(), &["simulate", "loop.lgm", "--set", "u0=0"]);
    ends_with(&run, 1);
    says(
        &err(&run),
        &[
            "LGM1003",
            "no solution is near",
            "come closest at `odd.v = 0`",
            "where they still differ by 1",
        ],
    );
}

#[test]
fn a_chain_that_does_not_reach_is_reported_in_a_batch_too() {
    let folder = folder();
    let run = lgm(
        folder.path(),
        &[
            "simulate",
            "four_bar.lgm",
            "--stop",
            "0.01",
            "--points",
            "2",
            "--sweep",
            "d=0.4:0.8:2",
        ],
    );
    says(
        &out(&run),
        &["1,0.4,0.01", "[LGM1003] at 0 s: no position closes the chain of `q["],
    );
}

/// With other parameters or initial values, a chain is closed as if it had been compiled with them.
#[test]
fn varied_chains_start_where_chains_of_these_parameters_do() {
    let folder = folder();
    for (file, name, value) in [
        ("four_bar.lgm", "theta_0", "-2"),
        ("four_bar.lgm", "d", "0.4"),
        ("slider_crank.lgm", "r", "0.29"),
    ] {
        let rows = |option: &str, set: &str, skipped: usize| -> Vec<f64> {
            let run = lgm(
                folder.path(),
                &["simulate", file, "--stop", "0.01", "--points", "2", option, set],
            );
            ends_with(&run, 0);
            let text = out(&run);
            let last = text.lines().nth(2).unwrap().to_string();
            let numbers = last.split(',').skip(skipped).map_while(|word| word.parse().ok());
            // States follow the outputs, in a single run only.
            numbers.take(5).collect()
        };
        let set = rows("--set", &format!("{name}={value}"), 0);
        let varied = rows("--sweep", &format!("{name}={value}:{value}:1"), 2);
        assert_eq!(set.len(), 5);
        for (set, varied) in set.iter().zip(&varied) {
            assert!(
                (set - varied).abs() <= 1e-6 * set.abs().max(1.0),
                "{file} {name}={value}: {set} and {varied}"
            );
        }
    }
}

#[test]
fn a_state_of_rest_keeps_what_the_equations_keep() {
    let folder = folder();
    for height in [6.0, 1.5] {
        let set = format!("h={height}");
        let run = lgm(
            folder.path(),
            &[
                "simulate",
                "kept.lgm",
                "--model",
                "Tanks",
                "--from-equilibrium",
                "--set",
                &set,
            ],
        );
        ends_with(&run, 0);
        let text = out(&run);
        let row: Vec<f64> = text
            .lines()
            .nth(1)
            .unwrap()
            .split(',')
            .map(|word| word.parse().unwrap())
            .collect();
        // Two thirds of the first tank fill both equally.
        assert!((row[1] - height * 2.0 / 3.0).abs() < 1e-9, "{text}");
        assert!(err(&run).is_empty(), "nothing is left open: {}", err(&run));
    }
    let run = lgm(
        folder.path(),
        &["equations", "kept.lgm", "--model", "Tanks", "--equilibrium"],
    );
    ends_with(&run, 0);
    says(&out(&run), &["left.P_0 ", "= 4 Pa"]);
}

#[test]
fn what_the_equations_keep_may_allow_no_rest() {
    let folder = folder();
    let words = "the equations keep `first.v + 0.5*second.v` at its initial value 3; at rest it is 0";
    let run = lgm(
        folder.path(),
        &["simulate", "kept.lgm", "--model", "Cars", "--from-equilibrium"],
    );
    ends_with(&run, 1);
    says(&err(&run), &["LGM1006", words]);
    let run = lgm(
        folder.path(),
        &["equations", "kept.lgm", "--model", "Cars", "--equilibrium"],
    );
    ends_with(&run, 1);
    says(&err(&run), &["LGM0704", words]);
    // At rest from the start, the position is arbitrary and stays.
    let run = lgm(
        folder.path(),
        &[
            "simulate",
            "kept.lgm",
            "--model",
            "Cars",
            "--from-equilibrium",
            "--set",
            "v0=0",
        ],
    );
    ends_with(&run, 0);
    says(&err(&run), &["LGM1021", "`place`"]);
}
