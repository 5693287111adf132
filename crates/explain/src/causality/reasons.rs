//! The reasons for the stroke of a bond, and for storage having a state or none.

use super::report::Cause;
use crate::names::Names;
use lgm_equations::bond::End;
use lgm_equations::causality::scap::{Assignment, Cause as Decided, Step};
use lgm_equations::causality::words::list;
use lgm_equations::{Assigned, Options};
use lgm_model::{Closed, ElementId, Law, PortId, Variable};
use rustc_hash::FxHashSet;

/// The elements that were requested to keep their states.
pub(super) struct Retained {
    elements: FxHashSet<ElementId>,
    /// Ports whose strokes were set by hand.
    by_hand: FxHashSet<PortId>,
}

impl Retained {
    pub(super) fn of(assigned: &Assigned<'_>, options: &Options, by_hand: &[PortId]) -> Retained {
        let elements = match options.retain.is_empty() {
            true => Vec::new(),
            false => lgm_equations::retained(&assigned.model, options, &mut Vec::new()),
        };
        Retained {
            elements: elements.into_iter().collect(),
            by_hand: by_hand.iter().copied().collect(),
        }
    }
}

/// Returns the cause of a step, the element or junction that decided it, and the reason as a sentence without its full stop.
pub(super) fn because(
    assigned: &Assigned<'_>,
    names: Names<'_>,
    assignment: &Assignment,
    setters: &[Option<usize>],
    step: &Step,
    retained: &Retained,
) -> (Cause, String, String) {
    // Even if its junction was decided earlier, a source has its stroke because it is a source.
    let decided = match (step.cause, source_at(names, step)) {
        (Decided::Junction(_), Some(source)) => Decided::Chosen(source),
        (decided, _) => decided,
    };
    match decided {
        Decided::Chosen(port) => {
            let (cause, reason) = chosen(assigned, names, assignment, port, retained);
            (cause, names.port(port), reason)
        }
        Decided::Junction(junction) => {
            let info = &names.graph.junctions[junction as usize];
            let name = names.junction(junction);
            let common = names.common(junction);
            let bond = &names.graph.bonds[step.bond as usize];
            let sets = step.stroke.imposed(bond, End::Junction(junction)) == info.kind.common();
            let reason = match (sets, setters[junction as usize]) {
                (true, _) => format!("no other bond sets the {common} of {name}"),
                (false, Some(setter)) => {
                    let setter = &names.graph.bonds[setter];
                    let other = match setter.tail == End::Junction(junction) {
                        true => setter.head,
                        false => setter.tail,
                    };
                    let other = match other {
                        End::Junction(other) => names.junction(other),
                        End::Port(port) => names.port(port),
                    };
                    format!("{name} gets its {common} from {other}")
                }
                (false, None) => format!("{name} gets its {common} from another bond"),
            };
            (Cause::Junction, name, reason)
        }
        Decided::Coupler(id) => {
            let name = names.model.element_name(id);
            let word = match &names.model.graph.elements[id.index()].law {
                Law::Coupler { matrix, .. } if matrix.rows * matrix.columns > 1 => {
                    "its other ports leave only one possibility"
                }
                _ => "it transmits the variable set at its other port",
            };
            (Cause::Coupler, name.clone(), format!("{name}: {word}"))
        }
    }
}

/// Returns the port of a source at an end of the bond of a step.
fn source_at(names: Names<'_>, step: &Step) -> Option<PortId> {
    let bond = &names.graph.bonds[step.bond as usize];
    [bond.tail, bond.head].into_iter().find_map(|end| match end {
        End::Port(port) => {
            let element = names.model.graph.ports[port.index()].element;
            matches!(names.model.graph.elements[element.index()].law, Law::Source { .. }).then_some(port)
        }
        End::Junction(_) => None,
    })
}

