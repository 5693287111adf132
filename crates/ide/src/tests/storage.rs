//! The hovers of storage and of its equations, in loops, in components and in nonlinear models.

use crate::Snapshot;
use lgm_source::NoFiles;
use lgm_source::cancellation::Cancellation;

fn snapshot(text: &str) -> Snapshot {
    Snapshot::new(&NoFiles, None, "model.lgm", text, Cancellation::default())
}

/// Nonlinear models, with their assignments and loops.
const EXAMPLES: [&str; 3] = [
    include_str!("../../../../examples/slider_crank.lgm"),
    include_str!("../../../../examples/four_bar.lgm"),
    include_str!("../../../../examples/two_link_arm.lgm"),
];

/// Returns the hover at the beginning of some words.
#[track_caller]
fn hover(text: &str, words: &str) -> String {
    let found = snapshot(text);
    let at = text.find(words).expect("the words") + words.len() - words.trim_start().len();
    found.hover((found.root(), at as u32)).expect("a hover").markdown
}

/// Returns each hint of causality, with the text before it in its line.
fn hints(text: &str) -> Vec<String> {
    let hints = snapshot(text).hints().into_iter();
    let hints = hints.filter(|hint| hint.kind == crate::HintKind::Causality);
    let shown = hints.map(|hint| {
        let before = &text[..hint.at as usize];
        let line = before.rsplit('\n').next().unwrap_or(before);
        let line = line.split([':', '=']).next().unwrap_or(line).trim();
        format!("{line} «{}»", hint.text)
    });
    shown.collect()
}

const ON_ONE_NODE: &str = "model Mix {
  node x : translational;
  f : ForceSource(1) gnd -> x;
  for i in 1:3 {
    m[i] : Mass(i*1 [kg]) x -> gnd;
  }
}
";

const GEARED: &str = "component Two(J1 [kg.m^2], J2 [kg.m^2], n) {
  port s, l : rotational;
  j1 : Inertia(J1) s -> gnd;
  g : Transformer(n) s -> gnd, l -> gnd;
  j2 : Inertia(J2) l -> gnd;
}
model Geared {
  node a, b, c, d : rotational;
  t : TorqueSource(1 [N.m]) gnd -> a;
  p : Two(J1 = 1 [kg.m^2], J2 = 2 [kg.m^2], n = 2) (s = a, l = b);
  k : TorsionSpring(5 [N.m/rad]) b -> c;
  q : Two(J1 = 3 [kg.m^2], J2 = 4 [kg.m^2], n = 3) (s = c, l = d);
}
";

#[test]
fn what_follows_in_a_loop_is_distinguished_from_what_keeps_its_state() {
    assert_eq!(hints(ON_ONE_NODE), ["m[i] «state m[1].v; m[2], m[3] follow m[1]»"]);
    let words = hover(ON_ONE_NODE, "    m[");
    assert!(words.contains("Integral causality, state `m[1].v`."), "{words}");
    assert!(
        words.contains("Derivative causality: `m[2]`, `m[3]` have no states of their own and follow from `m[1]`."),
        "{words}"
    );
    let pairs = "model Pairs {\n  node x[2] : translational;\n  node y[2] : translational;\n  for i in 1:2 {\n    \
                 m[i] : Mass(i*1 [kg]) x[i] -> gnd;\n    g[i] : Transformer(2) x[i] -> gnd, y[i] -> gnd;\n    \
                 q[i] : Mass(4 [kg]) y[i] -> gnd;\n  }\n}\n";
    assert_eq!(
        hints(pairs),
        [
            "m[i] «states m[1].v, m[2].v»",
            "q[i] «q[1] follows m[1]; q[2] follows m[2]»"
        ]
    );
    assert!(hover(pairs, "    q[").contains("`q[2]` has no state of its own and follows from `m[2]`"));
    // Long lists are truncated.
    let long = ON_ONE_NODE.replace("1:3", "1:30");
    assert_eq!(
        hints(&long),
        ["m[i] «state m[1].v; m[2], m[3], m[4], .. (29) follow m[1]»"]
    );
}

