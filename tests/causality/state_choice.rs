//! States are chosen by how well they determine the other storage.

use lgm::Request;
use lgm::equations::StateSystem;
use lgm::rendering::render;
use lgm::source::{NoFiles, SourceMap};

pub(crate) fn compile(text: &str, retain: &[&str]) -> (StateSystem, String) {
    let mut map = SourceMap::default();
    let root = map.add("model.lgm", text, None);
    let mut request = Request {
        verify: true,
        ..Request::default()
    };
    request.equations.retain = retain.iter().map(|name| name.to_string()).collect();
    let (system, diagnostics) = lgm::compile(&NoFiles, &mut map, root, &request);
    let reported = render(&map, &diagnostics, false);
    (system.unwrap_or_else(|| panic!("{reported}")), reported)
}

fn states(system: &StateSystem) -> Vec<&str> {
    system.states.iter().map(|state| &*state.name).collect()
}

/// Two capacitors at the input of an amplifier of gain 1e8: either voltage is nearly the output, and their difference
/// is the input.
const AMPLIFIER: &str = "model M {
  param A = 1e8;
  input u = 1;
  node s, n, o, m, p : electrical;
  src : VoltageSource(u) s -> gnd;
  r1 : Resistor(1) s -> n;
  a  : Capacitor(1) p -> n;
  b  : Capacitor(1) n -> o;
  c  : Capacitor(1) m -> o;
  d  : Capacitor(1) p -> m;
  r2 : Resistor(1) n -> gnd;
  r3 : Resistor(1) m -> s;
  first  : VoltageSource(-A*across(n)) o -> gnd;
  second : VoltageSource(-A*across(m)) p -> gnd;
  output x = across(o);
  output y = across(p);
}";

/// The maximum amplification of state errors in the voltages of the other storage.
fn amplification(system: &StateSystem) -> f64 {
    let form = system.matrices.numeric.as_ref().unwrap();
    form.c
        .rows
        .iter()
        .flatten()
        .map(|entry| entry.1.abs())
        .fold(0.0, f64::max)
}

#[test]
fn amplifiers_keep_states_that_determine_their_outputs() {
    for lines in [
        ["a  : Capacitor(1) p -> n;", "b  : Capacitor(1) n -> o;"],
        ["c  : Capacitor(1) m -> o;", "d  : Capacitor(1) p -> m;"],
    ] {
        let [first, second] = lines;
        let swapped = AMPLIFIER
            .replace(first, "FIRST")
            .replace(second, first)
            .replace("FIRST", second);
        for text in [AMPLIFIER, &swapped] {
            let (system, reported) = compile(text, &[]);
            assert!(
                amplification(&system) < 1e3,
                "{:?} {}",
                states(&system),
                amplification(&system)
            );
            assert!(!reported.contains("LGM0439"), "{reported}");
        }
    }
    // Both have the voltage of one output, and the other one has a hundred million times their difference.
    let worst = ["a", "d"];
    let (system, reported) = compile(AMPLIFIER, &worst);
    assert_eq!(states(&system), ["a.v", "d.v"]);
    assert!(
        amplification(&system) > 1e6 && reported.contains("LGM0439"),
        "{} {reported}",
        amplification(&system)
    );
}

/// Capacitors whose values differ by twelve decades: the small one has the difference, not the large one.
#[test]
fn a_large_capacitor_is_no_difference_of_small_ones() {
    let text = "model M {
  node a, b : electrical;
  c1 : Capacitor(1e-12) a -> gnd, start = 1;
  c2 : Capacitor(1e-12) b -> gnd;
  c3 : Capacitor(1) a -> b;
  r : Resistor(1) b -> gnd;
  output v = across(c3);
}";
    let (system, _) = compile(text, &[]);
    assert!(states(&system).contains(&"c3.v"), "{:?}", states(&system));
    let (kept, _) = compile(text, &["c1", "c2"]);
    assert_eq!(states(&kept), ["c1.v", "c2.v"]);
    // Without any gain in accuracy, storage keeps its state in the order of declaration.
    let (alike, _) = compile(&text.replace("1e-12", "0.01"), &[]);
    assert_eq!(states(&alike), ["c1.v", "c2.v"]);
}

