//! The one place where the tests call the compiler.

use super::compare::Linear;
use lgm::Request;
use lgm::diagnostic::{has_errors, render};
use lgm::equations::{Options, SparseMatrix, StateSystem};
use lgm::source::{NoFiles, SourceMap};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What the tests look at of a compiled model.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// A..F in numbers.
    pub linear: Linear,
    /// Names of the states.
    pub states: Vec<String>,
}

/// How a panic of the compiler begins in the errors of [`compile_numeric`].
pub const PANIC: &str = "the compiler panicked: ";

/// Compiles a text that imports nothing; the error is what a person would read, or tells of a panic. `thorough` asks for
/// symbolic matrices beside the numbers and for the compiler's own verification.
pub fn compile_system(source: &str, thorough: bool) -> Result<StateSystem, String> {
    let mut map = SourceMap::default();
    let root = map.add("network.lgm", source, None);
    let request = Request {
        verify: thorough,
        equations: Options {
            symbolic: thorough,
            ..Options::default()
        },
        ..Request::default()
    };
    let compiled = catch_unwind(AssertUnwindSafe(|| lgm::compile(&NoFiles, &mut map, root, &request)));
    let (system, diagnostics) = compiled.map_err(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        format!(
            "{PANIC}{}",
            text.or(payload.downcast_ref::<&str>().copied()).unwrap_or("?")
        )
    })?;
    if has_errors(&diagnostics) {
        return Err(render(&map, &diagnostics, false));
    }
    system.ok_or_else(|| "there are neither equations nor errors".to_string())
}

/// Compiles a linear model to numbers.
pub fn compile_numeric(source: &str) -> Result<Compiled, String> {
    numbers(&compile_system(source, false)?)
}

/// The numbers of a compiled model.
pub fn numbers(system: &StateSystem) -> Result<Compiled, String> {
    let numeric = system.numeric.as_ref().ok_or("there are no numeric matrices")?;
    let dense = |matrix: &SparseMatrix<f64>| {
        let columns = 0..matrix.columns;
        let row = |row: usize| {
            columns
                .clone()
                .map(|column| matrix.get(row, column).copied().unwrap_or(0.0))
                .collect()
        };
        (0..matrix.rows.len()).map(row).collect()
    };
    Ok(Compiled {
        linear: Linear {
            a: dense(&numeric.a),
            b: dense(&numeric.b),
            c: dense(&numeric.c),
            d: dense(&numeric.d),
            e: dense(&numeric.e),
            f: dense(&numeric.f),
        },
        states: system.states.iter().map(|state| state.name.to_string()).collect(),
    })
}
