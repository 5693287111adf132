//! The class `_native.Session`.

use crate::buffers::{doubles, integers};
use crate::errors::{compile_error, compile_error_of};
use crate::expressions::Program;
use crate::rhs::Rhs;
use crate::run::{Outcome, RunInput, RunRequest};
use crate::sweep::Sweep;
use lgm_draw::{Kind, Manner, Theme, svg_in};
use lgm_emit::code::{CodeOptions, Target};
use lgm_emit::{DocumentOptions, MatrixOptions};
use lgm_equations::{StateRequest, StateSystem};
use lgm_explain::derivation::{Piece, pieces};
use lgm_model::system::{LinearForm, SparseMatrix};
use lgm_session::analysis::response::{Extras, find};
use lgm_session::analysis::transfer::{Form, TransferResults, transfer, transfer_json};
use lgm_session::diagnostics::as_json;
use lgm_session::run::plan::RunOptions;
use lgm_session::{Choice, Faults, States, Value};
use lgm_simulate::Method;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde_json::json;
use std::path::PathBuf;

/// A model with its values.
#[pyclass(frozen, module = "lgm._native")]
pub struct Session(pub(crate) lgm_session::Session);

/// A value of a parameter: a number, a text, or a list of these.
fn value(of: &Bound<'_, PyAny>) -> PyResult<Value> {
    if let Ok(text) = of.extract::<String>() {
        return Ok(Value::Text(text));
    }
    if let Ok(number) = of.extract::<f64>() {
        return match number.is_finite() {
            true => Ok(Value::Number(number)),
            false => Err(PyValueError::new_err(format!(
                "a parameter must be finite, not {number}"
            ))),
        };
    }
    let entries = of.try_iter().map_err(|_| {
        let kind = of.get_type();
        PyTypeError::new_err(format!(
            "a parameter is a number, an array or a text with a unit, not {kind}"
        ))
    })?;
    entries
        .map(|entry| value(&entry?))
        .collect::<PyResult<Vec<Value>>>()
        .map(Value::List)
}

fn sparse(matrix: &SparseMatrix<f64>, dict: &Bound<'_, PyDict>, name: &str) -> PyResult<()> {
    let (mut rows, mut columns, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for (row, list) in matrix.rows.iter().enumerate() {
        for (column, value) in list {
            rows.push(row as i64);
            columns.push(i64::from(*column));
            values.push(*value);
        }
    }
    let py = dict.py();
    let shape = (matrix.rows.len(), matrix.columns);
    let arrays = (integers(py, &rows), integers(py, &columns), doubles(py, &values));
    dict.set_item(name, (shape, arrays))
}

/// The method of integration with a name.
fn named_method(word: &str) -> PyResult<Method> {
    let words = Method::ALL.map(|entry| entry.1).join(", ");
    Method::of_word(word).ok_or_else(|| PyValueError::new_err(format!("no method '{word}'; the methods are {words}")))
}

/// The places of inputs and outputs in the equations of an analysis, which leave nonlinear outputs out.
fn places(system: &StateSystem, inputs: &[String], outputs: &[String]) -> PyResult<(Vec<usize>, Vec<usize>)> {
    let missing = |what: &str, name: &str| PyValueError::new_err(format!("the {what} {name} has no linear equation"));
    let input = |name: &String| {
        let place = system.inputs.iter().position(|input| *input.name == **name);
        place.ok_or_else(|| missing("input", name))
    };
    let output = |name: &String| {
        let place = system.outputs.iter().position(|output| *output.name == **name);
        place.ok_or_else(|| missing("output", name))
    };
    let inputs = inputs.iter().map(input).collect::<PyResult<_>>()?;
    Ok((inputs, outputs.iter().map(output).collect::<PyResult<_>>()?))
}

impl Session {
    fn made(py: Python<'_>, make: impl FnOnce() -> Result<lgm_session::Session, Faults> + Send) -> PyResult<Session> {
        let made = py.detach(make);
        made.map(Session).map_err(|faults| compile_error(py, &faults))
    }

    pub(crate) fn between<'s>(&'s self, py: Python<'_>, symbolic: bool) -> PyResult<&'s StateSystem> {
        let found = py.detach(|| self.0.between_events(symbolic));
        found.map_err(|faults| compile_error(py, &faults))
    }

    pub(crate) fn fault(&self, py: Python<'_>, diagnostics: Vec<lgm_source::diagnostic::Diagnostic>) -> PyErr {
        compile_error_of(py, self.0.compilation().map(), diagnostics)
    }

    fn form<'s>(&self, system: &'s StateSystem) -> Option<&'s LinearForm<f64>> {
        system.matrices.numeric.as_ref()
    }
}

