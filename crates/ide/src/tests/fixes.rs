//! Changes that fix an error or remove an unused part, applied and compiled.

use super::OSCILLATOR;
use super::changes::{offered, snapshot, with_change};

fn titles(text: &str, words: &str) -> Vec<String> {
    offered(text, words).into_iter().map(|action| action.title).collect()
}

/// Returns the text with a change, which has no errors.
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
        made(&text, "3, temp", "remove `temperature`"),
        with("s : Spring(3) x -> gnd;")
    );
    let text = with("s : Spring(temperature = 300, k = 3) x -> gnd;");
    assert_eq!(
        made(&text, "(temp", "remove `temperature`"),
        with("s : Spring(k = 3) x -> gnd;")
    );
    assert_eq!(titles(&text, "(temp"), ["remove `temperature`"]);
    // An initial value is written after the element.
    let text = with("s : Spring(3, start = 4) x -> gnd;");
    assert_eq!(
        made(&text, "3, st", "write the initial value after the element"),
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
    removed("table a = [[0, 1], [2, 3]];", "table a", "remove the table `a`", &bare);
    let function = format!("{bare}/// Of no use.\nfunction f(x) = x;\n");
    assert_eq!(made(&function, "function f", "remove the function `f`"), bare);
    removed("input a [N] = 2;", "input a", "remove the input `a`", &bare);
    removed("signal a = across(m);", "signal a", "remove the signal `a`", &bare);
    // The rest of a shared line is kept.
    removed(
        "param a = 2; d : Damper(1) x -> gnd;",
        "param a",
        "remove the parameter `a`",
        &with("d : Damper(1) x -> gnd;"),
    );
    // A signal with an initial value determines the initial value of a state.
    let started =
        "model M {\n  node x : translational;\n  m : Mass(2) x -> gnd;\n  signal p = 2*across(m), start = 4;\n}\n";
    assert!(titles(started, "signal p").is_empty());
    assert!(snapshot(started).problems().iter().all(|problem| !problem.is_unused));
    // A parameter of a component is set by its instances.
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
            // Another error is left, so the text still has errors.
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
    // Also if an input or a declared state is intended.
    let text = with("state travelled = int(across(m));\n  experiment { stop = 1 [s]; plot = [traveled]; }");
    assert!(made(&text, "plot = [trav", "write `travelled`").contains("plot = [travelled]"));
}

#[test]
fn fixes_mend_what_they_are_offered_for() {
    let text = OSCILLATOR.replace("Spring(k)", "Sprign(k)");
    let found = snapshot(&text);
    let place = found.problems()[0].span.expect("a place");
    let actions = found.actions(place);
    assert_eq!(actions[0].title, "write `Spring`");
    let edit = &actions[0].edits[0];
    let mut mended = text.clone();
    mended.replace_range(edit.span.start as usize..edit.span.end as usize, &edit.text);
    assert_eq!(mended, OSCILLATOR);
}

#[test]
fn slips_have_a_fix_that_leaves_nothing_to_complain_about() {
    let within = |line: &str| {
        format!("/// Rows.\nmodel M {{\n  node x : translational;\n  m : Mass(2) x -> gnd, start = 1;\n  {line}\n}}\n")
    };
    for (written, title, mended) in [
        ("s : Spring(3) x -> gnd", "write `;`", "s : Spring(3) x -> gnd;"),
        ("s : Spring(3 x -> gnd;", "write `)`", "s : Spring(3) x -> gnd;"),
        ("s : Spring(3]) x -> gnd;", "write `)`", ""),
        ("param a = 2);", "remove `)`", "param a = 2;"),
        ("param a : 2;", "write `=`", "param a = 2;"),
        (
            "node y = translational; s : Spring(1) x -> y; d : Damper(1) y -> gnd;",
            "write `:`",
            "",
        ),
        ("output y = if across(m) = 2 then 1 else 0;", "write `==`", ""),
        ("output y = acros(m);", "write `across`", "output y = across(m);"),
        ("param a = ln(2);", "write `log`", "param a = log(2);"),
        (
            "s : Spring(3 [kn/m]) x -> gnd;",
            "write `kN`",
            "s : Spring(3 [kN/m]) x -> gnd;",
        ),
        (
            "s : Spring(3 [N]) x -> gnd;",
            "write `[N/m]`",
            "s : Spring(3 [N/m]) x -> gnd;",
        ),
        (
            "experiment { stopp = 2 [s]; }",
            "write `stop`",
            "experiment { stop = 2 [s]; }",
        ),
        ("s : HardSpring(3, 1) x -> gnd;", "import `nonlinear`", ""),
    ] {
        let text = within(written);
        let found = snapshot(&text);
        let problems = found.problems();
        let actions = problems.iter().filter_map(|problem| Some(found.actions(problem.span?)));
        let actions: Vec<_> = actions.flatten().collect();
        let titles: Vec<&str> = actions.iter().map(|action| action.title.as_str()).collect();
        let action = actions.iter().find(|action| action.title == title);
        let action = action.unwrap_or_else(|| panic!("`{written}`: no {title} in {titles:?} for {problems:?}"));
        let mut changed = text.clone();
        for edit in &action.edits {
            changed.replace_range(edit.span.start as usize..edit.span.end as usize, &edit.text);
        }
        if written.contains("3])") {
            // An extra bracket is left, which has a separate fix.
            continue;
        }
        let mut left = snapshot(&changed).problems();
        left.retain(|problem| !problem.is_hint && !problem.is_unused);
        assert!(left.is_empty(), "{changed}: {left:?}");
        assert!(mended.is_empty() || changed == within(mended), "{changed}");
        let is_import = title.starts_with("import");
        assert!(
            !is_import || changed.starts_with("import nonlinear;\n\n/// Rows.\nmodel M"),
            "{changed}"
        );
    }
}
