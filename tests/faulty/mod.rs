//! Faulty models: source texts with their rendered diagnostics.

use lgm::diagnostic::Diagnostic;
use lgm::rendering::render;
use lgm::source::{NoFiles, SourceMap};

/// The output of the whole program for a text with `--set` options; with `symbolic_only`, no numbers are requested.
pub fn check(text: &str, sets: &[&str], symbolic_only: bool) -> (Vec<Diagnostic>, SourceMap) {
    let mut map = SourceMap::default();
    let root = map.add("model.lgm", text, None);
    let mut request = lgm::Request::default();
    request.equations.numeric = !symbolic_only;
    request.settings.sets = sets
        .iter()
        .map(|set| (set.to_string(), map.add("--set", *set, None)))
        .collect();
    (lgm::check(&NoFiles, &mut map, root, &request), map)
}

/// The text, its options and its diagnostics; numeric and symbolic equations must report the same errors.
pub fn said(text: &str, sets: &[&str]) -> String {
    let (diagnostics, map) = check(text, sets, false);
    let (symbolic, _) = check(text, sets, true);
    let plain = |list: &[Diagnostic]| {
        list.iter()
            .map(|found| (found.code, found.message.clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(plain(&symbolic), plain(&diagnostics), "without numbers");
    let rendered: String = render(&map, &diagnostics, false)
        .lines()
        .map(|line| format!("{}\n", line.trim_end()))
        .collect();
    let sets: String = sets.iter().map(|set| format!("--set {set}\n")).collect();
    format!("{}\n{sets}\n{rendered}", text.trim())
}

/// One snapshot test for each case: `name with "a=1" with "b=2": "model ..";`.
macro_rules! cases {
    ($($name:ident $(with $set:literal)*: $text:expr;)*) => {
        $(
            #[test]
            fn $name() {
                insta::assert_snapshot!($crate::faulty::said($text, &[$($set),*]));
            }
        )*
    };
}
