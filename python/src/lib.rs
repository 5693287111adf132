//! The extension module of the Python package `lgm`: what `lgm/*.py` makes pleasant.
//!
//! Results leave as NumPy arrays and as the JSON of the command line; errors are made by `lgm/_errors.py`. The interpreter is free
//! while a model is compiled or run.

mod analyses;
mod buffers;
mod errors;
mod expressions;
mod rhs;
mod run;
mod session;
mod sweep;

use lgm_session::diagnostics::as_json;
use lgm_session::{Choice, disk};
use lgm_source::SourceMap;
use pyo3::prelude::*;
use std::ffi::OsString;
use std::path::PathBuf;

/// The version of lgm.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Runs the command `lgm` with these arguments, the program's name first, and returns its exit code.
#[pyfunction]
fn run_command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| lgm::cli::main_with(arguments))
}

/// All diagnostics of a text as JSON; of every model unless one is named.
#[pyfunction]
fn check(
    py: Python<'_>,
    text: Option<String>,
    file: PathBuf,
    model: Option<String>,
    include: Vec<PathBuf>,
    verify: bool,
) -> String {
    py.detach(|| {
        let mut map = SourceMap::default();
        let root = match text {
            Some(text) => Ok(map.add(file.display().to_string(), text, None)),
            None => disk::read_model(&file, &mut map),
        };
        let choice = Choice {
            model,
            include,
            ..Choice::default()
        };
        match root {
            Err(fault) => as_json(&map, &[fault]).to_string(),
            Ok(root) => {
                let checked = lgm_session::checked(map, root, &choice, verify);
                as_json(checked.map(), &checked.diagnostics()).to_string()
            }
        }
    })
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(version, module)?)?;
    module.add_function(wrap_pyfunction!(run_command, module)?)?;
    module.add_function(wrap_pyfunction!(check, module)?)?;
    analyses::register(module)?;
    module.add_class::<session::Session>()?;
    module.add_class::<rhs::Rhs>()?;
    module.add_class::<sweep::Sweep>()
}
