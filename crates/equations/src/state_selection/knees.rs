//! Storage without a state whose law has a knee: what it stores changes much faster at some voltage or current than beyond it, as the
//! flux of a core that saturates.
//!
//! If such storage follows from other storage, the rate of the state falls by that factor within the knee and rises again behind it. A
//! step that begins before the knee and ends behind it sees nothing of this, nor does its estimate of the error: the flux is lost in
//! silence. No method with steps can know of it. How much is lost depends on how narrow the knee is beside the swing of a run, too,
//! which nobody knows beforehand: so every knee asks for another state, and sharp ones are warned of if there is none.

use crate::causality::Causality;
use crate::state_selection::folds::{Dependent, dependent_storage, grid, value_at, values};
use lgm_algebra::expr::{Exprs, SymbolId};
use lgm_model::{DomainId, Law, Model, PortId, StorageForm, Variable};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use rustc_hash::FxHashMap;

/// A knee that changes the rate of a state by less than this factor is not warned of. Where no total was the state, a factor of 10 cost
/// 1e-2 of the results, at knees of a thousandth of the swing; a factor of 750 nothing, at wider ones.
const SHARP: f64 = 10.0;

/// Slopes that differ by less than this share are the same.
const ROUNDING: f64 = 1e-9;

/// A knee in the law of a storage without a state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Knee {
    /// The port of the storage.
    pub(crate) port: PortId,
    /// How much faster what it stores changes there than far from there, beside the linear storage that it shares a rate with.
    factor: f64,
    /// Whether the law has the same voltage or current at several values of what is stored.
    pub(crate) has_folds: bool,
}

impl Knee {
    pub(crate) fn is_sharp(&self) -> bool {
        self.factor > SHARP
    }
}

/// The knees in laws of storage without a state, at the values of the parameters. A law with folds, as that of the ports `folded`, has
/// one at each of them.
pub(crate) fn knees(model: &Model, causality: &Causality, folded: &[PortId]) -> Vec<Knee> {
    // What all of them need, made for the first one.
    let mut shared: Option<(Exprs, FxHashMap<SymbolId, f64>, Smallest)> = None;
    let mut found = Vec::new();
    for each in dependent_storage(model, causality) {
        let Dependent {
            port, given, stored, ..
        } = each;
        let (exprs, parameters, smallest) = shared.get_or_insert_with(|| {
            let parameters = values(model);
            let smallest = smallest_linear(model, causality, &parameters);
            (model.exprs.clone(), parameters, smallest)
        });
        let kind = (model.ports[port.index()].domain, each.co_energy);
        let beside = smallest.get(&kind).copied().unwrap_or(0.0);
        let sharpness = each.law.residuals.iter().filter_map(|residual| {
            let by_given = exprs.differentiate(*residual, given)?;
            let by_stored = exprs.differentiate(*residual, stored)?;
            // Where the slope depends on neither, there is no knee; where on both, it is not looked at.
            let along = match (exprs.depends_on(by_given, given), exprs.depends_on(by_stored, stored)) {
                (true, false) => given,
                (false, true) => stored,
                _ => return None,
            };
            let slope = |value| {
                let above = value_at(exprs, by_given, along, value, parameters)?;
                let below = value_at(exprs, by_stored, along, value, parameters)?;
                Some((above / below).abs()).filter(|slope| slope.is_finite())
            };
            // Beyond the range of a law there is no slope.
            knee(&grid().filter_map(slope).collect::<Vec<_>>(), beside)
        });
        let has_folds = folded.contains(&port);
        let at_fold = has_folds.then_some(1.0 / ROUNDING);
        if let Some(factor) = sharpness.chain(at_fold).reduce(f64::max) {
            found.push(Knee {
                port,
                factor,
                has_folds,
            });
        }
    }
    found
}

/// How much faster what is stored changes at most than far from there, beside the linear storage that it shares a rate with; none if
/// it changes the faster the farther out.
fn knee(slopes: &[f64], beside: f64) -> Option<f64> {
    let (first, last) = (*slopes.first()?, *slopes.last()?);
    let most = slopes.iter().copied().fold(0.0, f64::max);
    let far = first.max(last);
    (most > far * (1.0 + ROUNDING)).then(|| most / (far + beside))
}

/// The smallest storage of each kind: of each domain, by its co-energy.
type Smallest = FxHashMap<(Option<DomainId>, Variable), f64>;

/// The smallest linear storage of each kind that has a state, in what it stores per unit of its co-energy.
fn smallest_linear(model: &Model, causality: &Causality, parameters: &FxHashMap<SymbolId, f64>) -> Smallest {
    let mut found = Smallest::default();
    for port in &causality.independent {
        let about = &model.ports[port.index()];
        let element = &model.elements[about.element.index()];
        let Law::Storage { co_energy, value, form } = &element.law else {
            continue;
        };
        let at = (port.0 - element.ports.start) as usize;
        let known = |symbol| parameters.get(&symbol).copied();
        let Ok(values) = model.exprs.evaluate_f64(&[value.get(at, at)], &known) else {
            continue;
        };
        let value = match form {
            StorageForm::Direct => values[0].abs(),
            StorageForm::Inverse => 1.0 / values[0].abs(),
        };
        if value.is_finite() && value > 0.0 {
            let smallest = found.entry((about.domain, *co_energy)).or_insert(value);
            *smallest = smallest.min(value);
        }
    }
    found
}

/// A warning of a knee that the rates of states pass through.
pub(crate) fn warning(model: &Model, knee: &Knee) -> Diagnostic {
    let Knee { port, factor, .. } = *knee;
    let element = model.ports[port.index()].element;
    let name = model.element_name(element);
    let message = format!(
        "`{name}` follows from other storage, and what it stores changes {factor:.0e} times as fast at some values as at others: steps of a run may pass over that"
    );
    Diagnostic::warning(Code::LGM0449, message)
        .label(model.element_span(element), "this has no state of its own")
        .help(format!(
            "compare a run with one of `--retain {name}`, by `--method sdirk` and at a smaller tolerance, or with shorter steps by more rows (`--points`)"
        ))
}
