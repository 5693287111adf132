//! The declared names of a body, each stored in its slot.

use crate::context::{GraphPart, Indices, Origin, Place, ValueSlot, index_text};
use crate::expand::{Deferred, Expansion};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_syntax::ast::{Name, Statement, StatementKind};

impl<'a> Expansion<'_, 'a> {
    pub(super) fn declare_value(&mut self, statement: &'a Statement, place: Place) {
        self.scopes.keep_envs();
        let (name, declared, origin) = match &statement.kind {
            StatementKind::Param(assigned) => (&assigned.name, None, Origin::Param(assigned)),
            StatementKind::Const(assigned) => (&assigned.name, None, Origin::Const(assigned)),
            StatementKind::Input(assigned) => (&assigned.name, None, Origin::Input(assigned)),
            // An output of a component is a signal that the model can read.
            StatementKind::Output(indexed) if place.frame.0 != 0 && self.scopes.is_value_of(indexed, place.frame) => {
                self.rest.signals.push(Deferred {
                    statement: indexed,
                    place,
                });
                (&indexed.declared.name, Some(&indexed.declared), Origin::Output(indexed))
            }
            StatementKind::Signal(indexed) => {
                self.rest.signals.push(Deferred {
                    statement: indexed,
                    place,
                });
                (&indexed.declared.name, Some(&indexed.declared), Origin::Signal(indexed))
            }
            StatementKind::State(indexed) => {
                self.rest.states.push(Deferred {
                    statement: indexed,
                    place,
                });
                (&indexed.declared.name, Some(&indexed.declared), Origin::State(indexed))
            }
            StatementKind::Discrete(indexed) => {
                self.rest.discretes.push(Deferred {
                    statement: indexed,
                    place,
                });
                (
                    &indexed.declared.name,
                    Some(&indexed.declared),
                    Origin::Discrete(indexed),
                )
            }
            _ => return,
        };
        let indices = match declared.map(|declared| self.declared_indices(declared, place)) {
            None => None,
            Some(Ok(indices)) => indices,
            Some(Err(())) => return,
        };
        let Some(slot) = self.scopes.value_slot(&name.text, place.frame) else {
            return;
        };
        let deferred = ValueSlot::Deferred(origin, place.env);
        let taken = match (&mut self.scopes.values[slot], indices) {
            (entry @ ValueSlot::Absent, None) => {
                *entry = deferred;
                false
            }
            (entry @ ValueSlot::Absent, Some(at)) => {
                *entry = ValueSlot::Indexed(Box::new([(at, deferred)].into_iter().collect()));
                false
            }
            (ValueSlot::Indexed(map), Some(at)) => map.insert(at, deferred).is_some(),
            _ => true,
        };
        if taken {
            self.declared_twice(name, indices);
        }
    }

    /// Binds a name to a graph part and reports duplicate declarations.
    pub(super) fn set_part(&mut self, name: &Name, indices: Option<Indices>, part: GraphPart, place: Place) {
        let Some(slot) = self.scopes.part_slot(&name.text, place.frame) else {
            return;
        };
        let taken = match (&mut self.scopes.parts[slot], indices) {
            (entry @ GraphPart::Absent, None) => {
                *entry = part;
                false
            }
            (entry @ GraphPart::Absent, Some(at)) => {
                *entry = GraphPart::Indexed(Box::new([(at, part)].into_iter().collect()));
                false
            }
            (GraphPart::Indexed(map), Some(at)) => map.insert(at, part).is_some(),
            _ => true,
        };
        if taken {
            self.declared_twice(name, indices);
        }
    }

    fn declared_twice(&mut self, name: &Name, indices: Option<Indices>) {
        if self.reports.reported.contains_key(&(Code::LGM0146, name.span)) {
            return;
        }
        let shown = match indices {
            Some(at) => format!("{}[{}]", name.text, index_text(at)),
            None => name.text.to_string(),
        };
        let diagnostic = Diagnostic::error(Code::LGM0107, format!("`{shown}` is declared twice"))
            .label(name.span, "declared again here")
            .help("give each its own name or index");
        self.report(diagnostic);
    }
}
