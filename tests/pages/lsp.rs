//! The language server, tested over pipes with a separate client: an editor's messages and the responses. The expected
//! diagnostics come from `lgm check --format json` on the same text.

mod client;
mod conversation;
mod edits;
mod imports;
mod keys;
mod mends;
mod positions;
mod same_as_terminal;
