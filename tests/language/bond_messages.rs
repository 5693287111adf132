//! Messages for typical beginners' bond graphs, root cause first; and the names of bond graph variables.

use lgm::diagnostic::{Diagnostic, has_errors};
use lgm::equations::StateSystem;
use lgm::rendering::render;
use lgm::source::{NoFiles, SourceMap};

fn compiled(text: &str) -> (Option<StateSystem>, Vec<Diagnostic>, String) {
    let mut map = SourceMap::default();
    let root = map.add("model.lgm", text, None);
    let (system, found) = lgm::compile(&NoFiles, &mut map, root, &lgm::Request::default());
    let shown = render(&map, &found, false);
    (system, found, shown)
}

/// Asserts a single error with this code and text.
fn one_error(text: &str, code: &str, words: &[&str]) {
    let (_, found, shown) = compiled(text);
    assert!(found.len() == 1 && has_errors(&found), "{shown}\n{text}");
    assert_eq!(found[0].code, code, "{shown}");
    for word in words {
        assert!(shown.contains(word), "`{word}` is not said:\n{shown}");
    }
}

fn system(text: &str) -> StateSystem {
    let (system, _, shown) = compiled(text);
    system.unwrap_or_else(|| panic!("{shown}\n{text}"))
}

const PLATE: &str = "element Plate(k) : bond { port el, mech;
  el.effort = k*int(el.flow)*(1 + int(mech.flow)); mech.effort = k*int(el.flow)^2/2; }
";

#[test]
fn states_of_a_field_are_named_after_its_ports_in_their_order() {
    let text = "element Tri(k) : bond { port a, b, c;
  a.effort = k*int(b.flow)*int(c.flow);  b.effort = k*int(a.flow)*int(c.flow);  c.effort = k*int(a.flow)*int(b.flow); }
model T { one x, y, z;  f : Tri(2), start = [0.1, 0.2, 0.3];  ix : I(1);  iy : I(1);  iz : I(1);
  x -> f.a;  y -> f.b;  z -> f.c;  x -> ix;  y -> iy;  z -> iz;  output e = effort(f.a); }";
    let system = system(text);
    let names: Vec<(&str, f64)> = system
        .states
        .iter()
        .map(|state| (&*state.name, state.start_value))
        .collect();
    let held: Vec<_> = names.iter().filter(|state| state.0.starts_with("f.")).collect();
    assert_eq!(held, [&("f.a.q", 0.1), &("f.b.q", 0.2), &("f.c.q", 0.3)]);
}

#[test]
fn states_of_a_field_of_a_linear_graph_and_of_a_vector_have_names_of_their_own() {
    let text = "element Net(k, p) : translational { port a, b;
  a.through = k*int(a.across)^3 + p*int(b.across)^2*int(a.across);  b.through = p*int(a.across)^2*int(b.across); }
model M { param p = 3;  node x, y : translational;  f : ForceSource(1) gnd -> x;  m : Mass(1) x -> gnd;  n : Mass(1) y -> gnd;
  s : Net(2, p) x -> gnd, y -> gnd, start = [0.5, 0.25];  output v = across(m); }";
    let names: Vec<String> = system(text).states.iter().map(|state| state.name.to_string()).collect();
    assert_eq!(names, ["m.v", "n.v", "s.a.int_v", "s.b.int_v"]);
}

/// An output and a state may have the same name; the state of the output's integral then gets another name.
#[test]
fn states_have_different_names() {
    let text = "model M { node x : translational;  m : Mass(1) x -> gnd;  d : Damper(1) x -> gnd;  f : ForceSource(1) gnd -> x;
  state y = int(2*across(x));  output y = int(3*across(x)^2); }";
    let mut names: Vec<String> = system(text).states.iter().map(|state| state.name.to_string()).collect();
    names.sort();
    let count = names.len();
    names.dedup();
    assert_eq!((count, names.len()), (3, 3), "{names:?}");
}

#[test]
fn a_bond_to_a_port_of_a_field_can_be_measured() {
    let text = format!(
        "{PLATE}model M {{ one a, b;  m : I(1);  f : Plate(2), start = [1, 0.5];  r : R(2);
  a -> f.el;  a -> r;  b -> f.mech;  b -> m;
  output e = effort(a -> f.el);  output same = effort(f.el);  output g = effort(b -> f.mech); }}"
    );
    let system = system(&text);
    assert_eq!(system.equations.output_values[0], system.equations.output_values[1]);
    assert_ne!(system.equations.output_values[0], system.equations.output_values[2]);
    let text = format!(
        "{PLATE}model M {{ one a, b;  m : I(1);  f : Plate(2);  r : R(2);
  a -> f.el;  a -> r;  b -> f.mech;  b -> m;  output e = effort(a -> f.mech); }}"
    );
    one_error(&text, "LGM0142", &["no such bond is drawn"]);
}

