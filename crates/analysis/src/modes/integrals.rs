//! Integrals of outputs, whose poles at 0 do not belong to the system itself.

use lgm_algebra::expr::SymbolId;
use lgm_model::Model;
use lgm_model::system::{StateSystem, StateVariable};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// Returns the names of states that outputs added for their integrals and that no other equation uses. Each has a pole at 0.
pub fn integrals_of_outputs(model: &Model, system: &StateSystem) -> Vec<Arc<str>> {
    let declared: FxHashSet<SymbolId> = model.integrals.iter().map(|integral| integral.symbol).collect();
    let mut read = vec![false; system.states.len()];
    let rows = system.matrices.numeric.iter().flat_map(|form| &form.a.rows);
    for (column, _) in rows.flatten().filter(|entry| entry.1 != 0.0) {
        read[*column as usize] = true;
    }
    let states = system.states.iter().zip(read).filter(|(state, read)| {
        state.variable == StateVariable::Integral && !declared.contains(&state.symbol) && !read
    });
    states.map(|(state, _)| state.name.clone()).collect()
}
