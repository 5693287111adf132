//! The language server, over pipes with a client of its own: what an editor says and hears. What is wrong with a text is known from
//! `lgm check --format json` on the same text.

mod client;
mod conversation;
mod edits;
mod imports;
mod keys;
mod mends;
mod positions;
mod same_as_terminal;
