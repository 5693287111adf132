//! Storage whose law has folds: the same voltage or force at several values of what is stored.
//!
//! If such storage depends on other storage, its charge or displacement is the solution of an equation that has several of them, and
//! two of them meet at a fold: from there on, a run could only go on with another one, and charge would come from nowhere. The other
//! way round there is nothing to solve, but the rate has poles where the total of both has folds too. So the total is the state if there
//! is one: where its solutions meet, what is stored leaps. Whether they meet depends on the values of parameters, which sweeps and
//! emitted programs change, and the choice of states does not. Where there is no total, the storage with folds comes first.

use crate::causality::Causality;
use lgm_algebra::expr::{ExprId, Exprs, SymbolId, to_f64};
use lgm_model::{Closed, Law, Model, NonlinearLaw, PortId, Variable};
use rustc_hash::FxHashMap;

/// Slopes are looked at in this many points per decade of what is stored.
const PER_DECADE: i32 = 12;

/// Signs of slopes are looked at in this many: a fold may be confined to a few hundredths of what is stored.
const FINE_PER_DECADE: i32 = 60;

/// From 10 to the minus this to 10 to this: from the charge of a few electrons to the forces of bridges.
const DECADES: i32 = 15;

/// The ports of nonlinear storage that depend on other storage and have the same co-energy at several values of what is stored, at
/// the values of the parameters.
pub(crate) fn folded(model: &Model, causality: &Causality) -> Vec<PortId> {
    let mut exprs: Option<Exprs> = None;
    let mut parameters: FxHashMap<SymbolId, f64> = FxHashMap::default();
    let mut found = Vec::new();
    for each in dependent_storage(model, causality) {
        let exprs = exprs.get_or_insert_with(|| {
            parameters = values(model);
            model.exprs.clone()
        });
        let slope = slope(exprs, &each);
        if slope.is_some_and(|slope| changes_sign(exprs, slope, each.stored, &parameters)) {
            found.push(each.port);
        }
    }
    found
}

/// A port of nonlinear storage whose co-energy is determined by other storage.
pub(crate) struct Dependent<'a> {
    pub(crate) port: PortId,
    pub(crate) law: &'a NonlinearLaw,
    /// The symbol of the co-energy in the law, and how the law gives it.
    pub(crate) given: SymbolId,
    closed: Closed,
    pub(crate) co_energy: Variable,
    /// The symbol of the energy variable in the law.
    pub(crate) stored: SymbolId,
}

/// The ports of nonlinear storage that follow from other storage.
pub(crate) fn dependent_storage<'a>(
    model: &'a Model,
    causality: &'a Causality,
) -> impl Iterator<Item = Dependent<'a>> + use<'a> {
    causality.nonlinear.iter().filter_map(|&port| {
        let element = &model.elements[model.ports[port.index()].element.index()];
        let Law::Nonlinear(law) = &element.law else { return None };
        let at = (port.0 - element.ports.start) as usize;
        let (co_energy, stored) = law.storage[at]?;
        let ((effort, flow), (effort_closed, flow_closed)) = (law.variables[at], law.explicit[at]);
        let (given, closed) = match co_energy {
            Variable::Effort => (effort, effort_closed),
            Variable::Flow => (flow, flow_closed),
        };
        (causality.solved[port.index()] == Some(co_energy)).then_some(Dependent {
            port,
            law,
            given,
            closed,
            co_energy,
            stored,
        })
    })
}

/// The ports of nonlinear storage that have a state, and whose law gives the co-energy alone in a closed form.
pub(crate) fn states_of_explicit_laws(model: &Model, causality: &Causality) -> Vec<PortId> {
    let is_one = |port: &PortId| {
        let element = &model.elements[model.ports[port.index()].element.index()];
        let Law::Nonlinear(law) = &element.law else {
            return false;
        };
        let at = (port.0 - element.ports.start) as usize;
        law.storage[at].is_some_and(|(co_energy, _)| {
            let closed = match co_energy {
                Variable::Effort => law.explicit[at].0,
                Variable::Flow => law.explicit[at].1,
            };
            causality.solved[port.index()] == Some(co_energy.conjugate()) && matches!(closed, Closed::Direct)
        })
    };
    causality.nonlinear.iter().copied().filter(is_one).collect()
}

/// The values of the parameters.
pub(crate) fn values(model: &Model) -> FxHashMap<SymbolId, f64> {
    let entries = model.parameters.iter().flat_map(|parameter| &parameter.entries);
    entries.map(|entry| (entry.symbol, to_f64(&entry.value))).collect()
}

/// How the law of a port that gives its co-energy changes with what is stored, up to a factor that does not.
fn slope(exprs: &mut Exprs, each: &Dependent<'_>) -> Option<ExprId> {
    let holds_both = |id: &&ExprId| exprs.depends_on(**id, each.given) && exprs.depends_on(**id, each.stored);
    let residual = *each.law.residuals.iter().find(holds_both)?;
    match each.closed {
        Closed::Direct => exprs.differentiate(residual, each.stored),
        Closed::Inverse | Closed::Not => None,
    }
}

/// Whether a slope is positive at some value of what is stored and negative at another: as far as a fine grid of values shows it, and
/// what lies where it comes nearest to zero between them.
pub(crate) fn changes_sign(
    exprs: &Exprs,
    slope: ExprId,
    stored: SymbolId,
    parameters: &FxHashMap<SymbolId, f64>,
) -> bool {
    let at = |value: f64| value_at(exprs, slope, stored, value, parameters).unwrap_or(0.0);
    let (mut rises, mut falls) = (false, false);
    let mut before: [(f64, f64); 2] = [(f64::NAN, f64::NAN); 2];
    for value in fine_grid() {
        let found = at(value);
        rises |= found > 0.0;
        falls |= found < 0.0;
        let [first, middle] = before;
        if middle.1.abs() <= first.1.abs() && middle.1.abs() <= found.abs() && middle.1 * found > 0.0 {
            let sign = middle.1.signum();
            let nearest = least(&|value| sign * at(value), first.0, value);
            rises |= sign * nearest > 0.0;
            falls |= sign * nearest < 0.0;
        }
        if rises && falls {
            return true;
        }
        before = [middle, (value, found)];
    }
    false
}

/// The least value of a function between two places, by golden sections.
fn least(of: &dyn Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    let part = 0.5 * (5f64.sqrt() - 1.0);
    let mut best = f64::INFINITY;
    for _ in 0..40 {
        let (a, b) = (high - part * (high - low), low + part * (high - low));
        let (of_a, of_b) = (of(a), of(b));
        best = best.min(of_a).min(of_b);
        match of_a < of_b {
            true => high = b,
            false => low = a,
        }
    }
    best
}

/// The grid of [`grid`], with values between its own, and zero.
fn fine_grid() -> impl Iterator<Item = f64> {
    let size = |step: i32| 10f64.powf(f64::from(step) / f64::from(FINE_PER_DECADE));
    let last = DECADES * FINE_PER_DECADE;
    let negative = (-last..=last).rev().map(move |step| -size(step));
    negative.chain([0.0]).chain((-last..=last).map(size))
}

/// Values of either sign and all sizes, from the largest negative one to the largest positive one.
pub(crate) fn grid() -> impl Iterator<Item = f64> {
    let size = |step: i32| 10f64.powf(f64::from(step) / f64::from(PER_DECADE));
    let last = DECADES * PER_DECADE;
    let negative = (-last..=last).rev().map(move |step| -size(step));
    negative.chain((-last..=last).map(size))
}

/// The value of an expression where one symbol has this value, and the parameters have theirs.
pub(crate) fn value_at(
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
