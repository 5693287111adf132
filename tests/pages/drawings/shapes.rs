//! Linear graphs of particular shapes: grids, couplers between two nodes, velocities as states, and models in terms of
//! junctions.

use super::{compilation, drawing, drawn, faults};
use crate::support::program;
use lgm::draw::{Drawing, Kind, Refusal};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;

/// A grid of resistors, optionally with a capacitor to the reference at each node.
fn grid(rows: usize, columns: usize, storage: bool) -> String {
    let mut text =
        format!("model Grid {{ param R = 2; param C = 1; input u = 1; node v[{rows}, {columns}] : electrical;");
    text += "src : CurrentSource(u) gnd -> v[1, 1];";
    let _ = write!(
        text,
        "for i in 1:{rows} {{ for j in 1:{} {{ h[i, j] : Resistor(R) v[i, j] -> v[i, j + 1]; }} }}",
        columns - 1
    );
    let _ = write!(
        text,
        "for i in 1:{} {{ for j in 1:{columns} {{ w[i, j] : Resistor(R) v[i, j] -> v[i + 1, j]; }} }}",
        rows - 1
    );
    match storage {
        true => {
            _ = write!(
                text,
                "for i in 1:{rows} {{ for j in 1:{columns} {{ c[i, j] : Capacitor(C) v[i, j] -> gnd; }} }}"
            )
        }
        false => _ = write!(text, "last : Capacitor(C) v[{rows}, {columns}] -> gnd;"),
    }
    text + "output y = across(h[1, 1]); }"
}

/// A chain of n masses, with a spring and a damper between neighbours.
fn chain(count: usize) -> String {
    format!(
        "model Chain {{ param m = 1; param k = 2; param b = 3; input F = 1; node x[{count}] : translational;
        drive : ForceSource(F) gnd -> x[1];
        for i in 1:{count} {{ mass[i] : Mass(m) x[i] -> gnd; }}
        for i in 1:{} {{ spring[i] : Spring(k) x[i] -> x[i + 1]; damper[i] : Damper(b) x[i] -> x[i + 1]; }}
        wall : Spring(k) x[{count}] -> gnd;
        output v = across(mass[{count}]); }}",
        count - 1
    )
}

/// Three components of one definition in a row, and a signal into one of them.
const CELLS: &str = "component Cell(R, C) {
      port a, b : electrical;
      node m : electrical;
      r1 : Resistor(R) a -> m;
      r2 : Resistor(R) m -> b;
      c : Capacitor(C) m -> gnd;
    }
    component Amplifier(A) {
      port plus, minus, out : electrical;
      stage : VoltageSource(A*(across(plus) - across(minus))) out -> gnd;
    }
    model Cells {
      param R = 1; param C = 2; param A = 3; input u = 1;
      node p, q, s, t, o : electrical;
      src : VoltageSource(u) p -> gnd;
      first : Cell(R, C) (a = p, b = q);
      second : Cell(R, C) (a = q, b = s);
      third : Cell(R, C) (a = s, b = t);
      load : Resistor(R) t -> gnd;
      amplifier : Amplifier(A) (plus = t, minus = gnd, out = o);
      end : Resistor(R) o -> gnd;
      output y = across(end);
    }";

/// Two couplers with a port between two nodes.
const BETWEEN: &str = "model Between {
      param n = 2; param R = 1; input u = 1;
      node a, b, c, d : electrical;
      src : VoltageSource(u) a -> gnd;
      t : Transformer(n) a -> b, c -> d;
      r : Resistor(R) b -> gnd;
      r2 : Resistor(R) c -> gnd;
      l : Inductor(R) d -> gnd;
      g : Gyrator(n) b -> d, c -> gnd;
      output y = across(r);
    }";

#[test]
fn grids_chains_components_and_conflicts_show_everything_once_and_no_line_lies_at_a_mark() {
    let mut texts = vec![
        ("cells".to_string(), CELLS.to_string()),
        ("between".to_string(), BETWEEN.to_string()),
    ];
    for (rows, columns) in [(2, 3), (2, 5), (3, 3), (4, 4), (3, 6), (5, 5)] {
        texts.extend(
            [true, false].map(|storage| (format!("{rows} by {columns}, {storage}"), grid(rows, columns, storage))),
        );
    }
    texts.extend([2, 3, 10, 30, 100].map(|count| (format!("chain of {count}"), chain(count))));
    let mut said = String::new();
    for (name, text) in texts {
        let compilation = compilation(&text, None);
        for kind in [Kind::LinearGraph, Kind::BondGraph] {
            let drawing = drawn(&compilation, kind).unwrap();
            for fault in faults(&compilation, &drawing) {
                said += &format!("{name}, {kind:?}: {fault}\n");
            }
        }
    }
    assert!(said.is_empty(), "{said}");
}

#[test]
fn grids_are_drawn_as_grids() {
    let drawing = drawing(&grid(3, 4, true), Kind::LinearGraph);
    let rounded = |value: f64| (value * 10.0).round() as i64;
    let columns: BTreeSet<i64> = drawing.nodes.iter().map(|node| rounded(node.at.x)).collect();
    let rows: BTreeSet<i64> = drawing.nodes.iter().map(|node| rounded(node.at.y)).collect();
    assert_eq!((columns.len(), rows.len()), (4, 3));
    // The first node is at the upper left, and its neighbour in the same row.
    let at = |name: &str| drawing.nodes.iter().find(|node| node.id == name).unwrap().at;
    assert!(at("v[1, 1]").x < at("v[1, 2]").x && at("v[1, 1]").y < at("v[2, 1]").y);
    assert_eq!(at("v[1, 1]").y, at("v[1, 2]").y);
}

