//! The equations of all combinations of modes, gathered from the model.

use super::combinations::combinations;
use super::merged::Merged;
use super::row::{Margins, enter_conditions, row};
use super::table::{Change, Element, EmittedBlock, Gathered, Mode, Row, Set};
use super::{Changes, refused};
use crate::code::mass::with_rates_as_unknowns;
use crate::code::trials::TrialRuns;
use lgm_algebra::expr::SymbolId;
use lgm_equations::switching::Condition;
use lgm_model::switching::{Target, Trigger};
use lgm_model::system::StateSystem;
use lgm_model::{Element as ModelElement, Law, Variable};
use lgm_source::diagnostic::Diagnostic;
use std::sync::Arc;

fn number_of(variable: Variable) -> usize {
    match variable {
        Variable::Effort => 0,
        Variable::Flow => 1,
    }
}

/// Gathers the equations of all combinations; returns an error if a program cannot contain them.
pub(crate) fn gather(
    changes: &Changes<'_>,
    first: &StateSystem,
    trials: &dyn TrialRuns,
) -> Result<Gathered, Diagnostic> {
    let events = changes.events;
    let model = events.model();
    let mut made = combinations(changes)?;
    refuse_foreign(first, &made)?;
    for (_, found) in &mut made {
        if let Ok(found) = found {
            prepare(&mut found.system, trials);
        }
    }
    let mut elements = elements(changes);
    let ports = elements.iter().map(|element| element.ports).sum();
    let mut merged = Merged::new(model, first, ports);
    let columns = merged.system.states.len();
    for found in made.iter().filter_map(|made| made.1.as_ref().ok()) {
        merged.add_states(&found.system);
    }
    let starts = events.starts(changes.options);
    let like = merged.system.states.first().cloned();
    if !elements.is_empty() {
        for (name, _) in &starts {
            merged.add_still_state(name, like.as_ref());
        }
    }
    for name in assigned_states(changes) {
        merged.add_still_state(&name, like.as_ref());
    }
    let mut start_known: Vec<bool> = (0..merged.system.states.len()).map(|at| at < columns).collect();
    for (name, start) in &starts {
        if let Some(at) = merged.state(name) {
            start_known[at] = true;
            let zero = merged.system.exprs.zero();
            match start {
                Some(start) => merged.system.states[at].start = *start,
                None if at >= columns => merged.system.states[at].start = zero,
                None => {}
            }
        }
    }
    let mut margins = Margins::default();
    let mut conditions = all_conditions(&elements, model.switching.blocks.len());
    for (modes, found) in &made {
        if let Ok(found) = found {
            enter_conditions(
                &mut margins,
                &mut conditions,
                (&mut elements, modes),
                &found.combination,
            );
        }
    }
    let mut rows = Vec::with_capacity(made.len());
    for (modes, found) in made {
        let equations = found.map(|found| row(&mut merged, &margins, (&elements, &modes), &found));
        rows.push(Row { modes, equations });
    }
    for (element, switched) in elements.iter_mut().zip(&model.switching.elements) {
        element.name = model.element_name(switched.element);
    }
    let first_modes = model.switching.first_modes();
    let place = rows.iter().position(|row| row.modes == first_modes);
    let place = place.expect("invariant: the combination of the start is the first that is made");
    finish(&mut merged, &rows);
    let equations = || rows.iter().filter_map(|row| row.equations.as_ref().ok());
    let turns = equations().map(|row| row.inside.turns.len()).max().unwrap_or(0);
    let phases = equations().map(|row| row.inside.phases.len()).max().unwrap_or(0);
    let temporaries = temporaries(changes);
    Ok(Gathered {
        columns,
        first: place,
        margins: margins.places.len() + turns + phases,
        turns,
        phases,
        conditions,
        blocks: blocks(changes, &merged, &temporaries)?,
        discretes: model.switching.discretes.iter().map(|each| each.input).collect(),
        first_offset: model.inputs.len(),
        held: events.held().collect(),
        temporaries,
        start_known,
        elements,
        rows,
        system: merged.system,
    })
}

/// Rejects features that no program supports in several combinations.
fn refuse_foreign(first: &StateSystem, made: &[super::combinations::Made]) -> Result<(), Diagnostic> {
    let found = || made.iter().filter_map(|made| made.1.as_ref().ok());
    let model = &*first.model;
    if found().count() > 1
        && let Some(with_loop) =
            found().find(|made| !made.system.equations.loops.is_empty() || made.system.equations.mass_matrix.is_some())
    {
        let owner = with_loop
            .system
            .equations
            .loops
            .iter()
            .flat_map(|each| &each.owners)
            .flatten()
            .next();
        let name = owner.map_or_else(|| "its storage".to_string(), |owner| format!("`{}`", owner.0));
        let reason = format!("the algebraic loop of {name} occurs in several combinations of modes");
        let help = "run it with `lgm simulate`; or add storage to the loop, so that its variables are states";
        return Err(refused(model, &reason, help));
    }
    if first.starts.search.is_some() {
        let reason = "its initial values require an iteration";
        let help = "run it with `lgm simulate`; or give the initial values of the states themselves";
        return Err(refused(model, reason, help));
    }
    Ok(())
}

/// Transforms the equations of a combination into the form that programs use.
fn prepare(system: &mut StateSystem, trials: &dyn TrialRuns) {
    if system.equations.mass_matrix.is_some() {
        *system = with_rates_as_unknowns(system);
    }
    if let Some(widened) = trials.widened(system) {
        *system = widened;
    }
}

