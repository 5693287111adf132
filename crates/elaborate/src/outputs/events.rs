//! Discrete variables, and the blocks of assignments at events.

use crate::context::values::Scalar;
use crate::context::{AtPlace, GraphPart, Place};
use crate::evaluate::Side;
use crate::expand::Deferred;
use crate::outputs::Results;
use lgm_algebra::expr::{ExprId, Node, Relation, SymbolId, SymbolKind, to_f64};
use lgm_algebra::units::Dimension;
use lgm_model::switching::{Assignment, ControlledJunction, EventBlock, Target, Trigger};
use lgm_model::{Law, Measure, NodeId, Variable};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_syntax::ast::{self, Action, Expr, StatementKind};

impl<'a> Results<'_, 'a> {
    /// Evaluates the discrete variables, including unused ones.
    pub fn evaluate_discretes(&mut self) {
        for at in 0..self.expanded.discretes.len() {
            let later = self.expanded.discretes[at];
            self.at(later.place, |this| {
                let declared = &later.statement.declared;
                let Ok(indices) = this.declared_indices(declared, later.place) else {
                    return;
                };
                let name = &declared.name;
                if let Some(slot) = this.scopes.value_slot(&name.text, later.place.frame) {
                    this.slot_value(slot, indices, &name.text, name.span, later.place.frame);
                }
                for attribute in &later.statement.attributes {
                    let word = &attribute.name.text;
                    let diagnostic = Diagnostic::error(Code::LGM0136, format!("a discrete variable has no `{word}`"))
                        .label(attribute.name.span, "nothing is allowed here")
                        .help("its initial value is given in its declaration: `discrete hits = 0;`");
                    this.report(diagnostic);
                }
            });
        }
    }

    /// Evaluates the blocks, in text order.
    pub fn evaluate_blocks(&mut self) {
        for at in 0..self.expanded.blocks.len() {
            if self.reports.is_stopped() {
                return;
            }
            let later = self.expanded.blocks[at];
            self.at(later.place, |this| this.block(later));
        }
    }

    /// Evaluates the conditions of junctions, `one A, on = closed;`.
    pub fn evaluate_junctions(&mut self) {
        for at in 0..self.expanded.controlled.len() {
            let later = self.expanded.controlled[at];
            self.at(later.place, |this| this.controlled(later.statement, later.place));
        }
    }

    fn controlled(&mut self, declared: &'a ast::JunctionDecl, place: Place) {
        for attribute in &declared.attributes {
            let name = &attribute.name;
            if &*name.text != "on" {
                let diagnostic = Diagnostic::error(Code::LGM0153, format!("`{}` is not allowed here", name.text))
                    .label(name.span, "unknown")
                    .help("only `on = CONDITION` can follow the names of junctions");
                self.report(diagnostic);
                continue;
            }
            let span = attribute.value.span;
            let Some(condition) = self.eval_scalar(&attribute.value, place) else {
                continue;
            };
            if !self.check_condition(condition.expr, span) {
                continue;
            }
            for declared in &declared.names {
                let Some(slot) = self.scopes.part_slot(&declared.name.text, place.frame) else {
                    continue;
                };
                let GraphPart::Nodes(view) = self.scopes.parts[slot] else {
                    continue;
                };
                let shape = &self.scopes.shapes[view.shape as usize];
                let count = shape.sizes.iter().product::<i64>() as u32 * shape.width;
                for node in view.base..view.base + count {
                    self.graph.model.switching.junctions.push(ControlledJunction {
                        node: NodeId(node),
                        condition: condition.expr,
                        span,
                    });
                }
            }
        }
    }

    fn block(&mut self, Deferred { statement, place }: Deferred<'a, ast::Statement>) {
        let (trigger, body) = match &statement.kind {
            StatementKind::When(when) if when.is_initial() => (Some(Trigger::Initially), &when.body),
            StatementKind::When(when) => {
                let condition = self.eval_scalar(&when.condition, place);
                let span = when.condition.span;
                let condition = condition.filter(|condition| self.check_condition(condition.expr, span));
                (condition.map(|condition| Trigger::Becomes(condition.expr)), &when.body)
            }
            StatementKind::Every(every) => (self.every(every, place), &every.body),
            _ => return,
        };
        let mut assignments = Vec::new();
        self.at_event = true;
        self.actions(body, None, place, &mut assignments);
        self.at_event = false;
        if let Some(trigger) = trigger {
            let instance = self.scopes.frames[place.frame.0 as usize].path;
            self.graph.model.switching.blocks.push(EventBlock {
                trigger,
                assignments,
                instance,
                span: statement.span,
            });
        }
    }

    /// Returns the instants of `every PERIOD from FIRST`.
    fn every(&mut self, every: &'a ast::Every, place: Place) -> Option<Trigger> {
        let period = self.seconds(&every.period, place);
        let first = match &every.first {
            None => Some(0.0),
            Some((word, value)) => {
                if &*word.text != "from" {
                    let diagnostic = Diagnostic::error(Code::LGM0165, format!("`{}` is not allowed here", word.text))
                        .label(word.span, "expected `from`")
                        .help("write `every Ts from t0 { .. }`");
                    self.report(diagnostic);
                }
                self.seconds(value, place)
            }
        };
        let (period, first) = (period?, first?);
        if period > 0.0 {
            return Some(Trigger::Every { period, first });
        }
        let diagnostic = Diagnostic::error(Code::LGM0165, "the period of `every` must be longer than 0 s")
            .label(every.period.span, format!("this is {period} s"))
            .help("write the period: `every 1 [ms] { .. }`");
        self.report(diagnostic);
        None
    }

    /// Returns a compile-time instant or period, in seconds.
    fn seconds(&mut self, expr: &'a Expr, place: Place) -> Option<f64> {
        let value = self.eval_scalar(expr, place)?;
        let time = Scalar {
            expr: value.expr,
            dim: self.dims.id(Dimension::TIME),
        };
        if !self.same_dimension(Side::of(expr, value.dim), Side::of(expr, time.dim), "compared") {
            return None;
        }
        let symbols = self.arena.exprs.symbols_of(&[value.expr]);
        let varies = |symbol: &SymbolId| self.arena.exprs.symbol_info(*symbol).kind != SymbolKind::Parameter;
        if let Some(symbol) = symbols.iter().copied().find(varies) {
            let other = self.arena.exprs.symbol_info(symbol).name.clone();
            let diagnostic = Diagnostic::error(Code::LGM0402, "the period of `every` must be known at compile time")
                .label(expr.span, format!("this depends on `{other}`"))
                .help(format!("declare `{other}` as `const` or `param`"));
            let diagnostic = self.label_symbol(diagnostic, symbol);
            self.report(diagnostic);
            return None;
        }
        let numbers = self.exact(&[value.expr], expr.span)?;
        self.fix_parameters(symbols);
        Some(to_f64(&numbers[0]))
    }

    /// Fixes the parameters that determine instants: their values are those of the compilation, and no run can vary them.
    fn fix_parameters(&mut self, mut symbols: Vec<SymbolId>) {
        while let Some(symbol) = symbols.pop() {
            let model = &mut self.evaluator.graph.model;
            let mut entries = model.parameters.iter_mut().flat_map(|parameter| &mut parameter.entries);
            let Some(at) = entries.position(|entry| entry.symbol == symbol) else {
                continue;
            };
            let mut entries = model.parameters.iter().flat_map(|parameter| &parameter.entries);
            let Some((derived, value)) = entries.nth(at).map(|entry| (entry.derived, entry.value.clone())) else {
                continue;
            };
            symbols.extend(self.arena.exprs.symbols_of(derived.as_slice()));
            let number = self.arena.exprs.number(value);
            let model = &mut self.evaluator.graph.model;
            let mut entries = model.parameters.iter_mut().flat_map(|parameter| &mut parameter.entries);
            if let Some(entry) = entries.nth(at) {
                entry.derived = Some(number);
            }
        }
    }

    /// Evaluates assignments in order; `guard` is their condition.
    fn actions(&mut self, body: &'a [Action], guard: Option<ExprId>, place: Place, out: &mut Vec<Assignment>) {
        for action in body {
            match action {
                Action::Assign(assignment) => self.assignment(assignment, guard, place, out),
                Action::If(choice) => {
                    // The condition that no previous branch is taken.
                    let mut rest = guard;
                    for (condition, body) in &choice.branches {
                        let Some(decided) = self.eval_scalar(condition, place) else {
                            return;
                        };
                        if !self.check_condition(decided.expr, condition.span) {
                            return;
                        }
                        let decided = self.decide(decided.expr, condition, out);
                        let taken = self.both(rest, decided);
                        self.actions(body, Some(taken), place, out);
                        let not = self.arena.exprs.not(decided);
                        rest = Some(self.both(rest, not));
                    }
                    self.actions(&choice.otherwise, rest, place, out);
                }
            }
        }
    }

    /// Stores the condition of a choice, so that an assignment in a branch does not change it.
    fn decide(&mut self, condition: ExprId, written: &Expr, out: &mut Vec<Assignment>) -> ExprId {
        let symbol = self.arena.exprs.new_symbol("choice", SymbolKind::Assignment);
        out.push(Assignment {
            target: Target::Temporary(symbol),
            value: condition,
            span: written.span,
        });
        let (held, half) = (self.arena.exprs.symbol(symbol), self.half());
        self.arena.exprs.relation(Relation::Greater, held, half)
    }

    fn half(&mut self) -> ExprId {
        let half = num_rational::BigRational::new(1.into(), 2.into());
        self.arena.exprs.number(half)
    }

    fn both(&mut self, guard: Option<ExprId>, other: ExprId) -> ExprId {
        match guard {
            None => other,
            Some(guard) => self.arena.exprs.relation(Relation::And, guard, other),
        }
    }

    fn assignment(
        &mut self,
        assignment: &'a ast::Assignment,
        guard: Option<ExprId>,
        place: Place,
        out: &mut Vec<Assignment>,
    ) {
        let target = self.eval(&assignment.target, place);
        let value = self.eval(&assignment.value, place);
        if target.is_error() || value.is_error() {
            return;
        }
        if target.shape() != value.shape() {
            self.width_mismatch(&target, assignment.target.span, &value, assignment.value.span);
            return;
        }
        let mut assigned = Vec::with_capacity(target.entries().len());
        for (target, value) in target.entries().to_vec().into_iter().zip(value.entries().to_vec()) {
            let sides = (
                Side::of(&assignment.target, target.dim),
                Side::of(&assignment.value, value.dim),
            );
            if !self.same_dimension(sides.0, sides.1, "assigned") {
                return;
            }
            let Some(found) = self.target(target.expr) else {
                return self.no_target(&assignment.target);
            };
            let value = match guard {
                None => value.expr,
                Some(guard) => self.arena.exprs.if_else(guard, value.expr, target.expr),
            };
            assigned.push(Assignment {
                target: found,
                value,
                span: assignment.span,
            });
        }
        if assigned.len() > 1 {
            self.hold_values(&mut assigned, out);
        }
        out.append(&mut assigned);
    }

    /// Computes all entries of a vector before the first one is set, since each may read the others: `x := A*x`.
    fn hold_values(&mut self, assigned: &mut [Assignment], out: &mut Vec<Assignment>) {
        for entry in assigned {
            let symbol = self.arena.exprs.new_symbol("entry", SymbolKind::Assignment);
            let held = self.arena.exprs.symbol(symbol);
            out.push(Assignment {
                target: Target::Temporary(symbol),
                value: std::mem::replace(&mut entry.value, held),
                span: entry.span,
            });
        }
    }

    /// Returns the target on the left-hand side of an assignment.
    fn target(&self, expr: ExprId) -> Option<Target> {
        let Node::Symbol(symbol) = *self.arena.exprs.node(expr) else {
            return None;
        };
        let model = &self.graph.model;
        let discretes = &model.switching.discretes;
        if let Some(at) = discretes
            .iter()
            .position(|discrete| model.inputs[discrete.input].symbol == symbol)
        {
            return Some(Target::Discrete(at));
        }
        if model
            .integrals
            .iter()
            .any(|integral| integral.symbol == symbol && integral.is_state())
        {
            return Some(Target::State(symbol));
        }
        self.storage_target(symbol)
    }

    /// Returns the storage whose state is the measured variable.
    fn storage_target(&self, symbol: SymbolId) -> Option<Target> {
        let model = &self.graph.model;
        let measure = model.measures.iter().find(|entry| entry.0 == symbol)?.1;
        let (port, variable) = match measure {
            Measure::PortEffort(port) => (port, Variable::Effort),
            Measure::PortFlow(port) => (port, Variable::Flow),
            _ => return None,
        };
        let element = model.graph.ports[port.index()].element;
        match &model.graph.elements[element.index()].law {
            Law::Storage { co_energy, .. } if *co_energy == variable => Some(Target::Storage(port)),
            _ => None,
        }
    }

    fn no_target(&mut self, target: &'a Expr) {
        let words = self.sources.slice(target.span).to_string();
        let diagnostic = Diagnostic::error(Code::LGM0166, format!("`{words}` cannot be assigned to"))
            .label(target.span, "this is neither a discrete variable nor a state")
            .help(
                "assign to a discrete variable, a declared state, or the variable of a linear storage element: \
                `across(mass)`, `through(spring)`",
            );
        self.report(diagnostic);
    }
}
