//! Errors, each with its source and its rendered diagnostic.

use super::said;

#[test]
fn unknown_element() {
    let text = r#"
model M {
  node a : electrical;
  r : Resitor(5) a -> gnd;
}
"#;
    insta::assert_snapshot!(said(text, &[]));
}

#[test]
fn unknown_name() {
    let text = r#"
model M {
  param stiffness = 2;
  node x : translational;
  s : Spring(stifness) x -> gnd;
  output f = through(sprin);
}
"#;
    insta::assert_snapshot!(said(text, &[]));
}

#[test]
fn unknown_domain_and_function() {
    let text = r#"
model M {
  node a : electricl;
  node x : translational;
  s : Spring(sinn(2)) x -> gnd;
}
"#;
    insta::assert_snapshot!(said(text, &[]));
}

#[test]
fn declared_twice() {
    let text = r#"
model M {
  param R = 1;
  param R = 2;
  node a : electrical;
  node b, b : electrical;
  r : Resistor(R) a -> gnd;
  q : Resistor(R) b -> gnd;
}
"#;
    insta::assert_snapshot!(said(text, &[]));
}

#[test]
fn reserved_name() {
    let text = r#"
model M {
  param time = 1;
  node gnd : electrical;
  node a : electrical;
  r : Resistor(1) a -> gnd;
}
"#;
    insta::assert_snapshot!(said(text, &[]));
}

#[test]
fn circle_of_parameters() {
    let text = r#"
model M {
  param a = b + 1;
  param b = 2*a;
  node x : electrical;
  r : Resistor(a) x -> gnd;
}
"#;
    insta::assert_snapshot!(said(text, &[]));
}

#[test]
fn parameter_without_value() {
    let text = r#"
model M {
  param R;
  node a : electrical;
  r : Resistor(R) a -> gnd;
}
"#;
    insta::assert_snapshot!(said(text, &[]));
}

#[test]
fn missing_argument() {
    let text = r#"
model M {
  node a : electrical;
  r : Resistor() a -> gnd;
  c : Capacitor(1, 2) a -> gnd;
  d : Inductor(M = 1) a -> gnd;
}
"#;
    insta::assert_snapshot!(said(text, &[]));
}

#[test]
fn wrong_unit() {
    let text = r#"
model M {
  param m = 2 [kg];
  node x : translational;
  spring : Spring(m) x -> gnd;
  mass : Mass(m) x -> gnd;
}
"#;
    insta::assert_snapshot!(said(text, &[]));
}

#[test]
fn wrong_sum() {
    let text = r#"
model M {
  param m = 2 [kg];
  param k = 3 [N/m];
  param s = m + k;
  node x : translational;
  mass : Mass(m) x -> gnd;
}
"#;
    insta::assert_snapshot!(said(text, &[]));
}

#[test]
fn sine_of_a_length() {
    let text = r#"
model M {
  param L = 2 [m];
  param y = sin(L);
  node x : translational;
  mass : Mass(1) x -> gnd;
}
"#;
    insta::assert_snapshot!(said(text, &[]));
}

#[test]
fn unit_in_a_generic_element() {
    let text = r#"
model M {
  param C = 2 [kg];
  node a : electrical;
  c : AType(C) a -> gnd;
  r : DType(5 [ohm]) a -> gnd;
}
"#;
    insta::assert_snapshot!(said(text, &[]));
}

#[test]
fn law_with_wrong_units() {
    let text = r#"
element Bad(k [N/m]) : translational { through = k*across; }
model M {
  node x : translational;
  b : Bad(2) x -> gnd;
}
"#;
    insta::assert_snapshot!(said(text, &[]));
}

#[test]
fn unknown_unit() {
    let text = r#"
model M {
  param R = 5 [Ohms];
  node a : electrical;
  r : Resistor(R) a -> gnd;
  c : Capacitor(1 [blah]) a -> gnd;
}
"#;
    insta::assert_snapshot!(said(text, &[]));
}

#[test]
fn two_domains() {
    let text = r#"
model M {
  node a : electrical;
  node x : translational;
  r : Resistor(1) a -> x;
  m : Mass(1) a -> gnd;
}
"#;
    insta::assert_snapshot!(said(text, &[]));
}

#[test]
fn wrong_number_of_branches() {
    let text = r#"
model M {
  node a : electrical;
  node b : electrical;
  t : Transformer(2) a -> gnd;
  r : Resistor(1) a -> b, b -> gnd;
  c : Capacitor(1);
}
"#;
    insta::assert_snapshot!(said(text, &[]));
}

