//! Values of emitted functions at a point, compared with the kernels of the same model.

use lgm::equations::{Options, StateSystem};
use lgm::kernels::{Arguments, KernelOptions, Kernels, SparseKernel};
use lgm::source::{SourceMap, Sources};
use nalgebra::{DMatrix, DVector};
use std::fs;
use std::path::Path;

/// A model and the arguments at which its functions are evaluated.
pub struct Point {
    pub system: StateSystem,
    kernels: Kernels,
    pub parameters: Vec<f64>,
    pub time: f64,
    pub states: Vec<f64>,
    pub inputs: Vec<f64>,
    pub rates: Vec<f64>,
}

/// The values at a point.
#[derive(Default)]
pub struct Found {
    /// Unknowns of algebraic loops.
    pub unknowns: Vec<f64>,
    pub derivatives: Vec<f64>,
    pub outputs: Vec<f64>,
    /// Row, column and value of entries of the Jacobian, from 0.
    pub jacobian: Vec<(usize, usize, f64)>,
    /// Signals and their rates; the initial values.
    pub signals: Vec<f64>,
    pub starts: Vec<f64>,
}

/// The files on disk.
pub struct Disk;

impl Sources for Disk {
    fn read(&self, path: &Path) -> Result<String, String> {
        fs::read_to_string(path).map_err(|error| error.to_string())
    }
}

/// The equations of a file, with parameters as symbols.
pub fn compiled(file: &Path) -> StateSystem {
    let mut map = SourceMap::default();
    let name = file.file_name().unwrap().to_string_lossy().into_owned();
    let root = map.add(name.as_str(), fs::read_to_string(file).unwrap(), Some(file.into()));
    let request = lgm::Request {
        equations: Options {
            symbolic: true,
            numeric: false,
            ..Options::default()
        },
        ..lgm::Request::default()
    };
    let (system, _) = lgm::compile(&Disk, &mut map, root, &request);
    system.unwrap_or_else(|| panic!("{name} has equations"))
}

impl Point {
    /// Near the initial states of a run, where loops have a solution.
    pub fn new(system: StateSystem) -> Point {
        let kernels = Kernels::new(&system, &KernelOptions { native: false });
        let parameters = kernels.parameters(&[]);
        let at = Arguments {
            parameters: &parameters,
            ..Arguments::default()
        };
        let starts = kernels.starts.values(&at);
        let away = |(k, start): (usize, &f64)| start + 1e-2 * (1.0 + start.abs()) * (1.0 + (k as f64).sin());
        Point {
            time: 0.3,
            states: starts.iter().enumerate().map(away).collect(),
            inputs: (0..system.inputs.len()).map(|k| 0.7 + 0.1 * k as f64).collect(),
            rates: (0..system.inputs.len()).map(|k| 0.2 - 0.1 * k as f64).collect(),
            kernels,
            parameters,
            system,
        }
    }

    /// Compares the values, to 1e-12 of the magnitude of each vector.
    pub fn compare(&self, found: &Found) -> Result<(), String> {
        let at = Arguments {
            time: self.time,
            parameters: &self.parameters,
            states: &self.states,
            inputs: &self.inputs,
            rates: &self.rates,
            unknowns: &found.unknowns,
        };
        let kernels = &self.kernels;
        let jacobians = kernels.jacobians(&self.system);
        let (n, k) = (self.states.len(), kernels.residuals.outputs());
        if found.unknowns.len() != k {
            return Err(format!("{} unknowns of {k}", found.unknowns.len()));
        }
        near("signals", &found.signals, &kernels.inputs.values(&at), 1e-12)?;
        near("starts", &found.starts, &kernels.starts.values(&at), 1e-12)?;
        near(
            "derivatives",
            &found.derivatives,
            &kernels.derivatives.values(&at),
            1e-12,
        )?;
        near("outputs", &found.outputs, &kernels.outputs.values(&at), 1e-12)?;
        let dense = |kernel: &SparseKernel| {
            let values = kernel.values.values(&at);
            let mut matrix = DMatrix::zeros(kernel.rows, kernel.columns);
            for row in 0..kernel.rows {
                for at in kernel.row_starts[row]..kernel.row_starts[row + 1] {
                    matrix[(row, kernel.columns_of[at])] = values[at];
                }
            }
            matrix
        };
        let mut total = dense(&jacobians.rates_by_states);
        if k > 0 {
            // The unknowns solve the loops: a Newton correction would be zero.
            let factors = dense(&jacobians.residuals_by_unknowns).lu();
            let residuals = DVector::from_vec(kernels.residuals.values(&at));
            let step = factors.solve(&residuals).ok_or("the loops are singular")?;
            let corrected = DVector::from_column_slice(&found.unknowns) - step;
            near("unknowns", &found.unknowns, corrected.as_slice(), 1e-11)?;
            let by_states = dense(&jacobians.residuals_by_states);
            let through = factors.solve(&by_states).ok_or("the loops are singular")?;
            total -= dense(&jacobians.rates_by_unknowns) * through;
        }
        let mut jacobian = DMatrix::zeros(n, n);
        for (row, column, value) in &found.jacobian {
            jacobian[(*row, *column)] += *value;
        }
        near("jacobian", jacobian.as_slice(), total.as_slice(), 1e-10)
    }
}

fn near(what: &str, found: &[f64], expected: &[f64], share: f64) -> Result<(), String> {
    if found.len() != expected.len() {
        return Err(format!("{} {what} of {}", found.len(), expected.len()));
    }
    let finite = expected.iter().filter(|value| value.is_finite());
    let size = finite.fold(0.0, |most: f64, value| most.max(value.abs()));
    for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
        let is_same = found == expected || (found.is_nan() && expected.is_nan());
        // NaN is not near anything.
        let is_near = (found - expected).abs() <= share * size;
        if !is_same && !is_near {
            return Err(format!("{what} {at}: {found} instead of {expected}"));
        }
    }
    Ok(())
}
