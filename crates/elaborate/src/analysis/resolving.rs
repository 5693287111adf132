//! The meanings of the names in each item.

use super::definitions::{Analysis, Definition, DefinitionId, DefinitionKind};
use crate::function_table::PORT_VARIABLES;
use crate::program::{ItemRef, Program};
use lgm_syntax::ast::{Argument, Attribute, Equation, Expr, ExprKind, Formal, Item, Name, Statement, StatementKind};
use lgm_syntax::visit::{child_expressions, child_statements, statement_expressions};
use std::sync::Arc;

/// Resolves the names in an item.
pub(super) struct Resolving<'a> {
    pub found: &'a mut Analysis,
    pub program: &'a Program,
    pub item: DefinitionId,
    /// Indices of the loops and sums around a location, the innermost last.
    pub indices: Vec<(Arc<str>, DefinitionId)>,
    /// True if the location is a setting of a run, which names outputs.
    pub in_experiment: bool,
}

impl Resolving<'_> {
    pub fn item(&mut self, item: &Item) {
        match item {
            Item::Import(_) | Item::Domain(_) => {}
            Item::Function(function) => {
                self.defaults(&function.formals);
                self.expression(&function.value);
            }
            Item::Const(constant) => constant.assigned.value.iter().for_each(|value| self.expression(value)),
            Item::Element(element) => {
                self.defaults(&element.formals);
                element.domain.iter().for_each(|name| self.domain(name));
                element
                    .ports
                    .iter()
                    .filter_map(|port| port.domain.as_ref())
                    .for_each(|name| self.domain(name));
                element.tables.iter().for_each(|table| self.expression(&table.value));
                self.equations(&element.equations);
                for mode in &element.modes {
                    self.equations(&mode.law.equations);
                    for change in &mode.changes {
                        self.expression(&change.condition);
                        change.sets.iter().for_each(|set| self.expression(&set.value));
                    }
                }
            }
            Item::Component(component) => {
                self.defaults(&component.formals);
                self.body(&component.body);
            }
            Item::Modal(modal) => {
                self.defaults(&modal.formals);
                modal.domain.iter().for_each(|name| self.domain(name));
                self.equations(&modal.equations);
            }
            Item::Model(model) => self.body(&model.body),
        }
    }

    fn defaults(&mut self, formals: &[Formal]) {
        for value in formals.iter().filter_map(|formal| formal.default.as_ref()) {
            self.expression(value);
        }
    }

    fn equations(&mut self, equations: &[Equation]) {
        for equation in equations {
            let before = self.indices.len();
            // `shape(x) = ..` declares x for its right-hand side.
            if let ExprKind::Call(_, arguments) = &equation.left.kind {
                for argument in arguments {
                    if let ExprKind::Name(name) = &argument.value.kind
                        && self.lookup(&name.text).is_none()
                        && !(PORT_VARIABLES.contains(&&*name.text) || &*name.text == "time")
                    {
                        self.index(name);
                    }
                }
            }
            self.expression(&equation.left);
            self.expression(&equation.right);
            self.indices.truncate(before);
        }
    }

    fn body(&mut self, body: &[Statement]) {
        for statement in body {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::Node(list) | StatementKind::Zero(list) | StatementKind::One(list) => {
                list.domain.iter().for_each(|name| self.domain(name));
            }
            StatementKind::Port(ports) => {
                ports
                    .iter()
                    .filter_map(|port| port.domain.as_ref())
                    .for_each(|name| self.domain(name));
            }
            StatementKind::Instance(instance) => {
                self.kind(
                    &instance.kind,
                    &instance.arguments,
                    instance.bindings.as_deref().unwrap_or(&[]),
                );
            }
            StatementKind::Faulty(faulty) => faulty.kind.iter().for_each(|kind| self.kind(kind, &[], &[])),
            _ => {}
        }
        self.in_experiment = matches!(statement.kind, StatementKind::Experiment(_));
        statement_expressions(statement, &mut |expr| self.expression(expr));
        self.in_experiment = false;
        let before = self.indices.len();
        if let StatementKind::For(each) = &statement.kind {
            self.index(&each.index);
        }
        child_statements(statement, &mut |body| self.body(body));
        self.indices.truncate(before);
    }

    /// Resolves the names that refer to the definition of an instance: the kind, named arguments, and ports.
    fn kind(&mut self, kind: &Name, arguments: &[Argument], bindings: &[Attribute]) {
        let place = self.program.definition(&kind.text, kind.span.source);
        let Some(of) = self.outside(place) else { return };
        self.found.named(kind, of);
        let names = arguments.iter().filter_map(|argument| argument.name.as_ref());
        self.members(of, names.chain(bindings.iter().map(|binding| &binding.name)));
    }

    fn domain(&mut self, name: &Name) {
        let place = self.program.domain(&name.text, name.span.source);
        if let Some(id) = self.outside(place) {
            self.found.named(name, id);
        }
    }

    /// Declares an index for the following text.
    fn index(&mut self, name: &Name) {
        let definition = Definition {
            name: name.text.clone(),
            kind: DefinitionKind::Index,
            name_span: name.span,
            span: name.span,
            doc: None,
            unit: None,
            of: None,
            within: Some(self.item),
        };
        let id = self.found.declare(definition);
        self.indices.push((name.text.clone(), id));
    }

    fn lookup(&self, name: &str) -> Option<DefinitionId> {
        let output = self.found.outputs[self.item.0 as usize].get(name).copied();
        if let (true, Some(output)) = (self.in_experiment, output) {
            return Some(output);
        }
        let index = self.indices.iter().rev().find(|entry| &*entry.0 == name);
        index
            .map(|entry| entry.1)
            .or_else(|| self.found.member(self.item, name))
    }

    /// Resolves the names in an expression.
    fn expression(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Name(_) | ExprKind::Member(..) => {
                self.path(expr);
            }
            ExprKind::Over(over) => {
                self.expression(&over.from);
                self.expression(&over.to);
                self.index(&over.index);
                self.expression(&over.body);
                self.indices.pop();
            }
            ExprKind::Call(name, arguments) => {
                self.called(name, arguments);
                child_expressions(expr, &mut |child| self.expression(child));
            }
            _ => child_expressions(expr, &mut |child| self.expression(child)),
        }
    }

    /// Resolves the name of a table or a function, and those of its arguments.
    fn called(&mut self, name: &Name, arguments: &[Argument]) {
        let table = self.found.member(self.item, &name.text);
        let table = table.filter(|id| self.found.get(*id).kind == DefinitionKind::Table);
        let function = || self.outside(self.program.function(&name.text, name.span.source));
        let Some(of) = table.or_else(function) else { return };
        self.found.named(name, of);
        self.members(of, arguments.iter().filter_map(|argument| argument.name.as_ref()));
    }

    /// Returns the definition of an item.
    fn outside(&self, place: Option<ItemRef>) -> Option<DefinitionId> {
        place.and_then(|place| self.found.items.get(&(place.file, place.item)).copied())
    }

    /// Resolves names of members of an item.
    fn members<'n>(&mut self, of: DefinitionId, names: impl Iterator<Item = &'n Name>) {
        for name in names {
            if let Some(member) = self.found.member(of, &name.text) {
                self.found.named(name, member);
            }
        }
    }

    /// Returns the target of a path such as `cell[2].c`.
    fn path(&mut self, expr: &Expr) -> Option<DefinitionId> {
        match &expr.kind {
            ExprKind::Name(name) => {
                let constant = || self.outside(self.program.constant(&name.text, name.span.source));
                let id = self.lookup(&name.text).or_else(constant)?;
                self.found.named(name, id);
                Some(id)
            }
            ExprKind::Member(base, name) => {
                let base = self.path(base)?;
                let id = match self.found.get(base).kind {
                    DefinitionKind::Instance => self.found.member(base, &name.text),
                    _ => None,
                }?;
                self.found.named(name, id);
                Some(id)
            }
            ExprKind::Index(base, indices) => {
                indices.iter().for_each(|index| self.expression(index));
                self.path(base)
            }
            _ => {
                self.expression(expr);
                None
            }
        }
    }
}
