//! The right sides of the equations as functions of arrays.

use crate::buffers::{doubles, integers, read};
use lgm_equations::StateSystem;
use lgm_kernels::{Arguments, Kernel, KernelOptions, Kernels};
use lgm_session::run::ready::reads_rate;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Compiled functions: rates of the states, outputs, and the Jacobian.
#[pyclass(frozen, module = "lgm._native")]
pub struct Rhs {
    system: StateSystem,
    kernels: Kernels,
    parameters: Vec<f64>,
    /// Inputs without a signal of their own.
    silent: Vec<usize>,
    /// An input whose rate the equations contain.
    rated: Option<usize>,
}

impl Rhs {
    /// Compiles the equations; those with algebraic loops or a mass matrix are no explicit functions.
    pub fn new(py: Python<'_>, system: &StateSystem) -> PyResult<Rhs> {
        let equations = &system.equations;
        if !equations.loops.is_empty() || equations.mass_matrix.is_some() || system.events.happen {
            return Err(PyValueError::new_err(
                "the equations have algebraic loops, a mass matrix or modes, so that rates are no explicit function; \
                 use simulate(), or emit(\"python\", folder)",
            ));
        }
        let system = system.clone();
        let kernels = py.detach(|| Kernels::new(&system, &KernelOptions::default()));
        let silent = system.inputs.iter().enumerate();
        let silent = silent
            .filter(|(_, input)| input.signal.is_none())
            .map(|(at, _)| at)
            .collect();
        Ok(Rhs {
            parameters: kernels.parameters(&[]),
            silent,
            rated: (0..system.declared_inputs().count()).find(|at| reads_rate(&system, *at)),
            kernels,
            system,
        })
    }

    /// Values and rates of all inputs at a time.
    fn inputs(&self, time: f64, given: Option<&[f64]>, rates: Option<&[f64]>) -> PyResult<(Vec<f64>, Vec<f64>)> {
        let count = self.system.inputs.len();
        let declared = self.system.declared_inputs().count();
        let mut own = vec![0.0; 2 * count];
        if count > 0 && !(given.is_some() && rates.is_some() && declared == count) {
            let at = Arguments {
                time,
                parameters: &self.parameters,
                ..Arguments::default()
            };
            own = self.kernels.inputs.values(&at);
        }
        let mut own_rates = own.split_off(count);
        if given.is_none()
            && let Some(at) = self.silent.first()
        {
            let name = &self.system.inputs[*at].name;
            return Err(PyValueError::new_err(format!(
                "the input `{name}` has no signal: give u"
            )));
        }
        for (place, list, name) in [(&mut own, given, "u"), (&mut own_rates, rates, "du")] {
            if let Some(list) = list {
                if list.len() != declared {
                    let message = format!("{name} has {} values for {declared} inputs", list.len());
                    return Err(PyValueError::new_err(message));
                }
                place[..declared].copy_from_slice(list);
            }
        }
        if given.is_some()
            && rates.is_none()
            && let Some(at) = self.rated
        {
            let name = &self.system.inputs[at].name;
            let message = format!("the equations contain the rate of `{name}`: give du, the rates of the inputs");
            return Err(PyValueError::new_err(message));
        }
        Ok((own, own_rates))
    }

    /// Calls a kernel for each column of states, which are rows of a matrix; results likewise.
    fn call<'py>(&self, py: Python<'py>, kernel: &Kernel, at: Point<'_>) -> PyResult<Bound<'py, PyBytes>> {
        let (time, x, u, du) = at;
        let x = read(x);
        let count = self.system.states.len();
        let columns = x.len().checked_div(count).unwrap_or(1);
        let (u, du) = (u.map(read), du.map(read));
        let (inputs, rates) = self.inputs(time, u.as_deref(), du.as_deref())?;
        let (mut scratch, mut out) = (vec![0.0; kernel.scratch()], vec![0.0; kernel.outputs()]);
        let mut all = vec![0.0; kernel.outputs() * columns];
        let mut states = vec![0.0; count];
        for column in 0..columns {
            for (row, state) in states.iter_mut().enumerate() {
                *state = x[row * columns + column];
            }
            let at = Arguments {
                time,
                parameters: &self.parameters,
                states: &states,
                inputs: &inputs,
                rates: &rates,
                unknowns: &[],
            };
            kernel.call(&at, &mut scratch, &mut out);
            for (row, value) in out.iter().enumerate() {
                all[row * columns + column] = *value;
            }
        }
        Ok(doubles(py, &all))
    }
}

/// The time, the states, the inputs and their rates, as bytes.
type Point<'b> = (f64, &'b [u8], Option<&'b [u8]>, Option<&'b [u8]>);

#[pymethods]
impl Rhs {
    /// The number of states.
    fn states(&self) -> usize {
        self.system.states.len()
    }

    /// The rates of the states, for each column.
    fn rates<'py>(&self, py: Python<'py>, at: Point<'_>) -> PyResult<Bound<'py, PyBytes>> {
        self.call(py, &self.kernels.derivatives, at)
    }

    /// The outputs, for each column.
    fn outputs<'py>(&self, py: Python<'py>, at: Point<'_>) -> PyResult<Bound<'py, PyBytes>> {
        self.call(py, &self.kernels.outputs, at)
    }

    /// The partial derivatives of the rates by the states, for one column: rows, columns and values of the entries.
    fn jacobian<'py>(&self, py: Python<'py>, at: Point<'_>) -> PyResult<Entries<'py>> {
        let sparse = &self.kernels.jacobians(&self.system).rates_by_states;
        let entries = self.call(py, &sparse.values, at)?;
        let starts = sparse.row_starts.windows(2).enumerate();
        let rows: Vec<i64> = starts
            .flat_map(|(row, ends)| vec![row as i64; ends[1] - ends[0]])
            .collect();
        let columns: Vec<i64> = sparse.columns_of.iter().map(|column| *column as i64).collect();
        Ok((integers(py, &rows), integers(py, &columns), entries))
    }

    /// The initial values of the states.
    fn starts<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let at = Arguments {
            parameters: &self.parameters,
            ..Arguments::default()
        };
        doubles(py, &self.kernels.starts.values(&at))
    }
}

/// Rows, columns and values of a sparse matrix, as bytes.
type Entries<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>, Bound<'py, PyBytes>);
