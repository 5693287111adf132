//! Conflicting sources: the source text of each case with its diagnostic, and the chain of assignments step by step.

use crate::faulty::check;
use lgm::rendering::render;
use lgm::source::{NoFiles, SourceMap};

cases! {
    two_across_sources_in_parallel: "
model M {
  node a : electrical;
  battery : VoltageSource(12) a -> gnd;
  charger : VoltageSource(14) a -> gnd;
  load    : Resistor(10)      a -> gnd;
}";
    three_across_sources_in_a_loop: "
model M {
  node a, b : electrical;
  s1   : VoltageSource(12) a -> gnd;
  s2   : VoltageSource(5)  b -> a;
  s3   : VoltageSource(14) b -> gnd;
  load : Resistor(10)      b -> gnd;
}";
    a_loop_that_does_not_touch_the_reference: "
model M {
  node a, b, c : electrical;
  s1   : VoltageSource(12) b -> a;
  s2   : VoltageSource(5)  c -> b;
  s3   : VoltageSource(14) c -> a;
  load : Resistor(10)      b -> gnd;
}";
    across_sources_by_way_of_a_transformer: "
model M {
  param n = 2;
  node a, b : electrical;
  s1   : VoltageSource(12) a -> gnd;
  T    : Transformer(n)    a -> gnd, b -> gnd;
  s2   : VoltageSource(5)  gnd -> b;
  load : Resistor(10)      b -> gnd;
}";
    two_motors_on_one_train_of_gears: "
model M {
  node motor, shaft, wheel : rotational;
  m1 : AngularVelocitySource(12) motor -> gnd;
  g1 : Transformer(2)  motor -> gnd, shaft -> gnd;
  J  : Inertia(3)      shaft -> gnd;
  g2 : Transformer(5)  wheel -> gnd, shaft -> gnd;
  m2 : AngularVelocitySource(3) wheel -> gnd;
}";
    through_sources_alone_at_a_node: "
model M {
  node a : electrical;
  i1 : CurrentSource(1) gnd -> a;
  i2 : CurrentSource(2) a -> gnd;
}";
    through_sources_with_a_resistor_between_them: "
model M {
  node a, b : electrical;
  i1 : CurrentSource(1) gnd -> a;
  r  : Resistor(2)      a -> b;
  i2 : CurrentSource(2) b -> gnd;
}";
    through_sources_alone_at_several_nodes: "
model M {
  node x, y, z : translational;
  f1 : ForceSource(1) gnd -> x;
  k1 : Spring(2) x -> y;
  k2 : Spring(2) y -> z;
  d  : Damper(2) x -> z;
  f2 : ForceSource(2) gnd -> y;
  f3 : ForceSource(2) gnd -> z;
}";
    a_through_source_without_a_way_back: "
model M {
  node x : translational;
  push : ForceSource(1) gnd -> x;
}";
    a_motor_at_a_current_against_a_torque: "
model M {
  param k = 0.1;
  node a, b : electrical;
  node shaft : rotational;
  feed  : CurrentSource(1) gnd -> a;
  R     : Resistor(1) a -> b;
  motor : Transformer(1/k) b -> gnd, shaft -> gnd;
  load  : TorqueSource(5) shaft -> gnd;
}";
    a_voltage_behind_a_gyrator_against_a_torque: "
model M {
  node a : electrical;
  node shaft : rotational;
  s1 : VoltageSource(12) a -> gnd;
  G  : Gyrator(0.1) a -> gnd, shaft -> gnd;
  s2 : TorqueSource(5) shaft -> gnd;
}";
    two_efforts_on_a_zero_junction: "
model M {
  zero J;
  s1 : Se(1);
  s2 : Se(2);
  r  : R(3);
  s1 -> J;
  s2 -> J;
  J -> r;
}";
    two_flows_on_a_one_junction: "
model M {
  one J;
  s1 : Sf(1);
  s2 : Sf(2);
  r  : R(3);
  s1 -> J;
  s2 -> J;
  J -> r;
}";
    an_effort_by_way_of_a_transformer_and_a_bond: "
model M {
  zero A, B, D;
  s1 : Se(1);
  t  : TF(2);
  s2 : Se(2);
  r  : R(3);
  s1 -> A;
  A -> t -> B;
  B -> D;
  s2 -> D;
  B -> r;
}";
    an_effort_by_way_of_a_gyrator_against_a_flow: "
model M {
  param g = 2;
  zero A;
  one B;
  s1 : Se(1);
  G  : GY(g);
  s2 : Sf(2);
  r  : R(3);
  s1 -> A -> G -> B;
  s2 -> B;
  B -> r;
}";
    a_chain_of_junctions: "
model M {
  zero B, D, F;
  one A;
  s1 : Se(1);
  s2 : Se(2);
  s3 : Se(3);
  r  : R(3);
  s1 -> B -> A;
  s2 -> D -> A;
  A -> F -> r;
  s3 -> F;
}";
    a_transformer_back_to_its_own_node: "
model M {
  node a : electrical;
  t : Transformer(2) a -> gnd, a -> gnd;
  s : VoltageSource(1) a -> gnd;
  r : Resistor(1) a -> gnd;
}";
    a_ring_whose_equations_decide_together: "
model M {
  zero A, B;
  one P;
  s : Se(1);
  t : TF(2);
  u : TF(3);
  w : TF(5);
  q : Se(4);
  r : R(1);
  s -> P;
  A -> t -> P;
  A -> u -> B;
  B -> w -> P;
  B -> r;
  q -> A;
}";
    a_modulus_that_is_zero: "
model M {
  param n = 0;
  node a : electrical;
  node shaft : rotational;
  s : VoltageSource(1) a -> gnd;
  G : Gyrator(n) a -> gnd, shaft -> gnd;
  J : Inertia(2) shaft -> gnd;
}";
    a_controlled_source: "
model M {
  node a : electrical;
  s1   : VoltageSource(12) a -> gnd;
  load : Resistor(10) a -> gnd;
  s2   : VoltageSource(5 [ohm]*through(load)) a -> gnd;
}";
    members_of_instances: "
component Cell(V) {
  port p, n : electrical;
  s : VoltageSource(V) p -> n;
  r : Resistor(100) p -> n;
}
model Pack {
  node a, b : electrical;
  low     : Cell(3.6) (p = a, n = gnd);
  high    : Cell(3.6) (p = b, n = a);
  charger : VoltageSource(7) b -> gnd;
}";
    a_long_chain_of_array_members: "
component Cell(V) {
  port p, n : electrical;
  s : VoltageSource(V) p -> n;
}
model Pack {
  const N = 40;
  node v[N + 1] : electrical;
  for i in 1:N { cell[i] : Cell(3.6) (p = v[i + 1], n = v[i]); }
  earth   : Resistor(1000) v[1] -> gnd;
  charger : VoltageSource(150) v[N + 1] -> v[1];
}";
    vector_sources: "
model M {
  node q[2] vector : translational;
  rail  : VelocitySource([1, 2]) gnd -> q;
  body  : Mass(1) q -> gnd;
  drive : VelocitySource([1, 3]) gnd -> q;
}";
    a_vector_source_by_way_of_a_vector_transformer: "
model M {
  node q[2] vector : translational;
  node x : translational;
  rail  : VelocitySource([1, 2]) gnd -> q;
  body  : Mass(1) q -> gnd;
  T     : Transformer([[1, 2]]) q -> gnd, x -> gnd;
  drive : VelocitySource(3) gnd -> x;
}";
    a_domain_of_the_user_s_own: "
domain traffic { across density; through rate; effort = across; }
model M {
  node street : traffic;
  lights : AcrossSource(3) street -> gnd;
  police : AcrossSource(5) street -> gnd;
}";
    a_part_without_a_datum: "
model M {
  node a, b, c : electrical;
  feed : VoltageSource(12) a -> gnd;
  wind : Transformer(0.5)  a -> gnd, b -> c;
  load : Resistor(5)       b -> c;
}";
}

