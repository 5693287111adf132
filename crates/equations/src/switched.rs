//! Constants in sources that move storage at the start in a way that has no closed form: they become inputs that nobody sets.
//!
//! Before the run sources are 0, so a constant source on dependent storage is a step at the start. Where what it moves is found over the
//! parameters ([`super::impulses`]), it is a start. Elsewhere, as in storage that is not linear, or where the impulse passes through
//! a resistance, the run finds it as it does for inputs: by the rates that the equations ask for.

use super::formulate::{Settled, formulate};
use super::options::Options;
use super::pushes::constant_part;
use super::settle::Definitions;
use crate::bond::BondGraph;
use crate::input_owner::owner_of_law;
use lgm_algebra::expr::{SymbolId, SymbolKind};
use lgm_model::system::StateSystem;
use lgm_model::{Input, Law, Model};
use lgm_source::diagnostic::{Diagnostic, has_errors};
use rustc_hash::{FxHashMap, FxHashSet};

/// The equations with constants of sources as inputs, and the model that they are made from, where some state that has no start
/// otherwise is moved by them.
pub(super) fn with_switched(
    model: &Model,
    graph: &BondGraph,
    options: &Options,
    (settled, is_linear): (&Settled, bool),
) -> Option<(StateSystem, Model, Vec<Diagnostic>)> {
    // What is tied by laws that are not linear, or through what a source measures, shows in the equations alone.
    if !settled.is_driven && is_linear {
        return None;
    }
    let all = with_constants(model, &|_| true);
    if all.inputs.len() == model.inputs.len() {
        return None;
    }
    let (system, _) = formulated(&all, graph, options)?;
    let (first, definitions) = (model.inputs.len(), Definitions::of(&system));
    let mut read: FxHashSet<usize> = FxHashSet::default();
    let mut moves_unsettled = false;
    for (state, derivative) in system.states.iter().zip(&system.derivatives) {
        let behind = definitions.behind(&system, *derivative);
        let own: Vec<usize> = (first..all.inputs.len())
            .filter(|at| behind.contains(&system.input_rates[*at]))
            .collect();
        moves_unsettled |= !own.is_empty() && !state.start_given && !settled.states.contains(&state.name);
        read.extend(own);
    }
    if !moves_unsettled {
        return None;
    }
    let kept = with_constants(model, &|number| read.contains(&(first + number)));
    let (system, found) = formulated(&kept, graph, options)?;
    Some((system, kept, found))
}

fn formulated(model: &Model, graph: &BondGraph, options: &Options) -> Option<(StateSystem, Vec<Diagnostic>)> {
    let (system, found) = formulate(model, graph, options);
    let system = system.filter(|_| !has_errors(&found))?;
    Some((system, found))
}

/// The model with inputs for the constant parts of sources, or for some of these by their numbers.
fn with_constants(model: &Model, is_wanted: &dyn Fn(usize) -> bool) -> Model {
    let mut made = model.clone();
    let declared = FxHashMap::default();
    let mut number = 0;
    for at in 0..model.elements.len() {
        let Law::Source { values, .. } = &model.elements[at].law else {
            continue;
        };
        for (port, value) in values.iter().enumerate() {
            let Some(constant) = constant_part(&mut made.exprs, *value, &declared) else {
                continue;
            };
            number += 1;
            if !is_wanted(number - 1) {
                continue;
            }
            let owner = owner_of_law(model, at, port);
            let name = owner.whole.clone().unwrap_or_else(|| owner.name.clone());
            let symbol: SymbolId = made.exprs.new_symbol(name.clone(), SymbolKind::Input);
            made.inputs.push(Input {
                name,
                symbol,
                signal: Some(constant),
                unit: owner.unit,
                scale: 1.0,
                is_internal: true,
                span: owner.span,
            });
            let rest = made.exprs.sub(*value, constant);
            let input = made.exprs.symbol(symbol);
            let switched = made.exprs.add(rest, input);
            if let Law::Source { values, .. } = &mut made.elements[at].law {
                values[port] = switched;
            }
        }
    }
    made
}