#[test]
fn short_circuit() {
    let text = r#"
model M {
  node a : electrical;
  v : VoltageSource(1) gnd -> gnd;
  r : Resistor(1) a -> a;
  c : Capacitor(1) a -> gnd;
}
"#;
    insta::assert_snapshot!(said(text, &[]));
}

#[test]
fn no_datum() {
    let text = r#"
model M {
  node a, b, c : electrical;
  r : Resistor(1) a -> b;
  s : Capacitor(1) b -> a;
  v : Resistor(1) c -> gnd;
}
"#;
    insta::assert_snapshot!(said(text, &[]));
}

#[test]
fn transformer_does_not_connect() {
    let text = r#"
model M {
  node a, b, c : electrical;
  v : VoltageSource(1) a -> gnd;
  t : Transformer(2) a -> gnd, b -> c;
  r : Resistor(1) b -> c;
}
"#;
    insta::assert_snapshot!(said(text, &[]));
}

#[test]
fn unconnected_node() {
    let text = r#"
model M {
  node a, b : electrical;
  one J;
  r : Resistor(1) a -> gnd;
}
"#;
    insta::assert_snapshot!(said(text, &[]));
}

#[test]
fn widths() {
    let text = r#"
model M {
  node q[2] vector : translational;
  node x : translational;
  m : Mass([[1, 0, 0], [0, 1, 0], [0, 0, 1]]) q -> gnd;
  d : Damper(1) q -> x;
  e : Damper(1) x -> gnd;
}
"#;
    insta::assert_snapshot!(said(text, &[]));
}

#[test]
fn scalar_source_on_a_vector() {
    let text = r#"
model M {
  node q[2] vector : translational;
  push : ForceSource(1) gnd -> q;
  m : Mass(1) q -> gnd;
}
"#;
    insta::assert_snapshot!(said(text, &[]));
}

#[test]
fn nonsymmetric_storage() {
    let text = r#"
model M {
  param k = 2;
  node q[2] vector : translational;
  s : Spring([[k, -1], [-2, 3]]) q -> gnd;
}
"#;
    insta::assert_snapshot!(said(text, &[]));
}

#[test]
fn index_outside() {
    let text = r#"
model M {
  const N = 2;
  node v[N] : electrical;
  for i in 1:N { r[i] : Resistor(1) v[i] -> v[i + 1]; }
}
"#;
    insta::assert_snapshot!(said(text, &[]));
}

#[test]
fn param_as_a_size() {
    let text = r#"
model M {
  param N = 2;
  node v[N] : electrical;
  r : Resistor(1) v[1] -> gnd;
}
"#;
    insta::assert_snapshot!(said(text, &[]));
}

#[test]
fn loop_without_index() {
    let text = r#"
model M {
  node a : electrical;
  for i in 1:3 { r : Resistor(i) a -> gnd; }
}
"#;
    insta::assert_snapshot!(said(text, &[]));
}

#[test]
fn too_many_parts() {
    let text = r#"
component Comb { port p : electrical; for i in 1:100000 { r[i] : Resistor(1) p -> gnd; } }
model M {
  const N = 1000000;
  node a : electrical;
  for i in 1:N { c[i] : Comb (p = a); }
}
"#;
    insta::assert_snapshot!(said(text, &[]));
}

#[test]
fn component_holds_itself() {
    let text = r#"
component A { port p : electrical; b : B (p = p); }
component B { port p : electrical; a : A (p = p); }
model M {
  node x : electrical;
  a : A (p = x);
}
"#;
    insta::assert_snapshot!(said(text, &[]));
}

#[test]
fn endless_ladder() {
    let text = r#"
component L(const N) { port p : electrical; r : Resistor(1) p -> gnd; if N > 0 { rest : L(N + 1) (p = p); } }
model M {
  node x : electrical;
  a : L(1) (p = x);
}
"#;
    insta::assert_snapshot!(said(text, &[]));
}

#[test]
fn port_not_bound() {
    let text = r#"
component S { port p, n : electrical; r : Resistor(1) p -> n; }
model M {
  node x : electrical;
  node w : rotational;
  s : S (p = x);
  t : S (p = w, q = gnd, n = gnd);
  u : S x -> gnd;
}
"#;
    insta::assert_snapshot!(said(text, &[]));
}