/// Every named source is part of the conflict: replacing it by a resistor resolves the conflict.
#[test]
fn without_any_one_of_the_sources_named_there_is_no_conflict() {
    let loops = "model M { node a, b, c, d : electrical;
s1 : VoltageSource(12) a -> gnd;
other : VoltageSource(3) c -> gnd;
s2 : VoltageSource(5) b -> a;
T : Transformer(3) b -> gnd, d -> c;
r : Resistor(1) d -> b;
s3 : VoltageSource(14) d -> c; }";
    let cuts = "model M { node a, b, c : electrical;
i1 : CurrentSource(1) gnd -> a;
r1 : Resistor(2) a -> b;
r2 : Resistor(2) b -> c;
r3 : Resistor(2) a -> c;
other : VoltageSource(5) c -> b;
i2 : CurrentSource(2) b -> gnd;
i3 : CurrentSource(3) c -> gnd; }";
    for (text, parties, not) in [
        (loops, ["s1", "s2", "s3"], "other"),
        (cuts, ["i1", "i2", "i3"], "other"),
    ] {
        let (found, map) = check(text, &[], false);
        assert_eq!(found.len(), 1, "{}", render(&map, &found, false));
        assert!(!found[0].message.contains(not), "{}", found[0].message);
        for party in parties {
            assert!(found[0].message.contains(&format!("`{party}`")), "{}", found[0].message);
            let mended: String = text
                .lines()
                .map(|line| match line.split_once(" : ") {
                    Some((name, rest)) if name == party => {
                        let (_, rest) = rest.split_once(')').unwrap();
                        format!("{name} : Resistor(1){rest}\n")
                    }
                    _ => format!("{line}\n"),
                })
                .collect();
            let (found, map) = check(&mended, &[], false);
            assert!(found.is_empty(), "without {party}\n{}", render(&map, &found, false));
        }
    }
}

