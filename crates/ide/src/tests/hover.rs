//! The hovers of signals, constants, resistors, sources, dependent storage and words.

use crate::Snapshot;
use lgm_source::NoFiles;
use lgm_source::cancellation::Cancellation;

/// Returns the hover text after some words of a text.
fn said(text: &str, words: &str) -> String {
    let at = text.find(words).expect("the words") + words.len();
    let found = Snapshot::new(&NoFiles, None, "model.lgm", text, Cancellation::default());
    let faults = found.problems();
    assert!(faults.iter().all(|fault| fault.is_hint), "{faults:?}");
    found
        .hover((found.root(), at as u32))
        .map_or(String::new(), |hover| hover.markdown)
}

#[track_caller]
fn has(text: &str, words: &str, sentence: &str) {
    let found = said(text, words);
    assert!(found.contains(sentence), "{found}");
}

const CIRCUIT: &str = "component Divider(r) {
  const N = 3;
  signal half = r + 1 [ohm];
  param many = N*r;
  port p, n : electrical;
  upper : Resistor(half) p -> n;
  lower : Resistor(many) p -> n;
}
model Circuit {
  param U = 12 [V];
  node a, b, c : electrical;
  signal doubled = U + U;
  signal fixed = 2 [V] + 4 [V];
  signal sagging = U - 1 [ohm]*through(series);
  feed : VoltageSource(sagging) a -> gnd;
  series : Resistor(10 [ohm]) a -> b;
  store : Capacitor(1 [mF]) b -> gnd;
  bleed : Resistor(1 [kohm]) b -> gnd;
  coil : Inductor(1 [mH]) b -> c;
  end : Resistor(5 [ohm]) c -> gnd;
  one_part : Divider(4 [ohm]) (p = b, n = gnd);
  other_part : Divider(6 [ohm]) (p = b, n = gnd);
  output y = doubled + fixed;
  experiment { stop = 1 [s]; points = 11; method = auto; plot = [y]; }
}
";

#[test]
fn signals_have_their_value_where_it_is_fixed_and_else_their_unit() {
    has(CIRCUIT, "  signal doubled", "signal doubled = U + U;");
    has(CIRCUIT, "  signal doubled", "Value: 24 V");
    has(CIRCUIT, "  signal fixed", "Value: 6 V");
    has(CIRCUIT, "  signal sagging", "In V.");
    assert!(!said(CIRCUIT, "  signal sagging").contains("Value"));
}

#[test]
fn constants_and_signals_of_components_have_the_values_of_all_places() {
    has(CIRCUIT, "  const N", "Value: 3");
    has(CIRCUIT, "  signal half", "Value: 5, 7 ohm");
}

#[test]
fn resistors_say_which_variable_is_given_and_sources_which_one_follows() {
    has(
        CIRCUIT,
        "\n  feed",
        "A source of `v` (across); the rest of the model determines `i` (through).",
    );
    let conductance = "Conductance causality: the rest of the model sets `v` (across), and the law sets `i` (through).";
    has(CIRCUIT, "\n  bleed", conductance);
    let resistance = "Resistance causality: the rest of the model sets `i` (through), and the law sets `v` (across).";
    has(CIRCUIT, "\n  end", resistance);
    // In mechanics the effort is the through variable.
    let damped = "model M {\n  node x : translational;\n  push : ForceSource(1) gnd -> x;\n  m : Mass(1) x -> gnd;\n  \
                  d : Damper(2) x -> gnd;\n}\n";
    has(
        damped,
        "\n  push",
        "A source of `F` (through); the rest of the model determines `v` (across)",
    );
    has(
        damped,
        "\n  d",
        "Resistance causality: the rest of the model sets `v` (across)",
    );
    // In a loop, all instances; on bonds, the terms of bond graphs.
    let loops = "model M {\n  node x[2] : electrical;\n  c : Capacitor(1) x[1] -> gnd;\n  l : Inductor(1) x[1] -> x[2];\n  \
                 for i in 1:2 { r[i] : Resistor(i) x[i] -> gnd; }\n}\n";
    has(loops, "{ r", "`r[1]`: Conductance causality");
    has(loops, "{ r", "`r[2]`: Resistance causality");
    let bonds = "model M {\n  one A : translational;\n  drive : Se(1);\n  m : I(1);\n  d : R(2);\n  drive -> A;\n  A -> m;\n  A -> d;\n}\n";
    has(bonds, "\n  drive", "A source of ");
    // A nonlinear element too.
    let diode = "import nonlinear;\nmodel M {\n  node a : electrical;\n  c : Capacitor(1) a -> gnd, start = 1;\n  d : Diode() a -> gnd;\n}\n";
    has(
        diode,
        "\n  d",
        "Conductance causality: the rest of the model sets `v` (across)",
    );
}