/// The diagnostics of a model whose requested states are impossible, with the choice and without it.
fn refused(text: &str, retain: &[&str]) -> String {
    let mut map = SourceMap::default();
    let root = map.add("model.lgm", text, None);
    let mut request = Request::default();
    request.equations.retain = retain.iter().map(|name| name.to_string()).collect();
    let (system, diagnostics) = lgm::compile(&NoFiles, &mut map, root, &request);
    let reported = render(&map, &diagnostics, false);
    assert!(system.is_none(), "{reported}");
    reported
}

#[track_caller]
fn says(reported: &str, parts: &[&str]) {
    for part in parts {
        assert!(reported.contains(part), "`{part}` is not in\n{reported}");
    }
}

/// Two inertias on rigid gears, and a mass that a source moves.
const GEARS: &str = "model M {
  input u = 1;
  node a, b : rotational;
  node x, y : translational;
  drive : TorqueSource(u) gnd -> a;
  first : Inertia(2) a -> gnd;
  gear : Transformer(3) a -> gnd, b -> gnd;
  second : Inertia(5) b -> gnd;
  push : VelocitySource(sin(time)) x -> gnd;
  moved : Mass(1) x -> gnd;
  tie : Spring(4) x -> y;
  free : Mass(1) y -> gnd;
  output w = across(first);
}";

#[test]
fn what_cannot_be_retained_is_refused_with_the_reason() {
    assert_eq!(states(&compile(GEARS, &[]).0), ["first.w", "tie.F", "free.v"]);
    assert_eq!(states(&compile(GEARS, &["second"]).0), ["second.w", "tie.F", "free.v"]);
    let both = refused(GEARS, &["second", "first"]);
    says(
        &both,
        &[
            "LGM0927",
            "`first` cannot keep its state",
            "follows from `second`",
            "retained earlier",
            "put it before",
        ],
    );
    let driven = refused(GEARS, &["moved"]);
    says(&driven, &["LGM0927", "follows from `push`", "`push` always determines"]);
    assert!(!driven.contains("retained earlier"), "{driven}");
    // A factor of 2 in accuracy does not change the choice.
    assert_eq!(states(&compile(GEARS, &["second", "second"]).0)[0], "second.w");
}

#[test]
fn names_that_are_not_storage_are_answered_with_those_that_are() {
    says(
        &refused(GEARS, &["secnod"]),
        &["LGM0904", "no element `secnod`", "did you mean `second`?"],
    );
    says(
        &refused(GEARS, &["xyzzy"]),
        &["LGM0904", "storage elements are `first`, `second`, `moved` and 2 more"],
    );
    says(
        &refused(GEARS, &["push"]),
        &["LGM0904", "not a storage element", "storage elements are"],
    );
    let static_model = "model M { node a : electrical; s : VoltageSource(1) a -> gnd; r : Resistor(1) a -> gnd; }";
    says(&refused(static_model, &["r"]), &["LGM0904", "no storage elements"]);
}

/// A pendulum of a point mass on an arm, and a varactor in parallel with a capacitor.
const NONLINEAR: &str = "element Varactor(a, b) : electrical { across = a*int(through) + b*int(through)^3; }
model M {
  input u = 1;
  node w : rotational;
  node p[2] vector : translational;
  node n : electrical;
  state theta = int(across(w)), start = 0.3;
  arm : Transformer([[1 [m]*cos(theta)], [1 [m]*sin(theta)]]) w -> gnd, p -> gnd;
  rim : Inertia(1) w -> gnd;
  bob : Mass(1) p -> gnd;
  src : CurrentSource(u) gnd -> n;
  c : Capacitor(2) n -> gnd;
  v : Varactor(1, 0.1) n -> gnd;
  r : Resistor(1) n -> gnd;
  output y = across(c);
}";

