//! Rectifiers and other circuits of exponential diodes: if some of them block, the currents of inductors do not
//! determine the voltages across them, because they differ only by leakage of the order of picoamperes.
//!
//! The expected values come from a program that does not use graphs: nodal equations as a differential-algebraic
//! system, by Radau's method of order 5 with step doubling for the error, at relative tolerances of 1e-7 to 1e-10.

use crate::nonlinear::laws_in_pieces::{near, run, written};
use crate::support::command::{ends_with, err, lgm};

const IMPLICIT: [&str; 4] = ["auto", "bdf", "sdirk", "tr-bdf2"];

/// A bridge of four diodes fed through an inductance, with a load.
fn bridge(load: &str) -> String {
    format!(
        "import nonlinear;
model Bridge {{
  input u [V] = 10*sin(2*pi*50*time);
  node a, s, p, n, c : electrical;
  src : VoltageSource(u) a -> gnd;
  Ls : Inductor(1e-3) a -> s;
  D1 : Diode() s -> p;
  D2 : Diode() gnd -> p;
  D3 : Diode() n -> s;
  D4 : Diode() n -> gnd;
  L : Inductor({load}) p -> c;
  R : Resistor(10) c -> n;
  output i = through(L);
  experiment {{ stop = 0.06 [s]; points = 4; }}
}}"
    )
}

/// Runs a model by several methods and tolerances, and checks the last values of some columns.
#[track_caller]
fn check(text: &str, methods: &[&str], tries: &[(&str, f64)], options: &[&str], expected: &[(&str, f64)]) {
    let folder = written(text);
    for method in methods {
        for (rtol, allowed) in tries {
            let rows = run(
                folder.path(),
                &[options, &["--method", method, "--rtol", rtol]].concat(),
            );
            for (column, value) in expected {
                near(
                    &format!("{method}, {rtol}, {column}"),
                    rows.last(column),
                    *value,
                    *allowed,
                );
            }
        }
    }
}

#[test]
fn a_bridge_of_exponential_diodes_commutates() {
    let expected = [("i", 0.479_941_678_7), ("Ls.i", -0.477_441_378_1)];
    let tries = [("1e-3", 1e-2), ("1e-4", 2e-3), ("1e-6", 5e-5)];
    check(&bridge("0.1"), &IMPLICIT, &tries, &[], &expected);
    check(&bridge("0.1"), &["auto"], &[("1e-8", 5e-7)], &[], &expected);
    check(
        &bridge("0.1"),
        &["sdirk"],
        &[("1e-9", 1e-7)],
        &["--stop", "0.02"],
        &[("i", 0.419_656_434_4)],
    );
}

/// Without an inductance before and after the bridge.
#[test]
fn bridges_with_other_loads_run() {
    let text = bridge("0.02").replace("Ls : Inductor(1e-3) a -> s;", "Ls : Resistor(1e-6) a -> s;");
    check(
        &text,
        &IMPLICIT,
        &[("1e-4", 2e-4), ("1e-7", 3e-6)],
        &["--stop", "0.045"],
        &[("i", 0.652_785_153_07)],
    );
    let text = bridge("0.02").replace("L : Inductor(0.02) p -> c;", "R2 : Resistor(1e-6) p -> c;");
    let text = text.replace("through(L)", "through(R)");
    check(
        &text,
        &IMPLICIT,
        &[("1e-4", 2e-5), ("1e-7", 2e-7)],
        &["--stop", "0.045"],
        &[("i", 0.856_971_451_436)],
    );
}

const THREE_PHASES: &str = "import nonlinear;
model Bridge {
  node e[3], s[3], p, n, c : electrical;
  for k in 1:3 {
    src[k] : VoltageSource(20*sin(2*pi*50*time - 2*pi*(k-1)/3)) e[k] -> gnd;
    Ls[k] : Inductor(1e-3) e[k] -> s[k];
    up[k] : Diode() s[k] -> p;
    dn[k] : Diode() n -> s[k];
  }
  L : Inductor(0.02) p -> c;
  R : Resistor(10) c -> n;
  output i = through(R);
  output i2 = through(Ls[2]);
  experiment { stop = 0.045 [s]; points = 2; }
}";

