//! `cargo run --manifest-path editors/tree-sitter-lgm/generate/Cargo.toml`: grammar.js to src/parser.c and what belongs to it.

use std::path::Path;
use std::process::ExitCode;
use tree_sitter_generate::{ABI_VERSION_MIN, OptLevel, generate_parser_in_directory};

fn main() -> ExitCode {
    let grammar = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("invariant: this crate lies in the grammar's folder");
    let mut diagnostics = Vec::new();
    let result = generate_parser_in_directory(
        grammar,
        None::<&Path>,
        None::<&Path>,
        ABI_VERSION_MIN,
        None,
        Some("node"),
        true,
        OptLevel::default(),
        &mut diagnostics,
    );
    for diagnostic in &diagnostics {
        eprintln!("{diagnostic:?}");
    }
    match result {
        Ok(()) if diagnostics.is_empty() => ExitCode::SUCCESS,
        Ok(()) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