#[test]
fn nonlinear_storage_is_retained_or_refused_as_linear_storage_is() {
    // Their total charge is the state of the capacitor; the varactor has a separate state only on request.
    for retained in [&["c"][..], &[]] {
        let (system, reported) = compile(NONLINEAR, retained);
        assert!(states(&system).contains(&"c.total_int_i"), "{:?}", states(&system));
        assert!(!reported.contains("LGM0449"), "{reported}");
    }
    let (system, _) = compile(NONLINEAR, &["v"]);
    assert!(states(&system).contains(&"v.int_i"), "{:?}", states(&system));
    says(
        &refused(NONLINEAR, &["v", "c"]),
        &["`c` cannot keep", "follows from `v`"],
    );
    says(
        &refused(NONLINEAR, &["c", "v"]),
        &["`v` cannot keep", "follows from `c`"],
    );
    let geometry = refused(NONLINEAR, &["bob"]);
    says(
        &geometry,
        &["LGM0927", "follows from `rim`", "a modulus depends on a displacement"],
    );
}

/// A winding around a saturating core: the rate of its current would be a narrow pulse that steps and error estimates
/// miss. The flux linkage of both is therefore the state for any law; if it cannot be written this way, a warning is
/// printed.
#[test]
fn nonlinear_storage_without_a_state_shares_a_conserved_quantity_or_is_warned_of() {
    let core = |law: &str, more: &str| {
        format!(
            "element Core() : electrical {{ {law} }}
model M {{
  input u = 10*sin(314*time);
  node a, b, c : electrical;
  source : VoltageSource(u) a -> gnd;
  copper : Resistor(1) a -> b;
  leakage : Inductor(1e-3) b -> c;
  core : Core() c -> gnd;
  {more}
  output i = through(leakage);
}}"
        )
    };
    let sharp = "int(across) = 0.03*tanh(through/0.01) + 0.001*through;";
    for law in [
        sharp,
        "int(across) = 0.03*tanh(through/5) + 0.001*through;",
        "int(across) = 0.01*through + 0.1*through^3;",
        "through = int(across)/0.2 + (int(across)/0.01)^5;",
    ] {
        let (system, reported) = compile(&core(law, ""), &[]);
        assert_eq!(states(&system), ["leakage.total_int_v"]);
        assert!(!reported.contains("LGM0449"), "{reported}");
    }
    let (system, reported) = compile(&core(sharp, ""), &["core"]);
    assert!(!reported.contains("LGM0449"), "{reported}");
    assert_eq!(states(&system), ["core.int_v"]);
    // A coil driven by the square of the core's voltage: no total has that rate.
    let driven = "node d : electrical;
  probe : VoltageSource(0.1*across(core)^2) d -> gnd;
  coil : Inductor(1) d -> gnd;";
    let (_, reported) = compile(&core(sharp, driven), &[]);
    says(
        &reported,
        &[
            "LGM0449",
            "`core` and other storage determine each other",
            "another `--retain`",
        ],
    );
}

/// A mass in the plane on a rail: one of its two components is free.
#[test]
fn storage_that_keeps_some_of_its_states_is_remarked_upon() {
    let text = "model M {
      node s : translational;
      node p[2] vector : translational;
      slide : Transformer([[0.6], [0.8]]) s -> gnd, p -> gnd;
      cart : Mass(1) s -> gnd;
      load : Mass(2) p -> gnd;
      spring : Spring(4) s -> gnd;
      output v = across(cart);
    }";
    let (system, reported) = compile(text, &["load"]);
    assert_eq!(states(&system), ["load.v[1]", "spring.F"]);
    says(
        &reported,
        &["LGM0927", "keeps 1 of its 2 states", "its own other entries"],
    );
}
