//! Storage whose law has folds: the same voltage or force at several values of what is stored.
//!
//! If such storage depends on other storage, its charge or displacement is the solution of an equation that has several of them, and
//! two of them meet at a fold: from there on, a run could only go on with another one, and charge would come from nowhere. The other
//! way round there is nothing to solve. So it comes first where storage depends on each other.

use crate::causality::Causality;
use lgm_algebra::expr::{ExprId, Exprs, SymbolId, to_f64};
use lgm_model::{Closed, Law, Model, NonlinearLaw, PortId, Variable};
use rustc_hash::FxHashMap;

/// Slopes are looked at in this many points per decade of what is stored.
const PER_DECADE: i32 = 12;

/// From 10 to the minus this to 10 to this: from the charge of a few electrons to the forces of bridges.
const DECADES: i32 = 15;

/// The ports of nonlinear storage that depend on other storage and have the same co-energy at several values of what is stored, at
/// the values of the parameters.
pub(super) fn folded(model: &Model, causality: &Causality) -> Vec<PortId> {
    let mut exprs: Option<Exprs> = None;
    let mut parameters: FxHashMap<SymbolId, f64> = FxHashMap::default();
    let mut found = Vec::new();
    for &port in &causality.nonlinear {
        let element = &model.elements[model.ports[port.index()].element.index()];
        let Law::Nonlinear(law) = &element.law else { continue };
        let at = (port.0 - element.ports.start) as usize;
        let Some((co_energy, stored)) = law.storage[at] else {
            continue;
        };
        if causality.solved[port.index()] != Some(co_energy) {
            continue;
        }
        let exprs = exprs.get_or_insert_with(|| {
            let entries = model.parameters.iter().flat_map(|parameter| &parameter.entries);
            parameters = entries.map(|entry| (entry.symbol, to_f64(&entry.value))).collect();
            model.exprs.clone()
        });
        let slope = slope(exprs, law, at, co_energy, stored);
        if slope.is_some_and(|slope| changes_sign(exprs, slope, stored, &parameters)) {
            found.push(port);
        }
    }
    found
}

/// How the law of a port that gives its co-energy changes with what is stored, up to a factor that does not.
fn slope(exprs: &mut Exprs, law: &NonlinearLaw, at: usize, co_energy: Variable, stored: SymbolId) -> Option<ExprId> {
    let ((effort, flow), (effort_closed, flow_closed)) = (law.variables[at], law.explicit[at]);
    let (given, closed) = match co_energy {
        Variable::Effort => (effort, effort_closed),
        Variable::Flow => (flow, flow_closed),
    };
    let holds_both = |id: &&ExprId| exprs.depends_on(**id, given) && exprs.depends_on(**id, stored);
    let residual = *law.residuals.iter().find(holds_both)?;
    match closed {
        Closed::Direct => exprs.differentiate(residual, stored),
        Closed::Inverse | Closed::Not => None,
    }
}

/// Whether a slope is positive at some value of what is stored and negative at another, as far as a grid of values shows it.
fn changes_sign(exprs: &Exprs, slope: ExprId, stored: SymbolId, parameters: &FxHashMap<SymbolId, f64>) -> bool {
    let (mut rises, mut falls) = (false, false);
    for value in grid() {
        let found = value_at(exprs, slope, stored, value, parameters).unwrap_or(0.0);
        rises |= found > 0.0;
        falls |= found < 0.0;
        if rises && falls {
            return true;
        }
    }
    false
}

/// Values of either sign and all sizes, from the largest negative one to the largest positive one.
pub(super) fn grid() -> impl Iterator<Item = f64> {
    let size = |step: i32| 10f64.powf(f64::from(step) / f64::from(PER_DECADE));
    let last = DECADES * PER_DECADE;
    let negative = (-last..=last).rev().map(move |step| -size(step));
    negative.chain((-last..=last).map(size))
}

/// The value of an expression where one symbol has this value, and the parameters have theirs.
pub(super) fn value_at(
    exprs: &Exprs,
    of: ExprId,
    symbol: SymbolId,
    value: f64,
    parameters: &FxHashMap<SymbolId, f64>,
) -> Option<f64> {
    let known = |other| match other == symbol {
        true => Some(value),
        false => parameters.get(&other).copied(),
    };
    let found = exprs.evaluate_f64(&[of], &known).ok()?[0];
    found.is_finite().then_some(found)
}
