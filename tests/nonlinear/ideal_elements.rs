//! Ideal op-amps, whose laws couple storage to sources and to other storage; the junction structure alone does not show
//! this.

use crate::support::command;

use command::{ends_with, err, lgm, out};
use std::fs;

const OP_AMP: &str = "element IdealOpAmp : electrical { port in, out; in.across = 0; in.through = 0; }
";

#[track_caller]
fn said(text: &str, words: &[&str]) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("m.lgm"), format!("{OP_AMP}{text}")).unwrap();
    let run = lgm(folder.path(), words);
    ends_with(&run, 0);
    (out(&run), err(&run))
}

#[track_caller]
fn has(text: &str, lines: &[&str]) {
    let (equations, _) = said(text, &["equations", "m.lgm"]);
    for line in lines {
        let is_there = equations.lines().any(|other| other.trim() == *line);
        assert!(is_there, "`{line}` is not in\n{equations}");
    }
    let (_, verified) = said(text, &["check", "--verify", "m.lgm"]);
    assert!(verified.contains("LGM0712"), "{verified}");
}

/// The last sample of a run that `--verify` compared with the flat graph.
#[track_caller]
fn last_row(text: &str) -> Vec<f64> {
    let words = ["simulate", "--verify", "m.lgm", "--stop", "1", "--points", "3"];
    let (rows, _) = said(text, &words);
    let last = rows.lines().last().unwrap();
    last.split(',').map(|word| word.parse().unwrap()).collect()
}

#[test]
fn a_loop_over_a_controlled_source_ties_its_capacitor() {
    let text = "model N6 {
  input u = sin(time);
  node s, m, o, o2 : electrical;
  V : VoltageSource(u) s -> gnd;
  R1 : Resistor(1) s -> m;
  C1 : Capacitor(2) m -> o;
  Op : IdealOpAmp() gnd -> m, o -> gnd;
  E  : VoltageSource(-across(o)) o2 -> gnd;
  C2 : Capacitor(0.5) o2 -> m;
  output y = across(o);
}";
    // u - 2 v' + (-v)'/2 = 0 with v = -y: u = -1.5 y'.
    has(text, &["der(C1.v) = 2*u/3", "y = -C1.v"]);
    let row = last_row(text);
    let expected = -(1.0 - 1f64.cos()) / 1.5;
    assert!((row[1] - expected).abs() < 1e-6, "{} is not {expected}", row[1]);
}

#[test]
fn a_differentiator_has_no_state() {
    let text = "model Differentiator {
  input u = sin(time);
  node s, m, o : electrical;
  V : VoltageSource(u) s -> gnd;
  C : Capacitor(1) s -> m;
  R : Resistor(2) m -> o;
  Op : IdealOpAmp() gnd -> m, o -> gnd;
  output y = across(o);
}";
    has(text, &["y = -2*der(u)"]);
    let row = last_row(text);
    assert!((row[1] + 2.0 * 1f64.cos()).abs() < 1e-9, "{}", row[1]);
}

#[test]
fn an_integrator_before_a_differentiator_is_an_amplifier() {
    let text = "model Both {
  input u = sin(time);
  node s, m, o, p, q : electrical;
  V : VoltageSource(u) s -> gnd;
  R1 : Resistor(1) s -> m;
  C1 : Capacitor(1) m -> o;
  Op : IdealOpAmp() gnd -> m, o -> gnd;
  C2 : Capacitor(1) o -> p;
  R2 : Resistor(2) p -> q;
  Op2 : IdealOpAmp() gnd -> p, q -> gnd;
  output y = across(q);
}";
    // The second capacitor adds nothing to the first one: the op-amp between them supplies it.
    has(text, &["der(C1.v) = u", "y = 2*u", "C2 follows C1"]);
    let row = last_row(text);
    assert!((row[1] - 2.0 * 1f64.sin()).abs() < 1e-9, "{}", row[1]);
    // An initial value of the second one is that of the first.
    let started = text.replace("o -> p;", "o -> p, start = 1;");
    let (equations, _) = said(&started, &["equations", "m.lgm"]);
    assert!(equations.contains("across of C1, starts at -1"), "{equations}");
}

#[test]
fn a_charge_amplifier_takes_a_step_over() {
    let text = "model ChargeAmplifier {
  input u = 1;
  node s, m, o : electrical;
  V : VoltageSource(u) s -> gnd;
  C1 : Capacitor(3) s -> m;
  C2 : Capacitor(2) m -> o;
  R : Resistor(1) m -> o;
  Op : IdealOpAmp() gnd -> m, o -> gnd;
  output y = across(o);
}";
    has(text, &["der(C2.v) = (3*der(u) - C2.v)/2"]);
    let row = last_row(text);
    let expected = -1.5 * (-0.5f64).exp();
    assert!((row[1] - expected).abs() < 1e-6, "{} is not {expected}", row[1]);
}

#[test]
fn an_op_amp_whose_output_is_set_is_refused_as_before() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        "{OP_AMP}model Contradiction {{
  input u = sin(time);
  node s, o : electrical;
  V : VoltageSource(u) s -> gnd;
  W : VoltageSource(2*u) o -> gnd;
  R : Resistor(1) s -> o;
  Op : IdealOpAmp() gnd -> s, o -> gnd;
}}"
    );
    fs::write(folder.path().join("m.lgm"), text).unwrap();
    let run = lgm(folder.path(), &["check", "m.lgm"]);
    ends_with(&run, 1);
}

/// Two capacitors between two integrators, as in elliptic (Cauer) filters: both lose their states together. The numbers
/// are those of the nodal equations, solved with SymPy: y = 1 - e^(-a t) (cos(w t) + (17/111) sqrt(111) sin(w t)), a =
/// 23/32, w = sqrt(111)/32.
#[test]
fn capacitors_between_two_integrators_give_up_their_states_together() {
    let text = "model Cauer {
  input u = 1;
  node s, m1, o1, m3, o3 : electrical;
  V   : VoltageSource(u) s -> gnd;
  R1s : Resistor(1)   s -> m1;
  R1  : Resistor(1)   o1 -> m1;
  C1  : Capacitor(1.3) m1 -> o1;
  A1  : IdealOpAmp()  gnd -> m1, o1 -> gnd;
  R32 : Resistor(1)   o1 -> m3;
  R3  : Resistor(1)   o3 -> m3;
  C3  : Capacitor(1.3) m3 -> o3;
  A3  : IdealOpAmp()  gnd -> m3, o3 -> gnd;
  C13 : Capacitor(0.3) o1 -> m3;
  C31 : Capacitor(0.3) o3 -> m1;
  output y = across(o3);
}";
    let (a, w, root) = (23.0 / 32.0, 111f64.sqrt() / 32.0, 111f64.sqrt());
    let expected = 1.0 - f64::exp(-a) * (w.cos() + 17.0 / 111.0 * root * w.sin());
    assert!((expected - 0.284557489800155).abs() < 1e-14);
    let row = last_row(text);
    assert!((row[1] - expected).abs() < 1e-6, "{} is not {expected}", row[1]);
}