/// Returns the reason for the causality of an element's port.
fn chosen(
    assigned: &Assigned<'_>,
    names: Names<'_>,
    assignment: &Assignment,
    port: PortId,
    retained: &Retained,
) -> (Cause, String) {
    let model = names.model;
    let id = model.graph.ports[port.index()].element;
    let element = &model.graph.elements[id.index()];
    let name = names.port(port);
    let taken = assigned.causality.solved[port.index()].unwrap_or(Variable::Effort);
    let (takes, gives) = (names.word(port, taken), names.word(port, taken.conjugate()));
    if let Law::Source { given, .. } = &element.law {
        return match *given == taken {
            false => (Cause::Source, format!("{name} is a source of {gives}")),
            true => (
                Cause::Source,
                format!("{name} is in conflict: its {takes} is already set"),
            ),
        };
    }
    if retained.by_hand.contains(&port) {
        return (Cause::Hand, format!("set by hand: {name} sets its {gives}"));
    }
    if let Some(co_energy) = assigned.co_energy(port) {
        return match () {
            () if assigned.causality.tied.contains(&port) => (
                Cause::Law,
                format!("the laws of ideal elements set the {takes} of {name}"),
            ),
            () if co_energy == taken => (Cause::Loop, format!("the loop of bonds sets the {takes} of {name}")),
            () if element.is_velocity() => (
                Cause::Storage,
                format!("the {gives} at {name} is a state, because a modulus depends on its integral"),
            ),
            () if retained.elements.contains(&id) => {
                (Cause::Storage, format!("{name} is retained: it sets its {gives}"))
            }
            () => (Cause::Storage, format!("integral causality: {name} sets its {gives}")),
        };
    }
    if let Law::Nonlinear(law) = &element.law {
        let (effort, flow) = law.explicit[(port.0 - element.ports.start) as usize];
        let (own, other) = match taken {
            Variable::Flow => (effort, flow),
            Variable::Effort => (flow, effort),
        };
        return match () {
            () if own > other => (Cause::Law, format!("the law of {name} sets its {gives}")),
            () if own < other => {
                let reason =
                    format!("the law of {name} sets its {takes}, which the rest of the model also sets: a loop");
                (Cause::Loop, reason)
            }
            () if own == Closed::Not => (Cause::Law, format!("the law of {name} is solved for its {gives}")),
            () => (
                Cause::Law,
                format!("the law of {name} can set either variable: its {gives} is chosen"),
            ),
        };
    }
    let is_in_loop = || {
        let junction = names.graph.ports[port.index()].junction;
        assignment.solved_together.contains(&junction)
    };
    match is_in_loop() {
        true => (
            Cause::Loop,
            format!("next to a loop of bonds: {name} receives the {takes} and sets the {gives}"),
        ),
        false => (
            Cause::Dissipator,
            format!("free choice: {name} receives the {takes} and sets the {gives}"),
        ),
    }
}

/// Returns the reason why storage is in integral or derivative causality at a port, as a sentence without its full stop.
pub(super) fn why(
    assigned: &Assigned<'_>,
    names: Names<'_>,
    port: PortId,
    (co_energy, is_integral): (Variable, bool),
    from: &[PortId],
    retained: &Retained,
) -> String {
    let id = names.model.graph.ports[port.index()].element;
    let element = &names.model.graph.elements[id.index()];
    let word = names.word(port, co_energy);
    let by_hand = if retained.by_hand.contains(&port) {
        "set by hand; "
    } else {
        ""
    };
    if is_integral {
        return match () {
            () if !by_hand.is_empty() => "set by hand".to_string(),
            () if element.is_velocity() => "a modulus depends on the integral of this velocity".to_string(),
            () if retained.elements.contains(&id) => format!("retained: its {word} was chosen before others"),
            () => format!("nothing before it sets its {word}"),
        };
    }
    let by = from.iter().map(|port| names.port(*port)).collect::<Vec<String>>();
    match (by.is_empty(), assigned.causality.tied.contains(&port)) {
        (true, true) => format!("ideal elements tie its {word}"),
        (false, true) => format!("ideal elements tie its {word} to {}", list(&by)),
        (true, false) if !assigned.is_sound => format!("its {word} is already set"),
        (true, false) => format!("its {word} is always zero"),
        (false, false) => format!("{by_hand}its {word} follows from {}", list(&by)),
    }
}
