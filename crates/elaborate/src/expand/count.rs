//! The number of elements of an instance of a recursive component, computed before expansion.
//!
//! A component that contains itself twice doubles with every level: sixty levels exceed any memory, without a loop.
//! Instances with equal structural parameters have equal numbers of parts, so each combination is counted once.

use crate::context::{AtPlace, EnvId, FrameId, Place};
use crate::expand::Expansion;
use crate::program::ItemRef;
use lgm_syntax::ast::{Component, Instance, Item, Statement, StatementKind};

/// The maximum counted depth: the expansion rejects deeper models.
const DEEPEST: u32 = 256;

impl<'a> Expansion<'_, 'a> {
    /// Returns true if an instance of a body would be inside another instance of it.
    pub fn holds_itself(&self, body: u32, place: Place) -> bool {
        let mut frame = place.frame;
        while frame.0 != 0 {
            let about = &self.scopes.frames[frame.0 as usize];
            if about.body == body {
                return true;
            }
            frame = about.outer.frame;
        }
        false
    }

    /// Returns the number of instances in an instance, including itself; `None` if it is infinite.
    pub fn count_parts(
        &mut self,
        instance: &'a Instance,
        at: ItemRef,
        component: &'a Component,
        place: Place,
    ) -> Option<u128> {
        let depth = self.scopes.frames[place.frame.0 as usize].depth + 1;
        if depth > DEEPEST {
            return None;
        }
        let body = self.scopes.body(at, component);
        // Objects created only for counting are discarded.
        let marks = (
            self.scopes.values.len(),
            self.scopes.parts.len(),
            self.scopes.frames.len(),
            self.scopes.envs.len(),
        );
        let later = (self.rest.signals.len(), self.rest.states.len());
        let frame = self.scopes.frame(body, None, place, Some(instance), depth);
        let count = self.count_in_frame(frame, at, component);
        self.scopes.values.truncate(marks.0);
        self.scopes.parts.truncate(marks.1);
        self.scopes.frames.truncate(marks.2);
        self.scopes.envs.truncate(marks.3);
        self.rest.signals.truncate(later.0);
        self.rest.states.truncate(later.1);
        Some(count?.saturating_add(1))
    }

    fn count_in_frame(&mut self, frame: FrameId, at: ItemRef, component: &'a Component) -> Option<u128> {
        let mut values = Vec::new();
        for formal in component.formals.iter().filter(|formal| formal.structural) {
            let Some(slot) = self.scopes.value_slot(&formal.name.text, frame) else {
                return Some(0);
            };
            let value = self.slot_value(slot, None, &formal.name.text, formal.name.span, frame);
            for entry in value.entries() {
                match self.arena.exprs.as_number(entry.expr) {
                    Some(number) => values.push(number.clone()),
                    None => return Some(0),
                }
            }
        }
        let key = (at, values);
        if let Some(count) = self.counts.get(&key) {
            return *count;
        }
        let place = Place { frame, env: EnvId(0) };
        let statements = &component.body[..];
        let count = self.at(place, |this| {
            for statement in statements {
                this.declare_value(statement, place);
            }
            this.count_statements(statements, place)
        });
        self.counts.insert(key, count);
        count
    }

    fn count_statements(&mut self, statements: &'a [Statement], place: Place) -> Option<u128> {
        let mut count: u128 = 0;
        for statement in statements {
            let more = match &statement.kind {
                StatementKind::Instance(instance) => self.count_instance(instance, place)?,
                StatementKind::If(block) => {
                    let mut taken = Some(&block.otherwise);
                    for (condition, body) in &block.branches {
                        match self.condition(condition, place) {
                            Some(false) => continue,
                            Some(true) => taken = Some(body),
                            None => taken = None,
                        }
                        break;
                    }
                    match taken {
                        Some(body) => self.count_statements(body, place)?,
                        None => 0,
                    }
                }
                // The iterations of a loop are counted when it is expanded; the first one shows whether the recursion grows.
                StatementKind::For(block) => match (self.integer(&block.from, place), self.integer(&block.to, place)) {
                    (Some(from), Some(to)) if from <= to => {
                        let inner = self.scopes.round(place, &block.index.text, from);
                        self.count_statements(&block.body, inner)?
                    }
                    _ => 0,
                },
                _ => 0,
            };
            count = count.saturating_add(more);
        }
        Some(count)
    }

    fn count_instance(&mut self, instance: &'a Instance, place: Place) -> Option<u128> {
        let program = self.program;
        let definition = program.definition(&instance.kind.text, instance.kind.span.source);
        match definition.map(|at| (at, program.item(at))) {
            Some((at, Item::Component(component))) => self.count_parts(instance, at, component, place),
            _ => Some(1),
        }
    }
}
