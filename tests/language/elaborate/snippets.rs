//! The snippets of the language description, verbatim.

use super::{dump, good, said};
use lgm::model::ExperimentEntry;

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

#[test]
fn domains_as_the_page_defines_them() {
    let text = r#"
domain electrical    { across v [V];      through i [A];        effort = across; }
domain translational { across v [m/s];    through F [N];        effort = through; }
domain rotational    { across w [rad/s];  through tau [N.m];    effort = through; }
domain fluid         { across P [Pa];     through Q [m^3/s];    effort = across; }
domain thermal       { across T [K];      through q [W];        effort = across; pseudo; }
"#;
    insta::assert_snapshot!(said(text, &[]));
}

#[test]
fn library_elements_as_the_page_defines_them() {
    let text = r#"
element Mass(m [kg])        : translational { through = m*der(across); }
element Spring(k [N/m])     : translational { der(through) = k*across; }
element Damper(b [N.s/m])   : translational { through = b*across; }
element HardSpring(k1 [N/m], k3 [N/m^3]) : translational {
  through = k1*int(across) + k3*int(across)^3;
}
element Diode(Is [A] = 1e-12, Vt [V] = 0.02585) : electrical { through = Is*(exp(across/Vt) - 1); }
element Transformer(r) { port a, b;  b.across = r*a.across;  a.through = -r*b.through; }
"#;
    insta::assert_snapshot!(said(text, &[]));
}

#[test]
fn pendulum() {
    let text = r#"
/// A pendulum: an inertia geared to a point mass by a modulated transformer.
model Pendulum {
  param m = 1 [kg]; param L = 0.5 [m]; param g = 9.81 [m/s^2];
  node w : rotational;  node p[2] vector : translational;
  state theta = int(across(w)), start = 0.3;
  arm   : Transformer([[L*cos(theta)], [L*sin(theta)]]) w -> gnd, p -> gnd;
  bob   : Mass(m)                     p -> gnd;      // a scalar m means m times the identity
  grav  : ForceSource([0, -m*g])      gnd -> p;
  output angle = theta;
}
"#;
    insta::assert_snapshot!(said(text, &[]));
}

#[test]
fn steel_bar() {
    let text = r#"
/// A bar fixed at x = 0 and free at x = L, by separation of variables.
modal FixedFreeBar(rho [kg/m^3], E [Pa], A [m^2], L [m], zeta = 0) : translational {
  mode i;
  mass      = rho*A*L/2;
  stiffness = mass*(E/rho)*((2*i - 1)*pi/(2*L))^2;
  damping   = 2*zeta*sqrt(mass*stiffness);
  shape(x)  = sin((2*i - 1)*pi*x/(2*L));
}
model SteelBar {
  input F [N] = sin(2*pi*time);
  const n = 5;
  node tip : translational;
  bar  : FixedFreeBar(rho = 7850, E = 210e9, A = 0.01, L = 1, modes = n, at = [1]) tip -> gnd;
  push : ForceSource(F) gnd -> tip;
  output u_tip = displacement(bar, 1);
  output u_mid = displacement(bar, 0.5);
}
"#;
    insta::assert_snapshot!(said(text, &[]));
}

#[test]
fn a_floating_part_needs_no_datum() {
    let model = good(
        "model M { node a, b : electrical, floating; r : Resistor(1) a -> b; c : Capacitor(1) a -> b; output v = across(c); }",
    );
    assert!(model.graph.nodes.iter().all(|node| node.floating));
}

#[test]
fn names_share_what_the_language_lets_them_share() {
    // A parameter, an element and an instance share a name; outputs have a separate namespace; indices shadow.
    let model = good(
        "model M { param R = 2; param i = 5; node a : electrical; R : R(R); a -> R; K : C(1); a -> K;
           for i in 1:2 { r[i] : Resistor(i) a -> gnd; } output a = across(a); output s = sum(i in 1:3, i*R); output t = i; }",
    );
    insta::assert_snapshot!(dump::model(&model));
}

#[test]
fn structural_values_decide_what_is_built() {
    let model = good(
        "component Ladder(const N, R [ohm]) { port p : electrical;
           if N > 0 { node m : electrical; s : Resistor(R) p -> m; g : Capacitor(1) m -> gnd; rest : Ladder(N - 1, 2*R) (p = m); }
           else { end : Resistor(R) p -> gnd; } }
         model M { const n = 2; param R = 3 [ohm]; node x : electrical; l : Ladder(n, R) (p = x); output v = across(l.rest.g); }",
    );
    insta::assert_snapshot!(dump::model(&model));
}

#[test]
fn vector_states_starts_and_controlled_sources() {
    let model = good(
        "component Controller(gain, measured) { state z = int(measured), start = 0.5; signal u = gain*(measured + z/1 [s]); }
         model M { node q[2] vector : translational; node q2[2][2] vector : translational;
           m : Mass([[2, 0], [0, 3]]) q -> gnd, start = [1, 2];
           ctl : Controller(4, across(m)[1]);
           state x = int(across(m)), start = 0.25;
           push : ForceSource([-ctl.u, -x[2]*1 [N/m]]) gnd -> q;
           for i in 1:2 { d[i] : Damper(1) q2[i] -> gnd; e[i] : Mass(i) q2[i][1] -> gnd; signal w[i] = across(d[i])[2]; }
           output y = [ctl.z, w[1] + w[2]]; output p = power(d[2]); }",
    );
    insta::assert_snapshot!(dump::model(&model));
}

