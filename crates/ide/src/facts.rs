//! What the equations say of the parts of the model, in the words of its text.

use crate::Snapshot;
use lgm_algebra::expr::{print, to_f64};
use lgm_elaborate::analysis::{Definition, DefinitionKind};
use lgm_model::Parameter;
use lgm_model::system::{DependentStorage, State, StateSystem};
use lgm_source::diagnostic::six_digits;

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
    let value = six_digits(to_f64(&entry.value));
    Some(match parameter.unit.as_deref().filter(|unit| *unit != "1") {
        Some(unit) => format!("{value} {unit}"),
        None => value,
    })
}
