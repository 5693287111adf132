//! The equations of the elements of a model, in terms of its text.

use crate::Snapshot;
use crate::snapshot::storage::Stored;
use lgm_algebra::expr::{ExprId, SymbolId, print, to_f64};
use lgm_algebra::units::{Unit, UnitPower, unit_of};
use lgm_elaborate::analysis::{Definition, DefinitionKind};
use lgm_model::system::{DependentStorage, StateSystem};
use lgm_model::{Model, Parameter, SiUnit, Signal};
use lgm_source::diagnostic::six_digits;
use lgm_syntax::ast::UnitExpr;
use rustc_hash::{FxHashMap, FxHashSet};

/// For models with more elements than this, hovers show no symbolic equations: forming them takes too long.
const LARGEST: usize = 2000;

/// Returns the equations in terms of the parameters.
pub(crate) fn symbolic(snapshot: &Snapshot) -> Option<&StateSystem> {
    let model = snapshot.compilation().model()?;
    match model.graph.elements.len() <= LARGEST {
        true => snapshot.compilation().symbolic().system(),
        false => None,
    }
}

/// Returns true if a definition is part of the compiled model.
pub(crate) fn is_of_model(snapshot: &Snapshot, definition: &Definition) -> bool {
    let model = snapshot.compilation().model().map(|model| model.heading.span);
    let within = definition
        .within
        .map(|within| snapshot.analysis().get(within).name_span);
    model.is_some() && within == model
}

/// Returns the storage of a declaration of the model or of a component in it; none if the declaration stores nothing.
pub(crate) fn stored<'s>(snapshot: &'s Snapshot, definition: &Definition) -> Option<Stored<'s>> {
    let system = snapshot.compilation().system()?;
    snapshot.storages()?.at(system, definition.name_span)
}

/// The maximum number of definitions that are shown below equations.
const DEFINITIONS: usize = 12;

/// Returns the equations of states as printed by `lgm equations`, `der(mass.v) = (F - b*mass.v - spring.F)/m`, one per line, followed by
/// the meanings of undeclared names.
pub(crate) fn equations_of(system: &StateSystem, places: &[usize]) -> String {
    let (mut lines, mut roots) = (Vec::new(), Vec::new());
    for place in places {
        let equation = system.read_equation(*place);
        lines.push(format!(
            "{} = {}",
            equation.left,
            print::text(&system.exprs, equation.right)
        ));
        roots.extend(equation.factors);
        roots.push(equation.right);
    }
    lines.extend(definitions(system, roots));
    lines.join("\n")
}

/// Returns the meanings of the assignments and loop unknowns in expressions, recursively.
pub(crate) fn definitions(system: &StateSystem, mut roots: Vec<ExprId>) -> Vec<String> {
    let exprs = &system.exprs;
    let assignments = system.read_assignments();
    let (mut named, mut looped) = (
        vec![false; assignments.len()],
        vec![false; system.equations.loops.len()],
    );
    while !roots.is_empty() {
        let symbols: FxHashSet<SymbolId> = exprs.symbols_of(&roots).into_iter().collect();
        roots.clear();
        for (at, assignment) in assignments.iter().enumerate() {
            if symbols.contains(&assignment.symbol) && !std::mem::replace(&mut named[at], true) {
                roots.push(assignment.value);
            }
        }
        for (at, each) in system.equations.loops.iter().enumerate() {
            let holds = each.unknowns.iter().any(|unknown| symbols.contains(unknown));
            if holds && !std::mem::replace(&mut looped[at], true) {
                roots.extend(system.read_residuals(at));
            }
        }
    }
    let name = |symbol: SymbolId| &*exprs.symbol_info(symbol).name;
    let mut lines = Vec::new();
    for (assignment, _) in assignments.iter().zip(&named).filter(|entry| *entry.1) {
        lines.push(format!(
            "{} = {}",
            name(assignment.symbol),
            print::text(exprs, assignment.value)
        ));
    }
    for (at, each) in system
        .equations
        .loops
        .iter()
        .enumerate()
        .filter(|entry| looped[entry.0])
    {
        let unknowns: Vec<&str> = each.unknowns.iter().map(|unknown| name(*unknown)).collect();
        let residuals = system.read_residuals(at).iter();
        let residuals = residuals.map(|residual| format!("0 = {}", print::text(exprs, *residual)));
        lines.push(format!("// solved for {}:", unknowns.join(", ")));
        lines.extend(residuals);
    }
    if lines.len() > DEFINITIONS {
        let more = lines.len() - DEFINITIONS;
        lines.truncate(DEFINITIONS);
        let word = if more == 1 { "line" } else { "lines" };
        lines.push(format!("// and {more} more {word}, which `lgm equations` prints"));
    }
    lines
}

/// Returns a parameter of the model, with its values.
pub(crate) fn parameter<'s>(snapshot: &'s Snapshot, definition: &Definition) -> Option<&'s Parameter> {
    let kinds = [DefinitionKind::Parameter, DefinitionKind::Constant];
    let model = snapshot.compilation().known_model()?;
    let is_it = |parameter: &&Parameter| parameter.span == definition.name_span;
    model
        .parameters
        .iter()
        .find(is_it)
        .filter(|_| kinds.contains(&definition.kind))
}

