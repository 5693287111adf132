//! The given and the dependent variable of a source or a dissipator.

use crate::Snapshot;
use lgm_elaborate::analysis::Definition;
use lgm_model::{Element, Law, Model, Port, PortId, Variable};

/// The maximum number of ports that a sentence names.
const NAMED: usize = 8;

/// The description of a port: the kind of its element, and the variable set by the rest of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Source(Variable),
    Dissipator(Variable),
}

/// Returns the causality of the sources or dissipators of a declaration; none for other elements.
pub(crate) fn port_causality(snapshot: &Snapshot, definition: &Definition) -> Option<String> {
    let model = snapshot.compilation().model()?;
    let is_it = |element: &&Element| model.paths[element.path.index()].span == definition.name_span;
    let mut found: Vec<(Role, &Port, Vec<String>)> = Vec::new();
    for element in model.graph.elements.iter().filter(is_it) {
        for id in element.ports.clone().map(PortId) {
            let (Some(role), port) = (role_of(snapshot, element, id), &model.graph.ports[id.index()]) else {
                continue;
            };
            let name = format!("`{}`", port_name(model, element, port));
            match found.iter_mut().find(|entry| entry.0 == role) {
                Some(entry) => entry.2.push(name),
                None => found.push((role, port, vec![name])),
            }
        }
    }
    let is_one = found.len() == 1;
    let lines = found.into_iter().map(|(role, port, names)| {
        let words = role.words(model, port);
        match is_one {
            true => words,
            false if names.len() > NAMED => format!("{}, .. ({}): {words}", names[..NAMED].join(", "), names.len()),
            false => format!("{}: {words}", names.join(", ")),
        }
    });
    let lines: Vec<String> = lines.collect();
    (!lines.is_empty()).then(|| lines.join("\n\n"))
}

/// Returns the role of a port; none if it stores, couples, or is unknown.
fn role_of(snapshot: &Snapshot, element: &Element, id: PortId) -> Option<Role> {
    let solved = || snapshot.solved()?.get(id.index()).copied().flatten();
    match &element.law {
        // Independent of the rest of the model.
        Law::Source { given, .. } => Some(Role::Source(given.conjugate())),
        Law::Dissipator(_) => solved().map(Role::Dissipator),
        Law::Nonlinear(law) if law.storage.iter().all(Option::is_none) => solved().map(Role::Dissipator),
        Law::Nonlinear(_) | Law::Storage { .. } | Law::Coupler { .. } => None,
    }
}

impl Role {
    fn words(self, model: &Model, port: &Port) -> String {
        match self {
            Role::Source(given) => format!(
                "A source of {}; the rest of the model determines {}.",
                variable(model, port, given.conjugate()),
                variable(model, port, given)
            ),
            Role::Dissipator(given) => format!(
                "{} causality: the rest of the model sets {}, and the law sets {}.",
                match given {
                    Variable::Flow => "Resistance",
                    Variable::Effort => "Conductance",
                },
                variable(model, port, given),
                variable(model, port, given.conjugate())
            ),
        }
    }
}

/// Returns the name of a variable of a port in its domain, and its kind; on bonds, `effort` and `flow`.
fn variable(model: &Model, port: &Port, variable: Variable) -> String {
    let word = match variable {
        Variable::Effort => "effort",
        Variable::Flow => "flow",
    };
    let Some(domain) = port.domain.map(|domain| &model.graph.domains[domain.index()]) else {
        return format!("the {word}");
    };
    match domain.effort_is_across == (variable == Variable::Effort) {
        true => format!("`{}` (across)", domain.across),
        false => format!("`{}` (through)", domain.through),
    }
}

/// Returns the name of a port: `r`, `r.a`, or `r[2]` for a vector.
fn port_name(model: &Model, element: &Element, port: &Port) -> String {
    let mut name = model.path_name(element.path);
    if let Some(port) = port.name.as_deref() {
        name.push_str(&format!(".{port}"));
    }
    if let Some(entry) = port.entry {
        name.push_str(&format!("[{entry}]"));
    }
    name
}
