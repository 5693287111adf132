//! Totals that have several solutions: whether what is stored leaps somewhere, and the warning of that.

use crate::nonlinear::prepare::Prepared;
use crate::state_selection::folds::{changes_sign, values};
use lgm_algebra::expr::{ExprId, SymbolId};
use lgm_model::PortId;
use lgm_model::system::StateSystem;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use rustc_hash::FxHashMap;

/// Whether the totals that determine storage with folds have several solutions, at the values of the parameters. What does not follow
/// from one total by one equation counts as if it had.
pub(crate) fn totals_have_folds(prepared: &Prepared, system: &StateSystem) -> bool {
    let model = &prepared.model;
    let mut exprs = system.exprs.clone();
    let mut known: FxHashMap<SymbolId, ExprId> = FxHashMap::default();
    for assignment in &system.assignments {
        let value = exprs.substitute(&[assignment.value], |symbol| known.get(&symbol).copied())[0];
        known.insert(assignment.symbol, value);
    }
    let entries = system.parameters.iter().flat_map(|parameter| &parameter.entries);
    let given = model.parameters.iter().flat_map(|parameter| &parameter.entries);
    let of_model = values(model);
    let parameters: FxHashMap<SymbolId, f64> = entries
        .zip(given)
        .map(|(entry, given)| (entry.symbol, of_model[&given.symbol]))
        .collect();
    prepared.folded.iter().any(|port| {
        let name = stored_name(prepared, *port);
        let is_unknown = |symbol: &SymbolId| name.as_deref() == Some(&*system.exprs.symbol_info(*symbol).name);
        let found = system.loops.iter().find(|each| each.unknowns.iter().any(is_unknown));
        let Some([unknown]) = found.map(|each| &each.unknowns[..]) else {
            return true;
        };
        let residual = found.map(|each| each.residuals[0]).expect("invariant: it was found");
        let residual = exprs.substitute(&[residual], |symbol| known.get(&symbol).copied())[0];
        let Some(slope) = exprs.differentiate(residual, *unknown) else {
            return true;
        };
        let is_open = |symbol: &SymbolId| symbol != unknown && !parameters.contains_key(symbol);
        exprs.symbols_of(&[slope]).iter().any(is_open) || changes_sign(&exprs, slope, *unknown, &parameters)
    })
}

/// The name of what a port stores.
fn stored_name(prepared: &Prepared, port: PortId) -> Option<String> {
    let element = prepared.model.ports[port.index()].element;
    let integral = prepared
        .released
        .iter()
        .find(|integral| integral.owner == Some(element))?;
    Some(prepared.model.path_name(integral.path).to_string())
}

/// A warning that what is stored leaps somewhere, or should.
pub(crate) fn warning(prepared: &Prepared, port: PortId, has_total: bool) -> Diagnostic {
    let model = &prepared.model;
    let element = model.ports[port.index()].element;
    let name = model.element_name(element);
    let message = match has_total {
        true => format!("what `{name}` stores leaps where its total with other storage has no further solution nearby"),
        false => format!(
            "what `{name}` stores would have to leap where other storage that follows from it outweighs its slope"
        ),
    };
    let what = match has_total {
        true => "the same value belongs to several amounts stored",
        false => "runs may pass such a place with wrong numbers",
    };
    let mut warning = Diagnostic::warning(Code::LGM0450, message).label(model.element_span(element), what);
    let mut integrals = prepared.released.iter();
    if has_total && integrals.any(|integral| integral.owner == Some(element) && integral.start.is_some()) {
        warning =
            warning.note("of several solutions with the same total, a run may begin with another one than its `start`");
    }
    warning.help(format!(
        "a small resistance in series with `{name}`, or a small damper beside it, says where a leap ends; or compare runs by several methods and tolerances"
    ))
}