/// The reported factor of a coupler is the one in the equations.
#[test]
fn the_factors_reported_are_those_of_the_equations() {
    let couplers = [
        ("Transformer(2) a -> gnd, b -> gnd", "2"),
        ("Transformer(2) gnd -> a, b -> gnd", "-2"),
        ("Transformer(2) b -> gnd, gnd -> a", "-0.5"),
    ];
    for (coupler, factor) in couplers {
        let text = format!(
            "model M {{ node a, b : electrical; s : VoltageSource(1) a -> gnd; T : {coupler};
               r : Resistor(1) b -> gnd; output y = across(b);"
        );
        let conflict = format!("{text} t : VoltageSource(3) b -> gnd; }}");
        let (found, _) = check(&conflict, &[], false);
        let words = format!("is {factor} times the voltage of `a`");
        let reported = found[0].labels.iter().any(|label| label.message.contains(&words));
        assert!(reported, "{coupler}: {:?}", found[0].labels);
        let mut map = SourceMap::default();
        let root = map.add("model.lgm", format!("{text} }}"), None);
        let (system, _) = lgm::compile(&NoFiles, &mut map, root, &lgm::Request::default());
        let system = system.expect("a model without conflict has equations");
        let y = lgm::expr::print::text(&system.exprs, system.equations.output_values[0]);
        assert_eq!(y, factor, "{coupler}");
    }
}

#[test]
fn a_conflict_in_a_large_graph_is_explained_in_time() {
    let text = "
component Section(L [H], R [ohm], C [F]) {
  port p, n, ref : electrical; node m : electrical;
  l : Inductor(L) p -> m; r : Resistor(R) m -> n; c : Capacitor(C) n -> ref;
  s : VoltageSource(0) p -> n;
}
model Line {
  const N = 4000;
  node v[N + 1] : electrical;
  src : VoltageSource(1) v[1] -> gnd;
  for i in 1:N { cell[i] : Section(L = 1 [mH], R = 0.1 [ohm], C = 1 [uF]) (p = v[i], n = v[i + 1], ref = gnd); }
  end : VoltageSource(3) v[N + 1] -> gnd;
}";
    let (found, _) = check(text, &[], false);
    assert_eq!(found.len(), 1);
    assert!(found[0].labels.len() < 20, "nobody reads a chain of thousands");
}
