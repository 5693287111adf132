//! The traversal of a body through its loops and conditions: values and nodes first, then instances.

use crate::context::reports::EmptyLoop;
use crate::context::{AtPlace, EnvId, FrameId, Place};
use crate::expand::{Deferred, Expansion};
use crate::syntax_queries::bindings;
use lgm_syntax::ast::{self, Statement, StatementKind};
use lgm_syntax::visit::find_in_statements;

/// The passes of a traversal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Walk {
    /// Declares values, nodes and ports.
    Declare,
    /// Creates elements and components, and defers chains and measures.
    Build,
}

/// Returns true if statements declare values, nodes or ports.
fn declares(statements: &[Statement]) -> bool {
    let declares = |statement: &Statement| {
        let without = matches!(
            statement.kind,
            StatementKind::Instance(_)
                | StatementKind::Chain(_)
                | StatementKind::Experiment(_)
                | StatementKind::Table(_)
                | StatementKind::Faulty(_)
                | StatementKind::When(_)
                | StatementKind::Every(_)
                | StatementKind::For(_)
                | StatementKind::If(_)
        );
        (!without).then_some(())
    };
    find_in_statements(statements, &mut |statement| declares(statement)).is_some()
}

impl<'a> Expansion<'_, 'a> {
    /// Expands a frame and all components inside.
    pub(super) fn expand(&mut self, frame: FrameId) {
        let body = self.scopes.frames[frame.0 as usize].body;
        let statements = self.scopes.bodies[body as usize].statements;
        let place = Place { frame, env: EnvId(0) };
        self.at(place, |this| this.expand_statements(statements, place));
    }

    fn expand_statements(&mut self, statements: &'a [Statement], place: Place) {
        // Values outside of loops and conditions come first: sizes and conditions may use later declarations.
        for statement in statements {
            self.declare_value(statement, place);
        }
        if place.frame.0 == 0 {
            self.force_parameters(statements, place);
        }
        self.walk(statements, place, Walk::Declare, true);
        if !self.reports.is_stopped() {
            let first = self.graph.model.graph.elements.len();
            let outer = std::mem::take(&mut self.postponed);
            self.walk(statements, place, Walk::Build, true);
            let waiting = std::mem::replace(&mut self.postponed, outer);
            if !waiting.is_empty() {
                self.make_postponed(place.frame, first, waiting);
            }
        }
    }

    fn force_parameters(&mut self, statements: &'a [Statement], place: Place) {
        for statement in statements {
            if let StatementKind::Param(assigned) | StatementKind::Const(assigned) | StatementKind::Input(assigned) =
                &statement.kind
                && let Some(slot) = self.scopes.value_slot(&assigned.name.text, place.frame)
            {
                self.slot_value(slot, None, &assigned.name.text, assigned.name.span, place.frame);
            }
        }
    }

    fn walk(&mut self, statements: &'a [Statement], place: Place, walk: Walk, outermost: bool) {
        for statement in statements {
            if self.reports.is_stopped() {
                return;
            }
            match &statement.kind {
                StatementKind::For(block) => self.walk_loop(block, place, walk),
                StatementKind::If(block) => self.walk_condition(block, place, walk),
                _ if walk == Walk::Declare => {
                    if !outermost {
                        self.declare_value(statement, place);
                    }
                    self.declare_junctions(statement, place);
                }
                _ => self.build(statement, place),
            }
        }
    }

    fn walk_loop(&mut self, block: &'a ast::For, place: Place, walk: Walk) {
        let (Some(from), Some(to)) = (self.integer(&block.from, place), self.integer(&block.to, place)) else {
            return;
        };
        if let (true, [first, ..]) = (to < from, &block.body[..]) {
            let found = EmptyLoop {
                range: block.from.span.to(block.to.span),
                body: first.span.to(block.body[block.body.len() - 1].span),
            };
            self.reports.add_empty_loop(place.frame, found);
        }
        if to < from || block.body.is_empty() || (walk == Walk::Declare && !declares(&block.body)) {
            return;
        }
        let span = block.from.span.to(block.to.span);
        let count = (i128::from(to) - i128::from(from) + 1) as u128;
        let before = self.made;
        if !self.room_for(count, span) {
            return;
        }
        for value in from..=to {
            let before_round = self.made;
            let inner = self.scopes.round(place, &block.index.text, value);
            self.at(inner, |this| this.walk(&block.body, inner, walk, false));
            // Unused declarations without effect leave no trace.
            if self.scopes.kept_envs <= inner.env.0 as usize {
                self.scopes.envs.truncate(inner.env.0 as usize);
            }
            if self.reports.is_stopped() || (self.made == before_round && self.is_one_too_many(span)) {
                return;
            }
            if value == from {
                // The first iteration shows the size of the others: a loop that is too large is rejected before it uses memory.
                let each = u128::from(self.made - before);
                if !self.room_for(each.saturating_mul(count - 1), span) {
                    return;
                }
            }
        }
    }

    fn walk_condition(&mut self, block: &'a ast::If, place: Place, walk: Walk) {
        for (condition, body) in &block.branches {
            match self.condition(condition, place) {
                Some(true) => return self.walk(body, place, walk, false),
                Some(false) => {}
                None => return,
            }
        }
        self.walk(&block.otherwise, place, walk, false);
    }

    fn build(&mut self, statement: &'a Statement, place: Place) {
        match &statement.kind {
            StatementKind::Instance(instance) => self.instance(instance, place),
            StatementKind::Chain(list) => {
                self.scopes.keep_envs();
                self.rest.chains.push(Deferred { statement: list, place });
            }
            StatementKind::Output(_) if place.frame.0 != 0 => {}
            StatementKind::Output(indexed) => {
                self.scopes.keep_envs();
                self.rest.outputs.push(Deferred {
                    statement: indexed,
                    place,
                });
            }
            StatementKind::Experiment(attributes) => self.rest.experiments.push(attributes),
            StatementKind::When(_) | StatementKind::Every(_) => {
                self.scopes.keep_envs();
                self.rest.blocks.push(Deferred { statement, place });
            }
            StatementKind::Input(assigned) if place.frame.0 != 0 => {
                // Its value may measure parts that do not exist yet.
                let instance = self.scopes.frames[place.frame.0 as usize].instance;
                let is_bound = instance
                    .is_some_and(|instance| bindings(instance).any(|binding| binding.0.text == assigned.name.text));
                if let (false, None, Some(slot)) = (
                    is_bound,
                    &assigned.value,
                    self.scopes.value_slot(&assigned.name.text, place.frame),
                ) {
                    self.slot_value(slot, None, &assigned.name.text, assigned.name.span, place.frame);
                }
            }
            StatementKind::Param(assigned) if place.frame.0 != 0 || place.env.0 != 0 => {
                // An unused parameter still belongs to the model.
                if let Some(slot) = self.scopes.value_slot(&assigned.name.text, place.frame) {
                    self.slot_value(slot, None, &assigned.name.text, assigned.name.span, place.frame);
                }
            }
            _ => {}
        }
    }
}
