//! State-space matrices as the text of a model with the same inputs and outputs.

use lgm_analysis::{Matrix, StateSpace};
use lgm_equations::StateSystem;
use std::fmt::Write;

/// Groups the names of a list into vectors: `y[1], y[2]` form the vector `y`.
fn gathered(names: &[String]) -> Vec<(String, Vec<usize>)> {
    let mut found: Vec<(String, Vec<usize>)> = Vec::new();
    for (at, name) in names.iter().enumerate() {
        let (base, is_entry) = match name.split_once('[') {
            Some((base, _)) => (base, true),
            None => (name.as_str(), false),
        };
        match found.last_mut().filter(|last| is_entry && last.0 == base) {
            Some(last) => last.1.push(at),
            None => found.push((base.to_string(), vec![at])),
        }
    }
    found
}

/// Returns the text of a model whose states are integrals of sums of states and inputs, with the first outputs of the system.
pub(super) fn model_text(system: &StateSystem, outputs: usize, space: &StateSpace, suffix: &str) -> String {
    let inputs: Vec<String> = system.declared_inputs().map(|input| input.name.to_string()).collect();
    let outputs = system.outputs.iter().take(outputs);
    let outputs: Vec<String> = outputs.map(|output| output.name.to_string()).collect();
    let is_taken = |name: &str| {
        let all = inputs.iter().chain(&outputs);
        all.into_iter().any(|known| known.split('[').next() == Some(name))
    };
    let mut stem = "x".to_string();
    while (1..=space.a.nrows()).any(|at| is_taken(&format!("{stem}{at}"))) {
        stem.push('x');
    }
    let states: Vec<String> = (1..=space.a.nrows()).map(|at| format!("{stem}{at}")).collect();
    let sum = |row: usize, of_states: &Matrix, of_inputs: &Matrix| {
        let (of_states, of_inputs) = (of_states.row(row), of_inputs.row(row));
        let pairs = states.iter().zip(of_states.iter().copied());
        let pairs = pairs.chain(inputs.iter().zip(of_inputs.iter().copied()));
        let mut text = String::new();
        for (name, factor) in pairs.filter(|pair| pair.1 != 0.0) {
            let sign = match (text.is_empty(), factor < 0.0) {
                (true, false) => "",
                (true, true) => "-",
                (false, false) => " + ",
                (false, true) => " - ",
            };
            let _ = write!(text, "{sign}{:?}*{name}", factor.abs());
        }
        if text.is_empty() { "0".to_string() } else { text }
    };
    let mut text = format!("/// A model of order {} in place of {}.\n", states.len(), system.model);
    let _ = writeln!(text, "model {}{suffix} {{", system.model);
    for (name, places) in gathered(&inputs) {
        let signal = match places.len() {
            1 if inputs[places[0]] == name => "0".to_string(),
            count => format!("[{}]", vec!["0"; count].join(", ")),
        };
        let _ = writeln!(text, "  input {name} = {signal};");
    }
    for (at, state) in states.iter().enumerate() {
        let _ = writeln!(text, "  state {state} = int({});", sum(at, &space.a, &space.b));
    }
    for (name, places) in gathered(&outputs) {
        let value = match places[..] {
            [only] if outputs[only] == name => sum(only, &space.c, &space.d),
            _ => {
                let entries: Vec<String> = places.iter().map(|at| sum(*at, &space.c, &space.d)).collect();
                format!("[{}]", entries.join(", "))
            }
        };
        let _ = writeln!(text, "  output {name} = {value};");
    }
    text.push_str("}\n");
    text
}
