//! Tree-sitter grammar of the lgm language, and the queries that editors use with it.

use tree_sitter_language::LanguageFn;

unsafe extern "C" {
    fn tree_sitter_lgm() -> *const ();
}

/// The grammar: `parser.set_language(&LANGUAGE.into())`.
// SAFETY: the function is the one that the generated parser defines; it takes nothing and gives a table that is never changed.
pub const LANGUAGE: LanguageFn = unsafe { LanguageFn::from_raw(tree_sitter_lgm) };

/// The kinds of nodes and their fields, as JSON.
pub const NODE_TYPES: &str = include_str!("../../src/node-types.json");

/// Which words have which colour.
pub const HIGHLIGHTS_QUERY: &str = include_str!("../../queries/highlights.scm");

/// What can be folded.
pub const FOLDS_QUERY: &str = include_str!("../../queries/folds.scm");

/// Where names are declared, and where they are used.
pub const LOCALS_QUERY: &str = include_str!("../../queries/locals.scm");

/// Texts in another language inside of a model.
pub const INJECTIONS_QUERY: &str = include_str!("../../queries/injections.scm");

/// How lines are indented.
pub const INDENTS_QUERY: &str = include_str!("../../queries/indents.scm");
