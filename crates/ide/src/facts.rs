//! What the equations say of the parts of the model, in the words of its text.

use crate::Snapshot;
use lgm_algebra::expr::{SymbolId, print, to_f64};
use lgm_elaborate::analysis::{Definition, DefinitionKind};
use lgm_model::system::{DependentStorage, State, StateSystem};
use lgm_model::{Model, Parameter, SiUnit};
use lgm_source::diagnostic::six_digits;
use rustc_hash::FxHashMap;

/// Models with more elements than this have no equations over the parameters under the pointer: these take too long to be made.
const LARGEST: usize = 2000;

/// The equations over the parameters.
pub(crate) fn symbolic(snapshot: &Snapshot) -> Option<&StateSystem> {
    let model = snapshot.compilation().model()?;
    match model.elements.len() <= LARGEST {
        true => snapshot.compilation().symbolic_system(),
        false => None,
    }
}

/// Whether a definition is a part of the model that is compiled.
pub(crate) fn is_of_model(snapshot: &Snapshot, definition: &Definition) -> bool {
    let model = snapshot.compilation().model().map(|model| model.span);
    let within = definition
        .within
        .map(|within| snapshot.analysis().get(within).name_span);
    model.is_some() && within == model
}

/// Whether the name of an element, `cell[2].c`, is that of a definition of the model, or of a part of it.
fn is_named(element: &str, name: &str) -> bool {
    element
        .strip_prefix(name)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['[', '.']))
}

/// The states that a storage element of the model carries.
pub(crate) fn states<'s>(system: &'s StateSystem, name: &str) -> Vec<(usize, &'s State)> {
    let states = system.states.iter().enumerate();
    states.filter(|(_, state)| is_named(&state.element, name)).collect()
}

/// What a storage element without a state follows from.
pub(crate) fn dependent<'s>(system: &'s StateSystem, name: &str) -> Option<&'s DependentStorage> {
    system.dependent.iter().find(|storage| *storage.element == *name)
}

/// `der(mass.v) = (F - b*mass.v - spring.F)/m`, one line per state; none if a mass matrix stands before the rates.
pub(crate) fn equations_of(system: &StateSystem, places: &[usize]) -> Option<String> {
    if system.mass_matrix.is_some() {
        return None;
    }
    let line = |place: &usize| {
        let rate = print::text(&system.exprs, system.derivatives[*place]);
        format!("der({}) = {rate}", system.states[*place].name)
    };
    Some(places.iter().map(line).collect::<Vec<_>>().join("\n"))
}

/// A parameter of the model, with its values.
pub(crate) fn parameter<'s>(snapshot: &'s Snapshot, definition: &Definition) -> Option<&'s Parameter> {
    let kinds = [DefinitionKind::Parameter, DefinitionKind::Constant];
    let model = snapshot.compilation().model()?;
    let is_it = |parameter: &&Parameter| parameter.span == definition.name_span;
    model
        .parameters
        .iter()
        .find(is_it)
        .filter(|_| kinds.contains(&definition.kind))
}

/// The value of a scalar parameter with its SI unit: `2.5 N/m`.
pub(crate) fn value_of(parameter: &Parameter) -> Option<String> {
    let [entry] = &parameter.entries[..] else { return None };
    Some(with_unit(&six_digits(to_f64(&entry.value)), parameter.unit.as_ref()))
}

/// The value of a single number that is declared in the model, or the signal of an input that is set by nobody else.
pub(crate) fn declared_value(snapshot: &Snapshot, definition: &Definition) -> Option<String> {
    let model = snapshot.compilation().model()?;
    let is_here = |span| span == definition.name_span;
    match definition.kind {
        DefinitionKind::Constant => {
            let found = model.constants.iter().find(|constant| is_here(constant.span))?;
            Some(with_unit(&six_digits(to_f64(&found.value)), found.unit.as_ref()))
        }
        DefinitionKind::Input => {
            let input = model.inputs.iter().find(|input| is_here(input.span))?;
            let signal = input.signal?;
            let values = values_of(model);
            let of = |symbol| values.get(&symbol).copied();
            // One that changes with time is shown as it is.
            let words = match model.exprs.evaluate_f64(&[signal], &of) {
                Ok(found) => six_digits(found[0]),
                Err(_) => format!("`{}`", print::text(&model.exprs, signal)),
            };
            Some(with_unit(&words, input.unit.as_ref()))
        }
        _ => parameter(snapshot, definition).and_then(value_of),
    }
}

/// The values of the parameters in SI.
pub(crate) fn values_of(model: &Model) -> FxHashMap<SymbolId, f64> {
    let entries = model.parameters.iter().flat_map(|parameter| &parameter.entries);
    entries.map(|entry| (entry.symbol, to_f64(&entry.value))).collect()
}

/// What is dependent storage equivalent to, in the words of a sentence; nothing where that is not known.
pub(crate) fn equivalent(storage: &DependentStorage) -> String {
    match &*storage.equivalent {
        "" => String::new(),
        found => format!(
            " Equivalent: {}.",
            with_unit(&format!("`{found}`"), storage.unit.as_ref())
        ),
    }
}

fn with_unit(words: &str, unit: Option<&SiUnit>) -> String {
    match unit.filter(|unit| ***unit != *"1") {
        Some(unit) => format!("{words} {unit}"),
        None => words.to_string(),
    }
}