/// One phase takes over from another while the current of both passes through their inductances.
#[test]
fn three_phases_commutate() {
    let expected = [("i", 3.094_112_788), ("i2", -3.093_592_064)];
    check(
        THREE_PHASES,
        &["auto", "bdf", "tr-bdf2"],
        &[("1e-4", 1e-3)],
        &[],
        &expected,
    );
    check(THREE_PHASES, &["auto", "bdf"], &[("1e-6", 1e-5)], &[], &expected);
    // At 1e-6, sdirk finds no step at 0.0427 s and reports it; docs/verification-log.md lists open cases.
    check(THREE_PHASES, &["sdirk"], &[("1e-5", 1e-4)], &[], &expected);
}

const RING: &str = include_str!("rectifiers/ring.lgm");

/// The currents of four windings add up to zero, which determines the voltages of the ring.
#[test]
fn the_ring_modulator_of_index_2_runs() {
    let expected = [
        ("y1", 0.268_577_663_295),
        ("y2", 0.197_400_013_267),
        ("y3", 0.460_058_973_777),
        ("y7", 0.111_008_773_135),
        ("y13", -0.000_406_789_703_774),
    ];
    let stop = ["--stop", "1e-4", "--points", "2"];
    check(RING, &["bdf", "sdirk", "tr-bdf2"], &[("1e-5", 2e-3)], &stop, &expected);
    check(RING, &["auto", "bdf"], &[("1e-7", 5e-5)], &stop, &expected);
}

/// A voltage doubler whose source has a constant part. Newton's iteration, crawling up an exponential, was once
/// mistaken for the final value of a capacitor: its tolerance was 1e44 V, and the run was silently wrong by half, for
/// some orders of lines only.
#[test]
fn a_doubler_has_no_tolerance_beyond_its_voltages() {
    let head = "import nonlinear;\nmodel Doubler {\n  node b, s, a, o, p : electrical;\n  input u [V] = 10*sin(2*pi*500*time);\n  param E = 1.5;\n";
    let tail =
        "  output v1 = across(c1);\n  output v = across(c2);\n  experiment { stop = 20 [ms]; points = 11; }\n}\n";
    let lines = [
        "  c1 : Capacitor(1e-5) a -> p;\n",
        "  c2 : Capacitor(1e-5) o -> gnd;\n",
        "  bias : VoltageSource(E) b -> gnd;\n",
        "  src : VoltageSource(u) s -> b;\n",
        "  rs : Resistor(1) s -> a;\n",
        "  l : Resistor(10e3) o -> gnd;\n",
        "  d1 : Diode() gnd -> p;\n",
        "  d2 : Diode() p -> o;\n",
    ];
    // As declared, and in an order in which the equations of the diodes are solved for another unknown.
    for order in [[0, 1, 2, 3, 4, 5, 6, 7], [1, 0, 2, 3, 4, 5, 7, 6]] {
        let body: String = order.iter().map(|at| lines[*at]).collect();
        let text = format!("{head}{body}{tail}");
        let expected = [("v1", -7.899_387), ("v", 18.164_229)];
        check(&text, &["auto"], &[("1e-6", 1e-5)], &[], &expected);
        check(&text, &["bdf", "sdirk", "tr-bdf2"], &[("1e-6", 2e-4)], &[], &expected);
        let expected = [("v1", -7.499_38)];
        check(&text, &["auto"], &[("1e-6", 1e-5)], &["--set", "E=1.9"], &expected);
    }
}

/// A bridge whose negative pole is connected to the other side of the source only by a leakage resistor. Voltages of
/// 1e62 V whose sum equals the diode voltages passed for a solution, because doubles resolve no better there, and for
/// the capacitor's magnitude. The capacitor had no tolerance, a sample showed 380 V instead of 5 mV, and each method
/// silently ended elsewhere. The expected values were computed by SciPy: Radau at 1e-9, with the node found by
/// bisection.
#[test]
fn a_leaking_bridge_has_no_tolerance_beyond_its_voltages() {
    let text = "import nonlinear;
model Bridge {
  input u [V] = 10*sin(2*pi*50*time);
  node a, p, n : electrical;
  src : VoltageSource(u) a -> gnd;
  D1 : Diode() a -> p; D2 : Diode() gnd -> p; D3 : Diode() n -> a; D4 : Diode() n -> gnd;
  c : Capacitor(1e-4) p -> n;
  r : Resistor(1e3) p -> n;
  g : Resistor(1e9) n -> gnd;
  output v = across(c);
}
";
    let run = |stop: &str, expected: f64, apart: f64| {
        let options = ["--stop", stop, "--points", "6"];
        check(text, &IMPLICIT, &[("1e-6", apart)], &options, &[("v", expected)]);
    };
    run("0.0004", 5.312_16e-3, 1e-4);
    run("0.1", 8.388_900, 2e-5);
}

