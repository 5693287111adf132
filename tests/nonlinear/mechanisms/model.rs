//! A compiled model, evaluated at any point and run at tight tolerances.

use super::runs::{Rows, Shape, finished};
use lgm::equations::StateSystem;
use lgm::expr::{ExprId, Exprs, SymbolId};
use lgm::rendering::render;
use lgm::simulate::Plan;
use lgm::source::{NoFiles, SourceMap};
use std::collections::HashMap;

/// A model without algebraic loops, with its assignments substituted into its equations.
pub struct Compiled {
    pub system: StateSystem,
    exprs: Exprs,
    roots: Vec<ExprId>,
    parameters: HashMap<SymbolId, f64>,
}

impl Compiled {
    /// A model of the examples with these parameters.
    pub fn new(file: &str, settings: &[(String, f64)]) -> Compiled {
        let path = super::support::program::example(&format!("{file}.lgm"));
        Compiled::of_text(file, std::fs::read_to_string(path).unwrap(), settings)
    }

    pub fn of_text(name: &str, text: String, settings: &[(String, f64)]) -> Compiled {
        let mut map = SourceMap::default();
        let root = map.add(format!("{name}.lgm"), text, None);
        let mut request = lgm::Request::default();
        for (name, value) in settings {
            let option = format!("{name}={value:?}");
            let source = map.add(format!("--set {option}"), option.clone(), None);
            request.settings.sets.push((option, source));
        }
        let (system, diagnostics) = lgm::compile(&NoFiles, &mut map, root, &request);
        let system = system.unwrap_or_else(|| panic!("{name}\n{}", render(&map, &diagnostics, false)));
        assert!(system.equations.loops.is_empty(), "{name} has a loop");
        let mut exprs = system.exprs.clone();
        let mut assigned: HashMap<SymbolId, ExprId> = HashMap::new();
        for assignment in &system.equations.assignments {
            let value = exprs.substitute(&[assignment.value], |symbol| assigned.get(&symbol).copied())[0];
            assigned.insert(assignment.symbol, value);
        }
        let all: Vec<ExprId> = system
            .equations
            .derivatives
            .iter()
            .chain(&system.equations.output_values)
            .copied()
            .collect();
        let roots = exprs.substitute(&all, |symbol| assigned.get(&symbol).copied());
        let entries = system.parameters.iter().flat_map(|parameter| &parameter.entries);
        let parameters = entries
            .map(|entry| (entry.symbol, lgm::expr::to_f64(&entry.value)))
            .collect();
        Compiled {
            system,
            exprs,
            roots,
            parameters,
        }
    }

    /// Derivatives, then outputs, with all inputs zero and at rest.
    pub fn evaluate(&self, states: &[f64]) -> Vec<f64> {
        self.evaluate_driven(states, &[])
    }

    /// Derivatives, then outputs, with constant inputs of these values.
    pub fn evaluate_driven(&self, states: &[f64], inputs: &[f64]) -> Vec<f64> {
        let value = |symbol: SymbolId| {
            let state = self.system.states.iter().position(|state| state.symbol == symbol);
            let input = self.system.inputs.iter().position(|input| input.symbol == symbol);
            let given = |at: usize| inputs.get(at).copied().unwrap_or(0.0);
            let rate = self.system.input_rates.contains(&symbol).then_some(0.0);
            state
                .map(|k| states[k])
                .or(input.map(given))
                .or(rate)
                .or_else(|| self.parameters.get(&symbol).copied())
        };
        self.exprs.evaluate_f64(&self.roots, &value).unwrap()
    }

    pub fn position(&self, name: &str) -> usize {
        let found = self.system.states.iter().position(|state| &*state.name == name);
        found.unwrap_or_else(|| panic!("no state {name}"))
    }

    pub fn starts(&self) -> Vec<f64> {
        self.system.states.iter().map(|state| state.start_value).collect()
    }

    /// The index of an output.
    pub fn output(&self, name: &str) -> usize {
        let found = self.system.outputs.iter().position(|output| &*output.name == name);
        found.unwrap_or_else(|| panic!("no output {name}"))
    }

    /// The samples of a run from the initial values, with zero inputs, at the tolerances of a known answer.
    pub fn run(&self, stop: f64, points: usize) -> Rows {
        self.run_within(stop, points, 1e-12)
    }

    /// The same with another relative tolerance.
    pub fn run_within(&self, stop: f64, points: usize, rtol: f64) -> Rows {
        let plan = Plan {
            stop,
            points,
            rtol,
            atol: Some(0.01 * rtol),
            ..Plan::default()
        };
        finished(&self.system, &vec![Shape::Zero; self.system.inputs.len()], &plan).0
    }

    /// The entries of a matrix parameter.
    pub fn parameter(&self, name: &str) -> f64 {
        let found = self.system.parameters.iter().find(|parameter| &*parameter.name == name);
        let found = found.unwrap_or_else(|| panic!("no parameter {name}"));
        lgm::expr::to_f64(&found.entries[0].value)
    }
}