#[test]
fn bond_faults() {
    let text = r#"
model M {
  one A;
  zero B;
  SE : Se(1);
  I1 : I(2);
  T : TF(2);
  R1 : R(3);
  node x : electrical;
  r : Resistor(1) x -> gnd;
  SE -> A -> I1;
  I1 -> B;
  A -> T;
  A -> r;
  A -> gnd;
  K : C(1);
  K -> B;
  I2 : I(1) x -> gnd;
}
"#;
    insta::assert_snapshot!(said(text, &[]));
}

#[test]
fn measures() {
    let text = r#"
model M {
  one A;
  SE : Se(1);
  I1 : I(2);
  node a, b : electrical;
  v : VoltageSource(1) a -> gnd;
  t : Transformer(2) a -> gnd, b -> gnd;
  r : Resistor(1) b -> gnd;
  SE -> A -> I1;
  node h : thermal;
  q : ThermalCapacitor(1) h -> gnd;
  output y1 = through(t);
  output y2 = through(a);
  output y3 = effort(A);
  output y4 = flow(I1 -> A);
  output y5 = across(I1);
  output y6 = power(q);
  output y7 = energy(r);
}
"#;
    insta::assert_snapshot!(said(text, &[]));
}

#[test]
fn nonlinear_law() {
    let text = r#"
import nonlinear;
model M {
  node a : electrical;
  d : Diode() a -> gnd, start = 1;
  c : Capacitor(1) a -> gnd;
  output e = energy(d);
}
"#;
    insta::assert_snapshot!(said(text, &[]));
}

#[test]
fn laws_of_no_form() {
    let text = r#"
element A(R, C) : electrical { through = C*der(across)^2 + across/R; }
element B(k) : electrical { port a, b; a.across = k*b.across; }
element D(k) : electrical { across = k*exp(through)*der(through); }
model M {
  node x, y : electrical;
  a : A(1, 2) x -> gnd;
  b : B(1) x -> gnd, y -> gnd;
  d : D(2) y -> gnd;
}
"#;
    insta::assert_snapshot!(said(text, &[]));
}

#[test]
fn modulated() {
    let text = r#"
model M {
  input u = 1;
  node x : translational;
  node y : translational;
  m : Mass(u) x -> gnd;
  d : Damper(2 + u) x -> gnd;
  t : Transformer(across(m)) x -> gnd, y -> gnd;
  e : Damper(1) y -> gnd;
}
"#;
    insta::assert_snapshot!(said(text, &[]));
}

#[test]
fn zero_mass() {
    let text = r#"
model M {
  param m = 0;
  node x : translational;
  a : Mass(m) x -> gnd;
  b : Damper(1/m) x -> gnd;
  c : Damper(1) x -> gnd, start = 2;
}
"#;
    insta::assert_snapshot!(said(text, &[]));
}

#[test]
fn state_without_integral() {
    let text = r#"
model M {
  node x : electrical;
  r : Resistor(1) x -> gnd;
  state z = across(r);
  signal s = s + 1;
}
"#;
    insta::assert_snapshot!(said(text, &[]));
}

#[test]
fn component_rules() {
    let text = r#"
component Load(R) { port p : electrical; input u = 1; r : Resistor(R) p -> gnd; output y = across(r); s : Resistor(outer) p -> gnd; }
model M {
  port q : electrical;
  param outer = 2;
  node a : electrical;
  c : Load(1) (p = a);
}
"#;
    insta::assert_snapshot!(said(text, &[]));
}

#[test]
fn value_and_graph() {
    let text = r#"
model M {
  param m = 1;
  node x : translational;
  a : Mass(x) x -> gnd;
  output v = across(m);
  b : Mass(m) m -> gnd;
}
"#;
    insta::assert_snapshot!(said(text, &[]));
}

#[test]
fn experiment() {
    let text = r#"
model M {
  node x : translational;
  a : Mass(1) x -> gnd;
  output v = across(a);
  experiment { stop = 1; plots = [v]; plot = [w]; }
}
"#;
    insta::assert_snapshot!(said(text, &[]));
}

#[test]
fn what_cannot_be_plotted() {
    let text = r#"
model M {
  param m = 1;
  node x : translational;
  a : Mass(m) x -> gnd;
  signal p = m*across(a);
  state s = int(p);
  output v = across(a);
  experiment { stop = 1; plot = [v, p, s, m, a.v]; }
}
"#;
    insta::assert_snapshot!(said(text, &[]));
}