#[pymethods]
impl Session {
    /// Compiles the model of a text, or of a file where there is no text.
    #[staticmethod]
    #[pyo3(signature = (file, text, path, *, model, modes, include, states, retain, pade))]
    #[allow(clippy::too_many_arguments)]
    fn open(
        py: Python<'_>,
        file: PathBuf,
        text: Option<String>,
        path: Option<PathBuf>,
        model: Option<String>,
        modes: Vec<String>,
        include: Vec<PathBuf>,
        states: Option<String>,
        retain: Vec<String>,
        pade: Option<u32>,
    ) -> PyResult<Session> {
        if pade.is_some_and(|order| !(1..=20).contains(&order)) {
            return Err(PyValueError::new_err("pade is an order from 1 to 20"));
        }
        let choice = Choice {
            model,
            modes,
            include,
            pade,
            ..Choice::default()
        };
        let request = match states.as_deref() {
            None => StateRequest::Natural,
            Some("power") => StateRequest::Power,
            Some("energy") => StateRequest::Energy,
            Some(other) => {
                return Err(PyValueError::new_err(format!(
                    "states is 'power' or 'energy', not '{other}'"
                )));
            }
        };
        let states = States { request, retain };
        Session::made(py, || match text {
            Some(text) => {
                let name = file.display().to_string();
                lgm_session::Session::of_text_at(&name, path, &text, &choice, &states)
            }
            None => lgm_session::Session::open(&file, &choice, &states),
        })
    }

    /// The text of the model.
    fn text(&self) -> String {
        let compilation = self.0.compilation();
        compilation.map().get(compilation.root()).text.to_string()
    }

