//! Tests that need the tree; the rendered diagnostics are in tests/syntax.rs.

use super::*;

#[test]
fn every_snippet_of_the_language_parses() {
    let page = include_str!("../../docs/language.md");
    let mut count = 0;
    for part in page.split("```lgm\n").skip(1) {
        let snippet = part.split("```").next().unwrap();
        let (tree, diagnostics) = parse(SourceId(0), snippet);
        assert!(diagnostics.is_empty(), "{snippet}\n{diagnostics:#?}");
        assert!(!tree.items.is_empty());
        count += 1;
    }
    assert!(count >= 8, "only {count} snippets found");
}