/// A diode in series with an inductance determines no voltage while it blocks: the failure message names a remedy, and
/// the remedy works. The expected values were computed by SciPy with the diode's voltage as the state: Radau at 1e-10.
#[test]
fn a_blocked_diode_at_an_inductance_asks_for_a_leak() {
    let text = |leak: &str| {
        format!(
            "import nonlinear;
model HalfWave {{
  input u [V] = 10*sin(2*pi*50*time);
  node a, b, c : electrical;
  src : VoltageSource(u) a -> gnd;
  D : Diode() a -> b;
  {leak}
  r : Resistor(10) b -> c;
  l : Inductor(0.01) c -> gnd;
  output i = through(l);
}}
"
        )
    };
    let run = lgm(written(&text("")).path(), &["simulate", "m.lgm", "--stop", "0.045"]);
    ends_with(&run, 1);
    let words = err(&run).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("LGM1004") && words.contains("put a large resistor"),
        "{words}"
    );
    let options = ["--stop", "0.045"];
    let (tries, expected) = ([("1e-6", 1e-5)], [("i", 0.842_293_137)]);
    check(
        &text("leak : Resistor(1e9) a -> b;"),
        &IMPLICIT,
        &tries,
        &options,
        &expected,
    );
}

/// Within 1e-78 s the current of the diode falls to a realistic value. A first step of 1e-11 s led to -1.6e64 V, and
/// was accepted. The expected value is the closed form of `C v' = -Is (exp(v/Vt) - 1)`.
#[test]
fn a_capacitor_empties_into_a_diode() {
    let text = "import nonlinear;
model M {
  node b : electrical;
  d : Diode() b -> gnd;
  c : Capacitor(1 [mF]) b -> gnd, start = 5;
  output v = across(c);
  experiment { stop = 0.1 [s]; points = 3; }
}";
    let left = -(-0.1 * 1e-12 / (1e-3 * 0.02585_f64)).exp_m1();
    let methods = [&IMPLICIT[..], &["tsit45"]].concat();
    check(text, &methods, &[("1e-6", 2e-5)], &[], &[("v", -0.02585 * left.ln())]);
}

/// The same at a later instant, at which doubles cannot represent steps of 1e-78 s. The expected value was computed by
/// SciPy: Radau at 1e-11.
#[test]
fn a_step_of_a_source_fills_a_capacitor_through_a_diode() {
    let text = "import nonlinear;
model M {
  node a, b : electrical;
  s : VoltageSource(5*step(0.01)) a -> gnd;
  d : Diode() a -> b;
  c : Capacitor(1 [mF]) b -> gnd;
  r : Resistor(100) b -> gnd;
  output v = across(c);
  experiment { stop = 0.02 [s]; points = 3; }
}";
    let methods = [&IMPLICIT[..], &["tsit45"]].concat();
    check(text, &methods, &[("1e-6", 1e-5)], &[], &[("v", 4.366_678_782_16)]);
}

/// The bleeders that the help recommends: the voltage of a diode was a difference of products with 1e9 ohm, of which
/// round-off left nothing. The expected values were computed from nodal equations with BDF2 in steps of 1e-7 s.
#[test]
fn a_bridge_with_bleeders_behind_an_inductance_runs() {
    let text = "import nonlinear;
model Bridge {
  param Rg = 1e9 [ohm];
  input u [V] = 17*sin(2*pi*50*time);
  node s, q, a, b, p : electrical;
  src : VoltageSource(u) s -> b; rs : Resistor(0.5) s -> q; lk : Inductor(1e-4) q -> a;
  d1 : Diode() a -> p; d2 : Diode() b -> p; d3 : Diode() gnd -> a; d4 : Diode() gnd -> b;
  g1 : Resistor(Rg) a -> p; g2 : Resistor(Rg) b -> p; g3 : Resistor(Rg) gnd -> a; g4 : Resistor(Rg) gnd -> b;
  c : Capacitor(470e-6) p -> gnd; rl : Resistor(200) p -> gnd;
  output v = across(c);
  experiment { stop = 0.1 [s]; points = 21; }
}";
    for beside in ["Rg=1e8", "Rg=1e9"] {
        check(
            text,
            &IMPLICIT,
            &[("1e-6", 2e-6)],
            &["--set", beside],
            &[("v", 14.890_994_7)],
        );
    }
}