/// Returns the elements with their modes, without names.
fn elements(changes: &Changes<'_>) -> Vec<Element> {
    let model = changes.events.model();
    let (mut first_port, mut first_mode) = (0, 0);
    let (mut conditions, mut places) = (0.., 0..);
    let mut elements = Vec::new();
    for switched in &model.switching.elements {
        let element = &model.graph.elements[switched.element.index()];
        let ports = element.ports.len();
        let modes = switched.modes.iter().map(|mode| Mode {
            name: mode.name.to_string(),
            given: match &mode.law {
                Law::Source { given, values } => (0..ports)
                    .map(|at| (at < values.len()).then(|| number_of(*given)))
                    .collect(),
                _ => vec![None; ports],
            },
            changes: (mode.changes.iter().zip(&mut conditions))
                .map(|(change, condition)| Change {
                    condition,
                    to: change.to,
                    is_free: change.is_free,
                    bound: None,
                    sets: (change.sets.iter().zip(&mut places))
                        .map(|(set, place)| Set {
                            place,
                            port: first_port + (set.port.0 - element.ports.start) as usize,
                            variable: number_of(set.variable),
                        })
                        .collect(),
                })
                .collect(),
        });
        let modes: Vec<Mode> = modes.collect();
        let count = modes.len();
        elements.push(Element {
            name: String::new(),
            is_junction: *element.kind == *ModelElement::JUNCTION,
            first_port,
            first_mode,
            ports,
            modes,
        });
        first_port += ports;
        first_mode += count;
    }
    elements
}

/// Returns conditions that never hold, one per change and one per block.
fn all_conditions(elements: &[Element], blocks: usize) -> Vec<Condition> {
    let modes = elements.iter().flat_map(|element| &element.modes);
    let changes: usize = modes.map(|mode| mode.changes.len()).sum();
    vec![Condition::Decided(false); changes + blocks]
}

/// Copies the equations of the first combination to the merged system, for callers that need only one combination.
fn finish(merged: &mut Merged, rows: &[Row]) {
    let first = rows.iter().find_map(|row| row.equations.as_ref().ok());
    let first = first.expect("invariant: a combination has equations");
    merged.system.equations.derivatives.clone_from(&first.derivatives);
    merged.system.equations.output_values.clone_from(&first.outputs);
}

/// Returns the temporaries of all blocks.
fn temporaries(changes: &Changes<'_>) -> Vec<SymbolId> {
    let assignments = changes.events.blocks().iter().flat_map(|block| &block.assignments);
    let mut found = Vec::new();
    for assignment in assignments {
        if let Target::Temporary(symbol) = assignment.target
            && !found.contains(&symbol)
        {
            found.push(symbol);
        }
    }
    found
}

/// Returns the name of the state that an assignment sets; none if its target is not a state.
fn assigned_state(changes: &Changes<'_>, target: Target) -> Option<Arc<str>> {
    let model = changes.events.model();
    match target {
        Target::Discrete(_) | Target::Temporary(_) => None,
        Target::State(symbol) => {
            let integral = model.integrals.iter().find(|integral| integral.symbol == symbol);
            let integral = integral.expect("invariant: a target is an integral of the model");
            Some(model.path_name(integral.path).into())
        }
        Target::Storage(port) => Some(changes.events.storage_name(port, changes.options)),
    }
}

fn assigned_states(changes: &Changes<'_>) -> Vec<Arc<str>> {
    let assignments = changes.events.blocks().iter().flat_map(|block| &block.assignments);
    let names = assignments.filter_map(|assignment| assigned_state(changes, assignment.target));
    names.collect()
}

fn blocks(changes: &Changes<'_>, merged: &Merged, temporaries: &[SymbolId]) -> Result<Vec<EmittedBlock>, Diagnostic> {
    let events = changes.events;
    let place = |target: Target| match target {
        Target::Discrete(discrete) => Ok((0, discrete)),
        Target::Temporary(symbol) => {
            let found = temporaries.iter().position(|temporary| *temporary == symbol);
            Ok((1, found.expect("invariant: all temporaries were looked for")))
        }
        Target::State(_) | Target::Storage(_) => {
            let name = assigned_state(changes, target);
            let state = name.as_ref().and_then(|name| merged.state(name));
            state.map(|state| (2, state)).ok_or_else(|| {
                let name = name.map_or_else(String::new, |name| format!(" `{name}`"));
                let reason = format!("a block sets{name}, which is not a state in any combination of modes");
                refused(
                    &merged.system.model,
                    &reason,
                    "run it with `lgm simulate`; or remove the assignment",
                )
            })
        }
    };
    let block = |(at, block): (usize, &lgm_model::switching::EventBlock)| {
        let (period, first) = match block.trigger {
            Trigger::Every { period, first } => (period, first),
            Trigger::Becomes(_) => (0.0, 0.0),
            Trigger::Initially => (-1.0, 0.0),
        };
        let assignments = block.assignments.iter().map(|assignment| {
            let (kind, place) = place(assignment.target)?;
            Ok((kind, place, assignment.value))
        });
        Ok(EmittedBlock {
            name: events.model().block_name(block, changes.lines[at]),
            period,
            first,
            assignments: assignments.collect::<Result<_, Diagnostic>>()?,
        })
    };
    events.blocks().iter().enumerate().map(block).collect()
}