/// Returns the scalar parameters of the model with their own values: names, values in SI, and named SI units.
pub(crate) fn parameters(snapshot: &Snapshot) -> Vec<(&str, f64, Option<&str>)> {
    let model = snapshot.compilation().model();
    let all = model.into_iter().flat_map(|model| &model.parameters);
    let own = all.filter_map(|parameter| match &parameter.entries[..] {
        [entry] if entry.derived.is_none() => {
            let unit = parameter.unit.as_deref().filter(|unit| **unit != *"1");
            Some((&*parameter.name, to_f64(&entry.value), unit))
        }
        _ => None,
    });
    own.collect()
}

/// Returns the value of a scalar parameter with its SI unit: `2.5 N/m`.
pub(crate) fn value_of(parameter: &Parameter) -> Option<String> {
    let [entry] = &parameter.entries[..] else { return None };
    Some(with_unit(&six_digits(to_f64(&entry.value)), parameter.unit.as_ref()))
}

/// Returns the value of a single number declared in the model, or the signal of an input that is not set elsewhere.
pub(crate) fn declared_value(snapshot: &Snapshot, definition: &Definition) -> Option<String> {
    let model = snapshot.compilation().known_model()?;
    let is_here = |span| span == definition.name_span;
    match definition.kind {
        DefinitionKind::Constant | DefinitionKind::Signal => fixed_values(model, definition),
        DefinitionKind::Input => {
            let input = model.inputs.iter().find(|input| is_here(input.span))?;
            let signal = input.signal?;
            let values = values_of(model);
            let of = |symbol| values.get(&symbol).copied();
            // A time-varying signal is shown unchanged.
            let words = match model.exprs.evaluate_f64(&[signal], &of) {
                Ok(found) => six_digits(found[0]),
                Err(_) => format!("`{}`", print::text(&model.exprs, signal)),
            };
            Some(with_unit(&words, input.unit.as_ref()))
        }
        _ => parameter(snapshot, definition).and_then(value_of),
    }
}

/// Returns the meaning of a written unit; none if it is not a unit.
pub(crate) fn meaning(unit: &UnitExpr) -> Option<Unit> {
    let factors = unit.factors.iter().map(|factor| UnitPower {
        name: &factor.name.text,
        exponent: factor.exponent,
        span: factor.name.span,
    });
    unit_of(factors).ok()
}

/// The maximum number of values that are listed for one declaration.
const VALUES: usize = 8;

/// Returns the values of a constant or of a constant signal, for each instance of its declaration and for each entry. A common value is
/// listed once.
fn fixed_values(model: &Model, definition: &Definition) -> Option<String> {
    let constants = model
        .constants
        .iter()
        .filter(|known| known.span == definition.name_span);
    let mut found: Vec<(f64, Option<&SiUnit>)> = constants
        .map(|known| (to_f64(&known.value), known.unit.as_ref()))
        .collect();
    let known = values_of(model);
    let of = |symbol| known.get(&symbol).copied();
    for signal in signals_of(model, definition) {
        // A time-varying signal has no value.
        let value = model.exprs.evaluate_f64(&[signal.value], &of).ok()?[0];
        found.push((value, signal.unit.as_ref()));
    }
    let unit = found.first()?.1;
    let mut values: Vec<String> = found.iter().map(|entry| six_digits(entry.0)).collect();
    values.dedup();
    if values.len() > VALUES {
        let count = values.len();
        values.truncate(VALUES);
        values.push(format!(".. ({count})"));
    }
    Some(with_unit(&values.join(", "), unit))
}

/// Returns the entries of a signal, for each instance of its declaration.
fn signals_of<'m>(model: &'m Model, definition: &Definition) -> impl Iterator<Item = &'m Signal> {
    let span = definition.name_span;
    model.signals.iter().filter(move |signal| signal.span == span)
}

/// Returns the unit of a signal, if it is known and has a name.
pub(crate) fn signal_unit<'s>(snapshot: &'s Snapshot, definition: &Definition) -> Option<&'s SiUnit> {
    let model = snapshot.compilation().known_model()?;
    let found = signals_of(model, definition).next()?;
    found.unit.as_ref().filter(|unit| ***unit != *"1")
}

/// Returns the values of the parameters in SI.
pub(crate) fn values_of(model: &Model) -> FxHashMap<SymbolId, f64> {
    let entries = model.parameters.iter().flat_map(|parameter| &parameter.entries);
    entries.map(|entry| (entry.symbol, to_f64(&entry.value))).collect()
}

/// Returns the equivalent of dependent storage as a sentence: symbolic and numeric; empty if it is unknown.
pub(crate) fn equivalent(snapshot: &Snapshot, storage: &DependentStorage) -> String {
    if storage.equivalent.is_empty() {
        return String::new();
    }
    let unit = storage.unit.as_ref();
    let over_parameters = symbolic(snapshot).and_then(|system| {
        let mut all = system.dependent.iter();
        let same = all.find(|other| other.element == storage.element)?;
        Some(&*same.equivalent).filter(|words| !words.is_empty() && *words != storage.equivalent)
    });
    let number = with_unit(&format!("`{}`", storage.equivalent), unit);
    match over_parameters {
        Some(words) => format!(" Equivalent: `{words}`, which is {number}."),
        None => format!(" Equivalent: {number}."),
    }
}

fn with_unit(words: &str, unit: Option<&SiUnit>) -> String {
    match unit.filter(|unit| ***unit != *"1") {
        Some(unit) => format!("{words} {unit}"),
        None => words.to_string(),
    }
}
