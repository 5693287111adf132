//! Problems with exact solutions, and the achieved error of a run.

// Each user of this file needs only some of its items.
#![allow(dead_code)]

use super::shapes::{Shape, Shapes};
use lgm::equations::StateSystem;
use lgm::kernels::{KernelOptions, Kernels};
use lgm::simulate::{Method, Plan, Silent, simulate};
use lgm::source::{NoFiles, SourceMap};

/// A system with its exact solution.
pub struct Problem {
    pub title: &'static str,
    pub text: String,
    pub inputs: Vec<Shape>,
    pub stop: f64,
    /// The outputs at a time.
    pub exact: fn(f64) -> Vec<f64>,
}

/// A lightly damped mass on a spring, excited by a step of force.
pub fn oscillator() -> Problem {
    Problem {
        title: "Oscillator (2 states, damping ratio 0.02, 8 periods)",
        text: "model Oscillator {
  param m = 2 [kg]; param k = 50 [N/m]; param b = 0.4 [N.s/m];
  input F [N];
  node x : translational;
  push : ForceSource(F) gnd -> x;
  mass : Mass(m) x -> gnd;
  spring : Spring(k) x -> gnd;
  damper : Damper(b) x -> gnd;
  output v = across(mass);
}"
        .into(),
        inputs: vec![Shape::Constant(10.0)],
        stop: 10.0,
        exact: |time| {
            let (m, k, b) = (2.0_f64, 50.0_f64, 0.4_f64);
            let decay = b / (2.0 * m);
            let omega = (k / m - decay * decay).sqrt();
            vec![10.0 * (-decay * time).exp() * (omega * time).sin() / (m * omega)]
        },
    }
}

/// Cells of the stiff problem.
const CELLS: usize = 40;

/// A rod that cools through its ends: rates from 10 to 6700 1/s.
pub fn rod() -> Problem {
    Problem {
        title: "Cooling rod (40 states, stiff: rates from 10 to 6700 1/s)",
        text: format!(
            "model Rod {{
  const N = {CELLS};
  node T[N] : thermal;
  for i in 1:N {{
    cell[i] : ThermalCapacitor(1/(N + 1)) T[i] -> gnd, start = sin(pi*i/(N + 1)) + 0.5*sin(3*pi*i/(N + 1));
    if i > 1 {{ link[i] : ThermalResistor(1/(N + 1)) T[i - 1] -> T[i]; }}
  }}
  left : ThermalResistor(1/(N + 1)) T[1] -> gnd;
  right : ThermalResistor(1/(N + 1)) T[N] -> gnd;
  output middle = across(cell[20]);
  output quarter = across(cell[10]);
}}"
        ),
        inputs: Vec::new(),
        stop: 1.0,
        exact: |time| {
            let whole = (CELLS + 1) as f64;
            let at = |cell: f64| {
                let mode = |order: f64, share: f64| {
                    let half = order * std::f64::consts::PI / (2.0 * whole);
                    let rate = 4.0 * whole * whole * half.sin().powi(2);
                    share * (-rate * time).exp() * (2.0 * half * cell).sin()
                };
                mode(1.0, 1.0) + mode(3.0, 0.5)
            };
            vec![at(20.0), at(10.0)]
        },
    }
}

/// One run.
pub struct Achieved {
    pub rtol: f64,
    /// The largest error over all samples and outputs, relative to the largest output.
    pub error: f64,
    pub steps: u64,
    /// Evaluations of the right sides; each Jacobian counts as the number of states.
    pub work: f64,
}

impl Problem {
    /// The equations, shared by all runs.
    pub fn compile(&self) -> StateSystem {
        let mut map = SourceMap::default();
        let root = map.add("model.lgm", self.text.as_str(), None);
        let (system, diagnostics) = lgm::compile(&NoFiles, &mut map, root, &lgm::Request::default());
        system.unwrap_or_else(|| panic!("{}", lgm::rendering::render(&map, &diagnostics, false)))
    }

    /// Runs it once; the absolute tolerance is a thousandth of the relative one.
    pub fn run(&self, system: &StateSystem, method: Method, rtol: f64) -> Achieved {
        let kernels = Kernels::new(system, &KernelOptions::default());
        let parameters = kernels.parameters(&[]);
        let signals = Shapes(self.inputs.clone());
        let plan = Plan {
            stop: self.stop,
            points: 101,
            rtol,
            atol: Some(rtol * 1e-3),
            method,
            ..Plan::default()
        };
        let (mut error, mut size) = (0.0_f64, 0.0_f64);
        let mut sink = |time: f64, outputs: &[f64], _: &[f64]| {
            for (found, expected) in outputs.iter().zip((self.exact)(time)) {
                error = error.max((found - expected).abs());
                size = size.max(expected.abs());
            }
        };
        let result = simulate(system, &kernels, &parameters, &signals, &plan, &mut sink, &Silent);
        let summary = result.unwrap_or_else(|failure| panic!("{failure:?}"));
        Achieved {
            rtol,
            error: error / size,
            steps: summary.steps,
            work: (summary.evaluations + summary.jacobians * system.states.len() as u64) as f64,
        }
    }
}
