//! The snippets of the language's description, word for word.

use super::{dump, good};

#[test]
fn oscillator() {
    let text = r#"
/// A mass on a spring and a damper, pushed by a force.
model Oscillator {
  param m = 2 [kg];
  param k = 50 [N/m];
  param b = 0.4 [N.s/m];
  input F [N] = 1;                 // default signal, any expression of `time`

  node x : translational;

  push   : ForceSource(F)  gnd -> x;
  mass   : Mass(m)         x -> gnd;
  spring : Spring(k)       x -> gnd;
  damper : Damper(b)       x -> gnd;

  output v  = across(mass);
  output fk = through(spring);
  output y  = int(across(mass));   // displacement

  experiment { stop = 5 [s]; points = 501; plot = [v, y]; }
}
"#;
    insta::assert_snapshot!(dump::model(&good(text)));
}

#[test]
fn lever() {
    let text = r#"
/// Two masses on a massless lever (McCalla 1991, Fig. 10-11), as a bond graph.
model Lever {
  param m1 = 2;  param m2 = 3;  param ratio = 1.5;   // b/a
  input F = 1;
  one A, B;
  SE : Se(F);  I1 : I(m1);  I2 : I(m2);  T : TF(ratio);
  SE -> A -> I1;                   // each arrow is a bond; power is positive along it
  A -> T -> B -> I2;
  output f1 = flow(I1);
}
"#;
    insta::assert_snapshot!(dump::model(&good(text)));
}

#[test]
fn line() {
    let text = r#"
/// One section of a transmission line.
component Section(L [H], R [ohm], C [F]) {
  port p, n, ref : electrical;
  node m : electrical;
  l : Inductor(L)  p -> m;
  r : Resistor(R)  m -> n;
  c : Capacitor(C) n -> ref;
}
model Line {
  const N = 4;                       // a structural parameter: fixed when compiling
  param Rl = 50 [ohm];
  input u [V] = sin(2*pi*50*time);
  node v[N + 1] : electrical;
  src : VoltageSource(u) v[1] -> gnd;
  for i in 1:N {
    cell[i] : Section(L = 1 [mH], R = 0.1 [ohm], C = 1 [uF]) (p = v[i], n = v[i + 1], ref = gnd);
  }
  load : Resistor(Rl) v[N + 1] -> gnd;
  output y = across(load);
}
"#;
    insta::assert_snapshot!(dump::model(&good(text)));
}

#[test]
fn vector_pair() {
    let text = r#"
/// Two coupled masses as one vector element (a vector linear graph).
model VectorPair {
  param m1 = 1; param m2 = 2; param k1 = 30; param k2 = 20;
  input F = 1;
  node q[2] vector : translational;          // one node of width 2
  push : ForceSource([F, 0])                       gnd -> q;
  M    : Mass([[m1, 0], [0, m2]])                  q -> gnd;
  K    : Spring([[k1 + k2, -k2], [-k2, k2]])       q -> gnd;
  output v2 = across(M)[2];
}
"#;
    insta::assert_snapshot!(dump::model(&good(text)));
}

#[test]
fn speed_loop() {
    let text = r#"
/// A PI speed controller on a geared inertia.
model SpeedLoop {
  param J = 0.01 [kg.m^2]; param b = 0.02 [N.m.s/rad]; param Kp = 0.5; param Ki = 2;
  input ref [rad/s] = step(0.1)*10;
  node shaft : rotational;
  signal e = ref - across(rotor);
  state ie = int(e);
  motor : TorqueSource(Kp*e + Ki*ie) gnd -> shaft;
  rotor : Inertia(J) shaft -> gnd;
  drag  : RotaryDamper(b) shaft -> gnd;
  output w = across(rotor);
}
"#;
    insta::assert_snapshot!(dump::model(&good(text)));
}