#[test]
fn instances_are_declared_in_any_order() {
    let cell = "component Cell(C) { port p, n : electrical; node m : electrical; r : Resistor(1) p -> m; \
                l : Inductor(2) m -> n; c : Capacitor(C) m -> gnd; }\n";
    let forwards = format!(
        "{cell}model M {{ node v : electrical; s : VoltageSource(1) v -> gnd; a : Cell(1) (p = v, n = gnd); \
         b : Cell(2) (p = a.m, n = gnd); for i in 1:3 {{ c[i] : Cell(i) (p = v, n = gnd); d[i] : Resistor(i) c[i].m -> b.m; }} \
         output y = across(b.c); }}"
    );
    // The same statements, with references to parts of an instance before its declaration.
    let names: Vec<String> = names_of(&good(&forwards));
    let backwards = format!(
        "{cell}model M {{ node v : electrical; s : VoltageSource(1) v -> gnd; \
         b : Cell(2) (p = a.m, n = gnd); a : Cell(1) (p = v, n = gnd); for i in 1:3 {{ d[i] : Resistor(i) c[i].m -> b.m; \
         c[i] : Cell(i) (p = v, n = gnd); }} output y = across(b.c); }}"
    );
    let found = names_of(&good(&backwards));
    // The elements still have the order of their declarations.
    assert_eq!(found[..4], ["s", "b.r", "b.l", "b.c"]);
    assert_eq!(found[7..9], ["d[1]", "c[1].r"]);
    let sorted = |mut list: Vec<String>| {
        list.sort();
        list
    };
    assert_eq!(sorted(found), sorted(names));
    // A chain declared from its end to its start.
    let chain = format!(
        "{cell}model M {{ node v : electrical; s : VoltageSource(1) v -> gnd; const N = 400; \
         for i in 1:N {{ if i < N {{ c[i] : Cell(1) (p = c[i + 1].m, n = gnd); }} else {{ c[i] : Cell(1) (p = v, n = gnd); }} }} }}"
    );
    let model = good(&chain);
    assert_eq!(model.graph.elements.len(), 1 + 3 * 400);
    assert_eq!(model.element_name(lgm::model::ElementId(1)), "c[1].r");
}

fn names_of(model: &lgm::model::Model) -> Vec<String> {
    let ids = (0..model.graph.elements.len()).map(|at| lgm::model::ElementId(at as u32));
    ids.inspect(|id| {
        for port in model.ports_of(*id) {
            assert_eq!(model.graph.ports[port.index()].element, *id);
        }
    })
    .map(|id| model.element_name(id))
    .collect()
}

#[test]
fn states_have_the_dimension_of_what_they_integrate() {
    let text = |use_of_it: &str| {
        format!(
            "model M {{ node x : translational; mass : Mass(2 [kg]) x -> gnd; signal v = across(mass); \
             state s = int(v); state w = int(s); state both = int([v, s]); state self_fed = int(-1*self_fed); \
             {use_of_it} }}"
        )
    };
    for right in [
        "signal a = s + 1 [m];",
        "signal a = w - 3 [m.s];",
        "signal a = both[1] + s;",
        "signal a = both[2] + w;",
        "signal a = self_fed + 1 [kg];",
        "signal a = s/across(mass) + 2 [s];",
    ] {
        good(&text(right));
    }
    for wrong in [
        "signal a = s + 1 [kg];",
        "signal a = s + v;",
        "signal a = both[1] + w;",
        "signal a = sin(s);",
        "output a = s - across(mass);",
    ] {
        let (_, diagnostics, _) = super::run(&text(wrong), &[]);
        let codes: Vec<&str> = diagnostics.iter().map(|diagnostic| diagnostic.code.as_str()).collect();
        assert!(matches!(codes[..], ["LGM0201"] | ["LGM0203"]), "{wrong}: {codes:?}");
    }
}

#[test]
fn experiments_are_values_of_the_model() {
    let model = good(
        "model M { param T = 2 [s]; node x : translational; mass : Mass(2) x -> gnd; output v = across(mass); \
         output y = [v_, 2*v_]; signal v_ = across(mass); state s = int(v_^2); \
         experiment { start = 1 [ms]; stop = 3*T; points = 501; plot = [v, y[2], s]; method = tr_bdf2; rtol = 1e-5; \
         atol = 1e-8; events = 1; } }",
    );
    let experiment = model.experiment.expect("the model has one");
    assert_eq!(
        (experiment.start, experiment.stop, experiment.points),
        (Some(0.001), Some(6.0), Some(501))
    );
    let names: Vec<&str> = experiment.plot.iter().map(|entry| &*entry.0).collect();
    assert_eq!(names, ["v", "y[2]", "s"]);
    // Values that depend on a parameter change with its value in a run.
    assert_eq!(experiment.dependent.len(), 1);
    assert_eq!(experiment.dependent[0].0, ExperimentEntry::Stop);
    assert_eq!(experiment.with_values(&[7.0]).stop, Some(7.0));
    assert_eq!((experiment.method, experiment.events), (Some("tr-bdf2"), Some(true)));
    assert_eq!(
        (experiment.rtol, experiment.atol, experiment.step),
        (Some(1e-5), Some(1e-8), None)
    );
}
