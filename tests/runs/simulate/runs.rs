//! Models compiled and run, with signals for tests.

use lgm::equations::StateSystem;
use lgm::kernels::{KernelOptions, Kernels};
use lgm::rendering::render;
use lgm::simulate::{Failure, Plan, Silent, Simulator, Summary};
use lgm::source::{SourceMap, Sources};
use std::path::Path;

pub use super::shapes::{Shape, Shapes};

/// The files next to the examples, such as tables of measured modes.
pub struct BesideExamples;

impl Sources for BesideExamples {
    fn read(&self, path: &Path) -> Result<String, String> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
        std::fs::read_to_string(folder.join(path)).map_err(|fault| fault.to_string())
    }
}

/// The equations of a text, which must compile.
pub fn compile(text: &str) -> StateSystem {
    let mut map = SourceMap::default();
    let root = map.add("model.lgm", text, None);
    let (system, diagnostics) = lgm::compile(&BesideExamples, &mut map, root, &lgm::Request::default());
    system.unwrap_or_else(|| panic!("{}", render(&map, &diagnostics, false)))
}

/// The text of an example.
pub fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|fault| panic!("{}: {fault}", path.display()))
}

/// The samples of one run.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    pub times: Vec<f64>,
    pub outputs: Vec<Vec<f64>>,
    pub states: Vec<Vec<f64>>,
}

/// Runs a system with its compiled parameter values.
pub fn run(system: &StateSystem, inputs: &[Shape], plan: &Plan) -> (Rows, Result<Summary, Failure>) {
    run_with(system, &[], inputs, plan)
}

/// Runs a system with some parameters set.
pub fn run_with(
    system: &StateSystem,
    set: &[(usize, f64)],
    inputs: &[Shape],
    plan: &Plan,
) -> (Rows, Result<Summary, Failure>) {
    assert_eq!(inputs.len(), system.inputs.len(), "a shape for each input");
    let kernels = Kernels::new(system, &KernelOptions::default());
    let simulator = Simulator::new(system, &kernels);
    let mut rows = Rows::default();
    let mut sink = |time: f64, outputs: &[f64], states: &[f64]| {
        rows.times.push(time);
        rows.outputs.push(outputs.to_vec());
        rows.states.push(states.to_vec());
    };
    let parameters = kernels.parameters(set);
    let result = simulator.run(&parameters, &Shapes(inputs.to_vec()), plan, &mut sink, &Silent);
    (rows, result)
}

/// The samples of a run that must succeed.
pub fn finished(system: &StateSystem, inputs: &[Shape], plan: &Plan) -> (Rows, Summary) {
    let (rows, result) = run(system, inputs, plan);
    let summary = result.unwrap_or_else(|failure| panic!("{}: {failure:?}", system.model));
    assert_eq!(rows.times.len(), plan.points, "{}: a row for each point", system.model);
    (rows, summary)
}

/// A plan with the tolerances of a known answer.
pub fn tight(stop: f64, points: usize) -> Plan {
    Plan {
        stop,
        points,
        rtol: 1e-10,
        atol: Some(1e-13),
        ..Plan::default()
    }
}
