//! `lgm causality --stroke`: strokes by hand, what follows from them, and what contradicts them.

use crate::causality::report::compilation;
use crate::support::program::{example, said};
use lgm::Compilation;

fn lever(strokes: &[&str]) -> (String, String, Option<i32>) {
    let file = example("lever.lgm").display().to_string();
    let mut arguments = vec![file.as_str()];
    arguments.extend(strokes.iter().flat_map(|stroke| ["--stroke", stroke]));
    said("causality", &arguments)
}

/// McCalla's lever with the other mass in integral causality: the causal path runs backwards.
#[test]
fn what_follows_from_a_stroke_is_reported() {
    let (out, error, code) = lever(&["I2=flow"]);
    assert_eq!(code, Some(0), "{error}");
    let lines: Vec<Vec<&str>> = out.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(
        lines[4],
        "5 1:B --->| I2 by hand set by hand: I2 sets its flow"
            .split(' ')
            .collect::<Vec<_>>()
    );
    assert!(out.contains("set by hand\n"), "{out}");
    assert!(
        out.contains("its flow follows from I2; causal path I1 A T B I2"),
        "{out}"
    );
    // Both variables of both masses: an effort of the first is a flow of the second.
    assert_eq!(lever(&["I1=effort"]).0.matches("causal path I1 A T B I2").count(), 1);
    assert_eq!(lever(&["I1=effort", "I2=flow"]).2, Some(0));
}

/// The lever has one degree of freedom: one flow, and with the force of the source one effort.
#[test]
fn what_contradicts_a_stroke_is_reported() {
    let (out, error, code) = lever(&["I1=flow", "I2=flow"]);
    assert_eq!(code, Some(2), "{error}");
    assert!(
        error.contains("LGM0927") && error.contains("`I1` sets it already"),
        "{error}"
    );
    assert!(error.contains("put it before that of `I1`"), "{error}");
    assert!(
        out.contains("its flow follows from I1; causal path I2 B T A I1"),
        "{out}"
    );
    let (_, error, code) = lever(&["I1=effort", "I2=effort"]);
    assert_eq!(code, Some(2), "{error}");
    assert!(error.contains("`SE` and `I1` set it already"), "{error}");
    for (stroke, said) in [
        ("I3=flow", "called `I3`"),
        ("SE=flow", "called `SE`"),
        ("T.in=flow", "called `T.in`"),
        ("I1", "`` is no variable"),
        ("I1=across", "`across` is no variable"),
    ] {
        let (out, error, code) = lever(&[stroke]);
        assert!(
            code == Some(2) && out.is_empty() && error.contains(said),
            "{stroke}: {error}"
        );
    }
    assert!(lever(&["I1=flow", "I1=effort"]).1.contains("already has a stroke"));
}

/// A stroke by hand precedes the rule that resistances next to steep laws get the variable that the law needs.
#[test]
fn strokes_of_resistances_next_to_steep_laws_stay() {
    let file = example("diode_rectifier.lgm").display().to_string();
    for (variable, kind) in [("flow", "link"), ("effort", "branch")] {
        let (out, error, code) = said("causality", &[&file, "--stroke", &format!("wire={variable}")]);
        assert_eq!(code, Some(0), "{error}");
        assert!(out.contains(&format!("set by hand: a {kind}")), "{out}");
    }
}

/// The branches of the bridge: ends of five nodes, the last of which is `gnd`.
const BRIDGE: [(&str, usize, usize); 7] = [
    ("supply", 0, 4),
    ("upper_left", 0, 1),
    ("lower_left", 1, 4),
    ("upper_right", 0, 2),
    ("lower_right", 2, 4),
    ("coil", 2, 3),
    ("wire", 3, 1),
];

/// Returns true if these four branches are a tree of the five nodes.
fn is_tree(members: u32) -> bool {
    let mut part = [0, 1, 2, 3, 4];
    let mut is_loop_free = members.count_ones() == 4;
    for (at, (_, from, to)) in BRIDGE.iter().enumerate() {
        if members & (1 << at) != 0 {
            let (a, b) = (part[*from], part[*to]);
            is_loop_free &= a != b;
            part.iter_mut().filter(|own| **own == b).for_each(|own| *own = a);
        }
    }
    is_loop_free
}

/// Without couplers, strokes fit together exactly if some spanning tree contains the branches that set across variables, and none of those
/// that set through variables. All trees of a bridge are enumerated.
#[test]
fn strokes_fit_together_exactly_if_a_spanning_tree_has_them() {
    let path = example("wheatstone_bridge.lgm");
    let text = std::fs::read_to_string(&path).unwrap();
    let bridge: Compilation = compilation(&text, Some(path), &[]);
    let trees: Vec<u32> = (0..128)
        .filter(|members| members & 1 != 0 && is_tree(*members))
        .collect();
    let words = ["through", "across"];
    let (mut possible, mut count) = (0, 0);
    for first in 2..14 {
        for second in first + 1..14 {
            let pair = [first, second];
            let (elements, sets) = (pair.map(|at| at / 2), pair.map(|at| at % 2));
            if elements[0] == elements[1] {
                continue;
            }
            let texts = [0, 1].map(|at| format!("{}={}", BRIDGE[elements[at]].0, words[sets[at]]));
            let (report, refused) = bridge.causality_by_hand(&texts).unwrap().unwrap();
            let has = |tree: &u32, at: usize| (tree >> elements[at]) & 1 == sets[at] as u32;
            let expected = trees.iter().any(|tree| has(tree, 0) && has(tree, 1));
            assert_eq!(refused.is_empty(), expected, "{texts:?}: {refused:?}");
            let tree = report.tree.unwrap();
            let branches = tree.members.iter().filter(|member| member.is_branch == Some(true));
            let found = branches.map(|member| BRIDGE.iter().position(|branch| branch.0 == member.name).unwrap());
            let found: u32 = found.map(|at| 1 << at).sum();
            assert!(trees.contains(&found), "{texts:?}: {found:b}");
            assert_eq!(has(&found, 0) && has(&found, 1), expected, "{texts:?}: {found:b}");
            possible += u32::from(expected);
            count += 1;
        }
    }
    assert!(possible > 30 && possible < count, "{possible} of {count}");
}
