//! Integration with the environment: shell completions, manual pages and the language server.

pub(in crate::cli) mod completions;
pub(in crate::cli) mod lsp;
pub(in crate::cli) mod man;
mod markdown;
