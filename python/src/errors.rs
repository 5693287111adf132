//! Faults as Python's exceptions, which `lgm/_errors.py` declares.

use lgm::rendering::render;
use lgm_session::Faults;
use lgm_session::diagnostics::as_json;
use lgm_source::SourceMap;
use lgm_source::diagnostic::Diagnostic;
use pyo3::prelude::*;

/// An exception of the package, made of its arguments.
fn exception<'py>(py: Python<'py>, name: &str, arguments: impl pyo3::call::PyCallArgs<'py>) -> PyErr {
    let made = py
        .import("lgm._errors")
        .and_then(|module| module.getattr(name)?.call1(arguments));
    match made {
        Ok(value) => PyErr::from_value(value),
        Err(error) => error,
    }
}

/// Diagnostics as text and as JSON.
pub fn described(map: &SourceMap, diagnostics: &[Diagnostic]) -> (String, String) {
    let text = render(map, diagnostics, false);
    (text.trim_end().to_string(), as_json(map, diagnostics).to_string())
}

/// The exception for a model that has no result.
pub fn compile_error(py: Python<'_>, faults: &Faults) -> PyErr {
    exception(py, "CompileError", described(&faults.map, &faults.diagnostics))
}

/// The same for a single diagnostic about a session.
pub fn compile_error_of(py: Python<'_>, map: &SourceMap, diagnostics: Vec<Diagnostic>) -> PyErr {
    let map = map.clone();
    compile_error(py, &Faults { map, diagnostics })
}
