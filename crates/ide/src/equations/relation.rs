//! The equation by which other storage determines storage without a state: `jl.w = jm.w/n`.

use crate::equations::facts::is_of_model;
use crate::symbols::body_of;
use crate::trial::{changed, is_sound};
use crate::{Edit, Snapshot};
use lgm_algebra::expr::text;
use lgm_elaborate::analysis::Definition;
use lgm_model::{Law, Model, Variable};
use lgm_source::Span;
use lgm_source::words::has_word;

/// Models with more elements than this are not compiled again to show a relation in a hover.
const LARGEST: usize = 200;

/// Returns the equation of the co-energy variable of a storage element without a state of its own. The text with an additional output of
/// this variable is compiled; none if this fails.
pub(crate) fn relation(snapshot: &Snapshot, definition: &Definition) -> Option<String> {
    let model = snapshot.compilation().model()?;
    let system = snapshot.compilation().system()?;
    let is_own = is_of_model(snapshot, definition) && model.graph.elements.len() <= LARGEST;
    let follows = system
        .dependent
        .iter()
        .any(|storage| *storage.element == *definition.name);
    if !is_own || !follows {
        return None;
    }
    let (measure, name) = co_energy(model, &definition.name)?;
    let items = &snapshot.compilation().program().ast(snapshot.root())?.items;
    let last = items.iter().find_map(|item| {
        let statements = body_of(item);
        let holds = statements.iter().any(|statement| statement.span == definition.span);
        holds.then(|| statements.last())?
    })?;
    let wide = &snapshot.map().get(snapshot.root()).text;
    let output = (1..)
        .map(|number| format!("followed_{number}"))
        .find(|name| !has_word(wide, name))?;
    let at = last.span.start as usize;
    let edit = Edit {
        span: Span::new(snapshot.root(), at, at),
        text: format!("output {output} = {measure}({});\n", definition.name),
    };
    let trial = changed(snapshot, &[edit]).filter(is_sound)?;
    let system = trial.compilation().symbolic().system()?;
    let place = system.outputs.iter().position(|entry| *entry.name == *output)?;
    let value = text(&system.exprs, system.read_output(place));
    Some(format!("```lgm\n{}.{name} = {value}\n```", definition.name))
}

/// Returns the measurement and the name of the co-energy variable of a one-port storage element.
fn co_energy<'m>(model: &'m Model, name: &str) -> Option<(&'static str, &'m str)> {
    let element = model
        .graph
        .elements
        .iter()
        .find(|element| model.path_name(element.path) == name)?;
    if element.ports.len() != 1 {
        return None;
    }
    let Law::Storage { co_energy, .. } = &element.law else {
        return None;
    };
    let domain = &model.graph.domains[model.graph.ports[element.ports.start as usize].domain?.index()];
    Some(match domain.effort_is_across == (*co_energy == Variable::Effort) {
        true => ("across", &domain.across),
        false => ("through", &domain.through),
    })
}