#[test]
fn a_source_with_two_bonds_is_the_only_fault() {
    one_error(
        "model M { input u = 1; SE : Se(u); r : R(2); l : I(3); SE -> r; SE -> l; output i = flow(l); }",
        "LGM0309",
        &["`SE` has 2 bonds"],
    );
}

#[test]
fn a_bond_to_a_field_names_its_port() {
    let text = format!(
        "{PLATE}model M {{ input u = 1; one a, b; SE : Se(u); r : R(2); f : Plate(3); SE -> a -> r; a -> f; b -> f; output i = flow(a); }}"
    );
    one_error(
        &text,
        "LGM0309",
        &["a bond to `f` must name its port", "`A -> f.el;`", "`el`, `mech`"],
    );
}

#[test]
fn ports_of_components_are_bound_in_parentheses() {
    let text = "component Motor(K, Ra, La) { port el, sh; one a; r : R(Ra); l : I(La); g : GY(K); el -> a -> r; a -> l; a -> g -> sh; }
model Word { input u = 1; one s; SE : Se(u); m : Motor(K = 0.5, Ra = 2, La = 0.1); SE -> m.el; m.sh -> s; j : I(3); s -> j; output w = flow(s); }";
    let (_, found, shown) = compiled(text);
    assert!(found.iter().all(|found| found.code == "LGM0302"), "{shown}");
    assert!(shown.contains("in parentheses after the parameters"), "{shown}");
    assert!(shown.contains("no bond can end at the port of a component"), "{shown}");
}

#[test]
fn elements_are_declared_and_chains_hold_names() {
    let around =
        |chain: &str| format!("model M {{ input u = 1; one a; SE : Se(u); SE -> a; {chain} output f = flow(a); }}");
    one_error(&around("a -> C:c1;"), "LGM0046", &["`c1 : C(value);`", "`J -> c1;`"]);
    one_error(&around("a -> I(2);"), "LGM0046", &["declare it first"]);
    one_error(&around("a -> I;"), "LGM0111", &["`I` is a kind of element"]);
}

#[test]
fn arrows_point_one_way() {
    one_error(
        "model M { input u = 1; one a; SE : Se(u); r : R(2); l : I(3); SE -> a; r <- a; a -> l; output i = flow(a); }",
        "LGM0046",
        &["arrows are written `->`", "`a -> r;`"],
    );
}

#[test]
fn modulated_kinds_are_the_plain_ones() {
    for (written, meant) in [("MTF(2)", "TF"), ("mtf(2)", "TF"), ("MGY(2)", "GY"), ("tf(2)", "TF")] {
        one_error(
            &format!(
                "model M {{ input u = 1; one a, b; SE : Se(u); T : {written}; l : I(3); SE -> a -> T -> b -> l; output f = flow(a); }}"
            ),
            "LGM0149",
            &[&format!("write `{meant}`"), "the kind is the same"],
        );
    }
    for written in ["MSe(u)", "SE(u)", "MSE(u)"] {
        one_error(
            &format!(
                "model M {{ input u = 1; one a; S : {written}; l : I(3); r : R(1); S -> a -> l; a -> r; output f = flow(a); }}"
            ),
            "LGM0149",
            &["write `Se`"],
        );
    }
}

#[test]
fn slips_of_newcomers_lead_to_what_is_meant() {
    let model = |body: &str| format!("model M {{ one A; S : Se(1); m : I(2); r : R(1); {body} output f = flow(m); }}");
    one_error(
        &model("S -> A -> m, r;"),
        "LGM0046",
        &["a sequence of arrows", "`A -> r;`"],
    );
    one_error(
        "model M { 1 A; S : Se(1); m : I(2); S -> A -> m; output f = flow(m); }",
        "LGM0046",
        &["declare a 1-junction with `one`", "`one A;`"],
    );
    one_error(
        "model M { S : Se(1); m : I(2); S -> J -> m; output f = flow(m); }",
        "LGM0111",
        &["`one J;`", "`zero J;`"],
    );
    one_error(
        "model M { one A; m : I(2, p0 = 1); c : C(1); A -> m; A -> c; output f = flow(m); }",
        "LGM0131",
        &["`start` follows the element", "`m : I(..), start = ..;`"],
    );
    let (_, found, shown) = compiled(
        "model M { one A, B; g : GY(2); m : I(1); S : Se(1); S -> A -> g.1; g.2 -> B -> m; output f = flow(m); }",
    );
    assert!(found.iter().all(|found| found.code == "LGM0003"), "{shown}");
    assert!(shown.contains("by its name"), "{shown}");
    one_error(
        "model M { node a : electrical; v : VoltageSource(5) a -> gnd; r : Resistor(1k) a -> gnd; output i = through(r); }",
        "LGM0039",
        &["`1e3`", "`1 [kohm]`"],
    );
}

/// The article must fit: a 1-junction lacks "an effort", not "a effort".
#[test]
fn words_have_their_articles() {
    one_error(
        "model M { one a; zero b; f : Se(2); r : R(1); a -> b; f -> b; b -> r; output x = effort(b); }",
        "LGM0301",
        &["absorbs an effort"],
    );
}
