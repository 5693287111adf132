//! First-order equations in two parts: momenta p of inertias and displacements q of compliances, with effort inputs (e) and flow inputs
//! (f).

use lgm_model::system::{SparseMatrix, StateSystem};
use lgm_model::{ElementId, Law, Model, Variable};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// States and inputs by their kinds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Partition {
    /// States of inertias.
    pub p: Vec<usize>,
    /// States of compliances.
    pub q: Vec<usize>,
    /// States without storage.
    pub x: Vec<usize>,
    /// Inputs that occur only as efforts.
    pub e: Vec<usize>,
    /// Inputs that occur only as flows.
    pub f: Vec<usize>,
    /// Other inputs.
    pub u: Vec<usize>,
}

impl Partition {
    /// Returns the nonempty kinds of states with their names.
    pub fn states(&self) -> Vec<(&'static str, &[usize])> {
        let all: [(&str, &[usize]); 3] = [("p", &self.p), ("q", &self.q), ("x", &self.x)];
        all.into_iter().filter(|kind| !kind.1.is_empty()).collect()
    }

    /// Returns the nonempty kinds of inputs with their names.
    pub fn inputs(&self) -> Vec<(&'static str, &[usize])> {
        let all: [(&str, &[usize]); 3] = [("e", &self.e), ("f", &self.f), ("u", &self.u)];
        all.into_iter().filter(|kind| !kind.1.is_empty()).collect()
    }
}

/// Classifies the states and inputs of a system by their elements in the model.
pub fn partition(model: &Model, system: &StateSystem) -> Partition {
    let ids = (0..model.graph.elements.len() as u32).map(ElementId);
    let elements: FxHashMap<String, ElementId> = ids.map(|id| (model.element_name(id), id)).collect();
    let co_energy = |name: &Arc<str>| match &model.graph.elements[elements.get(&**name)?.index()].law {
        Law::Storage { co_energy, .. } => Some(*co_energy),
        Law::Nonlinear(law) => law.storage.iter().flatten().map(|port| port.0).next(),
        _ => None,
    };
    let mut found = Partition::default();
    for (at, state) in system.states.iter().enumerate() {
        match co_energy(&state.element) {
            Some(Variable::Flow) => found.p.push(at),
            Some(Variable::Effort) => found.q.push(at),
            None => found.x.push(at),
        }
    }
    for (at, input) in system.declared_inputs().enumerate() {
        let given: Vec<Variable> = model
            .graph
            .elements
            .iter()
            .filter_map(|element| match &element.law {
                Law::Source { given, values } => {
                    model.exprs.symbols_of(values).contains(&input.symbol).then_some(*given)
                }
                _ => None,
            })
            .collect();
        let is_all = |variable: Variable| !given.is_empty() && given.iter().all(|given| *given == variable);
        match (is_all(Variable::Effort), is_all(Variable::Flow)) {
            (true, _) => found.e.push(at),
            (_, true) => found.f.push(at),
            _ => found.u.push(at),
        }
    }
    found
}

/// Returns some rows and columns of a matrix, with `None` for absent entries.
pub fn block<T: Clone>(matrix: &SparseMatrix<T>, rows: &[usize], columns: &[usize]) -> Vec<Vec<Option<T>>> {
    let row = |row: &usize| {
        columns
            .iter()
            .map(|column| matrix.get(*row, *column).cloned())
            .collect()
    };
    rows.iter().map(row).collect()
}
