//! Analyses of a session, as the JSON of the command line.

use crate::errors::compile_error;
use crate::expressions::Program;
use crate::session::Session;
use lgm_analysis::{Eliminated, Equivalent, LinearizeRequest, ModeRequest, Reduction, ReductionMethod, modes};
use lgm_compilation::Whole;
use lgm_session::analysis::approximate::{MatchRequest, match_at, truncate};
use lgm_session::analysis::fit::{Measured, fit, fit_json};
use lgm_session::analysis::modes::{modes_json, varied_parameters, with_storage};
use lgm_session::analysis::one_port::{self, PortRequest, thevenin_json};
use lgm_session::analysis::second_order::second_order_equations;
use lgm_session::analysis::switching;
use lgm_source::diagnostic::{Diagnostic, has_errors};
use lgm_source::stack;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::{Map, json};
use std::path::PathBuf;

/// Adds the functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(found_modes, module)?)?;
    module.add_function(wrap_pyfunction!(second_order, module)?)?;
    module.add_function(wrap_pyfunction!(thevenin, module)?)?;
    module.add_function(wrap_pyfunction!(approximate, module)?)?;
    module.add_function(wrap_pyfunction!(explore, module)?)?;
    module.add_function(wrap_pyfunction!(estimate, module)?)
}

impl Session {
    /// Answers a question on the equations with their model and graph. Without an answer there is a diagnostic.
    fn ask<T: Send>(
        &self,
        py: Python<'_>,
        symbolic: bool,
        question: impl FnOnce(&Whole, &mut Vec<Diagnostic>) -> Option<T> + Send,
    ) -> PyResult<T> {
        let whole = py.detach(|| self.0.whole(symbolic));
        let whole = whole.map_err(|faults| compile_error(py, &faults))?;
        let mut diagnostics = Vec::new();
        let found = py.detach(|| stack::deep(|| question(&whole, &mut diagnostics)));
        match found.filter(|_| !has_errors(&diagnostics)) {
            Some(found) => Ok(found),
            None => Err(self.fault(py, diagnostics)),
        }
    }

    fn retained(&self) -> Vec<String> {
        self.0.compilation().request().equations.retain.clone()
    }

    fn linearization(&self, symbolic: bool) -> Option<LinearizeRequest> {
        let asked = self.0.compilation().request().linearize;
        asked.map(|asked| LinearizeRequest { symbolic, ..asked })
    }
}

/// The JSON of `lgm modes`.
#[pyfunction]
#[pyo3(name = "modes")]
fn found_modes(py: Python<'_>, session: &Session, shapes: bool, sensitivity: Vec<String>) -> PyResult<String> {
    if !shapes && sensitivity.is_empty() {
        // The session keeps these equations.
        let system = session.between(py, true)?;
        let mut diagnostics = Vec::new();
        let found = py.detach(|| modes(system, &ModeRequest::default(), &mut diagnostics));
        let found = found.map_err(|fault| session.fault(py, vec![*fault]))?;
        return match has_errors(&diagnostics) {
            true => Err(session.fault(py, diagnostics)),
            false => Ok(modes_json(system, &found, false, &[]).to_string()),
        };
    }
    let own = py.detach(|| session.0.with_varied(&sensitivity));
    let own = own.map_err(|faults| compile_error(py, &faults))?.map(Session);
    let session = own.as_ref().unwrap_or(session);
    session.ask(py, true, |whole, diagnostics| {
        let (system, storage) = match shapes {
            true => {
                let (retain, asked) = (session.retained(), session.linearization(true));
                let (_, system, storage) = with_storage(whole, retain, asked, true, diagnostics)?;
                (system, storage)
            }
            false => (whole.system.clone(), Vec::new()),
        };
        let declared = whole.model.parameters.len();
        let symbols = varied_parameters(&sensitivity, &system, declared, diagnostics);
        if has_errors(diagnostics) {
            return None;
        }
        let request = ModeRequest {
            shapes,
            sensitivity: symbols,
            storage,
            ..ModeRequest::default()
        };
        let found = modes(&system, &request, diagnostics);
        let found = found.map_err(|fault| diagnostics.push(*fault)).ok()?;
        Some(modes_json(&system, &found, shapes, &sensitivity).to_string())
    })
}

