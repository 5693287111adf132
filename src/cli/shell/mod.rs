//! The program in its surroundings: completions of shells, manual pages, the language server.

pub(in crate::cli) mod completions;
pub(in crate::cli) mod lsp;
pub(in crate::cli) mod man;