#[test]
fn what_follows_in_a_component_is_shown_where_it_is_used_and_where_it_is_declared() {
    assert_eq!(
        hints(GEARED),
        [
            "j1 «states p.j1.w, q.j1.w»",
            "j2 «p.j2 follows p.j1; q.j2 follows q.j1»",
            "p «state p.j1.w; p.j2 follows p.j1»",
            "k «state k.tau»",
            "q «state q.j1.w; q.j2 follows q.j1»"
        ]
    );
    let words = hover(GEARED, "  p :");
    assert!(
        words.contains("`p.j2` has no state of its own and follows from `p.j1`"),
        "{words}"
    );
    assert!(hover(GEARED, "  j2 :").contains("`q.j2` has no state of its own"));
}

#[test]
fn states_that_are_declared_in_a_component_and_those_of_outputs_are_shown() {
    let text = "component Measured {\n  port a : translational;\n  m : Mass(1) a -> gnd;\n  state far = int(across(a));\n}\n\
                model M {\n  node x : translational;\n  p : Measured() (a = x);\n  state near = int(p.far);\n  \
                output y = int(near);\n}\n";
    assert_eq!(
        hints(text),
        [
            "m «state p.m.v»",
            "state far «state p.far»",
            "p «states p.m.v, p.far»",
            "state near «state near»",
            "output y «state y»"
        ]
    );
}

#[test]
fn the_equivalent_is_shown_over_the_parameters_and_as_a_number() {
    let text = "model M {\n  param a = 2 [kg];\n  param b = 3 [kg];\n  node x : translational;\n  m : Mass(a) x -> gnd;\n  \
                n : Mass(b) x -> gnd;\n}\n";
    let words = hover(text, "  n :");
    assert!(words.contains("Equivalent: `a + b`, which is `5` kg."), "{words}");
}

#[test]
fn equations_are_those_of_the_terminal_with_what_their_names_stand_for() {
    for text in EXAMPLES {
        let found = snapshot(text);
        let name = text.lines().next().unwrap_or_default();
        let system = found.system().expect("equations");
        let place = system.states[0].span;
        let shown = found.hover((place.source, place.start)).expect("a hover").markdown;
        let equation = system.read_equation(0);
        let right = lgm_algebra::expr::text(&system.exprs, equation.right);
        assert!(
            shown.contains(&format!("{} = {right}", equation.left)),
            "{name}: {shown}"
        );
        // Every shown name of an assignment is also defined there.
        for assignment in system.read_assignments() {
            let name = &*system.exprs.symbol_info(assignment.symbol).name;
            let is_cut = shown.contains(", which `lgm equations` prints");
            if lgm_source::words::has_word(&shown, name) && !is_cut {
                assert!(shown.contains(&format!("\n{name} = ")), "{name}: {shown}");
            }
        }
    }
}

#[test]
fn another_model_of_the_text_can_be_asked_about() {
    let text = "model A { node x : translational; m : Mass(1) x -> gnd; }\nmodel B { node x : translational; n : Mass(1) x -> gnd; }\n";
    let found = snapshot(text);
    let name = |snapshot: &Snapshot| snapshot.system().map(|system| system.states[0].name.to_string());
    assert_eq!(name(&found).as_deref(), Some("n.v"));
    assert_eq!(name(&found.of_model("A").expect("another one")).as_deref(), Some("m.v"));
    assert!(found.of_model("B").is_none());
}

#[test]
fn storage_of_vector_nodes_has_hints_of_all_entries() {
    let text = "model V {\n  node q[2] vector : translational;\n  m : Mass([[1, 0], [0, 2]]) q -> gnd;\n  \
                s : Spring([[3, 0], [0, 4]]) q -> gnd;\n  n : Mass([[5, 1], [1, 6]]) q -> gnd;\n  state y = int(across(m));\n}\n";
    let found = Snapshot::new(&NoFiles, None, "model.lgm", text, Cancellation::default());
    let hints = found.hints();
    let words: Vec<&str> = hints.iter().map(|hint| &*hint.text).collect();
    assert_eq!(
        words,
        [
            "states m.v[1], m.v[2]",
            "states s.F[1], s.F[2]",
            "follows m",
            "states y[1], y[2]"
        ]
    );
    // The equivalent of both masses, over all entries.
    assert!(
        hints[2].tooltip.contains("Equivalent: `[[6, 1], [1, 8]]` kg"),
        "{}",
        hints[2].tooltip
    );
}