/// The JSON of `lgm second-order`, and a program of its matrices if they are symbols.
#[pyfunction]
fn second_order(
    py: Python<'_>,
    session: &Session,
    eliminate: Option<&str>,
    numeric: bool,
) -> PyResult<(String, String)> {
    let eliminated = match eliminate {
        None => None,
        Some("p") => Some(Eliminated::Inertias),
        Some("q") => Some(Eliminated::Compliances),
        Some(other) => {
            return Err(PyValueError::new_err(format!("eliminate is 'p' or 'q', not '{other}'")));
        }
    };
    let (retain, asked) = (session.retained(), session.linearization(true));
    session.ask(py, true, |whole, diagnostics| {
        let (system, found) = second_order_equations(whole, retain, asked, (eliminated, numeric), diagnostics)?;
        let mut program = Program::over(found.exprs(), Default::default());
        let mut roots = Map::new();
        for (name, rows) in found.parts() {
            let places = rows.iter().map(|row| row.iter().map(|id| program.place(*id)).collect());
            roots.insert(name.to_string(), json!(places.collect::<Vec<Vec<usize>>>()));
        }
        Some((found.json(&system, numeric).to_string(), program.finish(roots.into())))
    })
}

/// The JSON of `lgm thevenin`.
#[pyfunction]
fn thevenin(py: Python<'_>, session: &Session, place: &str, numeric: bool) -> PyResult<String> {
    let asked = PortRequest {
        states: session.0.compilation().request().equations.states,
        linearize: session.linearization(false),
    };
    session.ask(py, !numeric, |whole, diagnostics| {
        let found: Option<(Equivalent, Vec<Reduction>)> =
            one_port::thevenin(whole, asked, (place, numeric), diagnostics);
        let (found, steps) = found?;
        Some(thevenin_json(&found, &steps, numeric).to_string())
    })
}

/// The JSON of `lgm approximate`; `omega` has the frequencies that moments are matched at.
#[pyfunction]
fn approximate(
    py: Python<'_>,
    session: &Session,
    order: usize,
    method: &str,
    match_dc: bool,
    omega: Vec<f64>,
    keep: bool,
) -> PyResult<String> {
    let truncation = match method {
        "moments" => {
            let request = MatchRequest {
                order,
                omega: &omega,
                keeps_second_order: keep,
            };
            let (retain, asked) = (session.retained(), session.linearization(false));
            return session.ask(py, false, |whole, diagnostics| {
                let (system, found) = match_at(whole, retain, asked, &request, diagnostics)?;
                Some(found.json(&system, method).to_string())
            });
        }
        "modal" => ReductionMethod::Modal,
        _ => ReductionMethod::Balanced,
    };
    let system = session.between(py, true)?;
    let found = py.detach(|| stack::deep(|| truncate(system, order, truncation, match_dc)));
    let found = found.map_err(|fault| session.fault(py, vec![*fault]))?;
    Ok(found.json(system, method).to_string())
}

/// The JSON of `lgm switching`.
#[pyfunction]
#[pyo3(name = "switching")]
fn explore(py: Python<'_>, session: &Session, most: usize) -> String {
    py.detach(|| switching::switching_json(&switching::explored(&session.0, most)).to_string())
}

/// The JSON of `lgm fit` for a table: a path, or columns in SI units.
#[pyfunction]
#[pyo3(name = "fit")]
fn estimate(
    py: Python<'_>,
    session: &Session,
    path: Option<PathBuf>,
    columns: Vec<(String, Vec<f64>)>,
    vary: Vec<String>,
) -> PyResult<String> {
    let compilation = py.detach(|| session.0.parametric(&vary));
    let compilation = compilation.map_err(|faults| compile_error(py, &faults))?;
    let mut map = compilation.map().clone();
    let found = py.detach(|| {
        let measured = match path {
            Some(path) => Measured::read(&path, &mut map)?,
            None => Measured {
                name: "data".to_string(),
                columns,
                is_si: true,
            },
        };
        let system = compilation
            .system()
            .expect("invariant: there are equations without errors");
        fit(system, &measured, &vary)
    });
    let found = found.map_err(|fault| crate::errors::compile_error_of(py, &map, vec![*fault]))?;
    Ok(fit_json(&vary, &found).to_string())
}
