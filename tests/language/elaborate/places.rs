//! Location and cause of errors: instances, dimensions, experiments.

use super::said;

#[test]
fn fault_in_an_array_of_instances() {
    let text = r#"
component Section(L [H], R) {
  port p, n : electrical;
  node m : electrical;
  l : Inductor(L) p -> m;
  r : Resistor(1/R) m -> n;
}
model Line {
  const N = 5;
  node v[N + 1] : electrical;
  for i in 1:N { cell[i] : Section(1 [mH], R = i*(i - 3)) (p = v[i], n = v[i + 1]); }
  src : VoltageSource(1) v[1] -> gnd;
  load : Resistor(1) v[N + 1] -> gnd;
}
"#;
    insta::assert_snapshot!(said(text, &[]));
}

#[test]
fn fault_in_a_nested_instance() {
    let text = r#"
component Cell(k) { port a : translational; s : Spring(k) a -> gnd; d : Damper(k) a -> gnd; }
component Row(k) { port a : translational; for j in 1:3 { cell[j] : Cell(k) (a = a); } }
model M {
  node x : translational;
  for i in 1:2 { row[i] : Row(5 [N/m]) (a = x); }
  mass : Mass(1) x -> gnd;
}
"#;
    insta::assert_snapshot!(said(text, &[]));
}

#[test]
fn fault_deep_inside_instances() {
    let text = r#"
component Ladder(const N) {
  port p : electrical;
  node inner[3] : electrical;
  if N > 0 { rest : Ladder(N - 1) (p = p); } else { r : Resistor(1) p -> inner[N + 4]; }
}
model M {
  node x : electrical;
  a : Ladder(9) (p = x);
}
"#;
    insta::assert_snapshot!(said(text, &[]));
}

#[test]
fn a_fault_of_a_million_instances_is_one_diagnostic() {
    let text = "component S(R) { port p : electrical; node m : electrical; r : Resistor(R + 1 [kg]) p -> m; }
model M { node v : electrical; for i in 1:20000 { s[i] : S(2 [ohm]) (p = v); } }";
    let (_, diagnostics, _) = super::run(text, &[]);
    let [only] = &diagnostics[..] else {
        panic!("{} diagnostics", diagnostics.len());
    };
    assert_eq!(only.code, "LGM0201");
    assert!(
        only.notes
            .iter()
            .any(|note| note == "and 19999 more instances have this problem"),
        "{only:?}"
    );
    assert!(
        only.labels
            .iter()
            .any(|label| label.message == "in the instance `s[1]` of `S`, created here")
    );
}

#[test]
fn how_each_dimension_arose() {
    let text = r#"
element Shaft(k [N.m/rad], d [N.m.s]) : rotational { through = k*across + d*across; }
model M {
  param m = 2 [kg];
  param a [m/s^2] = 9.81;
  param weight = m*a;
  param k = 3 [N/m];
  input push [N] = 1;
  node x : translational;
  node w : rotational;
  mass : Mass(m) x -> gnd;
  signal sum = weight + k*across(mass) - push;
  signal chosen = if time > 1 then push else m*across(x)^2;
  signal less = push < m;
  signal angle = cos(k*m);
  s : Shaft(1, 2) w -> gnd;
  output y = 2^push;
}
"#;
    insta::assert_snapshot!(said(text, &[]));
}

#[test]
fn values_of_an_experiment() {
    let text = r#"
model M {
  node x : translational;
  a : Mass(1) x -> gnd;
  output v = across(a);
  output y = [v_, v_];
  signal v_ = across(a);
  experiment {
    start = 2 [s];
    stop = 1 [s];
    stop = 3 [s];
    points = 0.5;
    step = 2 [m];
    rtol = -1;
    atol = across(a);
    method = rk4;
    events = undeclared;
    plot = [v, w, y[3], 2*v];
  }
}
"#;
    insta::assert_snapshot!(said(text, &[]));
}

#[test]
fn instances_that_wait_for_each_other() {
    let text = r#"
component Cell { port p : electrical; node m : electrical; r : Resistor(1) p -> m; c : Capacitor(1) m -> gnd; }
model M {
  a : Cell (p = b.m);
  b : Cell (p = a.m);
}
"#;
    insta::assert_snapshot!(said(text, &[]));
}
