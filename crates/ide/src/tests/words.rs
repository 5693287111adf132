//! The hovers of outputs, nodes, imports and comments, and their wording.

use crate::Snapshot;
use lgm_source::NoFiles;
use lgm_source::cancellation::Cancellation;

fn snapshot(text: &str) -> Snapshot {
    Snapshot::new(&NoFiles, None, "model.lgm", text, Cancellation::default())
}

/// Returns the location after some words.
fn behind(text: &str, words: &str) -> (Snapshot, (lgm_source::SourceId, u32)) {
    let at = text.find(words).expect("the words") + words.len();
    let found = snapshot(text);
    let root = found.root();
    (found, (root, at as u32))
}

const MODEL: &str = "import nonlinear;
model M {
  param k = 50 [N/m];
  node x : translational;
  m : Mass(2 [kg]) x -> gnd;
  s : Spring(k) x -> gnd;
  output F = through(s) + k*int(across(x));
}
";

#[test]
fn outputs_have_their_unit_and_their_equation_and_nodes_their_variables() {
    let (found, at) = behind(MODEL, "output F");
    let words = found.hover(at).expect("a hover").markdown;
    assert!(words.contains("In N:"), "{words}");
    let system = found.system().expect("equations");
    let value = lgm_algebra::expr::text(&system.exprs, system.read_output(0));
    assert!(words.contains(&format!("F = {value}")), "{words}");
    let (found, at) = behind(MODEL, "node x");
    let words = found.hover(at).expect("a hover").markdown;
    assert!(
        words.contains("A node of `translational`: across `v` in m/s, through `F` in N."),
        "{words}"
    );
}

#[test]
fn an_import_leads_to_its_text() {
    let (found, at) = behind(MODEL, "import nonl");
    let span = found.definition(at).expect("a place");
    assert_eq!(found.map().get(span.source).name, "stdlib/nonlinear.lgm");
}

#[test]
fn comments_of_several_lines_fold_and_line_ends_stay() {
    let text = "/* one\n   two */\nmodel M { node x : translational; m : Mass(1) x -> gnd; }\n";
    let found = snapshot(text);
    let folds: Vec<&str> = found.folds().into_iter().map(|span| found.map().slice(span)).collect();
    assert_eq!(folds, ["/* one\n   two */"]);
    let windows = MODEL.replace('\n', "\r\n").replace("  param", "param");
    let formatted = snapshot(&windows).formatted().expect("a text");
    assert_eq!(Some(formatted.replace("\r\n", "\n")), snapshot(MODEL).formatted());
    assert_eq!(formatted.matches('\n').count(), formatted.matches("\r\n").count());
}

#[test]
fn sentences_are_of_the_editor_and_of_the_text() {
    let text = "import \"gone.lgm\";\nmodel M { node x : translational; m : Mass(1) x -> gnd; }\n";
    let problems = snapshot(text).problems();
    assert!(!problems.is_empty());
    // Messages must attribute options to the command line.
    let sentences = problems.iter().flat_map(|problem| problem.message.lines());
    let mut options = sentences.filter(|line| line.contains("--"));
    assert!(options.all(|line| line.contains("on the command line")), "{problems:?}");
    let text = MODEL.replace("50 [N/m]", "50 [N.m]");
    let problems = snapshot(&text).problems();
    let found = problems.iter().any(|problem| {
        problem
            .message
            .contains("`k` is given in [N.m], but is declared in [N/m]")
    });
    assert!(found, "{problems:?}");
}

#[test]
fn entries_of_states_that_are_vectors_can_be_plotted() {
    let text = "model V {\n  node q[2] vector : translational;\n  m : Mass([1, 0; 0, 2]) q -> gnd;\n  s : Spring([3, 0; 0, 4]) q -> gnd;\n  \
                experiment { stop = 1 [s]; plot = [m.v[1]]; }\n}\n";
    let text = text
        .replace("[1, 0; 0, 2]", "[[1, 0], [0, 2]]")
        .replace("[3, 0; 0, 4]", "[[3, 0], [0, 4]]");
    let found = snapshot(&text);
    let problems = found.problems();
    assert!(problems.is_empty(), "{problems:?}");
    let system = found.system().expect("equations");
    assert_eq!(system.recorded(&system.experiment.plot[0].0).len(), 1);
    // A missing name is an error, and a similar name is suggested.
    let wrong = text.replace("m.v[1]", "m.v[3]");
    assert!(!snapshot(&wrong).problems().is_empty());
}

#[test]
fn the_unit_of_a_declaration_is_in_its_own_words() {
    let text =
        "model M {\n  node w : rotational;\n  j : Inertia(1) w -> gnd;\n  k : TorsionSpring(3 [kg]) w -> gnd;\n}\n";
    let problems = snapshot(text).problems();
    let words = "`k` is given in [kg], but is declared in [N.m/rad]";
    assert!(
        problems.iter().any(|problem| problem.message.starts_with(words)),
        "{problems:?}"
    );
}

#[test]
fn values_in_si_are_those_of_the_model_in_any_unit() {
    let found = snapshot(
        "model M {\n  param a [deg] = 30;\n  param L [mm] = 500;\n  param k = 2 [mH];\n  output y = a*L/k;\n}",
    );
    let before = found.parameters();
    assert_eq!(before[1], ("L", 0.5, Some("m")));
    let same = found.with_values(&|name| before.iter().find(|known| known.0 == name).map(|known| known.1));
    let same = same.expect("three values");
    for (before, after) in before.iter().zip(same.parameters()) {
        assert!((before.1 - after.1).abs() < 1e-15, "{before:?} {after:?}");
    }
    assert!(found.with_values(&|_| None).is_none());
}

#[test]
fn symbolic_equations_are_of_the_flat_model_at_hand() {
    let found = snapshot(
        "model M { param L = 2 [mH]; input u; node a : electrical; s : VoltageSource(u) a -> gnd; l : Inductor(L) a -> gnd; }",
    );
    let own = found.compilation();
    let symbolic = own.symbolic();
    assert!(std::ptr::eq(
        own.model().expect("a model"),
        symbolic.model().expect("a model")
    ));
    assert!(std::ptr::eq(
        own.bond_graph().expect("a graph"),
        symbolic.bond_graph().expect("a graph")
    ));
    assert!(std::sync::Arc::ptr_eq(symbolic, own.symbolic()));
    assert!(symbolic.request().equations.symbolic && !own.request().equations.symbolic);
}