#[test]
fn couplers_between_two_nodes_keep_their_dashed_line() {
    let drawing = drawing(BETWEEN, Kind::LinearGraph);
    for (coupler, ports) in [("t", ["t.a", "t.b"]), ("g", ["g.a", "g.b"])] {
        let own: Vec<_> = drawing
            .couplings
            .iter()
            .filter(|coupling| coupling.element == coupler)
            .collect();
        let joints: Vec<_> = own.iter().flat_map(|coupling| &coupling.joints).collect();
        for port in ports {
            let edge = drawing.edges.iter().find(|edge| edge.name == port).unwrap();
            let is_on = |at: &lgm::draw::Point| {
                edge.path.windows(2).any(|pair| {
                    let (a, b) = (pair[0], pair[1]);
                    (a.distance(*at) + at.distance(b) - a.distance(b)).abs() < 0.1
                })
            };
            assert!(joints.iter().any(|joint| is_on(joint)), "{port}: {joints:?}");
        }
    }
}

#[test]
fn velocities_that_are_states_are_branches_of_the_tree() {
    let text = fs::read_to_string(program::example("governor.lgm")).unwrap();
    let drawing = drawing(&text, Kind::LinearGraph);
    let own = drawing
        .edges
        .iter()
        .filter(|edge| edge.name.starts_with("velocity of "));
    let own: Vec<Option<bool>> = own.map(|edge| edge.tree).collect();
    assert_eq!(own, [Some(true)]);
}

/// A branch with its ends, in either order.
fn ends(drawing: &Drawing, name: &str) -> [String; 2] {
    let edge = drawing.edges.iter().find(|edge| edge.name == name).unwrap();
    let mut ends = [edge.from.clone(), edge.to.clone()];
    ends.sort();
    ends
}

#[test]
fn a_model_of_junctions_is_drawn_as_the_linear_graph_that_it_has() {
    let text = fs::read_to_string(program::example("lever.lgm")).unwrap();
    let drawing = drawing(&text, Kind::LinearGraph);
    let named = |a: &str, b: &str| [a.to_string(), b.to_string()];
    for (name, node) in [("SE", "A"), ("I1", "A"), ("T.in", "A"), ("T.out", "B"), ("I2", "B")] {
        assert_eq!(ends(&drawing, name), named(node, "gnd"), "{name}");
    }
    // I1 sets the velocity, and the dependent I2 follows.
    let tree = |name: &str| drawing.edges.iter().find(|edge| edge.name == name).unwrap().tree;
    assert_eq!(
        (tree("I1"), tree("I2"), tree("SE")),
        (Some(true), Some(false), Some(false))
    );
    assert_eq!(drawing.couplings.len(), 1);
}

/// A linear graph is converted to a bond graph, and that bond graph, written as text, back to the linear graph.
#[test]
fn a_ring_of_junctions_is_the_bridge_that_it_stands_for() {
    let text = "model Bridge {
      param r = 2; param c = 3; input u = 1;
      zero X, Y, Z; one A, B, D, E;
      SE : Se(u); R1 : R(r); R2 : R(r); R3 : R(r); C1 : C(c); C2 : C(c);
      SE -> X;
      X -> A; A -> R1; A -> Y;
      X -> B; B -> R2; B -> Z;
      Y -> D; D -> R3; D -> Z;
      Y -> C1; Z -> C2; Z -> E; E -> Gone; Gone : R(r);
      output e = effort(C2);
    }";
    let drawing = drawing(text, Kind::LinearGraph);
    for (name, a, b) in [
        ("R1", "X", "Y"),
        ("R2", "X", "Z"),
        ("R3", "Y", "Z"),
        ("C1", "Y", "gnd"),
        ("C2", "Z", "gnd"),
        ("SE", "X", "gnd"),
    ] {
        let mut wanted = [a.to_string(), b.to_string()];
        wanted.sort();
        assert_eq!(ends(&drawing, name), wanted, "{name}");
    }
}

/// The across variables y, z, y - z and y + z cannot all be differences of potentials.
pub(crate) const NO_GRAPH: &str = "model NoGraph {
  param m = 3; input F = 1;
  one A, B; zero Y, Z;
  SE : Se(F); I1 : I(m); I2 : I(m); C1 : C(m); C2 : C(m);
  SE -> A; A -> I1; A -> Y; A -> Z;
  Y -> C1; Z -> C2;
  Y -> B; B -> Z; B -> I2;
  output f = flow(I2);
}
";

#[test]
fn junctions_that_are_those_of_no_graph_are_said_to_be_so() {
    let refused = drawn(&compilation(NO_GRAPH, None), Kind::LinearGraph).unwrap_err();
    let Refusal::NoLinearGraph(reason) = refused else {
        panic!("{refused:?}");
    };
    assert!(
        reason.contains("do not correspond to a graph") && reason.contains("`C2`"),
        "{reason}"
    );
    assert!(drawn(&compilation(NO_GRAPH, None), Kind::BondGraph).is_ok());
}