#[test]
fn what_follows_has_its_relation() {
    let geared = "model M {\n  param n = 3;\n  node a, b : rotational;\n  jm : Inertia(1) a -> gnd;\n  g : Transformer(n) a -> gnd, b -> gnd;\n  \
                  jl : Inertia(2) b -> gnd;\n}\n";
    let found = said(geared, "\n  jl");
    assert!(
        found.contains("jl.w = n*jm.w") || found.contains("jl.w = jm.w*n"),
        "{found}"
    );
    assert!(!said(geared, "\n  jm").contains("jl.w ="));
}

#[test]
fn words_and_settings_are_explained_where_they_stand() {
    has(CIRCUIT, "  experiment", "`experiment`: settings of the run");
    has(CIRCUIT, "{ stop", "`stop`: the stop time of the run");
    has(CIRCUIT, "points", "`points`: the number of equally spaced samples");
    has(CIRCUIT, "method", "`method`: the integration method");
    has(CIRCUIT, "plot", "`plot`: the curves of a plot");
    has(CIRCUIT, "  sign", "`signal`: a name for an expression");
    has(CIRCUIT, "\nmod", "`model`: a system to simulate");
    // `start` of storage differs from `start` of an experiment.
    let started = "model M {\n  node x : translational;\n  m : Mass(1) x -> gnd, start = 2;\n}\n";
    has(started, "start", "`start`: the initial value");
}

/// The circuit with errors of several stages: an undeclared name, a wrong unit, a statement that ends too early, and a
/// parameter without a value.
const FAULTY: [(&str, &str); 4] = [
    (
        "  bleed : Resistor(1 [kohm]) b -> gnd;",
        "  bleed : Resistor(nothing) b -> gnd;",
    ),
    ("  coil : Inductor(1 [mH]) b -> c;", "  coil : Inductor(1 [mF]) b -> c;"),
    ("  end : Resistor(5 [ohm]) c -> gnd;", "  end : Resistor(5 [ohm]) c ->;"),
    (
        "  series : Resistor(10 [ohm]) a -> b;",
        "  param R = 1 [ohm]/0;  series : Resistor(R) a -> b;",
    ),
];

#[test]
fn values_and_units_are_known_beside_errors() {
    for (right, wrong) in FAULTY {
        assert!(CIRCUIT.contains(right));
        let text = CIRCUIT.replace(right, wrong);
        let shown = |words: &str| {
            let at = text.find(words).expect("the words") + words.len();
            let found = Snapshot::new(&NoFiles, None, "model.lgm", &text, Cancellation::default());
            assert!(found.problems().iter().any(|fault| !fault.is_hint), "{wrong}");
            found
                .hover((found.root(), at as u32))
                .map_or(String::new(), |hover| hover.markdown)
        };
        assert!(shown("  param U").contains("12 V"), "{wrong}: {}", shown("  param U"));
        assert!(
            shown("  signal fixed").contains("Value: 6 V"),
            "{wrong}: {}",
            shown("  signal fixed")
        );
        assert!(
            shown("  node a").contains("electrical"),
            "{wrong}: {}",
            shown("  node a")
        );
        if text.contains("param R") {
            assert!(!shown("  param R").contains("Value"), "{}", shown("  param R"));
        }
    }
}