    /// The same model with other values of parameters.
    fn with_parameters(&self, py: Python<'_>, values: Vec<(String, Bound<'_, PyAny>)>) -> PyResult<Session> {
        let values = values
            .into_iter()
            .map(|(name, given)| Ok((name, value(&given)?)))
            .collect::<PyResult<Vec<_>>>()?;
        Session::made(py, || self.0.with_parameters(&values))
    }

    /// The same model, linearised.
    fn linearized(&self, py: Python<'_>, at: Vec<String>, equilibrium: bool) -> PyResult<Session> {
        Session::made(py, || self.0.linearized(&at, equilibrium))
    }

    /// The JSON of `lgm equations`.
    fn equations(&self, py: Python<'_>) -> PyResult<String> {
        let mut json = Vec::new();
        py.detach(|| lgm_emit::json(self.0.equations(), MatrixOptions::default(), &mut json))?;
        String::from_utf8(json).map_err(|fault| PyValueError::new_err(fault.to_string()))
    }

    /// The equations as text.
    fn written(&self, py: Python<'_>) -> String {
        py.detach(|| lgm_emit::text(self.0.equations(), &lgm_emit::TextOptions::default()))
    }

    /// The equations as a LaTeX document.
    fn latex(&self, py: Python<'_>) -> String {
        py.detach(|| lgm_emit::latex(self.0.equations(), DocumentOptions::default()))
    }

    /// The equations as the body of a LaTeX document.
    fn latex_body(&self, py: Python<'_>) -> String {
        py.detach(|| lgm_emit::latex_body(self.0.equations(), DocumentOptions::default()))
    }

    /// The equations as the body of a page with MathML.
    fn html_body(&self, py: Python<'_>) -> String {
        py.detach(|| lgm_emit::html_body(self.0.equations(), DocumentOptions::default()))
    }

    /// The steps of the derivation: heading, words, LaTeX and number of each equation.
    fn derivation(&self, py: Python<'_>) -> PyResult<Vec<(String, String, String, usize)>> {
        let found = py.detach(|| self.0.compilation().derivation(false));
        let found = found.ok_or_else(|| PyValueError::new_err("the model has no derivation"))?;
        let found = found.map_err(|fault| self.fault(py, vec![fault]))?;
        let mut heading = "";
        let steps = pieces(&found).into_iter().filter_map(|piece| match piece {
            Piece::Heading(words) => {
                heading = words;
                None
            }
            Piece::Equation {
                words, latex, number, ..
            } => Some((heading.to_string(), words, latex, number)),
        });
        Ok(steps.collect())
    }

    /// Warnings and remarks, as JSON.
    fn diagnostics(&self, py: Python<'_>) -> String {
        py.detach(|| as_json(self.0.compilation().map(), &self.0.diagnostics()).to_string())
    }

    /// A..F over the parameters as a program; none if the equations are nonlinear or the entries too long.
    fn matrices(&self) -> Option<String> {
        let system = self.0.equations();
        let form = system.matrices.symbolic.as_ref()?;
        let mut program = Program::new(system);
        let mut roots = serde_json::Map::new();
        for (name, matrix) in form.matrices() {
            roots.insert(name.to_string(), program.matrix(matrix));
        }
        for (name, offset) in [("x_offset", &form.x_offset), ("y_offset", &form.y_offset)] {
            if let Some(offset) = offset {
                let places: Vec<usize> = offset.iter().map(|entry| program.place(*entry)).collect();
                roots.insert(name.to_string(), json!(places));
            }
        }
        Some(program.finish(roots.into()))
    }

    /// The differential equations, the algebraic loops and the outputs as a program.
    fn ode(&self) -> String {
        let system = self.0.equations();
        let equations = &system.equations;
        let mut program = Program::new(system);
        let rates: Vec<usize> = equations.derivatives.iter().map(|id| program.place(*id)).collect();
        let outputs: Vec<usize> = equations.output_values.iter().map(|id| program.place(*id)).collect();
        let residuals = equations.loops.iter().flat_map(|entry| &entry.residuals);
        let residuals: Vec<usize> = residuals.map(|id| program.place(*id)).collect();
        let mass = equations.mass_matrix.as_ref().map(|mass| program.matrix(mass));
        program.finish(json!({"rates": rates, "outputs": outputs, "residuals": residuals, "mass": mass}))
    }

    /// A..F in numbers, each `((rows, columns), (row, column, value))`, and offsets; none if the equations are nonlinear.
    fn numbers<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let found = py
            .detach(|| self.0.numbers())
            .map_err(|faults| compile_error(py, &faults))?;
        let Some(form) = self.form(found) else { return Ok(None) };
        let dict = PyDict::new(py);
        for (name, matrix) in form.matrices() {
            sparse(matrix, &dict, name)?;
        }
        for (name, offset) in [("x_offset", &form.x_offset), ("y_offset", &form.y_offset)] {
            if let Some(offset) = offset {
                dict.set_item(name, doubles(py, offset))?;
            }
        }
        Ok(Some(dict))
    }

    /// Transfer functions from inputs to outputs, by their names: the JSON of `lgm transfer`, and a program of the coefficients if
    /// they are symbols.
    fn transfer(
        &self,
        py: Python<'_>,
        inputs: Vec<String>,
        outputs: Vec<String>,
        form: &str,
        numeric: bool,
    ) -> PyResult<(String, Option<String>)> {
        let form = match form {
            "zpk" => Form::Zpk,
            _ => Form::Tf,
        };
        let system = self.between(py, true)?;
        let (inputs, outputs) = places(system, &inputs, &outputs)?;
        let mut diagnostics = Vec::new();
        let found = py.detach(|| transfer(system, (form, numeric), (&inputs, &outputs), &mut diagnostics));
        let found = found.map_err(|fault| self.fault(py, vec![*fault]))?;
        let value = serde_json::Value::Array(transfer_json(form, system, &found)).to_string();
        let TransferResults::Symbols(symbolic) = &found else {
            return Ok((value, None));
        };
        let mut program = Program::over(&symbolic.exprs, Default::default());
        let mut roots = Vec::new();
        for function in &symbolic.functions {
            let numerator: Vec<usize> = function.numerator.iter().map(|id| program.place(*id)).collect();
            let denominator: Vec<usize> = function.denominator.iter().map(|id| program.place(*id)).collect();
            roots.push(json!({"num": numerator, "den": denominator}));
        }
        Ok((value, Some(program.finish(roots.into()))))
    }

    /// H(jw) of some pairs: the names of input and output, and complex numbers.
    fn response<'py>(
        &self,
        py: Python<'py>,
        omega: Vec<f64>,
        inputs: Vec<String>,
        outputs: Vec<String>,
    ) -> PyResult<Vec<(String, String, Bound<'py, PyBytes>)>> {
        let system = self.between(py, false)?;
        let (inputs, outputs) = places(system, &inputs, &outputs)?;
        let mut diagnostics = Vec::new();
        let found = py.detach(|| find(Extras::default(), system, (inputs, outputs), omega, &mut diagnostics));
        let found = found.map_err(|fault| self.fault(py, vec![*fault]))?;
        let found = found.ok_or_else(|| self.fault(py, diagnostics))?;
        let parts = found.response.curves.iter().map(|curve| {
            let parts: Vec<f64> = curve.values.iter().flat_map(|value| [value.re, value.im]).collect();
            let (input, output) = (&system.inputs[curve.input].name, &system.outputs[curve.output].name);
            (input.to_string(), output.to_string(), doubles(py, &parts))
        });
        Ok(parts.collect())
    }

    /// A drawing as SVG.
    fn draw(&self, py: Python<'_>, kind: Option<&str>, dark: bool, values: bool) -> PyResult<String> {
        let kind = match kind {
            None => None,
            Some("linear-graph") => Some(Kind::LinearGraph),
            Some("bond-graph") => Some(Kind::BondGraph),
            Some(other) => {
                let words = format!("a drawing is a 'linear-graph' or a 'bond-graph', not '{other}'");
                return Err(PyValueError::new_err(words));
            }
        };
        let theme = if dark { Theme::Dark } else { Theme::Light };
        let manner = Manner {
            values,
            ..Manner::default()
        };
        let drawn = py.detach(|| self.0.drawing(kind, manner).map(|drawing| svg_in(&drawing, theme)));
        drawn.map_err(|faults| compile_error(py, &faults))
    }

    /// The files of an emitted program, and remarks on them.
    #[allow(clippy::type_complexity)]
    fn package<'py>(
        &self,
        py: Python<'py>,
        target: &str,
    ) -> PyResult<(Vec<(String, Bound<'py, PyBytes>)>, Vec<String>)> {
        let known = Target::ALL.iter().find(|entry| entry.1 == target);
        let Some((target, _)) = known.filter(|entry| !matches!(entry.0, Target::Fmu2 | Target::Fmu3)) else {
            let words = Target::ALL
                .iter()
                .map(|entry| entry.1)
                .filter(|word| !word.starts_with("fmu"));
            let words: Vec<&str> = words.collect();
            let message = format!(
                "no target '{target}'; the targets are {} (FMUs: `lgm emit`)",
                words.join(", ")
            );
            return Err(PyValueError::new_err(message));
        };
        let package = py.detach(|| self.0.package(*target, &CodeOptions::default()));
        let package = package.map_err(|faults| compile_error(py, &faults))?;
        let files = package.files.into_iter();
        let files = files.map(|file| (file.path, PyBytes::new(py, &file.contents)));
        Ok((files.collect(), package.remarks))
    }

    /// Runs the model; see `_model.py` for the arguments.
    #[pyo3(signature = (inputs, progress, *, start, stop, points, rtol, atol, method, max_steps, events, from_equilibrium, verify, sensitivities))]
    #[allow(clippy::too_many_arguments)]
    fn simulate<'py>(
        &self,
        py: Python<'py>,
        inputs: Vec<RunInput>,
        progress: Option<Py<PyAny>>,
        start: Option<f64>,
        stop: Option<f64>,
        points: Option<u64>,
        rtol: Option<f64>,
        atol: Option<f64>,
        method: Option<&str>,
        max_steps: Option<u64>,
        events: bool,
        from_equilibrium: bool,
        verify: bool,
        sensitivities: Vec<String>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let options = RunOptions {
            start,
            stop,
            points,
            rtol,
            atol,
            method: method.map(named_method).transpose()?,
            max_steps,
            events,
            from_equilibrium,
        };
        let request = RunRequest {
            options,
            inputs,
            progress,
            verify,
            sensitivities,
        };
        Outcome::of(py, &self.0, request)?.into_dict(py)
    }

    /// Compiles runs with varied parameters; see `_sweep.py` for the arguments.
    #[pyo3(signature = (names, inputs, columns, *, start, stop, points, rtol, atol, method, max_steps, from_equilibrium))]
    #[allow(clippy::too_many_arguments)]
    fn sweep(
        &self,
        py: Python<'_>,
        names: Vec<String>,
        inputs: Vec<RunInput>,
        columns: Vec<String>,
        start: Option<f64>,
        stop: Option<f64>,
        points: Option<u64>,
        rtol: Option<f64>,
        atol: Option<f64>,
        method: Option<&str>,
        max_steps: Option<u64>,
        from_equilibrium: bool,
    ) -> PyResult<Sweep> {
        let options = RunOptions {
            start,
            stop,
            points,
            rtol,
            atol,
            method: method.map(named_method).transpose()?,
            max_steps,
            events: false,
            from_equilibrium,
        };
        Sweep::new(py, self, &names, &inputs, &columns, options)
    }

    /// The right sides as a function of arrays.
    fn rhs(&self, py: Python<'_>) -> PyResult<Rhs> {
        let system = py
            .detach(|| self.0.numbers())
            .map_err(|faults| compile_error(py, &faults))?;
        Rhs::new(py, system)
    }
}
