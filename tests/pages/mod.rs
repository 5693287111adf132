//! User-facing output: commands, pages, drawings and editors.

mod chapter;
mod cli;
mod codes;
mod commands;
mod documents;
mod drawings;
mod examples;
mod gallery;
mod html;
mod in_packages;
mod lsp;
mod printed;
mod readme;
mod sentences;
mod snippets;
mod watch;
