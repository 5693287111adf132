//! States are chosen by how well they determine the rest.

use lgm::Request;
use lgm::diagnostic::render;
use lgm::equations::StateSystem;
use lgm::source::{NoFiles, SourceMap};

fn compile(text: &str, retain: &[&str]) -> (StateSystem, String) {
    let mut map = SourceMap::default();
    let root = map.add("model.lgm", text, None);
    let mut request = Request {
        verify: true,
        ..Request::default()
    };
    request.equations.retain = retain.iter().map(|name| name.to_string()).collect();
    let (system, diagnostics) = lgm::compile(&NoFiles, &mut map, root, &request);
    let told = render(&map, &diagnostics, false);
    (system.unwrap_or_else(|| panic!("{told}")), told)
}

fn states(system: &StateSystem) -> Vec<&str> {
    system.states.iter().map(|state| &*state.name).collect()
}

/// Two capacitors into the input of an amplifier of gain 1e8: either is the output, nearly, and their difference is the input.
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

/// How much of the errors of states there is in the voltages of the other storage, at most.
fn amplification(system: &StateSystem) -> f64 {
    let form = system.numeric.as_ref().unwrap();
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
            let (system, told) = compile(text, &[]);
            assert!(
                amplification(&system) < 1e3,
                "{:?} {}",
                states(&system),
                amplification(&system)
            );
            assert!(!told.contains("LGM0439"), "{told}");
        }
    }
    // Both hold the voltage of one output, and the other one is a hundred million times their difference.
    let worst = ["a", "d"];
    let (system, told) = compile(AMPLIFIER, &worst);
    assert_eq!(states(&system), ["a.v", "d.v"]);
    assert!(
        amplification(&system) > 1e6 && told.contains("LGM0439"),
        "{} {told}",
        amplification(&system)
    );
}

/// Capacitors whose values lie twelve decades apart: the small one is the difference, not the large one.
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
    // Where nothing is gained, storage keeps its state in the order of declaration.
    let (alike, _) = compile(&text.replace("1e-12", "0.01"), &[]);
    assert_eq!(states(&alike), ["c1.v", "c2.v"]);
}
