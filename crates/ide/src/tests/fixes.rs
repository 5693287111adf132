//! Changes that mend a fault or take out what has no use, made and compiled.

use super::changes::{offered, snapshot, with_change};

fn titles(text: &str, words: &str) -> Vec<String> {
    offered(text, words).into_iter().map(|action| action.title).collect()
}

/// The text with a change; it has no faults.
#[track_caller]
fn made(text: &str, words: &str, title: &str) -> String {
    let text = with_change(text, words, |action| action.title == title && action.is_fix);
    let left = snapshot(&text).problems();
    assert!(left.iter().all(|problem| problem.is_hint), "{text}: {left:?}");
    text
}

fn with(line: &str) -> String {
    format!("model M {{\n  node x : translational;\n  m : Mass(2) x -> gnd, start = 1;\n  {line}\n}}\n")
}

#[test]
fn an_argument_of_no_parameter_is_another_one_or_none() {
    let text = with("s : Spring(stiffness = 3) x -> gnd;");
    assert_eq!(titles(&text, "Spring(stiff"), ["write `k`"]);
    assert_eq!(
        made(&text, "Spring(stiff", "write `k`"),
        with("s : Spring(k = 3) x -> gnd;")
    );
    let text = with("s : Spring(3, temperature = 300) x -> gnd;");
    assert_eq!(
        made(&text, "3, temp", "leave `temperature` out"),
        with("s : Spring(3) x -> gnd;")
    );
    let text = with("s : Spring(temperature = 300, k = 3) x -> gnd;");
    assert_eq!(
        made(&text, "(temp", "leave `temperature` out"),
        with("s : Spring(k = 3) x -> gnd;")
    );
    assert_eq!(titles(&text, "(temp"), ["leave `temperature` out"]);
    // A start stands behind the element.
    let text = with("s : Spring(3, start = 4) x -> gnd;");
    assert_eq!(
        made(&text, "3, st", "write the start behind the element"),
        with("s : Spring(3) x -> gnd, start = 4;")
    );
}

#[test]
fn what_nothing_uses_is_taken_out() {
    let removed = |line: &str, words: &str, title: &str, left: &str| {
        assert_eq!(made(&with(line), words, title), left, "{line}");
    };
    let bare = with("").replace("  \n}", "}");
    removed(
        "/// Of no use.\n  param a = 2; // two",
        "param a",
        "remove the parameter `a`",
        &bare,
    );
    removed("const a = 2;", "const a", "remove the constant `a`", &bare);
    removed("input a [N] = 2;", "input a", "remove the input `a`", &bare);
    removed("signal a = across(m);", "signal a", "remove the signal `a`", &bare);
    // In a line that it shares, the rest stays.
    removed(
        "param a = 2; d : Damper(1) x -> gnd;",
        "param a",
        "remove the parameter `a`",
        &with("d : Damper(1) x -> gnd;"),
    );
    // A signal with a start is what a state starts from.
    let started =
        "model M {\n  node x : translational;\n  m : Mass(2) x -> gnd;\n  signal p = 2*across(m), start = 4;\n}\n";
    assert!(titles(started, "signal p").is_empty());
    assert!(snapshot(started).problems().iter().all(|problem| !problem.is_unused));
    // A parameter of a component is given by those that use it.
    let formal = "component C(a) { port p : translational; m : Mass(1) p -> gnd; }\nmodel M { node x : translational; c : C(1) (p = x); }\n";
    assert!(titles(formal, "C(a").is_empty());
}

#[test]
fn a_node_without_a_connection_is_taken_out() {
    let nodes = |names: &str| with("").replace("node x", &format!("node {names}"));
    for (written, words, left) in [
        ("x, y", "x, y", "x"),
        ("y, x", "y", "x"),
        ("x, y[2], z", "z", "x, y[2]"),
        ("x, y[2] vector, z", "z", "x, y[2] vector"),
    ] {
        let text = nodes(written);
        let place = format!("node {}", &written[..written.find(words).expect("words") + words.len()]);
        let name = &place[place.len() - 1..];
        if left.contains('y') {
            // Another one is left, so that there are faults still.
            assert!(titles(&text, &place).contains(&format!("remove `{name}`")), "{written}");
            continue;
        }
        assert_eq!(made(&text, &place, &format!("remove `{name}`")), nodes(left));
    }
    let alone = with("node y : translational;");
    assert_eq!(made(&alone, "node y", "remove `y`"), with("").replace("  \n}", "}"));
}

#[test]
fn a_state_that_no_run_has_is_another_one_to_plot() {
    let text = with("experiment { stop = 1 [s]; plot = [m.w]; }");
    let found = snapshot(&text).problems();
    assert!(found[0].message.contains("Help: did you mean `m.v`?"), "{found:?}");
    assert_eq!(
        made(&text, "plot = [m", "write `m.v`"),
        with("experiment { stop = 1 [s]; plot = [m.v]; }")
    );
    // Also where it is an input or a declared state that was meant.
    let text = with("state travelled = int(across(m));\n  experiment { stop = 1 [s]; plot = [traveled]; }");
    assert!(made(&text, "plot = [trav", "write `travelled`").contains("plot = [travelled]"));
}
